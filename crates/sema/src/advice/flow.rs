// SPDX-License-Identifier: MIT OR Apache-2.0
//! What never happens: events, timers, contexts, chains and requests.

use std::collections::BTreeSet;

use carrick_ir::{
    self as ir, CallTarget, EventId, EventKind, ExprKind, FuncId, Instr, Proj, StmtKind, Ty, walk,
};
use carrick_syntax::ast::ItemKind;
use carrick_syntax::diag::Diagnostic;

use super::Facts;
use crate::{Checker, codes};

/// The calls with which applications begin.
const BEGINNINGS: [&str; 3] = ["open", "listen", "connect"];

impl Checker<'_> {
    pub(super) fn advise_timers(&mut self, facts: &Facts) {
        let file = self.file;
        let contexts = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Context { timers, .. } => Some(timers),
            _ => None,
        });
        for (ctx, timers) in contexts.enumerate() {
            for timer in timers {
                let defs = &self.program.contexts[ctx].timers;
                let first = defs.iter().position(|def| def.base() == timer.name.name);
                let id = first.map(|first| (ir::CtxId(ctx as u32), ir::TimerId(first as u32)));
                if id.is_some_and(|id| !facts.started.contains(&id)) {
                    let message = format!("the timer `{}` is never started", timer.name.name);
                    let mend = "start it with `timer_start` or `timer_restart`, or remove it";
                    let at = (timer.name.name.as_str(), timer.name.span);
                    self.advise_of(codes::TIMER_NEVER_STARTED, at, (message, "never fires"), mend);
                }
            }
        }
    }

    pub(super) fn advise_contexts(&mut self, facts: &Facts) {
        for (number, ctx) in self.program.contexts.clone().iter().enumerate() {
            if !ctx.global && !facts.made.contains(&ir::CtxId(number as u32)) {
                let message = format!("no `{}` is ever created", ctx.name);
                let mend = "create one with `new_ctx`, for example in an `absent` chain";
                let at = (ctx.name.as_str(), self.declared_at(&ctx.name));
                self.advise_of(codes::CONTEXT_NEVER_MADE, at, (message, "never found"), mend);
            }
        }
    }

    pub(super) fn advise_events(&mut self, facts: &Facts) {
        let asked: BTreeSet<EventId> =
            self.program.interface.iter().flat_map(|i| i.calls.iter().map(|c| c.event)).collect();
        let timed: BTreeSet<EventId> =
            self.program.contexts.iter().flat_map(|c| c.timers.iter().map(|t| t.event)).collect();
        for (number, event) in self.program.events.clone().iter().enumerate() {
            let id = EventId(number as u32);
            let (raised, mend) = match event.kind {
                EventKind::App => (&asked, "name it in a call of the interface"),
                EventKind::Timer => (&timed, "declare a timer that raises it: `timer_t t -> the_event;`"),
                EventKind::Sent => (&facts.sent, "give a variable of it to `pkt_gen`"),
                EventKind::Net => (&facts.raised, "raise it in the parser"),
                EventKind::Flow => (&facts.raised, "raise it in an event processor"),
            };
            if !raised.contains(&id) && self.program.chains[number].is_some() {
                let message = format!("`{}` is never raised", event.name);
                let at = (event.name.as_str(), self.declared_at(&event.name));
                self.advise_of(codes::EVENT_NEVER_RAISED, at, (message, "nothing raises it"), mend);
            }
        }
    }

    /// Chains that do nothing, or whose other half never runs.
    pub(super) fn advise_chains(&mut self) {
        let file = self.file;
        let arms = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Dispatch { arms, .. } => Some(arms),
            _ => None,
        });
        for arm in arms.flatten() {
            let Some(number) = self.program.events.iter().position(|e| e.name == arm.event.name) else {
                continue;
            };
            let Some(chain) = &self.program.chains[number] else { continue };
            let kind = self.program.events[number].kind;
            let at = (arm.event.name.as_str(), arm.event.span);
            let never = arm.absent.is_some() && (chain.context.is_none() || kind == EventKind::Timer);
            if arm.chain.is_empty() && arm.absent.as_ref().is_none_or(Vec::is_empty) {
                let message = format!("nothing happens for `{}`", arm.event.name);
                let mend = "name its processors, or remove the line and what raises the event";
                self.advise_of(codes::EMPTY_CHAIN, at, (message, "an empty chain"), mend);
            } else if never {
                let why = if chain.context.is_none() {
                    "its processors take no context that could be absent"
                } else {
                    "a timer ends with its context"
                };
                let message = format!("the `absent` chain of `{}` never runs", arm.event.name);
                self.advise_of(codes::ABSENT_NEVER, at, (message, why), "remove `absent { }`");
            }
        }
    }

    /// Requests that nothing completes.
    pub(super) fn advise_requests(&mut self) {
        let completing = self.completing();
        let calls = self.program.interface.iter().flat_map(|i| i.calls.clone());
        for call in calls.collect::<Vec<_>>() {
            let event = call.event.index();
            let Some(chain) = self.program.chains[event].clone() else { continue };
            let completes = |funcs: &[FuncId]| funcs.iter().any(|f| completing.contains(&(*f, call.event)));
            let name = self.program.events[event].name.clone();
            let at = (name.as_str(), self.declared_at(&name));
            if !completes(&chain.present) || chain.absent.as_ref().is_some_and(|a| !completes(a)) {
                let message = format!("a request `{}` may never complete", call.name);
                let mend = "`notify` its token, or keep the token until it can be completed";
                self.advise_of(codes::REQUEST_DROPPED, at, (message, "its token is not used"), mend);
            } else if matches!(call.target, CallTarget::At { .. })
                && BEGINNINGS.contains(&call.name.as_str())
                && chain.context.is_some()
                && chain.absent.is_none()
            {
                let message = format!("`{}` needs a context that exists already", call.name);
                let mend = "create the context in an `absent { a_processor }`";
                let label = "completes with `CLOSED` otherwise";
                self.advise_of(codes::CALL_WITHOUT_ABSENT, at, (message, label), mend);
            }
        }
    }

    /// Which functions use the token of an app event, or its memory in another way than by copying from it.
    fn completing(&self) -> BTreeSet<(FuncId, EventId)> {
        let mut found = BTreeSet::new();
        let mut calls: BTreeSet<(FuncId, FuncId)> = BTreeSet::new();
        for (number, function) in self.program.functions.iter().enumerate() {
            let id = FuncId(number as u32);
            walk::statements(&function.body, &mut |stmt| {
                if let StmtKind::Call { func, .. } = &stmt.kind {
                    calls.insert((id, *func));
                }
                tokens(function, stmt, &mut |event| _ = found.insert((id, event)));
            });
        }
        // What a callee does, its callers do, and theirs.
        loop {
            let before = found.len();
            for (caller, callee) in &calls {
                let of = found.range((*callee, EventId(0))..=(*callee, EventId(u32::MAX)));
                let more: Vec<EventId> = of.map(|(_, event)| *event).collect();
                found.extend(more.into_iter().map(|event| (*caller, event)));
            }
            if found.len() == before {
                return found;
            }
        }
    }

    pub(super) fn advise_rules(&mut self, facts: &Facts) {
        for (number, rule) in self.program.seg_rules.clone().iter().enumerate() {
            if self.usage.has(&rule.name) && !facts.rules.contains(&ir::RuleId(number as u32)) {
                let message = format!("no packet is made with the rule `{}`", rule.name);
                let mend = "name it in a `pkt_gen`, or remove it";
                let at = (rule.name.as_str(), self.declared_at(&rule.name));
                self.advise_of(codes::RULE_NEVER_GIVEN, at, (message, "never applies"), mend);
            }
        }
    }

    /// A parser that raises nothing, and invariants that claim nothing.
    pub(super) fn advise_functions(&mut self) {
        let has = |func: FuncId, wanted: fn(&StmtKind) -> bool| {
            let mut found = false;
            let body = &self.program.functions[func.index()].body;
            walk::statements(body, &mut |stmt| found |= wanted(&stmt.kind));
            found
        };
        let raises = |parser| has(parser, |s| matches!(s, StmtKind::Instr(Instr::Raise { .. })));
        let silent: Vec<FuncId> = self.program.parsers().filter(|parser| !raises(*parser)).collect();
        let empty: Vec<FuncId> = self
            .program
            .invariants
            .iter()
            .copied()
            .filter(|f| !has(*f, |s| matches!(s, StmtKind::Assert { .. } | StmtKind::Call { .. })))
            .collect();
        let endpoint = self.program.in_network.is_none();
        for parser in silent.into_iter().filter(|_| endpoint) {
            let name = self.program.functions[parser.index()].name.clone();
            let what = ("the parser raises no event".to_owned(), "every packet is counted as `unparsed`");
            let at = (name.as_str(), self.declared_at(&name));
            self.advise_of(codes::PARSER_RAISES_NOTHING, at, what, "make a net event, and `raise` it");
        }
        for func in empty {
            let name = self.program.functions[func.index()].name.clone();
            let what = (format!("the invariant `{name}` claims nothing"), "no `assert` in it");
            let span = self.declared_at(&name);
            let (message, label) = what;
            self.report(
                Diagnostic::warning(codes::EMPTY_INVARIANT, message, span, label)
                    .mend("claim something of its context with `assert(...)`"),
            );
        }
    }
}

/// Calls `found` for each app event whose request the statement may keep or complete.
fn tokens(function: &ir::Function, stmt: &ir::Stmt, found: &mut dyn FnMut(EventId)) {
    let mut look = |e: &ir::Expr| {
        if let ExprKind::Load(place) = &e.kind
            && let Ty::Event(event) = function.locals[place.root.index()].ty
            && (place.ty == Ty::Addr || place.path.last() == Some(&Proj::Token))
        {
            found(event);
        }
    };
    walk::of_statement(stmt, &mut look);
    match &stmt.kind {
        // It copies, and completes nothing.
        StmtKind::Instr(Instr::AddTxData { .. }) => {}
        StmtKind::Instr(instr) => instr.exprs().for_each(|e| walk::expressions(e, &mut look)),
        _ => {}
    }
}
