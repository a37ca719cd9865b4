// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields that are not in every packet, or not always at the same place: read and written one after the other.

use carrick_ir::arith;
use carrick_ir::part::VARINT_MAX;

use crate::code::Ex;
use crate::header::{get_bits, put_bits};
use crate::link::{Blueprint, FieldKind, WORK, WireField};
use crate::machine::Machine;

/// Fields that stand together.
#[derive(Debug)]
pub(crate) struct PartCode {
    pub when: Option<Ex>,
    pub fields: Vec<WireField>,
    /// bytes; of a variable-length integer the most
    pub len: usize,
    pub varint: bool,
    /// it may be another number in each packet of a blueprint: room is left for the longest
    pub changes: bool,
}

/// How many bytes a variable-length integer takes (RFC 9000 §16).
fn varint_len(value: u64) -> usize {
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

impl Machine {
    fn is_there(&mut self, part: &PartCode) -> bool {
        part.when.as_ref().is_none_or(|when| self.eval(when, 0) != 0)
    }

    fn cell(&mut self, field: &WireField) -> &mut u64 {
        &mut self.mem[(WORK + field.cell) as usize]
    }

    /// Reads the parts of the packet from `at` on into the work area. Where they end, if they do so before `limit`.
    pub(crate) fn read_parts(&mut self, code: &Blueprint, mut at: usize, limit: usize) -> Option<usize> {
        for part in &code.parts {
            if !self.is_there(part) {
                continue;
            }
            if part.varint {
                let (value, len) = read_varint(&self.packet[at..limit])?;
                if let [field] = &part.fields[..] {
                    *self.cell(field) = value;
                }
                at += len;
                continue;
            }
            let end = at + part.len;
            if end > limit {
                return None;
            }
            for field in &part.fields {
                let raw = get_bits(&self.packet[at..end], field.bit_offset, field.bits);
                *self.cell(field) = arith::canonical(&field.ty, raw);
            }
            at = end;
        }
        Some(at)
    }

    /// How many bytes the parts of the blueprint in the work area take; `most`: in any packet made from it.
    pub(crate) fn parts_len(&mut self, code: &Blueprint, most: bool) -> usize {
        let mut len = 0;
        for part in &code.parts {
            if !self.is_there(part) {
                continue;
            }
            len += match &part.fields[..] {
                [field] if part.varint && !(most && part.changes) => {
                    varint_len(*self.cell(field) & VARINT_MAX)
                }
                _ => part.len,
            };
        }
        len
    }

    /// Fills in the computed variable-length integers, on which the length of the header depends.
    pub(crate) fn compute_varints(&mut self, code: &Blueprint) {
        for part in code.parts.iter().filter(|p| p.varint) {
            for field in &part.fields {
                if let FieldKind::Computed(ex) = &field.kind {
                    *self.cell(field) = self.eval(ex, 0) & VARINT_MAX;
                }
            }
        }
    }

    /// Writes the parts behind what `out` holds.
    pub(crate) fn write_parts(&mut self, code: &Blueprint, out: &mut Vec<u8>) {
        for part in &code.parts {
            if !self.is_there(part) {
                continue;
            }
            if part.varint {
                for field in &part.fields {
                    write_varint(*self.cell(field) & VARINT_MAX, out);
                }
                continue;
            }
            let begin = out.len();
            out.resize(begin + part.len, 0);
            for field in &part.fields {
                if let FieldKind::Computed(ex) = &field.kind {
                    let value = arith::canonical(&field.ty, self.eval(ex, 0));
                    *self.cell(field) = value & field.kept;
                }
                put_bits(&mut out[begin..], field.bit_offset, field.bits, *self.cell(field));
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
