// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions and places.

use super::names::{literal, name};
use super::printer::Printer;
use crate::{BinOp, Expr, ExprKind, FieldDef, LocalId, OptId, Place, Proj, TimerId, Ty, UnOp};

impl Printer<'_> {
    pub(super) fn exprs(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn expr(&self, e: &Expr) -> String {
        let p = self.program;
        match &e.kind {
            ExprKind::Lit(value) if self.whole => {
                format!("{}: {}", literal(p, &e.ty, *value), self.ty(&e.ty))
            }
            ExprKind::Lit(value) => literal(p, &e.ty, *value),
            ExprKind::Const(id) => name(&p.consts, id.index(), |d| &d.name).to_owned(),
            ExprKind::Element(id, at) => {
                format!("{}[{}]", name(&p.arrays, id.index(), |d| &d.name), self.expr(at))
            }
            ExprKind::Param(id) => name(&p.params, id.index(), |d| &d.name).to_owned(),
            ExprKind::Load(place) => self.place(place),
            ExprKind::Unary(op, a) => format!("{}{}", unary(*op), self.expr(a)),
            ExprKind::Binary(op, a, b) => {
                let right = match (op, &b.kind) {
                    // A unit is scaled by a plain number, which only travels in the unit's type.
                    (BinOp::Mul | BinOp::Div, ExprKind::Lit(n)) if a.ty == e.ty => literal(p, &Ty::I64, *n),
                    _ => self.expr(b),
                };
                format!("({} {} {right})", self.expr(a), binary(*op))
            }
            ExprKind::Cast(a) => format!("{}({})", self.ty(&e.ty), self.expr(a)),
            ExprKind::Cond(c, a, b) => format!("({} ? {} : {})", self.expr(c), self.expr(a), self.expr(b)),
            ExprKind::MakeId(id, parts) => {
                format!("{}({})", name(&p.ids, id.index(), |d| &d.name), self.exprs(parts))
            }
            ExprKind::Builtin(builtin, args) => format!("{}({})", builtin.name(), self.exprs(args)),
            ExprKind::Query(query, place, args) => self.method(place, query.name(), args),
            ExprKind::TimerArmed(ctx, timer, which) => {
                format!("{}.armed()", self.timer(*ctx, *timer, which.as_deref()))
            }
            ExprKind::Handle(ctx) => format!("handle({})", self.local(*ctx)),
            ExprKind::PacketLeft => "left()".into(),
            ExprKind::PacketPeek => "peek()".into(),
            ExprKind::TxRoom(ctx) => format!("tx_room({})", self.local(*ctx)),
            ExprKind::RxSize(ctx) => format!("rx_size({})", self.local(*ctx)),
            ExprKind::OptPresent(bp, opt) => format!("{}[{}].valid()", self.local(*bp), self.opt_name(*opt)),
            ExprKind::BpField(at) => format!("bp.{}", self.field_name(*at)),
            ExprKind::HeaderLen => "header_len".to_owned(),
            ExprKind::PayloadLen => "payload_len".to_owned(),
            ExprKind::PrevField(at) => format!("prev.{}", self.field_name(*at)),
            ExprKind::PrevPayloadLen => "prev.payload.len".to_owned(),
            ExprKind::CallArg(at) => self.field_name(*at).to_owned(),
        }
    }

    fn field_name(&self, at: u32) -> &str {
        self.fields.get(at as usize).copied().unwrap_or("?")
    }

    pub(super) fn timer(&self, ctx: LocalId, timer: TimerId, which: Option<&Expr>) -> String {
        let def = match self.local_ty(ctx) {
            Some(Ty::Context(id)) => self.program.contexts.get(id.index()),
            _ => None,
        };
        let timer = def.map_or("?", |d| d.timers.get(timer.index()).map_or("?", |t| t.base()));
        let which = which.map_or_else(String::new, |at| format!("[{}]", self.expr(at)));
        format!("{}.{timer}{which}", self.local(ctx))
    }

    pub(super) fn opt_name(&self, opt: OptId) -> &str {
        name(&self.program.opts, opt.index(), |d| &d.name)
    }

    fn local_ty(&self, local: LocalId) -> Option<&Ty> {
        self.function?.locals.get(local.index()).map(|l| &l.ty)
    }

    pub(super) fn place(&self, place: &Place) -> String {
        let mut text = self.local(place.root);
        let mut ty = self.local_ty(place.root).cloned();
        for proj in &place.path {
            let (part, next) = self.part(ty.as_ref(), proj);
            text += &part;
            ty = next;
        }
        text
    }

    /// One step of a place from a value of type `ty`, and the type that it leads to as far as another step needs it.
    fn part(&self, ty: Option<&Ty>, proj: &Proj) -> (String, Option<Ty>) {
        let p = self.program;
        match proj {
            Proj::Field(at) => match self.field_of(ty, *at as usize) {
                Some((name, ty)) => (format!(".{name}"), Some(ty)),
                None => (format!(".#{at}"), None),
            },
            Proj::Index(e) | Proj::Elem(e) => {
                let element = match ty {
                    Some(Ty::Array(element, _) | Ty::List(element, _, _)) => Some((**element).clone()),
                    _ => None,
                };
                (format!("[{}]", self.expr(e)), element)
            }
            Proj::CtxId => {
                let context = if let Some(Ty::Context(id)) = ty { p.contexts.get(id.index()) } else { None };
                (".id".to_owned(), context.map(|c| Ty::Id(c.id)))
            }
            Proj::Token => (".token".to_owned(), None),
            Proj::FlowId => {
                let event = if let Some(Ty::Event(id)) = ty { p.events.get(id.index()) } else { None };
                (".flow_id".to_owned(), event.and_then(|e| e.id).map(Ty::Id))
            }
            Proj::Net(at) => {
                (format!(".net.{}", name(&p.net_header.fields, *at as usize, |f| &f.name)), None)
            }
            Proj::OptField(opt, at) => {
                let field = p.opts.get(opt.index()).and_then(|o| o.field(*at as usize));
                let (field, ty) = field.map_or(("?", None), |(name, ty)| (name, Some(ty)));
                (format!("[{}].{field}", self.opt_name(*opt)), ty)
            }
            Proj::PayloadLen => (".payload.len".to_owned(), None),
            Proj::PayloadAddr => (".payload.addr".to_owned(), None),
        }
    }

    fn field_of(&self, ty: Option<&Ty>, at: usize) -> Option<(&str, Ty)> {
        let p = self.program;
        let fields: &[FieldDef] = match ty? {
            Ty::Struct(id) => &p.structs.get(id.index())?.fields,
            Ty::Scratch(id) => &p.scratchpads.get(id.index())?.fields,
            Ty::Id(id) => &p.ids.get(id.index())?.parts,
            Ty::Event(id) => &p.events.get(id.index())?.fields,
            Ty::Context(id) => &p.contexts.get(id.index())?.fields,
            Ty::Blueprint(id) => {
                let field = p.blueprints.get(id.index())?.fields.get(at)?;
                return Some((&field.name, field.ty.clone()));
            }
            _ => return None,
        };
        fields.get(at).map(|f| (f.name.as_str(), f.ty.clone()))
    }
}

fn unary(op: UnOp) -> &'static str {
    match op {
        UnOp::Neg => "-",
        UnOp::Not => "!",
        UnOp::BitNot => "~",
    }
}

fn binary(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul | BinOp::RateTimesDuration | BinOp::FixedMul | BinOp::Scale => "*",
        BinOp::Div | BinOp::BytesPerRate | BinOp::BytesPerDuration | BinOp::FixedDiv => "/",
        BinOp::Rem => "%",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::LogicalAnd => "&&",
        BinOp::LogicalOr => "||",
    }
}
