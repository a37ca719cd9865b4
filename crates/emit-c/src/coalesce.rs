// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coalescing rules: a blueprint takes the place of one that waits, or is taken up by it.

use carrick_ir::BlueprintDef;

use crate::Emitter;
use crate::core_struct::QUEUE;
use crate::names::safe;

impl Emitter<'_> {
    /// Whether a packet may stand for one that waits.
    pub fn coalesces(&self) -> bool {
        !self.p.coalescing.is_empty()
    }

    /// Where the newest entry of a context stands.
    pub fn newest_at(&mut self) {
        self.w.line("/* Where the newest blueprint of the context with this handle stands, or stood; NULL without a context. */");
        self.open_on_core("CARRICK_INLINE uint64_t *", "newest_at", ", uint64_t handle");
        for (index, ctx) in self.p.contexts.iter().enumerate() {
            let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
            self.w.open(format!("if (handle >> 56 == {}) {{", index + 1));
            self.w.line(format!("struct {ty} *c = {name}_at(core, (uint32_t)handle);"));
            self.w.line("if (!c)\n    return NULL;");
            // Else the compiler reckons with it before it asks.
            self.w.line("CARRICK_BARRIER_VAR(c);");
            self.w.line("return &c->newest__;");
            self.w.close("}");
        }
        self.w.end_with("return NULL;");
    }

    /// The newest entry of a context.
    pub(crate) fn newest_functions(&mut self) {
        if !self.coalesces() {
            return;
        }
        self.newest_at();
        let entry = self.names.own("entry");
        self.w.line(
            "/* The newest blueprint of the context, if it still waits and no packet is made of it. */",
        );
        self.open_on_core(
            &format!("CARRICK_UNUSED static inline struct {entry} *"),
            "newest",
            ", uint64_t handle",
        );
        self.w.line(format!("const uint64_t *newest = {}(core, handle);", self.names.own("newest_at")));
        self.w.line("uint32_t at = newest ? (uint32_t)*newest : 0;");
        if self.many_queues() {
            self.w.line("if (!at)\n    return NULL;");
            self.w.line(format!("struct {entry} *e = &core->queue[at - 1];"));
            self.w.line("return e->waits && e->handle == handle && !e->done && !e->sent ? e : NULL;");
        } else {
            self.w.line("if (!newest || at - core->queue_head >= core->queue_tail - core->queue_head)");
            self.w.line("    return NULL;");
            self.w.line(format!("struct {entry} *e = &core->queue[at & {}];", QUEUE - 1));
            self.w.line("return e->handle == handle && !e->done && !e->sent ? e : NULL;");
        }
        self.w.end();
    }

    /// In a generate function, behind `e`: it is the newest of its context now.
    pub(crate) fn note_newest(&mut self) {
        if !self.coalesces() {
            return;
        }
        self.w.line(format!("uint64_t *newest = {}(core, chain->handle);", self.names.own("newest_at")));
        self.w.line(format!("if (newest)\n    *newest = CARRICK_ENTRY_PLACE({});", self.entry_place()));
    }

    /// In a generate function, once `payload` is cut: lets the one that waits stand for both.
    pub(crate) fn coalesce(&mut self, index: usize, bp: &BlueprintDef) {
        let rules: Vec<_> = self.p.coalescing.iter().filter(|rule| rule.blueprint.index() == index).collect();
        if rules.is_empty() {
            return;
        }
        let entry = self.names.own("entry");
        self.w.line(format!("struct {entry} *old = {}(core, chain->handle);", self.names.own("newest")));
        let same = if self.many_queues() { " && old->queue == queue" } else { "" };
        self.w.open(format!("if (old && old->kind == {index}u{same}) {{"));
        self.w.line(format!("struct {} *prev = &old->bp.{}_;", self.names.declared(&bp.name), bp.name));
        self.w.line("CARRICK_UNUSED uint64_t payload_len = payload.len;");
        for rule in rules {
            let when = self.header_expr(&rule.when, bp, "bp->");
            let free = if rule.takes.is_empty() { "!prev->payload__.len" } else { "!payload.len" };
            self.w.open(format!("if ({free} && {when}) {{"));
            self.w.line("core->counters[CARRICK_COUNT_TX_COALESCED]++;");
            if rule.takes.is_empty() {
                self.w.line("*prev = *bp;");
                self.w.line("prev->payload__ = payload;");
                self.w.line("old->rules = rules;");
                self.w.line("if (unit)");
                self.w.line("    prev->payload__.round = carrick_tx_queued(unit, payload.offset);");
            }
            for take in &rule.takes {
                let field = safe(&bp.fields[*take as usize].name);
                self.w.line(format!("prev->{field} = bp->{field};"));
            }
            self.dialect.entry_waits(self, "old");
            self.w.close("}");
        }
        self.w.close("}");
    }
}
