// SPDX-License-Identifier: MIT OR Apache-2.0
//! The least and the greatest unsigned value that a term can have.

use crate::op::{Op, Term, mask};

/// The least and the greatest value.
pub(crate) type Range = (u128, u128);

/// The range of an operation, from those of its operands.
pub(crate) fn of(op: Op, width: u8, range: impl Fn(Term) -> Range) -> Range {
    use Op::*;
    let all = (0, mask(width));
    let constant =
        |term: Term| Some(range(term)).filter(|(least, most)| least == most).map(|(value, _)| value);
    let fits = |range: Option<Range>| range.filter(|(_, most)| *most <= mask(width)).unwrap_or(all);
    match op {
        Const(value) => (value, value),
        And(a, b) => (0, range(a).1.min(range(b).1)),
        Or(a, b) => (range(a).0.max(range(b).0), all.1),
        Add(a, b) => fits(both(range(a), range(b), u128::checked_add)),
        Mul(a, b) => fits(both(range(a), range(b), u128::checked_mul)),
        Sub(a, b) if range(a).0 >= range(b).1 => (range(a).0 - range(b).1, range(a).1 - range(b).0),
        UDiv(a, b) => match constant(b).filter(|n| *n > 0) {
            Some(n) => (range(a).0 / n, range(a).1 / n),
            None => (0, range(a).1),
        },
        URem(a, b) if range(b).0 > 0 => (0, range(a).1.min(range(b).1 - 1)),
        URem(a, _) => (0, range(a).1),
        LShr(a, b) => match constant(b).filter(|n| *n < u128::from(width)) {
            Some(n) => (range(a).0 >> n, range(a).1 >> n),
            None => (0, range(a).1),
        },
        Ite(_, a, b) => (range(a).0.min(range(b).0), range(a).1.max(range(b).1)),
        Zext(a) => range(a),
        Slice(a, 0) => fits(Some(range(a))),
        _ => all,
    }
}

/// The range of an operation that grows with both operands.
fn both(a: Range, b: Range, of: fn(u128, u128) -> Option<u128>) -> Option<Range> {
    Some((of(a.0, b.0)?, of(a.1, b.1)?))
}
