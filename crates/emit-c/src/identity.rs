// SPDX-License-Identifier: MIT OR Apache-2.0
//! By what an application's handle is known to the program: the id of its instance.

use carrick_ir::{ContextDef, IdDef, Ty};

use crate::Emitter;
use crate::names::leaves;

/// As many as a host takes: CARRICK_ID_PARTS.
const PARTS: usize = 16;

/// A part of an id, as a host takes it; an address of IPv6 is two.
pub struct IdPart<'p> {
    /// its name in the program
    pub name: &'p str,
    /// C for where it is in the id
    pub path: String,
    pub ty: &'p Ty,
}

impl<'p> Emitter<'p> {
    /// `identify` of the table.
    pub(crate) fn identity(&mut self) {
        for id in self.p.ids.iter().filter(|id| !id.parts.is_empty()) {
            let names: Vec<String> =
                self.identity_parts(id).iter().map(|part| format!("\"{}\"", part.name)).collect();
            self.w.line(format!(
                "CARRICK_UNUSED static const char *const {}_parts[] = {{{}}};",
                self.names.own(&id.name),
                names.join(", ")
            ));
        }
        let core = self.names.own("core");
        self.open_own(
            "static bool ",
            "identify",
            "struct carrick_core *opaque, uint64_t handle, struct carrick_identity *out",
        );
        self.w.line(format!("CARRICK_UNUSED struct {core} *core = (struct {core} *)opaque;"));
        self.w.line("out->count = 0;");
        self.w.open("switch (handle >> 56) {");
        for (index, ctx) in self.p.contexts.iter().enumerate() {
            self.identity_of(ctx, index);
        }
        self.w.line("default:\n    return false;");
        self.w.close("}");
        self.w.end();
    }

    /// The parts that a host takes.
    pub fn identity_parts(&self, id: &'p IdDef) -> Vec<IdPart<'p>> {
        let parts = id.parts.iter().flat_map(|part| {
            let leaves = leaves(self.p, std::slice::from_ref(part)).into_iter();
            leaves.map(|(path, ty)| IdPart { name: &part.name, path, ty })
        });
        parts.take(PARTS).collect()
    }

    fn identity_of(&mut self, ctx: &ContextDef, index: usize) {
        let id = &self.p.ids[ctx.id.index()];
        self.w.open(format!("case {}: {{", index + 1));
        self.w.line(format!(
            "const struct {} *c = {}_by_handle(core, handle);",
            self.names.declared(&ctx.name),
            self.names.own(&ctx.name)
        ));
        if !id.parts.is_empty() {
            self.w.line("if (!c)\n    return false;");
            self.w.line(format!("out->names = {}_parts;", self.names.own(&id.name)));
            let parts = self.identity_parts(id);
            self.w.line(format!("out->count = {};", parts.len()));
            for (n, part) in parts.iter().enumerate() {
                self.w.line(format!("out->parts[{n}] = (uint64_t)c->id__.{};", part.path));
            }
        }
        self.w.line("return c != NULL;");
        self.w.close("}");
    }
}
