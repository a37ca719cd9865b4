// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running a scenario: two hosts and what is between them, until their applications are done.

use std::sync::Arc;

use carrick_interp::Config;
use carrick_ir::{NetLayer, Program};

use crate::app::{App, Place, Plan};
use crate::core::{Core, RecordSet};
use crate::interface::{Call, Interface, Shape};
use crate::judge::{self, Verdict};
use crate::link::Link;
use crate::middlebox::Middlebox;
use crate::net::{Host, Net};
use crate::observe::Observer;
use crate::scenario::{
    BetweenReport, CLIENT, DEAF_PORT, Engine, Report, SECOND, SERVER, Scenario, Way, between_config,
    host_config,
};

/// A core of a program in the network.
///
/// # Errors
/// A sentence, if the program runs at an end, or the configuration is outside what it allows.
pub(crate) fn in_network(way: &Way<'_>, config: Config) -> Result<Box<dyn Core>, String> {
    let Way { program, engine, params } = way;
    has_role(program)?;
    // Nobody steps through what is in the network.
    let engine = if let Engine::Debugged(_) = engine { &Engine::Interpreter } else { engine };
    engine.core(program, &Config { params: params.clone(), ..config }, 0)
}

fn make_between(
    way: &Way<'_>,
    scenario: &Scenario,
    tracing: bool,
    records: RecordSet,
) -> Result<Middlebox, String> {
    let core = in_network(way, Config { records, ..between_config(&way.params, scenario, tracing) })?;
    Ok(Middlebox::new(core, [2, 3].map(|number| Link::new(scenario.link.clone(), scenario.seed, number))))
}

/// What of a scenario is not for this program.
pub(crate) fn go_together(
    program: &Program,
    way: Option<&Way<'_>>,
    scenario: &Scenario,
) -> Result<(), String> {
    if program.in_network.is_some() {
        return Err("this program runs in the network, between two ends: simulate a program of these, `--via` this one".into());
    }
    if let Some(way) = way.filter(|way| Interface::of_offload(way.program).is_some()) {
        return Err(format!(
            "{} hands messages to an offload, which stands at a node: simulate a --topology, and place it with --at NODE=PROGRAM",
            way.program.file.raw()
        ));
    }
    let faults = &scenario.link.faults;
    if faults.any(|faults| faults.path_mtu.is_some())
        && (way.is_some() || program.net_header.layer == NetLayer::Link)
    {
        return Err("a path with an MTU has a router of IPv4, and no program in the network".into());
    }
    if let Some(way) = way {
        return over_the_same(way.program, program);
    }
    if program.net_header.layer == NetLayer::Link && faults.any(|faults| faults.ecn_threshold.is_some()) {
        return Err("a mark is in the header of ipv4, and these ends send whole frames".into());
    }
    Ok(())
}

fn has_role(program: &Program) -> Result<(), String> {
    match program.in_network {
        Some(_) => Ok(()),
        None => Err(format!(
            "{} runs at an end, not in the network: it says no `register_role`",
            program.file.raw()
        )),
    }
}

fn over_the_same(between: &Program, ends: &Program) -> Result<(), String> {
    if ends.net_header.layer == NetLayer::Link {
        let why = "programs in the network are over the Internet Protocol, and these ends send whole frames";
        return Err(why.into());
    }
    same_version(between, ends)
}

/// Whether a program can stand between two ends.
///
/// # Errors
/// A sentence, if it cannot.
pub fn goes_between(between: &Program, ends: &Program) -> Result<(), String> {
    has_role(between).and_then(|()| over_the_same(between, ends))
}

/// Whether a program in the network and the ends run over the same version of the Internet Protocol.
pub(crate) fn same_version(between: &Program, ends: &Program) -> Result<(), String> {
    let [its, theirs] = [between, ends].map(|program| program.net_header.layer);
    if its == theirs {
        return Ok(());
    }
    Err(format!("{} runs over {}, and the ends run over {}", between.file.raw(), its.name(), theirs.name()))
}

