// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unmodified programs over a stack of IPv6; at the other end is the kernel's stack.

use std::process::Command;

use carrick_tests::net::{End, Net, lacks, lacks_ipv6};
use carrick_tests::pattern;
use carrick_tests::running::serve;

use super::setting::Stack;
use super::{behaves_between, peer_at};

const OURS: &str = "fd00:77::1";
const PEER: &str = "fd00:77::2";

/// A wire whose peer has an address of IPv6, and our end's kernel those of loopback.
fn wire() -> Option<Net> {
    if lacks_ipv6() {
        return None;
    }
    let net = Net::new()?;
    net.take_ipv6(End::Peer, PEER).expect("an address");
    net.sysctl(End::Ours, "net.ipv6.conf.lo.disable_ipv6=0").expect("loopback has IPv6");
    Some(net)
}

#[test]
fn the_kernels_sockets_behave_as_the_program_expects_over_ipv6() {
    if lacks("python3") {
        return;
    }
    let Some(net) = wire() else { return };
    net.take_ipv6(End::Ours, OURS).expect("an address");
    let _peer = peer_at(&net, PEER);
    behaves_between(net.command(End::Ours, "python3"), OURS, PEER);
}

#[test]
fn ours_behave_alike_over_ipv6() {
    if lacks("python3") {
        return;
    }
    let Some(net) = wire() else { return };
    let stack = Stack::start_over_ipv6(&net, OURS, &[]);
    let _peer = peer_at(&net, PEER);
    let before = stack.descriptors();
    behaves_between(stack.command(&net, "python3"), OURS, PEER);
    stack.wait_for_descriptors(before);
    stack.end();
}

/// Downloads `data` with the client from the server, and compares each byte.
fn downloads(mut server: Command, mut client: Command, address: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; 500_000];
    pattern::fill(8, 0, &mut data);
    std::fs::write(dir.path().join("data"), &data).expect("writable");
    server.args(["-u", "-m", "http.server", "80", "--bind", address, "--directory"]).arg(dir.path());
    let _server = serve(&mut server, "Serving HTTP");
    client.args(["-6", "-sSg", "--max-time", "30", &format!("http://[{address}]/data")]);
    let got = client.output().expect("curl runs");
    assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
    assert!(got.stdout == data, "{} bytes of {}", got.stdout.len(), data.len());
}

#[test]
fn python_serves_and_curl_fetches_over_ipv6() {
    if ["python3", "curl"].iter().any(|program| lacks(program)) {
        return;
    }
    let bad: &[&str] = &["--fault", "loss=1%,reorder=1%,seed=3"];
    for faults in [&[][..], bad] {
        let Some(net) = wire() else { return };
        let stack = Stack::start_over_ipv6(&net, OURS, faults);
        downloads(stack.command(&net, "python3"), net.command(End::Peer, "curl"), OURS);
        downloads(net.command(End::Peer, "python3"), stack.command(&net, "curl"), PEER);
        stack.end();
    }
}

/// A program of IPv6 over a stack of IPv4 stays with the kernel, and does not hang.
#[test]
fn a_stack_of_ipv4_leaves_ipv6_to_the_kernel() {
    if ["python3", "curl"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = wire() else { return };
    net.take_ipv6(End::Ours, OURS).expect("an address");
    let stack = Stack::start(&net, &[]);
    downloads(stack.command(&net, "python3"), net.command(End::Peer, "curl"), OURS);
    downloads(net.command(End::Peer, "python3"), stack.command(&net, "curl"), PEER);
    stack.end();
}
