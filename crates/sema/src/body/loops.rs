// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops, and the bounds that they have.

use carrick_ir::{self as ir, Over, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident, Turns};
use carrick_syntax::diag::Diagnostic;

use super::place::{Elements, Node};
use super::{Body, Present};
use crate::codes;
use crate::types::is_int;

/// The largest number of iterations of a loop.
const TURNS_MAX: u64 = 65_536;

impl Body<'_, '_> {
    pub(super) fn for_loop(
        &mut self,
        ty: &ast::Type,
        var: &Ident,
        over: &Turns,
        body: &ast::Block,
    ) -> Option<()> {
        match over {
            Turns::Range { from, to, max } => self.for_range(ty, var, (from, to), max.as_ref(), body),
            Turns::EachOf(list) => self.for_each(ty, var, list, body),
        }
    }

    fn for_range(
        &mut self,
        ty: &ast::Type,
        var: &Ident,
        (from, to): (&ast::Expr, &ast::Expr),
        max: Option<&ast::Expr>,
        body: &ast::Block,
    ) -> Option<()> {
        let ty = self.cx.resolve(ty)?;
        if !is_int(&ty) {
            let found = self.name(&ty);
            return self.mismatch(&format!("`{found}`"), &Ty::U32, var.span);
        }
        let values = self.arguments(&[(from, Some(ty.clone())), (to, Some(ty.clone()))])?;
        let turns = self.turns((from, to), (&values[0], &values[1]), &ty, max)?;
        self.check_turns(turns, from.span.to(to.span))?;
        if turns == 0 {
            self.advise_no_turns(from.span, to.span);
        }
        let at = self.at;
        self.names.push(std::collections::BTreeMap::new());
        let local = self.declare(var, ty);
        self.used[local.index()] = true;
        let body = self.loop_body(body);
        self.close_scope();
        self.at = at;
        let mut values = values.into_iter();
        let (from, to) = (values.next()?, values.next()?);
        self.emit(StmtKind::For { var: local, over: Over::Range { from, to, max: turns }, body });
        Some(())
    }

    /// `while (cond max n) { body }` is a range of n whose block begins with the way out.
    pub(super) fn while_loop(&mut self, cond: &ast::Expr, max: &ast::Expr, body: &ast::Block) -> Option<()> {
        let turns = self.cx.constant(max, &Ty::U64)?;
        self.check_turns(turns, max.span)?;
        if turns == 0 || matches!(cond.kind, ast::ExprKind::Bool(false)) {
            let here = if turns == 0 { max.span } else { cond.span };
            let mend = "state a bound above 0 and a condition that can hold, or remove it";
            self.advise(codes::NO_TURNS, "this loop never runs", here, "not once", mend);
            return Some(());
        }
        let mut body = body.clone();
        // A test of a feature may have decided it.
        if !matches!(cond.kind, ast::ExprKind::Bool(true)) {
            body.stmts.insert(0, leave_unless(cond));
        }
        let at = self.at;
        let var = self.temporary(Ty::U32);
        let body = self.loop_body(&body);
        self.at = at;
        let over = Over::Range { from: self.number(0), to: self.number(turns), max: turns };
        self.emit(StmtKind::For { var, over, body });
        Some(())
    }

    pub(super) fn check_turns(&mut self, turns: u64, span: Span) -> Option<()> {
        if turns <= TURNS_MAX {
            return Some(());
        }
        let message = format!("a loop of {turns} iterations");
        self.report(
            Diagnostic::error(codes::LOOP_TOO_LONG, message, span, "too many")
                .note(format!("a loop has at most {TURNS_MAX} iterations"))
                .mend("spread the work over several events"),
        )
    }

    /// The largest number of iterations of a loop over a range.
    fn turns(
        &mut self,
        (from, to): (&ast::Expr, &ast::Expr),
        values: (&ir::Expr, &ir::Expr),
        ty: &Ty,
        max: Option<&ast::Expr>,
    ) -> Option<u64> {
        if let Some(max) = max {
            return self.cx.constant(max, &Ty::U64);
        }
        match (self.cx.fold(values.0), self.cx.fold(values.1)) {
            (Some(a), Some(b)) if ir::arith::less(ty, a, b) => Some(b.wrapping_sub(a)),
            (Some(_), Some(_)) => Some(0),
            _ => self.report(
                Diagnostic::error(
                    codes::UNBOUNDED_LOOP,
                    "this loop's bound is not known",
                    from.span.to(to.span),
                    "not constant",
                )
                .note("a chain of event processors is one bounded step on every target")
                .mend("give the largest number of iterations: `for (uint32 i in 0..n max 16)`"),
            ),
        }
    }

