// SPDX-License-Identifier: MIT OR Apache-2.0
//! What comes of a comparison.

use std::collections::BTreeSet;

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// records, packets and completions that agree
    pub compared: u64,
    /// packets that were made
    pub packets: u64,
    /// of random operations: the calls of the interface that completed with `OK`
    pub answered: BTreeSet<String>,
    /// what the first disagreement is, in words
    pub difference: Option<String>,
    /// what the run itself did wrong
    pub failures: Vec<String>,
}
