// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arithmetic of the language on terms, as [`carrick_ir::arith`] computes it on numbers.

use carrick_ir::{BinOp, Ty, UnOp};
use carrick_solve::{Term, Terms};

/// Bits of a nanosecond at 1 bit per second.
const BITS_TIMES_NANOSECONDS: u128 = 8 * 1_000_000_000;
const WIDE: u8 = 128;
const POINT: u8 = 32;

/// `<`; of `seq32` serial order.
pub(crate) fn less(terms: &mut Terms, ty: &Ty, signed: bool, a: Term, b: Term) -> Term {
    match ty {
        Ty::Seq32 => {
            let not_after = serial_not_after(terms, b, a);
            terms.not(not_after)
        }
        _ if signed => terms.slt(a, b),
        _ => terms.ult(a, b),
    }
}

/// Whether the distance from the first to the second serial number is below 2^31. There is one difference for both orders of two
/// numbers, so that the solver sees that they belong together.
fn serial_not_after(terms: &mut Terms, a: Term, b: Term) -> Term {
    if a <= b {
        let distance = terms.sub(b, a);
        let far = terms.extract(distance, 31, 1);
        return terms.not(far);
    }
    let back = terms.sub(a, b);
    let (none, half) = (terms.equal(a, b), terms.constant(1 << 31, 32));
    let (opposite, ahead) = (terms.equal(back, half), terms.extract(back, 31, 1));
    let elsewhere = terms.not(opposite);
    let ahead = terms.and(ahead, elsewhere);
    terms.or(none, ahead)
}

pub(crate) fn unary(terms: &mut Terms, op: UnOp, a: Term) -> Term {
    match op {
        UnOp::Neg => {
            let zero = terms.constant(0, terms.width(a));
            terms.sub(zero, a)
        }
        UnOp::Not | UnOp::BitNot => terms.not(a),
    }
}

/// A conversion to a type of this width.
pub(crate) fn cast(terms: &mut Terms, to: &Ty, width: u8, signed: bool, a: Term) -> Term {
    if *to == Ty::Bool {
        let zero = terms.constant(0, terms.width(a));
        let is_zero = terms.equal(a, zero);
        return terms.not(is_zero);
    }
    terms.resize(a, width, signed)
}

/// The type of the left operand: itself, its width, and whether it has a sign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    pub ty: &'a Ty,
    pub width: u8,
    pub signed: bool,
}

/// A binary operator, with a result of `to` bits.
pub(crate) fn binary(terms: &mut Terms, op: BinOp, of: Of<'_>, to: u8, a: Term, b: Term) -> Term {
    let signed = of.signed;
    let result = match op {
        BinOp::Add | BinOp::Sub => {
            let b = terms.resize(b, of.width, false);
            if op == BinOp::Add { terms.add(a, b) } else { terms.sub(a, b) }
        }
        BinOp::Mul => terms.mul(a, b),
        BinOp::Div if signed => terms.sdiv(a, b),
        BinOp::Div => terms.udiv(a, b),
        BinOp::Rem if signed => terms.srem(a, b),
        BinOp::Rem => terms.urem(a, b),
        BinOp::Shl | BinOp::Shr => shift(terms, op, of, a, b),
        BinOp::And | BinOp::LogicalAnd => terms.and(a, b),
        BinOp::Or | BinOp::LogicalOr => terms.or(a, b),
        BinOp::Xor => terms.xor(a, b),
        BinOp::Eq => terms.equal(a, b),
        BinOp::Ne => {
            let equal = terms.equal(a, b);
            terms.not(equal)
        }
        BinOp::Lt => less(terms, of.ty, signed, a, b),
        BinOp::Gt => less(terms, of.ty, signed, b, a),
        BinOp::Le => not_after(terms, of, a, b),
        BinOp::Ge => not_after(terms, of, b, a),
        BinOp::FixedMul => scale(terms, true, a, b),
        BinOp::Scale => scale(terms, signed, a, b),
        BinOp::FixedDiv => ratio(terms, true, a, b),
        BinOp::BytesPerRate | BinOp::BytesPerDuration | BinOp::RateTimesDuration => rates(terms, op, a, b),
    };
    terms.resize(result, to, false)
}

fn not_after(terms: &mut Terms, of: Of<'_>, a: Term, b: Term) -> Term {
    if *of.ty == Ty::Seq32 {
        return serial_not_after(terms, a, b);
    }
    let after = less(terms, of.ty, of.signed, b, a);
    terms.not(after)
}

/// The count has a width of its own, and no sign.
fn shift(terms: &mut Terms, op: BinOp, of: Of<'_>, a: Term, count: Term) -> Term {
    let width = of.width.max(terms.width(count));
    let (a, count) = (terms.resize(a, width, of.signed), terms.zext(count, width));
    if width == of.width || op == BinOp::Shr {
        return match (op, of.signed) {
            (BinOp::Shl, _) => terms.shl(a, count),
            (_, true) => terms.ashr(a, count),
            (_, false) => terms.lshr(a, count),
        };
    }
    terms.shl(a, count)
}

fn not_negative(terms: &mut Terms, a: Term) -> Term {
    let zero = terms.constant(0, terms.width(a));
    let negative = terms.slt(a, zero);
    terms.ite(negative, zero, a)
}

fn scale(terms: &mut Terms, signed: bool, a: Term, b: Term) -> Term {
    let wide = if signed { terms.sext(a, WIDE) } else { terms.zext(a, WIDE) };
    let factor = match signed {
        true => terms.sext(b, WIDE),
        false => {
            let factor = not_negative(terms, b);
            terms.zext(factor, WIDE)
        }
    };
    let product = terms.mul(wide, factor);
    terms.extract(product, POINT, 64)
}

