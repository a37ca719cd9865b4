// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which program a file is a part of.

use std::fs;
use std::path::{Path, PathBuf};

use carrick_syntax::parse;

use crate::compile::read;

/// Imports that are followed from a part to its program.
const DEPTH: usize = 16;

/// Returns the program that imports this file, perhaps through others: one in the same folder or in the one above. `None` if
/// there is none.
pub fn program_of(part: &Path) -> Option<PathBuf> {
    let mut found = importer(part)?;
    for _ in 0..DEPTH {
        match importer(&found) {
            Some(next) => found = next,
            None => return Some(found),
        }
    }
    None
}

/// The first file that imports this one.
fn importer(part: &Path) -> Option<PathBuf> {
    let wanted = part.canonicalize().ok()?;
    let folder = part.parent()?;
    let above = folder.parent().map_or_else(|| folder.join(".."), Path::to_owned);
    let mut files: Vec<PathBuf> = [folder, &above].into_iter().flat_map(programs).collect();
    files.sort();
    files.into_iter().find(|file| imports(file).iter().any(|name| is(&file.with_file_name(name), &wanted)))
}

/// The files of programs in a folder.
fn programs(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let read = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let paths = read.into_iter().flatten().flatten().map(|entry| folder.join(entry.file_name()));
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "mtp"))
}

fn is(file: &Path, wanted: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| file == wanted)
}

/// The names that a file imports.
fn imports(file: &Path) -> Vec<String> {
    let text = read(file).unwrap_or_default();
    parse(&text).0.imports.into_iter().map(|import| import.name).collect()
}
