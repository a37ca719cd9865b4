// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blueprint queue of a process: payloads of its entries, and what leaves.

use carrick_ir::EventKind;

use crate::Emitter;
use crate::core_struct::QUEUE;
use crate::pkt_gen::Unit;

impl Emitter<'_> {
    pub(crate) fn queue_functions(&mut self) {
        self.block_functions();
        self.newest_functions();
        self.payload_functions();
        self.generate_functions();
    }

    /// Opens a function on a payload that does something for each context whose unit it may be of.
    fn on_payload(&mut self, what: &str, returns: &str, name: &str, more: &str) {
        let (core, payload, name) = (self.core_param(), self.names.own("payload"), self.names.own(name));
        self.w.line(format!("/* {what} */"));
        self.w.open(format!(
            "CARRICK_UNUSED static inline {returns}{name}({core}, const struct {payload} *v{more}) {{"
        ));
        self.w.open("switch (v->type) {");
    }

    /// The ring of a payload's unit, and that a payload is out.
    fn payload_functions(&mut self) {
        let units = self.units_sent();
        let mask = ", CARRICK_UNUSED uint64_t *mask";
        self.on_payload("The ring that holds a payload's octets.", "const uint8_t *", "payload_ring", mask);
        for Unit { number, field, .. } in &units {
            self.w.open(format!("case {number}:"));
            self.w.line(format!("*mask = core->{field}_tx_pool.mask;"));
            self.w.close_case(&format!("return carrick_pool_ring(&core->{field}_tx_pool, v->slot);"));
        }
        if self.has_memory() {
            self.w.open(format!("case {}:", self.memory_type()));
            self.w.line("*mask = UINT64_MAX >> 1;");
            self.w.close_case("return v->ptr;");
        }
        self.w.line("default:\n    return NULL;");
        self.w.close("}");
        self.w.end();
        let what = "The last packet of a payload is out: its octets may be overwritten, and a slot that only waited for it is free.";
        self.on_payload(what, "void ", "payload_sent", "");
        for Unit { number, name, field, .. } in &units {
            self.w.open(format!("case {number}:"));
            let c = format!("{name}_at(core, v->slot)");
            self.w.line(format!("carrick_tx_sent(&{c}->tx__, v->round);"));
            self.w.line(format!("carrick_tx_vacate(&{c}->tx__, &core->{field}_tx_pool, v->slot);"));
            self.w.line(format!("if (!{c}->tx__.pending && !{c}->live__)\n    {name}_release(core, {c});"));
            self.w.close_case("break;");
        }
        self.w.close_switch();
        self.w.end();
    }

    /// In a generate function: `e`, the entry behind the last one.
    pub(crate) fn queue_entry(&mut self) {
        let queued = self.queued();
        let queued = queued.strip_prefix('(').and_then(|q| q.strip_suffix(')')).unwrap_or(queued);
        self.w.open(format!("if ({queued} == {QUEUE}) {{"));
        self.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
        self.w.line("return NULL;");
        self.w.close("}");
        self.take_entry();
    }

    /// The payload's bytes, from the unit's ring, where `done` of them are out; their sum falls off where a checksum
    /// wants it, under this condition.
    pub(crate) fn payload_octets(&mut self, done: &str, summed: Option<&str>) {
        if self.units_sent().is_empty() && !self.has_memory() {
            return; // no data units, no payload
        }
        self.w.open("if (payload_len) {");
        self.w.line("uint64_t mask = 0;");
        let ring = self.names.own("payload_ring");
        self.w.line(format!("const uint8_t *ring = {ring}(core, &bp->payload__, &mask);"));
        let read = format!("ring, mask, bp->payload__.offset + {done}, p + header_len, payload_len");
        self.w.line(match summed {
            Some(when) => format!("payload_sum = carrick_ring_read_sum({read}, {when});"),
            None => format!("carrick_ring_read({read});"),
        });
        self.w.close("}");
    }

    /// Whether the program wants to know of packets that they are out.
    pub fn has_sent(&self) -> bool {
        self.p.events.iter().any(|e| e.kind == EventKind::Sent)
    }

    /// Runs the sent event of an entry that is out.
    pub(crate) fn sent_function(&mut self) {
        self.open_on_core(
            "CARRICK_UNUSED static inline void ",
            "sent",
            &format!(
                ", uint32_t sent, CARRICK_UNUSED uint64_t handle, struct {} *e",
                self.names.own("brought")
            ),
        );
        self.w.open("switch (sent) {");
        for (index, event) in self.p.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Sent) {
            let Some(chain) = &self.p.chains[index] else { continue };
            let own = self.names.own(&event.name);
            self.w.open(format!("case {}: {{", index + 1));
            match chain.context {
                Some(ctx) => {
                    let ctx_def = &self.p.contexts[ctx.index()];
                    let ctx_own = self.names.own(&ctx_def.name);
                    let ctx_ty = self.names.declared(&ctx_def.name);
                    self.w.line(format!("struct {ctx_ty} *c = {ctx_own}_by_handle(core, handle);"));
                    self.w.line(format!("if (c)\n    e->event.{}_.flow__ = c->id__;", event.name));
                    self.w.line(format!("{own}_run(core, c, &e->event.{}_);", event.name));
                }
                None => self.w.line(format!("{own}_run(core, &e->event.{}_);", event.name)),
            }
            self.w.line("break;");
            self.w.close("}");
        }
        self.w.close_switch();
        self.w.end_with("(void)e;");
    }

    pub(crate) fn tx_function(&mut self) {
        let core_name = self.names.own("core");
        self.open_own(
            "static uint32_t ",
            "tx",
            "struct carrick_core *opaque, uint8_t *out, uint32_t cap, uint64_t now",
        );
        self.w.line(format!("struct {core_name} *core = (struct {core_name} *)opaque;"));
        self.w.line("core->now = carrick_max64(core->now, now);");
        self.leaving();
        if self.events_wait() {
            self.w.line(format!("(void){}(core);", self.names.own("handle_waiting")));
        }
        self.open_queue_loop();
        self.w.line("uint32_t len = 0;");
        self.w.line("core->last = true;");
        if self.has_joined() {
            self.w.line("core->segment = 0;");
        }
        self.w.line(format!("struct {} payload = {{0}};", self.names.own("payload")));
        self.w.open("switch (e->kind) {");
        for (index, bp) in self.p.blueprints.iter().enumerate().filter(|(_, bp)| !bp.frame) {
            let own = self.names.own(&bp.name);
            self.w.open(format!("case {index}:"));
            self.w.line(format!("len = {own}_packet(core, e, out, cap);"));
            if bp.frames.is_some() {
                self.w.line(format!("if (core->last)\n    {own}_frames_sent(core, &e->bp.{}_);", bp.name));
            } else {
                self.w.line(format!("payload = e->bp.{}_.payload__;", bp.name));
            }
            self.w.close_case("break;");
        }
        self.w.close_switch();
        self.packet_made();
        self.w.line(format!("if (payload.len)\n    {}(core, &payload);", self.names.own("payload_sent")));
        if self.has_sent() {
            self.w.open("if (e->sent) {");
            self.w.line(format!("struct {} brought = e->brought;", self.names.own("brought")));
            self.w.line(format!("{}(core, e->sent, e->handle, &brought);", self.names.own("sent")));
            self.w.close("}");
        }
        self.w.close("}");
        self.w.line("if (len)\n    return len;");
        self.w.close("}");
        self.w.end_with("return 0;");
    }
}
