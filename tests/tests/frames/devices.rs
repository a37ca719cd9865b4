// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device under a port is removed, moved, changed, renamed, or down for a while.

use std::process::Command;

use carrick_tests::build::host;
use carrick_tests::net::{DEVICE, End, Net};
use carrick_tests::running::{Running, saying};
use carrick_tests::scripted::Scripted;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
const MISSING: i32 = 3;
const PORT: u16 = 7;

type Lines = Box<dyn Iterator<Item = String> + Send>;

fn stack(net: &Net) -> (Running, Lines) {
    let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    command.args([
        "--port",
        &net.port(),
        "--addr",
        &format!("{}/24", Net::OURS),
        "--app",
        &format!("echo:{PORT}"),
    ]);
    let (running, lines) = saying(&mut command, "listening on port");
    (running, Box::new(lines))
}

/// A connection of the peer to the stack works.
fn answers(net: &Net) -> bool {
    let mut peer = Scripted::start("peer", &mut net.command(End::Peer, env!("CARGO_BIN_EXE_peer")));
    peer.ask(&format!("connect {} {PORT}", Net::OURS)) == "ok"
}

/// After this the stack ends, and says which device and why.
fn ends_after(kind: fn() -> Option<Net>, why: &str, change: fn(&Net) -> Result<(), String>) {
    let Some(net) = kind() else { return };
    let (running, lines) = stack(&net);
    assert!(answers(&net));
    change(&net).expect("the device can be changed");
    // It waits for the message of the kernel alone: there is no deadline.
    assert_eq!(running.ended().code(), Some(MISSING));
    let said: Vec<String> = lines.collect();
    let told = said.iter().find(|line| line.contains(why)).unwrap_or_else(|| panic!("{said:?}"));
    assert!(told.contains(DEVICE) && told.contains("the stack ends"), "{told}");
}

fn remove(net: &Net) -> Result<(), String> {
    net.ip(End::Ours, &format!("link del {DEVICE}"))
}

fn give_away(net: &Net) -> Result<(), String> {
    net.ip(End::Ours, &format!("link set {DEVICE} name given0 netns {}", net.name(End::Peer)))
}

fn change_address(net: &Net) -> Result<(), String> {
    net.ip(End::Ours, &format!("link set {DEVICE} address 02:00:00:00:00:99"))
}

#[test]
fn a_stack_ends_without_its_device() {
    for kind in [Net::new, Net::af_xdp] {
        ends_after(kind, "was removed", remove);
    }
    ends_after(Net::new, "was removed", give_away);
    ends_after(Net::new, "another hardware address", change_address);
}

#[test]
fn a_stack_outlives_a_new_name_and_a_pause() {
    for kind in [Net::new, Net::af_xdp] {
        let Some(net) = kind() else { return };
        let (running, _lines) = stack(&net);
        net.link(End::Ours, false).expect("it goes down");
        net.ip(End::Ours, &format!("link set {DEVICE} name other0")).expect("it is down");
        net.ip(End::Ours, "link set other0 up").expect("it comes up");
        assert!(answers(&net));
        assert!(running.end().success());
    }
}

/// Whoever starts it again is told the same until the device is there, and then has it.
#[test]
fn a_stack_begins_again_with_a_new_device_of_the_name() {
    let Some(net) = Net::new() else { return };
    let (running, _lines) = stack(&net);
    remove(&net).expect("it is there");
    assert_eq!(running.ended().code(), Some(MISSING));
    let mut again: Command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    again.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", "echo:7"]);
    let said = again.output().expect("it starts");
    assert_eq!(said.status.code(), Some(MISSING), "{}", String::from_utf8_lossy(&said.stderr));
    let peer = net.name(End::Peer);
    for words in [
        format!("link add {DEVICE} type veth peer name {DEVICE} netns {peer}"),
        format!("link set {DEVICE} up"),
    ] {
        net.ip(End::Ours, &words).expect("a device can be made");
    }
    net.ip(End::Peer, &format!("addr add {}/24 dev {DEVICE}", Net::PEER)).expect("it is new");
    net.link(End::Peer, true).expect("it is there");
    let (running, _lines) = stack(&net);
    assert!(answers(&net));
    assert!(running.end().success());
}
