// SPDX-License-Identifier: MIT OR Apache-2.0
//! Terms as circuits.

use rustc_hash::FxHashMap;

use crate::gates::{Bits, Gates};
use crate::op::{Op, Term};
use crate::sat::Lit;
use crate::term::Terms;

/// What a term's first bit is, in the list of all; none yet.
const NONE: u32 = u32::MAX;

/// The circuits of terms, each made once, when it is needed.
#[derive(Debug)]
pub(crate) struct Blast {
    pub gates: Gates,
    /// the first bit of each term
    first: Vec<u32>,
    bits: Vec<Lit>,
    /// terms whose circuits say less than the operation: whether they have the exact one too
    pub lazy: FxHashMap<Term, bool>,
    open: Vec<Term>,
}

impl Blast {
    pub(crate) fn new(gates: Gates) -> Blast {
        Blast { gates, first: Vec::new(), bits: Vec::new(), lazy: FxHashMap::default(), open: Vec::new() }
    }

    /// The bits of a term, made if they are not there.
    pub(crate) fn bits(&mut self, terms: &Terms, term: Term) -> &[Lit] {
        self.first.resize(terms.len(), NONE);
        self.open.push(term);
        while let Some(&next) = self.open.last() {
            if !self.is_known(next) {
                let before = self.open.len();
                let (first, open) = (&self.first, &mut self.open);
                open.extend(terms.op(next).operands().filter(|operand| first[operand.index()] == NONE));
                if self.open.len() > before {
                    continue;
                }
                let bits = self.lazy_or_exact(terms, next);
                self.first[next.index()] = self.bits.len() as u32;
                self.bits.extend(bits);
            }
            self.open.pop();
        }
        self.known(terms, term)
    }

    fn is_known(&self, term: Term) -> bool {
        self.first.get(term.index()).is_some_and(|first| *first != NONE)
    }

    /// The bits of a term that are there; none if they are not.
    pub(crate) fn known(&self, terms: &Terms, term: Term) -> &[Lit] {
        if !self.is_known(term) {
            return &[];
        }
        &self.bits[self.first[term.index()] as usize..][..terms.width(term).into()]
    }

    /// After a solution: the value of a term; 0 if it has no bits.
    pub(crate) fn value(&self, terms: &Terms, term: Term) -> u128 {
        let bits = self.known(terms, term).iter().rev();
        bits.fold(0, |value, bit| value << 1 | u128::from(self.gates.sat.value(*bit)))
    }

    fn lazy_or_exact(&mut self, terms: &Terms, term: Term) -> Bits {
        match self.abstraction(terms, term) {
            Some(bits) => bits,
            None => self.exact(terms, term),
        }
    }

    /// The circuit of a term, whose operands have theirs.
    pub(crate) fn exact(&mut self, terms: &Terms, term: Term) -> Bits {
        use Op::*;
        let width = usize::from(terms.width(term));
        let op = terms.op(term);
        if let Ite(cond, a, b) = op {
            let (cond, a, b) = (self.of(terms, cond)[0], self.of(terms, a), self.of(terms, b));
            return self.gates.choose_bits(cond, &a, &b);
        }
        let mut operands = op.operands();
        let a = operands.next().map(|a| self.of(terms, a)).unwrap_or_default();
        let b = operands.next().map(|b| self.of(terms, b)).unwrap_or_default();
        let gates = &mut self.gates;
        let (zero, one) = (gates.bit(false), gates.bit(true));
        match op {
            Const(value) => gates.number(value, width),
            Var(_) => (0..width).map(|_| gates.variable()).collect(),
            Not(_) => Gates::not(&a),
            And(..) => gates.each(Gates::and, &a, &b),
            Or(..) => gates.each(Gates::or, &a, &b),
            Xor(..) => gates.each(Gates::xor, &a, &b),
            Add(..) => gates.add(&a, &b, zero).0,
            Sub(..) => gates.add(&a, &Gates::not(&b), one).0,
            Mul(..) => gates.product(&a, &b),
            UDiv(x, y) | URem(x, y) if terms.as_constant(y).is_some() => {
                self.quotient_by_number(op, &a, &b, (terms.significant(x), terms.significant(y)))
            }
            UDiv(x, y) | URem(x, y) | SDiv(x, y) | SRem(x, y) => {
                let bits = (terms.significant(x), terms.significant(y));
                self.quotient(op, &a, &b, bits)
            }
            Shl(..) => gates.shift(&a, &b, zero, true),
            LShr(..) => gates.shift(&a, &b, zero, false),
            AShr(..) => gates.shift(&a, &b, a[width - 1], false),
            Eq(..) => vec![gates.equal(&a, &b)],
            Ult(..) => vec![gates.less(&a, &b)],
            Slt(..) => {
                // Their signs the other way round, they are ordered as unsigned numbers are.
                let flip = |mut bits: Bits| {
                    if let Some(sign) = bits.last_mut() {
                        *sign = !*sign;
                    }
                    bits
                };
                vec![gates.less(&flip(a), &flip(b))]
            }
            Slice(_, low) => a[usize::from(low)..][..width].to_vec(),
            Zext(_) => [a, vec![zero; width]].concat()[..width].to_vec(),
            Sext(_) => {
                let sign = a[a.len() - 1];
                [a, vec![sign; width]].concat()[..width].to_vec()
            }
            Ite(..) => Vec::new(),
        }
    }

