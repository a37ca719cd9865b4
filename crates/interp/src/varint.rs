// SPDX-License-Identifier: MIT OR Apache-2.0
//! Variable-length integers (RFC 9000 §16).

/// How many bytes a variable-length integer takes (RFC 9000 §16).
pub(crate) fn varint_len(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// The number at the beginning, and how many bytes it takes; `None` if they are not there.
pub(crate) fn read_varint(octets: &[u8]) -> Option<(u64, usize)> {
    let len = 1 << (octets.first()? >> 6);
    let value = octets.get(..len)?.iter().fold(0, |value, octet| value << 8 | u64::from(*octet));
    Some((value & (u64::MAX >> (66 - 8 * len as u32)), len))
}

/// The bytes of a number modulo 2^62, as few as can be.
pub(crate) fn write_varint(value: u64, out: &mut Vec<u8>) {
    let len = varint_len(value);
    let marked = value | (len.trailing_zeros() as u64) << (8 * len - 2);
    out.extend_from_slice(&marked.to_be_bytes()[8 - len..]);
}

#[cfg(test)]
mod tests {
    use carrick_ir::part::VARINT_MAX;

    use super::*;

    #[test]
    fn numbers_of_rfc_9000_a_1() {
        for (octets, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(read_varint(octets), Some((value, octets.len())));
            let mut out = Vec::new();
            write_varint(value, &mut out);
            assert_eq!(out, octets);
            assert_eq!(read_varint(&octets[..octets.len() - 1]), None);
        }
        // Longer than it must be.
        assert_eq!(read_varint(&[0x40, 0x25]), Some((37, 2)));
    }

    #[test]
    fn every_length_ends_where_the_next_begins() {
        for bits in [6, 14, 30, 62] {
            for value in [(1_u64 << bits) - 1, 1 << bits].into_iter().filter(|v| *v <= VARINT_MAX) {
                let mut out = Vec::new();
                write_varint(value, &mut out);
                assert_eq!(read_varint(&out), Some((value, varint_len(value))));
            }
        }
    }
}
