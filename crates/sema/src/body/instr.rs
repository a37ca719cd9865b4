// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions.

use carrick_ir::{self as ir, Instr, LocalId, Opcode, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident};
use carrick_syntax::diag::Diagnostic;

use super::{Binding, Body};
use crate::checker::{QueueUse, Wanted};
use crate::codes;
use crate::env::Def;

/// The names of the instructions that are written as calls.
pub(crate) fn instructions() -> impl Iterator<Item = &'static str> {
    Opcode::ALL.iter().filter(|op| op.is_call()).map(|op| op.name())
}

/// Whether this is the name of one of them.
pub(crate) fn is_instruction(name: &str) -> bool {
    instructions().any(|instruction| instruction == name)
}

impl Body<'_, '_> {
    pub(super) fn instruction(&mut self, name: &Ident, args: &[ast::Expr], span: Span) -> Option<Instr> {
        if self.in_parser() {
            return self.report(
                Diagnostic::error(codes::IN_PARSER, "a parser issues no instructions", span, "in a parser")
                    .note("a parser only turns a packet into events")
                    .mend("raise an event, and issue the instruction in its processor"),
            );
        }
        let op = Opcode::named(&name.name)?;
        match op {
            Opcode::NewCtx => self.new_ctx(args, span),
            Opcode::DelCtx => {
                self.count(args, 1, span)?;
                let ctx = self.own_context(&args[0])?;
                if !self.is_keyed_context(ctx) {
                    self.cx.not_for_globals(span, "deleted", "set its fields to their initial values");
                    return None;
                }
                Some(Instr::DelCtx { ctx })
            }
            Opcode::RebindCtx => self.rebind_ctx(args, span),
            Opcode::RetireCtx => {
                self.count(args, 1, span)?;
                let ctx = self.own_context(&args[0])?;
                if !self.is_keyed_context(ctx) {
                    self.cx.not_for_globals(span, "retired", "remove this: it needs no slot");
                    return None;
                }
                Some(Instr::RetireCtx { ctx })
            }
            Opcode::NewTxOrderedData | Opcode::NewRxOrderedData => self.new_unit(op, args, span),
            Opcode::TimerStart | Opcode::TimerRestart | Opcode::TimerStop => self.timer(op, args, span),
            Opcode::Notify => self.notify(args, span),
            Opcode::PutData => self.put_data(args, span),
            Opcode::PktGen => self.pkt_gen(args, span),
            Opcode::SetQueueRate | Opcode::SetQueuePrio => self.set_queue(op, args, span),
            Opcode::Forward
            | Opcode::PktCopy
            | Opcode::Drop
            | Opcode::PktStore
            | Opcode::PktRelease
            | Opcode::PktDiscard => self.packet_instruction(op, args, span),
            Opcode::AddTxData
            | Opcode::TxFlushAndNotify
            | Opcode::AddRxDataSeg
            | Opcode::RxFlushAndNotify
            | Opcode::RxResize => self.data_instruction(op, args, span),
            // A statement of its own.
            Opcode::Raise => None,
        }
    }

    pub(super) fn wrong_argument<T>(
        &mut self,
        code: u16,
        message: &str,
        span: Span,
        mend: &str,
    ) -> Option<T> {
        self.report(Diagnostic::error(code, message, span, "this argument").mend(mend))
    }

    fn own_context(&mut self, e: &ast::Expr) -> Option<LocalId> {
        match self.context_local(e) {
            Some(local) => Some(local),
            None => self.wrong_argument(
                codes::INSTRUCTION_ARGUMENT,
                "this is not the chain's context",
                e.span,
                "pass the processor's context parameter",
            ),
        }
    }

    fn new_ctx(&mut self, args: &[ast::Expr], span: Span) -> Option<Instr> {
        self.count(args, 2, span)?;
        if let ast::ExprKind::Name(name) = &args[0].kind
            && let Some(Binding::Local(value)) = self.find(name)
            && let Ty::Context(ctx) = self.locals[value.index()].ty
            && !self.is_parameter(value)
        {
            if self.cx.program.contexts[ctx.index()].global {
                self.cx.not_for_globals(span, "another instance", "change the fields of the parameter");
                return None;
            }
            let id = Ty::Id(self.cx.program.contexts[ctx.index()].id);
            let id = self.value_of_type(&args[1], &id)?;
            return Some(Instr::NewCtx { ctx, value, id });
        }
        self.wrong_argument(
            codes::NEW_CTX_VALUE,
            "the initial values of a context are a variable of its type",
            args[0].span,
            "declare `the_context v;`, set its fields, then `new_ctx(v, an_id(...));`",
        )
    }

