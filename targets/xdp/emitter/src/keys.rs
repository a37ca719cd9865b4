// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys of the maps from ids to slots. All bytes of a key count, so those between the parts are zero.

use std::collections::BTreeSet;

use carrick_emit_c::Emitter;
use carrick_emit_c::names::safe;
use carrick_ir::ContextDef;

/// Member of the core: keys of IPv6 addresses would take too much of the stack, which has 512 bytes for all calls.
pub(crate) fn key_member(e: &mut Emitter<'_>) {
    if !e.over_ipv6() {
        return;
    }
    let ids: BTreeSet<_> = e.p.contexts.iter().filter(|ctx| !ctx.global).map(|ctx| ctx.id).collect();
    e.w.open("union { /* the key that is looked up */");
    e.w.line("uint8_t nothing;");
    for id in ids {
        e.w.line(format!("struct {} {}_;", e.names.id(id), e.p.ids[id.index()].name));
    }
    e.w.close("} sought;");
}

/// In a function that has an `id`: makes its key. C for where that is.
pub(crate) fn key(e: &mut Emitter<'_>, ctx: &ContextDef) -> &'static str {
    let id = &e.p.ids[ctx.id.index()];
    let ty = e.names.id(ctx.id);
    let in_core = e.over_ipv6();
    let member = if in_core {
        e.w.line(format!("struct {ty} *key = &core->sought.{}_;", id.name));
        e.w.line("memset(key, 0, sizeof *key);");
        "key->"
    } else {
        e.w.line(format!("struct {ty} key;"));
        e.w.line("memset(&key, 0, sizeof key);");
        "key."
    };
    for part in &id.parts {
        let name = safe(&part.name);
        e.w.line(format!("{member}{name} = id->{name};"));
    }
    if in_core { "key" } else { "&key" }
}
