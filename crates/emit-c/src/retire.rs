// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instances that `new_ctx` may delete: the list of them (`carrick/retired.h`), and the instructions on it.

use carrick_ir::{self as ir, ContextDef, Opcode};

use crate::Emitter;

impl Emitter<'_> {
    /// Whether instances of a context are retired.
    pub fn retires(&self, ctx: &ContextDef) -> bool {
        ir::uses::retired(self.p).iter().any(|id| self.p.contexts[id.index()].name == ctx.name)
    }

    /// Members of an instance that can be retired.
    pub fn retired_members(&mut self, ctx: &ContextDef) {
        if self.retires(ctx) {
            self.w.line("uint32_t older__, newer__; /* carrick/retired.h */");
        }
    }

    /// `retire_ctx`, and what takes an instance out of the list again; and the declaration of what reclaims one.
    pub(crate) fn retire_functions(&mut self, ctx: &ContextDef, index: usize) {
        if !self.retires(ctx) {
            return;
        }
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let core = self.core_param();
        let list = format!("CARRICK_RETIRED(core, {}, {index}, all);", ctx.name);
        self.w.line("/* The instance may not be deleted for a new one any more, or is gone. */");
        self.w.open(format!("CARRICK_GLOBAL_FN int {name}_keep({core}, struct {ty} *c) {{"));
        self.w.line("CARRICK_GIVEN(core && c);");
        self.w.line(&list);
        self.w.line("CARRICK_HOLD(&all->held);");
        self.w.open("if (c->newer__) {");
        self.neighbour(&ty, &name, "older", "newer", "oldest");
        self.neighbour(&ty, &name, "newer", "older", "newest");
        self.w.line("c->older__ = c->newer__ = 0;");
        self.w.close("}");
        self.w.line("CARRICK_RELEASE(&all->held);");
        self.w.end_with("return 0;");
        self.w.line("/* retire_ctx: the last to be deleted of those that `new_ctx` may delete. */");
        self.w.open(format!("CARRICK_GLOBAL_FN int {name}_retire({core}, struct {ty} *c) {{"));
        self.w.line("CARRICK_GIVEN(core && c);");
        self.trace_instr(Opcode::RetireCtx, &[&format!("{name}_handle(c)")]);
        self.w.line(format!("if (c->newer__)\n    (void){name}_keep(core, c);"));
        self.w.line(&list);
        self.w.line("CARRICK_HOLD(&all->held);");
        self.w.line(format!("struct {ty} *newest = all->newest ? {name}_at(core, all->newest - 1) : NULL;"));
        self.w.line("c->older__ = newest ? all->newest : CARRICK_RETIRED_END;");
        self.w.line("c->newer__ = CARRICK_RETIRED_END;");
        self.w.line("all->newest = c->slot__ + 1;");
        self.w.line(
            "if (newest)\n    newest->newer__ = c->slot__ + 1;\nelse\n    all->oldest = c->slot__ + 1;",
        );
        self.w.line("CARRICK_RELEASE(&all->held);");
        self.w.end_with("return 0;");
        self.w.line(format!("CARRICK_GLOBAL_FN int {name}_reclaim({core});"));
        self.w.blank();
    }

    /// The neighbour on one side of `c` gets that on the other side in its place.
    fn neighbour(&mut self, ty: &str, name: &str, side: &str, other: &str, end: &str) {
        let found = format!("c->{side}__ != CARRICK_RETIRED_END ? {name}_at(core, c->{side}__ - 1) : NULL");
        self.w.line(format!("struct {ty} *{side} = {found};"));
        self.w.line(format!("if ({side})\n    {side}->{other}__ = c->{other}__;"));
        self.w
            .line(format!("else\n    all->{end} = c->{other}__ != CARRICK_RETIRED_END ? c->{other}__ : 0;"));
    }

    /// In the function that makes `c`, if there was no vacant slot.
    pub(crate) fn reclaims(&mut self, ctx: &ContextDef, name: &str) {
        if self.retires(ctx) {
            self.w.line(format!("if (!c && !{name}_find(core, &id) && {name}_reclaim(core))"));
            self.w.line(format!("    c = {name}_vacant(core);"));
        }
    }

    /// In the function that removes `c`.
    pub fn removed_is_kept(&mut self, ctx: &ContextDef) {
        if self.retires(ctx) {
            let name = self.names.own(&ctx.name);
            self.w.line(format!("if (c->newer__)\n    (void){name}_keep(core, c);"));
        }
    }

    /// What deletes the instance that was retired first. Behind the function that removes one.
    pub fn reclaim_function(&mut self, ctx: &ContextDef, index: usize) {
        if !self.retires(ctx) {
            return;
        }
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let core = self.core_param();
        self.w.line("/* Deletes the instance that was retired first; 0 if there is none, or its packets are still queued. */");
        self.w.open(format!("CARRICK_GLOBAL_FN int {name}_reclaim({core}) {{"));
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line(format!("CARRICK_RETIRED(core, {}, {index}, all);", ctx.name));
        self.w.line("uint32_t oldest = CARRICK_READ(all->oldest);");
        self.w.line(format!("struct {ty} *c = oldest ? {name}_at(core, oldest - 1) : NULL;"));
        self.w.line("if (!c)\n    return 0;");
        self.w.line("CARRICK_HOLD(&c->held__);");
        let waits = if ctx.tx_capacity.is_some() { " || CARRICK_READ(c->tx__.pending)" } else { "" };
        self.w.open(format!("if (!c->newer__{waits}) {{"));
        self.w.line("CARRICK_RELEASE(&c->held__);");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("core->counters[CARRICK_COUNT_CTX_RECLAIMED]++;");
        self.trace_instr(Opcode::DelCtx, &[&format!("{name}_handle(c)")]);
        self.w.line(format!("{name}_remove(core, c);"));
        self.w.end_with("return 1;");
    }
}
