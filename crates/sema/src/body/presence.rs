// SPDX-License-Identifier: MIT OR Apache-2.0
//! Optional fields of events: where a field is known to be there, so that it can be read.
//!
//! A field is there where `e.f.present` was tested, and behind an assignment to it. Nothing takes a field away: an event is
//! never assigned as a whole. Below there are two fields, and the one before says whether the other is there.

use carrick_ir::{self as ir, ExprKind, LocalId, Proj, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp, UnOp};
use carrick_syntax::diag::Diagnostic;

use super::place::Node;
use super::stmt::leaves;
use super::{Binding, Body, Present};
use crate::codes;
use crate::optional::PRESENT;

/// Which fields are there if a condition holds, and if it does not.
#[derive(Default)]
pub(super) struct Known {
    pub holds: Present,
    pub fails: Present,
}

fn key(place: &ir::Place) -> Option<(LocalId, u32)> {
    match place.path[..] {
        [Proj::Field(at)] => Some((place.root, at)),
        _ => None,
    }
}

fn union(a: Present, b: Present) -> Present {
    a.into_iter().chain(b).collect()
}

fn both(a: &Present, b: &Present) -> Present {
    a.intersection(b).copied().collect()
}

impl Body<'_, '_> {
    /// What a condition says of optional fields. It has been checked, or will be.
    pub(super) fn known_by(&self, cond: &ast::Expr) -> Known {
        match &cond.kind {
            ast::ExprKind::Paren(inner) => self.known_by(inner),
            ast::ExprKind::Unary(UnOp::Not, inner) => {
                let Known { holds, fails } = self.known_by(inner);
                Known { holds: fails, fails: holds }
            }
            ast::ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let (a, b) = (self.known_by(a), self.known_by(b));
                match op {
                    BinOp::And => Known { holds: union(a.holds, b.holds), fails: both(&a.fails, &b.fails) },
                    _ => Known { holds: both(&a.holds, &b.holds), fails: union(a.fails, b.fails) },
                }
            }
            ast::ExprKind::Field(tested, test) if test.name == PRESENT => {
                Known { holds: self.optional_named(tested).into_iter().collect(), fails: Present::new() }
            }
            _ => Known::default(),
        }
    }

    /// The optional field that `e.f` names.
    fn optional_named(&self, e: &ast::Expr) -> Option<(LocalId, u32)> {
        let ast::ExprKind::Field(base, field) = &e.kind else { return None };
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let (binding, _) = self.names.iter().rev().find_map(|scope| scope.get(name))?;
        let Binding::Local(local) = *binding else { return None };
        let Ty::Event(event) = self.locals[local.index()].ty else { return None };
        let fields = &self.cx.program.events[event.index()].fields;
        let at = fields.iter().position(|f| f.name == field.name)? as u32;
        self.cx.is_optional(&Ty::Event(event), at).then_some((local, at))
    }

    /// Elaborates something that runs only where these fields are there too.
    pub(super) fn where_present<T>(&mut self, known: Present, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.present.clone();
        self.present.extend(known);
        let done = work(self);
        self.present = before;
        done
    }

    /// What is there behind a branch that was just elaborated; `None` if nothing follows it.
    pub(super) fn present_at_end(&self, branch: &ir::Block) -> Option<Present> {
        (!branch.stmts.last().is_some_and(leaves)).then(|| self.present.clone())
    }

    /// An `if` has these branches: `None` for one that leaves, else what is there at its end.
    pub(super) fn present_behind(&mut self, then: Option<Present>, otherwise: Option<Present>) {
        match (then, otherwise) {
            (Some(a), Some(b)) => self.present = both(&a, &b),
            (Some(one), None) | (None, Some(one)) => self.present = one,
            (None, None) => {}
        }
    }

    /// The field that says whether an optional one is there.
    pub(super) fn presence_of(&self, field: &ir::Place) -> ir::Place {
        let mut place = field.clone();
        if let Some(Proj::Field(at)) = place.path.last_mut() {
            *at -= 1;
        }
        place.ty = Ty::Bool;
        place
    }

    pub(super) fn is_known_present(&self, field: &ir::Place) -> bool {
        self.asked || key(field).is_some_and(|key| self.present.contains(&key))
    }

    /// What was named, where its value is needed: an optional field must be there.
    pub(super) fn there(&mut self, node: Node, span: Span) -> Option<Node> {
        match node {
            Node::Optional(place) if self.is_known_present(&place) => Some(Node::Place(place)),
            Node::Optional(place) => self.may_be_absent(&place, span),
            node => Some(node),
        }
    }

    fn may_be_absent<T>(&mut self, field: &ir::Place, span: Span) -> Option<T> {
        let (event, name) = self.names_of(field);
        let test = format!("{event}.{name}.{PRESENT}");
        self.report(
            Diagnostic::error(
                codes::MAYBE_ABSENT,
                format!("`{name}` may be absent here"),
                span,
                "not known to be present",
            )
            .note(format!("an optional field is read where `{test}` was tested, or behind an assignment"))
            .mend(format!("read it in `if ({test}) {{ }}`, or write `{test} ? {event}.{name} : other`")),
        )
    }

    /// The names of an event's variable and of its field.
    pub(super) fn names_of(&self, field: &ir::Place) -> (String, String) {
        let root = &self.locals[field.root.index()];
        let name = match (&root.ty, &field.path[..]) {
            (Ty::Event(event), [Proj::Field(at)]) => {
                self.cx.program.events[event.index()].fields[*at as usize].name.clone()
            }
            _ => String::new(),
        };
        (root.name.clone(), name)
    }

    /// The field is there from here on.
    pub(super) fn set_present(&mut self, field: &ir::Place, span: Span) {
        let place = self.presence_of(field);
        let value = self.make(ExprKind::Lit(1), Ty::Bool, span);
        self.emit(StmtKind::Assign { place, value });
        self.present.extend(key(field));
    }
}
