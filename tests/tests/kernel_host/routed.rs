// SPDX-License-Identifier: MIT OR Apache-2.0
//! A router between a transport in the kernel and Linux, which reports packets that are too long for its next link.

use std::fs;

use carrick_tests::build::{carrick, root};
use carrick_tests::net::{DEVICE, End, Net, lacks, lacks_ipv6, skip};
use carrick_tests::pattern;

use super::streams::served_by;

/// Bytes of a packet beyond the router: over IPv6 every link carries the second.
const NARROW: u32 = 700;
const NARROW_6: u32 = 1300;
const OCTETS: usize = 1_000_000;

/// curl gets a file from our server beyond the router; how often the router said that a packet is too long.
fn fetched(net: &Net, version: &[&str], address: &str, server: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; OCTETS];
    pattern::fill(8, 0, &mut data);
    fs::write(dir.path().join("data"), &data).expect("writable");
    let mut command = net.command(End::Ours, &carrick().to_string_lossy());
    command
        .args(["run", "--quiet"])
        .arg(root().join("protocols/tcp/tcp.mtp"))
        .args(version)
        .args(["--target", "xdp"]);
    command.args(["--port", DEVICE, "--addr", address, "--set", "max_conns=16"]);
    command.args(["--app", &format!("http:{}", dir.path().display())]);
    let Some(running) = served_by(&mut command) else { return };
    let url = format!("http://{server}/data");
    let curl = net.command(End::Peer, "curl").args(["-sSg", "--max-time", "30", &url]).output();
    let curl = curl.expect("curl runs");
    assert!(curl.status.success(), "{}", String::from_utf8_lossy(&curl.stderr));
    assert!(curl.stdout == data, "{} bytes", curl.stdout.len());
    assert!(running.end().success());
}

/// The router between both, whose devices take what programs send.
fn place(mtu: u32) -> Option<Net> {
    if ["clang", "curl"].iter().any(|program| lacks(program)) {
        return None;
    }
    let net = Net::routed(mtu)?;
    net.router_takes_redirected().map_err(|why| skip(&why)).ok().map(|()| net)
}

#[test]
fn a_packet_that_is_too_long_lowers_the_path_mtu() {
    let Some(net) = place(NARROW) else { return };
    net.ip(End::Ours, &format!("addr add {}/24 dev {DEVICE}", Net::OURS)).expect("an address");
    fetched(&net, &[], &format!("{}/24", Net::OURS), Net::OURS);
    let reports = net.router_counter("Icmp", "OutDestUnreachs");
    assert!((1..40).contains(&reports), "{reports} reports");
}

#[test]
fn so_it_is_over_ipv6() {
    if lacks_ipv6() {
        return;
    }
    let Some(net) = place(NARROW_6) else { return };
    net.route_ipv6(NARROW_6).expect("the router has IPv6");
    net.take_ipv6(End::Ours, Net::NEAR).expect("an address");
    net.ip(End::Ours, &format!("route add default via {}", Net::NEAR_ROUTER)).expect("a route");
    fetched(&net, &["--over", "ipv6"], &format!("{}/64", Net::NEAR), &format!("[{}]", Net::NEAR));
    let reports = net.router_counter_6("Icmp6OutPktTooBigs");
    assert!((1..40).contains(&reports), "{reports} reports");
}
