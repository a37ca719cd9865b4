// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets whose payload is frames: they are put together in memory of the processor's own, frame by frame, and then brought
//! into whatever frame of the device is free.

use carrick_ir::{BpId, ContextDef, Frames, Opcode};

use crate::Emitter;

impl Emitter<'_> {
    /// What says of a payload that it is octets that were put together: the number after those of all contexts.
    fn put_together(&self) -> usize {
        self.p.contexts.len() + 1
    }

    /// Whether packets have payloads.
    pub(super) fn sends_payloads(&self) -> bool {
        self.sends_units() || self.makes_frames()
    }

    fn units_sent(&self) -> impl Iterator<Item = (usize, &ContextDef)> {
        self.p.contexts.iter().enumerate().filter(|(_, c)| c.tx_capacity.is_some())
    }

    /// The frames of a packet that can have a payload.
    fn with_payload(&self, frames: &Frames) -> Vec<(BpId, String)> {
        let of = |id: &BpId| (*id, &self.p.blueprints[id.index()]);
        let members = frames.members.iter().map(of).filter(|(_, bp)| bp.payload_name.is_some());
        members.map(|(id, bp)| (id, bp.name.clone())).collect()
    }

    /// Members of the core.
    pub(super) fn put_members(&mut self) {
        if self.makes_frames() {
            self.w.line("uint32_t laid;  /* octets of frames that are put together */");
            self.w.line("uint32_t space; /* how many more there can be */");
            self.w.line("uint32_t any;   /* 1: some are */");
        }
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

    /// What is done with payloads of frames.
    pub(super) fn frame_payloads(&mut self) {
        if !self.makes_frames() {
            return;
        }
        let (core, of) = (self.names.own("core"), self.names.own("payload"));
        self.w.line("/* Cuts a payload to what its unit holds: how many octets that is. */");
        let head = |name: &str| format!("CARRICK_APART int {name}(struct {core} *core, struct {of} *v) {{");
        self.w.open(head(&self.names.own("payload_cut")));
        self.w.line("CARRICK_GIVEN(core && v);");
        self.w.line(format!("struct {of} payload = *v;"));
        self.unit_of_payload();
        self.w.open("if (unit) {");
        self.w.line("carrick_tx_settle(unit);");
        self.cut_to_unit();
        self.w.close("}");
        self.w.line("if (!unit || !payload.len)\n    memset(&payload, 0, sizeof payload);");
        self.w.line("*v = payload;");
        self.w.end_with("return (int)payload.len;");
        self.w.line("/* Takes note that a payload waits. */");
        self.w.open(head(&self.names.own("payload_waits")));
        self.w.line("CARRICK_GIVEN(core && v);");
        self.w.line(format!("struct {of} payload = *v;"));
        self.unit_of_payload();
        self.w.line("if (unit)\n    v->round = carrick_tx_queued(unit, payload.offset);");
        self.w.end_with("return 0;");
        self.w.line("/* The last packet with a payload is made. */");
        self.w.open(head(&self.names.own("payload_sent")));
        self.w.line("if (!core || !v || !v->len)\n    return 0;");
        let units: Vec<_> = self.units_sent().map(|(n, c)| (n, self.names.own(&c.name))).collect();
        for (number, name) in units {
            self.w
                .line(format!("if (v->type == {})\n    {name}_tx_out(core, v->slot, v->round);", number + 1));
        }
        self.w.end_with("return 0;");
        self.lay_functions();
    }

    /// Puts octets behind those that are put together.
    fn lay_functions(&mut self) {
        self.w.line("/* What is put together on this processor. */");
        self.w.open("CARRICK_INLINE struct carrick_laid *carrick_laid_here(void) {");
        self.w.line("uint32_t only = 0;");
        self.w.end_with("return bpf_map_lookup_elem(&carrick_laid, &only);");
        let core = self.names.own("core");
        self.w.line("/* Puts `core->payload` there. */");
        self.w.open(format!("CARRICK_APART int {}(struct {core} *core) {{", self.names.own("lay_payload")));
        self.w.line("struct carrick_laid *laid = carrick_laid_here();");
        self.w.line("CARRICK_GIVEN(core && laid);");
        let units: Vec<usize> = self.units_sent().map(|(number, _)| number).collect();
        for number in units {
            let memory = self.memory_name(number);
            let ring = self.tx_ring(number);
            self.w.open(format!("if (core->payload.type == {}) {{", number + 1));
            self.w.line("uint32_t slot = core->payload.slot;");
            self.w.line(format!("struct {memory} *m = bpf_map_lookup_elem(&memory_{number}, &slot);"));
            self.w.line("if (!m)\n    return 0;");
            self.w.line(format!("uint64_t place = core->payload.offset & ({ring}u - 1);"));
            self.w.line(format!("uint64_t first = carrick_min64(core->payload.len, {ring}u - place);"));
            self.w.line("carrick_lay(laid, core->laid, m->octets + place, first);");
            self.w.line("carrick_lay(laid, core->laid + first, m->octets, core->payload.len - first);");
            self.w.close("}");
        }
        self.w.line("core->laid += (uint32_t)core->payload.len;");
        self.w.end_with("return 0;");
        self.w.line("/* Puts a header there that was written. */");
        self.w.open(format!(
            "CARRICK_APART int {}(struct {core} *core, uint32_t len) {{",
            self.names.own("lay_header")
        ));
        self.w.line("struct carrick_laid *laid = carrick_laid_here();");
        self.w.line("CARRICK_GIVEN(core && laid);");
        self.w.line("carrick_lay(laid, core->laid, core->out + CARRICK_BEGIN, len);");
        self.w.line("core->laid += len;");
        self.w.end_with("return 0;");
    }

    /// For each payload of the frames of `bp`: a call on it.
    fn each_payload_at(&mut self, frames: &Frames, bp: &str, call: &str) {
        let (most, members) = (frames.most, self.with_payload(frames));
        if members.is_empty() {
            return;
        }
        self.w.open(format!(
            "for (uint32_t i = 0; i < {most}u && i < CARRICK_READ({bp}->frames__.count); i++) {{"
        ));
        self.w.line(format!("uint64_t at = carrick_at(i, {most}u);"));
        self.w.line(format!("uint32_t kind = {bp}->frames__.at[at].kind;"));
        for (id, name) in members {
            self.w.line(format!("if (kind == {})", id.0));
            self.w.line(format!(
                "    {};",
                call.replace('@', &format!("&{bp}->frames__.at[at].u.{name}_.payload__"))
            ));
        }
        self.w.close("}");
    }

    /// `pkt_gen` of a packet of frames: a copy waits.
    pub(super) fn generate_frames(&mut self, index: usize, frames: &Frames) {
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry) = (self.names.own("core"), self.names.own("entry"));
        self.w.open(format!(
            "CARRICK_APART int {name}_generate(struct {core} *core, const struct {ty} *bp, uint64_t rules, uint32_t sent{}) {{",
            self.number_param()
        ));
        self.w.line("CARRICK_GIVEN(core && bp);");
        self.w.line("CARRICK_OPAQUE(sent);");
        self.w.line("CARRICK_OPAQUE(rules);");
        self.w
            .line(format!("CARRICK_UNUSED const struct {} *chain = &core->chain;", self.names.own("chain")));
        self.w.line("CARRICK_UNUSED const bool alone = false;");
        self.w.line("CARRICK_UNUSED uint64_t octets = 0;");
        self.w.line("uint32_t only = 0;");
        self.choose_queue();
        self.reserve("there", "1");
        self.w
            .line(format!("struct {entry} *e = there ? there : bpf_map_lookup_elem(&carrick_spare, &only);"));
        self.w.line("CARRICK_GIVEN(e);");
        self.w.line(format!("struct {ty} *copy = &e->bp.{}_;", bp.name));
        self.w.line("CARRICK_COPY(copy, bp);");
        let cut = format!("octets += (uint32_t){}(core, @)", self.names.own("payload_cut"));
        self.each_payload_at(frames, "copy", &cut);
        self.trace_instr(Opcode::PktGen, &[&format!("{index}u"), "0", "octets", "copy->frames__.count"]);
        self.w.open("if (!there) {");
        self.no_place();
        self.w.close("}");
        self.chosen("1");
        self.entry_begins(index);
        self.w.line("e->frame = 0;");
        self.w.line("e->frame_done = 0;");
        let waits = format!("(void){}(core, @)", self.names.own("payload_waits"));
        self.each_payload_at(frames, "copy", &waits);
        self.entry_is_there();
        self.w.end_with("return 0;");
    }

    /// Puts one frame of a packet.
    pub(super) fn put_in_kernel(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry) = (self.names.own("core"), self.names.own("entry"));
        self.w.line("/* Puts the frame, or the next piece of it, behind the others: 0 if it does not fit, 1 if it is out, 2 if more is to come. */");
        self.w.open(format!(
            "CARRICK_APART int {name}_put(struct {core} *core, struct {entry} *e, const struct {ty} *bp) {{"
        ));
        self.w.line("CARRICK_GIVEN(core && e && bp);");
        self.w.line(format!("const struct {ty} *h = bp;"));
        let longest = self.longest_header(bp);
        self.w.line(format!("uint32_t header_len = {longest}, space = core->space;"));
        self.w.line("uint64_t whole = bp->payload__.len, most = space - header_len;");
        self.w.line("if (header_len + (whole ? 1u : 0u) > space)\n    return 0;");
        self.w.line("if (bp->payload__.mss && bp->payload__.mss < most)\n    most = bp->payload__.mss;");
        self.w.line("uint64_t payload_len = carrick_min64(most, whole - e->frame_done);");
        self.w.line("bool last = e->frame_done + payload_len == whole;");
        self.w.line("core->space = space - header_len - (uint32_t)payload_len;");
        self.w.line("core->payload = bp->payload__;");
        self.w.line("core->payload.offset += e->frame_done;");
        self.w.line("core->payload.len = payload_len;");
        self.cut(index, "payload_len < whole", "e->frame_done == 0", "piece");
        if !bp.parts.is_empty() {
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
        }
        self.w.line("uint8_t *p = core->out + CARRICK_BEGIN;");
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        self.w.line(format!("(void){}(core, header_len);", self.names.own("lay_header")));
        if bp.payload_name.is_some() {
            self.w.line(format!("if (payload_len)\n    (void){}(core);", self.names.own("lay_payload")));
            self.trace_payload(index);
        }
        self.w.line("e->frame_done = last ? 0 : e->frame_done + payload_len;");
        self.w.line("e->frame += last;");
        self.w.line("core->any = 1;");
        self.w.end_with("return last ? 1 : 2;");
    }

    /// Puts as many frames of an entry as fit.
    fn put_each(&mut self, index: usize, frames: &Frames) {
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry, most) = (self.names.own("core"), self.names.own("entry"), frames.most);
        self.w.open(format!("CARRICK_APART int {name}_put_each(struct {core} *core, struct {entry} *e) {{"));
        self.w.line("CARRICK_GIVEN(core && e);");
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_;", bp.name));
        self.w.open(format!(
            "for (uint32_t turn = 0; turn < {most}u && CARRICK_READ(e->frame) < bp->frames__.count; turn++) {{"
        ));
        self.w.line(format!("uint64_t at = carrick_at(CARRICK_READ(e->frame), {most}u);"));
        self.w.line("uint32_t kind = bp->frames__.at[at].kind;");
        self.w.line("int put = 0;");
        for member in &frames.members {
            let frame = &self.p.blueprints[member.index()];
            let own = self.names.own(&frame.name);
            self.w.line(format!("if (kind == {})", member.0));
            self.w.line(format!("    put = {own}_put(core, e, &bp->frames__.at[at].u.{}_);", frame.name));
        }
        self.w.line("if (put != 1)\n    break;");
        self.w.close("}");
        self.w.end_with("return 0;");
    }

    /// The next packet of an entry of frames, in `core->out` and behind it what is put together.
    pub(super) fn framed_in_kernel(&mut self, index: usize, frames: &Frames) {
        self.put_each(index, frames);
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry) = (self.names.own("core"), self.names.own("entry"));
        self.w.open(format!("CARRICK_APART int {name}_packet(struct {core} *core, struct {entry} *e) {{"));
        self.w.line("CARRICK_GIVEN(core && e);");
        self.w.line(format!("struct {ty} *bp = &e->bp.{}_;", bp.name));
        self.w.line(format!("const struct {ty} *h = bp;"));
        let longest = self.longest_header(bp);
        self.w.line(format!("uint32_t header_len = {longest}, headers = CARRICK_IP_HEADER + header_len;"));
        self.w.line("uint64_t all = carrick_min64(core->mtu, CARRICK_FRAME_MAX);");
        self.w.line("core->laid = 0;");
        self.w.line("core->whole = 0;");
        self.w.line("core->space = headers <= all ? (uint32_t)all - headers : 0;");
        self.w.line("core->any = headers <= all && bp->frames__.count == 0;");
        self.w.line(format!("if (headers <= all)\n    (void){name}_put_each(core, e);"));
        self.w.line("bool last = !CARRICK_READ(core->any) || e->frame == bp->frames__.count;");
        self.w.line("core->last = last;");
        let sent = format!("(void){}(core, @)", self.names.own("payload_sent"));
        self.w.open("if (last) {");
        self.each_payload_at(frames, "bp", &sent);
        self.w.close("}");
        self.w.line("memset(&core->payload, 0, sizeof core->payload);");
        self.w.open("if (!CARRICK_READ(core->any)) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_TOO_LONG]++;");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("uint64_t payload_len = CARRICK_READ(core->laid);");
        self.w.line("core->payload.len = payload_len;");
        self.w.line(format!("core->payload.type = {};", self.put_together()));
        self.cut(index, "e->done != 0 || !last", "e->done == 0", "cut");
        if !bp.parts.is_empty() {
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
            self.w.line("headers = CARRICK_IP_HEADER + header_len;");
        }
        self.packet_is_written(index);
        self.w.line("e->done++;");
        self.w.end_with("return (int)headers;");
    }

    /// In the functions on the payload of the packet that was made: where it was put together.
    pub(super) fn if_put_together(&mut self, done: &str) {
        if !self.makes_frames() {
            return;
        }
        self.w.open(format!("if (core->payload.type == {}) {{", self.put_together()));
        self.w.line("struct carrick_laid *laid = carrick_laid_here();");
        self.w.line(format!("return laid ? {done} : 0;"));
        self.w.close("}");
    }
}
