// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of built-in functions that are operations of the IR: their operands are checked as they are declared.

use carrick_ir::builtins::{Gives, Kind, Takes};
use carrick_ir::{self as ir, Builtin, ExprKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use super::{Body, Val};
use crate::checker::Ordered;
use crate::codes;
use crate::types::converts;

impl Body<'_, '_> {
    pub(super) fn operation(
        &mut self,
        function: Builtin,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<ir::Expr> {
        let (declared, address) = (function.declaration(), self.cx.program.address_ty());
        let operands = match declared.takes {
            Takes::Each(kinds) => {
                self.count(args, kinds.len(), span)?;
                let tys = kinds.iter().map(|kind| kind.ty(&address));
                let typed: Vec<_> = args.iter().zip(tys).collect();
                self.arguments(&typed)?
            }
            Takes::Alike(count, kind) => {
                self.count(args, count, span)?;
                let want = want.filter(|_| declared.gives == Gives::Operands);
                self.of_one_type(function, kind, args, span, want)?
            }
            Takes::Many(_) if args.is_empty() => return self.wrong_count(0, "one or more", span),
            Takes::Many(kind) => {
                let typed: Vec<_> = args.iter().map(|e| (e, None)).collect();
                let operands = self.arguments(&typed)?;
                let wrong = operands.iter().find(|v| !kind.has(&v.ty, &address));
                if let Some(wrong) = wrong.map(|v| v.ty.clone()) {
                    return self.wrong_operand(function, kind, &wrong, [span; 2]);
                }
                operands
            }
            Takes::Name => return None,
        };
        let ty = match declared.gives {
            Gives::Operands => operands.first()?.ty.clone(),
            Gives::Is(kind) => kind.ty(&address)?,
        };
        Some(self.make(ExprKind::Builtin(function, operands), ty, span))
    }

    /// One or two operands of one type, which is of the kind. Literals take the type of the other operand, else the wanted one.
    pub(super) fn of_one_type(
        &mut self,
        function: Builtin,
        kind: Kind,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<Vec<ir::Expr>> {
        let address = self.cx.program.address_ty();
        let [first, second] = args else {
            let value = self.typed(args.first()?)?;
            if !kind.has(&value.ty, &address) {
                return self.wrong_operand(function, kind, &value.ty, [span, args[0].span]);
            }
            return Some(vec![value]);
        };
        let want = want.filter(|ty| kind.has(ty, &address));
        let a = self.val(first, want)?;
        let mark = self.out.len();
        let b = self.val(second, want)?;
        let a = match a {
            // Read before the second operand has its effects.
            Val::Typed(a) if self.out.len() > mark => Val::Typed(self.spill(a, mark, span)),
            a => a,
        };
        let ty = match (&a, &b) {
            (Val::Typed(x), Val::Typed(y)) if converts(&x.ty, &y.ty) => y.ty.clone(),
            (Val::Typed(x), _) | (_, Val::Typed(x)) => x.ty.clone(),
            _ => want.cloned().unwrap_or(if kind == Kind::Quantity { Ty::I64 } else { Ty::U32 }),
        };
        let (a, b) = (self.coerce(a, &ty, first.span)?, self.coerce(b, &ty, second.span)?);
        if !kind.has(&ty, &address) {
            return self.wrong_operand(function, kind, &ty, [span, first.span]);
        }
        if matches!(kind, Kind::Ordered | Kind::Seq32) {
            self.cx.ordered.push(Ordered { span, operands: [first.span, second.span], extreme: true });
        }
        Some(vec![a, b])
    }

    fn wrong_operand<T>(
        &mut self,
        function: Builtin,
        kind: Kind,
        found: &Ty,
        [call, operand]: [Span; 2],
    ) -> Option<T> {
        let (name, found) = (function.name(), self.name(found));
        self.report(match kind {
            Kind::Signed => Diagnostic::error(
                codes::ABS_UNSIGNED,
                format!("`{found}` is never negative"),
                operand,
                "no sign",
            )
            .mend(format!("{name} is for signed integers, durations and fixed")),
            Kind::Quantity => Diagnostic::error(
                codes::TYPE_MISMATCH,
                format!("`{found}` has no {name} to another"),
                call,
                "neither numbers nor units",
            )
            .mend(format!("{name} is for integers, fixed, durations, bytes and rates")),
            Kind::Hashed => Diagnostic::error(
                codes::HASHED_TYPE,
                format!("`{found}` cannot be hashed"),
                call,
                "scalars and ids only",
            )
            .mend("hash its parts"),
            Kind::Unsigned | Kind::Distance => Diagnostic::error(
                codes::SATURATING,
                format!("`{name}` is not defined for `{found}`"),
                call,
                "here",
            )
            .note(format!(
                "{} is for unsigned integers, bytes and rate, {} also for seq32",
                all_for(Kind::Unsigned),
                all_for(Kind::Distance)
            ))
            .mend("write the limit with `min` or `max`"),
            _ => Diagnostic::error(
                codes::EXTREME_TYPE,
                format!("`{name}` is not defined for `{found}`"),
                call,
                "here",
            )
            .mend(format!(
                "{} are for numbers and units, {} for seq32",
                all_for(Kind::Ordered),
                all_for(Kind::Seq32)
            )),
        })
    }
}

/// The functions of operands of this kind: "a and b".
fn all_for(kind: Kind) -> String {
    let of_kind = |f: &Builtin| matches!(f.declaration().takes, Takes::Alike(_, of) if of == kind);
    Builtin::callable().filter(of_kind).map(Builtin::name).collect::<Vec<_>>().join(" and ")
}
