// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blueprint queue: filling it, and making packets of it.

use carrick_ir::{BlueprintDef, BpFieldKind, EventKind, NetLayer, Opcode};

use crate::Emitter;
use crate::blueprint::{sums_payload, tail};
use crate::core_struct::QUEUE;
use crate::header::{outside, sum_of_fields};
use crate::names::safe;

impl Emitter<'_> {
    pub(crate) fn queue_functions(&mut self) {
        self.unit_lookup();
        self.payload_cut();
        self.payload_queued();
        self.block_functions();
        self.newest_functions();
        for index in 0..self.p.blueprints.len() {
            self.generate_function(index);
        }
    }

    /// The TX unit of a payload, and its ring.
    fn unit_lookup(&mut self) {
        let core = self.core_param();
        let (name, payload) = (self.names.own("payload_unit"), self.names.own("payload"));
        self.w.line("/* The TX unit that a payload is of, and the ring that holds its octets; NULL if it is of none. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline struct carrick_tx *{name}({core}, const struct {payload} *v, CARRICK_UNUSED const uint8_t **ring, CARRICK_UNUSED uint64_t *mask) {{"
        ));
        self.w.open("switch (v->type) {");
        for (index, ctx) in self.p.contexts.iter().enumerate().filter(|(_, c)| c.tx_capacity.is_some()) {
            let field = &ctx.name;
            self.w.open(format!("case {}:", index + 1));
            self.w.line(format!("*mask = core->{field}_tx_mask;"));
            self.w.line(format!("*ring = core->{field}_tx_rings + v->slot * (*mask + 1);"));
            self.w.close_case(&format!("return &core->{field}_slots[v->slot].tx__;"));
        }
        if self.has_memory() {
            self.w.open(format!("case {}:", self.memory_type()));
            self.w.line("*mask = UINT64_MAX >> 1;");
            self.w.line("*ring = v->ptr;");
            self.w.close_case("return NULL;");
        }
        self.w.line("default:\n    return NULL;");
        self.w.close("}");
        self.w.end();
        let name = self.names.own("payload_sent");
        self.w.line("/* The last packet of a payload is out: its octets may be overwritten, and a slot that only waited for it is free. */");
        self.w
            .open(format!("CARRICK_UNUSED static inline void {name}({core}, const struct {payload} *v) {{"));
        self.w.open("switch (v->type) {");
        for (index, ctx) in self.p.contexts.iter().enumerate().filter(|(_, c)| c.tx_capacity.is_some()) {
            let (field, own) = (&ctx.name, self.names.own(&ctx.name));
            self.w.open(format!("case {}:", index + 1));
            self.w.line(format!("carrick_tx_sent(&core->{field}_slots[v->slot].tx__, v->round);"));
            self.w.line(format!(
                "if (!core->{field}_slots[v->slot].tx__.pending && !core->{field}_slots[v->slot].live__)"
            ));
            self.w.line(format!("    {own}_release(core, &core->{field}_slots[v->slot]);"));
            self.w.close_case("break;");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.end();
    }

    fn generate_function(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        if let Some(frames) = &bp.frames {
            return self.generate_framed(index, bp, frames);
        }
        if bp.frame {
            return;
        }
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (entry, chain, payload) =
            (self.names.own("entry"), self.names.own("chain"), self.names.own("payload"));
        let core = self.core_param();
        self.w.line("/* pkt_gen: queues a copy; NULL if the queue is full. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline struct {entry} *{name}_generate({core}, const struct {chain} *chain, const struct {ty} *bp, uint64_t rules{}) {{",
            self.queue_param()
        ));
        self.queue_of_number();
        self.w.line(format!("struct {payload} payload = bp->payload__;"));
        self.w.line("const uint8_t *ring = NULL;\nuint64_t mask = 0;");
        self.w.line(format!(
            "struct carrick_tx *unit = payload.len ? {}(core, &payload, &ring, &mask) : NULL;",
            self.names.own("payload_unit")
        ));
        self.w.open("if (unit) {");
        self.cut_to_unit();
        self.w.close("}");
        self.cut_memory("payload.");
        let memory = if self.has_memory() {
            format!("(!unit && payload.type != {})", self.memory_type())
        } else {
            "!unit".into()
        };
        self.w.line(format!("if ({memory} || !payload.len)"));
        self.w.line(format!("    payload = (struct {payload}){{0}};"));
        self.trace_instr(
            Opcode::PktGen,
            &[&format!("{index}u"), "payload.offset", "payload.len", "payload.mss"],
        );
        self.coalesce(index, bp);
        self.queue_entry(index);
        self.w.line(format!("e->bp.{}_ = *bp;", bp.name));
        self.w.line(format!("e->bp.{}_.payload__ = payload;", bp.name));
        self.w.line(if self.has_memory() { "if (unit && payload.len)" } else { "if (payload.len)" });
        self.w.line(format!(
            "    e->bp.{}_.payload__.round = carrick_tx_queued(unit, payload.offset);",
            bp.name
        ));
        self.w.end_with("return e;");
    }

    /// In a generate function: `payload` is cut to what `unit` holds.
    pub(crate) fn cut_to_unit(&mut self) {
        self.w.line("uint64_t from = carrick_max64(payload.offset, unit->reclaimed), to = payload.len > UINT64_MAX - payload.offset ? UINT64_MAX : payload.offset + payload.len;");
        self.w.line("uint64_t end = carrick_min64(to, unit->end), len = end > from ? end - from : 0;");
        self.w.line("if (!unit->open)\n    core->counters[CARRICK_COUNT_NO_UNIT]++;");
        self.w.line("else if (len != payload.len)\n    core->counters[CARRICK_COUNT_PAYLOAD_CUT]++;");
        self.w.line("payload.offset = from;");
        self.w.line("payload.len = unit->open ? len : 0;");
    }

    /// In a generate function: `e`, the entry behind the last one.
    pub(crate) fn queue_entry(&mut self, index: usize) {
        let queued = self.queued();
        let queued = queued.strip_prefix('(').and_then(|q| q.strip_suffix(')')).unwrap_or(queued);
        self.w.open(format!("if ({queued} == {QUEUE}) {{"));
        self.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
        self.w.line("return NULL;");
        self.w.close("}");
        self.take_entry();
        self.w.line(format!("e->kind = {index};"));
        self.w.line("e->sent = 0;");
        self.w.line("e->rules = rules;");
        self.w.line("e->done = 0;");
        self.w.line("e->handle = chain->handle;");
        self.note_newest();
    }

    pub(crate) fn tx_functions(&mut self) {
        for (index, bp) in self.p.blueprints.iter().enumerate().filter(|(_, bp)| bp.frame) {
            if self.makes_frames() {
                self.put_function(index, bp);
            }
        }
        for (index, bp) in self.p.blueprints.iter().enumerate().filter(|(_, bp)| !bp.frame) {
            match &bp.frames {
                Some(frames) => self.framed_packet(index, bp, frames),
                None => self.packet_function(index),
            }
        }
        self.sent_function();
        self.tx_function();
    }

    /// Makes the next packet of an entry, straight from the blueprint; only a payload in several packets needs a copy
    /// of the header, which the segmentation rules change from packet to packet.
    fn packet_function(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let core = self.core_param();
        self.w.line("/* The next packet of an entry: its length, 0 if it fits neither buffer nor MTU; `last` if no other follows. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {name}_packet({core}, struct {} *e, uint8_t *out, uint32_t cap, bool *ends) {{",
            self.names.own("entry")
        ));
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_, *h = bp;", bp.name));
        self.memory_of_packet();
        let length = if bp.parts.is_empty() {
            format!("{name}_header_len(bp)")
        } else {
            format!("{name}_header_room(core, bp)")
        };
        self.w.line(format!(
            "uint32_t header_len = {length}, headers = {}header_len{};",
            self.net_and(),
            tail(bp)
        ));
        self.w
            .line("uint64_t mss = core->mtu > headers ? core->mtu - headers : 0, whole = bp->payload__.len;");
        if bp.payload_align > 1 {
            self.w.line(format!("mss -= mss % {};", bp.payload_align));
        }
        self.w.line("if (bp->payload__.mss && bp->payload__.mss < mss)\n    mss = bp->payload__.mss;");
        self.w.line("uint64_t payload_len = carrick_min64(mss, whole - e->done);");
        self.w.line("bool last = e->done + payload_len == whole;");
        self.w.line("*ends = last || (whole && !mss);");
        self.padding(bp);
        let padded = if bp.payload_align > 1 { " + padding" } else { "" };
        self.w.open(format!(
            "if ((whole && !mss) || headers > core->mtu || headers + payload_len{padded} > cap) {{"
        ));
        self.w.line("core->counters[CARRICK_COUNT_TX_TOO_LONG]++;");
        self.w.line("e->done += payload_len;");
        self.w.line("return 0;");
        self.w.close("}");
        self.cut(index, "payload_len < whole", "e->done == 0", "cut");
        if !bp.parts.is_empty() {
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
            self.w.line(format!("headers = {}header_len{};", self.net_and(), tail(bp)));
        }
        self.check_ranges(bp, &["e->done += payload_len;", "return 0;"]);
        self.w.line(format!("uint8_t *p = out{};", self.plus_net()));
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        if sums_payload(bp) {
            self.w.line("uint64_t payload_sum = 0;");
        }
        self.payload_octets("e->done", sums_payload(bp), index);
        self.pad(bp);
        self.finish_packet(bp);
        let out = if bp.payload_align > 1 { "payload_len - padding" } else { "payload_len" };
        self.w.line(format!("e->done += {out};"));
        self.w.end_with("return (uint32_t)(headers + payload_len);");
    }

    /// A packet with a field outside of its range is not made: this is done instead.
    pub(crate) fn check_ranges(&mut self, bp: &BlueprintDef, instead: &[&str]) {
        let wrong: Vec<String> = bp
            .fixed_fields()
            .iter()
            .filter_map(|field| {
                let value = match &field.kind {
                    BpFieldKind::Computed(e) => self.header_expr(e, bp, "h->"),
                    _ => format!("h->{}", safe(&field.name)),
                };
                outside(field, &value)
            })
            .collect();
        if wrong.is_empty() {
            return;
        }
        self.w.open(format!("if ({}) {{", wrong.join(" || ")));
        self.w.line("core->counters[CARRICK_COUNT_TX_BAD_FIELD]++;");
        instead.iter().for_each(|line| self.w.line(*line));
        self.w.close("}");
    }

    /// What is filled in when header and payload are there.
    pub(crate) fn finish_packet(&mut self, bp: &BlueprintDef) {
        self.fill_in(bp);
        if self.p.in_network.is_some() {
            self.w.line("core->store.left_by = h->net__.interface > 1 ? 1 : h->net__.interface;");
        }
    }

    /// The same, and nothing else.
    pub(crate) fn fill_in(&mut self, bp: &BlueprintDef) {
        self.crc_fill(bp);
        self.checksums(bp);
        if self.p.net_header.layer == NetLayer::Link {
            return self.w.line("core->counters[CARRICK_COUNT_TX_PACKETS]++;");
        }
        self.w.line(format!(
            "carrick_ip_build(out, &h->net__, (uint32_t)(header_len + payload_len{}), core->identification++);",
            tail(bp)
        ));
        self.w.line("core->counters[CARRICK_COUNT_TX_PACKETS]++;");
    }

    /// The payload's octets, from the unit's ring, where `done` of them are out; their sum falls off where a checksum
    /// wants it.
    pub(crate) fn payload_octets(&mut self, done: &str, summed: bool, index: usize) {
        if self.p.contexts.iter().all(|c| c.tx_capacity.is_none()) && !self.has_memory() {
            return; // no data units, no payload
        }
        self.w.open("if (payload_len) {");
        self.w.line("const uint8_t *ring = NULL;");
        self.w.line("uint64_t mask = 0;");
        self.w.line(format!("(void){}(core, &bp->payload__, &ring, &mask);", self.names.own("payload_unit")));
        let read = if summed { "payload_sum = carrick_ring_read_sum" } else { "carrick_ring_read" };
        self.w
            .line(format!("{read}(ring, mask, bp->payload__.offset + {done}, p + header_len, payload_len);"));
        self.trace_segment(done, index);
        self.w.close("}");
    }

    /// Of a unit its handle, of memory the request, if that is not one that the program may write to.
    fn trace_segment(&mut self, done: &str, index: usize) {
        // The unit's context may not be that of the chain that issued the blueprint.
        let contexts: Vec<(usize, String, String)> = self
            .p
            .contexts
            .iter()
            .enumerate()
            .filter(|(_, c)| c.tx_capacity.is_some())
            .map(|(i, c)| (i, c.name.clone(), self.names.own(&c.name)))
            .collect();
        self.w.line("#ifdef CARRICK_TRACE");
        self.w.line(format!("uint64_t segment[4] = {{0, bp->payload__.offset + {done}, payload_len, 0}};"));
        for (index, field, own) in contexts {
            self.w.line(format!("if (bp->payload__.type == {})", index + 1));
            self.w.line(format!("    segment[0] = {own}_handle(&core->{field}_slots[bp->payload__.slot]);"));
        }
        self.segment_of_memory();
        self.w.line("if (core->trace)");
        self.w
            .line(format!("    core->trace(core->trace_user, CARRICK_TRACE_SEGMENT, {index}u, segment, 4);"));
        self.w.line("#endif");
    }

    /// In a function that makes one of several packets, or frames, of a blueprint, if it is `when`: what the segmentation
    /// rules make of the last one, which is kept in that union of the entry, is `h`.
    pub(crate) fn cut(&mut self, index: usize, when: &str, is_first: &str, union: &str) {
        if self.p.seg_rules.iter().all(|rule| rule.blueprint.index() != index) {
            return;
        }
        let bp = &self.p.blueprints[index];
        self.w.open(format!("if ({when}) {{"));
        self.w.line(format!("struct {} *cut = &e->{union}.{}_;", self.names.declared(&bp.name), bp.name));
        self.w.open(format!("if ({is_first}) {{"));
        self.w.line("CARRICK_COPY(cut, bp);");
        if bp.frame || bp.frames.is_some() {
            self.w.line("cut->payload__.len = 0;");
        }
        self.w.close("}");
        self.apply_rules(index, is_first);
        self.w.line("cut->payload__.len = payload_len;");
        self.w.line("h = cut;");
        self.w.close("}");
    }

    /// All rules see the packet before as it was, so that their values are found before any is set.
    fn apply_rules(&mut self, index: usize, is_first: &str) {
        let bp = &self.p.blueprints[index];
        let rules: Vec<_> =
            self.p.seg_rules.iter().enumerate().filter(|(_, r)| r.blueprint.index() == index).collect();
        self.w.line(format!("const struct {} *prev = cut;", self.names.declared(&bp.name)));
        for (number, rule) in &rules {
            let field = &bp.fields[rule.field as usize];
            let c = self.names.ctype(&field.ty);
            let [first, mid, last] =
                [&rule.first, &rule.mid, &rule.last].map(|e| self.header_expr(e, bp, "bp->"));
            let later = if mid == last { mid } else { format!("last ? {last} : {mid}") };
            // Of two rules of one field, that which the packet has counts.
            let before = rules.iter().rev().find(|(n, other)| n < number && other.field == rule.field);
            let otherwise =
                before.map_or_else(|| format!("bp->{}", safe(&field.name)), |(n, _)| format!("rule_{n}"));
            self.w.line(format!(
                "{c} rule_{number} = e->rules & {}u ? ({c})({is_first} ? {first} : {later}) : {otherwise};",
                1_u64 << number,
            ));
        }
        for (number, rule) in &rules {
            let field = safe(&bp.fields[rule.field as usize].name);
            self.w.line(format!("cut->{field} = rule_{number};"));
        }
    }

    /// The sum of the payload was made when it was copied; the header's comes last, when its stores are through.
    fn checksums(&mut self, bp: &BlueprintDef) {
        for field in &bp.fields {
            let BpFieldKind::Checksum { pseudo, header, payload, fields } = field.kind else { continue };
            let tail = tail(bp);
            let of_fields = sum_of_fields(bp, fields);
            let covered = match (header, payload) {
                _ if fields.is_some() => of_fields.as_str(),
                (true, true) => "carrick_sum_join(carrick_sum(p, header_len), header_len, payload_sum)",
                (true, false) => "carrick_sum(p, header_len)",
                (false, true) => "payload_sum",
                (false, false) => "0",
            };
            let sum = if pseudo {
                format!(
                    "carrick_sum_pseudo(h->net__.src, h->net__.dst, h->net__.protocol, (uint32_t)(header_len + payload_len{tail})) + {covered}"
                )
            } else {
                covered.to_owned()
            };
            self.w.line(format!("carrick_store_sum(p + {}, {sum});", field.bit_offset / 8));
        }
    }

    /// Runs the sent event of an entry that is out.
    fn sent_function(&mut self) {
        let core = self.core_param();
        self.w.open(format!(
            "CARRICK_UNUSED static inline void {}({core}, uint32_t sent, CARRICK_UNUSED uint64_t handle, struct {} *e) {{",
            self.names.own("sent"),
            self.names.own("entry")
        ));
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
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.end_with("(void)e;");
    }

    fn tx_function(&mut self) {
        let (entry, core_name) = (self.names.own("entry"), self.names.own("core"));
        let has_sent = self.p.events.iter().any(|e| e.kind == EventKind::Sent);
        self.w.open(format!(
            "static uint32_t {}(struct carrick_core *opaque, uint8_t *out, uint32_t cap, uint64_t now) {{",
            self.names.own("tx")
        ));
        self.w.line(format!("struct {core_name} *core = (struct {core_name} *)opaque;"));
        self.w.line("core->now = carrick_max64(core->now, now);");
        self.leaving();
        if self.events_wait() {
            self.w.line(format!("(void){}(core);", self.names.own("handle_waiting")));
        }
        self.open_queue_loop();
        self.w.line("uint32_t len = 0;");
        self.w.line("bool last = true;");
        self.w.line(format!("struct {} payload = {{0}};", self.names.own("payload")));
        self.w.open("switch (e->kind) {");
        for (index, bp) in self.p.blueprints.iter().enumerate().filter(|(_, bp)| !bp.frame) {
            let own = self.names.own(&bp.name);
            self.w.open(format!("case {index}:"));
            self.w.line(format!("len = {own}_packet(core, e, out, cap, &last);"));
            if bp.frames.is_some() {
                self.w.line(format!("if (last)\n    {own}_frames_sent(core, &e->bp.{}_);", bp.name));
            } else {
                self.w.line(format!("payload = e->bp.{}_.payload__;", bp.name));
            }
            self.w.close_case("break;");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.packet_made();
        self.w.line(format!("if (payload.len)\n    {}(core, &payload);", self.names.own("payload_sent")));
        if has_sent {
            self.w.open("if (e->sent) {");
            self.w.line(format!("struct {entry} done;"));
            self.w.line("done.event = e->event;");
            self.w.line(format!("{}(core, e->sent, e->handle, &done);", self.names.own("sent")));
            self.w.close("}");
        }
        self.w.close("}");
        self.w.line("if (len)\n    return len;");
        self.w.close("}");
        self.w.end_with("return 0;");
    }
}
