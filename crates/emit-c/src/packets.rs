// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making the packets of an entry of the queue, one by one.

use carrick_ir::{BlueprintDef, BpFieldKind, NetLayer};

use crate::Emitter;
use crate::blueprint::tail;
use crate::emitter::{Head, Payload};
use crate::expr::promoted;
use crate::header::sum_of_fields;
use crate::names::safe;
use crate::pkt_gen::Unit;
use crate::term::CType;

impl Emitter<'_> {
    /// The functions that make packets of entries of the queue.
    pub fn packet_functions(&mut self) {
        if self.makes_frames() {
            let frames = self.p.blueprints.iter().enumerate().filter(|(_, bp)| bp.frame);
            frames.for_each(|(index, bp)| self.put_function(index, bp));
        }
        for index in self.packets() {
            let bp = &self.p.blueprints[index];
            match &bp.frames {
                Some(frames) => self.framed_packet(index, bp, frames),
                None => self.packet_function(index, bp),
            }
        }
    }

    /// Opens the function that makes the next packet of an entry, straight from the blueprint; only a payload in several
    /// packets needs a copy of the header, which the segmentation rules change from packet to packet.
    pub(crate) fn begin_packet(&mut self, bp: &BlueprintDef) {
        self.w.line(
            "/* The next packet of an entry: its length, 0 if it does not fit; core->last if no other follows. */",
        );
        self.dialect.open(self, Head::Packet, bp);
        let (ty, longest) = (self.names.declared(&bp.name), self.longest_header(bp));
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_, *h = bp;", bp.name));
        self.w.line(format!("uint32_t header_len = {longest}, headers = {};", self.headers(bp)));
    }

    /// C for all that is in a packet beside the payload.
    fn headers(&self, bp: &BlueprintDef) -> String {
        format!("{}header_len{}", self.net_and("h"), tail(bp))
    }

    /// Once it is known how much payload the packet has: its header may be shorter than the longest.
    pub(crate) fn header_of_packet(&mut self, bp: &BlueprintDef) {
        if !bp.parts.is_empty() {
            let name = self.names.own(&bp.name);
            self.w.line(format!("header_len = {name}_header_len(core, h, payload_len);"));
            self.w.line(format!("headers = {};", self.headers(bp)));
        }
    }

    fn packet_function(&mut self, index: usize, bp: &BlueprintDef) {
        self.joined_function(bp);
        self.begin_packet(bp);
        self.memory_of_packet();
        self.w
            .line("uint64_t mss = core->mtu > headers ? core->mtu - headers : 0, whole = bp->payload__.len;");
        if bp.payload_align > 1 {
            self.w.line(format!("mss -= mss % {};", bp.payload_align));
        }
        self.w.line("if (bp->payload__.mss && bp->payload__.mss < mss)\n    mss = bp->payload__.mss;");
        self.w.line("uint64_t payload_len = carrick_min64(mss, whole - e->done);");
        self.join(bp);
        self.w.line("bool last = e->done + payload_len == whole;");
        self.w.line("core->last = last || (whole && !mss);");
        self.w.line("CARRICK_PAYLOAD_BEGINS(core, bp->payload__, whole);");
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
        self.header_of_packet(bp);
        self.check_ranges(bp, &["e->done += payload_len;", "return 0;"]);
        self.w.line(format!("uint8_t *p = out{};", self.plus_net()));
        self.w.line(format!("{}_write(core, h, p, header_len, payload_len);", self.names.own(&bp.name)));
        self.dialect.payload_written(self, Payload::Whole(index), bp);
        self.pad(bp);
        self.finish_packet(bp);
        let out = if bp.payload_align > 1 { "payload_len - padding" } else { "payload_len" };
        self.w.line(format!("e->done += {out};"));
        self.w.end_with("return CARRICK_PACKET_LEN(headers, payload_len);");
    }

    /// A packet with a field outside of its range is not made: this is done instead.
    pub(crate) fn check_ranges(&mut self, bp: &BlueprintDef, instead: &[&str]) {
        let fields = bp.fixed_fields().iter();
        let wrong: Vec<String> = fields.filter_map(|field| self.wrong_when_sent(bp, field)).collect();
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
            self.w.line("core->store.left_by = h->net__.interface;");
        }
    }

    /// The same, and nothing else.
    pub(crate) fn fill_in(&mut self, bp: &BlueprintDef) {
        self.crc_fill(bp);
        self.checksums(bp);
        if self.has_net() {
            let len = format!("(uint32_t)(header_len + payload_len{})", tail(bp));
            self.build_net(&len, "CARRICK_IDENTIFICATION(core)");
        }
        self.w.line("core->counters[CARRICK_COUNT_TX_PACKETS]++;");
        self.count_joined(bp);
    }

    /// Writes the network header at `out`, before `len` bytes.
    pub(crate) fn build_net(&mut self, len: &str, identification: &str) {
        self.w.line(match self.p.net_header.layer {
            NetLayer::Ipv6 if self.routes() => {
                format!("CARRICK_BUILD_ROUTED(core, out, &h->net__, header_len, {len});")
            }
            NetLayer::Ipv6 => format!("carrick_ip6_build(out, &h->net__, {len});"),
            NetLayer::Ipv4 | NetLayer::Link => {
                format!("carrick_ip_build(out, &h->net__, {len}, {identification});")
            }
        });
    }

    /// The sum of the payload was made when it was copied; the header's comes last, when its stores are through.
    fn checksums(&mut self, bp: &BlueprintDef) {
        let of_header = "CARRICK_WRITTEN_HEADER_SUM(p, header_len)";
        let when = "if (CARRICK_MAKES_SUMS(core))\n    ";
        for field in &bp.fields {
            let BpFieldKind::Checksum { pseudo, header, payload, fields } = field.kind else { continue };
            let mut sum = match (header, payload) {
                _ if fields.is_some() => sum_of_fields(bp, fields),
                (true, true) => format!("carrick_sum_join({of_header}, header_len, payload_sum)"),
                (true, false) => of_header.into(),
                (false, true) => "payload_sum".into(),
                (false, false) => "0".into(),
            };
            if pseudo {
                let (ip, len) = self.pseudo(bp);
                sum = format!("{}({ip}, {len}) + {sum}", self.ip().pseudo);
            }
            let at = format!("p + {}", field.bit_offset / 8);
            if self.joins(bp) {
                let (ip, len) = self.pseudo(bp);
                self.w.line("/* The engine adds what each packet has. */");
                let part = format!("carrick_store_part({at}, {}({ip}, {len}))", self.ip().pseudo);
                self.w.line(format!("if (joined)\n    {part};\nelse {when}carrick_store_sum({at}, {sum});"));
            } else {
                self.w.line(format!("{when}carrick_store_sum({at}, {sum});"));
            }
        }
    }

    /// C for what the sum of the pseudo-header is of: addresses and protocol, and the length.
    fn pseudo(&self, bp: &BlueprintDef) -> (String, String) {
        let ip = format!("h->net__.src, {}, h->net__.protocol", self.last_destination("h->net__."));
        (ip, format!("(uint32_t)(header_len + payload_len{})", tail(bp)))
    }

    /// In a trace: of a unit its handle, of memory the request, if that is not one that the program may write to.
    pub fn trace_payload(&mut self, done: &str, index: usize) {
        let units = self.units_sent();
        if units.is_empty() && !self.has_memory() {
            return;
        }
        self.w.line("#ifdef CARRICK_TRACE");
        self.w.open("if (payload_len) {");
        self.w.line(format!("uint64_t handle = 0, offset = bp->payload__.offset + {done}, request = 0;"));
        // The unit's context may not be that of the chain that issued the blueprint.
        for Unit { number, ty, name, .. } in units {
            self.w.open(format!("if (bp->payload__.type == {number}) {{"));
            self.w.line(format!("const struct {ty} *c = {name}_at(core, bp->payload__.slot);"));
            self.w.line(format!("handle = c ? {name}_handle(c) : 0;"));
            self.w.close("}");
        }
        self.segment_of_memory();
        let number = format!("{index}u");
        if self.joins(&self.p.blueprints[index]) {
            self.w.open("for (uint64_t at = 0; at < payload_len; at += mss) {");
            let words = ["handle", "offset + at", "carrick_min64(mss, payload_len - at)", "request"];
            self.tell("CARRICK_TRACE_SEGMENT", &number, &words);
            self.w.close("}");
        } else {
            self.tell("CARRICK_TRACE_SEGMENT", &number, &["handle", "offset", "payload_len", "request"]);
        }
        self.w.close("}");
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
            // C computes with numbers of 32 bits and more.
            let ruled = match CType::of(&field.ty) {
                narrow @ (CType::Unsigned(8 | 16) | CType::Signed(8 | 16)) if promoted(narrow) != narrow => {
                    format!("({c})({is_first} ? {first} : {later})")
                }
                _ => format!("{is_first} ? {first} : {later}"),
            };
            self.w.line(format!("{c} rule_{number} = {otherwise};"));
            self.w.line(format!("if (e->rules & {}u)\n    rule_{number} = {ruled};", 1_u64 << number));
        }
        for (number, rule) in &rules {
            let field = safe(&bp.fields[rule.field as usize].name);
            self.w.line(format!("cut->{field} = rule_{number};"));
        }
    }
}
