// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arithmetic of the language, case by case as the reference's table has it. Constant folding and
//! the interpreter share it; generated C is compared against it.
//!
//! A scalar travels as 64 bits: unsigned values zero-extended, signed ones sign-extended.

pub use crate::numbers::{absolute, canonical, greatest, least, less, shape};
use crate::{BinOp, Ty, UnOp, fixed};

/// A conversion `T(x)`: to `bool` whether it is not zero, else the value's bits.
pub fn cast(to: &Ty, value: u64) -> u64 {
    if *to == Ty::Bool { u64::from(value != 0) } else { canonical(to, value) }
}

/// An element of an array of numbers; outside of it zero.
pub fn element(values: &[u64], at: u64) -> u64 {
    usize::try_from(at).ok().and_then(|at| values.get(at)).copied().unwrap_or(0)
}

/// A unary operator on a value of type `ty`.
pub fn unary(op: UnOp, ty: &Ty, value: u64) -> u64 {
    match op {
        UnOp::Neg => canonical(ty, value.wrapping_neg()),
        UnOp::Not => u64::from(value == 0),
        UnOp::BitNot => canonical(ty, !value),
    }
}

/// A binary operator on operands of type `ty` (the left one's), with a result of type `to`.
pub fn binary(op: BinOp, ty: &Ty, to: &Ty, a: u64, b: u64) -> u64 {
    let signed = shape(ty).1;
    let result = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div => divide(signed, a, b),
        BinOp::Rem => remainder(signed, a, b),
        BinOp::Shl => shift_left(ty, a, b),
        BinOp::Shr => shift_right(ty, a, b),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Eq => u64::from(a == b),
        BinOp::Ne => u64::from(a != b),
        BinOp::Lt => u64::from(less(ty, a, b)),
        BinOp::Le => u64::from(!less(ty, b, a)),
        BinOp::Gt => u64::from(less(ty, b, a)),
        BinOp::Ge => u64::from(!less(ty, a, b)),
        BinOp::LogicalAnd => a & b & 1,
        BinOp::LogicalOr => (a | b) & 1,
        BinOp::FixedMul => fixed::scale(true, a, b),
        BinOp::FixedDiv => fixed::ratio(true, a, b),
        BinOp::Scale => fixed::scale(signed, a, b),
        BinOp::BytesPerRate => bytes_per_rate(a, b),
        BinOp::BytesPerDuration => bytes_per_duration(a, b),
        BinOp::RateTimesDuration => rate_times_duration(a, b),
    };
    canonical(to, result)
}

fn divide(signed: bool, a: u64, b: u64) -> u64 {
    match (b, signed) {
        (0, _) => 0,
        (_, true) => (a as i64).wrapping_div(b as i64) as u64,
        (_, false) => a / b,
    }
}

fn remainder(signed: bool, a: u64, b: u64) -> u64 {
    match (b, signed) {
        (0, _) => a,
        (_, true) => (a as i64).wrapping_rem(b as i64) as u64,
        (_, false) => a % b,
    }
}

fn shift_left(ty: &Ty, a: u64, count: u64) -> u64 {
    if count >= u64::from(shape(ty).0) { 0 } else { a << count }
}

fn shift_right(ty: &Ty, a: u64, count: u64) -> u64 {
    match shape(ty) {
        // Sign-extended already, so that 63 shifts every bit out but the sign.
        (_, true) => ((a as i64) >> count.min(63)) as u64,
        (bits, false) if count >= u64::from(bits) => 0,
        (_, false) => a >> count,
    }
}

const BITS_TIMES_NANOSECONDS: u128 = 8 * 1_000_000_000;

fn bytes_per_rate(bytes: u64, rate: u64) -> u64 {
    match rate {
        0 => 0,
        _ => (u128::from(bytes) * BITS_TIMES_NANOSECONDS / u128::from(rate)) as u64,
    }
}

fn bytes_per_duration(bytes: u64, duration: u64) -> u64 {
    match duration as i64 {
        ..=0 => 0,
        _ => (u128::from(bytes) * BITS_TIMES_NANOSECONDS / u128::from(duration)) as u64,
    }
}

