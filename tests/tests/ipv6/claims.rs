// SPDX-License-Identifier: MIT OR Apache-2.0
//! Duplicate addresses (RFC 4862 §5.4), with Linux as the other node.

use std::time::{Duration, Instant};

use carrick_tests::net::{DEVICE, End, Net, lacks_ipv6};
use carrick_tests::running::serve;

use super::{OURS, stack};

const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// What `ip` says of the peer's device.
fn shown(net: &Net, what: &[&str]) -> String {
    let output = net.command(End::Peer, "ip").args(what).args(["show", "dev", DEVICE]).output();
    String::from_utf8_lossy(&output.expect("ip runs").stdout).into_owned()
}

#[test]
fn a_stack_does_not_take_the_address_of_linux() {
    if lacks_ipv6() {
        return;
    }
    for net in [Net::new(), Net::af_xdp()] {
        let Some(net) = net else { return };
        net.take_ipv6(End::Peer, OURS).expect("an address");
        let ended = stack(&net, "echo", &[]).output().expect("it starts");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let link = shown(&net, &["link"]);
        let owner = link.split_once("link/ether ").and_then(|(_, rest)| rest.split(' ').next());
        let expected = format!(
            "The address {OURS} belongs to another node, with the hardware address {}: choose another one for --addr.\n",
            owner.expect("the device has one")
        );
        assert_eq!((ended.status.code(), said.as_str()), (Some(1), expected.as_str()), "{}", net.port());
    }
}

#[test]
fn linux_does_not_take_the_address_of_a_stack() {
    if lacks_ipv6() {
        return;
    }
    for net in [Net::new(), Net::af_xdp()] {
        let Some(net) = net else { return };
        let _stack = serve(&mut stack(&net, "echo", &[]), "listening");
        net.sysctl(End::Peer, &format!("net.ipv6.conf.{DEVICE}.disable_ipv6=0")).expect("it can be set");
        net.ip(End::Peer, &format!("addr add {OURS}/64 dev {DEVICE}")).expect("Linux asks at first");
        let begin = Instant::now();
        while !shown(&net, &["-6", "addr"]).contains("dadfailed") {
            assert!(begin.elapsed() < PATIENCE, "{}: {}", net.port(), shown(&net, &["-6", "addr"]));
            std::thread::park_timeout(POLL);
        }
    }
}
