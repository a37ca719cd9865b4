// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions, with parentheses and casts only where C needs them.

use carrick_ir::methods::On;
use carrick_ir::{self as ir, BinOp, BlueprintDef, EventDef, Expr, ExprKind, Place, Ty, UnOp, arith};

use crate::Emitter;
use crate::names::safe;
use crate::place::CPlace;
use crate::term::{Binds, CType, Term};

/// What the operands are that are no locals of a function.
#[derive(Clone, Copy)]
pub enum Operands<'a> {
    None,
    /// fields of this blueprint: how to get at one, and those of the packet before
    Header(&'a BlueprintDef, &'a str),
    /// fields of the event of a call
    Call(&'a EventDef, &'a str),
}

impl Emitter<'_> {
    /// A scalar literal of this type.
    pub(crate) fn literal(&self, value: u64, ty: &Ty) -> String {
        let (_, signed) = arith::shape(ty);
        match ty {
            Ty::Bool => (if value == 0 { "false" } else { "true" }).into(),
            Ty::Addr => "(struct carrick_addr){0}".into(),
            Ty::Status => format!("CARRICK_{}", ir::STATUS_NAMES.get(value as usize).unwrap_or(&"OK")),
            Ty::Enum(id) => {
                let def = &self.p.enums[id.index()];
                match def.variants.iter().find(|(_, v)| *v == value) {
                    Some((name, _)) => self.names.declared(name),
                    None => self.literal(value, &def.repr),
                }
            }
            _ if signed && value == i64::MIN as u64 => "INT64_MIN".into(),
            _ if signed => {
                let v = value as i64;
                if i32::try_from(v).is_ok() { format!("{v}") } else { format!("INT64_C({v})") }
            }
            _ if value == u64::MAX => "UINT64_MAX".into(),
            _ if u32::try_from(value).is_ok() => format!("{value}u"),
            _ => format!("UINT64_C({value})"),
        }
    }

    /// A literal, or the name of one, with the type that C gives it.
    fn number(&self, text: String, value: u64, ty: &Ty) -> Term {
        let c = match CType::of(ty) {
            CType::Unsigned(_) => CType::Unsigned(if u32::try_from(value).is_ok() { 32 } else { 64 }),
            CType::Signed(_) => CType::Signed(if i32::try_from(value as i64).is_ok() { 32 } else { 64 }),
            other => other,
        };
        let binds = if text.starts_with('-') { Binds::Unary } else { Binds::Primary };
        Term { text, binds, c }
    }

    /// An expression that can stand anywhere, as an operand too.
    pub(crate) fn expr(&self, e: &Expr) -> String {
        self.term(e, Operands::None).anywhere()
    }

    /// An expression that is assigned to, or passed as, what has its type: C converts where no value changes.
    pub fn value(&self, e: &Expr) -> String {
        self.value_of(e, Operands::None)
    }

    pub(crate) fn value_of(&self, e: &Expr, of: Operands<'_>) -> String {
        self.converted(e, CType::of(&e.ty), of).text
    }

    /// An expression as a condition.
    pub(crate) fn condition(&self, e: &Expr) -> String {
        self.term(e, Operands::None).text
    }

    /// An expression of a blueprint, with its fields read from `bp` and those of the packet before from `prev`.
    pub(crate) fn header_expr(&self, e: &Expr, blueprint: &BlueprintDef, bp: &str) -> String {
        self.term(e, Operands::Header(blueprint, bp)).anywhere()
    }

    /// The same where it is assigned, or is a condition.
    pub(crate) fn header_value(&self, e: &Expr, blueprint: &BlueprintDef, bp: &str) -> String {
        self.value_of(e, Operands::Header(blueprint, bp))
    }

    /// An expression of a call, with the fields of its event read from `event`.
    pub(crate) fn call_value(&self, e: &Expr, def: &EventDef, event: &str) -> String {
        self.value_of(e, Operands::Call(def, event))
    }

    /// An expression that counts elements: no matter how wide, as long as it has the value.
    pub fn index(&self, e: &Expr) -> Term {
        self.converted(e, CType::of(&e.ty), Operands::None)
    }

    /// As a 64-bit word.
    pub(crate) fn word(&self, e: &Expr) -> String {
        self.word_of(e, Operands::None)
    }

    pub(crate) fn word_of(&self, e: &Expr, of: Operands<'_>) -> String {
        let term = self.converted(e, CType::Unsigned(64), of);
        match term.c {
            CType::Unsigned(_) | CType::Truth => term.text,
            _ => term.cast("uint64_t", CType::Unsigned(64)).text,
        }
    }

    /// An expression without the conversions that C makes by itself where `to` is wanted.
    pub(crate) fn converted(&self, e: &Expr, to: CType, of: Operands<'_>) -> Term {
        if let ExprKind::Cast(inner) = &e.kind {
            let wanted = CType::of(&e.ty);
            let stripped = self.converted(inner, wanted, of);
            let keeps = wanted == to || wanted.widens_to(to);
            if keeps && !was_signed(inner) && stripped.c.widens_to(wanted) {
                return stripped;
            }
        }
        self.term(e, of)
    }

    pub(crate) fn term(&self, e: &Expr, of: Operands<'_>) -> Term {
        let c = CType::of(&e.ty);
        let primary = |text: String| Term::primary(text, c);
        match &e.kind {
            ExprKind::Lit(value) => self.number(self.literal(*value, &e.ty), *value, &e.ty),
            ExprKind::Const(id) => {
                let def = &self.p.consts[id.index()];
                self.number(self.names.declared(&def.name), def.value, &def.ty)
            }
            ExprKind::Element(id, at) => self.element(*id, at),
            ExprKind::Param(id) => primary(format!("core->params.{}", safe(&self.p.params[id.index()].name))),
            ExprKind::Load(place) => self.load(place),
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.ty, of),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, &e.ty, of),
            ExprKind::Cast(a) if e.ty == Ty::Bool => self.is_not_zero(a, of),
            ExprKind::Cast(a) => self.term(a, of).cast(&self.names.ctype(&e.ty), c),
            ExprKind::Cond(when, a, b) => self.choice([when, a, b], c, of),
            ExprKind::MakeId(id, parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.value_of(p, of)).collect();
                let text = format!("(struct {}){{{}}}", self.names.id(*id), parts.join(", "));
                Term { text, binds: Binds::Unary, c }
            }
            ExprKind::Builtin(op, args) => self.builtin(*op, args, &e.ty, of),
            ExprKind::Query(query, on, args) => match query.declaration().on {
                On::Window => primary(self.window_query(*query, on, args, of)),
                _ => self.list_query(*query, on, args),
            },
            ExprKind::TimerArmed(ctx, timer, which) => self.timer_armed(*ctx, *timer, which.as_deref()),
            ExprKind::Handle(ctx) => primary(self.handle_of(*ctx)),
            ExprKind::TxRoom(ctx) => primary(self.tx_room(*ctx)),
            ExprKind::RxSize(ctx) => primary(format!("carrick_rx_size(&{}->rx__)", self.local(*ctx))),
            ExprKind::PacketLeft => {
                let packet = self.packet();
                let left = format!("(uint64_t)({packet}->rest[1] - {packet}->rest[0])");
                Term { text: left, binds: Binds::Unary, c }
            }
            ExprKind::PacketPeek => {
                Term::primary(format!("CARRICK_PEEK(core, {})", self.packet()), CType::Other)
            }
            ExprKind::OptPresent(bp, opt) => {
                primary(format!("{}.opts__.has_{}", self.local(*bp), self.p.opts[opt.index()].name))
            }
            ExprKind::BpField(_) | ExprKind::PrevField(_) | ExprKind::CallArg(_) => primary(operand(e, of)),
            // 32 bits in some functions, 64 in others.
            ExprKind::HeaderLen => Term::primary("header_len", CType::Other),
            ExprKind::PayloadLen => primary("payload_len".into()),
            ExprKind::PrevPayloadLen => primary("prev->payload__.len".into()),
        }
    }

    /// A conversion to a truth value.
    fn is_not_zero(&self, a: &Expr, of: Operands<'_>) -> Term {
        let term = self.term(a, of);
        match term.c {
            CType::Truth => term,
            _ => Term::joined(&term, "!=", &Term::primary("0", term.c), Binds::Equality, CType::Truth),
        }
    }

    /// `a > b ? a - b : 0` of unsigned numbers, as a saturating difference is.
    fn saturating_difference(&self, [when, a, b]: [&Expr; 3], c: CType, of: Operands<'_>) -> Option<Term> {
        let (CType::Unsigned(bits @ (32 | 64)), ExprKind::Lit(0)) = (c, &b.kind) else { return None };
        let ExprKind::Binary(BinOp::Gt, x, y) = &when.kind else { return None };
        let ExprKind::Binary(BinOp::Sub, minuend, subtrahend) = &a.kind else { return None };
        let same = CType::of(&x.ty) == c && x.ty != Ty::Seq32 && (x, y) == (minuend, subtrahend);
        let (x, y) = (self.value_of(x, of), self.value_of(y, of));
        same.then(|| Term::primary(format!("carrick_sat_sub{bits}({x}, {y})"), c))
    }

    fn choice(&self, [when, a, b]: [&Expr; 3], c: CType, of: Operands<'_>) -> Term {
        if let Some(difference) = self.saturating_difference([when, a, b], c, of) {
            return difference;
        }
        let (when, a) = (self.term(when, of), self.converted(a, c, of));
        let b = self.converted(b, c, of);
        // Of two literals C makes no more than they are.
        let found = if promoted(c) != c || a.c == c || b.c == c { c } else { a.c };
        // One choice in the other's last operand is a chain.
        let otherwise =
            if b.binds == Binds::Choice { b.text.clone() } else { b.beside(Binds::Choice, false) };
        let (when, a) = (when.beside(Binds::Choice, true), a.beside(Binds::Choice, true));
        Term { text: format!("{when} ? {a} : {otherwise}"), binds: Binds::Choice, c: found }
    }

    fn tx_room(&self, ctx: ir::LocalId) -> String {
        let Ty::Context(id) = self.local_type(ctx) else { return "0u".into() };
        let name = &self.p.contexts[id.index()].name;
        format!("CARRICK_TX_ROOM(core, {name}, {})", self.local(ctx))
    }

    /// How many elements a list has: none if it is itself outside of what it is in.
    pub(crate) fn list_len(&self, list: &Place) -> Term {
        let CPlace { text, guard, .. } = self.place(list);
        let c = CType::Unsigned(32);
        match guard {
            None => Term::primary(format!("{text}.len"), c),
            Some(guard) => Term { text: format!("{guard} ? {text}.len : 0u"), binds: Binds::Choice, c },
        }
    }

    /// The packet that the parser reads.
    pub(crate) fn packet(&self) -> String {
        self.function.map_or_else(String::new, |f| safe(&f.locals[0].name))
    }

    pub(crate) fn handle_of(&self, ctx: ir::LocalId) -> String {
        let ty = self.local_type(ctx);
        match ty {
            Ty::Context(id) => {
                format!("{}_handle({})", self.names.own(&self.p.contexts[id.index()].name), self.local(ctx))
            }
            _ => "0u".into(),
        }
    }

    fn unary(&self, op: UnOp, a: &Expr, ty: &Ty, of: Operands<'_>) -> Term {
        let (c, name) = (CType::of(ty), self.names.ctype(ty));
        match op {
            UnOp::Not => self.term(a, of).prefixed("!", CType::Truth),
            UnOp::BitNot => {
                let not = self.term(a, of).prefixed("~", promoted(c));
                not.cast(&name, c)
            }
            UnOp::Neg if c == CType::Signed(64) => {
                Term::primary(format!("carrick_neg_s({})", self.value_of(a, of)), c)
            }
            UnOp::Neg => {
                let (unsigned, of_unsigned) = unsigned(c);
                let a = self.term(a, of).cast(unsigned, of_unsigned);
                let zero = Term::primary("0u", CType::Unsigned(32));
                Term::joined(&zero, "-", &a, Binds::Sum, of_unsigned).cast(&name, c)
            }
        }
    }
}

