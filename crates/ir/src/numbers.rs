// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as their types have them: how wide they are, and how they are ordered.

use crate::Ty;

/// Width in bits and signedness of a scalar type.
pub fn shape(ty: &Ty) -> (u32, bool) {
    match ty {
        Ty::Bool => (1, false),
        Ty::Int { bits, signed } => (u32::from(*bits), *signed),
        Ty::Seq32 => (32, false),
        Ty::Status => (8, false),
        Ty::Duration | Ty::Fixed => (64, true),
        // An enum's own width is its declaration's; its values are never out of it.
        _ => (64, false),
    }
}

/// Brings a bit pattern into the canonical form of a type: cut to its width, then extended.
pub fn canonical(ty: &Ty, value: u64) -> u64 {
    match shape(ty) {
        (64, _) => value,
        (bits, false) => value & ((1 << bits) - 1),
        (bits, true) => (((value << (64 - bits)) as i64) >> (64 - bits)) as u64,
    }
}

/// `<`; for `seq32` serial order: the distance from a to b is in 1..2^31. RFC 1982 orders no two numbers that are 2^31 apart; here each is
/// less than the other, so that of `a < b` and `a >= b` always one holds.
pub fn less(ty: &Ty, a: u64, b: u64) -> bool {
    match ty {
        Ty::Seq32 => (a as u32).wrapping_sub(b as u32) > i32::MAX as u32,
        _ if shape(ty).1 => (a as i64) < (b as i64),
        _ => a < b,
    }
}

/// The lesser of two values, as [`less`] orders them.
pub fn least(ty: &Ty, a: u64, b: u64) -> u64 {
    if less(ty, b, a) { b } else { a }
}

/// The greater of two values, as [`less`] orders them.
pub fn greatest(ty: &Ty, a: u64, b: u64) -> u64 {
    if less(ty, a, b) { b } else { a }
}

/// The absolute value; that of the least number is itself.
pub fn absolute(ty: &Ty, value: u64) -> u64 {
    if (value as i64) < 0 { canonical(ty, value.wrapping_neg()) } else { value }
}
