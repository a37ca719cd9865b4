// SPDX-License-Identifier: MIT OR Apache-2.0
//! State machines: a field of their context that says in which state they are, and for each event to which
//! they react a function that stands in its chain.

use carrick_ir::{self as ir, CtxId, EnumId, EventId, FuncId, Instr, StmtKind, Ty, walk};
use carrick_syntax::Span;
use carrick_syntax::ast::{Ident, ItemKind, Param, Reaction, State, Step, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::checker::KnownMachine;
use crate::env::Def;
use crate::{Checker, codes};

/// A machine's declaration.
#[derive(Clone, Copy)]
struct Declared<'a> {
    doc: &'a str,
    name: &'a Ident,
    context: &'a Param,
    states: &'a [State],
    anywhere: &'a [Reaction],
}

impl<'a> Declared<'a> {
    /// All reactions, those of the states first.
    fn reactions(self) -> impl Iterator<Item = &'a Reaction> {
        self.states.iter().flat_map(|s| &s.reactions).chain(self.anywhere)
    }
}

impl<'a> Checker<'a> {
    fn declared_machines(&self) -> impl Iterator<Item = Declared<'a>> + use<'a> {
        self.file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Machine { name, context, states, anywhere } => {
                Some(Declared { doc: &item.doc, name, context, states, anywhere })
            }
            _ => None,
        })
    }

    /// The fields in which the machines of a context keep their states; `taken` are the names of its other parts.
    pub(crate) fn state_fields(&mut self, context: &Ident, taken: &[&Ident]) -> Vec<ir::FieldDef> {
        let of = |m: &Declared<'_>| matches!(&m.context.ty.kind, TypeKind::Name(n) if *n == context.name);
        let mut fields = Vec::new();
        for machine in self.declared_machines().filter(of) {
            if let Some(first) = taken.iter().find(|t| t.name == machine.name.name) {
                self.report(
                    Diagnostic::error(
                        codes::DUPLICATE_NAME,
                        format!("`{}` is declared twice", first.name),
                        machine.name.span,
                        "the machine's state is a field of this name",
                    )
                    .cause(first.span, "declared first here")
                    .mend("give one of them another name"),
                );
            }
            let Some(Def::Machine(states, _)) = self.env.get(&machine.name.name) else { continue };
            fields.push(ir::FieldDef {
                name: machine.name.name.clone(),
                doc: machine.doc.into(),
                ty: Ty::Enum(states),
                init: None,
            });
        }
        fields
    }

    pub(crate) fn declare_machines(&mut self) {
        for machine in self.declared_machines() {
            if machine.states.is_empty() {
                self.report(
                    Diagnostic::error(
                        codes::NO_STATES,
                        format!("the machine `{}` has no states", machine.name.name),
                        machine.name.span,
                        "no first state",
                    )
                    .note("a context begins in the first state of its machine")
                    .mend("add `state a_name { }`"),
                );
            }
            let states = match self.env.get(&machine.name.name) {
                Some(Def::Machine(states, _)) => states,
                _ => EnumId(0), // the name is another's: reported
            };
            let place = self.place_of(machine);
            let (transitions, entered) = (Vec::new(), Vec::new());
            let functions = match place {
                Some((ctx, _)) => self.machine_functions(machine, ctx),
                None => Vec::new(),
            };
            let entered_anywhere = false;
            self.machines.push(KnownMachine {
                states,
                place,
                functions,
                transitions,
                entered,
                entered_anywhere,
            });
        }
    }

    fn place_of(&mut self, machine: Declared<'_>) -> Option<(CtxId, u32)> {
        let TypeKind::Name(name) = &machine.context.ty.kind else { return None };
        let ident = Ident { name: name.clone(), span: machine.context.ty.span };
        let ctx = self.lookup("context", &ident, |d| if let Def::Context(c) = d { Some(c) } else { None })?;
        let fields = &self.program.contexts[ctx.index()].fields;
        let field = fields.iter().rposition(|f| f.name == machine.name.name)?;
        Some((ctx, field as u32))
    }

    /// Declares a function for each event to which the machine reacts.
    fn machine_functions(&mut self, machine: Declared<'_>, ctx: CtxId) -> Vec<(EventId, FuncId)> {
        let mut functions: Vec<(EventId, FuncId)> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for reaction in machine.reactions() {
            let name = &reaction.event;
            if seen.contains(&name.name.as_str()) {
                continue;
            }
            seen.push(&name.name);
            let event = self.lookup("event", name, |d| if let Def::Event(e) = d { Some(e) } else { None });
            let Some(event) = event else { continue };
            let same: Vec<&Reaction> = machine.reactions().filter(|r| r.event.name == name.name).collect();
            let locals = self.machine_parameters(machine.context, ctx, event, &same);
            functions.push((event, FuncId(self.program.functions.len() as u32)));
            let loc = self.loc(machine.name.span);
            self.program.functions.push(ir::Function {
                name: self.function_name(&machine.name.name, &name.name),
                doc: format!("what the machine `{}` does for `{}`", machine.name.name, name.name).into(),
                loc,
                params: locals.len() as u32,
                locals,
                ret: Ty::Void,
                body: ir::Block::default(),
                pure: false,
                may_stop: false,
                max_raised: 0,
            });
        }
        functions
    }

    /// The event, the context, and what the reactions take besides: each once.
    fn machine_parameters(
        &mut self,
        context: &Param,
        ctx: CtxId,
        event: EventId,
        reactions: &[&Reaction],
    ) -> Vec<ir::Local> {
        let name = reactions.iter().find_map(|r| r.name.as_ref());
        let name = name.map_or_else(|| "e_".to_owned(), |n| n.name.clone());
        let mut locals = vec![
            ir::Local { name, ty: Ty::Event(event) },
            ir::Local { name: context.name.name.clone(), ty: Ty::Context(ctx) },
        ];
        for param in reactions.iter().flat_map(|r| &r.with) {
            let mut local = self.parameter(param);
            if locals.iter().any(|l| l.ty == local.ty) {
                continue;
            }
            // Two reactions may call different things the same.
            while locals.iter().any(|l| l.name == local.name) {
                local.name.push('_');
            }
            locals.push(local);
        }
        locals
    }

    /// A name that no other function has.
    fn function_name(&self, machine: &str, event: &str) -> String {
        let mut name = format!("{machine}_on_{event}");
        while self.env.get(&name).is_some() || self.program.functions.iter().any(|f| f.name == name) {
            name.push('_');
        }
        name
    }

    /// What stands for a machine in the chain of an event.
    pub(crate) fn reaction_of(&mut self, machine: u32, event: EventId, name: &Ident) -> Option<FuncId> {
        let known = &self.machines[machine as usize];
        let found = known.functions.iter().find(|(e, _)| *e == event).map(|(_, func)| *func);
        if found.is_none() && known.place.is_some() {
            let event = self.program.events[event.index()].name.clone();
            self.report(
                Diagnostic::error(
                    codes::MACHINE_CHAIN,
                    format!("`{}` does not react to `{event}`", name.name),
                    name.span,
                    "does nothing here",
                )
                .mend(format!(
                    "add `on {event} {{ }}` to a state of the machine, or take it out of this chain"
                )),
            );
        }
        found
    }

    /// Each event to which a machine reacts must reach it.
    pub(crate) fn check_machine_chains(&mut self) {
        for (number, machine) in self.declared_machines().enumerate() {
            for (event, _) in self.machines[number].functions.clone() {
                let event = self.program.events[event.index()].name.clone();
                let Some(reaction) = machine.reactions().find(|r| r.event.name == event) else { continue };
                self.check_machine_chain(machine.name, &reaction.event);
            }
        }
    }

    fn check_machine_chain(&mut self, machine: &Ident, event: &Ident) {
        let file = self.file;
        let arms = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Dispatch { arms, .. } => Some(arms),
            _ => None,
        });
        let arm = arms.flatten().find(|arm| arm.event.name == event.name);
        let named = |steps: &[Step]| steps.iter().any(|s| s.name.name == machine.name);
        if arm.is_some_and(|arm| named(&arm.chain) || named(arm.absent.as_deref().unwrap_or_default())) {
            return;
        }
        let diagnostic = Diagnostic::error(
            codes::MACHINE_CHAIN,
            format!("`{}` never reaches `{}`", event.name, machine.name),
            event.span,
            "the machine reacts to it",
        )
        .note("a machine runs at its position in the event's chain");
        let diagnostic = match arm.map(|arm| (arm, arm.chain.last())) {
            Some((arm, Some(last))) => {
                let behind = Span::new(last.name.span.end, last.name.span.end);
                diagnostic.cause(arm.event.span, "goes to another state").fix(
                    "let it run last",
                    behind,
                    format!(", {}", machine.name),
                )
            }
            _ => diagnostic.mend(format!("add `{} -> {{ {} }};` to `dispatch`", event.name, machine.name)),
        };
        self.report(diagnostic);
    }

    /// What is wrong with machines as such, now that it is known where each reaction leads.
    pub(crate) fn check_machines(&mut self) {
        for machine in self.declared_machines() {
            for state in machine.states {
                self.check_shadowed(&state.reactions);
            }
            self.check_shadowed(machine.anywhere);
        }
        if self.has_errors() {
            return;
        }
        for (number, machine) in self.declared_machines().enumerate() {
            self.machines[number].transitions.sort_by_key(|t| (t.loc.file, t.loc.line, t.loc.col));
            self.check_reachable(machine, number);
            self.keep_machine(machine, number);
        }
    }

    /// Of two reactions of the same state to the same event the first that applies runs.
    fn check_shadowed(&mut self, reactions: &[Reaction]) {
        for (at, reaction) in reactions.iter().enumerate() {
            let cond = |r: &Reaction| r.cond.as_ref().map(|c| self.written(c.span));
            let own = cond(reaction);
            let before = reactions[..at]
                .iter()
                .filter(|r| r.event.name == reaction.event.name)
                .find(|r| cond(r).is_none_or(|c| own.as_ref() == Some(&c)));
            let Some(before) = before else { continue };
            let label = if before.cond.is_some() { "under the same condition" } else { "always" };
            self.report(
                Diagnostic::error(
                    codes::REACTION_SHADOWED,
                    format!("this reaction to `{}` never runs", reaction.event.name),
                    reaction.head,
                    "another one comes before it",
                )
                .cause(before.head, format!("runs {label}"))
                .note("only the first reaction of a state to an event whose condition holds runs")
                .mend("make one reaction of the two, or put the one without a condition last"),
            );
        }
    }

    fn check_reachable(&mut self, machine: Declared<'_>, number: usize) {
        let known = self.machines[number].clone();
        let mut reached = vec![known.entered_anywhere; machine.states.len()];
        let mut open = vec![0_u32];
        open.extend(&known.entered);
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut reached[state as usize], true) {
                let ways = known.transitions.iter().filter(|t| t.from.is_none_or(|from| from == state));
                open.extend(ways.flat_map(|t| &t.to));
            }
        }
        let deleted = known.place.is_some_and(|(ctx, _)| self.deleted_elsewhere(ctx, &known));
        for (state, reached) in machine.states.iter().zip(reached) {
            if !reached {
                self.report(
                    Diagnostic::warning(
                        codes::STATE_UNREACHABLE,
                        format!("nothing leads to `{}`", state.name.name),
                        state.name.span,
                        "never entered",
                    )
                    .note("no `goto` in a reachable state names it, and no context is created in it")
                    .mend("remove it, or go to it"),
                );
            } else if state.reactions.is_empty() && machine.anywhere.is_empty() && !deleted {
                self.report(
                    Diagnostic::warning(
                        codes::STATE_DEAD,
                        format!("nothing leads out of `{}`", state.name.name),
                        state.name.span,
                        "reacts to nothing",
                    )
                    .note("a machine in this state stays there, and nothing deletes the context")
                    .mend("issue `del_ctx` instead of going there, or react to an event"),
                );
            }
        }
    }

    /// Whether something else than the machine deletes contexts of its kind.
    fn deleted_elsewhere(&self, ctx: CtxId, known: &KnownMachine) -> bool {
        let own = |n: usize| known.functions.iter().any(|(_, func)| func.index() == n);
        self.program.functions.iter().enumerate().filter(|(n, _)| !own(*n)).any(|(_, function)| {
            let mut found = false;
            walk::statements(&function.body, &mut |stmt| {
                found |= matches!(&stmt.kind, StmtKind::Instr(Instr::DelCtx { ctx: local })
                    if function.locals[local.index()].ty == Ty::Context(ctx));
            });
            found
        })
    }

    fn keep_machine(&mut self, machine: Declared<'_>, number: usize) {
        let Some((context, _)) = self.machines[number].place else { return };
        let states = machine.states.iter().map(|s| (s.name.name.clone(), s.doc.as_str().into())).collect();
        let mut transitions = std::mem::take(&mut self.machines[number].transitions);
        for transition in &mut transitions {
            let mut to = std::mem::take(&mut transition.to);
            to.sort_unstable();
            to.dedup();
            transition.to = to;
        }
        let known = &self.machines[number];
        let all = 0..machine.states.len() as u32;
        let entered = |state: &u32| *state == 0 || known.entered_anywhere || known.entered.contains(state);
        let entries = all.filter(entered).collect();
        self.program.machines.push(ir::Machine {
            name: machine.name.name.clone(),
            doc: machine.doc.into(),
            context,
            states,
            entries,
            transitions,
        });
    }
}
