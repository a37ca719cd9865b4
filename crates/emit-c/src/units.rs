// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions on data units. What is traced and counted of them is the same everywhere; each target has its own functions that
//! copy: `CONTEXT_tx_put`, `CONTEXT_rx_put` and `CONTEXT_rx_take`; and those that give room: `CONTEXT_tx_pass`,
//! `CONTEXT_rx_begin` and `CONTEXT_rx_fit`.

use carrick_ir::{ContextDef, Opcode};

use crate::Emitter;

impl Emitter<'_> {
    /// The instructions on what a context sends.
    pub fn sending_instructions(&mut self, ctx: &ContextDef) {
        let name = self.names.own(&ctx.name);
        self.unit_opens(ctx, "tx", Opcode::NewTxOrderedData);
        self.unit_instruction(
            ctx,
            "tx",
            "add",
            ", struct carrick_addr from, uint64_t len",
            Opcode::AddTxData,
            &["0u"],
        );
        self.w.line(format!("uint64_t taken = {name}_tx_put(core, c, from, len);"));
        self.w.line("if (taken < len)\n    core->counters[CARRICK_COUNT_TX_CUT]++;");
        self.trace_instr(Opcode::AddTxData, &[&format!("{name}_handle(c)"), "taken"]);
        self.w.end();
        self.unit_instruction(ctx, "tx", "flush", ", uint64_t len", Opcode::TxFlushAndNotify, &["0u"]);
        self.w.line(format!("CARRICK_UNUSED uint64_t taken = {name}_tx_pass(core, c, len);"));
        self.trace_instr(Opcode::TxFlushAndNotify, &[&format!("{name}_handle(c)"), "taken"]);
        self.w.end();
    }

    /// The instructions on what a context receives.
    pub fn receiving_instructions(&mut self, ctx: &ContextDef) {
        let (name, complete) = (self.names.own(&ctx.name), self.names.own("complete"));
        self.unit_opens(ctx, "rx", Opcode::NewRxOrderedData);
        let params = ", struct carrick_addr from, uint64_t len, uint64_t offset";
        self.unit_instruction(ctx, "rx", "add", params, Opcode::AddRxDataSeg, &["len", "offset"]);
        self.trace_instr(Opcode::AddRxDataSeg, &[&format!("{name}_handle(c)"), "len", "offset"]);
        self.w.line(format!("enum carrick_rx_result result = {name}_rx_put(core, c, from, len, offset);"));
        self.w.line("if (result == CARRICK_RX_CUT)\n    core->counters[CARRICK_COUNT_RX_CUT]++;");
        self.w.line("else if (result == CARRICK_RX_FULL)");
        self.w.end_with("    core->counters[CARRICK_COUNT_RX_RUNS_FULL]++;");
        self.unit_instruction(
            ctx,
            "rx",
            "flush",
            ", uint64_t len, struct carrick_addr to",
            Opcode::RxFlushAndNotify,
            &["0u"],
        );
        self.w.line(format!("uint64_t taken = {name}_rx_take(core, c, len, to);"));
        self.trace_instr(Opcode::RxFlushAndNotify, &[&format!("{name}_handle(c)"), "taken"]);
        self.w.line("if (to.token)");
        self.w.end_with(format!("    {complete}(core, to.token, CARRICK_OK, taken);"));
        self.unit_instruction(ctx, "rx", "resize", ", uint64_t size", Opcode::RxResize, &["size"]);
        self.trace_instr(Opcode::RxResize, &[&format!("{name}_handle(c)"), "size"]);
        self.w.end_with(format!("{name}_rx_fit(core, c, size);"));
    }

    fn unit_opens(&mut self, ctx: &ContextDef, way: &str, op: Opcode) {
        let name = self.names.own(&ctx.name);
        self.open_on_unit(ctx, way, "open", ", uint64_t size");
        self.trace_instr(op, &[&format!("{name}_handle(c)"), "size"]);
        self.w.line(format!("core->counters[CARRICK_COUNT_UNITS_RESTARTED] += c->{way}__.open;"));
        self.w.end_with(match way {
            "tx" => "carrick_tx_open(&c->tx__, size);".into(),
            _ => format!("{name}_rx_begin(core, c, size);"),
        });
    }

    /// Opens the function of an instruction, which counts where there is no unit; the trace then has the words `none`.
    fn unit_instruction(
        &mut self,
        ctx: &ContextDef,
        way: &str,
        what: &str,
        params: &str,
        op: Opcode,
        none: &[&str],
    ) {
        self.open_on_unit(ctx, way, what, params);
        self.w.open(format!("if (!c->{way}__.open) {{"));
        self.w.line("core->counters[CARRICK_COUNT_NO_UNIT]++;");
        let handle = format!("{}_handle(c)", self.names.own(&ctx.name));
        self.trace_instr(op, &[&[&*handle], none].concat());
        self.w.line("return;");
        self.w.close("}");
    }

    fn open_on_unit(&mut self, ctx: &ContextDef, way: &str, what: &str, params: &str) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let core = self.core_param();
        self.w.open(format!("CARRICK_INLINE void {name}_{way}_{what}({core}, struct {ty} *c{params}) {{"));
    }
}
