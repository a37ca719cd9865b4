// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `carrick` command, as a person calls it.

use std::path::Path;
use std::process::{Command, Output};

use crate::build::carrick;

/// What it does with these arguments, called in a folder.
///
/// # Panics
/// If it does not start.
pub fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(carrick()).args(args).current_dir(dir).output().expect("carrick runs")
}

/// Its exit code, and what it prints on standard output and standard error.
///
/// # Panics
/// If it does not start.
pub fn said(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = run(dir, args);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// What it prints for these arguments, called in a folder.
///
/// # Panics
/// If it does not do what is asked.
#[track_caller]
pub fn done(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{args:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}
