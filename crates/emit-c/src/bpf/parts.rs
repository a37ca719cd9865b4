// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields that are not in every packet, or not always at the same place. Where the next one is stands in the core: else the
//! verifier would follow every choice of them that there can be.

use carrick_ir::{BlueprintDef, BpPart, CtxId, Expr, LocalId, Stmt};

use crate::Emitter;
use crate::blueprint::{less_tail, packet_len};
use crate::header::groups;
use crate::names::safe;

impl Emitter<'_> {
    fn open_part_at(&mut self, bp: &BlueprintDef, part: &BpPart) {
        let when = part.when.as_ref().map(|when| self.header_value(when, bp, "h->"));
        match when {
            Some(when) => self.w.open(format!("if ({}) {{", when)),
            None => self.w.open("{"),
        }
    }

    /// In an extract function: `core->at` moves over the parts, `header_len` is where they end.
    pub(crate) fn read_parts_at(&mut self, bp: &BlueprintDef) {
        if bp.parts.is_empty() {
            return;
        }
        let short = format!("return {}(core, CARRICK_COUNT_SHORT);", self.names.own("refuse"));
        let room = format!("{} - header_len{}", packet_len(bp), less_tail(bp));
        self.w.line("core->at = header_len;");
        for part in &bp.parts {
            self.open_part_at(bp, part);
            self.w.line("header_len = CARRICK_READ(core->at);");
            self.w.line("const uint8_t *q = core->in + carrick_at(header_len, CARRICK_SEEN);");
            if part.varint {
                let field = safe(&bp.part_fields(part)[0].name);
                self.w.line(format!(
                    "uint32_t octets = carrick_varint_load(carrick_eight(q), {room}, &h->{field});"
                ));
                self.w.line("if (!octets)");
                self.w.line(format!("    {short}"));
                self.w.line("core->at = header_len + octets;");
            } else {
                let octets = bp.part_len(part);
                self.w.line(format!("if ({room} < {octets}u)"));
                self.w.line(format!("    {short}"));
                for group in groups(bp.part_fields(part)) {
                    self.read_group("q", &group);
                }
                self.w.line(format!("core->at = header_len + {octets}u;"));
            }
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
        self.w.line("header_len = CARRICK_READ(core->at);");
    }

    /// In a write function: the parts, behind `begin` octets; `core->at` is where they end.
    pub(crate) fn write_parts_at(&mut self, bp: &BlueprintDef) {
        self.w.line(format!("core->at = {};", bp.fixed_len));
        for part in &bp.parts {
            self.open_part_at(bp, part);
            self.w.line(
                "uint8_t *q = core->out + CARRICK_BEGIN + carrick_at(CARRICK_READ(core->at), CARRICK_HEADER_MAX);",
            );
            if part.varint {
                let value = self.varint_value(bp, part);
                self.w.line(format!("core->at += carrick_varint_store(carrick_eight(q), {value});"));
            } else {
                for group in groups(bp.part_fields(part)) {
                    self.write_group("q", bp, &group);
                }
                self.w.line(format!("core->at += {};", bp.part_len(part)));
            }
            self.w.close("}");
        }
    }

    /// Octets of the unit of an instance that is found by its id. Nobody holds it for this: who names it shares with all who
    /// work on it a context that is held.
    pub(crate) fn payload_of_found(
        &mut self,
        stmt: &Stmt,
        bp: LocalId,
        (ctx, id): (CtxId, &Expr),
        values: [Option<&Expr>; 3],
    ) {
        let def = &self.p.contexts[ctx.index()];
        let (name, ty, id_ty) =
            (self.names.own(&def.name), self.names.declared(&def.name), self.names.id(def.id));
        let (bp, id) = (self.local(bp), self.value(id));
        let payload = self.payload_of_unit(ctx, "of__", values);
        self.open_at(stmt, "{");
        self.line(stmt, format!("const struct {id_ty} id__ = {id};"));
        self.line(stmt, format!("const struct {ty} *of__ = {name}_find(&id__);"));
        self.line(stmt, format!("memset(&{bp}.payload__, 0, sizeof {bp}.payload__);"));
        self.line(stmt, "if (of__)");
        self.line(stmt, format!("    {bp}.payload__ = {payload};"));
        self.line(stmt, "else");
        self.line(stmt, "    core->counters[CARRICK_COUNT_NO_UNIT]++;");
        self.w.close("}");
    }
}
