// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bit fields in bytes.

/// `bits` (at most 64) at an offset in bits, most significant first.
pub(crate) fn get_bits(octets: &[u8], bit_offset: u32, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    let first = bit_offset as usize / 8;
    let end = (bit_offset + bits).div_ceil(8);
    let mut value = 0_u128;
    for octet in &octets[first..end as usize] {
        value = value << 8 | u128::from(*octet);
    }
    let below = end * 8 - bit_offset - bits;
    (value >> below) as u64 & (u64::MAX >> (64 - bits))
}

pub(crate) fn put_bits(octets: &mut [u8], bit_offset: u32, bits: u32, value: u64) {
    if bits == 0 {
        return;
    }
    let (first, end) = (bit_offset as usize / 8, (bit_offset + bits).div_ceil(8));
    if bit_offset.is_multiple_of(8) && bits.is_multiple_of(8) {
        let bytes = value.to_be_bytes();
        octets[first..end as usize].copy_from_slice(&bytes[8 - bits as usize / 8..]);
        return;
    }
    let below = end * 8 - bit_offset - bits;
    let mask = u128::from(u64::MAX >> (64 - bits)) << below;
    let mut all = u128::from(value) << below & mask;
    let mut mask = mask;
    for octet in octets[first..end as usize].iter_mut().rev() {
        *octet = *octet & !(mask as u8) | all as u8;
        all >>= 8;
        mask >>= 8;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_come_back_and_leave_the_others_alone(offset in 0_u32..40, bits in 1_u32..=64, value: u64, fill: u8) {
            let mut octets = [fill; 16];
            put_bits(&mut octets, offset, bits, value);
            prop_assert_eq!(get_bits(&octets, offset, bits), value & (u64::MAX >> (64 - bits)));
            let others = |at: u32| get_bits(&octets, at, 1) == get_bits(&[fill; 16], at, 1);
            prop_assert!((0..128).filter(|at| *at < offset || *at >= offset + bits).all(others));
        }
    }

    #[test]
    fn the_first_bit_is_the_most_significant() {
        let mut octets = [0; 2];
        put_bits(&mut octets, 0, 1, 1);
        put_bits(&mut octets, 4, 8, 0xab);
        assert_eq!(octets, [0x8a, 0xb0]);
    }
}