/// `a / b` as a fixed-point number; 0 by 0.
pub(crate) fn ratio(terms: &mut Terms, signed: bool, a: Term, b: Term) -> Term {
    let (a, b) = (terms.resize(a, WIDE, signed), terms.resize(b, WIDE, signed));
    let point = terms.constant(POINT.into(), WIDE);
    let a = terms.shl(a, point);
    let quotient = if signed { terms.sdiv(a, b) } else { terms.udiv(a, b) };
    terms.extract(quotient, 0, 64)
}

fn rates(terms: &mut Terms, op: BinOp, a: Term, b: Term) -> Term {
    let unit = terms.constant(BITS_TIMES_NANOSECONDS, WIDE);
    let b = if op == BinOp::BytesPerRate { b } else { not_negative(terms, b) };
    let (a, b) = (terms.zext(a, WIDE), terms.zext(b, WIDE));
    let result = if op == BinOp::RateTimesDuration {
        let product = terms.mul(a, b);
        terms.udiv(product, unit)
    } else {
        let product = terms.mul(a, unit);
        terms.udiv(product, b)
    };
    terms.extract(result, 0, 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrick_ir::arith as reference;
    use carrick_solve::{Answer, Solver};

    const OPS: [BinOp; 24] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Rem,
        BinOp::Shl,
        BinOp::Shr,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Eq,
        BinOp::Ne,
        BinOp::Lt,
        BinOp::Le,
        BinOp::Gt,
        BinOp::Ge,
        BinOp::LogicalAnd,
        BinOp::LogicalOr,
        BinOp::BytesPerRate,
        BinOp::BytesPerDuration,
        BinOp::FixedMul,
        BinOp::FixedDiv,
        BinOp::Scale,
        BinOp::RateTimesDuration,
    ];

    /// The types of the operands, and of the result.
    fn types(op: BinOp) -> Vec<(Ty, Ty, Ty)> {
        let ints =
            [8, 16, 32, 64].into_iter().flat_map(|bits| [false, true].map(|signed| Ty::Int { bits, signed }));
        let comparison = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let all = |ty: Ty| (ty.clone(), ty.clone(), if comparison { Ty::Bool } else { ty });
        match op {
            BinOp::LogicalAnd | BinOp::LogicalOr => vec![(Ty::Bool, Ty::Bool, Ty::Bool)],
            BinOp::BytesPerRate => vec![(Ty::Bytes, Ty::Rate, Ty::Duration)],
            BinOp::BytesPerDuration => vec![(Ty::Bytes, Ty::Duration, Ty::Rate)],
            BinOp::RateTimesDuration => vec![(Ty::Rate, Ty::Duration, Ty::Bytes)],
            BinOp::FixedMul | BinOp::FixedDiv => vec![(Ty::Fixed, Ty::Fixed, Ty::Fixed)],
            BinOp::Scale => {
                [Ty::Duration, Ty::Bytes, Ty::Rate].map(|ty| (ty.clone(), Ty::Fixed, ty)).to_vec()
            }
            BinOp::Shl | BinOp::Shr => {
                ints.flat_map(|ty| [Ty::U8, Ty::U64].map(|n| (ty.clone(), n, ty.clone()))).collect()
            }
            BinOp::Add | BinOp::Sub => ints.map(all).chain([(Ty::Seq32, Ty::U32, Ty::Seq32)]).collect(),
            _ if comparison => ints.chain([Ty::Seq32, Ty::Duration, Ty::Time]).map(all).collect(),
            _ => ints.map(all).collect(),
        }
    }

    fn number(ty: &Ty, n: u64) -> u64 {
        let random = (n ^ (n >> 7)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(n as u32 % 64);
        let value = match n % 5 {
            0 => n % 3,
            1 => u64::MAX - n % 3,
            2 => 1 << (random % 64),
            _ => random,
        };
        reference::canonical(ty, value)
    }

    fn bits(ty: &Ty, value: u64) -> (u128, u8) {
        let width = reference::shape(ty).0 as u8;
        (u128::from(value) & (u128::MAX >> (128 - u32::from(width))), width)
    }

    /// Of constants, and of variables that have these values.
    #[test]
    fn operators_compute_what_the_reference_does() {
        for (op, (left, right, to)) in
            OPS.into_iter().flat_map(|op| types(op).into_iter().map(move |t| (op, t)))
        {
            let mut terms = Terms::default();
            let [(_, wa), (_, wb), (_, wr)] = [bits(&left, 0), bits(&right, 0), bits(&to, 0)];
            let (a, b) = (terms.var("a", wa), terms.var("b", wb));
            let of = Of { ty: &left, width: wa, signed: reference::shape(&left).1 };
            let result = binary(&mut terms, op, of, wr, a, b);
            let mut solver = Solver::default();
            for n in 0..60 {
                let (x, y) = (number(&left, 7 * n + 3), number(&right, 11 * n));
                let value = bits(&to, reference::binary(op, &left, &to, x, y)).0;
                let (x, y) = (terms.constant(bits(&left, x).0, wa), terms.constant(bits(&right, y).0, wb));
                let known = binary(&mut terms, op, of, wr, x, y);
                assert_eq!(terms.as_constant(known), Some(value), "{op:?} of {left:?}: {n}");
                let value = terms.constant(value, wr);
                let path = [terms.equal(a, x), terms.equal(b, y)];
                let equal = terms.equal(result, value);
                let other = terms.not(equal);
                if n < 12 {
                    let answer = solver.check(&terms, &path, other, &Vec::new());
                    assert_eq!(answer, Answer::No, "{op:?} of {left:?}: {n}");
                }
            }
        }
    }
}
