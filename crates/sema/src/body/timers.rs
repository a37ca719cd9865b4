// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions on timers, and what their events will say.
//!
//! The context keeps the fields of the event from the start of the timer on: starting one is an assignment to each of these, and
//! the instruction.

use carrick_ir::{self as ir, ExprKind, Instr, LocalId, Opcode, Proj, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use super::Body;
use super::place::Node;
use crate::codes;

/// A timer that an instruction names.
struct Named {
    ctx: LocalId,
    timer: ir::TimerId,
    /// of several timers under one name: which
    which: Option<ir::Expr>,
}

impl Body<'_, '_> {
    /// `timer_start(c.t, after)`, `timer_start(c.t[i], after, { field = value })`, `timer_stop(c.t)`.
    pub(super) fn timer(&mut self, op: Opcode, args: &[ast::Expr], span: Span) -> Option<Instr> {
        let Some(first) = args.first() else {
            return self.wrong_count(0, if op == Opcode::TimerStop { "1" } else { "2" }, span);
        };
        let Named { ctx, timer, which } = self.timer_named(first)?;
        if op == Opcode::TimerStop {
            self.count(args, 1, span)?;
            return Some(Instr::TimerStop { ctx, timer, which });
        }
        let says = self.timer_def(ctx, timer)?.says.clone();
        if says.is_empty() {
            self.count(args, 2, span)?;
        } else if args.len() == 2 {
            return self.says_nothing(ctx, timer, span);
        } else {
            self.count(args, 3, span)?;
        }
        let after = self.value_of_type(&args[1], &Ty::Duration)?;
        if self.cx.fold(&after).is_some_and(|ns| (ns as i64) < 1) {
            let mend = "use a duration above zero, or do it here";
            self.advise(
                codes::TIMER_AT_ONCE,
                "this timer does not wait",
                args[1].span,
                "counts as 1ns",
                mend,
            );
        }
        let restart = op == Opcode::TimerRestart;
        let (which, after) = match args.get(2) {
            Some(event) => {
                let after = self.kept(after, args[1].span);
                let which = which.map(|which| self.kept(which, first.span));
                self.keep_event(&Named { ctx, timer, which: which.clone() }, &says, event, !restart)?;
                (which, after)
            }
            None => (which, after),
        };
        Some(if restart {
            Instr::TimerRestart { ctx, timer, which, after }
        } else {
            Instr::TimerStart { ctx, timer, which, after }
        })
    }

    fn timer_named(&mut self, e: &ast::Expr) -> Option<Named> {
        if let ast::ExprKind::Name(name) = &e.kind
            && self.find(name).is_none()
            && let Some(def) = self.cx.env.get(name)
        {
            let message = format!("`{name}` is {}, not a timer", crate::unknown::kind(def));
            let mend = "begin with the timer: `timer_start(c.a_timer, a_duration)`";
            return self.wrong_argument(codes::NOT_A_TIMER, &message, e.span, mend);
        }
        let Node::Timer(ctx, timer, which) = self.node(e)? else {
            let mend = "name a timer of the context: `c.a_timer`, or `c.timers[i]` of several";
            return self.wrong_argument(codes::NOT_A_TIMER, "this is not a timer", e.span, mend);
        };
        if !self.is_parameter(ctx) {
            let mend = "raise a flow event to the new context and start the timer in its processor";
            let message = "a context that has not been created has no timers";
            return self.wrong_argument(codes::UNMADE_TIMER, message, e.span, mend);
        }
        Some(Named { ctx, timer, which })
    }

    pub(super) fn timer_def(&self, ctx: LocalId, timer: ir::TimerId) -> Option<&ir::TimerDef> {
        let Ty::Context(kind) = self.locals[ctx.index()].ty else { return None };
        self.cx.program.contexts[kind.index()].timers.get(timer.index())
    }

    fn says_nothing<T>(&mut self, ctx: LocalId, timer: ir::TimerId, span: Span) -> Option<T> {
        let event = self.timer_def(ctx, timer)?.event;
        let event = &self.cx.program.events[event.index()];
        let fields: Vec<String> = event.fields.iter().map(|field| format!("{} = ...", field.name)).collect();
        let message = format!("the event `{}` has fields, but no values are given", event.name);
        self.report(
            Diagnostic::error(codes::TIMER_FIELDS, message, span, "this call")
                .note("the timer keeps them until it fires")
                .mend(format!("add `{{ {} }}` as the last argument", fields.join(", "))),
        )
    }

    /// Puts what the event will say into the context, unless a timer that runs already keeps what it says.
    fn keep_event(
        &mut self,
        named: &Named,
        says: &[u32],
        event: &ast::Expr,
        unless_armed: bool,
    ) -> Option<()> {
        let kind = self.timer_def(named.ctx, named.timer)?.event;
        let ty = Ty::Event(kind);
        let from = match self.variable(event, |found| *found == ty) {
            Some(variable) => variable,
            None => self.event_record(&ty, event)?,
        };
        let mut stmts = Vec::new();
        for (at, field) in says.iter().enumerate() {
            let of_event = self.cx.program.events[kind.index()].fields[at].ty.clone();
            let mut value = self.local_place(from);
            value.path.push(Proj::Field(at as u32));
            value.ty = of_event.clone();
            let value = self.make(ExprKind::Load(value), of_event.clone(), event.span);
            let mut place = self.local_place(named.ctx);
            place.path.push(Proj::Field(*field));
            place.path.extend(named.which.clone().map(Proj::Index));
            place.ty = of_event;
            stmts.push(ir::Stmt { kind: StmtKind::Assign { place, value }, loc: self.at });
        }
        if !unless_armed {
            self.out.extend(stmts);
            return Some(());
        }
        let which = named.which.clone().map(Box::new);
        let armed = self.make(ExprKind::TimerArmed(named.ctx, named.timer, which), Ty::Bool, event.span);
        let cond = self.make(ExprKind::Unary(ir::UnOp::Not, Box::new(armed)), Ty::Bool, event.span);
        self.emit(StmtKind::If { cond, then: ir::Block { stmts }, otherwise: ir::Block::default() });
        Some(())
    }
}
