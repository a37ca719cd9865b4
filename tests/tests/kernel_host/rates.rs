// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates of users and of connections are held, whatever their applications do, and nobody else is held to them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use carrick_tests::build::{carrick, host, root};
use carrick_tests::net::{DEVICE, End, Net, lacks};
use carrick_tests::running::{Running, started};

use super::{here, net};

/// A stream protocol.
const PROGRAM: &str = "protocols/tcp/tcp.mtp";
/// A user that is nobody.
const USER: &str = "65534";
/// Seconds before it is measured, and while it is.
const WARM: &str = "1";
const SECONDS: &str = "3";
/// A machine may be busy with something else for longer than a rate makes good: so often it is tried.
const TRIES: u32 = 5;
/// What a rate may differ by.
const MOST: f64 = 0.01;
/// Below it, where the same process has one beside it that takes all the processor that there is.
const BESIDE: f64 = 0.05;

/// Before everything that has no such priority.
fn first(net: &Net, end: End, program: &str) -> Command {
    let mut command = net.command(end, "chrt");
    command.args(["-f", "20", program]);
    command
}

/// Unmodified programs' sockets are the program's, and these rates are held.
fn held(net: &Net, door: &Path, rates: &[&str]) -> Running {
    let mut run = first(net, End::Ours, &carrick().to_string_lossy());
    run.arg("run").arg(root().join(PROGRAM)).args(["--target", "xdp", "--port", DEVICE]);
    run.args(["--addr", &format!("{}/24", Net::OURS), "--set", "max_conns=64"]).args(rates);
    let (running, mut lines) = started(run.args(["--app", &format!("sockets:{}", door.display())]));
    let says = format!("serving sockets at {}", door.display());
    assert!(lines.by_ref().any(|line| line == says));
    std::thread::spawn(move || lines.for_each(drop));
    running
}

/// An application of a user's that sends all it can.
fn flood(net: &Net, door: &Path, user: &str, what: &[String]) -> Running {
    // Whoever is held shall have enough to send; the other one takes what is left.
    let mut command = if user == USER { first(net, End::Ours, "env") } else { net.command(End::Ours, "env") };
    command.arg(format!("LD_PRELOAD={}", host(PROGRAM).with_file_name("libcarrick-sockets.so").display()));
    command.arg(format!("CARRICK_SOCKETS={}", door.display()));
    let (running, mut said) =
        started(command.args(["python3", "-u"]).arg(here("flood.py")).arg(user).args(what));
    assert_eq!(said.next().as_deref(), Some("ready"));
    running
}

/// At which rates comes what is sent by each of these users to a port of its own, on so many connections.
fn measured(net: &Net, door: &Path, users: &[(&str, u16, u32)]) -> Vec<f64> {
    let mut sink = first(net, End::Peer, "python3");
    sink.arg("-u").arg(here("sink.py")).args([WARM, SECONDS, "1"]);
    sink.args(users.iter().map(|(_, port, count)| format!("listen:{port}:{count}")));
    let (sink, mut said) = started(&mut sink);
    assert_eq!(said.next().as_deref(), Some("ready"));
    let floods: Vec<Running> = users
        .iter()
        .map(|(user, port, count)| flood(net, door, user, &[format!("to:{}:{port}:{count}", Net::PEER)]))
        .collect();
    let rates = said.next().expect("it measures");
    drop(floods);
    drop(sink);
    rates.split(' ').map(|rate| rate.parse().expect("a rate")).collect()
}

/// A wire, a folder for a door, and whatever else is needed; `None`, said aloud, without.
fn place() -> Option<(Net, tempfile::TempDir)> {
    let net = net()?;
    if ["chrt", "python3", "clang"].iter().any(|program| lacks(program)) {
        return None;
    }
    net.sysctl(End::Ours, &format!("net.ipv4.conf.{DEVICE}.forwarding=1")).expect("it is set");
    let dir = tempfile::tempdir().expect("a folder");
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("it is ours");
    Some((net, dir))
}

/// Measures until what comes of the first users is what is wanted; the others, who are held to nothing, have more each time.
fn are_held(rates: &[&str], users: &[(&str, u16, u32)], wanted: &[f64], others: f64) {
    let Some((net, dir)) = place() else { return };
    let door = dir.path().join("door");
    let running = held(&net, &door, rates);
    let mut nearest = f64::MAX;
    for _ in 0..TRIES {
        let rates = measured(&net, &door, users);
        let off =
            rates.iter().zip(wanted).map(|(rate, wanted)| (rate / wanted - 1.0).abs()).fold(0.0, f64::max);
        eprintln!("{rates:?} bit/s, {:.3} % off", off * 100.0);
        assert!(
            rates.iter().zip(wanted).all(|(rate, wanted)| rate / wanted < 1.0 + MOST),
            "more than is allowed"
        );
        assert!(rates[wanted.len()..].iter().all(|rate| *rate > others), "nobody holds them back");
        nearest = nearest.min(off);
        if nearest < BESIDE {
            break;
        }
    }
    assert!(running.end().success());
    assert!(nearest < BESIDE, "{:.2} % off at best", nearest * 100.0);
}

#[test]
fn a_user_is_held_to_a_rate_and_another_one_is_not() {
    let users = [(USER, 1000, 3), ("0", 1001, 1)];
    are_held(&["--rate", "65534:20Mbps"], &users, &[20e6], 25e6);
}

#[test]
fn connections_are_held_to_a_rate_each() {
    let users = [(USER, 1000, 1), (USER, 1001, 2), ("0", 1002, 1)];
    are_held(&["--flow-rate", "65534:8Mbps"], &users, &[8e6, 16e6], 25e6);
}

#[test]
fn a_program_is_held_to_a_rate_as_a_whole() {
    let Some((net, dir)) = place() else { return };
    let door = dir.path().join("door");
    let running = held(&net, &door, &["--rate", "30Mbps", "--rate", "65534:10Mbps"]);
    for _ in 0..TRIES {
        let rates = measured(&net, &door, &[(USER, 1000, 2), ("0", 1001, 2)]);
        let (user, all) = (rates[0], rates[0] + rates[1]);
        eprintln!("{user} of {all} bit/s");
        assert!(user < 10e6 * (1.0 + MOST) && all < 30e6 * (1.0 + MOST), "more than is allowed");
        if user > 10e6 * (1.0 - MOST) && all > 30e6 * (1.0 - MOST) {
            assert!(running.end().success());
            return;
        }
    }
    panic!("less than is allowed");
}
