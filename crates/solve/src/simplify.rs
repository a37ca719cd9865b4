// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making terms. Each operation is simplified by its operands, which are simple already.

use crate::op::{Op, Term, mask};
use crate::term::Terms;
use crate::value::compute;
use Op::*;

impl Terms {
    /// All bits, the other way round.
    pub fn not(&mut self, a: Term) -> Term {
        match self.op(a) {
            Not(inner) => inner,
            _ => self.make(Not(a), self.width(a)),
        }
    }

    /// Bitwise and; of conditions, both.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = self.constant_last(a, b);
        match self.as_constant(b) {
            Some(0) => return b,
            Some(ones) if ones == mask(width) => return a,
            _ => {}
        }
        if a == b {
            return a;
        }
        if self.are_opposite(a, b) {
            return self.constant(0, width);
        }
        self.make(And(a, b), width)
    }

    /// Bitwise or; of conditions, one of the two.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = self.constant_last(a, b);
        match self.as_constant(b) {
            Some(0) => return a,
            Some(ones) if ones == mask(width) => return b,
            _ => {}
        }
        if a == b {
            return a;
        }
        if self.are_opposite(a, b) {
            return self.constant(u128::MAX, width);
        }
        self.make(Or(a, b), width)
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = self.constant_last(a, b);
        match self.as_constant(b) {
            Some(0) => a,
            Some(ones) if ones == mask(width) => self.not(a),
            _ if a == b => self.constant(0, width),
            _ => self.make(Xor(a, b), width),
        }
    }

    /// The sum; it wraps.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = self.constant_last(a, b);
        if let Some(more) = self.as_constant(b) {
            if more == 0 {
                return a;
            }
            if let Add(x, y) = self.op(a)
                && let Some(less) = self.as_constant(y)
            {
                let sum = self.constant(less.wrapping_add(more), width);
                return self.add(x, sum);
            }
        }
        match (self.op(a), self.op(b)) {
            (Sub(x, y), _) if y == b => x,
            (_, Sub(x, y)) if y == a => x,
            _ => self.make(Add(a, b), width),
        }
    }

    /// The difference; it wraps.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.constant(0, width);
        }
        if let Some(less) = self.as_constant(b) {
            let more = self.constant(less.wrapping_neg(), width);
            return self.add(a, more);
        }
        match (self.op(a), self.op(b)) {
            (Add(x, y), _) if x == b => y,
            (Add(x, y), _) if y == b => x,
            // (x + 1) - (z + 2), of the same x
            (Add(x, y), Add(z, w)) if x == z => self.sub(y, w),
            (_, Add(x, y)) if x == a => {
                let zero = self.constant(0, width);
                self.sub(zero, y)
            }
            _ => self.make(Sub(a, b), width),
        }
    }

    /// The product; it wraps.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = self.constant_last(a, b);
        match self.as_constant(b) {
            Some(0) => b,
            Some(1) => a,
            Some(n) if n.is_power_of_two() => {
                let count = self.constant(n.trailing_zeros().into(), width);
                self.shl(a, count)
            }
            _ => self.make(Mul(a, b), width),
        }
    }

    /// The quotient of unsigned numbers; by 0: 0.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        match self.as_constant(b) {
            Some(0) => b,
            Some(1) => a,
            Some(n) if n.is_power_of_two() => {
                let count = self.constant(n.trailing_zeros().into(), width);
                self.lshr(a, count)
            }
            _ => self.make(UDiv(a, b), width),
        }
    }

    /// The remainder of unsigned numbers; by 0: the left operand.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        match self.as_constant(b) {
            Some(0) => a,
            Some(n) if n.is_power_of_two() => {
                let bits = self.constant(n - 1, width);
                self.and(a, bits)
            }
            _ if self.range(a).1 < self.range(b).0 => a,
            _ => self.make(URem(a, b), width),
        }
    }

    /// The quotient of signed numbers, toward zero; by 0: 0.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if self.is_not_negative(a) && self.is_not_negative(b) {
            return self.udiv(a, b);
        }
        self.make(SDiv(a, b), width)
    }

    /// The remainder of signed numbers; by 0: the left operand.
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if self.is_not_negative(a) && self.is_not_negative(b) {
            return self.urem(a, b);
        }
        self.make(SRem(a, b), width)
    }

    /// Shifted to the left.
    pub fn shl(&mut self, a: Term, count: Term) -> Term {
        self.shift(Shl(a, count), a, count)
    }

    /// Shifted to the right, with zeros.
    pub fn lshr(&mut self, a: Term, count: Term) -> Term {
        self.shift(LShr(a, count), a, count)
    }

    /// Shifted to the right, with copies of the sign.
    pub fn ashr(&mut self, a: Term, count: Term) -> Term {
        self.shift(AShr(a, count), a, count)
    }

    fn shift(&mut self, op: Op, a: Term, count: Term) -> Term {
        if self.as_constant(count) == Some(0) || self.as_constant(a) == Some(0) {
            return a;
        }
        self.make(op, self.width(a))
    }

    /// Whether both are equal.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = self.constant_last(a, b);
        let (x, y) = (self.range(a), self.range(b));
        if a == b {
            return self.truth(true);
        }
        if x.1 < y.0 || y.1 < x.0 {
            return self.truth(false);
        }
        let Some(value) = self.as_constant(b) else { return self.make(Eq(a, b), 1) };
        match self.op(a) {
            _ if self.width(a) == 1 => {
                if value == 1 {
                    a
                } else {
                    self.not(a)
                }
            }
            Zext(inner) => {
                let value = self.constant(value, self.width(inner));
                self.equal(inner, value)
            }
            Sub(x, y) if value == 0 => self.equal(x, y),
            Add(x, y) if self.as_constant(y).is_some() => {
                let value = self.sub(b, y);
                self.equal(x, value)
            }
            Ite(cond, x, y) if self.as_constant(x).is_some() || self.as_constant(y).is_some() => {
                let (x, y) = (self.equal(x, b), self.equal(y, b));
                self.ite(cond, x, y)
            }
            _ => self.make(Eq(a, b), 1),
        }
    }

    /// Whether the left one of two unsigned numbers is less.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        let (x, y) = (self.range(a), self.range(b));
        if a == b || x.0 >= y.1 {
            return self.truth(false);
        }
        if x.1 < y.0 {
            return self.truth(true);
        }
        if y == (1, 1) {
            let zero = self.constant(0, self.width(a));
            return self.equal(a, zero);
        }
        if x == (0, 0) {
            let equal = self.equal(b, a);
            return self.not(equal);
        }
        // The constant fits, as the ranges meet.
        match (self.op(a), self.op(b)) {
            (Zext(p), Zext(q)) if self.width(p) == self.width(q) => self.ult(p, q),
            (Zext(p), Const(value)) => {
                let value = self.constant(value, self.width(p));
                self.ult(p, value)
            }
            (Const(value), Zext(q)) => {
                let value = self.constant(value, self.width(q));
                self.ult(value, q)
            }
            _ => self.make(Ult(a, b), 1),
        }
    }

    /// Whether the left one of two signed numbers is less.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.truth(false);
        }
        if self.is_not_negative(a) && self.is_not_negative(b) {
            return self.ult(a, b);
        }
        self.make(Slt(a, b), 1)
    }

    /// `a` if the condition holds, else `b`.
    pub fn ite(&mut self, cond: Term, a: Term, b: Term) -> Term {
        if let Some(value) = self.as_constant(cond) {
            return if value == 1 { a } else { b };
        }
        if a == b {
            return a;
        }
        if let Not(opposite) = self.op(cond) {
            return self.ite(opposite, b, a);
        }
        let width = self.width(a);
        if width > 1 {
            return self.make(Ite(cond, a, b), width);
        }
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(1), _) => self.or(cond, b),
            (Some(_), _) => {
                let opposite = self.not(cond);
                self.and(opposite, b)
            }
            (_, Some(0)) => self.and(cond, a),
            (_, Some(_)) => {
                let opposite = self.not(cond);
                self.or(opposite, a)
            }
            _ => self.make(Ite(cond, a, b), 1),
        }
    }

    /// `width` bits of a term, from the bit `low` on.
    pub fn extract(&mut self, a: Term, low: u8, width: u8) -> Term {
        if low == 0 && width == self.width(a) {
            return a;
        }
        match self.op(a) {
            Zext(x) | Sext(x) if low == 0 && self.width(x) >= width => self.extract(x, 0, width),
            Zext(x) if low == 0 => self.zext(x, width),
            Sext(x) if low == 0 => self.sext(x, width),
            // The low bits depend on the low bits alone.
            Add(x, y) if low == 0 => {
                let (x, y) = (self.extract(x, 0, width), self.extract(y, 0, width));
                self.add(x, y)
            }
            Sub(x, y) if low == 0 => {
                let (x, y) = (self.extract(x, 0, width), self.extract(y, 0, width));
                self.sub(x, y)
            }
            Ite(cond, x, y) if self.as_constant(x).is_some() || self.as_constant(y).is_some() => {
                let (x, y) = (self.extract(x, low, width), self.extract(y, low, width));
                self.ite(cond, x, y)
            }
            Slice(x, from) => self.extract(x, low + from, width),
            _ => self.make(Slice(a, low), width),
        }
    }

    /// With zeros before it, up to this width.
    pub fn zext(&mut self, a: Term, width: u8) -> Term {
        match self.op(a) {
            _ if self.width(a) == width => a,
            Zext(inner) => self.zext(inner, width),
            _ => self.make(Zext(a), width),
        }
    }

    /// With copies of its sign before it, up to this width.
    pub fn sext(&mut self, a: Term, width: u8) -> Term {
        if self.width(a) == width {
            return a;
        }
        if self.is_not_negative(a) {
            return self.zext(a, width);
        }
        self.make(Sext(a), width)
    }

    /// Cut to the width, or extended to it.
    pub fn resize(&mut self, a: Term, width: u8, signed: bool) -> Term {
        match self.width(a) {
            now if now >= width => self.extract(a, 0, width),
            _ if signed => self.sext(a, width),
            _ => self.zext(a, width),
        }
    }

    fn is_not_negative(&self, a: Term) -> bool {
        self.range(a).1 <= mask(self.width(a)) >> 1
    }

    fn are_opposite(&self, a: Term, b: Term) -> bool {
        matches!(self.op(a), Not(x) if x == b) || matches!(self.op(b), Not(x) if x == a)
    }

    /// The operands of an operation whose order does not matter, in the order in which terms have them.
    fn constant_last(&self, a: Term, b: Term) -> (Term, Term) {
        let key = |term: Term| (self.as_constant(term).is_some(), term);
        if key(a) <= key(b) { (a, b) } else { (b, a) }
    }

    /// The operation as a term; of constants, their value.
    fn make(&mut self, op: Op, width: u8) -> Term {
        if op.operands().all(|operand| self.as_constant(operand).is_some()) {
            let from = self.width_of_operands(op);
            let value = compute(op, width, from, |operand| self.as_constant(operand).unwrap_or_default());
            return self.constant(value, width);
        }
        self.intern(op, width)
    }
}