    fn rebind_ctx(&mut self, args: &[ast::Expr], span: Span) -> Option<Instr> {
        self.count(args, 2, span)?;
        let ctx = self.own_context(&args[0])?;
        if !self.is_keyed_context(ctx) {
            self.cx.not_for_globals(span, "found by another id", "give the context an id, or remove this");
            return None;
        }
        let Ty::Context(kind) = self.locals[ctx.index()].ty else { return None };
        let id = Ty::Id(self.cx.program.contexts[kind.index()].id);
        let id = self.value_of_type(&args[1], &id)?;
        Some(Instr::RebindCtx { ctx, id })
    }

    fn new_unit(&mut self, op: Opcode, args: &[ast::Expr], span: Span) -> Option<Instr> {
        if !(2..=3).contains(&args.len()) {
            return self.wrong_count(args.len(), "2 or 3", span);
        }
        let size = self.value_of_type(&args[0], &Ty::Bytes);
        let ctx = self.unit_context(&args[1])?;
        if let Some(addr) = args.get(2)
            && !matches!(addr.kind, ast::ExprKind::Int { value: 0, .. } | ast::ExprKind::None)
        {
            return self.wrong_argument(
                codes::UNIT_ADDRESS,
                "placing a unit at an address is not possible here",
                addr.span,
                "leave it out",
            );
        }
        let size = size?;
        self.cx.units_made.push(span);
        Some(if op == Opcode::NewTxOrderedData {
            Instr::NewTxOrderedData { ctx, size }
        } else {
            Instr::NewRxOrderedData { ctx, size }
        })
    }

    fn notify(&mut self, args: &[ast::Expr], span: Span) -> Option<Instr> {
        if !(2..=3).contains(&args.len()) {
            return self.wrong_count(args.len(), "2 or 3", span);
        }
        let mut typed = vec![(&args[0], Some(Ty::Token)), (&args[1], Some(Ty::Status))];
        typed.extend(args.get(2).map(|e| (e, None)));
        let mut values = self.arguments(&typed)?.into_iter();
        let (token, status, value) = (values.next()?, values.next()?, values.next());
        let value = match value {
            Some(v) if v.ty == Ty::Handle => Some(v),
            Some(v) if matches!(v.ty, Ty::Int { .. } | Ty::Bytes) => Some(self.cast(v, &Ty::U64)),
            Some(_) => {
                return self.wrong_argument(
                    codes::NOTIFY_VALUE,
                    "a request completes with an integer or a handle",
                    args[2].span,
                    "convert it: `uint64(x)`",
                );
            }
            None => None,
        };
        self.cx.notified.push(args[0].span);
        Some(Instr::Notify { token, status, value })
    }

    fn data_instruction(&mut self, op: Opcode, args: &[ast::Expr], span: Span) -> Option<Instr> {
        // (which argument is the unit's id, the types of the others)
        let (uid, types): (usize, &[Ty]) = match op {
            Opcode::AddTxData => (2, &[Ty::Addr, Ty::Bytes]),
            Opcode::TxFlushAndNotify | Opcode::RxResize => (0, &[Ty::Bytes]),
            Opcode::AddRxDataSeg => (2, &[Ty::Addr, Ty::Bytes, Ty::U64]),
            _ => (0, &[Ty::Bytes, Ty::Addr]),
        };
        self.count(args, types.len() + 1, span)?;
        let ctx = self.unit_context(&args[uid])?;
        let others = args.iter().enumerate().filter(|(i, _)| *i != uid).map(|(_, e)| e);
        let typed: Vec<_> = others.zip(types).map(|(e, ty)| (e, Some(ty.clone()))).collect();
        let mut v = self.arguments(&typed)?.into_iter();
        let mut next = || v.next();
        Some(match op {
            Opcode::AddTxData => Instr::AddTxData { ctx, addr: next()?, len: next()? },
            Opcode::TxFlushAndNotify => Instr::TxFlushAndNotify { ctx, len: next()? },
            Opcode::RxResize => Instr::RxResize { ctx, size: next()? },
            Opcode::AddRxDataSeg => Instr::AddRxDataSeg { ctx, addr: next()?, len: next()?, offset: next()? },
            _ => Instr::RxFlushAndNotify { ctx, len: next()?, addr: next()? },
        })
    }

