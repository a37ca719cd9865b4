// SPDX-License-Identifier: MIT OR Apache-2.0
//! Advice on what is allowed and hardly meant: warnings on single expressions, statements and variables.

use std::collections::BTreeSet;

use carrick_ir::{self as ir, ExprKind, Instr, LocalId, Proj, StmtKind, Ty, walk};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp};
use carrick_syntax::diag::Diagnostic;

use super::operators::{is_comparison, symbol};
use super::{Body, paths};
use crate::codes;

impl Body<'_, '_> {
    pub(super) fn advise(&mut self, code: u16, message: &str, span: Span, label: &str, mend: &str) {
        self.cx.report(Diagnostic::warning(code, message, span, label).mend(mend));
    }

    /// The same, with a fix that a tool can apply.
    pub(super) fn advise_edit(
        &mut self,
        code: u16,
        (message, label): (&str, &str),
        span: Span,
        (mend, replacement): (&str, String),
    ) {
        self.cx.report(Diagnostic::warning(code, message, span, label).fix(mend, span, replacement));
    }

    /// The same, unless there is an error, which may be why.
    pub(super) fn advise_later(&mut self, code: u16, message: &str, span: Span, label: &str, mend: &str) {
        self.cx.advice.push(Diagnostic::warning(code, message, span, label).mend(mend));
    }

    /// The value of an expression of literals alone: a named constant may be meant to be changed.
    fn literal_value(&self, e: &ir::Expr) -> Option<u64> {
        let value = self.cx.fold(e)?;
        let mut named = false;
        walk::expressions(e, &mut |e| named |= matches!(e.kind, ExprKind::Const(_)));
        (!named).then_some(value)
    }

    pub(super) fn advise_condition(&mut self, cond: &ir::Expr, span: Span) {
        // Of these the operator is reported.
        let half_known = match &cond.kind {
            ExprKind::Binary(ir::BinOp::LogicalAnd | ir::BinOp::LogicalOr, a, b) => {
                self.literal_value(a).is_some() != self.literal_value(b).is_some()
            }
            _ => false,
        };
        if let Some(value) = self.literal_value(cond).filter(|_| !half_known) {
            let message = format!("this condition is always {}", value != 0);
            self.advise(
                codes::CONSTANT_CONDITION,
                &message,
                span,
                "nothing decides it",
                "leave the test out",
            );
        }
    }

    /// Whether the same stands at both places, to the letter.
    pub(super) fn alike(&self, a: Span, b: Span) -> bool {
        let text = |span: Span| self.cx.text.get(span.start as usize..span.end as usize);
        text(a) == text(b)
    }

    /// Two operands that are written alike.
    pub(super) fn advise_same(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) {
        let tells = is_comparison(op)
            || matches!(op, BinOp::And | BinOp::Or | BinOp::Sub | BinOp::Div | BinOp::Rem | BinOp::BitXor);
        if tells && self.alike(a.span, b.span) && reads_only(a) && has_name(a) {
            let message = format!("both sides of `{}` are the same", symbol(op));
            let mend = "compare with what was meant, or write the result";
            self.advise(codes::SAME_OPERANDS, &message, span, "the result is known", mend);
        }
    }

    /// What a literal operand makes of an operation; the operands have the types in which they are computed.
    pub(super) fn advise_operation(&mut self, op: BinOp, a: &ir::Expr, b: &ir::Expr, span: Span) {
        let (left, right) = (self.literal_value(a), self.literal_value(b));
        self.advise_order(op, a, b, span);
        match (op, left, right) {
            (BinOp::Div | BinOp::Rem, None, Some(0)) => self.advise(
                codes::DIVISION_BY_ZERO,
                "this divides by zero",
                span,
                "x / 0 is 0, and x % 0 is x",
                "divide by another number, or write the result",
            ),
            (BinOp::Eq | BinOp::Ne, None, Some(n)) => self.advise_mask(a, n, span),
            (BinOp::Eq | BinOp::Ne, Some(n), None) => self.advise_mask(b, n, span),
            (_, None, Some(n)) => self.advise_bound(op, &a.ty, n, span),
            (_, Some(n), None) => self.advise_bound(mirrored(op), &b.ty, n, span),
            _ => {}
        }
    }

