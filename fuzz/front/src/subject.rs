// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of files that are fed: how wrong ones are made, and what reads them.

use std::path::Path;

use carrick_tests::bare::MARKER;

use crate::corpus;
use crate::hostile::{self, Hostile};
use crate::judge;
use crate::mutate::Mutator;
use crate::random::Random;
use crate::tables::{self, Tables};
use crate::traces::Traces;

/// What is fed.
pub enum Subject {
    Programs(Mutator),
    Tables(Tables),
    Texts(Hostile, Random),
    Traces(Traces),
}

impl Subject {
    /// Of a kind, from what is below `root`.
    pub fn new(kind: &str, root: &Path, seed: u64) -> Subject {
        let random = Random::new(seed);
        match kind {
            "tables" => Subject::Tables(Tables::new(&corpus::programs(root, &["tests/programs"]), random)),
            "texts" => Subject::Texts(Hostile::new(&root.join("tests/programs")), random),
            "traces" => Subject::Traces(Traces::new(&corpus::programs(root, &["protocols"]), random)),
            _ => Subject::Programs(Mutator::new(corpus::gather(root), random)),
        }
    }

    /// What files of the kind end with.
    pub fn ending(&self) -> &'static str {
        match self {
            Subject::Programs(_) => "mtp",
            Subject::Tables(_) | Subject::Texts(..) => "json",
            Subject::Traces(_) => "run",
        }
    }

    /// A file that is most likely wrong.
    pub fn next(&mut self) -> String {
        match self {
            Subject::Programs(mutator) => mutator.next(),
            Subject::Tables(tables) => tables.next(),
            Subject::Texts(texts, random) => texts.next(random),
            Subject::Traces(traces) => traces.next(),
        }
    }

    /// Reads it.
    ///
    /// # Panics
    /// If a promise is broken, or what reads it panics.
    pub fn judge(&self, text: &str) {
        match self {
            Subject::Programs(_) => judge::judge(text),
            Subject::Tables(_) | Subject::Texts(..) => {
                tables::judge(text);
                if text.contains(MARKER) {
                    hostile::judge(text);
                }
            }
            Subject::Traces(traces) => traces.judge(text),
        }
    }
}

/// What a file is, by its ending.
pub fn of_file(file: &str, root: &Path) -> Subject {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    let kind = match ending {
        Some("json") => "tables",
        Some("run") => "traces",
        _ => "programs",
    };
    Subject::new(kind, root, 1)
}
