// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets: what arrives is looked at, and what was issued leaves.

use carrick_ir::{BlueprintDef, BpFieldKind, Opcode};

use crate::Emitter;

impl Emitter<'_> {
    /// `pkt_gen`: a copy leaves in the frame that is there, or waits.
    pub(super) fn generate_functions(&mut self) {
        self.frame_payloads();
        for index in self.packets() {
            match self.p.blueprints[index].frames.as_ref() {
                Some(frames) => self.generate_frames(index, frames),
                None => self.generate_in_kernel(index),
            }
        }
    }

    /// The blueprints that are packets.
    fn packets(&self) -> Vec<usize> {
        (0..self.p.blueprints.len()).filter(|index| !self.p.blueprints[*index].frame).collect()
    }

    fn generate_in_kernel(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        self.w.open(format!(
            "CARRICK_APART int {name}_generate(struct {} *core, const struct {ty} *bp, uint64_t rules, uint32_t sent{}) {{",
            self.names.own("core"),
            self.number_param(),
        ));
        self.w.line("CARRICK_GIVEN(core && bp);");
        self.w
            .line(format!("CARRICK_UNUSED const struct {} *chain = &core->chain;", self.names.own("chain")));
        // An argument that nothing uses is one that the callers do not give.
        self.w.line("CARRICK_OPAQUE(sent);");
        self.w.line(format!("struct {} payload = bp->payload__;", self.names.own("payload")));
        self.unit_of_payload();
        self.w.open("if (unit) {");
        self.w.line("carrick_tx_settle(unit);");
        self.cut_to_unit();
        self.w.close("}");
        self.w.line("if (!unit || !payload.len)\n    memset(&payload, 0, sizeof payload);");
        let kind = format!("{index}u");
        self.trace_instr(Opcode::PktGen, &[&kind, "payload.offset", "payload.len", "payload.mss"]);
        self.choose_queue();
        self.coalesce(index, bp);
        self.place_entry(index);
        self.w.line(format!("e->bp.{}_.payload__ = payload;", bp.name));
        self.w.line("if (unit && payload.len)");
        self.w.line(format!(
            "    e->bp.{}_.payload__.round = carrick_tx_queued(unit, payload.offset);",
            bp.name
        ));
        self.entry_is_there();
        self.w.end_with("return 0;");
    }

    /// The next packet of an entry, in `core->out`: its octets behind the Ethernet header, 0 if there is none.
    pub(super) fn out_functions(&mut self) {
        if self.makes_frames() {
            let frames = (0..self.p.blueprints.len()).filter(|index| self.p.blueprints[*index].frame);
            frames.collect::<Vec<_>>().into_iter().for_each(|index| self.put_in_kernel(index));
        }
        for index in self.packets() {
            match self.p.blueprints[index].frames.as_ref() {
                Some(frames) => self.framed_in_kernel(index, frames),
                None => self.packet_in_kernel(index),
            }
        }
        let (core, entry) = (self.names.own("core"), self.names.own("entry"));
        self.w.open(format!(
            "CARRICK_APART int {}(struct {core} *core, struct {entry} *e) {{",
            self.names.own("packet")
        ));
        self.w.line("CARRICK_GIVEN(core && e);");
        for index in self.packets() {
            let name = self.names.own(&self.p.blueprints[index].name);
            self.w.line(format!("if (e->kind == {index})"));
            self.w.line(format!("    return {name}_packet(core, e);"));
        }
        self.w.line("core->last = true;");
        self.w.end_with("return 0;");
    }

    fn packet_in_kernel(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        self.w.open(format!(
            "CARRICK_APART int {name}_packet(struct {} *core, struct {} *e) {{",
            self.names.own("core"),
            self.names.own("entry")
        ));
        self.w.line("CARRICK_GIVEN(core && e);");
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_, *h = bp;", bp.name));
        let longest = self.longest_header(bp);
        self.w.line(format!("uint32_t header_len = {longest}, headers = CARRICK_IP_HEADER + header_len;"));
        self.part_of_payload();
        self.cut(index, "payload_len < whole", "e->done == 0", "cut");
        if !bp.parts.is_empty() {
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
            self.w.line("headers = CARRICK_IP_HEADER + header_len;");
        }
        let instead = ["e->done += payload_len;", "core->payload.len = 0;", "return 0;"];
        self.check_ranges(bp, &instead);
        self.packet_is_written(index);
        self.trace_payload(index);
        self.w.line("e->done += payload_len;");
        self.w.end_with("return (int)headers;");
    }

    /// Header and network header of the packet that is made.
    pub(super) fn packet_is_written(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        let name = self.names.own(&bp.name);
        self.w.line("uint8_t *p = core->out + CARRICK_BEGIN;");
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        self.sums_in_kernel(bp);
        self.w.line(format!("struct carrick_shared *shared = {}();", self.names.own("shared")));
        self.w
            .line("uint64_t identification = shared ? __sync_fetch_and_add(&shared->identification, 1) : 0;");
        self.w.line(
            "carrick_ip_build(core->out + CARRICK_ETHERNET, &h->net__, header_len + (uint32_t)payload_len, (uint16_t)identification);",
        );
        self.w.line("core->counters[CARRICK_COUNT_TX_PACKETS]++;");
    }

    /// In the function that makes a packet: `payload_len`, and whether another one follows.
    fn part_of_payload(&mut self) {
        self.w.line("core->payload = bp->payload__;");
        self.w
            .line("uint64_t mss = core->mtu > headers ? core->mtu - headers : 0, whole = bp->payload__.len;");
        self.w.line("if (bp->payload__.mss && bp->payload__.mss < mss)\n    mss = bp->payload__.mss;");
        self.w.line("uint64_t payload_len = carrick_min64(mss, whole - e->done);");
        self.w.line("bool last = e->done + payload_len == whole;");
        self.w.line("core->payload.offset += e->done;");
        self.w.line("core->payload.len = payload_len;");
        self.w.line("core->whole = whole;");
        self.w.line("core->last = last || (whole && !mss);");
        self.w.open("if ((whole && !mss) || headers > core->mtu) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_TOO_LONG]++;");
        self.w.line("e->done += payload_len;");
        self.w.line("core->payload.len = 0;");
        self.w.line("return 0;");
        self.w.close("}");
    }

    fn sums_in_kernel(&mut self, bp: &BlueprintDef) {
        for field in &bp.fields {
            let BpFieldKind::Checksum { pseudo, payload, .. } = field.kind else { continue };
            let mut sum = "carrick_sum_piece(p, header_len)".to_owned();
            if payload && self.sends_payloads() {
                let of_payload = self.names.own("payload_sum");
                sum = format!("carrick_sum_join({sum}, header_len, payload_len ? {of_payload}(core) : 0)");
            }
            if pseudo {
                sum = format!(
                    "carrick_sum_pseudo(h->net__.src, h->net__.dst, h->net__.protocol, header_len + (uint32_t)payload_len) + {sum}"
                );
            }
            self.w.line(format!("carrick_store_sum(p + {}, {sum});", field.bit_offset / 8));
        }
    }

    /// The programs of the two devices.
    pub(super) fn entry_points(&mut self) {
        let sum = self.p.blueprints.iter().flat_map(|bp| &bp.fields).any(|f| {
            matches!(f.kind, BpFieldKind::Checksum { header: true, payload: true, fields: None, .. })
        });
        let parser = &self.p.functions[self.p.parser.index()].name;
        let claims = !self.p.claims.is_empty();
        self.w.line(format!("#define CARRICK_PARSER fn_{parser}"));
        self.define_report_parser();
        self.w.line(format!("#define CARRICK_PROTOCOL {}", self.p.net_header.protocol));
        for (name, holds) in [
            ("WHOLE_SUM", sum),
            ("LOOKS", self.looks_further()),
            ("FRAMES", self.has_frames()),
            ("PAYLOADS", self.sends_payloads()),
            ("CLAIMED", claims),
        ] {
            self.w.line(format!("#define CARRICK_{name} {}", u8::from(holds)));
        }
        self.include("ingress");
        self.include("egress");
    }
}
