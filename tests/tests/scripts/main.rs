// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scripts: what a program says to given segments at given times, line by line, in virtual time.
//!
//! A script (`protocols/*/tests/*.script`) plays the peer and the application of one core. Sequence numbers count from the
//! initial ones. The notation, after packetdrill's:
//!
//! ```text
//! with cubic,ecn              # features of the program, before all else
//! without sack                # default features that it is to be without
//! set nodelay=true            # parameters
//! connect                     # what the application asks; a number is its bytes, backlog or remote address
//! > S 0:0 win 65535 <mss 1460>            # what the core sends next; what is not said is not looked at
//! < S. 0:0 ack 1 win 1000                 # what comes in
//! <& . 1:1001 ack 1           # comes in together with the next one, in one burst
//! <! 3.4 mtu 1000 about 1:1461            # a router reports: type and code of ICMP, and the segment that it quotes
//! = connect OK                # a request completed
//! after 200ms > P. 1:101      # nothing is sent until then
//! wait 1s                     # time passes
//! quiet 10s                   # time passes and nothing is sent
//! peer 5001                   # the peer's port from here on (5000 at first)
//! ```

mod listeners;
mod network;
mod run;
mod script;
mod shares;

use std::path::PathBuf;

use carrick_driver::{compile_choice, compile_file};
use carrick_tests::build::root;

/// Every script with the program that it is about.
fn scripts() -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root().join("protocols")).expect("protocols/").flatten() {
        let Ok(tests) = std::fs::read_dir(folder.path().join("tests")) else { continue };
        let program = folder.path().join(folder.file_name()).with_extension("mtp");
        let scripts =
            tests.flatten().map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "script"));
        found.extend(scripts.map(|script| (script, program.clone())));
    }
    found.sort();
    found
}

#[test]
fn every_script_goes_as_it_says() {
    let mut wrong = Vec::new();
    let scripts = scripts();
    for (path, program) in &scripts {
        let text = std::fs::read_to_string(path).expect("readable");
        let played = script::parse(&text).and_then(|script| {
            let compiled =
                compile_choice(program, &script::choice(&script)).map_err(|e| format!("1: {e}"))?;
            run::run(&compiled.program.ok_or("1: with errors")?, &script)
        });
        if let Err(what) = played {
            wrong.push(format!("{}:{what}", path.strip_prefix(root()).unwrap_or(path).display()));
        }
    }
    assert!(wrong.is_empty(), "{} of {} scripts:\n{}", wrong.len(), scripts.len(), wrong.join("\n"));
    assert!(scripts.len() > 20, "only {} scripts were found", scripts.len());
}

#[test]
fn a_script_that_is_wrong_is_found_out() {
    let program = root().join("protocols/tcp/tcp.mtp");
    let program = compile_file(&program).expect("readable").program.expect("without errors");
    let first = |text: &str| script::parse(text).and_then(|script| run::run(&program, &script));
    assert!(first("connect\n> SEC 0:0\n").is_err_and(|e| e.contains("connect") || e.contains("open")));
    assert!(first("connect\n> S. 0:0\n").is_err_and(|e| e.starts_with("2: ")));
    assert!(first("connect\n").is_err_and(|e| e.contains("sent")));
    assert!(first("connect\n> SEC 0:0 win 7\n").is_err_and(|e| e.contains("win")));
    assert!(first("fly\n").is_err_and(|e| e.starts_with("1: ")));
    assert!(first("connect\n> SEC 0:0\nquiet 5s\n").is_err_and(|e| e.starts_with("3: ")));
}