    /// Sequence numbers that are compared without their order.
    fn advise_order(&mut self, op: BinOp, a: &ir::Expr, b: &ir::Expr, span: Span) {
        let orders = is_comparison(op) && !matches!(op, BinOp::Eq | BinOp::Ne);
        if orders && a.ty != Ty::Seq32 && is_sequence_number(a) && is_sequence_number(b) {
            let message = "sequence numbers are compared as plain numbers";
            let mend = "compare the sequence numbers themselves, which compares in serial order (RFC 1982)";
            self.advise(codes::SEQ_AS_NUMBERS, message, span, "wrong where one has wrapped", mend);
        }
    }

    /// A sequence number that is compared with a number that it passes again and again. A converted number is meant so.
    pub(super) fn advise_sequence_literal(&mut self, op: BinOp, ty: &Ty, span: Span) {
        if is_comparison(op) && *ty == Ty::Seq32 {
            let message = "a sequence number is compared with a fixed number";
            let mend = "keep a `bool` for what the number means, compare a distance (`a - b` is a uint32), or write `seq32(n)`";
            self.advise(codes::SEQ_AND_LITERAL, message, span, "sequence numbers wrap past it", mend);
        }
    }

    /// `x || true` and `x && false`, where one side decides alone.
    pub(super) fn advise_one_side(&mut self, op: BinOp, a: &ir::Expr, b: &ir::Expr, span: Span) {
        let decides = u64::from(op == BinOp::Or);
        if let (Some(n), None) | (None, Some(n)) = (self.literal_value(a), self.literal_value(b))
            && n == decides
        {
            let message = format!("this condition is always {}", n != 0);
            self.advise(
                codes::CONSTANT_CONDITION,
                &message,
                span,
                "one side decides it",
                "leave one side out",
            );
        }
    }

    /// `x & mask == n` where n has other bits than the mask.
    fn advise_mask(&mut self, masked: &ir::Expr, n: u64, span: Span) {
        if let ExprKind::Binary(ir::BinOp::And, x, y) = &masked.kind
            && let Some(mask) = self.literal_value(x).or_else(|| self.literal_value(y))
            && n & !mask != 0
        {
            let mend = "compare with a number that has only bits of the mask";
            self.advise(
                codes::MASK_NEVER,
                "no masked value equals this number",
                span,
                "always the same",
                mend,
            );
        }
    }

    /// A comparison with an end of what an unsigned type holds.
    fn advise_bound(&mut self, op: BinOp, ty: &Ty, n: u64, span: Span) {
        let unsigned = matches!(ty, Ty::Int { signed: false, .. } | Ty::Bytes | Ty::Rate | Ty::Time);
        if !unsigned {
            return;
        }
        let most = u64::MAX >> (64 - ir::arith::shape(ty).0.clamp(1, 64));
        let always = match op {
            BinOp::Lt if n == 0 => false,
            BinOp::Ge if n == 0 => true,
            BinOp::Gt if n == most => false,
            BinOp::Le if n == most => true,
            _ => return,
        };
        let name = self.name(ty);
        let message = format!("this comparison of a `{name}` is always {always}");
        let mend = "compare with a number within the range of the type, or remove the test";
        self.advise(codes::OUT_OF_TYPE, &message, span, "always the same", mend);
    }

    pub(super) fn advise_shift(&mut self, ty: &Ty, count: &ir::Expr, span: Span) {
        let width = u64::from(ir::arith::shape(ty).0);
        if self.literal_value(count).is_some_and(|n| n >= width) {
            let message = format!("this shifts all {width} bits out");
            self.advise(
                codes::SHIFTED_OUT,
                &message,
                span,
                "nothing is left",
                "shift by less than the width",
            );
        }
    }

    /// An `if` that does nothing, or the same either way.
    pub(super) fn advise_if(
        &mut self,
        cond: &ast::Expr,
        then: &ast::Block,
        otherwise: Option<&ast::Stmt>,
        span: Span,
    ) {
        self.advise_repeated(cond, otherwise);
        match otherwise {
            None if then.stmts.is_empty() && reads_only(cond) => self.advise_edit(
                codes::EMPTY_IF,
                ("this `if` does nothing", "no statement depends on it"),
                span,
                ("remove it, or write what should happen", String::new()),
            ),
            Some(other) if !then.stmts.is_empty() && self.written(then) == self.cx.written(other.span) => {
                let mend = "write it once, without `if`, or fix one of the two";
                self.advise(codes::SAME_BRANCHES, "both branches do the same", other.span, "as above", mend);
            }
            _ => {}
        }
    }

