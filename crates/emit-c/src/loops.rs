// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conditions of loops that a verifier has to see.

/// A loop with so many iterations is long: a verifier follows no more of them than it must.
pub const MANY: u32 = 32;

/// What the condition of a loop over at most `n` elements begins with: its index is in the array that has them.
pub(crate) fn within(index: &str, n: u32) -> String {
    format!("CARRICK_WITHIN({index}, {n}u) && ")
}

/// What the condition of a loop with at most so many iterations ends with.
pub(crate) fn goes_on(iterations: u32) -> &'static str {
    if iterations >= MANY { " && CARRICK_GOES_ON" } else { "" }
}
