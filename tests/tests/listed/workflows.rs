// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workflows call what a person calls: each target of make, script and package that they name is there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::net::skip;

/// The workflows, with their texts.
fn workflows() -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(root().join(".github/workflows")).expect("a folder").flatten();
    let files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    assert!(!files.is_empty(), "there are workflows");
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect()
}

/// What the lines of a workflow call that is not there. Comments call nothing.
fn missing(text: &str) -> Vec<String> {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("it is there");
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("it is there");
    let is_script = |name: &str| {
        let file = fs::metadata(root().join(name));
        file.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let mut missing = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || ",;".contains(c)).collect();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).copied().unwrap_or_default();
            let there = match *word {
                "make" if !next.is_empty() => makefile.contains(&format!("\n{next}:")),
                "-p" if next.starts_with("carrick") => lock.contains(&format!("\nname = \"{next}\"\n")),
                script if script.starts_with("scripts/") => is_script(script),
                _ => true,
            };
            if !there {
                missing.push(format!("{word} {next}").trim_end().to_owned());
            }
        }
    }
    missing
}

#[test]
fn workflows_call_what_is_there() {
    for (path, text) in workflows() {
        assert_eq!(missing(&text), [""; 0], "{}", path.display());
    }
}

#[test]
fn workflows_call_the_tests_of_a_person() {
    let all: String = workflows().into_iter().map(|(_, text)| text).collect();
    for call in ["make test", "make lint", "make test FULL=1", "make fuzz", "make soak", "make msrv"] {
        assert!(all.contains(call), "no workflow has `{call}`");
    }
}

#[test]
fn what_is_not_there_is_found() {
    let text = "- run: make nothing\n# make nothing\n- run: scripts/none && scripts/test\n- run: cargo test -p carrick-none\n";
    assert_eq!(missing(text), ["make nothing", "scripts/none &&", "-p carrick-none"]);
}

#[test]
fn workflows_and_forms_are_yaml() {
    let read = "import sys, yaml\nfor name in sys.argv[1:]: assert isinstance(yaml.safe_load(open(name)), dict), name";
    if !Command::new("python3").args(["-c", "import yaml"]).output().is_ok_and(|done| done.status.success()) {
        return skip("python3 has no module yaml");
    }
    let forms = fs::read_dir(root().join(".github/ISSUE_TEMPLATE")).expect("a folder").flatten();
    let files = forms.map(|entry| entry.path()).chain(workflows().into_iter().map(|(path, _)| path));
    let done = Command::new("python3").args(["-c", read]).args(files).output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
