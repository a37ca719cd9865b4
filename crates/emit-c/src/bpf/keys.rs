// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys of the maps from ids to slots. All bytes of a key count, so those between the parts are zero.

use std::collections::BTreeSet;

use carrick_ir::ContextDef;

use crate::Emitter;
use crate::names::safe;

impl Emitter<'_> {
    /// Member of the core: keys of IPv6 addresses would take too much of the stack, which has 512 bytes for all calls.
    pub(super) fn key_member(&mut self) {
        if !self.over_ipv6() {
            return;
        }
        let ids: BTreeSet<_> = self.p.contexts.iter().filter(|ctx| !ctx.global).map(|ctx| ctx.id).collect();
        self.w.open("union { /* the key that is looked up */");
        self.w.line("uint8_t nothing;");
        for id in ids {
            self.w.line(format!("struct {} {}_;", self.names.id(id), self.p.ids[id.index()].name));
        }
        self.w.close("} sought;");
    }

    /// In a function that has an `id`: makes its key. C for where that is.
    pub(super) fn key(&mut self, ctx: &ContextDef) -> &'static str {
        let id = &self.p.ids[ctx.id.index()];
        let ty = self.names.id(ctx.id);
        let in_core = self.over_ipv6();
        let member = if in_core {
            self.w.line(format!("struct {ty} *key = &core->sought.{}_;", id.name));
            self.w.line("memset(key, 0, sizeof *key);");
            "key->"
        } else {
            self.w.line(format!("struct {ty} key;"));
            self.w.line("memset(&key, 0, sizeof key);");
            "key."
        };
        for part in &id.parts {
            let name = safe(&part.name);
            self.w.line(format!("{member}{name} = id->{name};"));
        }
        if in_core { "key" } else { "&key" }
    }
}