    fn put_data(&mut self, args: &[ast::Expr], span: Span) -> Option<Instr> {
        self.count(args, 3, span)?;
        let types = [Ty::Addr, Ty::Bytes, Ty::Addr];
        let typed: Vec<_> = args.iter().zip(types).map(|(e, ty)| (e, Some(ty))).collect();
        let mut v = self.arguments(&typed)?.into_iter();
        Some(Instr::PutData { from: v.next()?, len: v.next()?, to: v.next()? })
    }

    fn pkt_gen(&mut self, args: &[ast::Expr], span: Span) -> Option<Instr> {
        let Some((first, rest)) = args.split_first() else {
            return self.wrong_count(0, "one or more", span);
        };
        let bp = self.variable(first, |ty| matches!(ty, Ty::Blueprint(_)));
        let Some(bp) = bp else {
            return self.wrong_argument(
                codes::PKT_GEN_SOURCE,
                "packets are made from a blueprint variable",
                first.span,
                "declare `a_blueprint bp;` and pass it",
            );
        };
        let Ty::Blueprint(kind) = self.locals[bp.index()].ty else { return None };
        if self.cx.program.blueprints[kind.index()].frame {
            let name = self.cx.program.blueprints[kind.index()].name.clone();
            self.cx.frame_error(
                codes::FRAME_GENERATED,
                first.span,
                format!("`{name}` is a frame, not a packet"),
                "not a packet",
                "generate a packet with this frame in it",
            );
            return None;
        }
        let (mut rules, mut sent, mut queue) = (Vec::new(), None, None);
        for arg in rest {
            if let ast::ExprKind::Name(name) = &arg.kind
                && let Some(Def::SegRule(rule)) = self.cx.env.get(name)
            {
                self.cx.usage.mark(name);
                let of = self.cx.program.seg_rules[rule.index()].blueprint;
                let frames = &self.cx.program.blueprints[kind.index()].frames;
                if of != kind && !frames.as_ref().is_some_and(|f| f.members.contains(&of)) {
                    return self.report(
                        Diagnostic::error(
                            codes::SEG_RULE,
                            format!("`{name}` is a rule of another blueprint"),
                            arg.span,
                            "does not fit",
                        )
                        .mend("use a rule for this blueprint"),
                    );
                }
                rules.push(rule);
                continue;
            }
            // What is no event is the number of a queue.
            if sent.is_none()
                && queue.is_none()
                && self.variable(arg, |ty| matches!(ty, Ty::Event(_))).is_none()
            {
                queue = Some(self.queue_number(arg, Wanted::Any)?);
                continue;
            }
            sent = self.variable(arg, |ty| matches!(ty, Ty::Event(_)));
            let is_sent = sent.is_some_and(|l| self.event_kind(l) == Some(ir::EventKind::Sent));
            if !is_sent {
                return self.wrong_argument(
                    codes::PKT_GEN_ARGUMENT,
                    "after the blueprint come segmentation rules, a queue and a sent event",
                    arg.span,
                    "name a seg_rule, or a variable of a sent_event",
                );
            }
        }
        Some(Instr::PktGen { bp, rules, sent, queue })
    }

    fn queue_number(&mut self, e: &ast::Expr, what: Wanted) -> Option<ir::Expr> {
        let value = self.value_of_type(e, &Ty::U32)?;
        let number = self.cx.fold(&value);
        self.cx.queue_uses.push(QueueUse { what, number, span: e.span });
        Some(value)
    }

