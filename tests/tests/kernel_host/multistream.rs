// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams of one connection, and packets of several frames: a program in the kernel, and the same one as a process.

use std::fs;

use carrick_tests::build::{carrick, root};
use carrick_tests::in_kernel::{enable_veth_redirect_but, run_in_kernel};
use carrick_tests::net::{DEVICE, End, Net, lacks, skip};
use carrick_tests::running::started;

const PROGRAM: &str = "protocols/quic-lite/quic-lite.mtp";
const OCTETS: [usize; 3] = [300_000, 70_001, 20_000];
/// One frame in so many is lost; 0: none is.
const WIRES: [u32; 2] = [0, 50];

#[test]
fn streams_of_one_connection_come_whole_from_the_kernel() {
    let missing = ["clang", "python3"].iter().any(|program| lacks(program));
    let Some(net) = (if missing { None } else { Net::kernel_on_both() }) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    for (name, len) in OCTETS.iter().enumerate() {
        let data: Vec<u8> = (0..*len).map(|n| (n * 31 % 251 + name) as u8).collect();
        fs::write(dir.path().join(name.to_string()), data).expect("writable");
    }
    enable_veth_redirect_but(&net, WIRES[0]);
    let mut server = run_in_kernel(&net, &root().join(PROGRAM));
    let (running, mut lines) = started(server.arg("--app").arg(format!("http:{}", dir.path().display())));
    let first = lines.next().unwrap_or_default();
    if !first.starts_with("quic_lite is on") {
        assert_eq!(running.ended().code(), Some(super::MISSING), "{first}");
        return skip(&first);
    }
    assert!(lines.any(|line| line.starts_with("listening on port")), "it serves");
    std::thread::spawn(move || lines.count());
    for lost in WIRES {
        enable_veth_redirect_but(&net, lost);
        fetched(&net, dir.path());
    }
    assert!(running.end().success());
}

/// The process fetches all files at once, each by a stream of its own.
fn fetched(net: &Net, dir: &std::path::Path) {
    let got = |name: usize| dir.join(format!("got-{name}"));
    let files = (0..OCTETS.len()).map(|name| format!("/{name}:{}", got(name).display()));
    let app = format!("get:http://{}{}", Net::OURS, files.collect::<Vec<_>>().join(","));
    let mut client = net.command(End::Peer, &carrick().to_string_lossy());
    client.arg("run").arg(root().join(PROGRAM)).args(["--port", &format!("packet:{DEVICE}"), "--app", &app]);
    let done = client.args(["--addr", &format!("{}/24", Net::PEER_STACK)]).output().expect("it starts");
    assert!(done.status.success(), "{done:?}");
    for name in 0..OCTETS.len() {
        let same = fs::read(got(name)).expect("it is there")
            == fs::read(dir.join(name.to_string())).expect("readable");
        assert!(same, "other octets in file {name}");
    }
}