    pub(crate) fn of(&self, terms: &Terms, term: Term) -> Bits {
        self.known(terms, term).to_vec()
    }

    /// Quotient or remainder by a number: the only two whose product and sum are the dividend.
    fn quotient_by_number(&mut self, op: Op, a: &[Lit], b: &[Lit], (bits_a, bits_b): (usize, usize)) -> Bits {
        let gates = &mut self.gates;
        let (width, zero) = (a.len(), gates.bit(false));
        if bits_b == 0 {
            return if matches!(op, Op::UDiv(..)) { gates.number(0, width) } else { a.to_vec() };
        }
        // One bit more than the dividend has: nothing is lost.
        let wide = bits_a.max(bits_b) + 1;
        let unknown = |gates: &mut Gates, bits: usize| {
            let mut bits: Bits = (0..bits).map(|_| gates.variable()).collect();
            bits.resize(wide, zero);
            bits
        };
        let quotient = unknown(gates, (bits_a + 1).saturating_sub(bits_b));
        let rest = unknown(gates, bits_b);
        let fit = |bits: &[Lit]| [bits, &vec![zero; wide]].concat()[..wide].to_vec();
        let (a, b) = (fit(a), fit(b));
        let product = gates.product(&quotient, &b);
        let (sum, _) = gates.add(&product, &rest, zero);
        let (whole, below) = (gates.equal(&sum, &a), gates.less(&rest, &b));
        gates.sat.clause(&[whole]);
        gates.sat.clause(&[below]);
        let result = if matches!(op, Op::UDiv(..)) { quotient } else { rest };
        [result, vec![zero; width]].concat()[..width].to_vec()
    }

    /// Quotient or remainder, by 0 too.
    fn quotient(&mut self, op: Op, a: &[Lit], b: &[Lit], (bits_a, bits_b): (usize, usize)) -> Bits {
        let gates = &mut self.gates;
        let zero = gates.number(0, a.len());
        let by_zero = gates.equal(b, &zero);
        let is_signed = matches!(op, Op::SDiv(..) | Op::SRem(..));
        let (sign_a, sign_b) = match is_signed {
            true => (a[a.len() - 1], b[b.len() - 1]),
            false => (gates.bit(false), gates.bit(false)),
        };
        let absolute = |gates: &mut Gates, of: &[Lit], sign: Lit| {
            let negative = if is_signed { gates.negative(of) } else { of.to_vec() };
            gates.choose_bits(sign, &negative, of)
        };
        let (abs_a, abs_b) = (absolute(gates, a, sign_a), absolute(gates, b, sign_b));
        let (bits_a, bits_b) = if is_signed { (a.len(), a.len()) } else { (bits_a, bits_b) };
        let (quotient, rest) = gates.divide(&abs_a, &abs_b, bits_a, bits_b);
        match op {
            Op::UDiv(..) | Op::SDiv(..) => {
                let sign = gates.xor(sign_a, sign_b);
                let value = absolute(gates, &quotient, sign);
                gates.choose_bits(by_zero, &zero, &value)
            }
            _ => {
                let value = absolute(gates, &rest, sign_a);
                gates.choose_bits(by_zero, a, &value)
            }
        }
    }
}
