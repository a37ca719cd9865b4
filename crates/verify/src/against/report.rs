// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of two versions.

use std::time::Duration;

/// A declaration that is not the same: of both versions the text, if it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// What it is, and its name.
    pub head: String,
    /// In the old version.
    pub old: Option<String>,
    /// In the new version.
    pub new: Option<String>,
    /// Whether it can be seen from outside. What is inside shows in what processors do; but fields that only one version has are not
    /// compared.
    pub outside: bool,
}

impl Declared {
    /// The lines of each version that the other one has not.
    pub fn lines(&self) -> [Vec<&str>; 2] {
        let (old, new) = (lines(self.old.as_deref()), lines(self.new.as_deref()));
        [only(&old, &new), only(&new, &old)]
    }
}

fn lines(text: Option<&str>) -> Vec<&str> {
    text.map_or_else(Vec::new, |text| text.lines().map(str::trim).collect())
}

/// Those of the first that are not among the second.
fn only<'a>(these: &[&'a str], others: &[&str]) -> Vec<&'a str> {
    these.iter().copied().filter(|line| !others.contains(line)).collect()
}

/// Something that the two versions do not do alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// A field, an instruction, or an operand of one.
    pub what: String,
    /// What it is in the old version.
    pub old: String,
    /// What it is in the new version.
    pub new: String,
}

/// Values with which the two versions differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Fields and their values before, as far as it depends on them.
    pub before: Vec<(String, String)>,
    /// What differs after that.
    pub unlike: Vec<Unlike>,
}

/// What is known of a processor, a chain, or a parser in both versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Both have the same text.
    SameText,
    /// Within the bounds, both do the same.
    Same,
    /// With these values they do not.
    Differs(Difference),
    /// It is not known, and why.
    Undecided(String),
}

/// One comparison, and what came of it.
#[derive(Debug, Clone)]
pub struct PairReport {
    /// What is compared.
    pub name: String,
    /// The events in whose chains it is.
    pub events: Vec<String>,
    /// How many paths were explored.
    pub paths: u64,
    /// How long it took.
    pub time: Duration,
    /// What is known.
    pub verdict: Verdict,
}

/// What is known of two versions.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// What is declared otherwise.
    pub declared: Vec<Declared>,
    /// Processors, chains and parsers.
    pub pairs: Vec<PairReport>,
}

impl Comparison {
    /// Whether nothing was found that differs, and nothing is undecided.
    pub fn is_same(&self) -> bool {
        let same = |pair: &PairReport| matches!(pair.verdict, Verdict::Same | Verdict::SameText);
        self.declared.is_empty() && self.pairs.iter().all(same)
    }

    /// Whether something was found that differs.
    pub fn differs(&self) -> bool {
        let differs = |pair: &PairReport| matches!(pair.verdict, Verdict::Differs(_));
        self.declared.iter().any(|declared| declared.outside) || self.pairs.iter().any(differs)
    }
}
