// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints on the wire: reading them from a packet and writing them into one.

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, NetField, Ty, arith};

use crate::Emitter;
use crate::blueprint::{less_tail, packet_len};
use crate::emitter::Feature;
use crate::names::safe;
use crate::options::{loaded, width_suffix};
use crate::place::net_member;

/// Fields that are loaded and stored together: whole bytes, 1, 2, 4 or 8 of them, or fields that are done bit by bit.
pub struct Group<'a> {
    fields: &'a [BpField],
    first_bit: u32,
    bits: u32,
}

impl Group<'_> {
    fn octet(&self) -> u32 {
        self.first_bit / 8
    }

    fn is_whole(&self) -> bool {
        matches!(self.bits, 8 | 16 | 32 | 64)
    }
}

/// Splits the fields where one ends on a byte.
pub fn groups(fields: &[BpField]) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for (at, field) in fields.iter().enumerate() {
        let end = field.bit_offset + field.bits;
        // Fields without bits go with the others, or stand alone.
        if end % 8 == 0 && fields.get(at + 1).is_none_or(|next| next.bits > 0) {
            let first_bit = fields[start].bit_offset;
            groups.push(Group { fields: &fields[start..=at], first_bit, bits: end - first_bit });
            start = at + 1;
        }
    }
    groups
}

fn number(value: u64) -> String {
    if value > u64::from(u32::MAX) { format!("UINT64_C({value})") } else { format!("{value}u") }
}

/// A field's value from what is in the packet.
fn based(field: &BpField, raw: String) -> String {
    if field.base == 0 { raw } else { format!("(({raw}) + {})", number(field.base)) }
}

/// The condition that a value of this type lies outside of these; `None`: it never does.
fn outside((lo, hi): (u64, u64), value: &str, ty: &Ty) -> Option<String> {
    let top = u64::MAX >> (64 - arith::shape(ty).0);
    let mut wrong = Vec::new();
    if lo > 0 {
        wrong.push(format!("{value} < {}", number(lo)));
    }
    if hi < top {
        wrong.push(format!("{value} > {}", number(hi)));
    }
    (!wrong.is_empty()).then(|| wrong.join(" || "))
}

/// The condition that a received packet cannot have the field's value, which is `value`.
fn wrong_when_read(field: &BpField, value: &str) -> Option<String> {
    outside(field.values_when_read()?, value, &field.ty)
}

/// The sum over the bytes of fixed fields.
pub fn sum_of_fields(bp: &BlueprintDef, fields: Option<(u32, u32)>) -> String {
    let octets = fields.map_or(0..0, |(first, last)| bp.octets_of(first, last));
    format!("carrick_sum(p + {}, {})", octets.start, octets.len())
}

