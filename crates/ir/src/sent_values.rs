// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which values a field of a blueprint may have in a packet that is made.
//!
//! A value that does not fit its field must be seen before the packet is written: the bits that remain of it are another value, and
//! no receiver can know. A value that a program assigns is cut when it is assigned, where the program can read it back. A field with
//! a range, and a computed one, keep the whole value until then.

use crate::arith::shape;
use crate::expr::{BinOp, Expr, ExprKind};
use crate::program::{BlueprintDef, BpField, BpFieldKind};

/// No packet is longer (RFC 791 §3.1), and no MTU greater.
const PACKET_MAX: u64 = 65_535;

impl BpField {
    /// The values that it may have in a received packet, if its bits alone do not keep it in these.
    pub fn values_when_read(&self) -> Option<(u64, u64)> {
        self.range.filter(|(lo, hi)| (*lo, *hi) != (self.base, self.base.wrapping_add(self.most_bits())))
    }

    /// The greatest number that its bits hold.
    fn most_bits(&self) -> u64 {
        if self.bits == 0 { 0 } else { u64::MAX >> (64 - self.bits) }
    }

    /// What its value is computed from, cut to its type.
    pub fn computed(&self) -> Option<Expr> {
        let BpFieldKind::Computed(e) = &self.kind else { return None };
        if e.ty == self.ty {
            return Some(e.clone());
        }
        Some(Expr { kind: ExprKind::Cast(Box::new(e.clone())), ty: self.ty.clone(), loc: e.loc })
    }
}

impl BlueprintDef {
    /// The values that a field may have when a packet is made, if it can have others: then the packet is not made.
    pub fn values_when_sent(&self, field: &BpField) -> Option<(u64, u64)> {
        let (lo, hi) = match &field.kind {
            BpFieldKind::Plain { .. } => field.range?,
            BpFieldKind::Computed(_) => field.range.unwrap_or((0, field.most_bits())),
            BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_) => return None,
        };
        let (least, most) = match &field.kind {
            BpFieldKind::Computed(e) => self.bounds(e)?,
            _ => all_of(&field.ty)?,
        };
        (least < lo || most > hi).then_some((lo, hi))
    }

    /// The least and the greatest value of what computes a field; `None`: it has a sign.
    fn bounds(&self, e: &Expr) -> Option<(u64, u64)> {
        let all = all_of(&e.ty)?;
        let found = match &e.kind {
            ExprKind::Lit(n) => Some((*n, *n)),
            ExprKind::HeaderLen => Some((self.fixed_len.into(), self.max_header_len.into())),
            ExprKind::PayloadLen => Some((0, PACKET_MAX)),
            ExprKind::Cast(of) => self.bounds(of),
            ExprKind::Cond(_, a, b) => {
                self.bounds(a).zip(self.bounds(b)).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)))
            }
            ExprKind::Binary(op, a, b) => {
                self.of_packet(e).or_else(|| binary(*op, self.bounds(a)?, self.bounds(b)?))
            }
            _ => None,
        };
        // What is outside of the type has wrapped.
        Some(found.filter(|(_, most)| *most <= all.1).unwrap_or(all))
    }

    /// The bounds of a sum of header, payload and a number: the two are a packet.
    fn of_packet(&self, e: &Expr) -> Option<(u64, u64)> {
        let sum = sum(e)?;
        let whole = sum.headers == 1 && sum.payloads == 1;
        let least = i64::from(self.fixed_len) + sum.number;
        let most = PACKET_MAX as i64 + sum.number;
        if whole { u64::try_from(least).ok().zip(u64::try_from(most).ok()) } else { None }
    }
}

/// All values of a type without a sign.
fn all_of(ty: &crate::Ty) -> Option<(u64, u64)> {
    let (bits, signed) = shape(ty);
    (!signed).then(|| (0, u64::MAX >> (64 - bits)))
}

fn binary(op: BinOp, a: (u64, u64), b: (u64, u64)) -> Option<(u64, u64)> {
    Some(match op {
        BinOp::Add => (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?),
        BinOp::Sub => (a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?),
        BinOp::Mul => (a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?),
        // By 0: 0.
        BinOp::Div => (if b.0 == 0 { 0 } else { a.0 / b.1 }, a.1 / b.0.max(1)),
        BinOp::Rem if b.0 > 0 => (0, a.1.min(b.1 - 1)),
        BinOp::And => (0, a.1.min(b.1)),
        _ => return None,
    })
}

/// How often each length is in a sum, and what is added to them.
#[derive(Default)]
struct Sum {
    headers: u32,
    payloads: u32,
    number: i64,
}

fn sum(e: &Expr) -> Option<Sum> {
    match &e.kind {
        ExprKind::HeaderLen => Some(Sum { headers: 1, ..Sum::default() }),
        ExprKind::PayloadLen => Some(Sum { payloads: 1, ..Sum::default() }),
        ExprKind::Lit(n) => Some(Sum {
            number: i64::try_from(*n).ok().filter(|n| *n <= PACKET_MAX as i64)?,
            ..Sum::default()
        }),
        ExprKind::Cast(of) if shape(&e.ty) == (64, false) => sum(of),
        ExprKind::Binary(BinOp::Add, a, b) => {
            let (a, b) = (sum(a)?, sum(b)?);
            Some(Sum {
                headers: a.headers + b.headers,
                payloads: a.payloads + b.payloads,
                number: a.number + b.number,
            })
        }
        ExprKind::Binary(BinOp::Sub, a, b) => {
            let (a, b) = (sum(a)?, sum(b)?);
            (b.headers + b.payloads == 0).then(|| Sum { number: a.number - b.number, ..a })
        }
        _ => None,
    }
}
