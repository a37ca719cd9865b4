// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers for simulated runs: a seed gives the same ones each time.

use std::ops::Range;
use std::time::Duration;

/// The random numbers of a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// A number below this bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// Whether something happens that happens once in so many times.
    pub fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// Up to so many milliseconds; a short time as often as a long one.
    pub fn time(&mut self, most: u64) -> Duration {
        let bits = u64::from(64 - most.leading_zeros());
        let most = most.min(1 << self.below(bits + 1));
        Duration::from_millis(self.below(most + 1))
    }
}

/// The seeds to run: these, or the one that `CARRICK_SEED` names.
pub fn seeds(all: Range<u64>) -> Range<u64> {
    let one = std::env::var("CARRICK_SEED").ok().map(|text| text.parse().expect("a number"));
    one.map_or(all, |seed: u64| seed..seed + 1)
}
