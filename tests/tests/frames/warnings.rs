// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a port refuses is told once, when it begins, with the end of the wire that is to be changed.

use carrick_tests::build::host;
use carrick_tests::net::{DEVICE, End, Net};
use carrick_tests::running::saying;
use carrick_tests::scripted::Scripted;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";

/// The peer has this offload, and sends. Returns the first line that says so, when the stack is told to end then, and how
/// often it is said in all.
fn told(net: &Net, offloads: &str, says: &str) -> (String, usize) {
    let mut ethtool = net.command(End::Peer, "ethtool");
    assert!(
        ethtool
            .args(["-K", DEVICE])
            .args(offloads.split(' '))
            .output()
            .is_ok_and(|done| done.status.success())
    );
    let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", "echo:7"]);
    let (running, mut lines) = saying(&mut command, "listening on port");
    let mut peer = Scripted::start("peer", &mut net.command(End::Peer, env!("CARGO_BIN_EXE_peer")));
    peer.tell(&format!("connect {} 7", Net::OURS));
    peer.tell("send 1000000 1");
    let first = lines.by_ref().find(|line| line.contains(says)).expect("it is told while the stack runs");
    running.end();
    let count = 1 + lines.filter(|line| line.contains(says)).count();
    (first, count)
}

#[test]
fn checksums_that_are_left_open_are_told_once() {
    let Some(net) = Net::af_xdp() else { return };
    let (line, count) = told(&net, "tx on", "wrong checksum");
    assert_eq!(count, 1);
    for part in ["bad_checksum", "other end of wire0", "ethtool -K PEERDEV tx off"] {
        assert!(line.contains(part), "`{part}` is not in: {line}");
    }
}
