// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions.

use super::check::{Check, Scope};
use crate::methods::{Declaration, Gives, Operand};
use crate::{BinOp, Builtin, Expr, ExprKind, IdId, LocalId, OptId, Place, Ty, UnOp, arith};

/// Types whose values scale by integers.
fn is_unit(ty: &Ty) -> bool {
    matches!(ty, Ty::Fixed | Ty::Duration | Ty::Bytes | Ty::Rate)
}

fn is_int(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { .. })
}

/// Whether the operator takes operands of these types and gives this result.
fn fits(op: BinOp, a: &Ty, b: &Ty, result: &Ty) -> bool {
    use BinOp as O;
    match op {
        O::LogicalAnd | O::LogicalOr => [a, b, result] == [&Ty::Bool; 3],
        O::Eq | O::Ne => a == b && *result == Ty::Bool && (a.is_scalar() || matches!(a, Ty::Id(_))),
        O::Lt | O::Le | O::Gt | O::Ge => a == b && *result == Ty::Bool && a.is_scalar() && *a != Ty::Bool,
        O::And | O::Or | O::Xor => a == b && a == result && (is_int(a) || *a == Ty::Bool),
        O::Shl | O::Shr => is_int(a) && matches!(b, Ty::Int { signed: false, .. }) && a == result,
        O::FixedMul | O::FixedDiv => [a, b, result] == [&Ty::Fixed; 3],
        O::Scale => is_unit(a) && *a != Ty::Fixed && *b == Ty::Fixed && a == result,
        O::BytesPerRate => (a, b, result) == (&Ty::Bytes, &Ty::Rate, &Ty::Duration),
        O::BytesPerDuration => (a, b, result) == (&Ty::Bytes, &Ty::Duration, &Ty::Rate),
        O::RateTimesDuration => (a, b, result) == (&Ty::Rate, &Ty::Duration, &Ty::Bytes),
        O::Add | O::Sub | O::Mul | O::Div | O::Rem => arithmetic(op, a, b, result),
    }
}

fn arithmetic(op: BinOp, a: &Ty, b: &Ty, result: &Ty) -> bool {
    let sum = matches!(op, BinOp::Add | BinOp::Sub);
    let product = matches!(op, BinOp::Mul | BinOp::Div);
    match (a, b, result) {
        (Ty::Seq32, Ty::Int { bits: 32, signed: false }, Ty::Seq32) => sum,
        (Ty::Seq32, Ty::Seq32, _) => op == BinOp::Sub && *result == Ty::U32,
        (Ty::Time, Ty::Time, Ty::Duration) => op == BinOp::Sub,
        (Ty::Time, Ty::Duration, Ty::Time) => sum,
        (Ty::Duration, Ty::Duration, Ty::Int { bits: 64, signed: true }) => op == BinOp::Div,
        (Ty::Bytes, Ty::Bytes, Ty::Int { bits: 64, signed: false })
        | (Ty::Rate, Ty::Rate, Ty::Int { bits: 64, signed: false }) => op == BinOp::Div,
        // Scaling: the integer was brought to the unit's type.
        _ if is_unit(a) => a == b && a == result && (sum || product || op == BinOp::Rem),
        _ => is_int(a) && a == b && a == result,
    }
}

