// SPDX-License-Identifier: MIT OR Apache-2.0
//! Soaks of TCP in the kernel and in a process, as short as they can be: `scripts/soak --quick`.

use std::process::Command;

use carrick_tests::build::{carrick, carrickd, root};
use carrick_tests::net::{Net, lacks, skip};
use carrick_xdp_loader::machine;

/// Whether there can be namespaces, and what else a soak takes.
fn fits() -> bool {
    let missing = ["clang", "python3", "tc"].iter().any(|program| lacks(program));
    !missing && Net::new().is_some()
}

fn soaks(target: &str) {
    let mut soak = Command::new(root().join("scripts/soak"));
    soak.args(["--quick", "--target", target]).env("CARRICKD", carrickd()).env("CARRICK", carrick());
    let done = soak.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.ends_with("nothing is lost\n"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn what_is_held_after_each_round_is_what_was_held_before() {
    if !fits() {
        return;
    }
    if let Err(missing) = machine::suits() {
        return skip(&missing.to_string());
    }
    soaks("xdp");
}

#[test]
fn the_same_of_a_stack_in_a_process() {
    if fits() {
        soaks("native");
    }
}
