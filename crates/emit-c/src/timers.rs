// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions on timers.

use carrick_ir::{ContextDef, Expr, LocalId, Opcode, TimerDef, TimerId, Ty};

use crate::Emitter;
use crate::names::safe;
use crate::term::{Binds, CType, Term};

/// The number of a timer of a row.
pub fn plus(first: usize, which: &str) -> String {
    if first == 0 { which.to_owned() } else { format!("{first} + {which}") }
}

impl Emitter<'_> {
    /// An instruction on a timer; nothing behind the last of several.
    pub(crate) fn timer(
        &mut self,
        what: &str,
        (ctx, timer, which): (LocalId, TimerId, Option<&Expr>),
        after: Option<&Expr>,
    ) {
        let after = after.map_or_else(String::new, |e| format!(", {}", self.value(e)));
        let (number, guard) = self.timer_number(ctx, timer, which);
        let (name, c) = (self.context_name(ctx), self.local(ctx));
        let call = format!("{name}_timer_{what}(core, {c}, {number}{after});");
        self.w.line(match guard {
            Some(guard) => format!("if ({guard})\n    {call}"),
            None => call,
        });
    }

    pub(crate) fn timer_armed(&self, ctx: LocalId, timer: TimerId, which: Option<&Expr>) -> Term {
        let (number, guard) = self.timer_number(ctx, timer, which);
        let armed = format!("carrick_timer_armed(&{}->timers__[{number}])", self.local(ctx));
        let c = CType::of(&Ty::Bool);
        match guard {
            Some(guard) => Term { text: format!("{guard} && {armed}"), binds: Binds::And, c },
            None => Term::primary(armed, c),
        }
    }

    /// The number of a timer in its context, and what must hold for there to be one.
    fn timer_number(&self, ctx: LocalId, timer: TimerId, which: Option<&Expr>) -> (String, Option<String>) {
        let Some(which) = which else { return (timer.0.to_string(), None) };
        let Ty::Context(context) = self.local_type(ctx) else { return (timer.0.to_string(), None) };
        let count = self.p.contexts[context.index()].timers[timer.index()].count();
        let (mut index, guard) = self.index_below(which, count);
        if guard.is_some() {
            index = index.cast("uint32_t", CType::Unsigned(32));
        }
        (
            if timer.0 == 0 {
                index.text
            } else {
                format!("{}u + {}", timer.0, index.beside(Binds::Sum, false))
            },
            guard,
        )
    }

    /// Does something for each timer of a context, `c`: the lines for the timer with a number.
    pub fn each_timer(&mut self, ctx: &ContextDef, lines: &dyn Fn(&str) -> Vec<String>) {
        for (first, timer) in ctx.timer_rows() {
            if timer.element.is_none() {
                lines(&first.to_string()).into_iter().for_each(|line| self.w.line(line));
                continue;
            }
            let end = first as u32 + timer.count();
            self.w.open(format!("for (uint32_t at = {first}; at < {end}; at++) {{"));
            lines("at").into_iter().for_each(|line| self.w.line(line));
            self.w.close("}");
        }
    }

    /// Fills the event of a timer of `c` from what that keeps; `which` says which one it is of several.
    pub fn timer_says(&mut self, ctx: &ContextDef, timer: &TimerDef, event: &str, which: &str) {
        let fields = &self.p.events[timer.event.index()].fields;
        for (field, kept) in fields.iter().zip(&timer.says) {
            let from = safe(&ctx.fields[*kept as usize].name);
            let element = if timer.element.is_some() { format!("[{which}]") } else { String::new() };
            let to = format!("{event}{}", safe(&field.name));
            self.w.line(match field.ty {
                Ty::Array(..) => format!("CARRICK_COPY_ARRAY({to}, c->{from}{element});"),
                _ => format!("{to} = c->{from}{element};"),
            });
        }
    }

    /// The instructions on the timers of a context.
    pub fn timer_instructions(&mut self, ctx: &ContextDef) {
        if ctx.timers.is_empty() {
            return;
        }
        let timer = format!("&c->timers__[{}]", self.bounded("timer".into(), ctx.timers.len() as u32));
        let start = format!("CARRICK_TIMER_START(core, {timer}, after);");
        self.timer_instruction(
            ctx,
            "start",
            Opcode::TimerStart,
            &format!("if (!carrick_timer_armed({timer}))\n    {start}"),
        );
        self.timer_instruction(ctx, "restart", Opcode::TimerRestart, &start);
        let stop = format!("CARRICK_TIMER_STOP(core, {timer});");
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
