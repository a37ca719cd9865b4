// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that mutation starts from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carrick_driver::compile_file;
use carrick_ir::Program;

/// Every `.mtp` file below `root`, and each fenced block of the reference.
pub fn gather(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut places = vec![root.to_path_buf()];
    while let Some(place) = places.pop() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            if path.is_dir() && !["target", "out", "findings", ".git"].contains(&name.as_str()) {
                places.push(path);
            } else if name.ends_with(".mtp") {
                found.extend(fs::read_to_string(&path));
            } else if name == "language.md" {
                found.extend(blocks(&fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    if found.is_empty() {
        found.push("event e : net_event { uint8 x; }\n".into());
    }
    found
}

/// The programs without an error in these folders below `root`; of a folder in them, the one that is named like it.
pub fn programs(root: &Path, folders: &[&str]) -> Vec<Arc<Program>> {
    let entries = |folder: &&str| fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = folders.iter().flat_map(entries).map(|entry| entry.path()).collect();
    files.sort();
    let file = |path: PathBuf| {
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        if path.is_dir() { path.join(name.with_extension("mtp")) } else { path }
    };
    let files = files.into_iter().map(file).filter(|file| file.extension().is_some_and(|end| end == "mtp"));
    files.filter_map(|file| compile_file(&file).ok()?.program).collect()
}

/// All fenced blocks of a page, each alone and all together.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks: Vec<String> = page.split("```").skip(1).step_by(2).map(str::to_owned).collect();
    blocks.push(blocks.concat());
    blocks
}
