// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows from the declaration of a blueprint: which bytes its fields and parts take.

use std::borrow::Cow;
use std::ops::Range;

use crate::crc::{CRC_OCTETS, Crc, CrcMask};
use crate::header_array::{FieldArray, FieldElement};
use crate::part::{BpPart, VARINT_OCTETS};
use crate::program::{BlueprintDef, BpField, BpFieldKind, Program};

impl Program {
    /// Whether a part of a blueprint may hold another number in each packet: it is computed, or a segmentation rule sets it.
    pub fn part_changes(&self, bp: &BlueprintDef, part: &BpPart) -> bool {
        let ruled = self.seg_rules.iter().any(|rule| {
            let of = self.blueprints.get(rule.blueprint.index());
            of.is_some_and(|of| of.name == bp.name) && rule.field == part.first
        });
        ruled || bp.part_fields(part).iter().any(|f| matches!(f.kind, BpFieldKind::Computed(_)))
    }
}

impl BlueprintDef {
    /// The fields before the payload.
    pub fn header_fields(&self) -> &[BpField] {
        &self.fields[..self.fields.len() - usize::from(self.trailer && !self.fields.is_empty())]
    }

    /// Those that stand at the same place in every packet.
    pub fn fixed_fields(&self) -> &[BpField] {
        let fields = self.header_fields();
        &fields[..self.parts.first().map_or(fields.len(), |p| (p.first as usize).min(fields.len()))]
    }

    pub fn part_fields(&self, part: &BpPart) -> &[BpField] {
        let fields = self.fields.get(part.first as usize..).unwrap_or_default();
        &fields[..fields.len().min(part.count as usize)]
    }

    /// The most bytes that a part takes: of a variable-length integer 8, of others what they always take.
    pub fn part_len(&self, part: &BpPart) -> u32 {
        let bits: u32 = self.part_fields(part).iter().map(|f| f.bits).sum();
        if part.varint { VARINT_OCTETS } else { bits.div_ceil(8) }
    }

    /// How many bytes follow the payload.
    pub fn trailer_len(&self) -> u32 {
        if self.trailer { CRC_OCTETS } else { 0 }
    }

    /// The bytes that the fixed fields from one to another take.
    pub fn octets_of(&self, first: u32, last: u32) -> Range<usize> {
        let from = self.fields.get(first as usize).map_or(0, |f| f.bit_offset / 8);
        let to = self.fields.get(last as usize).map_or(0, |f| (f.bit_offset + f.bits).div_ceil(8));
        let most = self.fixed_len;
        from.min(most) as usize..to.clamp(from.min(most), most) as usize
    }

    /// The bits of the fixed fields' bytes that count as ones in a CRC.
    pub fn crc_mask(&self, crc: &Crc) -> Vec<u8> {
        let mut mask = vec![0; self.fixed_len as usize];
        for masked in &crc.masked {
            let CrcMask::Field(at) = masked else { continue };
            let Some(field) = self.fields.get(*at as usize) else { continue };
            for bit in field.bit_offset..field.bit_offset + field.bits {
                if let Some(octet) = mask.get_mut(bit as usize / 8) {
                    *octet |= 0x80 >> (bit % 8);
                }
            }
        }
        mask
    }
}

impl BpField {
    /// The name of the declaration that it is of.
    pub fn declared(&self) -> &str {
        self.element.as_ref().map_or(&self.name, |element| &element.array)
    }

    /// The field as programs write it: `kind`, `cutoff[2]`, `acks[0].id`.
    pub fn written(&self) -> Cow<'_, str> {
        match &self.element {
            None => Cow::Borrowed(&self.name),
            Some(FieldElement { array, at, part: None, .. }) => Cow::Owned(format!("{array}[{at}]")),
            Some(FieldElement { array, at, part: Some(part), .. }) => {
                Cow::Owned(format!("{array}[{at}].{}", part.name))
            }
        }
    }
}

impl BlueprintDef {
    /// The number of the field that is declared alone, under this name.
    pub fn field_named(&self, name: &str) -> Option<u32> {
        self.fields.iter().position(|f| f.element.is_none() && f.name == name).map(|at| at as u32)
    }

    /// The array that is declared under this name.
    pub fn array_named(&self, name: &str) -> Option<FieldArray> {
        let fields = || self.fields.iter().filter_map(|f| f.element.as_ref()).filter(|e| e.array == name);
        let first = self.fields.iter().position(|f| f.element.is_some() && f.declared() == name)? as u32;
        let element = fields().next()?;
        let parts = fields().filter(|e| e.at == element.at).count() as u32;
        Some(FieldArray { first, of: element.of, parts, record: element.part.as_ref().map(|part| part.of) })
    }

    /// The names of the fields as declared, each array once.
    pub fn declared_names(&self) -> impl Iterator<Item = &str> {
        let first = |(at, f): &(usize, &BpField)| *at == 0 || self.fields[at - 1].declared() != f.declared();
        self.fields.iter().enumerate().filter(first).map(|(_, f)| f.declared())
    }
}
