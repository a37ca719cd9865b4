// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of shipped protocols, each of which somebody has to find: `tests/mutants.toml`.

use std::path::Path;

use tempfile::TempDir;

use crate::build::{copied, root};

/// One of them.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// what it does
    pub what: String,
    /// the file of a protocol
    pub file: String,
    /// features with which it matters
    pub with: Option<String>,
    old: String,
    new: String,
    /// a part of what a comparison with the protocol says
    pub shows: Option<String>,
    /// the options with which a search of all that two ends can do finds it
    pub peers: Option<String>,
    /// the program of the ends, if the file is of a program between them
    ends: Option<String>,
}

/// All of them.
///
/// # Panics
/// If the file is not as it says.
pub fn all() -> Vec<Mutant> {
    let text = std::fs::read_to_string(root().join("tests/mutants.toml")).expect("readable");
    let table: toml::Table = text.parse().expect("TOML");
    let one = |mutant: &toml::Value| {
        let word = |name: &str| mutant.get(name).and_then(|word| word.as_str()).map(str::to_owned);
        let must = |name: &str| word(name).unwrap_or_else(|| panic!("{name}: {mutant}"));
        let (shows, peers) = (word("shows"), word("peers"));
        assert!(shows.is_some() || peers.is_some(), "nobody is said to find it: {mutant}");
        Mutant {
            what: must("what"),
            file: must("file"),
            with: word("with"),
            old: must("old"),
            new: must("new"),
            shows,
            peers,
            ends: word("ends"),
        }
    };
    table["mutant"].as_array().expect("mutants").iter().map(one).collect()
}

impl Mutant {
    /// The main file of its protocol, below the root.
    pub fn program(&self) -> String {
        let name = self.file.split('/').nth(1).expect("a folder");
        format!("protocols/{name}/{name}.mtp")
    }

    /// What a search of all that two ends can do is given, besides its options: the program below `folder`, also where it is between
    /// two others.
    pub fn between(&self, folder: &Path) -> Vec<String> {
        let program = folder.join(self.program()).to_str().expect("UTF-8").to_owned();
        match &self.ends {
            Some(ends) => vec![ends.clone(), "--via".into(), program],
            None => vec![program],
        }
    }

    /// The protocols with this change.
    ///
    /// # Panics
    /// If the text that it replaces does not stand once in its file.
    pub fn made(&self) -> TempDir {
        changed(&self.file, &[(&self.old, &self.new)])
    }
}

/// The protocols, with some texts of a file replaced.
///
/// # Panics
/// If such a text does not stand once in the file.
pub fn changed(file: &str, changes: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copied(&["protocols"], folder.path());
    let path = folder.path().join(file);
    let mut text = std::fs::read_to_string(&path).expect("readable");
    for (old, new) in changes {
        assert_eq!(text.matches(old).count(), 1, "{file}: {old}");
        text = text.replace(old, new);
    }
    std::fs::write(path, text).expect("writable");
    folder
}
