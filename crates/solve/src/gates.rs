// SPDX-License-Identifier: MIT OR Apache-2.0
//! Circuits of gates, as clauses. Equal gates are one.

use rustc_hash::FxHashMap;

use crate::sat::{Lit, Sat};

/// Bits of a number, the least significant first.
pub(crate) type Bits = Vec<Lit>;

#[derive(Debug)]
pub(crate) struct Gates {
    pub sat: Box<dyn Sat>,
    one: Lit,
    known: FxHashMap<(bool, Lit, Lit), Lit>,
    adders: FxHashMap<[Lit; 3], (Lit, Lit)>,
    /// how many variables the solver has
    pub variables: usize,
}

impl Gates {
    pub(crate) fn new(mut sat: Box<dyn Sat>) -> Gates {
        let one = sat.variable();
        sat.clause(&[one]);
        Gates { sat, one, known: FxHashMap::default(), adders: FxHashMap::default(), variables: 1 }
    }

    pub(crate) fn bit(&self, value: bool) -> Lit {
        if value { self.one } else { !self.one }
    }

    pub(crate) fn number(&self, value: u128, width: usize) -> Bits {
        (0..width).map(|i| self.bit(i < 128 && value >> i & 1 == 1)).collect()
    }

    pub(crate) fn variable(&mut self) -> Lit {
        self.variables += 1;
        self.sat.variable()
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let one = self.one;
        if a == !one || b == !one || a == !b {
            return !one;
        }
        if a == one || a == b {
            return b;
        }
        if b == one {
            return a;
        }
        let key = (false, a.min(b), a.max(b));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let gate = self.variable();
        self.sat.clause(&[!gate, a]);
        self.sat.clause(&[!gate, b]);
        self.sat.clause(&[gate, !a, !b]);
        self.known.insert(key, gate);
        gate
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let one = self.one;
        if a.variable() == one {
            return if a == one { !b } else { b };
        }
        if b.variable() == one {
            return if b == one { !a } else { a };
        }
        if a.variable() == b.variable() {
            return self.bit(a != b);
        }
        let negated = a.is_negated() != b.is_negated();
        let (a, b) = (a.variable(), b.variable());
        let key = (true, a.min(b), a.max(b));
        let gate = match self.known.get(&key) {
            Some(known) => *known,
            None => {
                let gate = self.variable();
                self.sat.clause(&[!gate, a, b]);
                self.sat.clause(&[!gate, !a, !b]);
                self.sat.clause(&[gate, !a, b]);
                self.sat.clause(&[gate, a, !b]);
                self.known.insert(key, gate);
                gate
            }
        };
        if negated { !gate } else { gate }
    }

    /// `a` if the condition holds, else `b`.
    pub(crate) fn choose(&mut self, cond: Lit, a: Lit, b: Lit) -> Lit {
        let one = self.one;
        if cond == one || a == b {
            return a;
        }
        if cond == !one {
            return b;
        }
        if a == !b {
            return !self.xor(cond, a);
        }
        match (a.variable() == one, b.variable() == one) {
            (true, _) if a == one => self.or(cond, b),
            (true, _) => self.and(!cond, b),
            (_, true) if b == one => self.or(!cond, a),
            (_, true) => self.and(cond, a),
            _ => self.new_choice(cond, a, b),
        }
    }

    fn new_choice(&mut self, cond: Lit, a: Lit, b: Lit) -> Lit {
        let gate = self.variable();
        self.sat.clause(&[!cond, !a, gate]);
        self.sat.clause(&[!cond, a, !gate]);
        self.sat.clause(&[cond, !b, gate]);
        self.sat.clause(&[cond, b, !gate]);
        // Redundant; they propagate more.
        self.sat.clause(&[!a, !b, gate]);
        self.sat.clause(&[a, b, !gate]);
        gate
    }

    pub(crate) fn choose_bits(&mut self, cond: Lit, a: &[Lit], b: &[Lit]) -> Bits {
        a.iter().zip(b).map(|(a, b)| self.choose(cond, *a, *b)).collect()
    }

    pub(crate) fn each(&mut self, of: fn(&mut Gates, Lit, Lit) -> Lit, a: &[Lit], b: &[Lit]) -> Bits {
        a.iter().zip(b).map(|(a, b)| of(self, *a, *b)).collect()
    }

    pub(crate) fn not(a: &[Lit]) -> Bits {
        a.iter().map(|bit| !*bit).collect()
    }

