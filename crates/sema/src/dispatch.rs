// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signatures of functions, the parser, and which processors react to which event.

use carrick_ir::{self as ir, EventId, EventKind, FuncId, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Arm, Ident, ItemKind, Param, Step, Type, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, claims, codes};

/// What may stand in a chain.
enum Processor {
    Function(FuncId),
    /// a state machine, by number
    Machine(u32),
}

impl Checker<'_> {
    pub(crate) fn declare_functions(&mut self) {
        let file = self.file;
        let mut parsers: Vec<(FuncId, Span)> = Vec::new();
        for item in &file.items {
            if let ItemKind::Function { ret, name, params, .. } = &item.kind {
                let loc = self.loc(name.span);
                let locals: Vec<ir::Local> = params.iter().map(|p| self.parameter(p)).collect();
                let id = FuncId(self.program.functions.len() as u32);
                if locals.first().is_some_and(|l| l.ty == Ty::Packet) {
                    self.usage.mark(&name.name);
                    if self.takes_report(&locals) {
                        self.report_parser(id, &locals, name);
                    } else {
                        self.check_parser_params(&locals, name);
                        parsers.push((id, name.span));
                    }
                }
                // Whatever calls it cannot be right either.
                let late = locals.iter().skip(1).position(|l| l.ty == Ty::Packet);
                if let (Some(at), false) = (late, locals.first().is_some_and(|l| l.ty == Ty::Packet)) {
                    self.usage.mark(&name.name);
                    self.report(
                        Diagnostic::error(
                            codes::PACKET_PARAMETER,
                            "only a parser takes a packet",
                            params[at + 1].ty.span,
                            "not the first parameter",
                        )
                        .mend("extract in the parser, and pass the blueprint"),
                    );
                }
                if claims::is_invariant(ret) {
                    self.usage.mark(&name.name);
                    self.declare_invariant(id, &locals, name);
                }
                let ret = self.return_type(ret);
                self.program.functions.push(ir::Function {
                    name: name.name.clone(),
                    doc: item.doc.as_str().into(),
                    loc,
                    params: locals.len() as u32,
                    locals,
                    ret,
                    body: ir::Block::default(),
                    pure: false,
                    may_stop: false,
                    max_raised: 0,
                });
            }
        }
        self.choose_parser(&parsers);
    }

    pub(crate) fn parameter(&mut self, param: &Param) -> ir::Local {
        let ty = self.resolve(&param.ty).unwrap_or(Ty::Void);
        if matches!(ty, Ty::Wnd { .. })
            || (ty == Ty::Void && matches!(&param.ty.kind, TypeKind::Name(n) if n == "void"))
        {
            self.report(
                Diagnostic::error(
                    codes::PARAMETER_TYPE,
                    "a parameter cannot have this type",
                    param.ty.span,
                    "here",
                )
                .mend("pass the context that holds it"),
            );
        }
        ir::Local { name: param.name.name.clone(), ty }
    }

    /// `list<instr_t>` and `list<event_t>` are the collected spelling of nothing.
    fn return_type(&mut self, ret: &Type) -> Ty {
        if claims::is_invariant(ret) {
            return Ty::Void;
        }
        if let TypeKind::List(element, _) = &ret.kind
            && matches!(&element.kind, TypeKind::Name(n) if n == "instr_t" || n == "event_t")
        {
            return Ty::Void;
        }
        match self.resolve(ret) {
            Some(ty) if ty.is_by_ref() || matches!(ty, Ty::Wnd { .. }) => {
                self.report(
                    Diagnostic::error(
                        codes::RETURN_TYPE,
                        "a function cannot return this",
                        ret.span,
                        "passed by reference only",
                    )
                    .mend("return a value, or nothing"),
                );
                Ty::Void
            }
            other => other.unwrap_or(Ty::Void),
        }
    }

    fn check_parser_params(&mut self, params: &[ir::Local], name: &Ident) {
        let tys: Vec<&Ty> = params.iter().map(|l| &l.ty).collect();
        // A type that is wrong has been reported.
        let known = !tys.contains(&&Ty::Void);
        if known && !matches!(tys[..], [Ty::Packet, Ty::NetHeader]) {
            self.report(
                Diagnostic::error(
                    codes::PARSER_PARAMS,
                    "a parser takes a packet and its network header",
                    name.span,
                    "other parameters",
                )
                .mend("write `void parse(pkt_t p, ipv4 ip) { }` with the net_header's name"),
            );
        }
    }

    fn choose_parser(&mut self, parsers: &[(FuncId, Span)]) {
        match parsers {
            [(only, _)] => self.program.parser = *only,
            [] => self.report(
                Diagnostic::error(
                    codes::PARSER,
                    "the program has no parser",
                    Span::default(),
                    "in this file",
                )
                .note("without one no packet becomes an event")
                .mend("add `void parse(pkt_t p, ipv4 ip) { }`"),
            ),
            [(_, first), (_, second), ..] => self.report(
                Diagnostic::error(
                    codes::TWO_PARSERS,
                    "the program has two parsers",
                    *second,
                    "another parser",
                )
                .cause(*first, "the first")
                .mend("make one of them"),
            ),
        }
    }

    /// The chains, and from them which context each event needs.
    pub(crate) fn declare_chains(&mut self) {
        let events = self.program.events.len();
        self.program.chains = vec![None; events];
        self.event_context = vec![None; events];
        let mut dispatched: Vec<Option<Span>> = vec![None; events];
        let file = self.file;
        for item in &file.items {
            let ItemKind::Dispatch { name, arms } = &item.kind else { continue };
            let _ = name;
            for arm in arms {
                let event =
                    self.lookup("event", &arm.event, |d| if let Def::Event(e) = d { Some(e) } else { None });
                let Some(event) = event else { continue };
                if let Some(first) = dispatched[event.index()] {
                    self.report(
                        Diagnostic::error(
                            codes::DISPATCHED_TWICE,
                            format!("`{}` is dispatched twice", arm.event.name),
                            arm.event.span,
                            "again here",
                        )
                        .cause(first, "first here")
                        .mend("merge the two chains"),
                    );
                    continue;
                }
                dispatched[event.index()] = Some(arm.event.span);
                let chain = self.chain(event, arm);
                self.event_context[event.index()] = chain.context;
                self.program.chains[event.index()] = Some(chain);
            }
        }
        self.check_machine_chains();
        self.check_dispatched(&dispatched);
        self.event_ids();
        self.second_lookups();
    }

    fn chain(&mut self, event: EventId, arm: &Arm) -> ir::Chain {
        let mut chain = ir::Chain {
            context: None,
            fallback: Vec::new(),
            shared: Vec::new(),
            globals: Vec::new(),
            present: Vec::new(),
            absent: None,
            scratchpads: Vec::new(),
            max_raised: 0,
        };
        let mut taken: Vec<(ir::CtxId, Span)> = Vec::new();
        for Step { name, .. } in &arm.chain {
            let Some(func) = self.processor(event, name, &mut chain) else { continue };
            let contexts: Vec<ir::CtxId> = self.contexts_of(func).collect();
            for context in contexts {
                if !taken.iter().any(|(c, _)| *c == context) {
                    taken.push((context, name.span));
                }
            }
            chain.present.push(func);
        }
        self.contexts_of_chain(&mut chain, &taken);
        chain.absent = arm.absent.as_ref().map(|steps| self.absent(event, steps, &mut chain));
        chain.globals.sort();
        chain
    }

    fn absent(&mut self, event: EventId, steps: &[Step], chain: &mut ir::Chain) -> Vec<FuncId> {
        let mut found = Vec::new();
        for Step { name, .. } in steps {
            let Some(func) = self.processor(event, name, chain) else { continue };
            if self.context_of(func).is_some() {
                self.report(
                    Diagnostic::error(
                        codes::ABSENT_CONTEXT,
                        format!("`{}` takes the context that is absent", name.name),
                        name.span,
                        "in `absent`",
                    )
                    .mend("use a processor without a context parameter"),
                );
                continue;
            }
            found.push(func);
        }
        found
    }

    /// The contexts that a function takes, without the global ones.
    fn contexts_of(&self, func: FuncId) -> impl Iterator<Item = ir::CtxId> {
        let def = &self.program.functions[func.index()];
        def.locals[..def.params as usize].iter().filter_map(|l| match l.ty {
            Ty::Context(c) if !self.program.contexts[c.index()].global => Some(c),
            _ => None,
        })
    }

    fn context_of(&self, func: FuncId) -> Option<ir::CtxId> {
        self.contexts_of(func).next()
    }

    /// Of the contexts that a chain takes, the one that its event is for, whose id leads to all the others.
    fn contexts_of_chain(&mut self, chain: &mut ir::Chain, taken: &[(ir::CtxId, Span)]) {
        let leads = |own: ir::CtxId| {
            let others = taken.iter().filter(|(c, _)| *c != own);
            let shared =
                others.map(|(c, _)| Some(ir::Shared { context: *c, parts: self.parts_of(*c, own)? }));
            shared.collect::<Option<Vec<_>>>()
        };
        let found = taken.iter().find_map(|(own, _)| Some((*own, leads(*own)?)));
        if let Some((own, mut shared)) = found {
            shared.sort_by_key(|s| s.context);
            (chain.context, chain.shared) = (Some(own), shared);
            return;
        }
        let [(first, from), (_, span), ..] = taken else { return };
        chain.context = Some(*first);
        let label = if from == span { "takes both" } else { "takes another context" };
        let two = Diagnostic::error(codes::CHAIN_CONTEXTS, "this chain needs two contexts", *span, label)
            .note("neither id has all parts of the other, with the same names and types")
            .mend("raise a flow event to the other context, or give the parts the same names");
        self.report(if from == span { two } else { two.cause(*from, "this processor takes the first") });
    }

    /// Which part of one context's id each part of another one's is, if all of them are.
    fn parts_of(&self, shared: ir::CtxId, own: ir::CtxId) -> Option<Vec<u32>> {
        let parts = |c: ir::CtxId| &self.program.ids[self.program.contexts[c.index()].id.index()].parts;
        let own = parts(own);
        let place = |part: &ir::FieldDef| {
            own.iter().position(|p| p.name == part.name && p.ty == part.ty).map(|at| at as u32)
        };
        parts(shared).iter().map(place).collect()
    }

    /// A function that can stand in a chain of this event; notes the scratchpads that it takes.
    fn processor(&mut self, event: EventId, name: &Ident, chain: &mut ir::Chain) -> Option<FuncId> {
        let func = self.lookup("event processor", name, |d| match d {
            Def::Function(f) => Some(Processor::Function(f)),
            Def::Machine(_, machine) => Some(Processor::Machine(machine)),
            _ => None,
        })?;
        let func = match func {
            Processor::Function(func) => func,
            Processor::Machine(machine) => self.reaction_of(machine, event, name)?,
        };
        let params: Vec<Ty> =
            self.program.functions[func.index()].locals.iter().map(|l| l.ty.clone()).collect();
        for ty in params {
            match ty {
                Ty::Event(e) if e == event => {}
                Ty::Void => {} // a type that is wrong has been reported
                Ty::Event(_) => {
                    let wanted = self.program.events[event.index()].name.clone();
                    let found = self.name(&ty);
                    self.report(
                        Diagnostic::error(
                            codes::PROCESSOR_EVENT,
                            format!("`{}` processes `{found}`, not `{wanted}`", name.name),
                            name.span,
                            "another event",
                        )
                        .mend("take the event of the chain, or no event at all"),
                    );
                    return None;
                }
                Ty::Scratch(s) => {
                    if !chain.scratchpads.contains(&s) {
                        chain.scratchpads.push(s);
                    }
                }
                Ty::Context(c) => {
                    if self.program.contexts[c.index()].global && !chain.globals.contains(&c) {
                        chain.globals.push(c);
                    }
                }
                other => {
                    let found = self.name(&other);
                    self.report(
                        Diagnostic::error(
                            codes::NOT_A_PROCESSOR,
                            format!("`{}` takes a `{found}`", name.name),
                            name.span,
                            "not an event processor",
                        )
                        .note("a chain passes the event, its contexts and scratchpads, and nothing else")
                        .mend("call it from a processor"),
                    );
                    return None;
                }
            }
        }
        if self.program.functions[func.index()].ret != Ty::Void {
            self.report(
                Diagnostic::error(
                    codes::PROCESSOR_VALUE,
                    format!("`{}` returns a value", name.name),
                    name.span,
                    "not an event processor",
                )
                .mend("call it from a processor"),
            );
            return None;
        }
        Some(func)
    }

    fn check_dispatched(&mut self, dispatched: &[Option<Span>]) {
        let file = self.file;
        let names = file.items.iter().filter_map(|i| match &i.kind {
            ItemKind::Event { name, .. } => Some(name),
            _ => None,
        });
        for (name, at) in names.zip(dispatched) {
            let event = self.env.get(&name.name);
            let reacts =
                self.machines.iter().flat_map(|m| &m.functions).any(|(e, _)| event == Some(Def::Event(*e)));
            if at.is_none() && !reacts {
                self.report(
                    Diagnostic::warning(
                        codes::NOT_DISPATCHED,
                        format!("nothing reacts to `{}`", name.name),
                        name.span,
                        "not dispatched",
                    )
                    .mend("add a line to `dispatch`, or remove the event"),
                );
            }
        }
    }

    /// The id type of each event: that of its chain's context.
    fn event_ids(&mut self) {
        for event in 0..self.program.events.len() {
            let context = self.event_context[event];
            self.program.events[event].id = context.map(|c| self.program.contexts[c.index()].id);
        }
        let contexts = self.program.contexts.clone();
        for (index, context) in contexts.iter().enumerate() {
            for (_, timer) in context.timer_rows() {
                let expected = ir::CtxId(index as u32);
                let found = self.event_context.get(timer.event.index()).copied().flatten();
                let is_timer =
                    self.program.events.get(timer.event.index()).is_some_and(|e| e.kind == EventKind::Timer);
                if is_timer && found.is_some_and(|c| c != expected) {
                    let file = self.file;
                    let span = file.items.iter().find_map(|i| match &i.kind {
                        ItemKind::Context { timers, .. } => {
                            timers.iter().find(|t| t.name.name == timer.base()).map(|t| t.span)
                        }
                        _ => None,
                    });
                    self.report(
                        Diagnostic::error(
                            codes::TIMER_CONTEXT,
                            format!(
                                "`{}` is processed on another context than the timer's",
                                self.program.events[timer.event.index()].name
                            ),
                            span.unwrap_or_default(),
                            "raised on this context",
                        )
                        .mend("declare a timer event for each context"),
                    );
                }
            }
        }
    }
}
