// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in hardware: circuits that do what the interpreter does, and the chapter of the book.

use std::sync::{Mutex, PoisonError};

use carrick_driver::compile_file;
use carrick_sim::Scenario;
use carrick_sim::diff::{Pace, Via, diff_through};
use carrick_sim::scenario::Engine;
use carrick_targets::ALL;
use carrick_tests::build::root;
use carrick_tests::document::{blocks, replay, run};
use carrick_tests::net::lacks_any;

/// Whether this machine lacks what makes and simulates circuits; that is then said.
fn no_tools() -> bool {
    let advice = "XLS is not installed (scripts/setup installs it)";
    lacks_any(&["verilator", "c++", "make"], || carrick_targets::hw::library().exists(), advice)
}

/// Held while circuits are compiled, so that each is compiled once.
static COMPILING: Mutex<()> = Mutex::new(());

/// The chapter builds a circuit and compares two programs with the interpreter. What it builds has no warning.
#[test]
fn the_chapter_goes_as_it_says() {
    if no_tools() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(root().join("docs/hardware.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::os::unix::fs::symlink(root().join("protocols"), dir.join("protocols")).expect("writable");
    let console = blocks(&text).into_iter().filter(|(language, _)| *language == "console");
    let commands: usize = console.map(|(_, block)| replay(dir, block)).sum();
    assert_eq!(commands, 8, "commands of the chapter");
    run(dir, "make -s -C out lint");
}

/// The modules that keep state do what their models do: queue, scoreboard, session table, calendar.
#[test]
fn modules_are_as_their_models() {
    if no_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let made = run(&root().join("targets/hw/rtl-tests"), &format!("make -s OUT={}", folder.path().display()));
    assert!(made.contains("session_table: full at"), "{made}");
    assert!(made.contains("calendar: with 97 %"), "{made}");
}

/// A program in the network whose chains run in a circuit does what the interpreter does, where connections go through it.
#[test]
fn a_circuit_can_be_between_two_hosts() {
    if no_tools() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
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
