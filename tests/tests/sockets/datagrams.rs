// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unmodified programs with datagram sockets, and with those of packets in order, over programs of messages.

use std::path::Path;
use std::process::{Command, Output};

use carrick_tests::build::{host_with, root};
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::{Running, serve};

use super::setting::{Stack, version};
use super::twins::udp;

const SCRIPT: &str = "tests/tests/sockets/messages.py";
const NETBLOCKS: &str = "protocols/netblocks/netblocks.mtp";
const ADDRESSES: [&str; 2] = ["10.0.0.1", "10.0.0.2"];
const LOSSES: &str = "loss=4%,reorder=3%,dup=3%,delay=200us,seed=9";

/// A part of the script, by the command of a stack's program.
fn part(mut command: Command, words: &[&str]) -> Command {
    command.arg("-u").arg(root().join(SCRIPT)).args(words);
    command
}

#[track_caller]
fn said(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    assert!(status.success(), "{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

/// Two stacks of a program with these features, joined by sockets of this folder.
fn two_stacks(features: &[&str], dir: &Path, more: &[&str]) -> [Stack; 2] {
    let host = host_with(NETBLOCKS, features);
    let path = |n: usize| dir.join(n.to_string()).display().to_string();
    [0, 1].map(|n| {
        let mut command = Command::new(&host);
        command.args(["--port", &format!("unix:{}:{}", path(n), path(1 - n))]).args(more);
        command.args(["--addr", &format!("{}/28", ADDRESSES[n])]);
        Stack::start_of(command, &host)
    })
}

/// An echo at one stack, and clients at the other.
fn echoes(kind: &str, features: &[&str], more: &[&str]) {
    if lacks("python3") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let [one, other] = two_stacks(features, dir.path(), more);
    let before = [one.sockets(), other.sockets()];
    {
        let mut server = part(one.command_anywhere("python3"), &["serve", kind, "1030"]);
        let _server = serve(&mut server, "ready");
        let client = part(other.command_anywhere("python3"), &["ask", kind, ADDRESSES[0], "1030"]);
        assert_eq!(said(client), "all\n");
    }
    one.wait_for_sockets(before[0]);
    other.wait_for_sockets(before[1]);
    one.end();
    other.end();
}

/// Four bytes of header, and sixteen ports.
#[test]
fn datagrams_go_over_four_bytes() {
    echoes("datagrams", &["--with", "shrunk,listening", "--without", "ethernet"], &[]);
}

/// Programs that do not repeat what is lost.
#[test]
fn datagrams_arrive_where_the_program_repeats_what_is_lost() {
    echoes(
        "datagrams",
        &["--with", "inorder=hold,reliable,listening", "--without", "ethernet"],
        &["--fault", LOSSES, "--set", "resend_after=20ms"],
    );
}

#[test]
fn packets_in_order_have_connections() {
    echoes("packets", &["--with", "ends,inorder=hold", "--without", "ethernet"], &[]);
}

#[test]
fn packets_in_order_have_connections_where_packets_are_lost() {
    echoes(
        "packets",
        &["--with", "ends,inorder=hold", "--without", "ethernet"],
        &["--fault", LOSSES, "--set", "resend_after=20ms"],
    );
}

/// The kernel's UDP at the other end, and Python's asyncio.
#[test]
fn many_clients_of_the_kernels_are_served() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    // Fewer conversations than clients: those that are idle give way.
    let stack = udp(&net, &["--set", "max_ends=40"]);
    {
        let server = part(stack.command(&net, "python3"), &["serve", "asyncio", "7000"]);
        let _server = serve(&mut { server }, "ready");
        assert_eq!(
            said(part(net.command(End::Peer, "python3"), &["many", Net::OURS, "7000", "500"])),
            "all\n"
        );
    }
    let server = part(net.command(End::Peer, "python3"), &["serve", "asyncio", "7001"]);
    let _server = serve(&mut { server }, "ready");
    assert_eq!(said(part(stack.command(&net, "python3"), &["many", Net::PEER, "7001", "100"])), "all\n");
    stack.end();
}

fn socat(mut command: Command, words: &[&str]) -> Running {
    serve(command.args(["-d", "-d"]).args(words), "listening on UDP")
}

/// A process for each client, which takes over the socket while another one has its port.
#[test]
fn socat_serves_and_asks() {
    if lacks("socat") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = udp(&net, &[]);
    let ask = |mut command: Command, address: &str| {
        // It ends with the answer, and not with a time.
        let to = format!("UDP:{address}:7002,readbytes=5");
        command.args(["-c", &format!("printf hello | socat -t60 - {to}")]);
        said(command)
    };
    let server = socat(stack.command(&net, "socat"), &["UDP-LISTEN:7002,fork", "EXEC:cat"]);
    for _ in 0..3 {
        assert_eq!(ask(net.command(End::Peer, "sh"), Net::OURS), "hello");
    }
    drop(server);
    let _server = socat(net.command(End::Peer, "socat"), &["UDP-LISTEN:7002,fork", "EXEC:cat"]);
    assert_eq!(ask(stack.command(&net, "sh"), Net::PEER), "hello");
}

/// Nothing goes to the kernel's stack by the way: its network is another.
#[test]
fn what_is_not_there_ends_with_an_error() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    let host = host_with("protocols/plain-udp/plain-udp.mtp", &[]);
    let mut command = net.command(End::Ours, &host.to_string_lossy());
    let beside = Net::OURS.replace(".1", ".9");
    command.args(["--port", &net.port(), "--addr", &format!("{beside}/24")]);
    let stack = Stack::start_of(command, &host);
    let told = said(part(stack.command(&net, "python3"), &["refusals", &beside, Net::PEER]));
    assert_eq!(
        told,
        "to another host, behind loopback: ENETUNREACH\n\
         to loopback: ok\n\
         a peer on loopback, of one that has a port: ENETUNREACH\n\
         a group: ENETUNREACH\n\
         itself: ENETUNREACH\n\
         more in parts: ENOTSUP\n\
         packets in order: ESOCKTNOSUPPORT\n\
         a stream: the kernel's\n"
    );
    stack.end();
}

