// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point numbers: where they come from.

use carrick_ir::{self as ir, BinOp, ExprKind, Ty, UnOp};
use carrick_syntax::Span;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use super::{Body, Val};
use crate::codes;
use crate::types::{converts, is_int, is_unit};

/// The digits behind the point.
const POINT: u64 = 32;

impl Body<'_, '_> {
    /// `fixed(n)` and `int32(f)`: the whole number, which may wrap; of a fraction what is not greater.
    pub(super) fn whole_number(&mut self, value: ir::Expr, ty: &Ty, span: Span) -> ir::Expr {
        let op = if *ty == Ty::Fixed { BinOp::Shl } else { BinOp::Shr };
        let bits = Box::new(self.cast(value, &Ty::I64));
        let point = Box::new(self.make(ExprKind::Lit(POINT), Ty::U32, span));
        let shifted = self.make(ExprKind::Binary(op, bits, point), Ty::I64, span);
        self.cast(shifted, ty)
    }

    /// `ratio(a, b)` of two integers, or of two values with the same unit.
    pub(super) fn ratio(&mut self, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 2, span)?;
        let a = self.val(&args[0], None)?;
        let mark = self.out.len();
        let b = self.val(&args[1], None)?;
        let a = match a {
            Val::Typed(a) if self.out.len() > mark => Val::Typed(self.spill(a, mark, span)),
            a => a,
        };
        let ty = match (&a, &b) {
            (Val::Typed(x), Val::Typed(y)) if converts(&x.ty, &y.ty) => y.ty.clone(),
            (Val::Typed(x), _) | (_, Val::Typed(x)) => x.ty.clone(),
            _ => Ty::I64,
        };
        let (a, b) = (self.coerce(a, &ty, args[0].span)?, self.coerce(b, &ty, args[1].span)?);
        if !is_int(&ty) && !is_unit(&ty) {
            let found = self.name(&ty);
            return self.report(
                Diagnostic::error(
                    codes::TYPE_MISMATCH,
                    format!("`{found}` has no ratio to another"),
                    span,
                    "neither numbers nor units",
                )
                .mend("ratio is for integers, fixed, durations, bytes and rates"),
            );
        }
        let kind = ExprKind::Binary(BinOp::Ratio, Box::new(a), Box::new(b));
        Some(self.make(kind, Ty::Fixed, span))
    }

    /// `sqrt(f)`, `cbrt(f)`, `log2(f)`.
    pub(super) fn of_fraction(&mut self, op: UnOp, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        let value = Box::new(self.value_of_type(&args[0], &Ty::Fixed)?);
        Some(self.make(ExprKind::Unary(op, value), Ty::Fixed, span))
    }
}
