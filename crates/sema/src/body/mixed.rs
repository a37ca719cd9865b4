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
                (codes::OTHER_SIGN, "one of the two has a sign, so it does not hold all values of the other")
            }
            (Ty::Int { .. }, Ty::Int { .. }) => {
                (codes::NARROWING, "the type does not hold all values of the other")
            }
            (Ty::Enum(_), Ty::Int { .. }) | (Ty::Int { .. }, Ty::Enum(_)) => {
                (codes::ENUM_AND_NUMBER, "enums and numbers do not become each other by themselves")
            }
            (Ty::Seq32, Ty::Int { .. }) | (Ty::Int { .. }, Ty::Seq32) => (
                codes::SEQ_AND_NUMBER,
                "a sequence number wraps and has its own order; a plain number has not",
            ),
            (Ty::Int { .. }, unit) | (unit, Ty::Int { .. }) if has_unit(unit) => {
                (codes::UNIT_AND_NUMBER, "a number says nothing of its unit")
            }
            _ => {
                let found = format!("a `{}`", self.name(from));
                return self.mismatch(&found, to, span);
            }
        };
        let (found, wanted) = (self.name(from), self.name(to));
        let text = self.cx.written(span);
        self.report(
            Diagnostic::error(
                code,
                format!("expected a `{wanted}`, found a `{found}`"),
                span,
                format!("should be a `{wanted}`"),
            )
            .note(note)
            .fix("if it is meant, convert it", span, format!("{wanted}({text})")),
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
                format!("expected a `{wanted}`, found the number {value}"),
                span,
                "of which unit?",
            )
            .mend(format!("write the unit behind it: `{value}{example}`")),
        )
    }

    /// Two operands with which an operator does nothing.
    pub(super) fn other_operands<T>(&mut self, op: BinOp, a: &Ty, b: &Ty, span: Span) -> Option<T> {
        let (code, mend) = match () {
            () if is_int(a) && is_int(b) => (
                codes::MIXED_SIGNS,
                "convert one of them to the type in which it is to be computed: `int64(x)`",
            ),
            () if is_comparison(op) && a == b && matches!(op, BinOp::Eq | BinOp::Ne) => {
                (codes::NOT_COMPARABLE, "compare their parts")
            }
            () if is_comparison(op) && a == b => (codes::NO_ORDER, "compare with `==` or `!=`"),
            () if counts(op) && (has_unit(a) && (has_unit(b) || is_int(b)) || is_int(a) && has_unit(b)) => (
                codes::MIXED_UNITS,
                "give a number its unit (`10ms`, `1KiB`), or take the number out of one: `uint64(x)`",
            ),
            () => {
                let (a, b) = (format!("a `{}`", self.name(a)), format!("a `{}`", self.name(b)));
                return self.do_not_go_together(op, &a, &b, span);
            }
        };
        let (a, b) = (self.name(a), self.name(b));
        let message = format!("a `{a}` and a `{b}` do not go together with `{}`", symbol(op));
        self.report(Diagnostic::error(code, message, span, "here").mend(mend))
    }
}
