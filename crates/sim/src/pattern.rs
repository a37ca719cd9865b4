//! The octets that applications send: each stream begins with its number, the rest is a function of seed and offset.

/// A stream's octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// the stream's number: its first eight octets, little-endian
    pub number: u64,
    pub seed: u64,
}

impl Pattern {
    fn word(&self, index: u64) -> [u8; 8] {
        if index == 0 {
            return self.number.to_le_bytes();
        }
        // SplitMix64's output function.
        let mut z =
            (self.seed ^ self.number.rotate_left(32)).wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    }

    /// Puts `len` octets from `offset` on into `out` (which is cleared).
    pub fn fill(&self, offset: u64, len: usize, out: &mut Vec<u8>) {
        out.clear();
        let (first, last) = (offset / 8, (offset + len as u64).div_ceil(8));
        out.reserve((last - first) as usize * 8);
        for index in first..last {
            out.extend_from_slice(&self.word(index));
        }
        let skip = (offset % 8) as usize;
        if skip > 0 {
            out.drain(..skip);
        }
        out.truncate(len);
    }

    /// Where the octets differ from what should be at `offset`, if they do.
    pub fn first_difference(&self, offset: u64, octets: &[u8], scratch: &mut Vec<u8>) -> Option<u64> {
        self.fill(offset, octets.len(), scratch);
        if scratch == octets {
            return None;
        }
        octets.iter().zip(scratch.iter()).position(|(a, b)| a != b).map(|at| offset + at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn pieces_make_the_whole() {
        let pattern = Pattern { number: 3, seed: 9 };
        let (mut whole, mut piece) = (Vec::new(), Vec::new());
        pattern.fill(0, 100, &mut whole);
        assert_eq!(whole[..8], 3_u64.to_le_bytes());
        for (offset, len) in [(0, 5), (3, 17), (8, 8), (99, 1)] {
            pattern.fill(offset, len, &mut piece);
            assert_eq!(piece, whole[offset as usize..offset as usize + len]);
        }
        whole[41] ^= 1;
        assert_eq!(pattern.first_difference(0, &whole, &mut piece), Some(41));
    }
}
