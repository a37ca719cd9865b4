// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets whose payload is frames: they are put together in memory of the processor's own, frame by frame, and then brought
//! into whatever frame of the device is free.

use carrick_emit_c::{Emitter, Unit};

use crate::{units, writing};

/// Where packets are put together, and entries that have no place.
pub(crate) fn put_maps(e: &mut Emitter<'_>) {
    if e.makes_frames() {
        let entry = format!("struct {}", e.names.own("entry"));
        writing::map(e, "carrick_laid", "PERCPU_ARRAY", 1, Some(("uint32_t", "struct carrick_laid")));
        writing::map(e, "carrick_spare", "PERCPU_ARRAY", 1, Some(("uint32_t", &entry)));
    }
}

/// What leaves of payloads, and what is put together of them.
pub(crate) fn payloads_sent(e: &mut Emitter<'_>) {
    if !units::sends_payloads(e) {
        return;
    }
    let of = e.names.own("payload");
    e.w.line("/* The last packet with a payload is made. */");
    e.open_on_core("CARRICK_GLOBAL_FN int ", "payload_sent", &format!(", struct {of} *v"));
    e.w.line("CARRICK_GIVEN(core && v);");
    for Unit { number, name, .. } in e.units_sent() {
        e.w.line(format!("if (v->type == {number})\n    {name}_tx_out(core, v->slot, v->round);"));
    }
    e.w.end_with("return 0;");
    if !e.makes_frames() {
        return;
    }
    e.w.line("/* Puts `core->payload` behind what is put together. */");
    e.open_on_core("CARRICK_GLOBAL_FN int ", "lay_payload", "");
    e.w.line("struct carrick_laid *assembly_buffer = carrick_laid_here();");
    e.w.line("CARRICK_GIVEN(core && assembly_buffer);");
    units::each_unit(e, |name| {
        format!(
            "{name}_tx_lay(assembly_buffer, core->assembly_buffer, m, core->payload.offset, core->payload.len);"
        )
    });
    e.w.line("core->assembly_buffer += (uint32_t)core->payload.len;");
    e.w.end_with("return 0;");
}
