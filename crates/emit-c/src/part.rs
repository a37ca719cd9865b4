// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields that are not in every packet, or not always at the same place: read and written one after the other.

use carrick_ir::{BlueprintDef, BpPart};

use crate::Emitter;
use crate::blueprint::{less_tail, packet_len};
use crate::header::groups;
use crate::names::safe;

/// With so many conditions the length of a header is found in place; of more the verifier follows all ways once.
const CONDITIONS: usize = 2;

impl Emitter<'_> {
    pub(crate) fn has_varint(&self) -> bool {
        self.p.blueprints.iter().any(|bp| bp.parts.iter().any(|p| p.varint))
            || self.p.opts.iter().any(|opt| opt.wide.is_some())
    }

    /// What its one field writes.
    pub(crate) fn varint_value(&self, bp: &BlueprintDef, part: &BpPart) -> String {
        let field = &bp.part_fields(part)[0];
        match field.computed() {
            Some(e) => self.header_value(&e, bp, "h->"),
            None => format!("h->{}", safe(&field.name)),
        }
    }

    fn open_part(&mut self, bp: &BlueprintDef, part: &BpPart) {
        match &part.when {
            Some(when) => {
                let when = self.header_value(when, bp, "h->");
                self.w.open(format!("if ({}) {{", when));
            }
            None => self.w.open("{"),
        }
    }

    /// In an extract function: `header_len` moves over the parts.
    pub(crate) fn read_parts(&mut self, bp: &BlueprintDef) {
        if bp.parts.is_empty() {
            return;
        }
        let short = format!("    return {}(core, CARRICK_COUNT_SHORT);", self.names.own("refuse"));
        let room = format!("{} - header_len{}", packet_len(bp), less_tail(bp));
        self.w.line("CARRICK_STEP_OVER(core, header_len, 0u);");
        for part in &bp.parts {
            self.open_part(bp, part);
            self.w.line("CARRICK_STEP(core, header_len);");
            self.w.line("const uint8_t *q = CARRICK_IN_AT(core, p, header_len);");
            let octets = if part.varint {
                let field = safe(&bp.part_fields(part)[0].name);
                self.w.line(format!("uint32_t octets = carrick_varint_load(q, {room}, &h->{field});"));
                self.w.line(format!("if (!octets)\n{short}"));
                "octets".to_owned()
            } else {
                let octets = format!("{}u", bp.part_len(part));
                self.w.line(format!("if ({room} < {octets})\n{short}"));
                for group in groups(bp.part_fields(part)) {
                    self.read_group("q", &group);
                }
                octets
            };
            self.w.line(format!("CARRICK_STEP_OVER(core, header_len, {octets});"));
            if part.when.is_some() {
                self.w.close("} else {");
                self.w.open_again();
                for field in bp.part_fields(part) {
                    let c = self.names.ctype(&field.ty);
                    self.w.line(format!("h->{} = ({c})0;", safe(&field.name)));
                }
            }
            self.w.close("}");
        }
        self.w.line("CARRICK_STEP(core, header_len);");
    }

    /// In a write function: the parts, and behind them the dialect's cursor.
    pub(crate) fn write_parts(&mut self, bp: &BlueprintDef) {
        for part in &bp.parts {
            self.open_part(bp, part);
            if part.varint {
                let value = self.varint_value(bp, part);
                self.write_varint(&value);
            } else {
                self.w.line("CARRICK_OUT_HERE(core);");
                for group in groups(bp.part_fields(part)) {
                    self.write_group("q", bp, &group);
                }
                self.written(bp.part_len(part));
            }
            self.w.close("}");
        }
    }

    /// Where the next byte is written: a variable-length integer.
    pub(crate) fn write_varint(&mut self, value: &str) {
        self.w.line(format!("CARRICK_OUT_MOVE(core, carrick_varint_store(CARRICK_OUT_AT(core), {value}));"));
    }

    /// So many bytes were written at `q`.
    pub(crate) fn written(&mut self, octets: impl std::fmt::Display) {
        self.w.line(format!("CARRICK_OUT_MOVE(core, {octets});"));
    }

    /// The C of how long a blueprint's longest header is.
    pub fn longest_header(&self, bp: &BlueprintDef) -> String {
        let name = self.names.own(&bp.name);
        match bp.parts.is_empty() {
            true => format!("{name}_header_len(bp)"),
            false => format!("{name}_header_room(core, bp)"),
        }
    }

    /// The length of a packet's header, and the most that it is in any packet made from the blueprint.
    pub(crate) fn part_lengths(&mut self, bp: &BlueprintDef) {
        if bp.parts.is_empty() {
            return;
        }
        self.w.line("/* Octets of the header with this much payload. */");
        self.part_length(bp, "header_len", ", CARRICK_UNUSED uint64_t payload_len", false);
        self.w.line("/* Octets of the longest header that a packet of this blueprint has. */");
        self.part_length(bp, "header_room", "", true);
    }

    fn part_length(&mut self, bp: &BlueprintDef, what: &str, params: &str, most: bool) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let core = self.core_param();
        let conditions = bp.parts.iter().filter(|part| part.when.is_some()).count();
        let apart = conditions > CONDITIONS;
        let kind = if apart { "CARRICK_GLOBAL_FN" } else { "CARRICK_INLINE" };
        self.w.open(format!(
            "{kind} uint32_t {name}_{what}({core}, CARRICK_UNUSED const struct {ty} *h{params}) {{"
        ));
        if apart {
            self.w.line("CARRICK_GIVEN(core && h);");
            if !most {
                self.w.line("CARRICK_BARRIER_VAR(payload_len);");
            }
        }
        let options = bp.options.map(|l| self.names.own(&self.p.opt_lists[l.index()].name));
        let options = options.map_or_else(String::new, |o| format!(" + {o}_length(&h->opts__)"));
        self.w.line(format!("uint32_t octets = {}u{options};", bp.fixed_len));
        for part in &bp.parts {
            let octets = if part.varint && !(most && self.p.part_changes(bp, part)) {
                format!("carrick_varint_len({})", self.varint_value(bp, part))
            } else {
                format!("{}u", bp.part_len(part))
            };
            if let Some(when) = &part.when {
                let when = self.header_value(when, bp, "h->");
                self.w.line(format!("if ({})", when));
                self.w.line(format!("    octets += {octets};"));
            } else {
                self.w.line(format!("octets += {octets};"));
            }
        }
        self.w.end_with("return octets;");
    }
}
