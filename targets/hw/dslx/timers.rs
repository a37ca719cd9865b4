// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers: their state is part of a flow's row, and the chain that runs when the calendar wakes a flow.

use std::fmt::Write;

use carrick_ir::{BinOp, Builtin, EventId, Expr, ExprKind, Loc, Program, TimerDef, TimerId, Ty};

use super::body::Body;
use super::emitter::{Emitted, Emitter};
use super::names::variable;
use super::shape::Shapes;

/// Bits of a timer in a row.
pub const TIMER_BITS: u32 = 112;
/// Bits of what the calendar says of a timer: a moment, and the timer's number.
pub const WOKEN_BITS: u32 = 64;

const TIMERS: &str = include_str!("timers.x");

/// The timers of a program whose chains have one context.
pub fn timers(program: &Program) -> &[TimerDef] {
    program.contexts.first().map_or(&[], |context| &context.timers)
}

/// Whether an event is one of a timer.
pub fn fires(program: &Program, event: EventId) -> bool {
    timers(program).iter().any(|timer| timer.event == event)
}

/// Bits of an event in front of its chain.
pub fn event_bits(program: &Program, shapes: &Shapes<'_>, event: EventId) -> u32 {
    if fires(program, event) { WOKEN_BITS } else { shapes.width(&Ty::Event(event)) }
}

/// What the declaration of what chains issue needs.
pub const TIMER: &str = "// A timer: when it fires, and the moment for which the calendar has it. 0: it does not run; the calendar does not have it.\n\
    pub struct Timer {\n    deadline: u56,\n    wake: u56,\n}\n\n";

/// The functions on timers, behind that declaration.
pub fn functions(program: &Program) -> &'static str {
    if timers(program).is_empty() { "" } else { TIMERS }
}

impl Emitter<'_> {
    /// Writes what starts a timer, or stops it.
    pub fn time(
        &mut self,
        timer: TimerId,
        which: Option<&Expr>,
        start: Option<(&Expr, bool)>,
        loc: Loc,
        body: &mut Body<'_>,
    ) -> Emitted<()> {
        let which = match which {
            Some(which) => Some(format!("(({}) as u64)", self.expr(which, body.scope(loc))?)),
            None => None,
        };
        let at = match &which {
            Some(which) => format!("u32:{} + ({which} as u32)", timer.0),
            None => format!("u32:{}", timer.0),
        };
        let call = match start {
            Some((after, again)) => {
                let (start, time) = match &after.kind {
                    ExprKind::Binary(BinOp::Sub, moment, now) if is_now(now) => {
                        ("timer_start_at", moment.as_ref())
                    }
                    _ => ("timer_start", after),
                };
                let value = self.expr(time, body.scope(loc))?;
                format!("{start}(env, io, {at}, {value}, u1:{})", u32::from(again))
            }
            None => format!("timer_stop(io, {at})"),
        };
        let count = timers(self.program)[timer.index()].count();
        body.line_of(
            loc,
            &match which {
                Some(which) => format!("let io = if {which} < u64:{count} {{ {call} }} else {{ io }};"),
                None => format!("let io = {call};"),
            },
        );
        Ok(())
    }

    /// The event of the timer of this number: its fields are kept in the context.
    pub fn fired(&mut self, event: EventId) -> String {
        let program = self.program;
        let (def, ty) = (&program.events[event.index()], self.ty(&Ty::Event(event)));
        let kept = &program.contexts[0].fields;
        let mut text = String::new();
        for (n, timer) in timers(program).iter().enumerate() {
            if timer.event != event || !timer.is_first() {
                continue;
            }
            let flow = def.id.map(|_| "flow_id: c.id".to_owned());
            let said = def.fields.iter().zip(&timer.says).map(|(field, from)| {
                let from = variable(&kept[*from as usize].name);
                let at = timer.element.map_or(String::new(), |_| format!("[(woken.timer as u32) - u32:{n}]"));
                format!("{}: c.{from}{at}", variable(&field.name))
            });
            let set: Vec<String> = flow.into_iter().chain(said).collect();
            let value = match set.is_empty() {
                true => format!("zero!<{ty}>()"),
                false => format!("{ty} {{ {} }}", set.join(", ")),
            };
            let behind = n as u32 + timer.count();
            let _ = match text.is_empty() {
                true => write!(text, "{value}"),
                false => {
                    let before = std::mem::take(&mut text);
                    write!(
                        text,
                        "if woken.timer >= u8:{n} && woken.timer < u8:{behind} {{ {value} }} else {{ {before} }}"
                    )
                }
            };
        }
        text
    }
}

fn is_now(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Builtin(which, _) => *which == Builtin::Now,
        ExprKind::Cast(x) => is_now(x),
        _ => false,
    }
}
