// SPDX-License-Identifier: MIT OR Apache-2.0
//! A user with a rate who tries to send more.

use std::path::PathBuf;
use std::process::Command;

use carrick_tests::build::{host, root};
use carrick_tests::net::{End, Net};
use carrick_tests::running::{Running, started};

use super::setting::{PROGRAM, Place};

/// What the user may send, in bits per second, and how much more may come in the time that is measured.
const RATE: f64 = 8e6;
const MOST: f64 = 1.01;
/// How often that is measured: where it is more only now and then, the machine stalled and then caught up.
const WINDOWS: usize = 3;
/// On so many connections: those that it makes, and those that it is asked for.
const MADE: u32 = 60;
const TAKEN: u32 = 20;

fn script(name: &str) -> PathBuf {
    root().join("tests/tests/kernel_host").join(name)
}

/// An application that sends as much as goes.
fn flood(place: &Place, user: &str, what: &[String]) -> Running {
    let library = host(PROGRAM).with_file_name("libcarrick-sockets.so");
    let mut command = place.net.command(End::Ours, "env");
    command.arg(format!("LD_PRELOAD={}", library.display()));
    command.arg(format!("CARRICK_SOCKETS={}", place.door().display()));
    command.args(["python3", "-u"]).arg(script("flood.py")).arg(user).args(what);
    let (running, mut said) = started(&mut command);
    assert_eq!(said.next().as_deref(), Some("ready"));
    running
}

/// What comes at the other end, by the kernel there.
fn sink(net: &Net, words: &[String]) -> Command {
    let mut command = net.command(End::Peer, "python3");
    command.arg("-u").arg(script("sink.py")).args(["0", "2", &WINDOWS.to_string()]).args(words);
    command
}

#[test]
fn a_user_who_floods_sends_no_more_than_its_rate_and_stalls_nobody() {
    let Some(place) = Place::start_held(",65534:8000-8099", &["--rate", "65534:8Mbps"]) else { return };
    let wanted = [
        format!("listen:1000:{MADE}"),
        "listen:1001:1".to_owned(),
        format!("fetch:{}:8000:{TAKEN}", Net::OURS),
    ];
    // As two processes, of which the one knows nothing of the other.
    let taken = flood(&place, "65534", &[format!("on:8000:{TAKEN}")]);
    let (sink, mut said) = started(&mut sink(&place.net, &wanted));
    assert_eq!(said.next().as_deref(), Some("ready"));
    let made = flood(&place, "65534", &[format!("to:{}:1000:{MADE}", Net::PEER)]);
    let honest = flood(&place, "0", &[format!("to:{}:1001:1", Net::PEER)]);
    let mut least = f64::MAX;
    for rates in said.take(WINDOWS) {
        let rates: Vec<f64> = rates.split(' ').map(|rate| rate.parse().expect("a rate")).collect();
        let [made_rate, honest_rate, taken_rate] = rates[..] else { panic!("{rates:?}") };
        eprintln!("{made_rate} and {taken_rate} bit/s of {RATE}; {honest_rate} of another user");
        least = least.min(made_rate + taken_rate);
        assert!(honest_rate > RATE, "another user is not held to it");
    }
    assert!(least < RATE * MOST, "more than its rate, or nothing measured");
    drop((taken, made, honest, sink));
    place.end();
}
