// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of this repository.

use std::fs;
use std::path::PathBuf;

use crate::build::root;

/// What a folder below the root holds, in alphabetical order.
fn listed(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Returns the main file of each protocol, which is named as its folder.
///
/// # Panics
/// If there is no such folder.
pub fn protocols() -> Vec<PathBuf> {
    let main = |folder: PathBuf| folder.join(folder.file_name().expect("a name")).with_extension("mtp");
    listed("protocols").into_iter().map(main).filter(|path| path.is_file()).collect()
}

/// Returns the programs in a folder below the root; its own folders have the parts of others.
///
/// # Panics
/// If there is no such folder.
pub fn of(folder: &str) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "mtp");
    listed(folder).into_iter().filter(is_program).collect()
}
