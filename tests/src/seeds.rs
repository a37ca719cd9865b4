// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many seeds a sweep has.

/// `CARRICK_SEEDS` if that is set, else `usual`.
///
/// # Panics
/// If `CARRICK_SEEDS` is not a number.
pub fn seeds(usual: u64) -> u64 {
    std::env::var("CARRICK_SEEDS").map_or(usual, |text| text.parse().expect("a number"))
}
