// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets whose payload is frames: they are put together in memory of the processor's own, frame by frame, and then brought
//! into whatever frame of the device is free.

use crate::Emitter;
use crate::pkt_gen::Unit;

impl Emitter<'_> {
    /// What says of a payload that it is bytes that were put together: the number after those of all contexts.
    pub(super) fn put_together(&self) -> usize {
        self.p.contexts.len() + 1
    }

    /// Whether packets have payloads.
    pub(super) fn sends_payloads(&self) -> bool {
        self.sends_units() || self.makes_frames()
    }

    /// Where packets are put together, and entries that have no place.
    pub(super) fn put_maps(&mut self) {
        if self.makes_frames() {
            let entry = format!("struct {}", self.names.own("entry"));
            self.map("carrick_laid", "PERCPU_ARRAY", 1, Some(("uint32_t", "struct carrick_laid")));
            self.map("carrick_spare", "PERCPU_ARRAY", 1, Some(("uint32_t", &entry)));
        }
    }

    /// The first value of a packet of frames: those that it does not have are not looked at.
    pub(crate) fn zero_but_frames(&mut self, ty: &str) {
        self.w.line(format!("memset(h, 0, __builtin_offsetof(struct {ty}, frames__));"));
        self.w.line("h->frames__.count = 0;");
        self.w.line("memset(&h->net__, 0, sizeof h->net__);");
        self.w.line("memset(&h->payload__, 0, sizeof h->payload__);");
    }

    /// What leaves of payloads, and what is put together of them.
    pub(super) fn payloads_sent(&mut self) {
        if !self.sends_payloads() {
            return;
        }
        let of = self.names.own("payload");
        self.w.line("/* The last packet with a payload is made. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "payload_sent", &format!(", struct {of} *v"));
        self.w.line("CARRICK_GIVEN(core && v);");
        for Unit { number, name, .. } in self.units_sent() {
            self.w.line(format!("if (v->type == {number})\n    {name}_tx_out(core, v->slot, v->round);"));
        }
        self.w.end_with("return 0;");
        if !self.makes_frames() {
            return;
        }
        self.w.line("/* Puts `core->payload` behind what is put together. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "lay_payload", "");
        self.w.line("struct carrick_laid *assembly_buffer = carrick_laid_here();");
        self.w.line("CARRICK_GIVEN(core && assembly_buffer);");
        self.each_unit(|name| {
            format!("{name}_tx_lay(assembly_buffer, core->assembly_buffer, m, core->payload.offset, core->payload.len);")
        });
        self.w.line("core->assembly_buffer += (uint32_t)core->payload.len;");
        self.w.end_with("return 0;");
    }
}
