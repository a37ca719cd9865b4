// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where what is in instances, for those who look at them from outside.

use carrick_emit_c::Emitter;
use carrick_ir::{ContextDef, Ty};

/// The letters of a part's name that it sees.
const LETTERS: usize = 31;

/// The map that says it: `struct carrick_places`.
pub(crate) fn places(e: &mut Emitter<'_>) {
    e.w.open("const struct carrick_places carrick_places CARRICK_SECTION(\".rodata.places\") = {");
    e.w.line(".layout = CARRICK_LAYOUT,");
    e.w.line(format!(".source_hash = UINT64_C({}),", e.p.source_hash));
    e.w.line(format!(".context_count = {},", e.p.contexts.len()));
    if !e.p.contexts.is_empty() {
        e.w.open(".contexts = {");
        for ctx in &e.p.contexts {
            place_of(e, ctx);
        }
        e.w.close("},");
    }
    e.w.end_type();
}

fn place_of(e: &mut Emitter<'_>, ctx: &ContextDef) {
    let ty = format!("struct {}", e.names.declared(&ctx.name));
    let at = |what: &str| format!("__builtin_offsetof({ty}, {what})");
    let parts = e.identity_parts(&e.p.ids[ctx.id.index()]);
    e.w.open("{");
    e.w.line(format!(".slot = {},", at("slot__")));
    if !ctx.timers.is_empty() {
        e.w.line(format!(".timers = {},", at("timers__")));
        e.w.line(format!(".timer_count = {},", ctx.timers.len()));
    }
    e.w.line(format!(".global = {},", u8::from(ctx.global)));
    e.w.line(format!(".served = {},", u8::from(e.p.served().any(|served| std::ptr::eq(served, ctx)))));
    e.w.line(format!(".part_count = {},", parts.len()));
    if !parts.is_empty() {
        e.w.open(".parts = {");
        for part in &parts {
            let path = &part.path;
            let seen: String = part.name.chars().take(LETTERS).collect();
            let is_signed = u8::from(matches!(*part.ty, Ty::Int { signed: true, .. }));
            e.w.line(format!(
                "{{{}, sizeof(({ty} *)0)->id__.{path}, {is_signed}, \"{seen}\"}},",
                at(&format!("id__.{path}"))
            ));
        }
        e.w.close("},");
    }
    e.w.close("},");
}
