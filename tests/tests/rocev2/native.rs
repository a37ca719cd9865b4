// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two stacks with the compiled program: one offers memory, the other writes to it, reads from it and sends messages, and
//! looks at every byte (the applications `memory` and `perf`).

use std::path::Path;
use std::process::{Command, Output};

use carrick_tests::build::{host, root};
use carrick_tests::capture::{packets, tshark};
use carrick_tests::command::done;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::serve;
use serde_json::Value;

use crate::{PROGRAM, every_invariant_crc_is_right, nothing_is_wrong};

const LOOP: [&str; 6] = ["--port", "loop", "--addr", "10.0.0.1/24", "--app", "memory:10.0.0.2"];

/// A stack that does not give up because the machine is busy.
fn stack(net: &Net, end: End, address: &str, app: &str) -> Command {
    let mut command = net.command(end, &host(PROGRAM).to_string_lossy());
    command.args(["--set", "retry_count=100"]);
    command.args(["--port", &net.port(), "--addr", &format!("{address}/24"), "--app", app]);
    command
}

/// Measures over a pair of devices, with what goes wrong at the end that measures; the packets of that end, and what it counted.
fn measure(net: &Net, what: &str, capture: &Path, faults: &[&str]) -> (Vec<Vec<u8>>, String) {
    let offers = format!("memory:{}", Net::OURS);
    let memory = serve(&mut stack(net, End::Peer, Net::PEER_STACK, &offers), "memory is there");
    let asks = format!("perf:{}:{what}", Net::PEER_STACK);
    let mut perf = stack(net, End::Ours, Net::OURS, &asks);
    let done = perf.args(["--seed", "1", "--pcap"]).arg(capture).args(faults).output().expect("it starts");
    said(&done, what);
    assert!(memory.ended().success(), "the other end of {what}");
    let counted = String::from_utf8_lossy(&done.stderr).into_owned();
    (ipv4(&packets(&std::fs::read(capture).expect("a capture"))), counted)
}

/// One line: so many of so many bytes.
fn said(done: &Output, what: &str) {
    assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
    let words: Vec<&str> = what.split(':').collect();
    let line = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(line.starts_with(&format!("{}: {} of {} bytes in ", words[0], words[2], words[1])), "{line}");
}

/// Without the neighbours' questions for each other.
fn ipv4(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    packets.iter().filter(|packet| packet[0] == 0x45).cloned().collect()
}

#[test]
fn memory_is_reached_over_devices_and_tshark_reads_every_packet() {
    let Some(net) = Net::new() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let kinds: [(&str, &[u8]); 4] = [
        ("ping:64:50", &[5, 17]),
        ("send:5001:20", &[0, 1, 2, 5, 17]),
        ("write:5001:20", &[5, 6, 7, 8, 12, 17]),
        ("read:5001:20", &[5, 12, 13, 14, 15, 17]),
    ];
    for (what, opcodes) in kinds {
        let file = dir.path().join(what.replace(':', "-"));
        let (packets, _) = measure(&net, what, &file, &[]);
        assert!(packets.len() > 50, "{} packets of {what}", packets.len());
        every_invariant_crc_is_right(&packets);
        if lacks("tshark") {
            continue;
        }
        let file = file.to_str().expect("UTF-8");
        nothing_is_wrong(file);
        let seen = tshark(file, &["-Y", "ip", "-T", "fields", "-e", "infiniband.bth.opcode"]);
        assert_eq!(seen.len(), packets.len());
        for opcode in opcodes {
            assert!(seen.contains(&opcode.to_string()), "opcode {opcode} of {what}");
        }
    }
}

#[test]
fn every_octet_is_there_though_packets_are_lost_on_the_way() {
    let Some(net) = Net::new() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let faults = ["--fault", "loss=3%,reorder=1%,dup=1%,seed=3"];
    for what in ["ping:1500:100", "send:9999:100", "write:9999:100", "read:9999:100"] {
        let (packets, counted) = measure(&net, what, &dir.path().join("capture"), &faults);
        every_invariant_crc_is_right(&packets);
        assert!(counted.contains("fault_lost"), "nothing was lost of {what}: {counted}");
    }
}

#[test]
fn a_peer_that_is_gone_is_told_of() {
    let mut perf = Command::new(host(PROGRAM));
    perf.args(LOOP).args(["--app", "perf:10.0.0.1:write:100:10", "--fault", "loss=100%"]);
    let done = perf.output().expect("it starts");
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("write: timed out"), "{done:?}");
    assert!(done.stdout.is_empty(), "nothing is said to have been measured: {done:?}");
}

#[test]
fn what_is_no_measurement_is_refused() {
    for wrong in
        ["perf:10.0.0.1:write:100", "perf:10.0.0.1:push:1:1", "perf:10.0.0.1:read:0:1", "perf:x:read:1:1"]
    {
        let refused =
            Command::new(host(PROGRAM)).args(LOOP).args(["--app", wrong]).output().expect("it starts");
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("is no measurement"), "{refused:?}");
    }
    let files =
        Command::new(host(PROGRAM)).args(&LOOP[..4]).args(["--app", "echo", "--app", "echo"]).output();
    let said = files.expect("it starts");
    assert!(String::from_utf8_lossy(&said.stderr).contains("cannot serve"), "{said:?}");
}

#[test]
fn a_stack_that_runs_is_looked_into() {
    let trace = ["trace", PROGRAM, "--on", "place", "--show", "len, id.key", "--format", "json", "--run"];
    let lines = done(&root(), &[&trace[..], &LOOP, &["--app", "perf:10.0.0.1:write:5001:3"]].concat());
    let lines: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    // Five packets of each message come to the memory that is written to, and none to what is only read.
    let keys: Vec<&Value> = lines.iter().map(|line| &line["values"]["id.key"]).collect();
    assert_eq!(keys, vec![0x1002; 15], "{lines:?}");
}