    /// The same condition again in the `else if`s behind it.
    fn advise_repeated(&mut self, cond: &ast::Expr, otherwise: Option<&ast::Stmt>) {
        let text = self.cx.written(cond.span);
        let mut next = otherwise;
        while let Some(ast::StmtKind::If { cond: again, otherwise, .. }) = next.map(|s| &s.kind) {
            if reads_only(cond) && self.cx.written(again.span) == text {
                let mend = "test something else, or remove this branch";
                let message = "this condition has been tested already";
                self.advise(codes::REPEATED_CONDITION, message, again.span, "never true here", mend);
            }
            next = otherwise.as_deref();
        }
    }

    fn written(&self, block: &ast::Block) -> String {
        self.cx.written(block.span)
    }

    /// What does not fit to what stands before it in its block; the new statements begin at `before`.
    pub(super) fn advise_sequence(&mut self, before: usize, span: Span) {
        let (earlier, new) = self.out.split_at(before.min(self.out.len()));
        let is =
            |wanted: Instr| earlier.iter().any(|s| matches!(&s.kind, StmtKind::Instr(i) if *i == wanted));
        let mut found: Option<(u16, &str, &str, &str)> = None;
        for stmt in new {
            let raised = |event: LocalId| is(Instr::Raise { event });
            let deleted = |ctx: LocalId| is(Instr::DelCtx { ctx }) || paths::deleted_on_a_path(earlier, ctx);
            found = found.or(match &stmt.kind {
                StmtKind::SetFlowId { event, .. } if raised(*event) => Some((
                    codes::ID_AFTER_RAISE,
                    "the event has been raised already",
                    "too late for this event",
                    "set the id before `raise`",
                )),
                StmtKind::Instr(
                    Instr::TimerStart { ctx, .. }
                    | Instr::TimerRestart { ctx, .. }
                    | Instr::DelCtx { ctx }
                    | Instr::NewTxOrderedData { ctx, .. }
                    | Instr::NewRxOrderedData { ctx, .. },
                ) if deleted(*ctx) => Some((
                    codes::AFTER_DELETE,
                    "the context is being deleted",
                    "gone with it",
                    "remove this, or the `del_ctx` before it",
                )),
                StmtKind::Instr(Instr::Notify { token, .. }) if completes_again(earlier, token) => Some((
                    codes::NOTIFIED_TWICE,
                    "this request is complete already",
                    "completed again",
                    "keep one of the two, or put them into the branches of an `if`",
                )),
                _ => None,
            });
        }
        if let Some((code, message, label, mend)) = found {
            self.advise(code, message, span, label, mend);
        }
    }

    /// What is missing of a function's variables, now that all its statements are known.
    pub(super) fn advise_locals(&mut self, body: &ir::Block) {
        let seen = Seen::of(body);
        for (local, span) in std::mem::take(&mut self.declared) {
            if self.is_parameter(local) || seen.given.contains(&local) {
                continue;
            }
            let name = self.locals[local.index()].name.clone();
            match self.locals[local.index()].ty {
                Ty::Event(event)
                    if seen.raised.contains(&local)
                        && !seen.ids.contains(&local)
                        && self.cx.program.events[event.index()].id.is_some() =>
                {
                    let message = format!("`{name}` is raised without an id");
                    let mend = format!("write `raise {name} at an_id(...);`");
                    self.advise_later(codes::EVENT_WITHOUT_ID, &message, span, "for which context?", &mend);
                }
                Ty::Blueprint(_)
                    if self.in_parser() && seen.read.contains(&local) && !seen.extracted.contains(&local) =>
                {
                    let message = format!("`{name}` is read, but nothing is extracted into it");
                    let mend =
                        format!("write `p.extract({name});` with the parser's packet before it is read");
                    self.advise_later(codes::NOT_EXTRACTED, &message, span, "all zeros", &mend);
                }
                Ty::Blueprint(_) if seen.generated.contains(&local) => {
                    self.advise_destination(local, &name, span, (&seen, body));
                }
                _ => {}
            }
        }
    }

    /// A packet with the destination 0.0.0.0.
    fn advise_destination(&mut self, bp: LocalId, name: &str, span: Span, (seen, body): (&Seen, &ir::Block)) {
        let fields = &self.cx.program.net_header.fields;
        let dst = fields.iter().position(|f| f.field == ir::NetField::DstIp && f.init.is_none());
        let Some(dst) = dst else { return };
        let field = &fields[dst].name;
        let mend = format!("set `{name}.net.{field}`, or give the field a value in the `net_header`");
        if !seen.net.contains(&(bp, dst as u32)) {
            let message = format!("the packets of `{name}` have no destination");
            self.advise_later(codes::NO_DESTINATION, &message, span, "its destination is not set", &mend);
        } else if paths::set_on_some_paths(body, bp, dst as u32) {
            let message = format!("some packets of `{name}` have no destination");
            let label = "its destination is not set on every path";
            self.advise_later(codes::NO_DESTINATION, &message, span, label, &mend);
        }
    }
}

