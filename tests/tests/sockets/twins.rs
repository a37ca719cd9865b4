// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same calls on Linux's TCP and UDP, and on ours: what programs see must be the same, but for a list with a reason each.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use carrick_tests::build::{host, root};
use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::serve;

use super::setting::Stack;
use super::space::Space;

const FOLDER: &str = "tests/tests/sockets/twins";

/// What makes the calls, and what is at the other end.
type Scripts = [&'static str; 2];
const STREAMS: Scripts = ["compared.py", "remote.py"];
const DATAGRAMS: Scripts = ["datagrams.py", "datagrams_remote.py"];

fn file(name: &str) -> std::path::PathBuf {
    root().join(FOLDER).join(name)
}

/// What the calls said, over the stack of `program`, which runs Python.
fn said(net: &Net, program: Command, which: &[&str]) -> String {
    said_by(STREAMS, net, program, which, &[])
}

/// The same by these scripts, with more arguments of the remote end.
fn said_by(
    [calls, other]: Scripts,
    net: &Net,
    mut program: Command,
    which: &[&str],
    more: &[&str],
) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let control = dir.path().join("control");
    let mut remote = net.command(End::Peer, "python3");
    let _remote = serve(remote.arg("-u").arg(file(other)).arg(Net::PEER).arg(&control).args(more), "ready");
    program.arg("-u").arg(file(calls)).args([Net::OURS, Net::PEER]).arg(&control).args(which);
    let done = program.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.ends_with("\nall\n"), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

fn said_by_linux(scripts: Scripts, which: &[&str]) -> Option<String> {
    let net = Net::kernel_on_both()?;
    Some(said_by(scripts, &net, net.command(End::Ours, "python3"), which, &[]))
}

/// Before a line that differs only if something arrives at another time.
const SOMETIMES: &str = "sometimes: ";

/// Lines that are meant to differ, by their reasons, of programs with the library, of those in a namespace, and
/// of datagrams.
const MEANT: [&str; 3] = ["meant.txt", "namespaces.txt", "datagrams_meant.txt"];

/// Our lines that are meant to differ, by their reasons.
fn meant(list: &str) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(file(list)).expect("readable");
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut reason = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(next) = line.strip_prefix("- ") {
            reason = next.to_owned();
        } else {
            by_reason.entry(reason.clone()).or_default().push(line.to_owned());
        }
    }
    by_reason
}

/// What the calls of each case said, in their order.
fn by_case(said: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut cases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in said.lines().filter(|line| *line != "all") {
        let case = line.split_once(": ").expect("a line begins with its case").0;
        cases.entry(case).or_default().push(line);
    }
    cases
}

/// Our lines of a case that differ, each with Linux's; of one that hangs the other has more.
fn differences<'a>(linux: &[&'a str], ours: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let lines = linux.len().max(ours.len());
    let at = |said: &[&'a str], n: usize| said.get(n).copied().unwrap_or("nothing: it hangs");
    let pairs = (0..lines).map(|n| (at(ours, n), at(linux, n)));
    pairs.filter(|(ours, linux)| ours != linux).collect()
}

/// Compares what cases say, but for our lines that are meant to differ. One that says something else is repeated, on Linux too: on a
/// busy machine something may arrive later. Returns all differences of the first run.
fn compare(
    scripts: Scripts,
    which: &[&str],
    ours: &dyn Fn(&[&str]) -> String,
    meant: &BTreeSet<&str>,
) -> Option<Vec<String>> {
    const TRIES: usize = 3;
    let (linux, said) = (said_by_linux(scripts, which)?, ours(which));
    let (linux, said) = (by_case(&linux), by_case(&said));
    assert!(linux.keys().eq(said.keys()), "they have the same cases");
    let wrong = |linux: &[&str], ours: &[&str]| -> Vec<String> {
        let other = differences(linux, ours).into_iter().filter(|(ours, _)| !meant.contains(ours));
        other.map(|(ours, linux)| format!("ours: {ours}\nLinux: {linux}")).collect()
    };
    for (case, linux) in &linux {
        let mut found = wrong(linux, &said[case]);
        for _ in 1..TRIES {
            if found.is_empty() {
                break;
            }
            eprintln!("repeated, since it differs:\n{}", found.join("\n"));
            let again = match case.strip_prefix("seed ") {
                Some(seed) => ["--seeds", seed],
                None => ["--case", case],
            };
            let (linux, said) = (said_by_linux(scripts, &again)?, ours(&again));
            found = wrong(&by_case(&linux)[case], &by_case(&said)[case]);
        }
        assert!(found.is_empty(), "`{}` repeats a case or a seed:\n{}", scripts[0], found.join("\n"));
    }
    let all = linux.iter().flat_map(|(case, linux)| differences(linux, &said[case]));
    Some(all.map(|(ours, _)| ours.to_owned()).collect())
}

