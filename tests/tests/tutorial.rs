// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tutorial: its commands are run, its patches applied, and what it shows of the output is what is said.

use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::document::{blocks, replay, run};
use carrick_tests::net::skip;

#[test]
fn the_tutorial_goes_as_it_says() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip("git is not installed: the tutorial's patches are applied with it");
    }
    let text = std::fs::read_to_string(root().join("docs/tutorial.md")).expect("readable");
    // Outside of this repository, or git would take the patches for it.
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let (mut commands, mut patches) = (0, 0);
    for (language, block) in blocks(&text) {
        match language {
            "console" => commands += replay(dir, block),
            "diff" => {
                std::fs::write(dir.join("patch"), block).expect("writable");
                run(dir, "git apply patch");
                patches += 1;
            }
            other => panic!("who runs {other}?"),
        }
    }
    assert!(commands > 10 && patches == 4, "{commands} commands and {patches} patches");
}
