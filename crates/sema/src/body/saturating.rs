// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sat_add` and `sat_sub`: sums that stop at the end of their type.

use carrick_ir::{self as ir, ExprKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp};
use carrick_syntax::diag::Diagnostic;

use super::{Body, Val};
use crate::codes;
use crate::types::converts;

impl Body<'_, '_> {
    /// `a > b ? a - b : 0`, or `a + b < a ? the greatest value : a + b`: an operand has no effect, so it may be read twice.
    pub(super) fn saturating(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<ir::Expr> {
        self.count(args, 2, span)?;
        let (a, b) = self.saturating_operands(name, args, span, want)?;
        if name == "sat_sub" {
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

    fn saturating_operands(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<(ir::Expr, ir::Expr)> {
        let a = self.val(&args[0], want.filter(|ty| saturates(name, ty)))?;
        let before = self.out.len();
        let b = self.val(&args[1], None)?;
        let ty = match (&a, &b) {
            (Val::Typed(x), Val::Typed(y)) if converts(&x.ty, &y.ty) => y.ty.clone(),
            (Val::Typed(x), _) | (_, Val::Typed(x)) => x.ty.clone(),
            _ => want.cloned().unwrap_or(Ty::U32),
        };
        if !saturates(name, &ty) {
            let found = self.name(&ty);
            return self.report(
                Diagnostic::error(
                    codes::SATURATING,
                    format!("`{name}` is not defined for `{found}`"),
                    span,
                    "here",
                )
                .note("sat_add and sat_sub are for unsigned integers, bytes and rate, sat_sub also for seq32")
                .mend("write the limit with `min` or `max`"),
            );
        }
        let mut a = self.coerce(a, &ty, args[0].span)?;
        if self.out.len() > before {
            // Read before the second operand has its effects.
            a = self.spill(a, before, args[0].span);
        }
        let b = self.coerce(b, &ty, args[1].span)?;
        Some((a, b))
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

    fn chosen(&self, cond: ir::Expr, then: ir::Expr, otherwise: ir::Expr) -> ir::Expr {
        let (ty, loc) = (then.ty.clone(), cond.loc);
        ir::Expr { kind: ExprKind::Cond(Box::new(cond), Box::new(then), Box::new(otherwise)), ty, loc }
    }
}

fn saturates(name: &str, ty: &Ty) -> bool {
    matches!(ty, Ty::Int { signed: false, .. } | Ty::Bytes | Ty::Rate)
        || (name == "sat_sub" && *ty == Ty::Seq32)
}
