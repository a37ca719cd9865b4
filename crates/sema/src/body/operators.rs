// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binary operators: which types go together, and what comes out.

use carrick_ir::{self as ir, BinOp as Ir, Builtin, ExprKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp};
use carrick_syntax::diag::Diagnostic;

use super::{Body, Val};
use crate::checker::Ordered;
use crate::codes;
use crate::types::{converts, is_int, is_unit};

/// How an operator is carried out: what the operands are brought to, and the type of the result.
struct Plan {
    op: Ir,
    left: Ty,
    right: Ty,
    result: Ty,
    /// the operands change places first
    swap: bool,
}

impl Plan {
    fn new(op: Ir, left: Ty, right: Ty, result: Ty) -> Option<Plan> {
        Some(Plan { op, left, right, result, swap: false })
    }

    fn same(op: Ir, ty: &Ty) -> Option<Plan> {
        Plan::new(op, ty.clone(), ty.clone(), ty.clone())
    }
}

fn lowered(op: BinOp) -> Ir {
    match op {
        BinOp::Mul => Ir::Mul,
        BinOp::Div => Ir::Div,
        BinOp::Rem => Ir::Rem,
        BinOp::Add => Ir::Add,
        BinOp::Sub => Ir::Sub,
        BinOp::Shl => Ir::Shl,
        BinOp::Shr => Ir::Shr,
        BinOp::Lt => Ir::Lt,
        BinOp::Le => Ir::Le,
        BinOp::Gt => Ir::Gt,
        BinOp::Ge => Ir::Ge,
        BinOp::Eq => Ir::Eq,
        BinOp::Ne => Ir::Ne,
        BinOp::BitAnd => Ir::And,
        BinOp::BitXor => Ir::Xor,
        BinOp::BitOr => Ir::Or,
        BinOp::And => Ir::LogicalAnd,
        BinOp::Or => Ir::LogicalOr,
    }
}

pub(super) fn is_comparison(op: BinOp) -> bool {
    matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne)
}

/// The wider of two integer types, if one converts to the other.
fn common(a: &Ty, b: &Ty) -> Option<Ty> {
    if converts(a, b) {
        Some(b.clone())
    } else if converts(b, a) {
        Some(a.clone())
    } else {
        None
    }
}

fn plan(op: BinOp, a: &Ty, b: &Ty) -> Option<Plan> {
    if is_comparison(op) {
        return comparison(op, a, b);
    }
    let ir = lowered(op);
    match (op, a, b) {
        (BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor, Ty::Bool, Ty::Bool) => Plan::same(ir, a),
        _ if is_int(a) && is_int(b) => Plan::same(ir, &common(a, b)?),
        (BinOp::Add | BinOp::Sub, Ty::Seq32, n) if is_int(n) || *n == Ty::Bytes => {
            Plan::new(ir, Ty::Seq32, Ty::U32, Ty::Seq32)
        }
        (BinOp::Sub, Ty::Seq32, Ty::Seq32) => Plan::new(ir, Ty::Seq32, Ty::Seq32, Ty::U32),
        (BinOp::Sub, Ty::Time, Ty::Time) => Plan::new(ir, Ty::Time, Ty::Time, Ty::Duration),
        (BinOp::Add | BinOp::Sub, Ty::Time, Ty::Duration) => Plan::new(ir, Ty::Time, Ty::Duration, Ty::Time),
        (BinOp::Add, Ty::Duration, Ty::Time) => {
            Some(Plan { op: ir, left: Ty::Time, right: Ty::Duration, result: Ty::Time, swap: true })
        }
        (BinOp::Div, Ty::Bytes, Ty::Rate) => Plan::new(Ir::BytesPerRate, Ty::Bytes, Ty::Rate, Ty::Duration),
        (BinOp::Div, Ty::Bytes, Ty::Duration) => {
            Plan::new(Ir::BytesPerDuration, Ty::Bytes, Ty::Duration, Ty::Rate)
        }
        (BinOp::Mul, Ty::Rate, Ty::Duration) => {
            Plan::new(Ir::RateTimesDuration, Ty::Rate, Ty::Duration, Ty::Bytes)
        }
        (BinOp::Mul, Ty::Duration, Ty::Rate) => Some(Plan {
            op: Ir::RateTimesDuration,
            left: Ty::Rate,
            right: Ty::Duration,
            result: Ty::Bytes,
            swap: true,
        }),
        (BinOp::Mul, Ty::Fixed, Ty::Fixed) => Plan::same(Ir::FixedMul, a),
        (BinOp::Div, Ty::Fixed, Ty::Fixed) => Plan::same(Ir::FixedDiv, a),
        (BinOp::Mul, _, Ty::Fixed) if is_unit(a) => Plan::new(Ir::Scale, a.clone(), Ty::Fixed, a.clone()),
        (BinOp::Mul, Ty::Fixed, _) if is_unit(b) => {
            Some(Plan { op: Ir::Scale, left: b.clone(), right: Ty::Fixed, result: b.clone(), swap: true })
        }
        _ => unit_plan(op, ir, a, b),
    }
}

