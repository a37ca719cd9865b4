//! The tutorial: its commands are run, its patches applied, and what it shows of the output is what is said.

use std::path::Path;
use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::net::skip;

/// The fenced blocks of a text: their language, and what is in them.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let pieces = text.split("```").skip(1).step_by(2);
    pieces.filter_map(|block| block.split_once('\n')).collect()
}

/// Runs a line in a shell that finds `carrick`; all that it said.
fn run(dir: &Path, line: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = carrick().parent().expect("it is in a folder").display();
    let shell = Command::new("sh")
        .args(["-c", line])
        .current_dir(dir)
        .env("PATH", format!("{found}:{path}"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&shell.stdout).into_owned() + &String::from_utf8_lossy(&shell.stderr);
    assert!(shell.status.success(), "{line}\n{said}");
    said
}

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
            "console" => {
                let mut said = String::new();
                for line in block.lines() {
                    match line.strip_prefix("$ ") {
                        Some(command) => {
                            said = run(dir, command);
                            commands += 1;
                        }
                        None => assert!(said.lines().any(|l| l == line), "`{line}` is not in:\n{said}"),
                    }
                }
            }
            "diff" => {
                std::fs::write(dir.join("patch"), block).expect("writable");
                run(dir, "git apply patch");
                patches += 1;
            }
            other => panic!("who runs {other}?"),
        }
    }
    assert!(commands > 10 && patches == 3, "{commands} commands and {patches} patches");
}
