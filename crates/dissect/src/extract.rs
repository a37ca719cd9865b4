// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints as functions that read them.

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, BpPart, Expr, ExprKind, print, walk};

use crate::emitter::Emitter;
use crate::names::{self, field};
use crate::text::quoted;
use crate::types::{Rep, literal};

impl<'p> Emitter<'p> {
    pub(crate) fn blueprints(&mut self) {
        self.w.line("-- Each reads a packet, or a frame of one, into h.");
        self.w.line("local extract = {}");
        self.w.line("");
        let p = self.p;
        for bp in self.reach.blueprints.clone().into_iter().filter_map(|id| p.blueprints.get(id.index())) {
            self.header = Some(bp);
            self.blueprint(bp);
            self.header = None;
        }
    }

    fn blueprint(&mut self, bp: &'p BlueprintDef) {
        self.w.comment(&bp.doc);
        self.w.open(names::function("extract", &bp.name, "h"));
        let begin = format!("local r = open({}, {})", quoted(&bp.name), bp.frame);
        self.w.line(begin);
        self.fixed_fields(bp);
        self.checksum(bp, true);
        if !bp.parts.is_empty() {
            self.absent_fields(bp);
            for group in groups(bp) {
                self.group(bp, group);
            }
        }
        self.options(bp);
        self.checksum(bp, false);
        self.crc(bp);
        self.read_options(bp);
        self.ranges(bp);
        self.read_payload(bp);
        self.computed(bp);
        self.w.line("r:close()");
        self.w.close("end");
        self.w.line("");
    }

    fn fixed_fields(&mut self, bp: &BlueprintDef) {
        let octets = bp.fixed_len + bp.trailer_len();
        for field in bp.fixed_fields().iter().filter(|f| !f.is_padding()) {
            self.read_field(bp, field);
        }
        self.w.line(format!("if not r:has({octets}) then return r:refuse(\"short\") end"));
        self.w.line(format!("r:skip({})", bp.fixed_len));
        if let (Some(len), false) = (&bp.payload_len, bp.frame) {
            self.lengths(bp, bp.trailer_len());
            let len = self.expr(len);
            let len = print::without_parentheses(&len);
            self.w.line(format!("if not r:cut({len}, {}) then return false end", bp.trailer_len()));
        }
        for field in &bp.fields[bp.header_fields().len()..] {
            let text = format!("{} = r:trailer({})", self.cell(field), path(bp, field));
            self.w.line(text);
        }
    }

    /// What the length of a packet's payload is said with.
    fn lengths(&mut self, bp: &BlueprintDef, trailer: u32) {
        let asked = |kind: &ExprKind| bp.payload_len.as_ref().is_some_and(|e| uses(e, kind));
        if asked(&ExprKind::PayloadLen) {
            self.w.line(format!("local payload_len = u64(r.to - r.at - {trailer})"));
        }
        if asked(&ExprKind::HeaderLen) {
            self.w.line("local header_len = u64(r.at - r.begin)");
        }
    }

    /// What is outside of a field's range makes the packet malformed.
    fn ranges(&mut self, bp: &BlueprintDef) {
        for field in bp.fixed_fields() {
            let Some((lo, hi)) = field.values_when_read() else { continue };
            let (cell, rep) = (self.cell(field), self.rep(&field.ty));
            let (lo, hi) = (literal(rep, lo), literal(rep, hi));
            self.w.line(format!("if {cell} < {lo} or {cell} > {hi} then return r:refuse(\"bad_field\") end"));
        }
    }

    fn cell(&self, of: &BpField) -> String {
        field("h", &of.name)
    }

    fn read_field(&mut self, bp: &BlueprintDef, field: &BpField) {
        let (cell, path, bit, bits) = (self.cell(field), path(bp, field), field.bit_offset, field.bits);
        let text = match (&field.kind, self.rep(&field.ty)) {
            (BpFieldKind::Crc(_), _) => format!("{cell} = r:crc({path}, {bit})"),
            (_, rep) if bits == 0 => format!("{cell} = {}", literal(rep, field.base)),
            (_, rep) if field.base > 0 => {
                format!("{cell} = r:based({path}, {bit}, {bits}, {})", literal(rep, field.base))
            }
            (_, Rep::Bool) => format!("{cell} = r:flag({path}, {bit})"),
            (_, Rep::Wide { .. }) => format!("{cell} = r:wide({path}, {bit}, {bits})"),
            (_, Rep::Narrow { bits: all, signed: true }) if all == bits => {
                format!("{cell} = r:signed({path}, {bit}, {bits})")
            }
            _ => format!("{cell} = r:field({path}, {bit}, {bits})"),
        };
        self.w.line(text);
    }

    /// What a packet does not have is zero.
    fn absent_fields(&mut self, bp: &BlueprintDef) {
        for part in bp.parts.iter().filter(|p| p.when.is_some()) {
            let fields = bp.part_fields(part);
            let cells: Vec<String> = fields.iter().map(|f| self.cell(f)).collect();
            let zeros: Vec<String> = fields.iter().map(|f| literal(self.rep(&f.ty), 0)).collect();
            if !cells.is_empty() {
                self.w.line(format!("{} = {}", cells.join(", "), zeros.join(", ")));
            }
        }
    }

