// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that wait for their moment leave at it: a rate is held.

use std::process::Stdio;

use carrick_tests::build::carrick;
use carrick_tests::net::{DEVICE, End, Net, skip};
use carrick_tests::running::started;

use super::{MISSING, here, net};

/// The rate in bits per second, and in units of the program.
const RATE: f64 = 10e6;
const UNITS: u64 = 1000;
/// Packets in two seconds.
const PACKETS: u64 = 62_500;
/// A machine may be busy with something else for longer than a rate limiter makes good: so often it is tried.
const TRIES: u32 = 5;
/// What the rate may differ by.
const MOST: f64 = 0.01;

/// At which rate the packets of a connection came; `None`, said aloud, where this machine does not take programs.
fn measured(net: &Net) -> Option<f64> {
    // Before everything that has no such priority.
    let first = |end, program: &str| {
        let mut command = net.command(end, "chrt");
        command.args(["-f", "20", program]);
        command
    };
    let mut meter = first(End::Peer, "python3");
    let (meter, mut said) = started(meter.arg(here("meter.py")).arg(PACKETS.to_string()));
    assert_eq!(said.next().as_deref(), Some("ready"));
    let mut run = first(End::Ours, &carrick().to_string_lossy());
    run.arg("run").arg(here("paced.mtp"));
    run.args([
        "--target",
        "xdp",
        "--port",
        DEVICE,
        "--addr",
        &format!("{}/24", Net::OURS),
        "--app",
        "script:-",
    ]);
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = run.spawn().expect("it starts");
    let script = format!("connect {} {UNITS}\n", Net::PEER);
    std::io::Write::write_all(&mut process.stdin.take().expect("piped"), script.as_bytes())
        .expect("it reads");
    let output = process.wait_with_output().expect("it ends");
    if output.status.code() == Some(MISSING) {
        skip(&String::from_utf8_lossy(&output.stderr));
        return None;
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ok\n", "{output:?}");
    let rate = said.next().and_then(|line| line.parse().ok());
    assert!(meter.ended().success());
    rate
}

#[test]
fn a_rate_is_held() {
    let Some(net) = net() else { return };
    if carrick_tests::net::lacks("chrt") || carrick_tests::net::lacks("python3") {
        return;
    }
    net.sysctl(End::Ours, &format!("net.ipv4.conf.{DEVICE}.forwarding=1")).expect("it is set");
    let mut nearest = f64::MAX;
    for _ in 0..TRIES {
        let Some(rate) = measured(&net) else { return };
        let off = (rate / RATE - 1.0).abs();
        eprintln!("{rate} bit/s of {RATE}, {:.3} % off", off * 100.0);
        nearest = nearest.min(off);
        if nearest < MOST {
            return;
        }
    }
    panic!("{:.2} % off at best", nearest * 100.0);
}
