// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in hardware: circuits that do what the interpreter does, and the chapter of the book.

use std::path::Path;

use carrick_driver::compile_file;
use carrick_sim::Scenario;
use carrick_sim::diff::{Pace, Via, diff_through};
use carrick_sim::scenario::Engine;
use carrick_targets::ALL;
use carrick_tests::build::root;
use carrick_tests::document::{blocks, replay, run};
use carrick_tests::net::{lacks, skip};

/// Whether this machine lacks what makes and simulates circuits; that is then said.
fn no_tools() -> bool {
    if ["verilator", "c++", "make"].into_iter().any(lacks) {
        return true;
    }
    let named = std::env::var_os("CARRICK_XLS").is_some();
    let there = named || Path::new("/usr/local/lib/carrick/libxls.so").exists();
    if !there {
        skip("XLS is not installed (scripts/setup installs it)");
    }
    !there
}

/// The chapter builds a circuit and compares two programs with the interpreter. What it builds has no warning.
#[test]
fn the_chapter_goes_as_it_says() {
    if no_tools() {
        return;
    }
    let text = std::fs::read_to_string(root().join("docs/hardware.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::os::unix::fs::symlink(root().join("protocols"), dir.join("protocols")).expect("writable");
    let console = blocks(&text).into_iter().filter(|(language, _)| *language == "console");
    let commands: usize = console.map(|(_, block)| replay(dir, block)).sum();
    assert_eq!(commands, 6, "commands of the chapter");
    run(dir, "cd out && verilator --lint-only -Wall --top-module top top.sv shell.sv session_table.sv *.v");
}

/// A program in the network whose chains run in a circuit does what the interpreter does, where connections go through it.
#[test]
fn a_circuit_can_be_between_two_hosts() {
    if no_tools() {
        return;
    }
    let read = |name: &str| {
        let path = root().join(format!("protocols/{name}/{name}.mtp"));
        compile_file(&path).expect("readable").program.expect("right")
    };
    let (ends, proxy) = (read("tcp"), read("synproxy"));
    let cores = ALL.find("hw").expect("there is one").cores(&proxy, false).expect("it fits");
    let via = Via { program: &proxy, engine: &cores.engine(Pace::Asked), params: Vec::new() };
    let found = diff_through(&ends, &Engine::Interpreter, Some(&via), &Scenario::random(3)).expect("it runs");
    assert_eq!((found.difference, found.failures), (None, vec![]));
    assert!(found.packets > 100, "{} packets", found.packets);
    assert!(cores.refusal().is_none());
}

/// A machine without XLS is told how to get it.
#[test]
fn a_missing_library_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::os::unix::fs::symlink(root().join("protocols"), dir.join("protocols")).expect("writable");
    let build = "carrick build protocols/synproxy/synproxy.mtp --target hw -o out";
    let said = run(dir, &format!("CARRICK_XLS=/nowhere/libxls.so {build} || test $? = 3"));
    assert!(said.contains("cannot load XLS from /nowhere/libxls.so"), "{said}");
    assert!(said.contains("`scripts/setup` installs it"), "{said}");
}
