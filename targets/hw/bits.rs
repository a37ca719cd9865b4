// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of many bits, as words of 32 with the least significant first.

use crate::hw::dslx::Leaf;

/// So many ones, at most 64.
fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Bits that are filled, or read, from the most significant on.
#[derive(Clone)]
pub struct Bits {
    pub words: Vec<u32>,
    /// bits below the one that was filled or read last
    left: u32,
}

impl Bits {
    /// So many zeros.
    pub fn zeros(width: u32) -> Bits {
        Bits { words: vec![0; width.div_ceil(32) as usize], left: width }
    }

    /// The bits of these words.
    pub fn of(words: Vec<u32>, width: u32) -> Bits {
        Bits { words, left: width }
    }

    /// Fills the next bits, at most 64.
    pub fn put(&mut self, bits: u32, value: u64) {
        self.left -= bits;
        let (word, shift) = ((self.left / 32) as usize, self.left % 32);
        let value = u128::from(value & mask(bits)) << shift;
        for (i, word) in self.words[word..].iter_mut().take(3).enumerate() {
            *word |= (value >> (32 * i)) as u32;
        }
    }

    /// Reads the next bits, at most 64.
    pub fn get(&mut self, bits: u32) -> u64 {
        self.left -= bits;
        let (word, shift) = ((self.left / 32) as usize, self.left % 32);
        let words = self.words[word..].iter().take(3).rev();
        let value = words.fold(0, |value: u128, word| value << 32 | u128::from(*word));
        (value >> shift) as u64 & mask(bits)
    }

    /// Passes over bits.
    pub fn skip(&mut self, bits: u32) {
        self.left -= bits;
    }

    /// The next bits as bits of their own.
    pub fn part(&mut self, bits: u32) -> Bits {
        let mut part = Bits::zeros(bits);
        for some in std::iter::repeat_n(64, bits as usize / 64).chain([bits % 64]) {
            part.put(some, self.get(some));
        }
        Bits::of(part.words, bits)
    }

    /// Fills in the scalars of a value.
    pub fn put_value(&mut self, leaves: &[Leaf], cells: &[u64]) {
        for leaf in leaves {
            self.put(leaf.bits, cells.get(leaf.cell as usize).copied().unwrap_or(0));
        }
    }

    /// Reads a value into so many cells.
    pub fn get_value(&mut self, leaves: &[Leaf], count: u32) -> Vec<u64> {
        let mut cells = vec![0; count as usize];
        for leaf in leaves {
            let unused = 64 - leaf.bits;
            let raw = self.get(leaf.bits);
            cells[leaf.cell as usize] =
                if leaf.signed { ((raw << unused) as i64 >> unused) as u64 } else { raw };
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got() {
        let leaves = [(2, 5, true), (0, 64, false), (1, 33, false)];
        let leaves = leaves.map(|(cell, bits, signed)| Leaf { cell, bits, signed });
        let cells = [u64::MAX - 1, 1 << 32, -3_i64 as u64];
        let mut bits = Bits::zeros(102);
        bits.put_value(&leaves, &cells);
        assert_eq!(Bits::of(bits.words, 102).get_value(&leaves, 3), cells);
    }
}
