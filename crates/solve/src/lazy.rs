// SPDX-License-Identifier: MIT OR Apache-2.0
//! Circuits of products and quotients that are made only when a model needs them.
//!
//! Such a circuit of 64 bits has thousands of gates, and most conditions do not depend on its exact value. So a product is first any
//! number of which a few facts hold. If a solution gives it a wrong value, its circuit is added, and the search goes on.

use crate::blast::Blast;
use crate::gates::Bits;
use crate::op::{Op, Term};
use crate::sat::Lit;
use crate::term::Terms;
use crate::value::compute;

/// Circuits of fewer bits are cheap.
const WIDE: u8 = 32;

impl Blast {
    /// Bits of which only a few facts about the operation hold; `None`: it gets its circuit at once.
    pub(crate) fn abstraction(&mut self, terms: &Terms, term: Term) -> Option<Bits> {
        let op = terms.op(term);
        let (a, b) = match op {
            Op::UDiv(a, b) | Op::URem(a, b) | Op::SDiv(a, b) | Op::SRem(a, b) => (a, b),
            Op::Mul(a, b) if terms.as_constant(b).is_none() => (a, b),
            _ => return None,
        };
        if terms.width(term) < WIDE {
            return None;
        }
        let (a, b) = (self.of(terms, a), self.of(terms, b));
        let bits: Bits = a.iter().map(|_| self.gates.variable()).collect();
        match op {
            Op::Mul(..) => self.facts_of_product(&a, &b, &bits),
            _ => self.facts_of_quotient(op, &a, &b, &bits),
        }
        self.lazy.insert(term, false);
        Some(bits)
    }

    /// Zero and one as factors.
    fn facts_of_product(&mut self, a: &[Lit], b: &[Lit], product: &[Lit]) {
        let gates = &mut self.gates;
        let (zero, one) = (gates.number(0, a.len()), gates.number(1, a.len()));
        let nothing = gates.equal(product, &zero);
        for (factor, other) in [(a, b), (b, a)] {
            let is_zero = gates.equal(factor, &zero);
            let is_one = gates.equal(factor, &one);
            let same = gates.equal(product, other);
            gates.sat.clause(&[!is_zero, nothing]);
            gates.sat.clause(&[!is_one, same]);
        }
    }

    /// By zero; and of numbers that are not negative, how great it can be.
    fn facts_of_quotient(&mut self, op: Op, a: &[Lit], b: &[Lit], result: &[Lit]) {
        let gates = &mut self.gates;
        let last = a.len() - 1;
        let zero = gates.number(0, a.len());
        let is_rest = matches!(op, Op::URem(..) | Op::SRem(..));
        // One of these, or the fact does not count.
        let negative = match op {
            Op::SDiv(..) | Op::SRem(..) => vec![a[last], b[last]],
            _ => Vec::new(),
        };
        let by_zero = gates.equal(b, &zero);
        let then = if is_rest { gates.equal(result, a) } else { gates.equal(result, &zero) };
        gates.sat.clause(&[!by_zero, then]);
        let above = gates.less(a, result);
        let clause = |gates: &mut crate::gates::Gates, more: &[Lit]| {
            gates.sat.clause(&[negative.clone(), more.to_vec()].concat());
        };
        clause(gates, &[!above]);
        let smaller = gates.less(a, b);
        if is_rest {
            let below = gates.less(result, b);
            let unchanged = gates.equal(result, a);
            clause(gates, &[by_zero, below]);
            clause(gates, &[!smaller, unchanged]);
        } else {
            let nothing = gates.equal(result, &zero);
            clause(gates, &[!smaller, nothing]);
            // a / b with b <= a is at least 1
            clause(gates, &[by_zero, smaller, !nothing]);
        }
    }

    /// After a solution: the lazy terms below the given ones whose values are wrong.
    pub(crate) fn wrong(&self, terms: &Terms, of: &[Term]) -> Vec<Term> {
        if self.lazy.values().all(|exact| *exact) {
            return Vec::new();
        }
        let below = self.below(terms, of).into_iter();
        below.filter(|term| self.lazy.get(term) == Some(&false) && self.is_wrong(terms, *term)).collect()
    }

    /// Adds the circuits of these terms.
    pub(crate) fn make_exact(&mut self, terms: &Terms, wrong: &[Term]) {
        for &term in wrong {
            let (loose, exact) = (self.of(terms, term), self.exact(terms, term));
            for (a, b) in loose.into_iter().zip(exact) {
                self.gates.sat.clause(&[!a, b]);
                self.gates.sat.clause(&[a, !b]);
            }
            self.lazy.insert(term, true);
        }
    }

    /// Adds what these terms are for the values that their operands have now: often, that is enough.
    pub(crate) fn learn_values(&mut self, terms: &Terms, wrong: &[Term]) {
        let facts: Vec<_> = wrong.iter().map(|term| self.fact(terms, *term)).collect();
        for (operands, (term, value)) in facts {
            let mut clause: Vec<Lit> =
                operands.into_iter().map(|(operand, value)| !self.is(terms, operand, value)).collect();
            clause.push(self.is(terms, term, value));
            self.gates.sat.clause(&clause);
        }
    }

    /// The values of a term's operands, and the one that it has therefore.
    fn fact(&self, terms: &Terms, term: Term) -> (Vec<(Term, u128)>, (Term, u128)) {
        let (op, width) = (terms.op(term), terms.width(term));
        let operands = op.operands().map(|operand| (operand, self.value(terms, operand))).collect();
        (operands, (term, compute(op, width, width, |operand| self.value(terms, operand))))
    }

    fn is(&mut self, terms: &Terms, term: Term, value: u128) -> Lit {
        let bits = self.of(terms, term);
        let number = self.gates.number(value, bits.len());
        self.gates.equal(&bits, &number)
    }

    fn is_wrong(&self, terms: &Terms, term: Term) -> bool {
        let (op, width) = (terms.op(term), terms.width(term));
        compute(op, width, width, |operand| self.value(terms, operand)) != self.value(terms, term)
    }

    /// These terms and all in them.
    fn below(&self, terms: &Terms, of: &[Term]) -> Vec<Term> {
        let mut seen = vec![false; terms.len()];
        let mut open = of.to_vec();
        let mut found = Vec::new();
        while let Some(term) = open.pop() {
            if !std::mem::replace(&mut seen[term.index()], true) {
                found.push(term);
                open.extend(terms.op(term).operands());
            }
        }
        found
    }
}
