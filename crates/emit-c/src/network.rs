// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network: what becomes of packets that are not its own.

use carrick_ir::{BlueprintDef, Expr, Instr, LocalId, Opcode, Stmt, Ty};

use crate::Emitter;
use crate::blueprint::tail;
use crate::emitter::{Head, Payload};
use crate::place::net_member;

/// The interface that a number means.
fn interface(e: &str) -> String {
    format!("carrick_interface({e})")
}

impl Emitter<'_> {
    pub(crate) fn packet_instr(&mut self, instr: &Instr) {
        match instr {
            Instr::Forward { interface: to, header } => {
                let to = interface(&self.value(to));
                self.trace_instr(Opcode::Forward, &[&to]);
                self.send("decide", &to, *header);
            }
            Instr::PktCopy { interface: to, header } => {
                let to = interface(&self.value(to));
                self.trace_instr(Opcode::PktCopy, &[&to]);
                self.send("has_space", &format!("{to} | CARRICK_COPIED"), *header);
            }
            Instr::Drop => {
                self.trace_instr(Opcode::Drop, &[]);
                self.w.line("(void)carrick_store_decide(&core->store, core->counters);");
            }
            Instr::PktStore { key } => {
                let key = self.value(key);
                self.trace_instr(Opcode::PktStore, &[&key]);
                self.w.line(format!("carrick_store_put(&core->store, {key}, core->counters);"));
            }
            Instr::PktRelease { key, interface: to } => {
                let to = interface(&self.value(to));
                self.take(Opcode::PktRelease, key, Some(to));
            }
            Instr::PktDiscard { key } => self.take(Opcode::PktDiscard, key, None),
            _ => {}
        }
    }

    /// Sends the packet that is looked at, if the store allows it: it `decide`s where the packet goes, or `has_space` for a copy.
    fn send(&mut self, allows: &str, to: &str, header: Option<LocalId>) {
        self.w.line(format!("if (carrick_store_{allows}(&core->store, core->counters))"));
        let text = match header.map(|h| (self.local(h), self.local_type(h))) {
            Some((header, Ty::Blueprint(bp))) => {
                let name = self.names.own(&self.p.blueprints[bp.index()].name);
                format!("    {name}_forward(core, &{header}, {to});")
            }
            _ => format!("    carrick_store_send(&core->store, {to}, core->counters);"),
        };
        self.w.line(text);
    }

    /// Takes what is kept under a key: it leaves by an interface, or is forgotten.
    fn take(&mut self, op: Opcode, key: &Expr, to: Option<String>) {
        let key = self.value(key);
        self.w.open("{");
        self.w.line(format!("uint64_t key__ = {key};"));
        if let Some(to) = &to {
            self.w.line(format!("uint32_t to__ = {to};"));
        }
        let way = if to.is_some() { "to__" } else { "CARRICK_NOWHERE" };
        self.w.line(format!(
            "CARRICK_UNUSED uint32_t count__ = carrick_store_take(&core->store, key__, {way});"
        ));
        let words = ["key__", "to__", "count__"].into_iter().filter(|w| to.is_some() || *w != "to__");
        self.trace_instr(op, &words.collect::<Vec<_>>());
        self.w.close("}");
    }

    /// In `rx_on`: the packet is looked at; what the parser is not for goes on.
    pub(crate) fn look_at(&mut self) {
        if self.p.in_network.is_none() {
            return;
        }
        self.w.line(
            "bool other = header == -1 - CARRICK_COUNT_IP_FRAGMENT || header == -1 - CARRICK_COUNT_IP_PROTOCOL;",
        );
        self.w.line("if (header >= 0 || other)");
        self.w.line(format!("    carrick_store_look(&core->store, octets, {}, interface);", self.ip().total));
        self.w.open("if (other) {");
        self.w.line("carrick_store_pass(&core->store, core->counters);");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("ip.interface = (uint8_t)core->store.interface;");
    }

    /// The functions that let a packet leave with another header.
    pub fn forward_functions(&mut self) {
        if self.p.in_network.is_none() {
            return;
        }
        for bp in self.p.blueprints.iter().filter(|bp| !bp.frame && bp.frames.is_none()) {
            self.forward_function(bp);
        }
    }

    fn forward_function(&mut self, bp: &BlueprintDef) {
        let (name, leave) = (self.names.own(&bp.name), self.return_nothing());
        self.w.line("/* The packet that is looked at leaves with this header, and with the payload that was read with it. */");
        self.dialect.open(self, Head::Forward, bp);
        self.w.line("uint64_t payload_len = h->payload__.ptr && !h->payload__.type ? h->payload__.len : 0;");
        let more = if bp.parts.is_empty() { "h" } else { "core, h, payload_len" };
        self.w.line(format!("uint32_t header_len = {name}_header_len({more});"));
        self.check_ranges(bp, &[leave]);
        self.padding(bp);
        let padded = if bp.payload_align > 1 { " + padding" } else { "" };
        self.w.line(format!(
            "uint64_t whole = {}header_len{} + payload_len{padded};",
            self.net_and("h"),
            tail(bp)
        ));
        self.w.open("if (whole > core->mtu) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_TOO_LONG]++;");
        self.w.line(leave);
        self.w.close("}");
        self.w.line("uint8_t *out = CARRICK_FORWARD_TO(core, (uint32_t)whole, interface);");
        self.w.line(format!("uint8_t *p = out{};", self.plus_net()));
        self.w.line(format!("{name}_write(core, h, p, header_len, payload_len);"));
        self.dialect.payload_written(self, Payload::Forwarded, bp);
        self.pad(bp);
        self.fill_in(bp);
        let headers = format!("{}header_len", self.net_and("h"));
        self.w.line(format!("CARRICK_FORWARD(core, {headers}, payload, (uint32_t)payload_len, interface);"));
        self.w.end_with(leave);
    }

    /// `e.pkt.extract(h);` in a processor: what cannot be read leaves `h` as it was.
    pub(crate) fn extract_again(&mut self, stmt: &Stmt, bp: LocalId) {
        let Ty::Blueprint(kind) = *self.local_type(bp) else { return };
        let def = &self.p.blueprints[kind.index()];
        let name = self.names.own(&def.name);
        let local = self.local(bp);
        let ty = self.names.declared(&def.name);
        self.w.open("{");
        self.line(stmt, format!("CARRICK_READ_AGAIN(core, struct {ty}, {}_, {local});", def.name));
        self.open_at(stmt, format!("if ({name}_extract(core, CARRICK_LOOKED_AT(core), again__)) {{"));
        self.line(stmt, format!("{local} = *again__;"));
        for field in &self.p.net_header.fields {
            let member = net_member(field.field);
            let (to, from) = (
                format!("{local}.net__.{member}"),
                format!("CARRICK_IP(core, CARRICK_LOOKED_AT(core))->{member}"),
            );
            let text = match field.ty {
                Ty::Array(..) => format!("CARRICK_COPY_ARRAY({to}, {from});"),
                _ => format!("{to} = {from};"),
            };
            self.line(stmt, text);
        }
        self.w.close("}");
        self.w.close("}");
    }

    /// `rx`, for a host that knows no interfaces, and `tx_interface`.
    pub(crate) fn rx_by_any(&mut self) {
        self.open_own(
            "static int ",
            "rx",
            "struct carrick_core *core, const uint8_t *octets, uint32_t len, uint64_t now",
        );
        self.w.end_with(format!("return {}(core, 0, octets, len, now);", self.names.own("rx_on")));
        let core = self.names.own("core");
        self.open_own("static uint32_t ", "tx_interface", "const struct carrick_core *core");
        self.w.end_with(format!("return ((const struct {core} *)core)->store.left_by;"));
    }

    /// In `tx`: what leaves as it came goes before what is made.
    pub(crate) fn leaving(&mut self) {
        if self.p.in_network.is_none() {
            return;
        }
        self.w.line("uint32_t whole = carrick_store_next(&core->store, out, cap, core->counters);");
        self.w.line("if (whole)\n    return whole;");
    }

    /// In the function that lays out the core's memory.
    pub(crate) fn store_layout(&mut self) {
        let Some(packets) = &self.p.in_network else { return };
        let packets = self.value(packets);
        self.w.line(format!("uint64_t packets = {packets};"));
        self.w.line("if (packets > 65536)\n    return 0;");
        self.w.line("uint32_t buckets = carrick_store_buckets(packets);");
        self.w.line("core->store.capacity = (uint32_t)packets;");
        self.w.line("core->store.room = config->mtu;");
        self.w.line("core->store.mask = buckets - 1;");
        self.w.line("core->store.held = (struct carrick_held *)(void *)carrick_place(base, &at, (packets + 1) * sizeof(struct carrick_held));");
        self.w.line(
            "core->store.first = (uint32_t *)(void *)carrick_place(base, &at, buckets * sizeof(uint32_t));",
        );
        self.w.line(
            "core->store.last = (uint32_t *)(void *)carrick_place(base, &at, buckets * sizeof(uint32_t));",
        );
        self.w.line("core->store.octets = carrick_place(base, &at, (packets + 1) * config->mtu);");
    }
}