/// Runs a scenario between a client and a server with messages of this length, with a program in the network between them, if there is
/// one: each way has the scenario's link twice.
///
/// # Errors
/// If the program has no interface that applications speak, the configuration is outside what it allows, or the program between
/// is not for the network.
pub(crate) fn run_with_messages(
    program: &Arc<Program>,
    engine: &Engine,
    way: Option<&Way<'_>>,
    scenario: &Scenario,
    message: u32,
    observer: &mut dyn Observer,
    tracing: bool,
) -> Result<Report, String> {
    let (shape, interface) = (Shape::of(program)?, Interface::of(program)?);
    let drain = match shape {
        Shape::Stream | Shape::Multistream => scenario.drain,
        // Nobody says when the last message has come.
        Shape::Message | Shape::Rpc | Shape::Verbs => scenario.drain.max(10 * SECOND),
    };
    let (records, records_at) = (observer.reads(), observer.reads_at());
    let mut hosts = Vec::new();
    for host in 0..2 {
        let config = Config { records, ..host_config(scenario, host, tracing) };
        let core = engine.core(program, &config, host as usize)?;
        let plans = plans(host == 0, scenario, &interface);
        let place = place(host == 0, scenario.seed, message, &interface);
        let app = App::new(shape, place, &plans);
        hosts.push(Host::new(
            core,
            app,
            Link::new(scenario.link.clone(), scenario.seed, host),
            place.address,
        ));
    }
    let mut net = Net::new(hosts, interface, program.net_header.layer, observer, tracing);
    net.between = way.map(|way| make_between(way, scenario, tracing, records_at)).transpose()?;
    net.run(scenario.limit, drain, &scenario.stop);
    scenario.stop.check()?;
    let [client, server] = &net.hosts[..] else { return Err("two hosts are wanted".into()) };
    let records = [client, server].map(|h| h.app.records());
    let Verdict { mut failures, damage } = judge::records(program, shape, &records, scenario);
    let unfinished = judge::unfinished(shape, &records, scenario);
    for (name, host) in [("client", client), ("server", server)] {
        failures.extend(judge::claims(program, name, host.core.failed_claims()));
        let again = host.app.completed_again();
        if again > 0 {
            failures
                .push(format!("the {name}'s program completed requests that were complete: {again} times"));
        }
    }
    if let Some((node, way)) = net.between.as_ref().zip(way) {
        failures.extend(judge::claims(way.program, "way", node.core.failed_claims()));
        failures.extend(node.stray_packets());
    }
    Ok(Report {
        between: net.between.as_ref().zip(way).map(|(node, way)| BetweenReport {
            protocols: [way.program, program].map(|p| p.net_header.protocol),
            counters: node.core.counters(),
            open_contexts: node.core.open_contexts(),
            links: node.link_counters(),
        }),
        ended_at: net.now(),
        links: [client.uplink.counters, server.uplink.counters],
        counters: [client.core.counters(), server.core.counters()],
        first_claims: [client, server].map(|host| judge::first_claim(program, host.core.failed_claims())),
        open_contexts: [client.core.open_contexts(), server.core.open_contexts()],
        packets: net.packets_made,
        connections: records,
        failures,
        damage,
        unfinished,
    })
}

/// What the application of the client, or of the server, is to do.
fn plans(is_client: bool, scenario: &Scenario, interface: &Interface) -> Vec<Plan> {
    let reachable = scenario.plans.iter().map(|plan| feasible(plan, interface));
    reachable.filter(|plan| is_client || plan.port != DEAF_PORT).collect()
}

/// What the application of the client, or of the server, knows of its surroundings.
fn place(is_client: bool, seed: u64, message: u32, interface: &Interface) -> Place {
    let (address, peer) = if is_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    Place { is_client, address, peer, seed, message, listens: interface.has(Call::Listen), numbered: true }
}

/// The plan without what the program has no call for: who cannot reset a connection, or a stream, ends it.
fn feasible(plan: &Plan, interface: &Interface) -> Plan {
    let mut plan = plan.clone();
    if !interface.has(Call::Abort) && !interface.has(Call::Reset) {
        plan.client.abort_at = None;
        plan.server.abort_at = None;
    }
    plan
}
