// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cargo says of this workspace.

use std::process::Command;

use serde_json::Value;

use crate::build::root;

/// What cargo prints for these arguments.
///
/// # Panics
/// With what it says, if it fails.
pub fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// All packages on this platform, and which uses which (`cargo metadata`).
///
/// # Panics
/// If cargo does not say it without a network.
pub fn metadata() -> Value {
    let host = host();
    let args = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &host];
    serde_json::from_str(&cargo(&args)).expect("JSON")
}

fn host() -> String {
    let done = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("it says its host").to_owned()
}