/// What no library would say to the door, and behind it.
#[test]
fn a_hostile_program_is_answered_and_forgotten() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = udp(&net, &[]);
    let before = stack.sockets();
    let mut hostile = net.command(End::Ours, "python3");
    hostile.arg(root().join("tests/tests/sockets/hostile.py")).arg(stack.door()).arg(version());
    assert_eq!(said(hostile), "said\n");
    stack.wait_for_sockets(before);
    assert_eq!(said(part(stack.command(&net, "python3"), &["garbage", Net::PEER])), "all\n");
    stack.wait_for_sockets(before);
    stack.end();
}

/// A program that dies, or whose stack does.
#[test]
fn deaths_are_noticed() {
    if lacks("python3") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let [one, other] = two_stacks(&["--with", "ends,inorder=hold", "--without", "ethernet"], dir.path(), &[]);
    let mut server = part(one.command_anywhere("python3"), &["serve", "packets", "1030"]);
    let _server = serve(&mut server, "ready");
    let mut killed = part(other.command_anywhere("python3"), &["dies", ADDRESSES[0], "1030"]);
    assert!(!killed.status().expect("it starts").success());
    // The next one has the same ports, and is not taken for that.
    let client = part(other.command_anywhere("python3"), &["ask", "packets", ADDRESSES[0], "1030"]);
    assert_eq!(said(client), "all\n");
    let mut left = part(other.command_anywhere("python3"), &["left", ADDRESSES[0], "1030"]);
    let (running, lines) = carrick_tests::running::saying(&mut left, "connected");
    other.end();
    assert_eq!(lines.collect::<Vec<_>>(), ["ECONNRESET", "ENETDOWN", "ENETDOWN"]);
    drop(running);
    one.end();
}
