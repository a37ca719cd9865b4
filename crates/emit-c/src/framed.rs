// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets whose payload is frames: as many of them are put into a packet as fit.

use carrick_ir::{BlueprintDef, BpId, Frames, LocalId, Stmt, Ty};

use crate::Emitter;
use crate::emitter::Payload;
use crate::loops::within;

impl Emitter<'_> {
    /// Whether any packet is made of frames.
    pub fn makes_frames(&self) -> bool {
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
        self.w.line("uint64_t frame_done; /* bytes of its payload that are out */");
        self.blueprint_union("piece", "of a frame in several packets: the last piece of it", |bp| bp.frame);
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
        let at = self.bounded(format!("{bp}.frames__.count"), most);
        let at = format!("{bp}.frames__.at[{at}]");
        self.line(stmt, format!("{at}.kind = {kind};"));
        self.line(stmt, format!("CARRICK_COPY(&{at}.u.{name}_, &{frame});"));
        self.line(stmt, format!("{bp}.frames__.count++;"));
        self.w.close("}");
    }

    /// For each payload of the frames of `packet`: the statement that this makes of its place.
    pub(crate) fn each_payload(&mut self, frames: &Frames, packet: &str, body: impl Fn(&str) -> String) {
        let members = self.frame_members(frames);
        let members: Vec<_> =
            members.iter().filter(|(_, bp)| bp.payload_name.is_some() || bp.payload_len.is_some()).collect();
        if members.is_empty() {
            return;
        }
        let most = frames.most;
        let bodies: Vec<(u32, String)> = members
            .iter()
            .map(|(id, bp)| (id.0, body(&format!("{packet}->frames__.at[at].u.{}_.payload__", bp.name))))
            .collect();
        let within = within("i", most);
        self.w.open(format!(
            "for (uint32_t i = 0; {within}i < CARRICK_READ({packet}->frames__.count); i++) {{"
        ));
        self.w.line(format!("uint64_t at = carrick_at(i, {most}u);"));
        self.w.line(format!("uint32_t kind = {packet}->frames__.at[at].kind;"));
        for (kind, body) in bodies {
            self.w.line(format!("if (kind == {kind})\n    {body}"));
        }
        self.w.close("}");
    }

    /// Members of the core: of the packet that is being made.
    pub fn put_members(&mut self) {
        self.w.line("uint32_t assembly_buffer;  /* bytes of frames that are put together */");
        self.w.line("uint32_t space; /* how many more there can be */");
        self.w.line("uint32_t any;   /* 1: some are */");
    }

    /// Puts one frame of a packet.
    pub(crate) fn put_function(&mut self, index: usize, bp: &BlueprintDef) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry) = (self.core_param(), self.names.own("entry"));
        self.w.line("/* Puts the frame, or the next piece of it, behind the others: 0 if it does not fit, 1 if it is out, 2 if more is to come. */");
        self.w.open(format!(
            "CARRICK_GLOBAL_FN int {name}_put({core}, struct {entry} *e, const struct {ty} *bp) {{"
        ));
        self.w.line("CARRICK_GIVEN(core && e && bp);");
        self.w.line(format!("const struct {ty} *h = bp;"));
        self.w.line(format!("uint32_t header_len = {}, space = core->space;", self.longest_header(bp)));
        self.w.line("uint64_t whole = bp->payload__.len, most = space - header_len;");
        self.w.line("if (header_len + (whole ? 1u : 0u) > space)\n    return 0;");
        self.w.line("if (bp->payload__.mss && bp->payload__.mss < most)\n    most = bp->payload__.mss;");
        self.w.line("uint64_t payload_len = carrick_min64(most, whole - e->frame_done);");
        self.w.line("bool last = e->frame_done + payload_len == whole;");
        self.w.line("core->space = space - header_len - (uint32_t)payload_len;");
        self.cut(index, "payload_len < whole", "e->frame_done == 0", "piece");
        if !bp.parts.is_empty() {
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
        }
        self.w.line("uint8_t *p = CARRICK_NEXT_FRAME(core);");
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        self.dialect.payload_written(self, Payload::OfFrame(index), bp);
        self.w.line("e->frame_done = last ? 0 : e->frame_done + payload_len;");
        self.w.line("e->frame += last;");
        self.w.line("core->any = 1;");
        self.w.end_with("return last ? 1 : 2;");
    }

    /// Puts as many frames of an entry as fit.
    fn put_each(&mut self, bp: &BlueprintDef, frames: &Frames) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, entry, most) = (self.core_param(), self.names.own("entry"), frames.most);
        self.w.open(format!("CARRICK_GLOBAL_FN int {name}_put_each({core}, struct {entry} *e) {{"));
        self.w.line("CARRICK_GIVEN(core && e);");
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_;", bp.name));
        self.w.open(format!(
            "for (uint32_t turn = 0; turn < {most}u && CARRICK_READ(e->frame) < bp->frames__.count; turn++) {{"
        ));
        self.w.line(format!("uint64_t at = carrick_at(CARRICK_READ(e->frame), {most}u);"));
        self.w.line("uint32_t kind = bp->frames__.at[at].kind;");
        self.w.line("int put = 0;");
        let members = self.frame_members(frames);
        let members: Vec<_> = members.iter().map(|(id, frame)| (id.0, frame.name.clone())).collect();
        for (kind, frame) in members {
            let own = self.names.own(&frame);
            self.w.line(format!("if (kind == {kind})"));
            self.w.line(format!("    put = {own}_put(core, e, &bp->frames__.at[at].u.{frame}_);"));
        }
        self.w.line("if (put != 1)\n    break;");
        self.w.close("}");
        self.w.end_with("return 0;");
    }

    /// The last packet of an entry is made: what its frames' payloads are of may be free.
    fn frames_sent(&mut self, bp: &BlueprintDef, frames: &Frames) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let (core, sent) = (self.core_param(), self.names.own("payload_sent"));
        self.w.open(format!(
            "CARRICK_GLOBAL_FN int {name}_frames_sent({core}, CARRICK_UNUSED struct {ty} *bp) {{"
        ));
        self.w.line("CARRICK_GIVEN(core && bp);");
        self.each_payload(frames, "bp", |v| format!("(void){sent}(core, &{v});"));
        self.w.end_with("return 0;");
    }

    /// Makes the next packet of an entry of frames.
    pub(crate) fn framed_packet(&mut self, index: usize, bp: &BlueprintDef, frames: &Frames) {
        self.put_each(bp, frames);
        self.frames_sent(bp, frames);
        let name = self.names.own(&bp.name);
        self.begin_packet(bp);
        self.memory_of_frames(frames);
        self.w.line("uint64_t all = carrick_min64(core->mtu, cap);");
        self.w.line(format!("uint8_t *p = out{};", self.plus_net()));
        self.w.line("CARRICK_FRAMES_BEGIN(core, p + header_len);");
        self.w.line("core->assembly_buffer = 0;");
        self.w.line("core->space = headers <= all ? (uint32_t)all - headers : 0;");
        self.w.line("core->any = headers <= all && bp->frames__.count == 0;");
        self.w.line(format!("if (headers <= all)\n    (void){name}_put_each(core, e);"));
        self.w.line("bool last = !CARRICK_READ(core->any) || e->frame == bp->frames__.count;");
        self.w.line("core->last = last;");
        self.w.open("if (!CARRICK_READ(core->any)) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_TOO_LONG]++;");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("uint64_t payload_len = CARRICK_READ(core->assembly_buffer);");
        self.cut(index, "e->done != 0 || !last", "e->done == 0", "cut");
        self.header_of_packet(bp);
        if !bp.parts.is_empty() {
            self.w.line("CARRICK_FRAMES_MOVE(core, p + header_len, payload_len);");
        }
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        self.dialect.payload_written(self, Payload::Frames, bp);
        self.finish_packet(bp);
        self.w.line("e->done++;");
        self.w.end_with("return CARRICK_PACKET_LEN(headers, payload_len);");
    }
}
