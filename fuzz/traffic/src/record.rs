// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of a program, and some packets of each.

use std::sync::Arc;

use carrick_ir::Program;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::{Scenario, Way, run_through};

/// Of each run, so many packets from its beginning and from its end.
const FIRST: usize = 24;
const LAST: usize = 8;
/// A run is ended after so many.
const MOST: usize = 2000;
/// Bytes of the longest packet that the fuzzer takes.
const LONGEST: usize = 1500;
/// Runs with random applications on random networks.
const RANDOM: u64 = 8;

/// A packet, and the host, 0 or 1, that it was for. That it came from there by the interface of the other is what a program
/// in the network sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub to: usize,
    pub octets: Vec<u8>,
}

#[derive(Default)]
struct Recorder {
    first: Vec<Packet>,
    last: Vec<Packet>,
    seen: usize,
}

impl Observer for Recorder {
    fn sent(&mut self, _now: u64, host: usize, _number: u64, packet: &[u8]) {
        self.seen += 1;
        let packet = Packet { to: 1 - host, octets: packet.to_vec() };
        if self.first.len() < FIRST {
            self.first.push(packet);
        } else {
            if self.last.len() == LAST {
                self.last.remove(0);
            }
            self.last.push(packet);
        }
    }

    fn enough(&self) -> bool {
        self.seen >= MOST
    }
}

fn scenarios() -> impl Iterator<Item = Scenario> {
    let link = LinkConfig {
        rate_bps: 100_000_000,
        delay_ns: 1_000_000,
        queue_packets: 64,
        faults: LinkFaults { loss_ppm: 20_000, reorder_ppm: 20_000, ..LinkFaults::default() }.into(),
    };
    let transfers = [
        Scenario::bulk(1, link.clone(), 100_000),
        Scenario::request_response(2, link.clone(), 3000, 5000, 4),
        Scenario::streams(3, link, &[20_000, 8, 3000]),
    ];
    transfers.into_iter().chain((1..=RANDOM).map(Scenario::random)).map(|mut scenario| {
        scenario.mtu = scenario.mtu.min(LONGEST as u32);
        scenario
    })
}

/// Packets of runs of these ends: through the program, if it is in the network.
///
/// # Errors
/// If no run can be made, or none made a packet.
pub fn packets(program: &Arc<Program>, ends: &[Arc<Program>]) -> Result<Vec<Packet>, String> {
    let engine = Engine::Interpreter;
    let in_network = program.in_network.is_some();
    // An offload stands at a node, which these runs do not have: it sees what the ends send each other.
    let between = in_network && program.interface.is_none();
    let way = Way { program, engine: &engine, params: Vec::new() };
    let mut packets: Vec<Packet> = Vec::new();
    let suitable = |end: &&Arc<Program>| {
        let headers = [&end.net_header, &program.net_header].map(|net| (net.layer, net.protocol));
        !in_network || (end.in_network.is_none() && headers[0] == headers[1])
    };
    for end in ends.iter().filter(suitable) {
        for scenario in scenarios() {
            let mut recorder = Recorder::default();
            run_through(end, &engine, between.then_some(&way), &scenario, &mut recorder, false)?;
            packets.extend(recorder.first.into_iter().chain(recorder.last));
        }
    }
    packets.dedup();
    packets.retain(|packet| packet.octets.len() <= LONGEST);
    if packets.is_empty() { Err("no run made a packet".into()) } else { Ok(packets) }
}
