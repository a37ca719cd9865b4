// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data units: what lies in the map of a context's memory, and the instructions on it.

use carrick_ir::{self as ir, ContextDef, Expr, fold};

use crate::Emitter;
use crate::pkt_gen::Unit;

/// Of which direction a ring is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Tx,
    Rx,
}

/// Whether instances of a context have units.
pub(super) fn has_units(ctx: &ContextDef) -> bool {
    ctx.tx_capacity.is_some() || ctx.rx_capacity.is_some()
}

/// How the RX units of a context grow, in bytes: what a block has, and what the largest unit is.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    block: u64,
    most: u64,
}

impl Blocks {
    /// Entries of a table: two blocks of a unit never share one.
    fn table(self) -> u64 {
        2 * self.most / self.block
    }
}

impl Emitter<'_> {
    /// Blocks, if the RX units of a context grow, with the parameters as they are by default.
    fn blocks(&self, ctx: &ContextDef) -> Option<Blocks> {
        let default = |id: ir::ParamId| self.p.params.get(id.index()).map(|p| p.default);
        let (block, most) = ir::units::blocks(self.p, ctx, &default)?;
        Some(Blocks { block, most })
    }

    /// Bytes of a ring, with the parameters as they are by default; 0: there is none.
    fn ring_octets(&self, ctx: &ContextDef, way: Way) -> u64 {
        let capacity: &Option<Expr> = if way == Way::Tx { &ctx.tx_capacity } else { &ctx.rx_capacity };
        let default = |id: ir::ParamId| self.p.params.get(id.index()).map(|p| p.default);
        let octets = capacity.as_ref().map(|octets| fold::fold(self.p, octets, &default).unwrap_or(1));
        octets.map_or(0, |octets| octets.max(1).next_power_of_two())
    }

    /// Whether packets carry bytes of units.
    pub(super) fn sends_units(&self) -> bool {
        self.p.contexts.iter().any(|c| c.tx_capacity.is_some())
    }

    pub(super) fn has_any_units(&self) -> bool {
        self.p.contexts.iter().any(has_units)
    }

    /// How bytes come out of the frame or a request.
    pub(super) fn fetching(&mut self) {
        if self.has_any_units() {
            self.include("fetch");
        }
    }

    pub(super) fn memory_name(&self, number: usize) -> String {
        self.names.own(&format!("memory_{number}"))
    }

    /// The structs of all contexts' memory.
    pub(super) fn memory_structs(&mut self) {
        for (number, ctx) in self.p.contexts.iter().enumerate().filter(|(_, c)| has_units(c)) {
            let [tx, rx] = [Way::Tx, Way::Rx].map(|way| self.ring_octets(ctx, way));
            let blocks = self.blocks(ctx);
            self.w.line(match blocks {
                None => format!("/* What `{}` sends and receives: a ring for each. */", ctx.name),
                Some(_) => {
                    format!("/* What `{}` sends: a ring. What it receives: blocks, each + 1. */", ctx.name)
                }
            });
            self.w.open(format!("struct {} {{", self.memory_name(number)));
            if let Some(blocks) = blocks {
                self.w.line(format!("uint32_t blocks[{}];", blocks.table()));
            }
            let rx = if blocks.is_some() { 0 } else { rx };
            self.w.line(format!("uint8_t octets[{tx}u + {rx}u + CARRICK_PIECE];"));
            self.w.end_type();
            if let Some(blocks) = blocks {
                self.w.open(format!("struct {}_block {{", self.names.own(&ctx.name)));
                self.w.line(format!("uint8_t octets[{}u + CARRICK_PIECE];", blocks.block));
                self.w.end_type();
            }
        }
    }

    pub(super) fn memory_maps(&mut self) {
        if self.has_any_units() {
            self.map("carrick_requests", "ARRAY", 64, Some(("uint32_t", "struct carrick_staged")));
            self.map("carrick_open", "HASH", 64, Some(("uint64_t", "uint32_t")));
        }
        for (number, ctx) in self.p.contexts.iter().enumerate().filter(|(_, c)| has_units(c)) {
            let (memory, capacity) = (format!("struct {}", self.memory_name(number)), self.capacity(ctx));
            self.map(&format!("memory_{number}"), "ARRAY", capacity, Some(("uint32_t", &memory)));
            if self.blocks(ctx).is_some() {
                let block = format!("struct {}_block", self.names.own(&ctx.name));
                self.map(&format!("blocks_{number}"), "ARRAY", capacity, Some(("uint32_t", &block)));
                self.map(&format!("unused_{number}"), "STACK", capacity, None);
                self.map(&format!("grown_{number}"), "ARRAY", 1, Some(("uint32_t", "uint64_t")));
            }
        }
    }

    /// All that is done with the units of a context.
    pub(super) fn unit_functions(&mut self, ctx: &ContextDef, number: usize) {
        for way in [Way::Tx, Way::Rx] {
            if self.ring_octets(ctx, way) == 0 {
                continue;
            }
            let begin = if way == Way::Tx { 0 } else { self.ring_octets(ctx, Way::Tx) };
            self.w.line(format!("#define CARRICK_CONTEXT(name) {}_##name", self.names.own(&ctx.name)));
            self.w.line(format!("#define CARRICK_INSTANCE struct {}", self.names.declared(&ctx.name)));
            self.w.line(format!("#define CARRICK_INSTANCES slots_{number}"));
            self.w.line(format!("#define CARRICK_MEMORY struct {}", self.memory_name(number)));
            self.w.line(format!("#define CARRICK_MEMORIES memory_{number}"));
            self.w.line(format!("#define CARRICK_RING {}u", self.ring_octets(ctx, way)));
            self.w.line(format!("#define CARRICK_RING_BEGIN {begin}u"));
            match way {
                Way::Tx => {
                    self.include("sending");
                    self.sending_instructions(ctx);
                }
                Way::Rx => {
                    self.blocks_named(ctx, number);
                    self.include("receiving");
                    self.room_functions(ctx);
                    self.receiving_instructions(ctx);
                }
            }
        }
    }

    /// What the header of receiving has to know of a unit that grows.
    fn blocks_named(&mut self, ctx: &ContextDef, number: usize) {
        let Some(blocks) = self.blocks(ctx) else { return };
        self.w.line(format!("#define CARRICK_BLOCK {}u", blocks.block));
        self.w.line(format!("#define CARRICK_TABLE {}u", blocks.table()));
        self.w.line(format!("#define CARRICK_MOST {}u", blocks.most));
        self.w.line(format!("#define CARRICK_BLOCKS_OF blocks_{number}"));
        self.w.line(format!("#define CARRICK_BLOCKS_FREE unused_{number}"));
        self.w.line(format!("#define CARRICK_GROWN grown_{number}"));
    }

    fn room_functions(&mut self, ctx: &ContextDef) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let core = self.core_param();
        self.w.open(format!("CARRICK_INLINE void {name}_rx_begin({core}, struct {ty} *c, uint64_t size) {{"));
        self.w.end_with(format!("{name}_rx_start(c, size);"));
        self.w.open(format!("CARRICK_INLINE void {name}_rx_fit({core}, struct {ty} *c, uint64_t size) {{"));
        let pool = ctx.rx_growth.as_ref().map_or("0u".into(), |growth| self.value(&growth.pool));
        self.w.end_with(format!("{name}_rx_room(c, size, {pool});"));
    }

    /// What an instance that goes leaves of its units: it keeps its slot while packets of them wait.
    pub(super) fn units_end(&mut self, ctx: &ContextDef) {
        if ctx.rx_capacity.is_some() {
            self.w.line(format!("{}_rx_close(c);", self.names.own(&ctx.name)));
        }
        if ctx.tx_capacity.is_some() {
            self.w.line("c->tx__.open = false;");
            self.w.line("(void)__sync_lock_test_and_set(&c->live__, 2);");
            self.w.line("bool waits = CARRICK_READ(c->tx__.pending) != 0;");
        } else {
            self.w.line("const bool waits = false;");
        }
    }

    /// Functions on the payload of the packet that was made, in `core->payload`: its sum, and putting it into the frame
    /// after `begin` bytes.
    pub(super) fn unit_payload_functions(&mut self) {
        if !self.sends_payloads() {
            return;
        }
        let core = self.names.own("core");
        self.open_on_core("CARRICK_GLOBAL_FN uint64_t ", "payload_sum", "");
        self.w.line("CARRICK_GIVEN(core);");
        self.if_put_together("carrick_laid_sum(assembly_buffer, core->payload.len)");
        self.each_unit(|name| format!("return {name}_tx_sum(m, core->payload.offset, core->payload.len);"));
        self.w.end_with("return 0;");
        let show = self.names.own("payload_show");
        self.w.open(format!(
            "CARRICK_GLOBAL_FN int {show}(struct xdp_md *ctx, struct {core} *core, uint32_t begin) {{"
        ));
        self.w.line("(void)ctx;\n(void)begin;");
        self.w.line("CARRICK_GIVEN(core);");
        self.if_put_together("carrick_laid_show(ctx, assembly_buffer, begin, core->payload.len)");
        self.each_unit(|name| {
            format!("return {name}_tx_show(ctx, m, core->payload.offset, begin, core->payload.len);")
        });
        self.w.end_with("return 0;");
    }

    /// The same, where the payload was put together.
    fn if_put_together(&mut self, done: &str) {
        if self.makes_frames() {
            self.w.open(format!("if (core->payload.type == {}) {{", self.put_together()));
            self.w.line("struct carrick_laid *assembly_buffer = carrick_laid_here();");
            self.w.line(format!("return assembly_buffer ? {done} : 0;"));
            self.w.close("}");
        }
    }

    /// For each context whose unit `core->payload` may be of: what is done with `m`, the memory.
    pub(super) fn each_unit(&mut self, done: impl Fn(&str) -> String) {
        for Unit { number, index, name, .. } in self.units_sent() {
            self.w.open(format!("if (core->payload.type == {number}) {{"));
            self.w.line("uint32_t slot = core->payload.slot;");
            let memory = self.memory_name(index);
            self.w.line(format!("struct {memory} *m = bpf_map_lookup_elem(&memory_{index}, &slot);"));
            self.w.line("CARRICK_GIVEN(m);");
            self.w.line(done(&name));
            self.w.close("}");
        }
    }
}
