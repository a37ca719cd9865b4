// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields that are not in every packet, or not always at the same place: read and written one after the other.

use carrick_ir::arith;
use carrick_ir::part::VARINT_MAX;

use crate::bits::{get_bits, put_bits};
use crate::linked::WORK;
use crate::machine::Machine;
use crate::varint::{read_varint, varint_len, write_varint};
use crate::wire::PartCode;
use crate::wire::{Blueprint, FieldKind, WireField};

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
                    let value = self.eval(ex, 0);
                    *self.cell(field) = value & field.kept;
                }
                put_bits(&mut out[begin..], field.bit_offset, field.bits, *self.cell(field));
            }
        }
    }
}
