// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of a blueprint goes over the wire.

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, BpPart, NetField, OptListId, Ty, arith};

use super::linker::{Linker, Outside};
use crate::code::Ex;
use crate::crc::CrcCode;
use crate::wire::*;

impl Linker<'_> {
    pub(crate) fn blueprints(&self) -> Result<Vec<Blueprint>, String> {
        self.program.blueprints.iter().enumerate().map(|(i, def)| self.blueprint_code(i, def)).collect()
    }

    pub(crate) fn net_cells(&self) -> NetCells {
        let mut cells = NetCells::default();
        for (def, cell) in self.program.net_header.fields.iter().zip(self.layout.net_fields.iter().copied()) {
            let which = match def.field {
                NetField::SrcIp => &mut cells.src,
                NetField::DstIp => &mut cells.dst,
                NetField::Protocol => &mut cells.protocol,
                NetField::Ttl => &mut cells.ttl,
                NetField::Tos => &mut cells.tos,
                NetField::PayloadLen => &mut cells.payload_len,
                NetField::Interface => &mut cells.interface,
                NetField::Segments => &mut cells.segments,
                NetField::SegmentCount => &mut cells.segment_count,
                NetField::SegmentsLeft => &mut cells.segments_left,
                NetField::SegmentFlags => &mut cells.segment_flags,
                NetField::SegmentTag => &mut cells.segment_tag,
            };
            *which = Some(cell);
        }
        cells
    }

    fn blueprint_code(&self, index: usize, def: &BlueprintDef) -> Result<Blueprint, String> {
        let layout = &self.layout.blueprints[index];
        let of_crc = def.fields.iter().zip(layout.fields..).find_map(|(field, cell)| match &field.kind {
            BpFieldKind::Crc(crc) => Some(CrcCode::new(def, cell, field.bit_offset, crc)),
            _ => None,
        });
        let fixed = def.fixed_fields();
        let cells = || fixed.iter().zip(layout.fields..);
        let read = cells().filter_map(|(f, cell)| f.values_when_read().map(|(lo, hi)| (cell, lo, hi)));
        let sent = cells().filter_map(|(f, cell)| def.values_when_sent(f).map(|(lo, hi)| (cell, lo, hi)));
        let fields = self.wire_fields(index, def, fixed, layout.fields, def.fixed_len)?;
        let filled = (0..fields.len()).filter(|i| !matches!(fields[*i].kind, FieldKind::Plain)).collect();
        Ok(Blueprint {
            fields,
            filled,
            when_read: read.collect(),
            when_sent: sent.collect(),
            frame: def.frame,
            frames: def.frames.is_some().then_some((layout.frames as usize, layout.frame_cells as usize)),
            payload_len: match (&def.payload_len, &def.payload_name) {
                (Some(len), _) => Some(self.expr(len, Outside::Header(index))?),
                (None, Some(_)) => None,
                (None, None) if def.frame => Some(Ex::Lit(0)),
                (None, None) => None,
            },
            parts: def.parts.iter().map(|part| self.part_code(index, def, part)).collect::<Result<_, _>>()?,
            crc: of_crc,
            fixed_len: def.fixed_len as usize,
            trailer: def.trailer_len() as usize,
            align: def.payload_align.max(1) as usize,
            first: layout.fields,
            options: def.options.map(|list| self.option_list(index, list)).transpose()?,
            size: layout.size,
            payload: layout.payload,
            net: self.net_cells(),
        })
    }

    /// The fields that stand together in so many bytes; a CRC-32 is not one of them.
    fn wire_fields(
        &self,
        bp: usize,
        def: &BlueprintDef,
        fields: &[BpField],
        cells: u32,
        octets: u32,
    ) -> Result<Vec<WireField>, String> {
        let mut out = Vec::new();
        for (field, cell) in fields.iter().zip(cells..) {
            if field.bits > 64 || (field.bit_offset + field.bits).div_ceil(8) > octets {
                return Err(format!("`{}` does not lie in its header", field.name));
            }
            let kind = match &field.kind {
                BpFieldKind::Plain { .. } => FieldKind::Plain,
                BpFieldKind::Computed(e) => {
                    let whole = def.values_when_sent(field).is_some();
                    let cut = field.computed().filter(|_| !whole);
                    FieldKind::Computed(self.expr(cut.as_ref().unwrap_or(e), Outside::Header(bp))?)
                }
                &BpFieldKind::Checksum { pseudo, header, payload, fields } => {
                    if field.bits != 16 || field.bit_offset % 16 != 0 {
                        return Err(format!("`{}` does not lie where a checksum can", field.name));
                    }
                    let over = fields.map(|(first, last)| def.octets_of(first, last));
                    FieldKind::Checksum { pseudo, header, payload, over }
                }
                BpFieldKind::Crc(_) => continue,
            };
            let BpField { bits, bit_offset, base, .. } = *field;
            let whole = def.values_when_sent(field).is_some() || bits == 0;
            let kept = if whole { u64::MAX } else { u64::MAX >> (64 - bits) };
            out.push(WireField { cell, ty: field.ty.clone(), bits, bit_offset, base, kept, kind });
        }
        Ok(out)
    }

    fn part_code(&self, bp: usize, def: &BlueprintDef, part: &BpPart) -> Result<PartCode, String> {
        let len = def.part_len(part);
        let cells = self.layout.blueprints[bp].fields + part.first;
        let fields = self.wire_fields(bp, def, def.part_fields(part), cells, len)?;
        let changes = self.program.part_changes(def, part);
        let when = part.when.as_ref().map(|e| self.expr(e, Outside::Header(bp))).transpose()?;
        Ok(PartCode { when, fields, len: len as usize, varint: part.varint, changes })
    }

    fn option_list(&self, bp: usize, list: OptListId) -> Result<OptionList, String> {
        let def = &self.program.opt_lists[list.index()];
        let mut members = Vec::new();
        for &(opt, cell) in &self.layout.blueprints[bp].options {
            let opt = &self.program.opts[opt.index()];
            let octets = |ty: &Ty| arith::shape(ty).0.div_ceil(8) as usize;
            let fields: Vec<_> = opt
                .fields
                .iter()
                .map(|f| (f.ty.clone(), if f.varint { 0 } else { self.enum_octets(&f.ty, octets) }))
                .collect();
            let wanted = if opt.len == 1 && opt.list.is_none() {
                1
            } else {
                2 + fields.iter().map(|(_, n)| n).sum::<usize>()
            };
            if opt.wide.is_none() && wanted != usize::from(opt.len) {
                return Err(format!("the fields of `{}` do not fill its length", opt.name));
            }
            let list = opt.list.as_ref().map(|list| {
                let parts = list.parts(self.program).into_iter();
                ElementsCode {
                    cell: cell + 1 + fields.len() as u32,
                    least: list.least as usize,
                    most: list.most as usize,
                    parts: parts.map(|(_, ty)| (ty.clone(), octets(ty))).collect(),
                    octets: list.octets(self.program) as usize,
                }
            });
            members.push(OptCode { kind: opt.kind, len: opt.len, wide: opt.wide, cell, fields, list });
        }
        let len = self.expr(&def.len, Outside::Header(bp))?;
        Ok(OptionList { len, align: def.align.max(1) as usize, pad: def.pad, members })
    }

    /// An enum is as wide as its declaration says.
    fn enum_octets(&self, ty: &Ty, octets: impl Fn(&Ty) -> usize) -> usize {
        match ty {
            Ty::Enum(e) => octets(&self.program.enums[e.index()].repr),
            ty => octets(ty),
        }
    }
}