    fn set_queue(&mut self, op: Opcode, args: &[ast::Expr], span: Span) -> Option<Instr> {
        self.count(args, 2, span)?;
        if op == Opcode::SetQueueRate {
            let queue = self.queue_number(&args[0], Wanted::Rate)?;
            return Some(Instr::SetQueueRate { queue, rate: self.value_of_type(&args[1], &Ty::Rate)? });
        }
        let queue = self.queue_number(&args[0], Wanted::Priority)?;
        Some(Instr::SetQueuePrio { queue, prio: self.value_of_type(&args[1], &Ty::U64)? })
    }

    pub(super) fn variable(&mut self, e: &ast::Expr, wanted: impl Fn(&Ty) -> bool) -> Option<LocalId> {
        let ast::ExprKind::Name(name) = &e.kind else { return None };
        match self.find(name) {
            Some(Binding::Local(local)) if wanted(&self.locals[local.index()].ty) => Some(local),
            _ => None,
        }
    }

    fn event_kind(&self, local: LocalId) -> Option<ir::EventKind> {
        match self.locals[local.index()].ty {
            Ty::Event(event) => Some(self.cx.program.events[event.index()].kind),
            _ => None,
        }
    }

    /// Which events are raised here.
    pub(super) fn raised_kind(&self) -> ir::EventKind {
        if self.in_parser() { ir::EventKind::Net } else { ir::EventKind::Flow }
    }

    /// The variable of an event that can be raised here.
    pub(super) fn raisable(&mut self, e: &ast::Expr) -> Option<LocalId> {
        let event = self.variable(e, |ty| matches!(ty, Ty::Event(_)));
        let wanted = Some(self.raised_kind());
        match event.filter(|l| self.event_kind(*l) == wanted && !self.is_parameter(*l)) {
            Some(event) => Some(event),
            None => self.not_raised(e.span),
        }
    }

    pub(super) fn not_raised<T>(&mut self, span: Span) -> Option<T> {
        let what = if self.in_parser() { "a net_event" } else { "a flow_event" };
        self.report(
            Diagnostic::error(
                codes::RAISE_KIND,
                format!("only {what} can be raised here"),
                span,
                format!("not {what}, and not a variable of one"),
            )
            .note("parsers raise net events, event processors flow events; the core raises all others")
            .mend(format!("name {what}: `raise the_event at an_id {{ field = value }};`")),
        )
    }

    /// `events.add(e);`
    pub(super) fn raise(&mut self, e: &ast::Expr) -> Option<()> {
        let event = self.raisable(e)?;
        self.emit(StmtKind::Instr(Instr::Raise { event }));
        Some(())
    }

    pub(super) fn set_flow_id(&mut self, args: &[ast::Expr], span: Span) -> Option<()> {
        self.count(args, 2, span)?;
        let event = self.variable(&args[0], |ty| matches!(ty, Ty::Event(_)));
        let Some(event) = event.filter(|l| !self.is_parameter(*l)) else {
            return self.wrong_argument(
                codes::FLOW_ID_GIVEN,
                "only a new event can get an id",
                args[0].span,
                "pass a variable of an event type",
            );
        };
        self.give_id(event, &args[1])
    }

    /// The context that handles an event.
    pub(super) fn give_id(&mut self, event: LocalId, id_given: &ast::Expr) -> Option<()> {
        let Ty::Event(kind) = self.locals[event.index()].ty else { return None };
        let def = &self.cx.program.events[kind.index()];
        let Some(id) = def.id else {
            let name = def.name.clone();
            return self.report(
                Diagnostic::error(
                    codes::NO_CONTEXT_FOUND,
                    format!("no context handles `{name}`"),
                    id_given.span,
                    "no id is needed",
                )
                .note("the context of an event is the one that its processors take")
                .mend("remove this, or let a processor of the event take a context"),
            );
        };
        let id_ty = Ty::Id(id);
        let value = self.typed(id_given)?;
        if value.ty != id_ty {
            let (found, wanted) = (self.name(&value.ty), self.name(&id_ty));
            return self.report(
                Diagnostic::error(
                    codes::FLOW_ID,
                    format!("this event's context is found by a `{wanted}`, not by a `{found}`"),
                    id_given.span,
                    "another id",
                )
                .mend(format!("make a `{wanted}(...)`")),
            );
        }
        self.emit(StmtKind::SetFlowId { event, id: value });
        Some(())
    }
}