    /// The sum, and what is carried out of it.
    pub(crate) fn add(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Bits, Lit) {
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let (bit, next) = self.full_adder(a, b, carry);
            sum.push(bit);
            carry = next;
        }
        (sum, carry)
    }

    fn full_adder(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let same = |x: Lit, y: Lit| x.variable() == y.variable();
        let simple = [a, b, c].iter().any(|x| same(*x, self.one)) || same(a, b) || same(a, c) || same(b, c);
        if simple {
            let half = self.xor(a, b);
            let sum = self.xor(half, c);
            let (both, through) = (self.and(a, b), self.and(half, c));
            return (sum, self.or(both, through));
        }
        let key = {
            let mut key = [a, b, c];
            key.sort_unstable();
            key
        };
        if let Some(known) = self.adders.get(&key) {
            return *known;
        }
        let (sum, carry) = (self.variable(), self.variable());
        let [a, b, c] = key;
        for (x, y, z, even) in [
            (a, b, c, false),
            (a, b, !c, true),
            (a, !b, c, true),
            (a, !b, !c, false),
            (!a, b, c, true),
            (!a, b, !c, false),
            (!a, !b, c, false),
            (!a, !b, !c, true),
        ] {
            // Three literals of which an even number are the other way round than in the sum.
            self.sat.clause(&[x, y, z, if even { sum } else { !sum }]);
        }
        for (x, y) in [(a, b), (a, c), (b, c)] {
            self.sat.clause(&[!x, !y, carry]);
            self.sat.clause(&[x, y, !carry]);
        }
        self.adders.insert(key, (sum, carry));
        (sum, carry)
    }

    pub(crate) fn negative(&mut self, a: &[Lit]) -> Bits {
        let zero = self.number(0, a.len());
        self.add(&zero, &Gates::not(a), self.one).0
    }

    pub(crate) fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut equal = self.one;
        for (a, b) in a.iter().zip(b) {
            let differ = self.xor(*a, *b);
            equal = self.and(equal, !differ);
        }
        equal
    }

    /// Whether the left one of two unsigned numbers is less.
    pub(crate) fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut less = !self.one;
        for (a, b) in a.iter().zip(b) {
            let differ = self.xor(*a, *b);
            less = self.choose(differ, *b, less);
        }
        less
    }

    pub(crate) fn product(&mut self, a: &[Lit], b: &[Lit]) -> Bits {
        let width = a.len();
        let mut sum = self.number(0, width);
        let zero = self.bit(false);
        for (shift, bit) in b.iter().enumerate().filter(|(_, bit)| **bit != zero) {
            let mut row = self.number(0, shift);
            row.extend(a[..width - shift].iter().map(|a| self.and(*a, *bit)));
            sum = self.add(&sum, &row, !self.one).0;
        }
        sum
    }

    /// Quotient and remainder of unsigned numbers, by what is not 0. Of the operands only so many low bits are not 0.
    pub(crate) fn divide(&mut self, a: &[Lit], b: &[Lit], bits_a: usize, bits_b: usize) -> (Bits, Bits) {
        let (zero, width) = (self.bit(false), a.len());
        // The rest is always less than the divisor, and not longer than the dividend.
        let mut rest = self.number(0, bits_a.min(bits_b) + 1);
        let mut quotient = self.number(0, width);
        let mut divisor = b[..bits_b].to_vec();
        divisor.resize(rest.len().max(bits_b), zero);
        let (low, high) = divisor.split_at(rest.len());
        let too_great = high.iter().fold(zero, |any, bit| self.or(any, *bit));
        let less = Gates::not(low);
        for i in (0..bits_a).rev() {
            rest.pop();
            rest.insert(0, a[i]);
            let (difference, fits) = self.add(&rest, &less, self.one);
            let fits = self.and(fits, !too_great);
            quotient[i] = fits;
            rest = self.choose_bits(fits, &difference, &rest);
        }
        rest.resize(width, zero);
        (quotient, rest)
    }

    /// Shifted by a number of bits; `fill` comes in.
    pub(crate) fn shift(&mut self, a: &[Lit], count: &[Lit], fill: Lit, left: bool) -> Bits {
        let width = a.len();
        let mut bits = a.to_vec();
        let mut beyond = self.bit(false);
        for (power, bit) in count.iter().enumerate() {
            let by = 1_usize.checked_shl(power as u32).filter(|by| *by < width);
            let Some(by) = by else {
                beyond = self.or(beyond, *bit);
                continue;
            };
            let moved: Bits = (0..width)
                .map(|i| match left {
                    true => i.checked_sub(by).map_or(fill, |from| bits[from]),
                    false => bits.get(i + by).copied().unwrap_or(fill),
                })
                .collect();
            bits = self.choose_bits(*bit, &moved, &bits);
        }
        let filled = vec![fill; width];
        self.choose_bits(beyond, &filled, &bits)
    }
}