    /// Says that a loop from one bound to the other never runs.
    fn advise_no_turns(&mut self, from: Span, to: Span) {
        let here = from.to(to);
        let what = ("this loop never runs", "an empty range");
        if self.alike(from, to) {
            self.advise(
                codes::NO_TURNS,
                what.0,
                here,
                what.1,
                "give it two bounds that differ, or remove it",
            );
        } else {
            let swapped = format!("{}..{}", self.cx.written(to), self.cx.written(from));
            let mend = ("write the lesser bound first; the upper one is not reached", swapped);
            self.advise_edit(codes::NO_TURNS, what, here, mend);
        }
    }

    fn loop_body(&mut self, body: &ast::Block) -> ir::Block {
        self.loops += 1;
        let body = self.where_present(Present::new(), |this| this.block(body));
        self.loops -= 1;
        body
    }

    fn for_each(&mut self, ty: &ast::Type, var: &Ident, list: &ast::Expr, body: &ast::Block) -> Option<()> {
        let ty = self.cx.resolve(ty)?;
        let node = self.node(list)?;
        let array = match &node {
            Node::Elements(array) => Some(array.clone()),
            _ => None,
        };
        let (place, found) = match &array {
            Some(array) => (None, self.elements_type(array)),
            None => {
                let place = self.readable(node, list)?;
                let found = place.ty.clone();
                (Some(place), found)
            }
        };
        match &found {
            Ty::List(element, _, _) | Ty::Array(element, _) if **element == ty => {}
            other => {
                let (found, wanted) = (self.name(other), self.name(&ty));
                return self.report(
                    Diagnostic::error(
                        codes::LOOP_OVER,
                        format!("expected a list of `{wanted}`, found `{found}`"),
                        list.span,
                        "runs over this",
                    )
                    .mend("name a list or an array of this type"),
                );
            }
        }
        let at = self.at;
        self.names.push(std::collections::BTreeMap::new());
        let local = self.declare(var, ty);
        let mut body = self.loop_body(body);
        self.close_scope();
        self.at = at;
        let (var, over) = match (place, array) {
            (Some(place), _) => (local, Over::EachOf(place)),
            (None, Some(array)) => self.each_element(array, local, &mut body, list.span),
            (None, None) => return None,
        };
        self.emit(StmtKind::For { var, over, body });
        Some(())
    }

    /// The numbers of the elements of a header's array; the body begins with the element of each.
    fn each_element(
        &mut self,
        array: Elements,
        local: ir::LocalId,
        body: &mut ir::Block,
        span: Span,
    ) -> (ir::LocalId, Over) {
        let of = array.array.of;
        let var = self.temporary(Ty::U32);
        let index = self.cast(self.load(var, span), &Ty::U64);
        let outer = std::mem::take(&mut self.out);
        let element = self.elements_value(Elements { index: Some(index), ..array }, span);
        self.emit(StmtKind::Let { local, init: Some(element) });
        let first = std::mem::replace(&mut self.out, outer);
        body.stmts.splice(0..0, first);
        (var, Over::Range { from: self.number(0), to: self.number(of.into()), max: of.into() })
    }

    pub(super) fn number(&self, value: u64) -> ir::Expr {
        ir::Expr { kind: ir::ExprKind::Lit(value), ty: Ty::U32, loc: self.at }
    }

    pub(super) fn loop_jump(&mut self, is_break: bool, span: Span) -> Option<()> {
        if self.loops == 0 {
            return self.report(
                Diagnostic::error(
                    codes::OUTSIDE_LOOP,
                    "there is no loop to leave here",
                    span,
                    "outside a loop",
                )
                .mend("use `return` to end the processor, or `stop` to end the chain"),
            );
        }
        self.emit(if is_break { StmtKind::Break } else { StmtKind::Continue });
        Some(())
    }
}

/// `if (!(cond)) break;`
fn leave_unless(cond: &ast::Expr) -> ast::Stmt {
    let span = cond.span;
    let inner = ast::Expr { kind: ast::ExprKind::Paren(Box::new(cond.clone())), span };
    let cond = match &cond.kind {
        ast::ExprKind::Unary(ast::UnOp::Not, inner) => (**inner).clone(),
        _ => ast::Expr { kind: ast::ExprKind::Unary(ast::UnOp::Not, Box::new(inner)), span },
    };
    let then = ast::Block { stmts: vec![ast::Stmt { kind: ast::StmtKind::Break, span }], span };
    ast::Stmt { kind: ast::StmtKind::If { cond, then, otherwise: None }, span }
}
