// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of expressions that are known before the program runs.

use crate::{Expr, ExprKind, ParamId, Program, Requirement, arith};

impl Program {
    /// Returns the first requirement that these values, one for each of [`Program::params`], do not meet.
    pub fn unmet(&self, params: &[u64]) -> Option<&Requirement> {
        let given = |id: ParamId| params.get(id.index()).copied();
        self.requirements.iter().find(|r| fold(self, &r.cond, &given) != Some(1))
    }
}

/// The value of a constant expression; `param` says what is known of a parameter. `None` if it is not constant.
pub fn fold(program: &Program, expr: &Expr, param: &dyn Fn(ParamId) -> Option<u64>) -> Option<u64> {
    let fold = |e: &Expr| fold(program, e, param);
    Some(match &expr.kind {
        ExprKind::Lit(value) => *value,
        ExprKind::Const(id) => program.consts[id.index()].value,
        ExprKind::Element(id, at) => arith::element(&program.arrays[id.index()].values, fold(at)?),
        ExprKind::Param(id) => param(*id)?,
        ExprKind::Unary(op, a) => arith::unary(*op, &a.ty, fold(a)?),
        ExprKind::Binary(op, a, b) => arith::binary(*op, &a.ty, &expr.ty, fold(a)?, fold(b)?),
        ExprKind::Cast(a) => arith::cast(&expr.ty, fold(a)?),
        ExprKind::Cond(c, a, b) => fold(if fold(c)? != 0 { a } else { b })?,
        ExprKind::Builtin(function, args) => {
            let numbers: Option<Vec<u64>> = args.iter().map(fold).collect();
            function.value(&args.first()?.ty, &numbers?)?
        }
        _ => return None,
    })
}
