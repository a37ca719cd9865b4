// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists the programs that the package holds: all files of `protocols` that are programs or parts of one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../protocols");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut found = Vec::new();
    add(&root, &mut found);
    found.sort();
    let mut text = String::from("&[\n");
    for path in found {
        let name = path.strip_prefix(&root).expect("it is below").to_str().expect("names are UTF-8");
        let path = path.canonicalize().expect("it is there");
        writeln!(text, "    ({name:?}, include_str!({path:?})),").expect("a string takes it");
    }
    text.push_str("]\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("shipped.rs"), text).expect("the folder is writable");
}

fn add(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()) {
        if entry.is_dir() {
            add(&entry, found);
        } else if entry.extension().is_some_and(|kind| kind == "mtp") {
            found.push(entry);
        }
    }
}
