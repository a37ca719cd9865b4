//! A program in the network: what becomes of packets that are not its own.

use carrick_ir::{Expr, Instr};

use crate::Emitter;

/// An interface: the last one for all that is above.
fn interface(e: &str) -> String {
    format!("(uint32_t)carrick_min64({e}, 1)")
}

impl Emitter<'_> {
    pub(crate) fn packet_instr(&mut self, instr: &Instr) {
        match instr {
            Instr::Forward { interface: to } => {
                let to = interface(&self.expr(to));
                self.trace_instr(17, std::slice::from_ref(&to));
                self.w.line(format!("carrick_store_forward(&core->store, {to}, core->counters);"));
            }
            Instr::Drop => {
                self.trace_instr(18, &[]);
                self.w.line("(void)carrick_store_decide(&core->store, core->counters);");
            }
            Instr::PktStore { key } => {
                let key = self.expr(key);
                self.trace_instr(19, std::slice::from_ref(&key));
                self.w.line(format!("carrick_store_put(&core->store, {key}, core->counters);"));
            }
            Instr::PktRelease { key, interface: to } => {
                let to = interface(&self.expr(to));
                self.take(20, key, Some(to));
            }
            Instr::PktDiscard { key } => self.take(21, key, None),
            _ => {}
        }
    }

    /// Takes what is kept under a key: it leaves by an interface, or is forgotten.
    fn take(&mut self, number: u32, key: &Expr, to: Option<String>) {
        let key = self.expr(key);
        self.w.open("{");
        self.w.line(format!("uint64_t key__ = {key};"));
        if let Some(to) = &to {
            self.w.line(format!("uint32_t to__ = {to};"));
        }
        let way = if to.is_some() { "to__" } else { "2" };
        self.w.line(format!(
            "CARRICK_UNUSED uint32_t count__ = carrick_store_take(&core->store, key__, {way});"
        ));
        let words = ["key__", "to__", "count__"].into_iter().filter(|w| to.is_some() || *w != "to__");
        self.trace_instr(number, &words.map(str::to_owned).collect::<Vec<_>>());
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
        self.w.line("    carrick_store_look(&core->store, octets, carrick_load16(octets + 2), interface);");
        self.w.open("if (other) {");
        self.w.line("carrick_store_pass(&core->store, core->counters);");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("ip.interface = (uint8_t)core->store.interface;");
    }

    /// `rx`, for a host that knows no interfaces, and `tx_interface`.
    pub(crate) fn rx_by_any(&mut self) {
        self.w.open(format!(
            "static int {}(struct carrick_core *core, const uint8_t *octets, uint32_t len, uint64_t now) {{",
            self.names.own("rx")
        ));
        self.w.line(format!("return {}(core, 0, octets, len, now);", self.names.own("rx_on")));
        self.w.close("}");
        self.w.blank();
        let core = self.names.own("core");
        self.w.open(format!(
            "static uint32_t {}(const struct carrick_core *core) {{",
            self.names.own("tx_interface")
        ));
        self.w.line(format!("return ((const struct {core} *)core)->store.left_by;"));
        self.w.close("}");
        self.w.blank();
    }

    /// In `tx`: what leaves as it came goes before what is made.
    pub(crate) fn leaving(&mut self) {
        if self.p.in_network.is_none() {
            return;
        }
        self.w.line("uint32_t whole = carrick_store_next(&core->store, out, cap, core->counters);");
        self.w.line("if (whole)");
        self.w.line("    return whole;");
    }

    /// In the function that lays out the core's memory.
    pub(crate) fn store_layout(&mut self) {
        let Some(packets) = &self.p.in_network else { return };
        let (packets, take) = (self.expr(packets), self.names.own("take"));
        self.w.line(format!("uint64_t packets = {packets};"));
        self.w.line("if (packets > 65536)");
        self.w.line("    return 0;");
        self.w.line("uint32_t buckets = carrick_store_buckets(packets);");
        self.w.line("core->store.capacity = (uint32_t)packets;");
        self.w.line("core->store.room = config->mtu;");
        self.w.line("core->store.mask = buckets - 1;");
        self.w.line(format!(
            "core->store.held = (struct carrick_held *)(void *){take}(base, &at, (packets + 1) * sizeof(struct carrick_held));"
        ));
        self.w.line(format!(
            "core->store.first = (uint32_t *)(void *){take}(base, &at, buckets * sizeof(uint32_t));"
        ));
        self.w.line(format!(
            "core->store.last = (uint32_t *)(void *){take}(base, &at, buckets * sizeof(uint32_t));"
        ));
        self.w.line(format!("core->store.octets = {take}(base, &at, (packets + 1) * config->mtu);"));
    }
}
