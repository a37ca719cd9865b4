// SPDX-License-Identifier: MIT OR Apache-2.0
//! What two ends of ours send each other: s2n-quic reads every frame, and what they say fits what happened.

use std::collections::BTreeSet;
use std::mem::discriminant;

use carrick_driver::compile_file;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::{Scenario, run};
use carrick_tests::build::root;

use crate::wire::{Heard, Packet, frames, octets, varint};

/// All packets of a run, in the order of sending, and the numbers of those that arrived.
#[derive(Default)]
struct Capture {
    sent: Vec<(usize, Packet)>,
    /// by the host that they reached
    arrived: [BTreeSet<u32>; 2],
}

impl Observer for Capture {
    fn sent(&mut self, _: u64, host: usize, _: u64, packet: &[u8]) {
        self.sent.push((host, Packet::read(packet)));
        // What is acknowledged must have arrived by then.
        for heard in self.sent[self.sent.len() - 1].1.heard() {
            let Heard::Ack(ranges) = heard else { continue };
            for number in ranges.iter().flat_map(|(first, last)| *first..=*last) {
                assert!(self.arrived[host].contains(&(number as u32)), "{number} had not arrived");
            }
        }
    }

    fn arrived(&mut self, _: u64, host: usize, _: u64, packet: &[u8]) {
        self.arrived[host].insert(Packet::read(packet).number);
    }
}

fn capture(seed: u64, scenario: &Scenario) -> Capture {
    let path = root().join("protocols/quic-lite/quic-lite.mtp");
    let program = compile_file(&path).expect("readable").program.expect("no errors");
    let mut capture = Capture::default();
    let report = run(&program, &Engine::Interpreter, scenario, &mut capture, false).expect("it runs");
    assert_eq!(report.failures, Vec::<String>::new(), "seed {seed}");
    capture
}

fn lossy() -> LinkConfig {
    let faults =
        LinkFaults { loss_ppm: 20_000, reorder_ppm: 30_000, duplicate_ppm: 20_000, ..LinkFaults::default() };
    LinkConfig { faults: faults.into(), ..LinkConfig::default() }
}

/// Streams that are reset, both ends of them busy.
fn with_resets(seed: u64) -> Scenario {
    let mut scenario = Scenario::streams(seed, lossy(), &[300_000; 90]);
    for plan in &mut scenario.plans {
        plan.server.to_send = 5_000;
        plan.client.abort_at = (plan.number % 7 == 0).then_some(70_000);
    }
    scenario.plans.iter_mut().skip(10).for_each(|plan| plan.client.to_send = 2_000);
    scenario
}

#[test]
fn frames_are_read_by_another_implementation() {
    let mut kinds = BTreeSet::new();
    for seed in 1..=4 {
        for (_, packet) in capture(seed, &with_resets(seed)).sent {
            for heard in packet.heard() {
                kinds.insert(format!("{:?}", discriminant(&heard)));
            }
        }
    }
    // Padding, ACK, CRYPTO, STREAM, MAX_DATA, MAX_STREAM_DATA, MAX_STREAMS, NEW_CONNECTION_ID, RESET_STREAM, STOP_SENDING,
    // CONNECTION_CLOSE, HANDSHAKE_DONE
    assert!(kinds.len() >= 12, "only {kinds:?}");
}

/// Each frame, written anew by the other implementation, takes as many bytes.
#[test]
fn varints_take_the_fewest_octets() {
    for (_, packet) in capture(1, &with_resets(1)).sent {
        for (heard, len) in frames(&packet.payload) {
            let number = |n: u64| octets(&varint(n)).len();
            let least = match &heard {
                Heard::MaxData(most) => 1 + number(*most),
                Heard::MaxStreams(most) => 1 + number(*most),
                Heard::MaxStreamData { stream, most } => 1 + number(*stream) + number(*most),
                Heard::Reset { stream, final_size } => 2 + number(*stream) + number(*final_size),
                Heard::Stop { stream } => 2 + number(*stream),
                Heard::Stream { stream, offset, data, .. } => {
                    1 + number(*stream) + number(*offset) + number(data.len() as u64) + data.len()
                }
                _ => len,
            };
            assert_eq!(len, least, "{heard:?}");
        }
    }
}

#[test]
fn packet_numbers_are_never_used_again() {
    for seed in 1..=6 {
        let capture = capture(seed, &Scenario::streams(seed, lossy(), &[400_000, 50_000, 9_000]));
        for host in 0..2 {
            let numbers: Vec<u32> =
                capture.sent.iter().filter(|(h, _)| *h == host).map(|(_, p)| p.number).collect();
            let expected: Vec<u32> = (0..numbers.len() as u32).collect();
            assert_eq!(numbers, expected, "seed {seed}, host {host}");
        }
    }
}

#[test]
fn acknowledgements_have_ranges_where_packets_are_missing() {
    let capture = capture(3, &Scenario::streams(3, lossy(), &[400_000]));
    let ranges = capture.sent.iter().flat_map(|(_, packet)| packet.heard()).filter_map(|heard| match heard {
        Heard::Ack(ranges) => Some(ranges.len()),
        _ => None,
    });
    assert!(ranges.max() > Some(2));
}

/// Several frames in a packet: an acknowledgement goes with data.
#[test]
fn packets_have_several_frames() {
    let mut scenario = Scenario::streams(1, LinkConfig::default(), &[200_000]);
    scenario.plans[0].server.to_send = 200_000;
    let together = capture(1, &scenario).sent.iter().any(|(_, packet)| {
        let heard = packet.heard();
        heard.iter().any(|h| matches!(h, Heard::Ack(_)))
            && heard.iter().any(|h| matches!(h, Heard::Stream { .. }))
    });
    assert!(together);
}

/// What waits for the window goes together: as many streams' frames as fit.
#[test]
fn small_streams_share_packets() {
    let capture = capture(2, &Scenario::streams(2, lossy(), &[300; 50]));
    let streams = |packet: &Packet| {
        let of = |heard| if let Heard::Stream { stream, .. } = heard { Some(stream) } else { None };
        packet.heard().into_iter().filter_map(of).collect::<BTreeSet<u64>>().len()
    };
    let of_client = capture.sent.iter().filter(|(host, _)| *host == 0).map(|(_, packet)| streams(packet));
    // 1500 bytes hold four streams of 300; of more than eight, no packet has frames.
    let most = of_client.max().unwrap_or(0);
    assert!((4..=8).contains(&most), "{most} streams in a packet");
}
