// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reactions of state machines: for each event a function with a branch for each state.

use carrick_ir::{self as ir, ExprKind, FuncId, Instr, LocalId, Proj, StmtKind, Ty, walk};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident, ItemKind, Param, Reaction, State};
use carrick_syntax::diag::Diagnostic;

use super::stmt::leaves;
use super::{Binding, Body, Scope};
use crate::env::Def;
use crate::{Checker, codes};

/// A machine's declaration, as far as its reactions need it.
struct Declared<'m> {
    number: usize,
    context: &'m Param,
    states: &'m [State],
    anywhere: &'m [Reaction],
}

impl Checker<'_> {
    pub(crate) fn check_reactions(&mut self) {
        let file = self.file;
        let machines = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Machine { context, states, anywhere, .. } => Some((context, states, anywhere)),
            _ => None,
        });
        for (number, (context, states, anywhere)) in machines.enumerate() {
            let declared = Declared { number, context, states, anywhere };
            for (event, func) in self.machines[number].functions.clone() {
                Body::new(self, Scope::Function).machine(&declared, event, func);
            }
        }
    }
}

impl Body<'_, '_> {
    fn machine(&mut self, machine: &Declared<'_>, event: ir::EventId, func: FuncId) {
        for local in self.cx.program.functions[func.index()].locals.clone() {
            self.new_local(local.name, local.ty);
        }
        self.parameters = self.locals.len();
        self.machine = Some(machine.number as u32);
        for (number, state) in (0..).zip(machine.states) {
            let own: Vec<&Reaction> = self.reactions_to(event, &state.reactions);
            if own.is_empty() {
                continue;
            }
            let outer = std::mem::take(&mut self.out);
            for reaction in own {
                self.reaction(machine, Some(number), reaction, event);
            }
            let then = ir::Block { stmts: std::mem::replace(&mut self.out, outer) };
            self.at = self.cx.loc(state.name.span);
            let Some(cond) = self.is_in(number, state.name.span) else { continue };
            self.emit(StmtKind::If { cond, then, otherwise: ir::Block::default() });
        }
        for reaction in self.reactions_to(event, machine.anywhere) {
            self.reaction(machine, None, reaction, event);
        }
        self.out.pop_if(|last| matches!(last.kind, StmtKind::Return(_)));
        self.keep_temporaries_apart();
        let function = &mut self.cx.program.functions[func.index()];
        function.locals = std::mem::take(&mut self.locals);
        function.body = ir::Block { stmts: std::mem::take(&mut self.out) };
    }

