// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes that both ends of a transfer expect: a function of a seed and of the offset in the stream.

/// Fills `out` with the bytes at `offset..offset + out.len()` of the stream with this seed.
pub fn fill(seed: u64, offset: u64, out: &mut [u8]) {
    for (at, octet) in (offset..).zip(out) {
        *octet = octet_at(seed, at);
    }
}

/// The first offset at which `got`, which begins at `offset` in the stream, is not what was sent.
pub fn mismatch(seed: u64, offset: u64, got: &[u8]) -> Option<u64> {
    (offset..).zip(got).find(|&(at, &octet)| octet != octet_at(seed, at)).map(|(at, _)| at)
}

/// A splitmix64 step for each eight bytes, so that no shift, swap or repetition of a segment goes unseen.
fn octet_at(seed: u64, at: u64) -> u8 {
    let mut z = seed.wrapping_add((at / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_le_bytes()[(at % 8) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_the_same_wherever_it_is_cut() {
        let mut whole = [0; 100];
        fill(7, 1000, &mut whole);
        let mut piece = [0; 13];
        fill(7, 1037, &mut piece);
        assert_eq!(whole[37..50], piece);
    }

    #[test]
    fn a_swapped_octet_is_found() {
        let mut data = [0; 64];
        fill(1, 5, &mut data);
        assert_eq!(mismatch(1, 5, &data), None);
        data[9] ^= 1;
        assert_eq!(mismatch(1, 5, &data), Some(14));
    }
}