/// What the statements of a function do with its locals.
#[derive(Default)]
struct Seen {
    /// given a value as a whole, or by a call
    given: BTreeSet<LocalId>,
    raised: BTreeSet<LocalId>,
    ids: BTreeSet<LocalId>,
    read: BTreeSet<LocalId>,
    extracted: BTreeSet<LocalId>,
    generated: BTreeSet<LocalId>,
    /// blueprints whose field of the network header is set
    net: BTreeSet<(LocalId, u32)>,
}

impl Seen {
    fn of(body: &ir::Block) -> Seen {
        let mut seen = Seen::default();
        walk::statements(body, &mut |stmt| {
            walk::of_statement(stmt, &mut |e| {
                if let ExprKind::Load(place) = &e.kind {
                    seen.read.insert(place.root);
                }
            });
            match &stmt.kind {
                StmtKind::Let { local, init: Some(_) } => _ = seen.given.insert(*local),
                StmtKind::Assign { place, .. } => match &place.path[..] {
                    [] => _ = seen.given.insert(place.root),
                    [Proj::Net(field)] => _ = seen.net.insert((place.root, *field)),
                    [Proj::Field(_), ..] => _ = seen.extracted.insert(place.root),
                    _ => {}
                },
                StmtKind::Call { dest, args, .. } => {
                    seen.given.extend(dest);
                    let passed =
                        args.iter().filter_map(|a| if let ir::Arg::Ref(l) = a { Some(*l) } else { None });
                    seen.given.extend(passed);
                }
                StmtKind::SetFlowId { event, .. } => _ = seen.ids.insert(*event),
                StmtKind::Extract { bp } => _ = seen.extracted.insert(*bp),
                StmtKind::Instr(Instr::Raise { event }) => _ = seen.raised.insert(*event),
                StmtKind::Instr(Instr::PktGen { bp, .. }) => _ = seen.generated.insert(*bp),
                _ => {}
            }
        });
        seen
    }
}

/// Whether an instruction before completes the request that the same field or variable names.
fn completes_again(earlier: &[ir::Stmt], token: &ir::Expr) -> bool {
    let place = |e: &ir::Expr| match &e.kind {
        ExprKind::Load(place) if place.path.iter().all(|p| matches!(p, Proj::Field(_) | Proj::Token)) => {
            Some(place.clone())
        }
        _ => None,
    };
    let Some(wanted) = place(token).filter(|p| p.path == [Proj::Token]) else { return false };
    earlier.iter().any(|s| {
        matches!(&s.kind, StmtKind::Instr(Instr::Notify { token, .. }) if place(token).as_ref() == Some(&wanted))
    })
}

/// Whether this is a sequence number, perhaps converted.
fn is_sequence_number(e: &ir::Expr) -> bool {
    e.ty == Ty::Seq32 || matches!(&e.kind, ExprKind::Cast(inner) if is_sequence_number(inner))
}

fn mirrored(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Gt,
        BinOp::Gt => BinOp::Lt,
        BinOp::Le => BinOp::Ge,
        BinOp::Ge => BinOp::Le,
        other => other,
    }
}

/// Whether nothing is called in the expression.
fn reads_only(e: &ast::Expr) -> bool {
    use ast::ExprKind as E;
    match &e.kind {
        E::Call(..) | E::Error => false,
        E::Unary(_, a) | E::Paren(a) | E::Field(a, _) => reads_only(a),
        E::Binary(_, a, b) | E::Index(a, b) => reads_only(a) && reads_only(b),
        E::Cond(a, b, c) => reads_only(a) && reads_only(b) && reads_only(c),
        _ => true,
    }
}

/// Whether the expression depends on anything.
fn has_name(e: &ast::Expr) -> bool {
    use ast::ExprKind as E;
    match &e.kind {
        E::Name(_) => true,
        E::Unary(_, a) | E::Paren(a) | E::Field(a, _) => has_name(a),
        E::Binary(_, a, b) | E::Index(a, b) => has_name(a) || has_name(b),
        E::Cond(a, b, c) => has_name(a) || has_name(b) || has_name(c),
        _ => false,
    }
}