    /// Parts that are there on one condition, or always.
    fn group(&mut self, bp: &'p BlueprintDef, group: &'p [BpPart]) {
        self.open_group(group);
        for part in group {
            match bp.part_fields(part) {
                [field] if part.varint => {
                    let (cell, path) = (self.cell(field), path(bp, field));
                    self.w.line(format!("{cell} = r:varint({path})"));
                    self.w.line(format!("if not {cell} then return r:refuse(\"short\") end"));
                }
                fields => {
                    let octets = bp.part_len(part);
                    if octets > 0 {
                        self.w.line(format!("if not r:has({octets}) then return r:refuse(\"short\") end"));
                    }
                    for field in fields {
                        self.read_field(bp, field);
                    }
                    self.w.line(format!("r:skip({octets})"));
                }
            }
        }
        self.close_group(group);
    }

    fn open_group(&mut self, group: &'p [BpPart]) {
        if let Some(when) = group.first().and_then(|part| part.when.as_ref()) {
            let when = self.expr(when);
            self.w.open(format!("if {} then", print::without_parentheses(&when)));
        }
    }

    fn close_group(&mut self, group: &[BpPart]) {
        if group.first().is_some_and(|part| part.when.is_some()) {
            self.w.close("end");
        }
    }

    fn read_payload(&mut self, bp: &BlueprintDef) {
        let of_payload = bp.payload_len.as_ref().filter(|_| bp.frame);
        let asked = |kind: &ExprKind| computed(bp).chain(of_payload).any(|e| uses(e, kind));
        // A frame that has no payload leaves all behind it to others.
        let none = bp.frame && bp.payload_name.is_none();
        if none && asked(&ExprKind::PayloadLen) {
            self.w.line("local payload_len = u64(0)");
        } else if !none {
            self.w.line("local payload_len = u64(r.to - r.at)");
        }
        if asked(&ExprKind::HeaderLen) {
            self.w.line("local header_len = u64(r.at - r.begin)");
        }
        let len = match of_payload {
            Some(len) => print::without_parentheses(&self.expr(len)).to_owned(),
            None if none => "u64(0)".to_owned(),
            None => "payload_len".to_owned(),
        };
        let Some(name) = &bp.payload_name else {
            return self.w.line(format!("r:payload(nil, {len})"));
        };
        let cell = field("h", name);
        self.w.line(format!("{cell} = r:payload({}, {len})", quoted(&format!("{}.{name}", bp.name))));
        self.w.line(format!("if not {cell} then return false end"));
        if of_payload.is_some() && computed(bp).any(|e| uses(e, &ExprKind::PayloadLen)) {
            self.w.line(format!("payload_len = {}", field(&cell, "len")));
        }
    }

    /// Computed fields hold what a sender would compute, or are told of.
    fn computed(&mut self, bp: &'p BlueprintDef) {
        for field in bp.fixed_fields() {
            self.expectation(bp, field, false);
        }
        for group in groups(bp) {
            let is_computed = |f: &BpField| matches!(f.kind, BpFieldKind::Computed(_));
            if !group.iter().any(|part| bp.part_fields(part).iter().any(is_computed)) {
                continue;
            }
            self.open_group(group);
            for part in group {
                for field in bp.part_fields(part) {
                    self.expectation(bp, field, part.varint);
                }
            }
            self.close_group(group);
        }
    }

    fn expectation(&mut self, bp: &BlueprintDef, field: &BpField, varint: bool) {
        let Some(value) = &field.computed() else { return };
        // How much of a payload is padding, the receiver knows by this field alone.
        if bp.payload_align > 1 && uses(value, &ExprKind::PayloadLen) {
            return;
        }
        let rep = self.rep(&field.ty);
        let mut computed = self.expr(value);
        let kept = match field.range {
            _ if varint => 62,
            Some(_) => 64,
            None => field.bits,
        };
        match rep {
            Rep::Wide { .. } if kept < 64 => {
                let mask = literal(rep, u64::MAX >> (64 - kept));
                computed = format!("{computed}:band({mask})");
            }
            Rep::Narrow { bits, .. } if kept < bits => {
                computed = format!("{computed} % {:#x}", 1_u64 << kept);
            }
            _ => {}
        }
        let (cell, path) = (self.cell(field), path(bp, field));
        self.w.line(format!("r:expect({path}, {cell}, {})", print::without_parentheses(&computed)));
    }
}

/// What computed fields are computed from.
fn computed(bp: &BlueprintDef) -> impl Iterator<Item = &Expr> {
    bp.fields.iter().filter_map(|f| if let BpFieldKind::Computed(e) = &f.kind { Some(e) } else { None })
}

/// Whether there is such an expression in it.
pub(crate) fn uses(e: &Expr, kind: &ExprKind) -> bool {
    let mut found = false;
    walk::expressions(e, &mut |e| found |= e.kind == *kind);
    found
}

/// The parts behind the fixed fields, those with one condition together: it is over fields before all of them.
fn groups(bp: &BlueprintDef) -> impl Iterator<Item = &[BpPart]> {
    bp.parts.chunk_by(|a, b| match (&a.when, &b.when) {
        (Some(a), Some(b)) => a.kind == b.kind,
        (a, b) => a.is_none() && b.is_none(),
    })
}

/// The name of a blueprint's field among those that are shown.
pub(crate) fn path(bp: &BlueprintDef, field: &BpField) -> String {
    quoted(&format!("{}.{}", bp.name, field.name))
}
