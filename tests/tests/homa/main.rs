// SPDX-License-Identifier: MIT OR Apache-2.0
//! Homa: what its RPCs do in the simulator, what its packets are, and what an end says to given packets at given times.

mod client;
mod end;
mod hostile;
mod native;
mod server;
mod wire;

use carrick_tests::build::root;
use carrick_tests::capture::packets;
use carrick_tests::command::{self, done};
use carrick_tests::simulated::{self, all_answered};
use serde_json::Value;
use wire::{Body, CUTOFFS, DATA, GRANT, RESEND, decode};

const PROGRAM: &str = "protocols/homa/homa.mtp";
/// The client's address in the simulator.
const CLIENT: u32 = 0x0a00_0001;
const FAULTS: [&str; 6] = ["--loss", "2%", "--reorder", "3%", "--duplicate", "3%"];

/// What a run of RPCs prints; `None` where a C compiler is wanted and missing.
fn simulate(args: &[&str]) -> Option<Value> {
    let net = ["--app", "request-response", "--rate", "10Gbps", "--delay", "10us", "--queue", "1000"];
    simulated::simulate(PROGRAM, &[&net, args].concat())
}

fn rpcs(request: u64, response: u64, count: u64, more: &[&str]) -> Option<Value> {
    let [request, response] = [request, response].map(|n| format!("{n}B"));
    let sizes = ["--bytes", &request, "--answer", &response, "--count", &count.to_string()];
    simulate(&[&sizes, more].concat())
}

#[test]
fn rpcs_of_all_sizes_are_answered() {
    for (request, response) in [(8, 8), (1424, 1425), (8, 1_000_000), (1_000_000, 8), (300_000, 70_000)] {
        let result = rpcs(request, response, 6, &["--outstanding", "3"]).expect("no compiler is asked for");
        all_answered(&result, 6);
        assert_eq!(result["retransmitted_packets"], 0, "{request} and {response} octets: {result}");
    }
}

#[test]
fn what_is_lost_doubled_or_late_is_made_good_and_executed_once() {
    for seed in 1..=8 {
        let seed = seed.to_string();
        for (request, response, count) in [(32, 100, 200), (90_000, 30_000, 30), (20_000, 300_000, 10)] {
            let more = [&FAULTS[..], &["--seed", &seed, "--outstanding", "8"]].concat();
            let result = rpcs(request, response, count, &more).expect("no compiler is asked for");
            all_answered(&result, count);
        }
    }
}

/// Homa has no checksum: where links corrupt packets, the run says what applications were given, and fails.
#[test]
fn damage_is_told() {
    let run = ["sim", PROGRAM, "--format", "json", "--app", "request-response", "--bytes", "10KB"];
    let said = command::run(&root(), &[&run[..], &["--corrupt", "5%", "--count", "40"]].concat());
    let result: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(said.status.code(), Some(1), "{result}");
    let damage = result["damage"].as_array().expect("a list");
    assert!(damage.iter().any(|what| what.as_str().is_some_and(|t| t.contains("`homa_pkt`"))), "{result}");
}

/// A queue that drops, and nothing else: the server took its client for dead, and was asked for its response after that.
#[test]
fn a_request_is_not_executed_again_when_its_server_has_given_up() {
    let result = simulated::simulate(PROGRAM, &["--app", "random", "--seed", "197"]).expect("no compiler");
    let servers = result["server"].as_array().expect("connections");
    let again = servers.iter().map(|s| s["messages"]["again"].as_u64());
    assert_eq!(again.collect::<Vec<_>>(), [Some(0); 3], "{result}");
}

#[test]
fn the_compiled_core_does_the_same() {
    let more = [&FAULTS[..], &["--seed", "7", "--outstanding", "6"]].concat();
    let interpreted = rpcs(50_000, 80_000, 20, &more);
    if let Some(compiled) = rpcs(50_000, 80_000, 20, &[&more[..], &["--compiled"]].concat()) {
        assert_eq!(Some(compiled), interpreted);
    }
}