/// `fixed`, `duration`, `bytes`, `rate` with themselves and with integers.
fn unit_plan(op: BinOp, ir: Ir, a: &Ty, b: &Ty) -> Option<Plan> {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Rem if a == b && is_unit(a) => Plan::same(ir, a),
        BinOp::Add | BinOp::Sub if *a == Ty::Bytes && converts(b, a) => Plan::same(ir, a),
        BinOp::Add | BinOp::Sub if *b == Ty::Bytes && converts(a, b) => Plan::same(ir, b),
        BinOp::Div if a == b && is_unit(a) => {
            let number = if *a == Ty::Duration { Ty::I64 } else { Ty::U64 };
            Plan::new(ir, a.clone(), a.clone(), number)
        }
        BinOp::Mul | BinOp::Div if is_unit(a) && is_int(b) => Plan::same(ir, a),
        BinOp::Mul if is_int(a) && is_unit(b) => Plan::same(ir, b),
        _ => None,
    }
}

fn comparison(op: BinOp, a: &Ty, b: &Ty) -> Option<Plan> {
    let equality = matches!(op, BinOp::Eq | BinOp::Ne);
    let ty = if is_int(a) && is_int(b) {
        common(a, b)?
    } else if a == b {
        a.clone()
    } else if converts(a, b) {
        b.clone()
    } else if converts(b, a) {
        a.clone()
    } else {
        return None;
    };
    let ordered = ty.is_ordered() || ty == Ty::Seq32;
    let comparable = ordered || matches!(ty, Ty::Bool | Ty::Token | Ty::Handle | Ty::Status | Ty::Id(_));
    (ordered || (equality && comparable)).then(|| Plan {
        op: lowered(op),
        left: ty.clone(),
        right: ty,
        result: Ty::Bool,
        swap: false,
    })
}

impl Body<'_, '_> {
    pub(super) fn binary(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Option<Val> {
        self.chained(op, a, b, span)?;
        self.warn_precedence(op, a, b);
        self.advise_same(op, a, b, span);
        let left = self.val(a, None);
        let mark = self.out.len();
        let right = self.val(b, None);
        let (mut left, right) = (left?, right?);
        if self.out.len() > mark
            && let Val::Typed(value) = left
        {
            left = Val::Typed(self.spill(value, mark, a.span));
        }
        self.combine(op, (left, a.span), (right, b.span), span)
    }

    /// Applies the operator to two values; for `x op= y` as well.
    pub(super) fn combine(
        &mut self,
        op: BinOp,
        left: (Val, Span),
        right: (Val, Span),
        span: Span,
    ) -> Option<Val> {
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            return self.shift(op, left, right, span);
        }
        let ((a, a_span), (b, b_span)) = (left, right);
        if is_comparison(op) && !matches!(op, BinOp::Eq | BinOp::Ne) {
            self.cx.ordered.push(Ordered { span, operands: [a_span, b_span], extreme: false });
        }
        match (a, b) {
            (Val::Int(x), Val::Int(y)) => self.literals(op, x, y, span),
            (Val::Typed(x), Val::None) => self.compare_none(op, x, span),
            (Val::None, Val::Typed(y)) => self.compare_none(op, y, span),
            (Val::Typed(x), Val::Int(y)) => {
                self.advise_sequence_literal(op, &x.ty, span);
                let ty = literal_type(op, &x.ty);
                let y = self.coerce(Val::Int(y), &ty, b_span)?;
                self.planned(op, x, y, span)
            }
            (Val::Int(x), Val::Typed(y)) => {
                self.advise_sequence_literal(op, &y.ty, span);
                let ty = match (op, &y.ty) {
                    (BinOp::Div, Ty::Fixed) => Ty::Fixed,
                    _ => literal_type(op, &y.ty),
                };
                let x = self.coerce(Val::Int(x), &ty, a_span)?;
                self.planned(op, x, y, span)
            }
            (Val::Typed(x), Val::Typed(y)) => self.planned(op, x, y, span),
            (a, b) => {
                let (a, b) = (self.describe(&a), self.describe(&b));
                self.do_not_go_together(op, &a, &b, span)
            }
        }
    }

