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
        let arm = self.arm_timer(&timer);
        self.timer_instruction(
            ctx,
            "start",
            Opcode::TimerStart,
            &format!("if (!carrick_timer_armed({timer}))\n    {arm}"),
        );
        self.timer_instruction(ctx, "restart", Opcode::TimerRestart, &arm);
        let stop = self.stop_timer(&timer);
        self.timer_instruction(ctx, "stop", Opcode::TimerStop, &stop);
    }

    fn timer_instruction(&mut self, ctx: &ContextDef, what: &str, op: Opcode, does: &str) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let (core, stops) = (self.core_param(), what == "stop");
        let after = if stops { "" } else { ", int64_t after" };
        self.w.open(format!(
            "CARRICK_INLINE void {name}_timer_{what}({core}, struct {ty} *c, uint32_t timer{after}) {{"
        ));
        let after = (!stops).then(|| "after".to_owned());
        let words = [format!("{name}_handle(c)"), "timer".into()].into_iter().chain(after);
        self.trace_instr(op, &words.collect::<Vec<_>>());
        self.w.line(does);
        self.w.close("}");
        self.w.blank();
    }

    /// C that makes a timer run for `after` from now on.
    fn arm_timer(&self, timer: &str) -> String {
        match self.kernel {
            true => {
                format!("carrick_timer_begin({timer}, {}(), core->now, after);", self.names.own("shared"))
            }
            false => format!("carrick_timer_restart(&core->wheel, {timer}, core->now, after);"),
        }
    }

    fn stop_timer(&self, timer: &str) -> String {
        match self.kernel {
            true => format!("carrick_timer_stop({timer});"),
            false => format!("carrick_timer_stop(&core->wheel, {timer});"),
        }
    }
}