/// What a run of flows through a network of many hosts prints.
fn through_a_network(args: &[&str]) -> Value {
    let sim = ["sim", PROGRAM, "--format", "json", "--fast", "--message", "1MB"];
    let network = ["--rate", "10Gbps", "--core-rate", "40Gbps", "--delay", "250ns"];
    let said = done(&root(), &[&sim[..], &network, args].concat());
    let result: Value = serde_json::from_str(&said).expect("JSON");
    result["runs"][0].clone()
}

/// Paper, section 5.2: at 80 % load the 99th percentile of short messages is within a few times of the ideal, though most bytes are
/// those of messages of megabytes.
#[test]
fn short_messages_are_fast_in_a_network_full_of_long_ones() {
    for seed in ["1", "2", "3"] {
        let load = ["--topology", "leaf-spine:2,2,5", "--workload", "poisson:80%", "--sizes", "w4"];
        let more = ["--flows", "500", "--set", "rtt_bytes=10000", "--seed", seed];
        let result = through_a_network(&[&load[..], &more].concat());
        assert_eq!(result["ended"], 500, "{result}");
        let tiers = result["slowdowns"].as_array().expect("slowdowns by length");
        let short: Vec<&Value> =
            tiers.iter().filter(|t| t["bytes"].as_u64().is_some_and(|n| n <= 1500)).collect();
        assert!(short.len() > 4, "{tiers:?}");
        for tier in short {
            let p99 = tier["p99"].as_f64().expect("a number");
            assert!(p99 < 5.0, "seed {seed}: {tier}");
        }
        for queue in ["to hosts", "from hosts"] {
            assert_eq!(result["queues"][queue]["dropped"], 0, "{result}");
        }
    }
}

#[test]
fn captures_are_what_the_layout_says_field_by_field() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("capture.pcapng");
    let more = [&FAULTS[..], &["--outstanding", "8", "--pcap", file.to_str().expect("UTF-8")]].concat();
    let count = 60;
    let result = rpcs(70_000, 90_000, count, &more).expect("no compiler is asked for");
    all_answered(&result, count);
    let mut kinds = std::collections::BTreeSet::new();
    for octets in packets(&std::fs::read(&file).expect("a capture")) {
        let packet = decode(&octets).unwrap_or_else(|| panic!("no packet of Homa: {octets:02x?}"));
        let mut again = packet.encode();
        again[4..6].copy_from_slice(&octets[4..6]);
        again[10..12].copy_from_slice(&octets[10..12]);
        assert_eq!(again, octets, "all octets are told by the fields: {packet:?}");
        kinds.insert(octets[31]);
        let from_client = packet.src == CLIENT;
        assert_eq!(packet.sender_id & 1 == 0, from_client, "the client's numbers are even: {packet:?}");
        assert_eq!(if from_client { packet.dport } else { packet.sport }, 5001);
        let Body::Data { message_length, incoming, cutoff_version, retransmit, offset, payload, .. } =
            &packet.body
        else {
            assert_eq!((packet.tos, packet.doff), (7 << 5, 0), "control goes first: {packet:?}");
            continue;
        };
        assert_eq!(packet.doff, 14 << 4, "56 octets are 14 words");
        assert_eq!(packet.sequence, *offset);
        assert_eq!(*message_length, if from_client { 70_000 } else { 90_000 });
        assert!(offset + payload.len() as u32 <= *incoming && incoming <= message_length, "{packet:?}");
        assert!(payload.len() == 1424 || offset + payload.len() as u32 == *message_length, "{packet:?}");
        assert!(*retransmit < 2 && *cutoff_version < 2 && packet.tos.trailing_zeros() >= 5);
    }
    for kind in [DATA, GRANT, RESEND, CUTOFFS] {
        assert!(kinds.contains(&kind), "{kind:#x} is not among {kinds:02x?}");
    }
}
