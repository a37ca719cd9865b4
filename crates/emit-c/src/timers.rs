// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions on timers.

use carrick_ir::{ContextDef, Opcode};

use crate::Emitter;

impl Emitter<'_> {
    pub(crate) fn timer_instructions(&mut self, ctx: &ContextDef) {
        if ctx.timers.is_empty() {
            return;
        }
        let timer = format!("&c->timers__[{}]", self.bounded("timer".into(), ctx.timers.len() as u32));
        let arm = self.dialect.arm_timer(self, &timer);
        self.timer_instruction(
            ctx,
            "start",
            Opcode::TimerStart,
            &format!("if (!carrick_timer_armed({timer}))\n    {arm}"),
        );
        self.timer_instruction(ctx, "restart", Opcode::TimerRestart, &arm);
        let stop = self.dialect.stop_timer(&timer);
        self.timer_instruction(ctx, "stop", Opcode::TimerStop, &stop);
    }

    fn timer_instruction(&mut self, ctx: &ContextDef, what: &str, op: Opcode, does: &str) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let (core, stops) = (self.core_param(), what == "stop");
        let after = if stops { "" } else { ", int64_t after" };
        self.w.open(format!(
            "CARRICK_INLINE void {name}_timer_{what}({core}, struct {ty} *c, uint32_t timer{after}) {{"
        ));
        let handle = format!("{name}_handle(c)");
        let words = [&*handle, "timer", "(uint64_t)after"];
        self.trace_instr(op, &words[..if stops { 2 } else { 3 }]);
        self.w.line(does);
        self.w.end();
    }
}
