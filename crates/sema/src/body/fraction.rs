// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point numbers: conversions from and to integers.

use carrick_ir::{self as ir, BinOp, ExprKind, Ty};
use carrick_syntax::Span;

use super::Body;

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
}
