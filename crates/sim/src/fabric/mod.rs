// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks of many hosts: a topology as data, switches that queue and choose paths, and flows that are measured.
//!
//! [`crate::net`] holds two hosts under the glass; here are many, over links that queue. Both have the faults of
//! [`crate::faults`]. What hosts send leaves the core only when its link is free, so that the program's own scheduling decides
//! until then.

mod by_program;
pub mod cross;
mod ends;
mod flows;
mod groups;
mod host;
mod host_apps;
mod host_programs;
mod network;
pub mod offload;
pub(crate) mod packets;
pub mod port;
mod real;
pub mod results;
mod routes;
pub mod service;
mod setup;
pub mod sizes;
mod station;
pub mod switch;
mod through;
mod tier;
pub mod timed;
pub mod timeline;
pub mod topology;
pub mod workload;

use std::sync::Arc;

use carrick_interp::Config;
use carrick_ir::Program;

pub use by_program::ProgramResult;
pub use flows::{Flow, Flows, MessageTimes, OCTETS_MIN, Outcome, Over, Series, Start};
pub use groups::{Foreign, Group, Groups};
pub use host_programs::HostPrograms;
pub use setup::Setup;
pub use station::Placed;
use station::Station;

use crate::calls::Calls;
use crate::core::RecordSet;
use crate::faults::FOREVER;
use crate::interface::{Interface, Shape};
use crate::interpreted::at_host;
use crate::judge;
use crate::observe::Observer;
use crate::scenario::{Engine, Way};
use cross::Source;
use host::Host;
use host_apps::{HostApp, Place};
use network::Network;
use results::Results;
use service::Server;
use timed::TimedCalls;
use topology::Node;

/// Requests of a host that may wait for their completion to be taken.
const COMPLETIONS: u32 = 4096;

/// How the core at a node is made.
fn config(setup: &Setup, node: Node) -> Config {
    Config {
        seed: setup.seed.wrapping_mul(0x1_0001).wrapping_add(u64::from(node)),
        address: host_apps::address(node).into(),
        mtu: setup.mtu,
        completions: COMPLETIONS,
        params: Vec::new(),
        instances: 0,
        trace: false,
        records: RecordSet::ALL,
    }
}

/// How the core of a host is made that runs one of these programs.
pub fn host_config(setup: &Setup, programs: &HostPrograms<'_>, host: Node) -> Config {
    let way = programs.at(host);
    at_host(way.program, &Config { params: way.params.clone(), ..config(setup, host) })
}

/// How the core of a program in the network is made.
pub fn station_config(setup: &Setup, placed: &Placed<'_>) -> Config {
    let config = Config { params: placed.way.params.clone(), ..config(setup, placed.node) };
    at_host(placed.way.program, &config)
}

/// The same of a core that reports these records, if it reports any.
fn telling(config: Config, traced: Option<RecordSet>) -> Config {
    Config { trace: traced.is_some(), records: traced.unwrap_or(RecordSet::NONE), ..config }
}

fn host(
    programs: &HostPrograms<'_>,
    setup: &Setup,
    (host, message): (u32, u32),
    traced: Option<RecordSet>,
) -> Result<Host, String> {
    let Way { program, engine, params } = programs.at(host);
    let shape = Shape::of(program)?;
    let config = Config { params: params.clone(), ..telling(config(setup, host), traced) };
    let place = Place {
        host,
        hosts: setup.topology.hosts,
        seed: setup.seed,
        message,
        longest: offload::longest(message, &setup.offloads),
        outstanding: setup.outstanding,
        may_lose: host_programs::may_lose(program),
        keep: setup.keep,
    };
    let core = engine.core(program, &config, host as usize)?;
    let server = Server::of(&setup.services, host, setup.seed)?;
    let calls = Calls::new(Interface::of(program)?);
    Ok(Host::new(core, HostApp::new(shape, place), calls, server))
}

/// Runs it. With an observer, the cores of hosts report their records.
///
/// # Errors
/// A sentence, if the topology or the workload is none, the program has no interface that applications speak, or the
/// configuration is outside what it allows.
pub fn run(
    program: &Arc<Program>,
    engine: &Engine,
    setup: &Setup,
    observer: Option<&mut dyn Observer>,
) -> Result<Results, String> {
    let usual = Way { program, engine, params: setup.params.clone() };
    run_through(&HostPrograms::same(usual), setup, &[], observer)
}

/// As [`run`], with these programs at hosts and in the network. The parameters are those of the programs, not of the setup.
///
/// # Errors
/// Also if hosts cannot speak with each other, a program in the network runs at an end, or there is no such node.
pub fn run_through(
    programs: &HostPrograms<'_>,
    setup: &Setup,
    placed: &[Placed<'_>],
    observer: Option<&mut dyn Observer>,
) -> Result<Results, String> {
    let (topology, groups) = (&setup.topology, programs.groups());
    topology.check()?;
    service::check(&setup.services, topology)?;
    programs.check(topology.hosts)?;
    programs.check_outstanding(setup.outstanding)?;
    let said = (!setup.fit_message).then_some(setup.message);
    let messages = programs.messages(setup.mtu, said, setup.message, !setup.offloads.is_empty())?;
    let setup = &Setup { message: messages[0], ..setup.clone() };
    let first = topology.wires.iter().find(|wire| wire.ends.contains(&0));
    let rate = first.map_or(0, |wire| wire.mean_bps(usize::from(wire.ends[1] == 0), FOREVER));
    let mut flows = Flows::new(setup.flows(groups, rate)?, topology.hosts)?;
    flows.series = setup.every.map(|every| Series { every, ..Series::default() });
    let (traced, traced_at) = (observer.as_ref().map(|o| o.reads()), observer.as_ref().map(|o| o.reads_at()));
    let hosts = (0..topology.hosts)
        .map(|h| host(programs, setup, (h, messages[groups.of(h)]), traced))
        .collect::<Result<_, _>>()?;
    let nodes = topology.hosts + topology.switches;
    programs.fit_with(placed.iter().map(|placed| placed.way.program))?;
    let station = |placed: &Placed<'_>| match placed.node < nodes {
        true => placed.station(telling(config(setup, placed.node), traced_at), setup),
        false => Err(format!("a program stands at node {}, and the topology has {nodes}", placed.node)),
    };
    let stations: Vec<Station> = placed.iter().map(station).collect::<Result<_, _>>()?;
    let offloads = stations.iter().filter_map(|it| it.offload.as_ref());
    offload::check(setup, offloads, flows.longest_message(setup.message))?;
    let rest = (setup.queueing.clone(), setup.seed);
    let cross = Source::all(&setup.cross, topology, setup.mtu, setup.seed)?;
    let calls = TimedCalls::new(setup.calls.clone());
    let mut network = Network::new(topology, hosts, stations, flows, rest, observer);
    network.timed = calls;
    network.cross = cross;
    network.groups = groups.several().then(|| groups.clone());
    network.run(setup.limit, &setup.stop);
    setup.stop.check()?;
    let claims: Vec<String> = (0..)
        .zip(&network.hosts)
        .flat_map(|(host, it)| {
            let name = format!("host {}", topology.name(host));
            judge::claims(programs.at(host).program, &name, it.core.failed_claims())
        })
        .collect();
    let mut results = Results::of(network, setup, placed, groups.clone());
    results.misdeeds.extend(claims);
    let duplicated = results.tiers.iter().any(|tier| tier.counters.faults.duplicated > 0);
    results.may_repeat = duplicated && programs.may_lose();
    Ok(results)
}
