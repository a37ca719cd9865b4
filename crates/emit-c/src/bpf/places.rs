// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where what is in instances, for those who look at them from outside.

use carrick_ir::{ContextDef, Ty};

use crate::Emitter;

/// The letters of a part's name that it sees.
const LETTERS: usize = 31;

impl Emitter<'_> {
    /// The map that says it: `struct carrick_places`.
    pub(super) fn places(&mut self) {
        self.w.open("const struct carrick_places carrick_places CARRICK_SECTION(\".rodata.places\") = {");
        self.w.line(format!(".source_hash = UINT64_C({}),", self.p.source_hash));
        self.w.line(format!(".context_count = {},", self.p.contexts.len()));
        if !self.p.contexts.is_empty() {
            self.w.open(".contexts = {");
            for ctx in &self.p.contexts {
                self.place_of(ctx);
            }
            self.w.close("},");
        }
        self.w.end_type();
    }

    fn place_of(&mut self, ctx: &ContextDef) {
        let ty = format!("struct {}", self.names.declared(&ctx.name));
        let at = |what: &str| format!("__builtin_offsetof({ty}, {what})");
        let parts = self.identity_parts(&self.p.ids[ctx.id.index()]);
        self.w.open("{");
        self.w.line(format!(".slot = {},", at("slot__")));
        if !ctx.timers.is_empty() {
            self.w.line(format!(".timers = {},", at("timers__")));
            self.w.line(format!(".timer_count = {},", ctx.timers.len()));
        }
        self.w.line(format!(".global = {},", u8::from(ctx.global)));
        self.w.line(format!(".part_count = {},", parts.len()));
        if !parts.is_empty() {
            self.w.open(".parts = {");
            for part in &parts {
                let path = &part.path;
                let seen: String = part.name.chars().take(LETTERS).collect();
                let is_signed = u8::from(matches!(*part.ty, Ty::Int { signed: true, .. }));
                self.w.line(format!(
                    "{{{}, sizeof(({ty} *)0)->id__.{path}, {is_signed}, \"{seen}\"}},",
                    at(&format!("id__.{path}"))
                ));
            }
            self.w.close("},");
        }
        self.w.close("},");
    }
}
