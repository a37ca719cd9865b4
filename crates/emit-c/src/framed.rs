// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets whose payload is frames: queueing them, and putting as many frames into a packet as fit.

use carrick_ir::{BlueprintDef, BpId, Frames, LocalId, Opcode, Stmt, Ty};

use crate::Emitter;
use crate::blueprint::{sums_payload, tail};

impl Emitter<'_> {
    /// Whether any packet is made of frames.
    pub(crate) fn makes_frames(&self) -> bool {
        self.p.blueprints.iter().any(|bp| bp.frames.is_some())
    }

    fn frame_members(&self, frames: &Frames) -> Vec<(BpId, &BlueprintDef)> {
        frames.members.iter().map(|m| (*m, &self.p.blueprints[m.index()])).collect()
    }

    /// In the struct of a blueprint.
    pub(crate) fn frames_member(&mut self, frames: &Frames) {
        self.w.open("struct {");
        self.w.line("uint32_t count;");
        self.w.open("struct {");
        self.w.line("uint32_t kind; /* which blueprint */");
        self.w.open("union {");
        let members: Vec<String> = self
            .frame_members(frames)
            .iter()
            .map(|(_, bp)| format!("struct {} {}_;", self.names.declared(&bp.name), bp.name))
            .collect();
        for member in members {
            self.w.line(member);
        }
        self.w.close("} u;");
        self.w.close(format!("}} at[{}];", frames.most));
        self.w.close("} frames__;");
    }

    /// In the struct of a queue's entry.
    pub(crate) fn entry_frames(&mut self) {
        if !self.makes_frames() {
            return;
        }
        self.w.line("uint32_t frame;      /* which of the frames is next */");
        self.w.line("uint64_t frame_done; /* octets of its payload that are out */");
        self.w.open("union { /* of a frame in several packets: the last piece of it */");
        for bp in self.p.blueprints.iter().filter(|bp| bp.frame) {
            self.w.line(format!("struct {} {}_;", self.names.declared(&bp.name), bp.name));
        }
        self.w.close("} piece;");
    }

    /// `bp.frames.add(frame);`
    pub(crate) fn frame_add(&mut self, stmt: &Stmt, bp: LocalId, frame: LocalId) {
        let (Ty::Blueprint(packet), Ty::Blueprint(kind)) = (self.local_type(bp), self.local_type(frame))
        else {
            return;
        };
        let most = self.p.blueprints[packet.index()].frames.as_ref().map_or(0, |f| f.most);
        let (kind, name) = (kind.0, &self.p.blueprints[kind.index()].name);
        let (bp, frame) = (self.local(bp), self.local(frame));
        self.open_at(stmt, format!("if ({bp}.frames__.count < {most}u) {{"));
        let at = self.dialect.index(format!("{bp}.frames__.count"), most);
        let at = format!("{bp}.frames__.at[{at}]");
        self.line(stmt, format!("{at}.kind = {kind};"));
        self.line(stmt, format!("CARRICK_COPY(&{at}.u.{name}_, &{frame});"));
        self.line(stmt, format!("{bp}.frames__.count++;"));
        self.w.close("}");
    }

    /// For each payload of the frames of `bp`: a statement over `v`, a pointer to it.
    fn each_payload(&mut self, frames: &Frames, packet: &str, body: &str) {
        self.w.open(format!("for (uint32_t i = 0; i < {packet}->frames__.count; i++) {{"));
        self.w.line(format!("struct {} *v = NULL;", self.names.own("payload")));
        self.w.open(format!("switch ({packet}->frames__.at[i].kind) {{"));
        let members: Vec<(u32, String)> =
            self.frame_members(frames).iter().map(|(id, bp)| (id.0, bp.name.clone())).collect();
        for (kind, name) in members {
            self.w.open(format!("case {kind}:"));
            self.w.line(format!("v = &{packet}->frames__.at[i].u.{name}_.payload__;"));
            self.w.close_case("break;");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.line("if (v)");
        self.w.line(format!("    {body}"));
        self.w.close("}");
    }

    /// The functions over the payloads of a packet's frames.
    fn payload_functions(&mut self, bp: &BlueprintDef, frames: &Frames) {
        let (core, name) = (self.core_param(), self.names.own(&bp.name));
        let ty = self.names.declared(&bp.name);
        self.w
            .line("/* Cuts the payloads of the frames to what their units hold; how many octets that is. */");
        self.w.open(format!("static inline uint64_t {name}_cut({core}, struct {ty} *bp) {{"));
        self.w.line("uint64_t octets = 0;");
        self.each_payload(frames, "bp", &format!("octets += {}(core, v);", self.names.own("payload_cut")));
        self.w.end_with("return octets;");
        self.w.line("/* The last packet is out. */");
        self.w.open(format!("static inline void {name}_frames_sent({core}, struct {ty} *bp) {{"));
        let sent = self.names.own("payload_sent");
        self.each_payload(frames, "bp", &format!("{sent}(core, v);"));
        self.w.end();
    }

    /// What cuts a payload to what its unit holds, and takes note that it is queued.
    pub(crate) fn payload_cut(&mut self) {
        if !self.makes_frames() {
            return;
        }
        let (core, payload) = (self.core_param(), self.names.own("payload"));
        self.w.line("/* Cuts a payload to what its unit holds: how many octets that is. */");
        self.w.open(format!(
            "static inline uint64_t {}({core}, struct {payload} *v) {{",
            self.names.own("payload_cut")
        ));
        self.w.line("const uint8_t *ring = NULL;");
        self.w.line("uint64_t mask = 0, octets = 0;");
        self.w.line(format!(
            "struct carrick_tx *unit = v->len ? {}(core, v, &ring, &mask) : NULL;",
            self.names.own("payload_unit")
        ));
        self.w.open("if (unit && !unit->open) {");
        self.w.line("core->counters[CARRICK_COUNT_NO_UNIT]++;");
        self.w.close("} else if (unit) {");
        self.w.open_again();
        self.w.line("uint64_t from = carrick_max64(v->offset, unit->reclaimed), to = v->len > UINT64_MAX - v->offset ? UINT64_MAX : v->offset + v->len;");
        self.w.line("uint64_t end = carrick_min64(to, unit->end);");
        self.w.line("octets = end > from ? end - from : 0;");
        self.w.line("if (octets != v->len)\n    core->counters[CARRICK_COUNT_PAYLOAD_CUT]++;");
        self.w.line("v->offset = from;");
        self.w.close("}");
        self.cut_memory("v->");
        if self.has_memory() {
            self.w.line(format!("if (v->type == {})\n    octets = v->len;", self.memory_type()));
        }
        self.w.line("if (!octets)");
        self.w.line(format!("    *v = (struct {payload}){{0}};"));
        self.w.line("else\n    v->len = octets;");
        self.w.end_with("return octets;");
    }

    /// pkt_gen of a packet of frames.
    pub(crate) fn generate_framed(&mut self, index: usize, bp: &BlueprintDef, frames: &Frames) {
        self.payload_functions(bp, frames);
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (entry, chain) = (self.names.own("entry"), self.names.own("chain"));
        let core = self.core_param();
        self.w.line("/* pkt_gen: queues a copy; NULL if the queue is full. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline struct {entry} *{name}_generate({core}, const struct {chain} *chain, struct {ty} *bp, uint64_t rules{}) {{",
            self.queue_param()
        ));
        self.queue_of_number();
        self.w.line(format!("struct {ty} copy = *bp;"));
        self.w.line(format!("CARRICK_UNUSED uint64_t octets = {name}_cut(core, &copy);"));
        self.trace_instr(Opcode::PktGen, &[&format!("{index}u"), "0", "octets", "copy.frames__.count"]);
        self.queue_entry(index);
        self.w.line("e->frame = 0;");
        self.w.line("e->frame_done = 0;");
        self.w.line(format!("e->bp.{}_ = copy;", bp.name));
        let pending = format!("{}(core, v);", self.names.own("payload_queued"));
        self.each_payload(frames, &format!("(&e->bp.{}_)", bp.name), &pending);
        self.w.end_with("return e;");
    }

    /// Takes note that a payload is queued.
    pub(crate) fn payload_queued(&mut self) {
        if !self.makes_frames() {
            return;
        }
        let (core, payload) = (self.core_param(), self.names.own("payload"));
        self.w.open(format!(
            "static inline void {}({core}, struct {payload} *v) {{",
            self.names.own("payload_queued")
        ));
        self.w.line("const uint8_t *ring = NULL;");
        self.w.line("uint64_t mask = 0;");
        self.w.line(format!(
            "struct carrick_tx *unit = v->len ? {}(core, v, &ring, &mask) : NULL;",
            self.names.own("payload_unit")
        ));
        self.w.end_with("if (unit)\n    v->round = carrick_tx_queued(unit, v->offset);");
    }

    /// Puts one frame of a packet.
    pub(crate) fn put_function(&mut self, index: usize, bp: &BlueprintDef) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry) = (self.core_param(), self.names.own("entry"));
        self.w.line("/* Puts the frame, or the next piece of it, at *q: 0 if it does not fit, 1 if it is out, 2 if more is to come. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline int {name}_put({core}, struct {entry} *e, const struct {ty} *bp, uint8_t **q, uint64_t *room) {{"
        ));
        self.w.line(format!("const struct {ty} *h = bp;"));
        self.w.line(format!("uint32_t header_len = {};", self.longest_header(bp)));
        self.w.line("uint64_t whole = bp->payload__.len, most = *room - header_len;");
        self.w.line("if (header_len + (whole ? 1u : 0u) > *room)\n    return 0;");
        self.w.line("if (bp->payload__.mss && bp->payload__.mss < most)\n    most = bp->payload__.mss;");
        self.w.line("uint64_t payload_len = carrick_min64(most, whole - e->frame_done);");
        self.w.line("bool last = e->frame_done + payload_len == whole;");
        self.w.line("*room -= header_len + payload_len;");
        self.cut(index, "payload_len < whole", "e->frame_done == 0", "piece");
        if !bp.parts.is_empty() {
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
        }
        self.w.line("uint8_t *p = *q;");
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        self.payload_octets("e->frame_done", false, index);
        self.w.line("*q += header_len + payload_len;");
        self.w.line("e->frame_done = last ? 0 : e->frame_done + payload_len;");
        self.w.line("e->frame += last;");
        self.w.end_with("return last ? 1 : 2;");
    }

    /// Makes the next packet of an entry of frames.
    pub(crate) fn framed_packet(&mut self, index: usize, bp: &BlueprintDef, frames: &Frames) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry) = (self.core_param(), self.names.own("entry"));
        self.w.line("/* The next packet of an entry: its length, 0 if nothing fits into buffer and MTU; `last` if no other follows. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {name}_packet({core}, struct {entry} *e, uint8_t *out, uint32_t cap, bool *ends) {{"
        ));
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_, *h = bp;", bp.name));
        self.w.line(format!(
            "uint32_t header_len = {}, headers = {}header_len{};",
            self.longest_header(bp),
            self.net_and(),
            tail(bp)
        ));
        if self.has_memory() {
            self.w.line("*ends = true;");
            let check = self.memory_check("v->", "return 0;");
            self.each_payload(frames, &format!("(&e->bp.{}_)", bp.name), &check);
        }
        self.w.line("uint64_t all = carrick_min64(core->mtu, cap), room = all - headers;");
        self.w.line(format!("uint8_t *p = out{}, *q = p + header_len;", self.plus_net()));
        self.w.line("bool any = headers <= all && bp->frames__.count == 0;");
        self.put_loop(frames);
        self.w.line("bool last = !any || e->frame == bp->frames__.count;");
        self.w.line("*ends = last;");
        self.w.open("if (!any) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_TOO_LONG]++;");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("uint64_t payload_len = (uint64_t)(q - p) - header_len;");
        self.cut(index, "e->done != 0 || !last", "e->done == 0", "cut");
        if !bp.parts.is_empty() {
            self.w.line("uint32_t begin = header_len;");
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
            self.w.line(format!("headers = {}header_len{};", self.net_and(), tail(bp)));
            self.w.line("memmove(p + header_len, p + begin, payload_len);");
        }
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        if sums_payload(bp) {
            self.w.line("uint64_t payload_sum = carrick_sum(p + header_len, payload_len);");
        }
        self.finish_packet(bp);
        self.w.line("e->done++;");
        self.w.end_with("return (uint32_t)(headers + payload_len);");
    }

    fn put_loop(&mut self, frames: &Frames) {
        self.w.line("int put = 1;");
        self.w.open("while (headers <= all && put == 1 && e->frame < bp->frames__.count) {");
        self.w.open("switch (bp->frames__.at[e->frame].kind) {");
        let members: Vec<(u32, String, String)> = self
            .frame_members(frames)
            .iter()
            .map(|(id, bp)| (id.0, bp.name.clone(), self.names.own(&bp.name)))
            .collect();
        for (kind, member, own) in members {
            self.w.open(format!("case {kind}:"));
            self.w.line(format!(
                "put = {own}_put(core, e, &bp->frames__.at[e->frame].u.{member}_, &q, &room);"
            ));
            self.w.close_case("break;");
        }
        self.w.line("default:\n    put = 0;\n    break;");
        self.w.close("}");
        self.w.line("any = any || put != 0;");
        self.w.close("}");
    }
}
