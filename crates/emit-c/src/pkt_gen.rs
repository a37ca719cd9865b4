// SPDX-License-Identifier: MIT OR Apache-2.0
//! `pkt_gen`: a copy of a blueprint is queued, its payloads cut to what their units hold.

use carrick_ir::{BlueprintDef, Frames, Opcode};

use crate::Emitter;
use crate::emitter::Head;

/// A context that sends: which, as a payload has it, and its names in C.
#[derive(Debug)]
pub struct Unit {
    /// which of the contexts
    pub index: usize,
    /// how a payload names it: `index + 1`
    pub number: usize,
    /// its name in members of the core
    pub field: String,
    /// its struct
    pub ty: String,
    /// what its functions begin with
    pub name: String,
}

impl Emitter<'_> {
    /// The blueprints that are packets.
    pub fn packets(&self) -> Vec<usize> {
        (0..self.p.blueprints.len()).filter(|index| !self.p.blueprints[*index].frame).collect()
    }

    /// The functions of `pkt_gen`.
    pub fn generate_functions(&mut self) {
        self.payload_unit();
        self.payload_cut();
        self.frame_payload_functions();
        for index in self.packets() {
            let bp = &self.p.blueprints[index];
            self.dialect.open(self, Head::Generate, bp);
            match &bp.frames {
                Some(frames) => self.issue_frames(index, bp, frames),
                None => self.issue(index, bp),
            }
            self.dialect.entry_waits(self, "e");
            self.w.end();
        }
    }

    /// The contexts that send.
    pub fn units_sent(&self) -> Vec<Unit> {
        let contexts = self.p.contexts.iter().enumerate().filter(|(_, c)| c.tx_capacity.is_some());
        contexts
            .map(|(index, ctx)| Unit {
                index,
                number: index + 1,
                field: ctx.name.clone(),
                ty: self.names.declared(&ctx.name),
                name: self.names.own(&ctx.name),
            })
            .collect()
    }

    fn payload_unit(&mut self) {
        let payload = self.names.own("payload");
        self.w.line("/* The TX unit that a payload is of; NULL if it is of none. */");
        self.open_on_core(
            "CARRICK_INLINE struct carrick_tx *",
            "payload_unit",
            &format!(", CARRICK_UNUSED const struct {payload} *v"),
        );
        for Unit { number, ty, name, .. } in self.units_sent() {
            self.w.open(format!("if (v->len && v->type == {number}) {{"));
            self.w.line(format!("struct {ty} *c = {name}_at(core, v->slot);"));
            self.w.line("if (!c)\n    return NULL;");
            // Else the compiler reckons with it before it asks.
            self.w.line("CARRICK_BARRIER_VAR(c);");
            self.w.line("carrick_tx_settle(&c->tx__);");
            self.w.line("return &c->tx__;");
            self.w.close("}");
        }
        self.w.end_with("return NULL;");
    }

    fn payload_cut(&mut self) {
        let payload = self.names.own("payload");
        self.w.line("/* Cuts a payload to what there is of it. Its TX unit; NULL if it is of none, or nothing is left. */");
        self.open_on_core(
            "CARRICK_INLINE struct carrick_tx *",
            "payload_cut",
            &format!(", struct {payload} *v"),
        );
        self.w.line(format!("struct carrick_tx *unit = {}(core, v);", self.names.own("payload_unit")));
        self.w.open("if (unit) {");
        self.w.line("uint64_t len = carrick_tx_held(unit, &v->offset, v->len);");
        self.w.line("if (!unit->open)\n    core->counters[CARRICK_COUNT_NO_UNIT]++;");
        self.w.line("else if (len != v->len)\n    core->counters[CARRICK_COUNT_PAYLOAD_CUT]++;");
        self.w.line("v->len = len;");
        self.w.close("}");
        self.cut_memory();
        let none = match self.has_memory() {
            true => format!("(!unit && v->type != {})", self.memory_type()),
            false => "!unit".into(),
        };
        self.w.open(format!("if ({none} || !v->len) {{"));
        self.w.line("CARRICK_ZERO(v);");
        self.w.line("return NULL;");
        self.w.close("}");
        self.w.end_with("return unit;");
    }

    /// What is done with each payload of a frame.
    fn frame_payload_functions(&mut self) {
        if !self.makes_frames() {
            return;
        }
        let payload = format!(", struct {} *v", self.names.own("payload"));
        self.w.line("/* Cuts a payload: how many bytes are left. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "frame_cut", &payload);
        self.w.line("CARRICK_GIVEN(core && v);");
        self.w.line(format!("(void){}(core, v);", self.names.own("payload_cut")));
        self.w.end_with("return (int)v->len;");
        self.w.line("/* A payload is queued. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "frame_queued", &payload);
        self.w.line("CARRICK_GIVEN(core && v);");
        self.w.line(format!("struct carrick_tx *unit = {}(core, v);", self.names.own("payload_unit")));
        self.w.line("if (unit)\n    v->round = carrick_tx_queued(unit, v->offset);");
        self.w.end_with("return 0;");
    }

    /// A packet with one payload.
    fn issue(&mut self, index: usize, bp: &BlueprintDef) {
        self.w.line(format!("struct {} payload = bp->payload__;", self.names.own("payload")));
        let cut = self.names.own("payload_cut");
        self.w.line(format!("struct carrick_tx *unit = {cut}(core, &payload);"));
        let kind = format!("{index}u");
        self.trace_instr(Opcode::PktGen, &[&kind, "payload.offset", "payload.len", "payload.mss"]);
        self.dialect.choose_queue(self);
        self.coalesce(index, bp);
        self.dialect.place(self, bp);
        self.entry_begins(index);
        self.w.line(format!("CARRICK_COPY(&e->bp.{}_, bp);", bp.name));
        self.w.line("if (unit)\n    payload.round = carrick_tx_queued(unit, payload.offset);");
        self.w.line(format!("e->bp.{}_.payload__ = payload;", bp.name));
    }

    /// A packet of frames, which is traced also where there is no place for it.
    fn issue_frames(&mut self, index: usize, bp: &BlueprintDef, frames: &Frames) {
        let [cut, queued] = ["frame_cut", "frame_queued"].map(|name| self.names.own(name));
        self.dialect.choose_queue(self);
        self.dialect.copy_frames(self, bp);
        self.w.line("CARRICK_UNUSED uint64_t octets = 0;");
        self.each_payload(frames, "copy", |v| format!("octets += (uint32_t){cut}(core, &{v});"));
        self.trace_instr(Opcode::PktGen, &[&format!("{index}u"), "0", "octets", "copy->frames__.count"]);
        self.dialect.place(self, bp);
        self.entry_begins(index);
        self.w.line("e->frame = 0;");
        self.w.line("e->frame_done = 0;");
        let issued = format!("(&e->bp.{}_)", bp.name);
        self.each_payload(frames, &issued, |v| format!("(void){queued}(core, &{v});"));
    }

    /// What there is of an entry beside its blueprint.
    fn entry_begins(&mut self, index: usize) {
        self.w.line(format!("e->kind = {index};"));
        self.w.line("e->sent = 0;");
        self.w.line("e->rules = rules;");
        self.w.line("e->done = 0;");
        self.w.line("e->handle = chain->handle;");
        self.note_newest();
    }
}
