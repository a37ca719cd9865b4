// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes that applications send: each stream begins with its number, the rest is a function of seed and offset.
//!
//! Simulations spend their time on packets, not on this: the bytes are a window into one table of random bytes whose length
//! is prime, so that no two places of a stream that a protocol could confuse look alike.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::rng::Rng;

/// The table's period, a prime.
const PERIOD: usize = 131_071;
/// Bytes behind the period, so that most pieces are one copy.
const OVERLAP: usize = 65_536;

fn table() -> &'static [u8] {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut rng = Rng::new(0x6361_7272_6963_6b21, 3);
        let mut octets: Vec<u8> = (0..PERIOD).map(|_| (rng.next_u32() >> 24) as u8).collect();
        octets.extend_from_within(..OVERLAP);
        octets
    })
}

/// A stream's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// the stream's number: its first eight bytes, little-endian
    pub number: u64,
    pub seed: u64,
}

impl Pattern {
    /// The bytes from `offset` on, in pieces of the table, for `len` bytes.
    fn pieces(&self, offset: u64, len: usize) -> impl Iterator<Item = &'static [u8]> {
        let shift = (self.seed ^ self.number.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        let mut at = (offset % PERIOD as u64 + shift % PERIOD as u64) as usize % PERIOD;
        let mut left = len;
        std::iter::from_fn(move || {
            let take = left.min(table().len() - at);
            let piece = &table()[at..at + take];
            left -= take;
            at = (at + take) % PERIOD;
            (take > 0).then_some(piece)
        })
    }

    /// How many of `len` bytes from `offset` on are part of the number, and those bytes.
    fn head(&self, offset: u64, len: usize) -> ([u8; 8], usize, usize) {
        let from = offset.min(8) as usize;
        (self.number.to_le_bytes(), from, (8 - from).min(len))
    }

    /// Puts `len` bytes from `offset` on into `out` (which is cleared).
    pub fn fill(&self, offset: u64, len: usize, out: &mut Vec<u8>) {
        out.clear();
        for piece in self.pieces(offset, len) {
            out.extend_from_slice(piece);
        }
        let (number, from, take) = self.head(offset, len);
        out[..take].copy_from_slice(&number[from..from + take]);
    }

    /// `len` bytes from `offset` on; nearly always a piece of the table.
    pub fn octets(&self, offset: u64, len: usize) -> Cow<'static, [u8]> {
        if offset >= 8
            && let Some(piece) = self.pieces(offset, len).next().filter(|p| p.len() == len)
        {
            return Cow::Borrowed(piece);
        }
        let mut octets = Vec::with_capacity(len);
        self.fill(offset, len, &mut octets);
        Cow::Owned(octets)
    }

    /// Where the bytes differ from what should be at `offset`, if they do.
    pub fn first_difference(&self, offset: u64, octets: &[u8]) -> Option<u64> {
        let (number, from, take) = self.head(offset, octets.len());
        let mut at = take;
        let head = differs(&octets[..take], &number[from..from + take]);
        let rest = || {
            self.pieces(offset + take as u64, octets.len() - take).find_map(|piece| {
                let here = at;
                at += piece.len();
                differs(&octets[here..at], piece).map(|d| here + d)
            })
        };
        head.or_else(rest).map(|d| offset + d as u64)
    }
}

fn differs(a: &[u8], b: &[u8]) -> Option<usize> {
    if a == b { None } else { a.iter().zip(b).position(|(x, y)| x != y) }
}

#[cfg(test)]
mod tests {
    use super::{PERIOD, Pattern};

    #[test]
    fn pieces_make_the_whole() {
        let pattern = Pattern { number: 3, seed: 9 };
        let (mut whole, mut piece) = (Vec::new(), Vec::new());
        pattern.fill(0, 3 * PERIOD, &mut whole);
        assert_eq!(whole[..8], 3_u64.to_le_bytes());
        for (offset, len) in [(0, 5), (3, 17), (8, 8), (99, 1), (PERIOD - 7, 20), (65_000, 140_000), (5, 0)] {
            pattern.fill(offset as u64, len, &mut piece);
            assert_eq!(piece, whole[offset..offset + len]);
            assert_eq!(pattern.octets(offset as u64, len), piece);
            assert_eq!(pattern.first_difference(offset as u64, &piece), None);
        }
        whole[41] ^= 1;
        assert_eq!(pattern.first_difference(0, &whole), Some(41));
        assert_eq!(pattern.first_difference(40, &whole[40..50]), Some(41));
        whole[2] ^= 1;
        assert_eq!(pattern.first_difference(1, &whole[1..50]), Some(2));
    }

    #[test]
    fn streams_differ() {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        Pattern { number: 1, seed: 9 }.fill(8, 1000, &mut a);
        Pattern { number: 2, seed: 9 }.fill(8, 1000, &mut b);
        assert_ne!(a, b);
    }
}
