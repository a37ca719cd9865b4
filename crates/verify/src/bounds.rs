// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a program is explored.

use std::time::Duration;

/// What a proof is bounded by.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// elements that a list has at first, and ranges of a window, at most
    pub k: usize,
    /// paths of one processor
    pub paths: u64,
    /// time for one processor
    pub time: Duration,
    /// values of parameters that are given; the others have all values of their ranges
    pub params: Vec<Option<u64>>,
    /// whether a comparison of two versions takes what has the same text for the same, without a proof
    pub texts: bool,
    /// whether paths are only counted
    pub count: bool,
    /// whether the questions of checks are kept, in SMT-LIB 2
    pub dump: bool,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            k: 1,
            paths: 100_000,
            time: Duration::from_secs(60),
            params: Vec::new(),
            texts: true,
            count: false,
            dump: false,
        }
    }
}
