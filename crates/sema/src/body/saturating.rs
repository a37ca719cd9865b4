// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saturating sums and differences: they stop at the end of their type.

use carrick_ir::builtins::Takes;
use carrick_ir::{self as ir, Builtin, ExprKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp};

use super::{Body, Val};

impl Body<'_, '_> {
    /// `a > b ? a - b : 0`, or `a + b < a ? the greatest value : a + b`: an operand has no effect, so it may be read twice.
    pub(super) fn saturating(
        &mut self,
        function: Builtin,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<ir::Expr> {
        self.count(args, 2, span)?;
        let Takes::Alike(_, kind) = function.declaration().takes else { return None };
        let [a, b] = self.of_one_type(function, kind, args, span, want)?.try_into().ok()?;
        if function == Builtin::SatSub {
            let greater = self.of_both(BinOp::Gt, (&a, &b), args, span)?;
            let difference = self.of_both(BinOp::Sub, (&a, &b), args, span)?;
            let none = self.make(ExprKind::Lit(0), difference.ty.clone(), span);
            return Some(self.chosen(greater, difference, none));
        }
        let sum = self.of_both(BinOp::Add, (&a, &b), args, span)?;
        let wraps = self.of_both(BinOp::Lt, (&sum, &a), args, span)?;
        let most = ir::arith::cast(&a.ty, u64::MAX);
        let most = self.make(ExprKind::Lit(most), a.ty.clone(), span);
        Some(self.chosen(wraps, most, sum))
    }

    fn of_both(
        &mut self,
        op: BinOp,
        (a, b): (&ir::Expr, &ir::Expr),
        args: &[ast::Expr],
        span: Span,
    ) -> Option<ir::Expr> {
        let (a, b) = (Val::Typed(a.clone()), Val::Typed(b.clone()));
        let value = self.combine(op, (a, args[0].span), (b, args[1].span), span)?;
        self.with_own_type(value, span)
    }

    pub(super) fn chosen(&self, cond: ir::Expr, then: ir::Expr, otherwise: ir::Expr) -> ir::Expr {
        let (ty, loc) = (then.ty.clone(), cond.loc);
        ir::Expr { kind: ExprKind::Cond(Box::new(cond), Box::new(then), Box::new(otherwise)), ty, loc }
    }
}
