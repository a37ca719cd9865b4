// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications that use a program in the kernel: their requests, its timers, and by which way its packets leave.

mod beside;
mod changing;
mod many;
mod multistream;
mod over_ipv6;
mod pacing;
mod rates;
mod routed;
mod rpcs;
mod starting;
mod streams;
mod veth;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use carrick_tests::build::root;
use carrick_tests::command::done;
use carrick_tests::in_kernel::run_in_kernel;
use carrick_tests::net::{DEVICE, End, Net, skip};
use carrick_tests::running::started;
use serde_json::Value;

/// What a program in the kernel needs that this machine may not have.
const MISSING: i32 = 3;

fn here(file: &str) -> PathBuf {
    root().join("tests/tests/kernel_host").join(file)
}

/// Two namespaces. A pair of devices hands over what a program sends only where something takes frames in batches.
fn net() -> Option<Net> {
    let net = Net::kernel_on_both()?;
    let taken = net.command(End::Peer, "ethtool").args(["-K", DEVICE, "gro", "on"]).status();
    taken.is_ok_and(|status| status.success()).then_some(net)
}

fn run(net: &Net) -> Command {
    run_in_kernel(net, &here("asking.mtp"))
}

/// Lets an application obey a script.
fn obeyed(net: &Net, script: &str) -> Output {
    let mut command = run(net);
    command.args(["--set", "patience=200ms", "--app", "script:-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    process.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
    process.wait_with_output().expect("it ends")
}

/// What a counter is at the end.
fn counter(output: &Output, name: &str) -> u64 {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find(|line| line.split_whitespace().next() == Some(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// A peer that answers what is asked for the third time, and an address that nobody has.
fn asked(net: &Net) -> Option<Output> {
    let (peer, mut heard) = started(net.command(End::Peer, "python3").arg(here("peer.py")));
    assert_eq!(heard.next().as_deref(), Some("ready"));
    let output = obeyed(net, &format!("connect {} 7\nclose\nconnect 10.77.0.9 7\n", Net::PEER));
    if output.status.code() == Some(MISSING) {
        skip(&String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "ok\nok\ntimed_out\n", "{output:?}");
    assert_eq!(
        heard.collect::<Vec<_>>(),
        ["0 1", "0 2", "0 3", "2 3"],
        "asked by its timers until it answers"
    );
    assert!(peer.ended().success());
    Some(output)
}

/// The table of a program whose `send` has no `addr_t`, which the checker takes only in an interface that no application calls.
fn unsent(dir: &Path) -> PathBuf {
    let file = here("unsent.mtp").display().to_string();
    done(&root(), &["build", &file, "--target", "json", "-o", &dir.to_string_lossy()]);
    let path = dir.join("unsent.json");
    let mut table: Value = serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
    table["hash"] = Value::Null;
    table["program"]["interface"]["name"] = "message".into();
    fs::write(&path, table.to_string()).expect("writable");
    path
}

/// The program never sees the bytes of a request without an `addr_t`, so that it does not take any.
#[test]
fn bytes_that_no_request_takes_are_refused_and_hold_nothing() {
    let Some(net) = net() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let mut command = run_in_kernel(&net, &unsent(dir.path()));
    command.args(["--requests", "16", "--app", "script:-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    let script = format!("open {} 7 9\n{}close\n", Net::PEER, "send 100\n".repeat(40));
    process.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
    let output = process.wait_with_output().expect("it ends");
    if output.status.code() == Some(MISSING) {
        return skip(&String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, format!("ok\n{}ok\n", "invalid\n".repeat(40)), "{output:?}");
}

fn has_program(net: &Net) -> bool {
    let link = net.command(End::Ours, "ip").args(["link", "show", DEVICE]).output().expect("ip runs");
    String::from_utf8_lossy(&link.stdout).contains("xdp")
}

#[test]
fn requests_reach_peers_by_the_kernels_stack_until_their_way_is_known() {
    let Some(net) = net() else { return };
    for _ in 0..2 {
        // The first packet asks for the neighbour, or where it is known for what the kernel knows of it; all four to one that is
        // nobody do.
        let Some(output) = asked(&net) else { return };
        assert_eq!(counter(&output, "port_sent"), 5, "{output:?}");
        assert_eq!(counter(&output, "tx_packets"), 8, "{output:?}");
        assert_eq!(counter(&output, "rx_packets"), 1, "{output:?}");
    }
    assert!(!has_program(&net), "the device is as it was");
}

#[test]
fn who_wants_more_memory_than_there_is_learns_what_would_do() {
    let Some(net) = net() else { return };
    let mut command = run_in_kernel(&net, &root().join("protocols/tcp/tcp.mtp"));
    command.args(["--set", "max_conns=1048576"]);
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(MISSING), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !said.contains("not enough memory") {
        return skip(&said);
    }
    let all = "1048576 instances of `tcb` with units of 512 KiB each, and all requests, take 688208 MiB";
    assert!(said.contains(all), "{said}");
    let fewer = said.split_once("with `--set max_conns=").and_then(|(_, rest)| rest.split_once('`'));
    let fewer: u64 = fewer.and_then(|(n, _)| n.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    assert!(fewer.is_power_of_two() && fewer < 1_048_576, "{said}");
    assert!(!has_program(&net), "the device is as it was");
}

#[test]
fn an_application_that_is_told_to_end_leaves_the_device_as_it_was() {
    let Some(net) = net() else { return };
    let mut command = run(&net);
    // Nobody writes, so it would wait for ever.
    command.args(["--app", "script:-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    let mut first = String::new();
    let said = process.stderr.as_mut().expect("piped");
    BufReader::new(said).read_line(&mut first).expect("UTF-8");
    if !first.contains("is on") {
        assert_eq!(process.wait().expect("it ends").code(), Some(MISSING), "{first}");
        return skip(&first);
    }
    let told = Command::new("kill").args(["-TERM", &process.id().to_string()]).status();
    assert!(told.is_ok_and(|status| status.success()));
    assert!(process.wait().is_ok_and(|status| status.success()), "it ends in order");
    assert!(!has_program(&net), "the device is as it was");
}
