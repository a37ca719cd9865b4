// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run is made of.

use super::cross::Cross;
use super::flows::{Flow, Start};
use super::groups::Groups;
use super::offload::Offload;
use super::service::Service;
use super::switch::Queueing;
use super::timed::TimedCall;
use super::topology::{Node, Topology};
use super::workload::Workload;
use crate::stop::Stop;

/// A run: the same description gives the same run.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub topology: Topology,
    pub queueing: Queueing,
    pub workload: Workload,
    /// goes on beside it until all its flows have ended, and is not measured
    pub background: Option<Workload>,
    pub seed: u64,
    pub mtu: u32,
    /// hosts that take time for packets
    pub services: Vec<Service>,
    /// offloads of programs at nodes; a program without one here lets everything through at once
    pub offloads: Vec<Offload>,
    /// calls beside those of the applications
    pub calls: Vec<TimedCall>,
    /// packets of models, beside those of programs
    pub cross: Vec<Cross>,
    /// links whose use is reported: from a node to another one
    pub links: Vec<[Node; 2]>,
    /// bytes of a message at most, where a program carries messages
    pub message: u32,
    /// a program that takes no messages of this length is sent shorter ones
    pub fit_message: bool,
    /// messages from one host to another that are under way at once, where a program carries messages
    pub outstanding: Option<u32>,
    /// flows to one host follow each other on one connection
    pub keep: bool,
    /// by host, the features of its program, for tables; empty: all hosts run the same
    pub features: Vec<String>,
    /// a value for each parameter of the program; empty: the defaults
    pub params: Vec<u64>,
    /// what arrives of each flow is noted by stretches of so many nanoseconds
    pub every: Option<u64>,
    /// virtual nanoseconds at most
    pub limit: u64,
    pub stop: Stop,
}

impl Setup {
    /// All flows between hosts of the same program, with those of the background behind the others.
    pub(super) fn flows(&self, groups: &Groups, rate_bps: u64) -> Result<Vec<Flow>, String> {
        /// The seed of the background, that it does not begin with those that are measured.
        const APART: u64 = 0x9e37_79b9_7f4a_7c15;
        let hosts = self.topology.hosts;
        let mut flows = self.workload.flows((hosts, groups), rate_bps, self.seed)?;
        let Some(background) = &self.background else { return Ok(flows) };
        let measured = flows.len() as u32;
        for mut flow in background.flows((hosts, groups), rate_bps, self.seed ^ APART)? {
            flow.background = true;
            if let Start::After { flow, .. } = &mut flow.start {
                *flow += measured;
            }
            flows.push(flow);
        }
        Ok(flows)
    }
}