fn rate_times_duration(rate: u64, duration: u64) -> u64 {
    let duration = (duration as i64).max(0) as u64;
    (u128::from(rate) * u128::from(duration) / BITS_TIMES_NANOSECONDS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const I8: Ty = Ty::Int { bits: 8, signed: true };

    fn op(op: BinOp, ty: &Ty, a: i64, b: i64) -> i64 {
        binary(op, ty, ty, a as u64, b as u64) as i64
    }

    #[test]
    fn arithmetic_wraps() {
        assert_eq!(op(BinOp::Add, &Ty::U8, 255, 1), 0);
        assert_eq!(op(BinOp::Sub, &Ty::U16, 0, 1), 65535);
        assert_eq!(op(BinOp::Mul, &I8, 64, 2), -128);
        assert_eq!(unary(UnOp::Neg, &I8, -128_i64 as u64) as i64, -128);
    }

    #[test]
    fn division_is_defined_everywhere() {
        assert_eq!(op(BinOp::Div, &Ty::U32, 7, 0), 0);
        assert_eq!(op(BinOp::Rem, &Ty::U32, 7, 0), 7);
        assert_eq!(op(BinOp::Div, &I8, -128, -1), -128);
        assert_eq!(op(BinOp::Rem, &I8, -128, -1), 0);
        assert_eq!(op(BinOp::Div, &Ty::I64, i64::MIN, -1), i64::MIN);
        assert_eq!(op(BinOp::Div, &Ty::I64, -7, 2), -3);
        assert_eq!(op(BinOp::Rem, &Ty::I64, -7, 2), -1);
    }

    #[test]
    fn shifts_by_too_much_leave_nothing_or_the_sign() {
        assert_eq!(op(BinOp::Shl, &Ty::U8, 1, 8), 0);
        assert_eq!(op(BinOp::Shl, &Ty::U64, 1, 64), 0);
        assert_eq!(op(BinOp::Shr, &Ty::U32, 0xffff_ffff, 32), 0);
        assert_eq!(op(BinOp::Shr, &I8, -128, 100), -1);
        assert_eq!(op(BinOp::Shr, &I8, 127, 100), 0);
    }

    #[test]
    fn sequence_numbers_compare_in_serial_order() {
        let lt = |a: u32, b: u32| less(&Ty::Seq32, a.into(), b.into());
        assert!(lt(u32::MAX, 0) && !lt(0, u32::MAX));
        assert!(lt(0, i32::MAX as u32) && !lt(5, 5));
        // `<=` is what `>` is not, also of numbers that are 2^31 apart.
        for (a, b) in [(0_u32, 1 << 31), (1 << 31, 0), (7, 7), (7, 8), (8, 7), (1, u32::MAX)] {
            let op = |op| binary(op, &Ty::Seq32, &Ty::Bool, u64::from(a), u64::from(b));
            assert_eq!([op(BinOp::Le), op(BinOp::Ge)], [1 - op(BinOp::Gt), 1 - op(BinOp::Lt)], "{a} {b}");
        }
        assert!(lt(0, 1 << 31) && lt(1 << 31, 0));
    }

    #[test]
    fn units_go_through_128_bits() {
        let b = |op, a: u64, b: u64| binary(op, &Ty::Bytes, &Ty::U64, a, b);
        assert_eq!(b(BinOp::BytesPerRate, 1500, 12_000), 1_000_000_000);
        assert_eq!(b(BinOp::BytesPerRate, 1 << 40, 1_000_000_000), (1_u64 << 40) * 8);
        assert_eq!(b(BinOp::BytesPerRate, 1, 0), 0);
        assert_eq!(b(BinOp::BytesPerDuration, 1500, 1_000_000), 12_000_000);
        assert_eq!(b(BinOp::BytesPerDuration, 1 << 40, 1000), 8_796_093_022_208_000_000);
        assert_eq!(b(BinOp::BytesPerDuration, 1500, 0), 0);
        assert_eq!(b(BinOp::BytesPerDuration, 1500, -1_i64 as u64), 0);
        assert_eq!(b(BinOp::RateTimesDuration, 100_000_000_000, 1_000_000_000), 12_500_000_000);
        assert_eq!(b(BinOp::RateTimesDuration, 8, -1_i64 as u64), 0);
    }
}
