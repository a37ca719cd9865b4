// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which program a file is a part of.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use carrick_syntax::parse;

use crate::compile::read_import;

/// Imports that are followed from a part to its program.
const DEPTH: usize = 16;
/// What one search reads at most: it is a hint, and must not take long in a folder that is full of other things.
const FILES: usize = 256;
const OCTETS: usize = 8 << 20;

/// Returns the program that imports this file, perhaps through others: one in the same folder or in the one above. `None` if
/// there is none, or none among the first files of these folders.
pub fn program_of(part: &Path) -> Option<PathBuf> {
    let mut search = Search::default();
    let mut found = search.importer(part)?;
    for _ in 0..DEPTH {
        match search.importer(&found) {
            Some(next) => found = next,
            None => return Some(found),
        }
    }
    None
}

/// What has been read so far: each file once.
#[derive(Default)]
struct Search {
    /// by file, those that it imports
    imports: BTreeMap<PathBuf, Vec<PathBuf>>,
    octets: usize,
}

impl Search {
    /// The first file that imports this one.
    fn importer(&mut self, part: &Path) -> Option<PathBuf> {
        let wanted = part.canonicalize().ok()?;
        let folder = part.parent()?;
        let above = folder.parent().map_or_else(|| folder.join(".."), Path::to_owned);
        let mut files: Vec<PathBuf> = [folder, &above].into_iter().flat_map(programs).collect();
        files.sort();
        files.into_iter().find(|file| self.imported_by(file).contains(&wanted))
    }

    fn imported_by(&mut self, file: &Path) -> &[PathBuf] {
        if !self.imports.contains_key(file) {
            let enough = self.imports.len() >= FILES || self.octets >= OCTETS;
            let text = if enough {
                String::new()
            } else {
                read_import(&file.display().to_string()).unwrap_or_default()
            };
            self.octets += text.len();
            let names = parse(&text).0.imports.into_iter();
            let paths = names.filter_map(|import| file.with_file_name(import.name).canonicalize().ok());
            self.imports.insert(file.to_owned(), paths.collect());
        }
        self.imports.get(file).map_or(&[], Vec::as_slice)
    }
}

/// The files of programs in a folder.
fn programs(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let read = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let paths = read.into_iter().flatten().flatten().map(|entry| folder.join(entry.file_name()));
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "mtp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_reads_each_file_once_and_not_more_than_it_may() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("writable");
        write("part.mtp", "const uint8 a = 1;\n");
        write("whole.mtp", "import \"part.mtp\";\n");
        assert_eq!(program_of(&dir.path().join("part.mtp")), Some(dir.path().join("whole.mtp")));
        for number in 0..40 {
            write(&format!("a{number}.mtp"), &format!("// {}\n", "x".repeat(1 << 20)));
        }
        let mut search = Search::default();
        assert_eq!(search.importer(&dir.path().join("part.mtp")), None, "it is behind too much");
        let read = search.octets;
        assert!((OCTETS..OCTETS + (2 << 20)).contains(&read), "{read}");
        search.importer(&dir.path().join("part.mtp"));
        assert_eq!(search.octets, read, "nothing is read again");
    }

    /// A file of the kernel says that it is regular and has no bytes; reading it can wait for ever.
    #[test]
    fn files_that_only_look_regular_are_not_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let link = dir.path().join("messages.mtp");
        std::os::unix::fs::symlink("/proc/kmsg", &link).expect("a link");
        assert_eq!(read_import(&link.display().to_string()), Ok(String::new()));
        fs::write(dir.path().join("part.mtp"), "").expect("writable");
        assert_eq!(program_of(&dir.path().join("part.mtp")), None);
    }
}
