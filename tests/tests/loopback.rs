// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `make bench` asks of every protocol: payload over the memory port, both ends in one process.

use std::process::Command;

use carrick_tests::build::host;
use serde_json::Value;

/// Asks the `-bench` executable of a program for one MiB in pieces of so many bytes.
#[track_caller]
fn carries(program: &str, name: &str, piece: &str) {
    let bench = host(program).with_file_name(format!("{name}-bench"));
    let done = Command::new(bench).args(["bulk", "1", piece]).output().expect("it starts");
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    let said: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let figure = |name: &str| said[name].as_f64().unwrap_or_default();
    assert!(figure("bytes") > 1e6 && figure("packets") > 1e6 / 1500.0, "{program}: {said}");
    assert!(figure("payload_gbps") > 0.0 && figure("ns_per_packet") > 0.0, "{program}: {said}");
}

#[test]
fn octets_of_streams() {
    carries("protocols/tcp/tcp.mtp", "tcp", "65536");
    carries("protocols/quic-lite/quic-lite.mtp", "quic_lite", "65536");
}

#[test]
fn messages() {
    carries("protocols/ndp/ndp.mtp", "ndp", "65536");
    carries("protocols/message-transport/message-transport.mtp", "message_transport", "65536");
    carries("protocols/netblocks/netblocks.mtp", "netblocks", "1400");
}

#[test]
fn requests() {
    carries("protocols/homa/homa.mtp", "homa", "65536");
}

#[test]
fn writes_into_memory() {
    carries("protocols/rocev2/rocev2.mtp", "rocev2", "65536");
}
