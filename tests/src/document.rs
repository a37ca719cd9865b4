//! Documents that show commands: what they show is what is said.

use std::path::Path;
use std::process::Command;

use crate::build::carrick;

/// The fenced blocks of a text: their language, and what is in them.
pub fn blocks(text: &str) -> Vec<(&str, &str)> {
    let pieces = text.split("```").skip(1).step_by(2);
    pieces.filter_map(|block| block.split_once('\n')).collect()
}

/// Runs a line in a shell that finds `carrick`; all that it said.
///
/// # Panics
/// If it fails.
pub fn run(dir: &Path, line: &str) -> String {
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

/// Runs the commands of a block (lines that begin with `$ `), and compares what they say with the lines that follow each.
/// Returns how many commands there were.
///
/// # Panics
/// If a command fails, or does not say a line that is shown.
pub fn replay(dir: &Path, block: &str) -> usize {
    let (mut said, mut commands) = (String::new(), 0);
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => {
                said = run(dir, command);
                commands += 1;
            }
            None => assert!(said.lines().any(|l| l == line), "`{line}` is not in:\n{said}"),
        }
    }
    commands
}