impl Emitter<'_> {
    /// The network header of the packet that is made of `of` in front of `header_len`, in a sum; in front of a packet's own
    /// header; less it.
    pub fn net_and(&self, of: &str) -> String {
        if self.has_net() { format!("{} + ", self.net_headers(of)) } else { String::new() }
    }

    pub(crate) fn plus_net(&self) -> String {
        let in_place = self.dialect.has(Feature::HeadersInPlace);
        let len = if in_place { self.net_headers("h") } else { self.longest_net().into() };
        if self.has_net() { format!(" + {len}") } else { String::new() }
    }

    /// Less the longest one.
    pub(crate) fn less_net(&self) -> String {
        if self.has_net() { format!(" - {}", self.longest_net()) } else { String::new() }
    }

    fn longest_net(&self) -> &'static str {
        if self.routes() { "CARRICK_IP6_LONGEST" } else { self.ip().header_len }
    }

    fn net_headers(&self, of: &str) -> String {
        if self.routes() { format!("carrick_ip6_headers(&{of}->net__)") } else { self.ip().header_len.into() }
    }

    /// Where a packet ends whose network header is `ip`, a pointer or a member with its dot.
    pub(crate) fn last_destination(&self, ip: &str) -> String {
        match (self.routes(), ip.strip_suffix("->"), ip.strip_suffix('.')) {
            (true, Some(pointer), _) => format!("(*carrick_ip6_last({pointer}))"),
            (true, _, Some(member)) => format!("(*carrick_ip6_last(&{member}))"),
            _ => format!("{ip}dst"),
        }
    }

    /// The functions that read and write the headers of blueprints.
    pub fn header_functions(&mut self) {
        for bp in &self.p.blueprints {
            self.blueprint_initial(bp);
            self.crc_function(bp);
            self.extract_function(bp);
            self.write_function(bp);
        }
    }

    fn blueprint_initial(&mut self, bp: &BlueprintDef) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let core = self.core_param();
        self.w.open(format!("CARRICK_INLINE void {name}_initial({core}, struct {ty} *h) {{"));
        match bp.frames {
            Some(_) => self.zero_but_frames(&ty),
            None => self.w.line("CARRICK_ZERO(h);"),
        }
        for field in &bp.fields {
            if let BpFieldKind::Plain { init: Some(init) } = &field.kind {
                let text = format!("h->{} = {};", safe(&field.name), self.value(init));
                self.w.line(text);
            }
        }
        if self.has_net() {
            self.net_initial();
        }
        self.w.end();
    }

    fn net_initial(&mut self) {
        let header = &self.p.net_header;
        if !header.fields.iter().any(|f| f.field == NetField::SrcIp) {
            self.w.line("h->net__.src = core->address;");
        }
        if !header.fields.iter().any(|f| f.field == NetField::Ttl && f.init.is_some()) {
            self.w.line("h->net__.ttl = 64;");
        }
        self.w.line(format!("h->net__.protocol = {};", header.protocol));
        for field in header.fields.iter().filter(|f| f.field != NetField::Protocol) {
            if let Some(init) = &field.init {
                let text = format!("h->net__.{} = {};", net_member(field.field), self.value(init));
                self.w.line(text);
            }
        }
    }

    fn extract_function(&mut self, bp: &BlueprintDef) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let refuse = self.names.own("refuse");
        self.w.line("/* Reads a packet; false if it is too short, its checksum is wrong or its options are malformed. */");
        let kind = if self.is_read_apart(bp) { "CARRICK_READER int" } else { "CARRICK_INLINE bool" };
        self.w.open(format!(
            "{kind} {name}_extract(struct {} *core, struct {} *packet, struct {ty} *h) {{",
            self.names.own("core"),
            self.names.own("packet")
        ));
        self.extract_begin(bp);
        let least = bp.fixed_len + bp.trailer_len();
        if least > 0 {
            self.w.line(format!("if ({} < {least}u)", packet_len(bp)));
            self.w.line(format!("    return {refuse}(core, CARRICK_COUNT_SHORT);"));
        }
        if !self.cuts_packet(bp) {
            self.verify(bp, true);
        }
        for group in groups(bp.fixed_fields()) {
            self.read_group("p", &group);
        }
        if self.cuts_packet(bp) {
            self.cut_packet(bp);
            self.verify(bp, true);
        }
        self.w.line(format!("uint32_t header_len = {}u;", bp.fixed_len));
        self.read_parts(bp);
        if let Some(list) = bp.options {
            let list = &self.p.opt_lists[list.index()];
            let text = self.header_value(&list.len, bp, "h->");
            self.w.line(format!("uint64_t options = {text};"));
            self.w.line(format!("h->opts__ = (struct {}){{0}};", self.names.declared(&list.name)));
            self.w.line(format!("if (options > {} - header_len{})", packet_len(bp), less_tail(bp)));
            self.w.line(format!("    return {refuse}(core, CARRICK_COUNT_BAD_OPTIONS);"));
            self.w.line("header_len += (uint32_t)options;");
        }
        self.verify(bp, false);
        self.crc_verify(bp);
        if let Some(list) = bp.options {
            let list = &self.p.opt_lists[list.index()];
            let begin =
                if bp.parts.is_empty() { bp.fixed_len.to_string() } else { "header_len - options".into() };
            let read = self.names.own(&list.name);
            self.w.line(format!(
                "if (!{read}_read(core, &h->opts__ CARRICK_IN_ARG, (uint32_t)({begin}), header_len))"
            ));
            self.w.line(format!("    return {refuse}(core, CARRICK_COUNT_BAD_OPTIONS);"));
        }
        let ranges: Vec<String> = bp
            .fixed_fields()
            .iter()
            .filter_map(|f| wrong_when_read(f, &format!("h->{}", safe(&f.name))))
            .collect();
        if !ranges.is_empty() {
            self.w.line(format!("if ({})", ranges.join(" || ")));
            self.w.line(format!("    return {refuse}(core, CARRICK_COUNT_BAD_FIELD);"));
        }
        self.extract_payload(bp);
        self.w.end_with("return true;");
    }

    /// Verifies the checksums that cover the whole packet (they need no option's length), or the others.
    fn verify(&mut self, bp: &BlueprintDef, whole: bool) {
        for field in &bp.fields {
            let BpFieldKind::Checksum { pseudo, header, payload, fields } = field.kind else { continue };
            if whole != (header && payload) {
                continue;
            }
            let own = format!("carrick_sum(p + {}, 2)", field.bit_offset / 8);
            let len = packet_len(bp);
            let covered = match (header, payload) {
                _ if fields.is_some() => sum_of_fields(bp, fields),
                (true, true) => format!("CARRICK_PACKET_SUM(core, p, {len})"),
                (true, false) if self.dialect.reads_beyond_window(self, bp) => {
                    "CARRICK_LONG_HEADER_SUM(core, p, header_len)".into()
                }
                (true, false) => "CARRICK_HEADER_SUM(core, p, header_len)".into(),
                (false, true) => format!("{own} + carrick_sum(p + header_len, {len} - header_len)"),
                (false, false) => own,
            };
            let sum = if pseudo {
                let (pseudo_sum, ip) = (self.ip().pseudo, "CARRICK_IP(core, packet)->");
                let last = self.last_destination(ip);
                format!("{pseudo_sum}({ip}src, {last}, {ip}protocol, {len}) + {covered}")
            } else {
                covered
            };
            self.refuse_damaged(&format!("carrick_sum_fold({sum}) != 0"));
        }
    }

    /// In an extract function: refuses a packet whose checksum is wrong.
    pub(crate) fn refuse_damaged(&mut self, wrong: &str) {
        self.w.line(format!("if (CARRICK_MAKES_SUMS(core) && carrick_damaged({wrong}))"));
        self.w.line(format!("    return {}(core, CARRICK_COUNT_BAD_CHECKSUM);", self.names.own("refuse")));
    }

    /// The header, or the part of it that the fields are in, begins at `base`.
    pub(crate) fn read_group(&mut self, base: &str, group: &Group<'_>) {
        let at = group.octet();
        let load = loaded(base, at, group.bits / 8);
        if let [field] = group.fields
            && group.is_whole()
        {
            let c = self.names.ctype(&field.ty);
            let load = based(field, load);
            return self.w.line(format!("h->{} = ({c}){load};", safe(&field.name)));
        }
        for field in group.fields.iter().filter(|f| !f.is_padding()) {
            let c = self.names.ctype(&field.ty);
            let value = if field.bits == 0 {
                number(field.base)
            } else if group.is_whole() {
                let shift = group.bits - (field.bit_offset - group.first_bit) - field.bits;
                let mask = (1_u64 << field.bits) - 1;
                format!("({load} >> {shift}) & {mask}u")
            } else {
                format!("carrick_load_bits({base}, {}, {})", field.bit_offset, field.bits)
            };
            let value = if field.bits == 0 { value } else { based(field, value) };
            self.w.line(format!("h->{} = ({c})({value});", safe(&field.name)));
        }
    }

    /// Writes header and options of `h` at `p`, and returns their length; checksums are left zero.
    fn write_function(&mut self, bp: &BlueprintDef) {
        let (ty, name) = (self.names.declared(&bp.name), self.names.own(&bp.name));
        let options = bp.options.map(|l| self.names.own(&self.p.opt_lists[l.index()].name));
        if bp.parts.is_empty() {
            self.w.open(format!(
                "CARRICK_UNUSED static inline uint32_t {name}_header_len(CARRICK_UNUSED const struct {ty} *h) {{"
            ));
            let more = options.as_ref().map_or_else(String::new, |o| format!(" + {o}_length(&h->opts__)"));
            self.w.end_with(format!("return {}u{more};", bp.fixed_len));
        } else {
            self.part_lengths(bp);
        }
        self.w.line("/* Header and options; checksums are zero until the payload is there. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline void {name}_write(CARRICK_UNUSED struct {} *core, const struct {ty} *h, CARRICK_UNUSED uint8_t *p, CARRICK_UNUSED uint64_t header_len, CARRICK_UNUSED uint64_t payload_len) {{",
            self.names.own("core")
        ));
        for group in groups(bp.fixed_fields()) {
            self.write_group("p", bp, &group);
        }
        if !bp.parts.is_empty() || options.is_some() {
            self.w.line(format!("CARRICK_OUT_BEGINS(core, p, {});", bp.fixed_len));
            self.write_parts(bp);
        }
        if let Some(options) = options {
            self.w.line(format!("(void){options}_write(core, &h->opts__ CARRICK_OUT_ARG);"));
        }
        self.w.end();
    }

    /// The condition that no packet can be made with what is in the field.
    pub(crate) fn wrong_when_sent(&self, bp: &BlueprintDef, field: &BpField) -> Option<String> {
        let values = bp.values_when_sent(field)?;
        match &field.kind {
            BpFieldKind::Computed(e) => outside(values, &self.header_expr(e, bp, "h->"), &e.ty),
            _ => outside(values, &format!("h->{}", safe(&field.name)), &field.ty),
        }
    }

    fn wire_value(&self, bp: &BlueprintDef, field: &BpField) -> String {
        let computed = || field.computed().map_or_else(String::new, |e| self.header_expr(&e, bp, "h->"));
        match &field.kind {
            _ if field.is_padding() => "0u".into(),
            BpFieldKind::Plain { .. } if field.base > 0 => {
                format!("((uint64_t)h->{} - {})", safe(&field.name), number(field.base))
            }
            BpFieldKind::Computed(_) if field.base > 0 => {
                format!("((uint64_t){} - {})", computed(), number(field.base))
            }
            BpFieldKind::Plain { .. } => format!("h->{}", safe(&field.name)),
            BpFieldKind::Computed(_) => computed(),
            BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_) => "0u".into(),
        }
    }

    pub(crate) fn write_group(&mut self, base: &str, bp: &BlueprintDef, group: &Group<'_>) {
        let at = group.octet();
        let (store, c) = match width_suffix(group.bits / 8) {
            Some(w) => (format!("carrick_store{w}({base} + {at}, "), format!("uint{w}_t")),
            None => (format!("{base}[{at}] = ("), "uint8_t".to_owned()),
        };
        if let [field] = group.fields
            && group.is_whole()
        {
            let value = self.wire_value(bp, field);
            return self.w.line(format!("{store}({c}){value});"));
        }
        if !group.is_whole() {
            self.w.line(format!("memset({base} + {at}, 0, {});", group.bits / 8));
            for field in group.fields.iter().filter(|f| f.bits > 0 && !f.is_padding()) {
                let value = self.wire_value(bp, field);
                self.w.line(format!(
                    "carrick_store_bits({base}, {}, {}, (uint64_t){value});",
                    field.bit_offset, field.bits
                ));
            }
            return;
        }
        let wide = if group.bits == 64 { "uint64_t" } else { "uint32_t" };
        let terms: Vec<String> = group
            .fields
            .iter()
            .filter(|field| field.bits > 0 && !field.is_padding())
            .map(|field| {
                let shift = group.bits - (field.bit_offset - group.first_bit) - field.bits;
                let mask = (1_u64 << field.bits) - 1;
                let value = self.wire_value(bp, field);
                let all = field.base == 0 && arith::shape(&field.ty).0 == field.bits;
                let masked = if all && field.ty != Ty::Bool {
                    format!("({wide}){value}")
                } else {
                    format!("(({wide}){value} & {mask}u)")
                };
                if shift == 0 { masked } else { format!("{masked} << {shift}") }
            })
            .collect();
        self.w.line(format!("{store}({c})({}));", terms.join(" | ")));
    }

    /// The first value of a packet of frames: those that it does not have are not looked at.
    pub(crate) fn zero_but_frames(&mut self, ty: &str) {
        self.w.line(format!("memset(h, 0, __builtin_offsetof(struct {ty}, frames__));"));
        self.w.line("h->frames__.count = 0;");
        self.w.line("memset(&h->net__, 0, sizeof h->net__);");
        self.w.line("memset(&h->payload__, 0, sizeof h->payload__);");
    }
}
