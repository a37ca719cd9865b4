// SPDX-License-Identifier: MIT OR Apache-2.0
//! PCG32 (O'Neill, XSH-RR 64/32): one stream for each purpose, so that changing one fault moves no other.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
    increment: u64,
}

impl Rng {
    /// Streams of one seed are independent.
    pub fn new(seed: u64, stream: u64) -> Rng {
        let mut rng = Rng { state: 0, increment: (stream << 1) | 1 };
        rng.next_u32();
        rng.state = rng.state.wrapping_add(seed);
        rng.next_u32();
        rng
    }

    /// The next number.
    pub fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(self.increment);
        let shifted = (((old >> 18) ^ old) >> 27) as u32;
        shifted.rotate_right((old >> 59) as u32)
    }

    /// A number below `bound` (at least 1).
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = (u64::from(self.next_u32()) << 32) | u64::from(self.next_u32());
        ((u128::from(wide) * u128::from(bound.max(1))) >> 64) as u64
    }

    /// A number in `lo..=hi`.
    pub fn between(&mut self, lo: u64, hi: u64) -> u64 {
        lo + self.below(hi - lo + 1)
    }

    /// True with this probability, in parts per million.
    pub fn chance(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.below(1_000_000) < u64::from(ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_stream_is_that_of_the_reference_implementation() {
        // pcg32-demo of the PCG library: seed 42, stream 54.
        let mut rng = Rng::new(42, 54);
        let first: Vec<u32> = (0..6).map(|_| rng.next_u32()).collect();
        assert_eq!(first, [0xa15c_02b7, 0x7b47_f409, 0xba1d_3330, 0x83d2_f293, 0xbfa4_784b, 0xcbed_606e]);
    }

    #[test]
    fn chances_are_kept() {
        let mut rng = Rng::new(1, 2);
        let hits = (0..100_000).filter(|_| rng.chance(10_000)).count();
        assert!((800..1200).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| !rng.chance(0)));
    }
}
