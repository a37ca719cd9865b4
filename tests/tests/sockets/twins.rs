// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same calls on Linux's TCP and on ours: what programs see must be the same, but for a list with a reason each.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::serve;

use super::setting::Stack;

const FOLDER: &str = "tests/tests/sockets/twins";

fn file(name: &str) -> std::path::PathBuf {
    root().join(FOLDER).join(name)
}

/// What the calls said, over the stack of `program`, which runs Python.
fn said(net: &Net, program: Command, which: &[&str]) -> String {
    said_with(net, program, which, &[])
}

/// The same, with more arguments of the remote end.
fn said_with(net: &Net, mut program: Command, which: &[&str], more: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let control = dir.path().join("control");
    let mut remote = net.command(End::Peer, "python3");
    let _remote =
        serve(remote.arg("-u").arg(file("remote.py")).arg(Net::PEER).arg(&control).args(more), "ready");
    program.arg("-u").arg(file("compared.py")).args([Net::OURS, Net::PEER]).arg(&control).args(which);
    let done = program.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.ends_with("\nall\n"), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

fn said_by_linux(which: &[&str]) -> Option<String> {
    let net = Net::kernel_on_both()?;
    Some(said(&net, net.command(End::Ours, "python3"), which))
}

fn said_by_ours(which: &[&str]) -> Option<String> {
    let net = Net::new()?;
    let stack = Stack::start(&net, &[]);
    let said = said(&net, stack.command(&net, "python3"), which);
    stack.end();
    Some(said)
}

/// Before a line that differs only if something arrives at another time.
const SOMETIMES: &str = "sometimes: ";

/// Lines that are meant to differ, by their reasons, of programs with the library, and of those in a namespace.
const MEANT: [&str; 2] = ["meant.txt", "namespaces.txt"];

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

/// Our lines that differ, each with Linux's.
fn differences<'a>(linux: &'a str, ours: &'a str) -> Vec<(&'a str, &'a str)> {
    let (linux, ours): (Vec<_>, Vec<_>) = (linux.lines().collect(), ours.lines().collect());
    assert_eq!(linux.len(), ours.len(), "one of them hangs: {linux:#?}\n{ours:#?}");
    ours.into_iter().zip(linux).filter(|(ours, linux)| ours != linux).collect()
}

fn compare_cases(linux: &str, ours: &str, list: &str) {
    let listed: Vec<String> = meant(list).into_values().flatten().collect();
    let meant: BTreeSet<&str> =
        listed.iter().map(|line| line.strip_prefix(SOMETIMES).unwrap_or(line)).collect();
    let found = differences(linux, ours);
    let other: Vec<_> = found.iter().filter(|(ours, _)| !meant.contains(*ours)).collect();
    assert!(other.is_empty(), "ours, and Linux's: {other:#?}");
    let always = listed.iter().filter(|line| !line.starts_with(SOMETIMES));
    let stale: Vec<_> = always.filter(|line| !found.iter().any(|(ours, _)| ours == line)).collect();
    assert!(stale.is_empty(), "these do not differ any more: {stale:#?}");
}

#[test]
fn calls_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let (Some(linux), Some(ours)) = (said_by_linux(&[]), said_by_ours(&[])) else { return };
    compare_cases(&linux, &ours, MEANT[0]);
}

/// Over a stack that serves a namespace: programs there have the kernel's own sockets.
fn said_in_a_namespace(net: &Net, stack: &Stack, which: &[&str]) -> String {
    said_with(net, stack.command(net, "python3"), which, &["late"])
}

#[test]
fn calls_in_a_namespace_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_with_space(&net, "", &[]);
    let ours = said_in_a_namespace(&net, &stack, &[]);
    stack.end();
    let Some(linux) = said_by_linux(&[]) else { return };
    compare_cases(&linux, &ours, MEANT[1]);
}

#[test]
fn random_sequences_in_a_namespace_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let seeds = std::env::var("CARRICK_TWIN_SEEDS").unwrap_or_else(|_| "101-140".to_owned());
    let which = ["--seeds", &seeds];
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_with_space(&net, "", &[]);
    let ours = said_in_a_namespace(&net, &stack, &which);
    stack.end();
    let Some(linux) = said_by_linux(&which) else { return };
    let found = differences(&linux, &ours);
    assert!(found.is_empty(), "ours, and Linux's; CARRICK_TWIN_SEEDS=N repeats a seed: {found:#?}");
}

#[test]
fn calls_in_a_namespace_say_what_they_say_on_linux_by_the_kernel() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = Stack::start_in_kernel_with_space(&net) else { return };
    let ours = said_in_a_namespace(&net, &stack, &[]);
    stack.end();
    let Some(linux) = said_by_linux(&[]) else { return };
    compare_cases(&linux, &ours, MEANT[1]);
}

/// Some seeds; `CARRICK_TWIN_SEEDS=FIRST-LAST` chooses others.
#[test]
fn random_sequences_of_calls_say_what_they_say_on_linux() {
    if lacks("python3") {
        return;
    }
    let seeds = std::env::var("CARRICK_TWIN_SEEDS").unwrap_or_else(|_| "1-50".to_owned());
    let which = ["--seeds", &seeds];
    let (Some(linux), Some(ours)) = (said_by_linux(&which), said_by_ours(&which)) else { return };
    let found = differences(&linux, &ours);
    assert!(found.is_empty(), "ours, and Linux's; CARRICK_TWIN_SEEDS=N repeats a seed: {found:#?}");
}

#[test]
fn calls_say_what_they_say_on_linux_by_the_kernel() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = Stack::start_in_kernel(&net) else { return };
    let ours = said(&net, stack.command(&net, "python3"), &[]);
    let random = said(&net, stack.command(&net, "python3"), &["--seeds", "51-65"]);
    stack.end();
    let (Some(linux), Some(linux_random)) = (said_by_linux(&[]), said_by_linux(&["--seeds", "51-65"])) else {
        return;
    };
    compare_cases(&linux, &ours, MEANT[0]);
    let found = differences(&linux_random, &random);
    assert!(found.is_empty(), "ours, and Linux's: {found:#?}");
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
