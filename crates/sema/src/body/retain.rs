// SPDX-License-Identifier: MIT OR Apache-2.0
//! `list.retain(x, keep);`: a loop that goes on to the next element, or removes the one that it is at.

use std::collections::BTreeMap;

use carrick_ir::{self as ir, Change, ExprKind, LocalId, Over, Proj, Query, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident};

use super::place::{Node, extended};
use super::{Body, Present};

impl Body<'_, '_> {
    pub(super) fn retain(
        &mut self,
        list: &ast::Expr,
        word: Span,
        var: &Ident,
        keep: &ast::Expr,
    ) -> Option<()> {
        let method = Ident { name: "retain".to_owned(), span: word };
        let node = self.node(list)?;
        let place = match self.there(node, list.span)? {
            Node::ReadOnly(place, _) if !matches!(place.path.last(), Some(Proj::OptField(..))) => place,
            node @ (Node::Place(_) | Node::ReadOnly(..)) => self.assignable(node, list.span)?,
            _ => return self.no_method(&method),
        };
        let Ty::List(element, most, _) = place.ty.clone() else { return self.no_method(&method) };
        self.check_turns(most.into(), list.span)?;
        let list = self.steady(place, list.span);
        let number = self.temporary(Ty::U32);
        self.emit(StmtKind::Let { local: number, init: Some(self.number(0)) });
        let turn = self.temporary(Ty::U32);
        let body = self.retain_turn(&list, number, (var, *element), keep)?;
        let over = Over::Range { from: self.number(0), to: self.number(most.into()), max: most.into() };
        self.emit(StmtKind::For { var: turn, over, body });
        Some(())
    }

    /// The list, whose indices are evaluated once.
    fn steady(&mut self, mut list: ir::Place, span: Span) -> ir::Place {
        for step in &mut list.path {
            if let Proj::Index(index) | Proj::Elem(index) = step {
                *index = self.kept(index.clone(), span);
            }
        }
        list
    }

    /// Looks at the element with this number: if it stays, the next number is the next turn's.
    fn retain_turn(
        &mut self,
        list: &ir::Place,
        number: LocalId,
        (var, ty): (&Ident, Ty),
        keep: &ast::Expr,
    ) -> Option<ir::Block> {
        let at = self.at;
        let outer = std::mem::take(&mut self.out);
        self.leave_behind_last(list, number, var.span);
        self.names.push(BTreeMap::new());
        let index = self.cast(self.load(number, var.span), &Ty::U64);
        let element = extended(list.clone(), Proj::Elem(index.clone()), ty.clone());
        let local = self.declare(var, ty.clone());
        let init = Some(self.make(ExprKind::Load(element), ty, var.span));
        self.emit(StmtKind::Let { local, init });
        let cond = self.where_present(Present::new(), |body| body.condition(keep));
        self.close_scope();
        self.at = at;
        if let Some(cond) = cond {
            self.advise_condition(&cond, keep.span);
            let next = self.computed(ir::BinOp::Add, self.load(number, var.span), self.number(1), Ty::U32);
            let go_on = StmtKind::Assign { place: self.local_place(number), value: next };
            let what = Change::ListRemove;
            let remove = StmtKind::Change { what, dest: None, on: list.clone(), args: vec![index] };
            let [then, otherwise] = [go_on, remove].map(|kind| self.only(kind));
            self.emit(StmtKind::If { cond, then, otherwise });
            return Some(ir::Block { stmts: std::mem::replace(&mut self.out, outer) });
        }
        self.out = outer;
        None
    }

    /// `if (number >= list.len()) break;`
    fn leave_behind_last(&mut self, list: &ir::Place, number: LocalId, span: Span) {
        let len = self.make(ExprKind::Query(Query::ListLen, list.clone(), Vec::new()), Ty::U32, span);
        let cond = self.computed(ir::BinOp::Ge, self.load(number, span), len, Ty::Bool);
        let then = self.only(StmtKind::Break);
        self.emit(StmtKind::If { cond, then, otherwise: ir::Block::default() });
    }

    fn computed(&self, op: ir::BinOp, a: ir::Expr, b: ir::Expr, ty: Ty) -> ir::Expr {
        let loc = a.loc;
        ir::Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, loc }
    }

    fn only(&self, kind: StmtKind) -> ir::Block {
        ir::Block { stmts: vec![ir::Stmt { kind, loc: self.at }] }
    }
}