    fn planned(&mut self, op: BinOp, a: ir::Expr, b: ir::Expr, span: Span) -> Option<Val> {
        if op == BinOp::Add && a.ty == Ty::Addr && (converts(&b.ty, &Ty::U64) || b.ty == Ty::Bytes) {
            let n = self.cast(b, &Ty::U64);
            return Some(Val::Typed(self.make(
                ExprKind::Builtin(Builtin::AddrSkip, vec![a, n]),
                Ty::Addr,
                span,
            )));
        }
        let Some(plan) = plan(op, &a.ty, &b.ty) else {
            if is_comparison(op) && (a.ty == Ty::Seq32) != (b.ty == Ty::Seq32) {
                return self.sequence_comparison(span);
            }
            return self.other_operands(op, &a.ty, &b.ty, span);
        };
        let (a, b) = if plan.swap { (b, a) } else { (a, b) };
        let (a, b) = (self.cast(a, &plan.left), self.cast(b, &plan.right));
        if !plan.swap {
            self.advise_operation(op, &a, &b, span);
        }
        let kind = ExprKind::Binary(plan.op, Box::new(a), Box::new(b));
        Some(Val::Typed(self.make(kind, plan.result, span)))
    }

    fn sequence_comparison<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::SEQ_COMPARISON,
                "a sequence number is compared with a plain number",
                span,
                "wraps on one side only",
            )
            .note("sequence numbers wrap: `seq32` compares in serial order (RFC 1982), plain integers do not")
            .mend("make both `seq32`, or compare distances: `a - b` of two sequence numbers is a uint32"),
        )
    }

    pub(super) fn do_not_go_together<T>(&mut self, op: BinOp, a: &str, b: &str, span: Span) -> Option<T> {
        let op = symbol(op);
        self.report(
            Diagnostic::error(
                codes::MIXED_TYPES,
                format!("`{op}` is not defined for {a} and {b}"),
                span,
                "here",
            )
            .note(
                "integers of the same signedness widen implicitly; the reference lists the operators of units",
            )
            .mend("convert one of them: `T(x)`"),
        )
    }

    fn compare_none(&mut self, op: BinOp, value: ir::Expr, span: Span) -> Option<Val> {
        let equality = matches!(op, BinOp::Eq | BinOp::Ne);
        match value.ty {
            Ty::Token | Ty::Handle if equality => {
                let none = self.make(ExprKind::Lit(0), value.ty.clone(), span);
                self.planned(op, value, none, span)
            }
            Ty::Addr if equality => {
                let is_none = self.make(ExprKind::Builtin(Builtin::AddrIsNone, vec![value]), Ty::Bool, span);
                if op == BinOp::Eq {
                    return Some(Val::Typed(is_none));
                }
                let kind = ExprKind::Unary(ir::UnOp::Not, Box::new(is_none));
                Some(Val::Typed(self.make(kind, Ty::Bool, span)))
            }
            _ => {
                let found = format!("`{}`", self.name(&value.ty));
                self.do_not_go_together(op, &found, "`none`", span)
            }
        }
    }

    fn shift(&mut self, op: BinOp, left: (Val, Span), right: (Val, Span), span: Span) -> Option<Val> {
        if let (Val::Int(a), Val::Int(b @ 0..=63)) = (&left.0, &right.0) {
            let shifted = if op == BinOp::Shl { a.checked_mul(1 << b) } else { Some(a >> b) };
            if let Some(number) = shifted {
                return Some(Val::Int(number));
            }
        }
        let a = self.with_own_type(left.0, left.1)?;
        let b = self.with_own_type(right.0, right.1)?;
        if matches!(b.ty, Ty::Int { signed: true, .. }) {
            return self.report(
                Diagnostic::error(
                    codes::SIGNED_SHIFT,
                    "a shift count is unsigned",
                    right.1,
                    "a signed integer",
                )
                .note("machines disagree about negative counts")
                .mend("convert it: `uint32(x)`"),
            );
        }
        if !is_int(&a.ty) || !is_int(&b.ty) {
            let (a, b) = (format!("`{}`", self.name(&a.ty)), format!("a `{}`", self.name(&b.ty)));
            return self.do_not_go_together(op, &a, &b, span);
        }
        self.advise_shift(&a.ty, &b, span);
        let ty = a.ty.clone();
        Some(Val::Typed(self.make(ExprKind::Binary(lowered(op), Box::new(a), Box::new(b)), ty, span)))
    }

    /// Both are literals: so is the result, if it is a number.
    fn literals(&mut self, op: BinOp, a: i128, b: i128, span: Span) -> Option<Val> {
        let number = match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            BinOp::Div => Some(if b == 0 { 0 } else { a / b }),
            BinOp::Rem => Some(if b == 0 { a } else { a % b }),
            BinOp::BitAnd => Some(a & b),
            BinOp::BitOr => Some(a | b),
            BinOp::BitXor => Some(a ^ b),
            _ => None,
        };
        if let Some(number) = number {
            return Some(Val::Int(number));
        }
        let (a, b) = (self.coerce(Val::Int(a), &Ty::I64, span)?, self.coerce(Val::Int(b), &Ty::I64, span)?);
        self.planned(op, a, b, span)
    }

    /// `a < b < c`, which would compare a `bool` with c.
    fn chained(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Option<()> {
        let orders = |op: BinOp| matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let ast::ExprKind::Binary(inner, _, middle) = &a.kind else { return Some(()) };
        if !(orders(op) && orders(*inner)) {
            return Some(());
        }
        let text = |span| self.cx.written(span);
        let twice = format!("{} && {} {} {}", text(a.span), text(middle.span), symbol(op), text(b.span));
        self.report(
            Diagnostic::error(
                codes::CHAINED_COMPARISON,
                "comparisons do not chain",
                span,
                "compares a `bool`",
            )
            .fix("compare twice", span, twice),
        )
    }

    /// `a & b == c` groups as `a & (b == c)`, as in C.
    fn warn_precedence(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr) {
        if !matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor) {
            return;
        }
        for side in [a, b] {
            if matches!(side.kind, ast::ExprKind::Binary(inner, ..) if is_comparison(inner)) {
                self.cx.report(
                    Diagnostic::warning(
                        codes::PRECEDENCE,
                        format!("the comparison is done before `{}`", symbol(op)),
                        side.span,
                        "compared first",
                    )
                    .mend("add parentheses"),
                );
            }
        }
    }
}

/// What a literal beside a value of this type is.
fn literal_type(op: BinOp, other: &Ty) -> Ty {
    match (op, other) {
        (BinOp::Add | BinOp::Sub, Ty::Seq32) => Ty::U32,
        (BinOp::Mul | BinOp::Div, Ty::Duration | Ty::Fixed) => Ty::I64,
        (BinOp::Add | BinOp::Sub, Ty::Time) => Ty::Duration,
        (BinOp::Mul | BinOp::Div | BinOp::Rem, Ty::Time) => Ty::U64,
        (BinOp::Mul | BinOp::Div, Ty::Bytes | Ty::Rate) | (_, Ty::Addr) => Ty::U64,
        _ => other.clone(),
    }
}

pub(super) fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::BitAnd => "&",
        BinOp::BitXor => "^",
        BinOp::BitOr => "|",
        BinOp::And => "&&",
        BinOp::Or => "||",
    }
}
