// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of terms.

use crate::op::{Op, Term, mask};
use crate::term::Terms;

/// Values of the variables, by number; those beyond its end are 0.
pub type Model = Vec<u128>;

/// The values of terms under one model after the other; each is computed once for each model.
#[derive(Debug, Default)]
pub struct Values {
    /// in which round a value was computed, by term
    known: Vec<(u32, u128)>,
    round: u32,
    open: Vec<Term>,
}

/// The number that these bits of this width are, as a signed one.
pub(crate) fn signed(value: u128, width: u8) -> i128 {
    let unused = 128 - u32::from(width);
    ((value << unused) as i128) >> unused
}

/// The value of an operation that gives `width` bits, on operands that have `from` bits; `of` gives theirs.
pub(crate) fn compute(op: Op, width: u8, from: u8, of: impl Fn(Term) -> u128) -> u128 {
    use Op::*;
    let int = |term: Term| signed(of(term), from);
    let count = |term: Term| u32::try_from(of(term)).unwrap_or(u32::MAX);
    let value = match op {
        Const(value) => value,
        Var(_) => 0,
        Not(a) => !of(a),
        And(a, b) => of(a) & of(b),
        Or(a, b) => of(a) | of(b),
        Xor(a, b) => of(a) ^ of(b),
        Add(a, b) => of(a).wrapping_add(of(b)),
        Sub(a, b) => of(a).wrapping_sub(of(b)),
        Mul(a, b) => of(a).wrapping_mul(of(b)),
        UDiv(a, b) => of(a).checked_div(of(b)).unwrap_or(0),
        URem(a, b) => of(a).checked_rem(of(b)).unwrap_or(of(a)),
        SDiv(_, b) if of(b) == 0 => 0,
        SDiv(a, b) => int(a).wrapping_div(int(b)) as u128,
        SRem(a, b) if of(b) == 0 => of(a),
        SRem(a, b) => int(a).wrapping_rem(int(b)) as u128,
        Shl(a, b) if count(b) < u32::from(width) => of(a) << count(b),
        LShr(a, b) if count(b) < u32::from(width) => of(a) >> count(b),
        Shl(..) | LShr(..) => 0,
        AShr(a, b) => (int(a) >> count(b).min(u32::from(width) - 1)) as u128,
        Eq(a, b) => u128::from(of(a) == of(b)),
        Ult(a, b) => u128::from(of(a) < of(b)),
        Slt(a, b) => u128::from(int(a) < int(b)),
        Ite(c, a, b) => of(if of(c) != 0 { a } else { b }),
        Slice(a, low) => of(a) >> low,
        Zext(a) => of(a),
        Sext(a) => int(a) as u128,
    };
    value & mask(width)
}

impl Terms {
    /// The width of an operation's first operand.
    pub(crate) fn width_of_operands(&self, op: Op) -> u8 {
        op.operands().next().map_or(1, |operand| self.width(operand))
    }
}

impl Values {
    /// Forgets all values: the next ones are of another model.
    pub fn restart(&mut self) {
        self.round += 1;
    }

    /// The value of a term under this model, which is the same one since the last [`Values::restart`].
    pub fn of(&mut self, terms: &Terms, term: Term, model: &[u128]) -> u128 {
        if self.known.len() < terms.len() {
            self.known.resize(terms.len(), (u32::MAX, 0));
        }
        self.open.push(term);
        while let Some(&next) = self.open.last() {
            let missing = self.open.len();
            if self.known[next.index()].0 != self.round {
                let open = terms.op(next).operands().filter(|o| self.known[o.index()].0 != self.round);
                self.open.extend(open);
                if self.open.len() > missing {
                    continue;
                }
                let value = self.compute(terms, next, model);
                self.known[next.index()] = (self.round, value);
            }
            self.open.pop();
        }
        self.known[term.index()].1
    }

    fn compute(&self, terms: &Terms, term: Term, model: &[u128]) -> u128 {
        let (op, width) = (terms.op(term), terms.width(term));
        match op {
            Op::Var(number) => model.get(number as usize).copied().unwrap_or(0) & mask(width),
            op => compute(op, width, terms.width_of_operands(op), |operand| self.known[operand.index()].1),
        }
    }
}
