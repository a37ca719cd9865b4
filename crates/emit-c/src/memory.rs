// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of requests: payloads that are read from it, and what is put there.

use carrick_ir::{self as ir, BlueprintDef, ContextDef, Frames, Opcode, Stmt};

use crate::Emitter;

impl Emitter<'_> {
    /// Whether the program works on the memory of requests by address, so that the core keeps track of it.
    pub(crate) fn has_memory(&self) -> bool {
        ir::uses::memory(self.p)
    }

    /// Whether the core must know which requests are open: what an address refers to is gone when its request completes.
    pub(crate) fn has_addresses(&self) -> bool {
        let has_units = self.p.contexts.iter().any(ContextDef::holds_data);
        has_units || self.has_memory()
    }

    /// What stands in a payload's `type` for memory of a request.
    pub(crate) fn memory_type(&self) -> usize {
        self.p.contexts.len() + 1
    }

    /// In the layout function: the table of open requests.
    pub(crate) fn memory_layout(&mut self) {
        if !self.has_addresses() {
            return;
        }
        self.w.line("core->memory.mask = 2 * completions - 1;");
        self.w.line(
            "core->memory.open = (struct carrick_open *)(void *)carrick_place(base, &at, 2 * (uint64_t)completions * sizeof(struct carrick_open));",
        );
    }

    /// Where a request completes: its memory is the application's again.
    pub(crate) fn memory_forget(&mut self, token: &str) {
        if self.has_addresses() {
            self.w.line(format!("carrick_memory_forget(&core->memory, {token});"));
        }
    }

    /// Where a request comes, with its `addr_t` field at `addr`.
    pub(crate) fn memory_take(&mut self, addr: &str) {
        if self.has_addresses() {
            self.w.line(format!("carrick_memory_take(&core->memory, {addr}, request->writable);"));
        }
    }

    /// Where a request was handled.
    pub(crate) fn memory_keep(&mut self) {
        if self.has_addresses() {
            self.w.line("carrick_memory_keep(&core->memory, core->completions.open);");
        }
    }

    pub(crate) fn put_data_function(&mut self) {
        if !self.has_memory() {
            return;
        }
        self.w.line("/* put_data: as much as is there, and there is room for. */");
        self.open_on_core(
            "CARRICK_UNUSED static inline void ",
            "put_data",
            ", struct carrick_addr from, uint64_t len, struct carrick_addr to",
        );
        self.w.line("uint64_t put = carrick_memory_put(&core->memory, from, len, to);");
        self.w.line("if (put < len)\n    core->counters[CARRICK_COUNT_RX_CUT]++;");
        self.trace_instr(Opcode::PutData, &["to.token", "put"]);
        self.w.end();
    }

    pub(crate) fn set_payload_at(
        &mut self,
        stmt: &Stmt,
        bp: ir::LocalId,
        addr: &ir::Expr,
        len: &ir::Expr,
        mss: Option<&ir::Expr>,
    ) {
        let mss = mss.map_or_else(|| "UINT64_MAX".into(), |e| self.value(e));
        let (addr, len) = (self.value(addr), self.value(len));
        self.line(stmt, "{");
        self.line(stmt, format!("    struct carrick_addr at__ = {addr};"));
        let payload = self.names.own("payload");
        let text = format!(
            "    {}.payload__ = (struct {payload}){{.ptr = at__.ptr, .token = at__.token, .room = at__.len, .len = {len}, .mss = {mss}, .type = {}}};",
            self.local(bp),
            self.memory_type(),
        );
        self.line(stmt, text);
        self.line(stmt, "}");
    }

    /// In the function that cuts a payload: to the memory that is there, if it is memory.
    pub(crate) fn cut_memory(&mut self) {
        if !self.has_memory() {
            return;
        }
        self.w.open(format!("if (v->type == {}) {{", self.memory_type()));
        self.w.line(
            "uint64_t left = carrick_min64(v->room, carrick_memory_left(&core->memory, v->token, v->ptr));",
        );
        self.w.line("if (left < v->len)");
        self.w.line("    core->counters[CARRICK_COUNT_PAYLOAD_CUT]++;");
        self.w.line("v->len = carrick_min64(v->len, left);");
        self.w.close("}");
    }

    /// Before a packet is made: without the memory that its payload, at `v`, is of, its entry is over.
    fn memory_check(memory: usize, v: &str) -> String {
        format!(
            "if ({v}.type == {memory} && !carrick_memory_left(&core->memory, {v}.token, {v}.ptr)) {{\n    core->counters[CARRICK_COUNT_PAYLOAD_CUT]++;\n    return 0;\n}}"
        )
    }

    /// In a trace: where in which request's memory the segment begins.
    pub(crate) fn segment_of_memory(&mut self) {
        if !self.has_memory() {
            return;
        }
        self.w.open(format!("if (bp->payload__.type == {}) {{", self.memory_type()));
        self.w.line(
            "const struct carrick_open *open = carrick_memory_find(&core->memory, bp->payload__.token);",
        );
        self.w.line("offset += (uint64_t)(bp->payload__.ptr - open->ptr);");
        self.w.line("request = open->writable ? 0 : open->token;");
        self.w.close("}");
    }

    /// Where a packet of an entry is made.
    pub(crate) fn memory_of_packet(&mut self) {
        if self.has_memory() {
            self.w.line("core->last = true;");
            self.w.line(Self::memory_check(self.memory_type(), "bp->payload__"));
        }
    }

    /// The same, of frames.
    pub(crate) fn memory_of_frames(&mut self, frames: &Frames) {
        if self.has_memory() {
            self.w.line("core->last = true;");
            let memory = self.memory_type();
            self.each_payload(frames, "bp", |v| Self::memory_check(memory, v).replace('\n', "\n    "));
        }
    }

    /// In a function that makes a packet: `padding`, the zeros behind the payload.
    pub(crate) fn padding(&mut self, bp: &BlueprintDef) {
        if bp.payload_align > 1 {
            let n = bp.payload_align;
            self.w.line(format!("uint64_t padding = ({n} - payload_len % {n}) % {n};"));
        }
    }

    /// The zeros themselves; they count as payload from here on.
    pub(crate) fn pad(&mut self, bp: &BlueprintDef) {
        if bp.payload_align > 1 {
            self.w.line("memset(p + header_len + payload_len, 0, padding);");
            self.w.line("payload_len += padding;");
        }
    }
}
