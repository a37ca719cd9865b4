// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands in the files of programs at some moment, so that it can be told later whether that has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use carrick_syntax::assemble::assemble;

use crate::compile::{read, read_import};

/// The text of each file, imported ones included; `None` where it cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<PathBuf, Option<String>>);

impl Snapshot {
    /// Reads these programs, with all that they import or would import.
    pub fn take(programs: &[PathBuf]) -> Snapshot {
        let mut files = BTreeMap::new();
        for program in programs {
            let text = read(program).ok();
            if let Some(text) = &text {
                assemble(&program.display().to_string(), text, &mut |name| {
                    let found = read_import(name);
                    files.insert(name.into(), found.as_ref().ok().cloned());
                    found
                });
            }
            files.insert(program.clone(), text);
        }
        Snapshot(files)
    }

    /// Whether the files of these programs are other files now, or have other texts.
    pub fn is_stale(&self, programs: &[PathBuf]) -> bool {
        Snapshot::take(programs) != *self
    }

    /// How many files there are, with those that are missing.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// There are no files, as there are no programs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The folders that the files are in.
    pub fn folders(&self) -> BTreeSet<&Path> {
        self.0.keys().map(|file| folder_of(file)).collect()
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
