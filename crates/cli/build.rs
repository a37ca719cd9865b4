// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets `CARRICK_VERSION`: the version, and in a checkout the commit, for `carrick --version`.
//!
//! Only the commit's hash is added, so builds of one commit in two folders are the same.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of the commit's hash that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let shown = commit().map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=CARRICK_VERSION={shown}");
}

/// Returns the commit that is checked out; `None` for sources that are not a checkout of their own, as in an archive.
fn commit() -> Option<String> {
    let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let root = Path::new(&crate_folder).join("../..").canonicalize().ok()?;
    let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root {
        return None;
    }
    // Each commit and checkout adds a line to this file.
    let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={}", root.join(log).display());
    git(&root, &["rev-parse", "HEAD"])?.get(..DIGITS).map(str::to_owned)
}

/// Returns what `git` prints; `None` if it fails or is missing.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
    let text = output.status.success().then_some(output.stdout)?;
    String::from_utf8(text).ok().map(|text| text.trim().to_owned())
}
