// SPDX-License-Identifier: MIT OR Apache-2.0
//! What several parts need: an include, a map, and how many instances there can be.

use carrick_emit_c::Emitter;
use carrick_ir::{self as ir, ContextDef, fold};

/// A header of the target that uses what is generated before it.
pub(crate) fn include(e: &mut Emitter<'_>, header: &str) {
    e.w.line(format!("#include \"carrick/{header}.h\""));
    e.w.blank();
}

/// A map, with the types of keys and values if it has any.
pub(crate) fn map(e: &mut Emitter<'_>, name: &str, kind: &str, entries: u64, types: Option<(&str, &str)>) {
    e.w.open("struct {");
    e.w.line(format!("CARRICK_UINT(type, CARRICK_MAP_{kind});"));
    e.w.line(format!("CARRICK_UINT(max_entries, {entries});"));
    if kind == "ARRAY" {
        e.w.line("CARRICK_UINT(map_flags, CARRICK_MMAPABLE);");
    }
    match types {
        Some((key, value)) => {
            e.w.line(format!("CARRICK_TYPE(key, {key});"));
            e.w.line(format!("CARRICK_TYPE(value, {value});"));
        }
        None if kind == "STACK" => e.w.line("CARRICK_UINT(value_size, 4);"),
        None => {}
    }
    e.w.close(format!("}} {name} CARRICK_SECTION(\".maps\");"));
    e.w.blank();
}

/// How many instances there can be, with the parameters as they are by default.
pub(crate) fn capacity(e: &Emitter<'_>, ctx: &ContextDef) -> u64 {
    if ctx.global {
        return 1;
    }
    let default = |id: ir::ParamId| e.p.params.get(id.index()).map(|p| p.default);
    fold::fold(e.p, &ctx.capacity, &default).unwrap_or(1).max(1)
}