/// All cases, of which these lines are meant to differ.
fn compare_cases(scripts: Scripts, ours: &dyn Fn(&[&str]) -> String, list: &str) {
    let listed: Vec<String> = meant(list).into_values().flatten().collect();
    let meant: BTreeSet<&str> =
        listed.iter().map(|line| line.strip_prefix(SOMETIMES).unwrap_or(line)).collect();
    let Some(found) = compare(scripts, &[], ours, &meant) else { return };
    let always = listed.iter().filter(|line| !line.starts_with(SOMETIMES));
    let stale: Vec<_> = always.filter(|line| !found.contains(line)).collect();
    assert!(stale.is_empty(), "these do not differ any more: {stale:#?}");
}

/// Sequences that are drawn from these seeds, `FIRST-LAST`; `CARRICK_TWIN_SEEDS` chooses others. None of their lines may differ.
fn compare_sequences(scripts: Scripts, ours: &dyn Fn(&[&str]) -> String, seeds: &str) {
    let seeds = std::env::var("CARRICK_TWIN_SEEDS").unwrap_or_else(|_| seeds.to_owned());
    compare(scripts, &["--seeds", &seeds], ours, &BTreeSet::new());
}

#[test]
fn calls_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start(&net, &[]);
    let ours = |which: &[&str]| said(&net, stack.command(&net, "python3"), which);
    compare_cases(STREAMS, &ours, MEANT[0]);
    compare_sequences(STREAMS, &ours, "1-50");
    stack.end();
}

/// Over a stack that serves a space: programs there have the kernel's own sockets.
fn said_in_a_space(net: &Net, stack: &Stack, which: &[&str]) -> String {
    said_by(STREAMS, net, stack.command(net, "python3"), which, &["late"])
}

#[test]
fn calls_in_a_namespace_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_with_space(&net, "", &[]);
    let ours = |which: &[&str]| said_in_a_space(&net, &stack, which);
    compare_cases(STREAMS, &ours, MEANT[1]);
    compare_sequences(STREAMS, &ours, "101-140");
    stack.end();
}

/// Where a socket of IPv4 is bound to the stack's address by another way than the kernel's own.
#[test]
fn calls_in_a_cgroup_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let Some(space) = Space::cgroup(&net) else { return };
    let stack = Stack::start_serving(&net, space, "", &[]);
    let ours = |which: &[&str]| said_in_a_space(&net, &stack, which);
    compare_cases(STREAMS, &ours, MEANT[1]);
    compare_sequences(STREAMS, &ours, "141-160");
    stack.end();
}

#[test]
fn calls_in_a_namespace_say_what_they_say_on_linux_by_the_kernel() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = Stack::start_in_kernel_serving(&net, Space::namespace(&net)) else { return };
    compare_cases(STREAMS, &|which| said_in_a_space(&net, &stack, which), MEANT[1]);
    stack.end();
}

#[test]
fn calls_say_what_they_say_on_linux_by_the_kernel() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = Stack::start_in_kernel(&net) else { return };
    let ours = |which: &[&str]| said(&net, stack.command(&net, "python3"), which);
    compare_cases(STREAMS, &ours, MEANT[0]);
    compare_sequences(STREAMS, &ours, "51-65");
    stack.end();
}

const UDP: &str = "protocols/plain-udp/plain-udp.mtp";

fn compare_datagrams(net: &Net, stack: Stack, seeds: &str) {
    let ours = |which: &[&str]| said_by(DATAGRAMS, net, stack.command(net, "python3"), which, &[]);
    compare_cases(DATAGRAMS, &ours, MEANT[2]);
    compare_sequences(DATAGRAMS, &ours, seeds);
    stack.end();
}

#[test]
fn calls_on_datagrams_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = udp(&net, &[]);
    compare_datagrams(&net, stack, "1-50");
}

#[test]
fn calls_on_datagrams_say_what_they_say_on_linux_by_the_kernel() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = Stack::start_in_kernel_of(&net, UDP, &host(UDP)) else { return };
    compare_datagrams(&net, stack, "51-65");
}

/// A stack of UDP, with more arguments.
pub fn udp(net: &Net, more: &[&str]) -> Stack {
    let host = host(UDP);
    let mut command = net.command(End::Ours, &host.to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS)]).args(more);
    Stack::start_of(command, &host)
}

/// What differs is told to users, with the reason.
#[test]
fn the_readme_lists_what_differs() {
    let readme = std::fs::read_to_string(root().join("targets/native/README.md")).expect("readable");
    let told = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    let reasons = MEANT.iter().flat_map(|list| meant(list).into_keys());
    let missing: Vec<_> = reasons.filter(|reason| !told.contains(reason.as_str())).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
