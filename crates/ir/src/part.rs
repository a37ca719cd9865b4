// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a header whose place or presence depends on the packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::crc::CRC_OCTETS;
use crate::expr::Expr;
use crate::program::{BlueprintDef, BpField, BpFieldKind, Program};

/// The most bytes of a variable-length integer (RFC 9000 §16), and the largest that there is.
pub const VARINT_OCTETS: u32 = 8;
pub const VARINT_MAX: u64 = (1 << 62) - 1;

/// Fields behind the fixed ones that stand together. Each part begins where the one before it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct BpPart {
    /// which of the blueprint's fields; their `bit_offset` counts from the part's beginning
    pub first: u32,
    pub count: u32,
    /// over `BpField`s before the part that are neither computed nor checksums; absent: always there
    pub when: Option<Expr>,
    /// the one field is a variable-length integer
    pub varint: bool,
}

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
}