/// Whether this only makes an unsigned number of a signed one: compilers warn if that is then widened without being told.
fn was_signed(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Cast(from) if matches!(CType::of(&from.ty), CType::Signed(_)))
}

/// A field of a blueprint, of the packet before, or of a call's event.
fn operand(e: &Expr, of: Operands<'_>) -> String {
    match (&e.kind, of) {
        (ExprKind::BpField(at), Operands::Header(def, bp)) => {
            format!("{bp}{}", safe(&def.fields[*at as usize].name))
        }
        (ExprKind::PrevField(at), Operands::Header(def, _)) => {
            format!("prev->{}", safe(&def.fields[*at as usize].name))
        }
        (ExprKind::CallArg(at), Operands::Call(def, event)) => {
            format!("{event}{}", safe(&def.fields[*at as usize].name))
        }
        _ => String::new(),
    }
}

/// What C makes of a number of this type where it computes.
pub fn promoted(c: CType) -> CType {
    match c {
        CType::Unsigned(8 | 16) | CType::Signed(8 | 16) | CType::Truth => CType::Signed(32),
        other => other,
    }
}

/// The unsigned type in which arithmetic of this type is done.
pub fn unsigned(c: CType) -> (&'static str, CType) {
    match c {
        CType::Unsigned(8 | 16 | 32) | CType::Signed(8 | 16 | 32) | CType::Truth => {
            ("uint32_t", CType::Unsigned(32))
        }
        _ => ("uint64_t", CType::Unsigned(64)),
    }
}
