// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a run by the programs of its hosts.

use super::groups::Group;
use super::results::{FlowResult, Results, jain};
use super::topology::Node;

/// What came of the flows of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramResult {
    pub program: Group,
    /// in ascending order
    pub hosts: Vec<Node>,
    /// flows that are measured, those of them that ended, and those of which messages were lost
    pub flows: usize,
    pub ended: usize,
    pub with_losses: usize,
    pub lost_messages: u64,
    /// bits per second of the whole run
    pub goodput_bps: f64,
    /// bits per second of a flow on average while it lasted, and Jain's index of these
    pub flow_bps: Option<f64>,
    pub fairness: Option<f64>,
}

impl Results {
    /// One for each program; none where all hosts run the same.
    pub fn programs(&self) -> Vec<ProgramResult> {
        if !self.groups.several() {
            return Vec::new();
        }
        let members = self.groups.members(self.hosts).into_iter();
        let of = |((number, hosts), program): ((usize, Vec<Node>), &Group)| {
            self.of_program(number, hosts, program.clone())
        };
        members.enumerate().zip(&self.groups.all).map(of).collect()
    }

    fn of_program(&self, number: usize, hosts: Vec<Node>, program: Group) -> ProgramResult {
        let own = |f: &&FlowResult| self.groups.of(f.flow.source) == number;
        let overs = self.measured().filter(own).filter_map(|f| f.outcome.over);
        let lost: Vec<u64> = overs.map(|over| over.lost.into()).collect();
        let rates: Vec<f64> = self.measured().filter(own).filter_map(FlowResult::rate_bps).collect();
        ProgramResult {
            program,
            hosts,
            flows: self.measured().filter(own).count(),
            ended: self.ended().filter(own).count(),
            with_losses: lost.len(),
            lost_messages: lost.iter().sum(),
            goodput_bps: self.goodput_of_bps(|host| self.groups.of(host) == number),
            flow_bps: (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64),
            fairness: jain(&rates),
        }
    }

    /// Jain's index of the programs' flow rates: 1 where a flow of each is as fast.
    pub fn fairness_of_programs(&self) -> Option<f64> {
        let rates: Option<Vec<f64>> = self.programs().iter().map(|it| it.flow_bps).collect();
        jain(&rates?)
    }
}