impl Check<'_> {
    pub(super) fn expr(&mut self, e: &Expr) {
        // Values are calculated with the width of their type.
        let before = self.errors.len();
        self.ty(&e.ty);
        self.loc(e.loc);
        if self.errors.len() == before {
            self.of_known_type(e);
        }
    }

    fn of_known_type(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Lit(value) => self.literal(&e.ty, *value),
            ExprKind::Const(id) => {
                let ty = self.program.consts.get(id.index()).map(|d| &d.ty);
                self.must(ty == Some(&e.ty), "there is no such constant of this type");
            }
            ExprKind::Element(id, at) => {
                let ty = self.program.arrays.get(id.index()).map(|d| &d.ty);
                self.must(ty == Some(&e.ty), "there is no such constant array of this type");
                self.expr(at);
                self.same(&at.ty, &Ty::U64, "an index of a constant array");
            }
            ExprKind::Param(id) => {
                let ty = self.program.params.get(id.index()).map(|d| &d.ty);
                self.must(ty == Some(&e.ty), "there is no such parameter of this type");
            }
            ExprKind::Load(place) => {
                self.place(place);
                self.same(&place.ty, &e.ty, "what is loaded");
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.ty),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, &e.ty),
            ExprKind::Cast(a) => {
                self.expr(a);
                self.must(
                    a.ty.is_scalar() && e.ty.is_scalar(),
                    "a conversion of something else than scalars",
                );
            }
            ExprKind::Cond(c, a, b) => {
                self.expr_of(c, &Ty::Bool, "a condition");
                self.expr_of(a, &e.ty, "the first choice");
                self.expr_of(b, &e.ty, "the second choice");
            }
            ExprKind::MakeId(id, parts) => self.make_id(*id, parts, &e.ty),
            ExprKind::Builtin(builtin, args) => self.builtin(*builtin, args, &e.ty),
            ExprKind::Query(query, place, args) => {
                self.method(query.declaration(), place, args);
                self.same(&e.ty, &query.declaration().gives.ty(&place.ty), "the result of a method");
            }
            ExprKind::TimerArmed(ctx, timer, which) => {
                self.timer(*ctx, *timer, which.as_deref());
                self.same(&e.ty, &Ty::Bool, "whether a timer runs");
            }
            ExprKind::Handle(ctx) => {
                self.context_local(*ctx);
                self.same(&e.ty, &Ty::Handle, "a handle");
            }
            ExprKind::TxRoom(ctx) | ExprKind::RxSize(ctx) => {
                self.context_local(*ctx);
                self.same(&e.ty, &Ty::Bytes, "room");
            }
            ExprKind::OptPresent(bp, opt) => {
                self.option(*bp, *opt);
                self.same(&e.ty, &Ty::Bool, "whether an option is there");
            }
            ExprKind::PacketLeft | ExprKind::PacketPeek => {
                let ty = if e.kind == ExprKind::PacketLeft { Ty::Bytes } else { Ty::U8 };
                self.must(self.is_parser(), "only a parser sees a packet");
                self.same(&e.ty, &ty, "what is left of a packet");
            }
            _ => self.scope_name(e),
        }
    }

    fn literal(&mut self, ty: &Ty, value: u64) {
        self.must(ty.is_scalar() || (*ty == Ty::Addr && value == 0), "a literal that is not a scalar");
        self.must(arith::canonical(ty, value) == value, "a literal that does not fit its type");
    }

    fn unary(&mut self, op: UnOp, a: &Expr, result: &Ty) {
        self.expr_of(a, result, "an operand");
        let right = match op {
            UnOp::Neg => is_int(result) || matches!(result, Ty::Duration | Ty::Fixed),
            UnOp::Not => *result == Ty::Bool,
            UnOp::BitNot => is_int(result),
        };
        self.must(right, "a unary operator on something else");
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, result: &Ty) {
        self.expr(a);
        self.expr(b);
        if !fits(op, &a.ty, &b.ty, result) {
            let names = [&a.ty, &b.ty, result].map(|t| self.ty_name(t));
            self.fail(format!("{op:?} of {} and {} does not give {}", names[0], names[1], names[2]));
        }
    }

    pub(super) fn make_id(&mut self, id: IdId, parts: &[Expr], ty: &Ty) {
        self.same(ty, &Ty::Id(id), "an id");
        let Some(def) = self.program.ids.get(id.index()) else { return self.fail("there is no such id") };
        self.must(parts.len() == def.parts.len(), "not one value for each part of the id");
        for (part, wanted) in parts.iter().zip(&def.parts) {
            self.expr_of(part, &wanted.ty, "a part of an id");
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], result: &Ty) {
        args.iter().for_each(|a| self.expr(a));
        let tys: Vec<&Ty> = args.iter().map(|a| &a.ty).collect();
        let right = builtin.declaration().fits(&self.program.address_ty(), &tys, result);
        self.must(right, &format!("{builtin:?} of other arguments"));
    }

    /// A method of a list or a window, and its operands.
    pub(super) fn method(&mut self, method: &Declaration, on: &Place, args: &[Expr]) {
        self.place(on);
        self.must(method.on.has(&on.ty), "a method of what does not have it");
        let (least, most) = method.operands();
        self.must((least..=most).contains(&args.len()), "another number of operands");
        for (operand, arg) in method.takes.iter().zip(args) {
            match operand {
                Operand::Index => {
                    self.expr(arg);
                    self.must(is_int(&arg.ty), "an index that is not an integer");
                }
                Operand::Element => self.expr_of(arg, &Gives::Element.ty(&on.ty), "an element"),
                Operand::Number | Operand::MaybeNumber => {
                    self.expr_of(arg, &Ty::Seq32, "a number of a window");
                }
                Operand::Key => {
                    let Ty::List(element, _, order) = &on.ty else { continue };
                    match self.program.sort_key(element, *order) {
                        Some(ty) => self.expr_of(arg, &ty, "a key"),
                        None => self.fail("found in a list that is not sorted"),
                    }
                }
            }
        }
    }

    /// The blueprint can hold the option.
    pub(super) fn option(&mut self, bp: LocalId, opt: OptId) {
        let Some((_, def)) = self.blueprint_local(bp) else { return };
        let list = def.options.and_then(|o| self.program.opt_lists.get(o.index()));
        self.must(list.is_some_and(|l| l.members.contains(&opt)), "the blueprint has no such option");
    }

    /// What only declarations mention.
    fn scope_name(&mut self, e: &Expr) {
        let p = self.program;
        let field = |bp: crate::BpId, at: u32| {
            p.blueprints.get(bp.index()).and_then(|b| b.fields.get(at as usize)).map(|f| &f.ty)
        };
        let ty = match (self.scope, &e.kind) {
            (Scope::Header(bp) | Scope::SegRule(bp) | Scope::Coalescing(bp), ExprKind::BpField(at)) => {
                field(bp, *at)
            }
            (Scope::SegRule(bp) | Scope::Coalescing(bp), ExprKind::PrevField(at)) => field(bp, *at),
            (Scope::Header(_), ExprKind::HeaderLen | ExprKind::PayloadLen) => Some(&Ty::Bytes),
            (Scope::Coalescing(_), ExprKind::PayloadLen | ExprKind::PrevPayloadLen) => Some(&Ty::Bytes),
            (Scope::SegRule(_), ExprKind::PrevPayloadLen) => Some(&Ty::Bytes),
            (Scope::Call(event), ExprKind::CallArg(at)) => {
                p.events.get(event.index()).and_then(|d| d.fields.get(*at as usize)).map(|f| &f.ty)
            }
            _ => None,
        };
        self.must(ty == Some(&e.ty), "this is not known here");
    }
}
