// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions. What is written is whole: it can stand anywhere without parentheses of its own.

use carrick_ir::builtins::Compute;
use carrick_ir::methods::On;
use carrick_ir::print::without_parentheses;
use carrick_ir::{Builtin, Expr, ExprKind, Place, Query, Ty, UnOp};

use crate::emitter::Emitter;
use crate::names::{self, field};
use crate::types::{Rep, literal, power};
use crate::writer::braces;

impl Emitter<'_> {
    pub(crate) fn expr(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Lit(value) => literal(self.rep(&e.ty), *value),
            ExprKind::Const(id) => {
                self.found.borrow_mut().consts.insert(id.index());
                field("const", self.p.consts.get(id.index()).map_or("", |d| &d.name))
            }
            ExprKind::Param(id) => {
                self.found.borrow_mut().params.insert(id.index());
                field("param", self.p.params.get(id.index()).map_or("", |d| &d.name))
            }
            ExprKind::Element(..) => {
                self.refuse("the parser uses a constant array, which dissectors do not support")
            }
            ExprKind::Load(place) => self.load(place),
            ExprKind::Unary(op, a) => self.unary(*op, a),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, &e.ty),
            ExprKind::Cast(a) => self.cast(a, &e.ty),
            ExprKind::Cond(cond, a, b) => {
                let (cond, a, b) = (self.expr(cond), self.expr(a), self.expr(b));
                match self.rep(&e.ty) {
                    Rep::Bool | Rep::Addr => format!("choose({cond}, {a}, {b})"),
                    _ => format!("({cond} and {a} or {b})"),
                }
            }
            ExprKind::MakeId(id, parts) => {
                let defs = self.p.ids.get(id.index()).map_or(&[][..], |d| &d.parts);
                let parts = defs.iter().zip(parts).map(|(def, e)| names::entry(&def.name, &self.expr(e)));
                braces(&parts.collect::<Vec<_>>())
            }
            ExprKind::Builtin(builtin, args) => self.builtin(*builtin, args, &e.ty),
            ExprKind::Query(query, place, _) => self.query(*query, place),
            ExprKind::OptPresent(bp, opt) => {
                field(&self.option(&self.local(*bp), self.local_ty(*bp), *opt), "valid")
            }
            ExprKind::PacketLeft => "left()".to_owned(),
            ExprKind::PacketPeek => "peek()".to_owned(),
            ExprKind::BpField(at) => {
                let def = self.header.and_then(|bp| bp.fields.get(*at as usize));
                field("h", def.map_or("", |f| &f.name))
            }
            ExprKind::HeaderLen => "header_len".to_owned(),
            ExprKind::PayloadLen => "payload_len".to_owned(),
            ExprKind::TimerArmed(..) | ExprKind::TxRoom(_) | ExprKind::RxSize(_) | ExprKind::Handle(_) => {
                self.refuse("the parser uses a context, and a capture has none")
            }
            ExprKind::PrevField(_) | ExprKind::PrevPayloadLen | ExprKind::CallArg(_) => {
                self.refuse("the parser uses what only a sender knows")
            }
        }
    }

    /// A value that is nobody else's: what is stored must not change with what it was read from.
    pub(crate) fn own(&self, e: &Expr) -> String {
        let text = self.expr(e);
        let fresh = matches!(e.kind, ExprKind::MakeId(..) | ExprKind::Lit(_));
        if self.rep(&e.ty) == Rep::Table && !fresh { format!("copy({text})") } else { text }
    }

    fn unary(&self, op: UnOp, a: &Expr) -> String {
        let text = self.expr(a);
        match (op, self.rep(&a.ty)) {
            (UnOp::Not, _) => format!("(not {text})"),
            (UnOp::Neg, Rep::Wide { .. }) => format!("(u64(0) - {text})"),
            (UnOp::Neg, rep) => wrapped(rep, &format!("0 - {text}")),
            (UnOp::BitNot, Rep::Bool) => format!("(not {text})"),
            (UnOp::BitNot, Rep::Wide { .. }) => format!("{text}:bnot()"),
            (UnOp::BitNot, rep) => wrapped(rep, &format!("-1 - {text}")),
        }
    }

    fn query(&self, query: Query, place: &Place) -> String {
        match query {
            Query::ListLen => format!("#{}", self.load(place)),
            Query::ListFull => format!("(#{} >= {})", self.load(place), capacity(place)),
            _ if query.declaration().on == On::Window => {
                self.refuse("the parser uses a sliding window, which dissectors do not support")
            }
            _ => self.refuse("the parser uses a sorted list, which dissectors do not support"),
        }
    }

    fn cast(&self, a: &Expr, to: &Ty) -> String {
        let (from, to) = (self.rep(&a.ty), self.rep(to));
        if let (ExprKind::Lit(value), Rep::Narrow { .. } | Rep::Wide { .. }) = (&a.kind, to)
            && matches!(from, Rep::Narrow { signed: false, .. })
            && matches!(to, Rep::Wide { .. })
        {
            return literal(to, *value);
        }
        let text = self.expr(a);
        match (from, to) {
            (from, to) if from == to => text,
            (Rep::Bool, Rep::Narrow { .. }) => format!("({text} and 1 or 0)"),
            (Rep::Bool, Rep::Wide { .. }) => format!("u64({text} and 1 or 0)"),
            (Rep::Narrow { .. }, Rep::Bool) => format!("({text} ~= 0)"),
            (Rep::Wide { .. }, Rep::Bool) => format!("({text} ~= u64(0))"),
            (Rep::Narrow { bits: f, signed: fs }, Rep::Narrow { bits: t, signed: ts }) => {
                let holds = (!fs && (f < t || (f == t && !ts))) || (fs && ts && f <= t);
                if holds { text } else { wrapped(to, &text) }
            }
            (Rep::Narrow { signed, .. }, Rep::Wide { .. }) => {
                let text = without_parentheses(&text);
                format!("{}({text})", if signed { "s64" } else { "u64" })
            }
            (Rep::Wide { .. }, Rep::Narrow { bits, signed }) => {
                let low = format!("low({}, {bits})", without_parentheses(&text));
                if signed { format!("signed({low}, {bits})") } else { low }
            }
            (Rep::Wide { .. }, Rep::Wide { .. }) => text,
            _ => self.refuse("the parser uses a conversion that dissectors do not support"),
        }
    }

    fn builtin(&self, builtin: Builtin, args: &[Expr], result: &Ty) -> String {
        let text = |at: usize| args.get(at).map(|e| self.expr(e)).unwrap_or_default();
        let ty = args.first().map_or(&Ty::Void, |e| &e.ty);
        match builtin {
            Builtin::AddrIsNone => format!("(not {})", text(0)),
            Builtin::AddrSkip => format!("skip({}, {})", text(0), text(1)),
            Builtin::Min | Builtin::SeqMin => {
                format!("choose({}, {}, {})", self.less(ty, &text(1), &text(0)), text(1), text(0))
            }
            Builtin::Max | Builtin::SeqMax => {
                format!("choose({}, {}, {})", self.less(ty, &text(0), &text(1)), text(1), text(0))
            }
            Builtin::Abs => match self.rep(ty) {
                Rep::Wide { signed: true } => format!("abs64s({})", text(0)),
                Rep::Narrow { bits, signed: true } => format!("signed(math.abs({}), {bits})", text(0)),
                _ => text(0),
            },
            _ if matches!(builtin.declaration().compute, Compute::Engine) => {
                let unknown = format!("unknown(\"{}()\")", builtin.name());
                if matches!(self.rep(result), Rep::Wide { .. }) { format!("u64({unknown})") } else { unknown }
            }
            _ => {
                let name = builtin.name();
                self.refuse(&format!("the parser uses `{name}`, which dissectors do not support"))
            }
        }
    }
}

/// How many elements a list holds at most.
pub(crate) fn capacity(place: &Place) -> u32 {
    if let Ty::List(_, n, _) = place.ty { n } else { 0 }
}

/// A number cut to the bits of its type.
pub(crate) fn wrapped(rep: Rep, text: &str) -> String {
    match rep {
        Rep::Narrow { bits, signed: true } => format!("signed({text}, {bits})"),
        Rep::Narrow { bits, .. } if text.contains(' ') => format!("(({text}) % {})", power(bits)),
        Rep::Narrow { bits, .. } => format!("({text} % {})", power(bits)),
        _ => format!("({text})"),
    }
}