    fn reactions_to<'r>(&self, event: ir::EventId, all: &'r [Reaction]) -> Vec<&'r Reaction> {
        let wanted = Some(Def::Event(event));
        all.iter().filter(|r| self.cx.env.get(&r.event.name) == wanted).collect()
    }

    /// One `on`; whatever it does, nothing behind it runs for this event.
    fn reaction(
        &mut self,
        machine: &Declared<'_>,
        from: Option<u32>,
        reaction: &Reaction,
        event: ir::EventId,
    ) {
        self.names.push(std::collections::BTreeMap::new());
        self.bind_parameters(machine, reaction, event);
        self.at = self.cx.loc(reaction.head);
        let at = self.at;
        let cond = reaction.cond.as_ref().map(|cond| self.condition(cond));
        let known = reaction.cond.as_ref().map(|cond| self.known_by(cond).holds).unwrap_or_default();
        let mut body = self.where_present(known, |this| this.block(&reaction.body));
        self.close_scope();
        self.at = at;
        let transition = ir::Transition {
            from,
            event,
            guard: reaction.cond.as_ref().map(|cond| self.cx.written(cond.span).into()),
            to: std::mem::take(&mut self.gotos),
            ends: self.cx.deletes(&body, self.cx.program.functions.len()),
            loc: at,
        };
        self.cx.machines[machine.number].transitions.push(transition);
        if !body.stmts.last().is_some_and(leaves) {
            body.stmts.push(ir::Stmt { kind: StmtKind::Return(None), loc: at });
        }
        match cond {
            Some(Some(cond)) => self.emit(StmtKind::If { cond, then: body, otherwise: ir::Block::default() }),
            Some(None) => {} // reported
            None => self.out.extend(body.stmts),
        }
    }

    /// The names of a reaction, for the parameters of the machine's function.
    fn bind_parameters(&mut self, machine: &Declared<'_>, reaction: &Reaction, event: ir::EventId) {
        let local_of = |body: &Self, ty: &Ty| {
            let parameters = &body.locals[..body.parameters];
            parameters.iter().position(|l| l.ty == *ty).map(|at| LocalId(at as u32))
        };
        let event_name = reaction.name.iter().map(|name| (name, Some(Ty::Event(event))));
        let others = [machine.context].into_iter().chain(&reaction.with);
        let names: Vec<(&Ident, Option<Ty>)> =
            event_name.chain(others.map(|p| (&p.name, self.declared_type(&p.ty)))).collect();
        for (name, ty) in names {
            let local = ty.and_then(|ty| local_of(self, &ty));
            self.bind(name, local.map_or(Binding::Wrong, Binding::Local));
        }
    }

    /// What can be a parameter; anything else has been reported.
    fn declared_type(&self, ty: &ast::Type) -> Option<Ty> {
        let ast::TypeKind::Name(name) = &ty.kind else { return None };
        match self.cx.env.get(name)? {
            Def::Context(id) => Some(Ty::Context(id)),
            Def::Scratchpad(id) => Some(Ty::Scratch(id)),
            _ => None,
        }
    }

    /// The field that says in which state the machine is.
    fn state_place(&self) -> Option<ir::Place> {
        let known = &self.cx.machines[self.machine? as usize];
        let (ctx, field) = known.place?;
        let root = self.locals[..self.parameters].iter().position(|l| l.ty == Ty::Context(ctx))?;
        let path = vec![Proj::Field(field)];
        Some(ir::Place { root: LocalId(root as u32), path, ty: Ty::Enum(known.states) })
    }

    fn state_value(&self, number: u32, ty: Ty, span: Span) -> ir::Expr {
        self.make(ExprKind::Lit(u64::from(number)), ty, span)
    }

    fn is_in(&self, state: u32, span: Span) -> Option<ir::Expr> {
        let place = self.state_place()?;
        let ty = place.ty.clone();
        let value = self.state_value(state, ty.clone(), span);
        let now = self.make(ExprKind::Load(place), ty, span);
        Some(self.make(ExprKind::Binary(ir::BinOp::Eq, Box::new(now), Box::new(value)), Ty::Bool, span))
    }

    /// `goto S;`: the next state, and the end of the reaction.
    pub(super) fn goto(&mut self, state: &Ident, span: Span) -> Option<()> {
        let Some(machine) = self.machine else {
            return self.report(
                Diagnostic::error(codes::GOTO_OUTSIDE, "there is no machine here", span, "changes the state")
                    .note("`goto` ends a reaction of a machine; a function that a reaction calls cannot end the reaction")
                    .mend("write it in an `on` of the machine, or use `return`, `break` or `stop`"),
            );
        };
        let states = self.cx.machines[machine as usize].states;
        let Some(Def::Variant(of, number)) = self.cx.env.get(&state.name).filter(|d| is_state_of(*d, states))
        else {
            let names = self.cx.program.enums[states.index()].variants.clone();
            let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
            self.cx.unknown(codes::UNKNOWN_STATE, "state", state, &names);
            return None;
        };
        self.gotos.push(number);
        let place = self.state_place()?;
        let value = self.state_value(number, Ty::Enum(of), state.span);
        self.emit(StmtKind::Assign { place, value });
        self.emit(StmtKind::Return(None));
        Some(())
    }

    /// Whether this field of a context of the chain is where a machine is.
    pub(super) fn is_state(&self, place: &ir::Place, field: usize) -> bool {
        let Ty::Context(ctx) = place.ty else { return false };
        let here = Some((ctx, field as u32));
        self.is_parameter(place.root) && self.cx.machines.iter().any(|m| m.place == here)
    }

    pub(super) fn state_assigned<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::STATE_ASSIGNED,
                "this cannot be assigned",
                span,
                "the state of a machine",
            )
            .note("only `goto` changes the state, so that the machine shows all transitions")
            .mend("raise a flow event to which the machine reacts with `goto`"),
        )
    }

    /// A context that is being made may begin in another state than the first.
    pub(super) fn note_entry(&mut self, target: &ir::Place, value: &ast::Expr) {
        let (Ty::Context(ctx), [Proj::Field(field)]) =
            (&self.locals[target.root.index()].ty, &target.path[..])
        else {
            return;
        };
        let here = Some((*ctx, *field));
        let mut entered = Vec::new();
        let known = self.states_in(value, &mut entered);
        if let Some(machine) = self.cx.machines.iter_mut().find(|m| m.place == here) {
            machine.entered.extend(entered);
            machine.entered_anywhere |= !known;
        }
    }

    /// The states that a value may be, as far as it names them; whether that is all it may be.
    fn states_in(&self, value: &ast::Expr, found: &mut Vec<u32>) -> bool {
        match &value.kind {
            ast::ExprKind::Name(name) => match self.cx.env.get(name) {
                Some(Def::Variant(_, number)) => {
                    found.push(number);
                    true
                }
                _ => false,
            },
            ast::ExprKind::Paren(inner) => self.states_in(inner, found),
            ast::ExprKind::Cond(_, then, otherwise) => {
                let then = self.states_in(then, found);
                self.states_in(otherwise, found) && then
            }
            _ => false,
        }
    }
}

fn is_state_of(def: Def, states: ir::EnumId) -> bool {
    matches!(def, Def::Variant(of, _) if of == states)
}

impl Checker<'_> {
    /// Whether a run of the block may delete a context; `depth` bounds calls, which may be recursive.
    pub(crate) fn deletes(&self, block: &ir::Block, depth: usize) -> bool {
        let mut found = false;
        walk::statements(block, &mut |stmt| {
            found |= match &stmt.kind {
                StmtKind::Instr(Instr::DelCtx { .. }) => true,
                StmtKind::Call { func, .. } if depth > 0 && !found => {
                    self.deletes(&self.program.functions[func.index()].body, depth - 1)
                }
                _ => false,
            };
        });
        found
    }
}
