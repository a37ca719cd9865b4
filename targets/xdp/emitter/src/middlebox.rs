// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network: its packet leaves in the frame in which it came.

use carrick_emit_c::{Emitter, sums_payload};
use carrick_ir::{BlueprintDef, uses};

use crate::writing;

/// What the target's headers are told.
pub(crate) fn define_middlebox(e: &mut Emitter<'_>) {
    let Some(packets) = &e.p.in_network else { return };
    e.w.line("#define CARRICK_MIDDLEBOX 1");
    if uses::stores(e.p) {
        let packets = e.value(packets);
        e.w.line(format!("#define CARRICK_STORE_CAPACITY(core) ((uint32_t)({packets}))"));
    }
}

pub(crate) fn include_store(e: &mut Emitter<'_>) {
    if e.p.in_network.is_some() {
        e.w.line("#include \"carrick/store.h\"");
    }
}

/// Members of the core.
pub(crate) fn between_members(e: &mut Emitter<'_>) {
    if e.p.in_network.is_some() {
        e.w.line("struct carrick_store store;");
        e.w.open("struct {");
        e.blueprint_union("again", "read again", |bp| !bp.frame);
        e.w.close("};");
    }
}

/// The program that packets come to.
pub(crate) fn include_entry(e: &mut Emitter<'_>) {
    writing::include(e, if e.p.in_network.is_some() { "middlebox" } else { "ingress" });
}

/// Opens the function that puts a header before the payload of the packet, in `core->out`.
pub(crate) fn forward(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    let (ty, name, core) = (e.names.declared(&bp.name), e.names.own(&bp.name), e.names.own("core"));
    e.w.open(format!(
        "CARRICK_GLOBAL_FN int {name}_forward(struct {core} *core, const struct {ty} *h, uint32_t interface) {{"
    ));
    e.w.line("CARRICK_GIVEN(core && h);");
}

/// In the same function: the payload stays where it is in the frame.
pub(crate) fn payload_stays(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    e.w.line("uint32_t payload = core->begin + core->packet.len;");
    e.w.line("if (payload_len)\n    payload = (uint32_t)CARRICK_FROM_ADDR(h->payload__);");
    if sums_payload(bp) {
        let sum = e.names.own("sum_behind");
        e.w.line(format!("uint64_t payload_sum = payload_len ? {sum}(core, payload - core->begin) : 0;"));
    }
}
