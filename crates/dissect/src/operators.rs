// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators on two operands, as the table of the reference has them.

use carrick_ir::{BinOp, Expr, ExprKind, Ty};

use crate::emitter::Emitter;
use crate::expr::wrapped;
use crate::types::Rep;

impl Emitter<'_> {
    pub(crate) fn binary(&self, op: BinOp, a: &Expr, b: &Expr, to: &Ty) -> String {
        let (rep, to) = (self.rep(&a.ty), self.rep(to));
        match op {
            BinOp::LogicalAnd => format!("({} and {})", self.expr(a), self.expr(b)),
            BinOp::LogicalOr => format!("({} or {})", self.expr(a), self.expr(b)),
            BinOp::Eq | BinOp::Ne => self.equality(op == BinOp::Eq, a, b),
            BinOp::Lt => self.less(&a.ty, &self.operand(a, b), &self.operand(b, a)),
            BinOp::Gt => self.greater(a, b),
            BinOp::Le => self.at_most(a, b),
            BinOp::Ge => self.at_least(a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => self.bitwise(op, rep, a, b),
            BinOp::Add | BinOp::Sub | BinOp::Mul => self.arithmetic(op, to, a, b),
            BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr => self.guarded(op, rep, to, a, b),
            BinOp::BytesPerRate
            | BinOp::BytesPerDuration
            | BinOp::FixedMul
            | BinOp::FixedDiv
            | BinOp::Scale
            | BinOp::RateTimesDuration => {
                self.refuse("the parser computes with fractions or rates, which dissectors do not support")
            }
        }
    }

    /// An operand; Wireshark's numbers take a small literal beside them as it is.
    fn operand(&self, e: &Expr, other: &Expr) -> String {
        match &e.kind {
            ExprKind::Lit(n)
                if *n < 1 << 31
                    && self.rep(&e.ty) == (Rep::Wide { signed: false })
                    && self.rep(&other.ty) == self.rep(&e.ty)
                    && !matches!(other.kind, ExprKind::Lit(_)) =>
            {
                n.to_string()
            }
            _ => self.expr(e),
        }
    }

    fn equality(&self, equal: bool, a: &Expr, b: &Expr) -> String {
        let (left, right) = (self.expr(a), self.expr(b));
        match (self.rep(&a.ty), equal) {
            (Rep::Table, true) => format!("same({left}, {right})"),
            (Rep::Table, false) => format!("(not same({left}, {right}))"),
            (_, true) => format!("({left} == {right})"),
            (_, false) => format!("({left} ~= {right})"),
        }
    }

    /// `a < b` of operands of this type.
    pub(crate) fn less(&self, ty: &Ty, a: &str, b: &str) -> String {
        match (ty, self.rep(ty)) {
            (Ty::Seq32, _) => format!("seq_less({a}, {b})"),
            (_, Rep::Wide { signed: true }) => format!("less64s({a}, {b})"),
            _ => format!("({a} < {b})"),
        }
    }

    fn greater(&self, a: &Expr, b: &Expr) -> String {
        match (&a.ty, self.rep(&a.ty)) {
            (Ty::Seq32, _) | (_, Rep::Wide { signed: true }) => {
                self.less(&a.ty, &self.expr(b), &self.expr(a))
            }
            _ => format!("({} > {})", self.operand(a, b), self.operand(b, a)),
        }
    }

    fn at_least(&self, a: &Expr, b: &Expr) -> String {
        match (&a.ty, self.rep(&a.ty)) {
            (Ty::Seq32, _) | (_, Rep::Wide { signed: true }) => self.at_most(b, a),
            _ => format!("({} >= {})", self.operand(a, b), self.operand(b, a)),
        }
    }

    fn at_most(&self, a: &Expr, b: &Expr) -> String {
        match (&a.ty, self.rep(&a.ty)) {
            (Ty::Seq32, _) | (_, Rep::Wide { signed: true }) => {
                format!("(not {})", self.less(&a.ty, &self.expr(b), &self.expr(a)))
            }
            _ => format!("({} <= {})", self.operand(a, b), self.operand(b, a)),
        }
    }

    fn bitwise(&self, op: BinOp, rep: Rep, a: &Expr, b: &Expr) -> String {
        let (a, b) = (self.expr(a), self.expr(b));
        let (name, word) = match op {
            BinOp::And => ("band", "and"),
            BinOp::Or => ("bor", "or"),
            _ => ("bxor", "~="),
        };
        match rep {
            Rep::Bool => format!("({a} {word} {b})"),
            Rep::Wide { .. } => format!("{a}:{name}({b})"),
            Rep::Narrow { bits, signed: true } => format!("signed({name}({a}, {b}), {bits})"),
            _ => format!("{name}({a}, {b})"),
        }
    }

    fn arithmetic(&self, op: BinOp, to: Rep, a: &Expr, b: &Expr) -> String {
        let sign = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            _ => "*",
        };
        let (left, right) = match to {
            // Of two units, or of a unit and a number, one may be held as another type.
            Rep::Wide { .. } => (self.widened(a, b), self.widened(b, a)),
            _ => (self.expr(a), self.expr(b)),
        };
        match to {
            Rep::Wide { .. } => format!("({left} {sign} {right})"),
            Rep::Narrow { bits: 32, signed } if op == BinOp::Mul => {
                let product = format!("mul({left}, {right})");
                if signed { wrapped(to, &product) } else { product }
            }
            _ => wrapped(to, &format!("{left} {sign} {right}")),
        }
    }

    fn widened(&self, e: &Expr, other: &Expr) -> String {
        match self.rep(&e.ty) {
            Rep::Narrow { signed: true, .. } => format!("s64({})", self.expr(e)),
            Rep::Narrow { .. } => format!("u64({})", self.expr(e)),
            _ => self.operand(e, other),
        }
    }

    /// Operators that Lua, or Wireshark's numbers, do not define everywhere.
    fn guarded(&self, op: BinOp, rep: Rep, to: Rep, a: &Expr, b: &Expr) -> String {
        let left = self.expr(a);
        let right = match op {
            BinOp::Shl | BinOp::Shr => self.number(b),
            _ => self.expr(b),
        };
        match (op, rep) {
            (BinOp::Div, Rep::Wide { signed: true }) => format!("div64s({left}, {right})"),
            (BinOp::Div, Rep::Wide { .. }) => format!("div64({left}, {right})"),
            (BinOp::Div, Rep::Narrow { signed: true, .. }) => wrapped(to, &format!("div({left}, {right})")),
            (BinOp::Div, _) => format!("div({left}, {right})"),
            (BinOp::Rem, Rep::Wide { signed: true }) => format!("rem64s({left}, {right})"),
            (BinOp::Rem, Rep::Wide { .. }) => format!("rem64({left}, {right})"),
            (BinOp::Rem, _) => format!("rem({left}, {right})"),
            (BinOp::Shl, Rep::Wide { .. }) => format!("shl64({left}, {right})"),
            (BinOp::Shl, Rep::Narrow { bits, signed: true }) => {
                format!("signed(shl({left}, {right}, {bits}), {bits})")
            }
            (BinOp::Shl, Rep::Narrow { bits, .. }) => format!("shl({left}, {right}, {bits})"),
            (BinOp::Shr, Rep::Wide { signed: true }) => format!("shr64s({left}, {right})"),
            (BinOp::Shr, Rep::Wide { .. }) => format!("shr64({left}, {right})"),
            (BinOp::Shr, Rep::Narrow { .. }) => format!("shr({left}, {right})"),
            _ => self.refuse("the parser shifts a value that dissectors do not support"),
        }
    }
}
