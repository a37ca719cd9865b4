// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields of blueprints hold as many bits as they have in a packet: a sender must not decide by what no receiver sees.

use carrick_ir::part::VARINT_MAX;
use carrick_ir::{self as ir, BinOp, ExprKind, Ty, arith};

use crate::Checker;

impl Checker<'_> {
    /// A value for a field of a blueprint, cut to what the field has room for.
    pub(crate) fn cut_to_field(&self, bp: ir::BpId, field: u32, value: ir::Expr) -> ir::Expr {
        match self.field_mask(bp, field) {
            Some(mask) => self.masked(value, mask),
            None => value,
        }
    }

    /// The numbers that the field can hold, if these are fewer than its type has.
    pub(crate) fn field_mask(&self, bp: ir::BpId, at: u32) -> Option<u64> {
        let bp = self.program.blueprints.get(bp.index())?;
        let field = bp.fields.get(at as usize)?;
        if bp.parts.iter().any(|part| part.varint && part.first == at) {
            return Some(VARINT_MAX);
        }
        if field.range.is_some() {
            // What does not fit is seen, and no packet made of it.
            return None;
        }
        let (width, _) = arith::shape(self.repr(&field.ty));
        (field.bits < width).then(|| u64::MAX >> (64 - field.bits))
    }

    /// The type of numbers that a type's values are.
    pub(crate) fn repr<'t>(&'t self, ty: &'t Ty) -> &'t Ty {
        match ty {
            Ty::Enum(id) => self.program.enums.get(id.index()).map_or(ty, |e| &e.repr),
            ty => ty,
        }
    }

    fn masked(&self, value: ir::Expr, mask: u64) -> ir::Expr {
        let (ty, loc) = (value.ty.clone(), value.loc);
        if let ExprKind::Lit(n) = value.kind {
            return ir::Expr { kind: ExprKind::Lit(n & mask), ty, loc };
        }
        let number = match &ty {
            Ty::Seq32 => Ty::U32,
            ty => self.repr(ty).clone(),
        };
        let cast = |e: ir::Expr, to: &Ty| match e.ty == *to {
            true => e,
            false => ir::Expr { kind: ExprKind::Cast(Box::new(e)), ty: to.clone(), loc },
        };
        let mask = ir::Expr { kind: ExprKind::Lit(mask), ty: number.clone(), loc };
        let kind = ExprKind::Binary(BinOp::And, Box::new(cast(value, &number)), Box::new(mask));
        cast(ir::Expr { kind, ty: number, loc }, &ty)
    }
}
