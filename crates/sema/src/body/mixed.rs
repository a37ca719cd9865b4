// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of another type than the one that is wanted: why they do not fit, and how they would.

use carrick_ir::Ty;
use carrick_syntax::Span;
use carrick_syntax::ast::BinOp;
use carrick_syntax::diag::Diagnostic;

use super::Body;
use super::operators::{is_comparison, symbol};
use crate::codes;
use crate::types::{is_int, is_unit};

fn is_signed(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { signed: true, .. })
}

fn has_unit(ty: &Ty) -> bool {
    is_unit(ty) || *ty == Ty::Time
}

fn counts(op: BinOp) -> bool {
    is_comparison(op) || matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem)
}

impl Body<'_, '_> {
    pub(super) fn other_type<T>(&mut self, from: &Ty, to: &Ty, span: Span) -> Option<T> {
        let (code, note) = match (from, to) {
            (Ty::Int { .. }, Ty::Int { .. }) if is_signed(from) != is_signed(to) => {
                (codes::OTHER_SIGN, "neither type holds all values of the other")
            }
            (Ty::Int { .. }, Ty::Int { .. }) => {
                (codes::NARROWING, "the expected type does not hold all values of the other")
            }
            (Ty::Enum(_), Ty::Int { .. }) | (Ty::Int { .. }, Ty::Enum(_)) => {
                (codes::ENUM_AND_NUMBER, "enums and numbers do not convert implicitly")
            }
            (Ty::Seq32, Ty::Int { .. }) | (Ty::Int { .. }, Ty::Seq32) => (
                codes::SEQ_AND_NUMBER,
                "a sequence number wraps and has its own order; a plain number does not",
            ),
            (Ty::Int { .. }, unit) | (unit, Ty::Int { .. }) if has_unit(unit) => {
                (codes::UNIT_AND_NUMBER, "a plain number has no unit")
            }
            _ => {
                let found = format!("`{}`", self.name(from));
                return self.mismatch(&found, to, span);
            }
        };
        let (found, wanted) = (self.name(from), self.name(to));
        let text = self.cx.written(span);
        self.report(
            Diagnostic::error(
                code,
                format!("expected `{wanted}`, found `{found}`"),
                span,
                format!("expected `{wanted}`"),
            )
            .note(note)
            .fix("convert it, if that is intended", span, format!("{wanted}({text})")),
        )
    }

    /// A literal where it has no meaning.
    pub(super) fn other_than_number<T>(&mut self, value: i128, to: &Ty, span: Span) -> Option<T> {
        let example = match to {
            Ty::Duration => "ms",
            Ty::Rate => "Mbps",
            _ => return self.mismatch(&format!("the number {value}"), to, span),
        };
        let wanted = self.name(to);
        self.report(
            Diagnostic::error(
                codes::NUMBER_WITHOUT_UNIT,
                format!("expected `{wanted}`, found the number {value}"),
                span,
                "no unit",
            )
            .mend(format!("write the unit after it: `{value}{example}`")),
        )
    }

    /// Two operands with which an operator does nothing.
    pub(super) fn other_operands<T>(&mut self, op: BinOp, a: &Ty, b: &Ty, span: Span) -> Option<T> {
        let (code, mend) = match () {
            () if is_int(a) && is_int(b) => {
                (codes::MIXED_SIGNS, "convert both to the type of the result: `int64(x)`")
            }
            () if is_comparison(op) && a == b && matches!(op, BinOp::Eq | BinOp::Ne) => {
                (codes::NOT_COMPARABLE, "compare their parts")
            }
            () if is_comparison(op) && a == b => (codes::NO_ORDER, "compare with `==` or `!=`"),
            () if counts(op) && (has_unit(a) && (has_unit(b) || is_int(b)) || is_int(a) && has_unit(b)) => (
                codes::MIXED_UNITS,
                "give the number its unit (`10ms`, `1KiB`), or convert the other value to a number: `uint64(x)`",
            ),
            () => {
                let (a, b) = (format!("`{}`", self.name(a)), format!("`{}`", self.name(b)));
                return self.do_not_go_together(op, &a, &b, span);
            }
        };
        let (a, b) = (self.name(a), self.name(b));
        let message = format!("`{}` is not defined for `{a}` and `{b}`", symbol(op));
        self.report(Diagnostic::error(code, message, span, "here").mend(mend))
    }
}
