// SPDX-License-Identifier: MIT OR Apache-2.0
//! Terms: each is held once, so that two equal terms are one number.

use rustc_hash::FxHashMap;

use crate::range::{self, Range};

/// A number of 1 to 128 bits, in the [`Terms`] that made it. A condition is a number of one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub(crate) u32);

impl Term {
    /// Its number: terms are numbered in the order in which they were made.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is. Operands have the term's width, but for comparisons, and where another rule is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// A number.
    Const(u128),
    /// A variable, by number.
    Var(u32),
    /// All bits, the other way round.
    Not(Term),
    /// Bitwise and.
    And(Term, Term),
    /// Bitwise or.
    Or(Term, Term),
    /// Bitwise exclusive or.
    Xor(Term, Term),
    /// Wrapping.
    Add(Term, Term),
    /// Wrapping.
    Sub(Term, Term),
    /// Wrapping.
    Mul(Term, Term),
    /// Unsigned; by 0: 0.
    UDiv(Term, Term),
    /// Unsigned; by 0: the left operand.
    URem(Term, Term),
    /// Signed, toward zero; by 0: 0.
    SDiv(Term, Term),
    /// Signed, with the sign of the left operand; by 0: the left operand.
    SRem(Term, Term),
    /// By as many bits as there are, or more: 0.
    Shl(Term, Term),
    /// By as many bits as there are, or more: 0.
    LShr(Term, Term),
    /// By as many bits as there are, or more: the sign.
    AShr(Term, Term),
    /// One bit.
    Eq(Term, Term),
    /// One bit; less, of unsigned numbers.
    Ult(Term, Term),
    /// One bit; less, of signed numbers.
    Slt(Term, Term),
    /// The second if the first, of one bit, is 1; else the third.
    Ite(Term, Term, Term),
    /// The bits from this one on.
    Extract(Term, u8),
    /// With zeros before it.
    Zext(Term),
    /// With copies of its sign before it.
    Sext(Term),
}

impl Op {
    /// The operands.
    pub fn operands(self) -> impl Iterator<Item = Term> {
        use Op::*;
        let (a, b, c) = match self {
            Const(_) | Var(_) => (None, None, None),
            Not(a) | Extract(a, _) | Zext(a) | Sext(a) => (Some(a), None, None),
            And(a, b)
            | Or(a, b)
            | Xor(a, b)
            | Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | UDiv(a, b)
            | URem(a, b)
            | SDiv(a, b)
            | SRem(a, b)
            | Shl(a, b)
            | LShr(a, b)
            | AShr(a, b)
            | Eq(a, b)
            | Ult(a, b)
            | Slt(a, b) => (Some(a), Some(b), None),
            Ite(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }
}

/// All terms of a problem.
#[derive(Debug, Default)]
pub struct Terms {
    ops: Vec<(Op, u8)>,
    ranges: Vec<Range>,
    known: FxHashMap<(Op, u8), Term>,
    /// names and widths of the variables
    variables: Vec<(String, Term)>,
}

/// The bits of a number of this width.
pub(crate) fn mask(width: u8) -> u128 {
    u128::MAX >> (128 - u32::from(width))
}

impl Terms {
    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// What a term is.
    pub fn op(&self, term: Term) -> Op {
        self.ops[term.index()].0
    }

    /// How many bits a term has.
    pub fn width(&self, term: Term) -> u8 {
        self.ops[term.index()].1
    }

    /// The number that a term is, if it is one.
    pub fn as_constant(&self, term: Term) -> Option<u128> {
        if let Op::Const(value) = self.op(term) { Some(value) } else { None }
    }

    /// The least and the greatest unsigned value that it can have, as far as its operations show.
    pub(crate) fn range(&self, term: Term) -> Range {
        self.ranges[term.index()]
    }

    /// How many low bits of it can be other than 0.
    pub(crate) fn significant(&self, term: Term) -> usize {
        128 - self.range(term).1.leading_zeros() as usize
    }

    /// A number, cut to the width.
    pub fn constant(&mut self, value: u128, width: u8) -> Term {
        self.intern(Op::Const(value & mask(width)), width)
    }

    /// A condition that always holds, or never.
    pub fn truth(&mut self, value: bool) -> Term {
        self.constant(value.into(), 1)
    }

    /// A new variable.
    pub fn var(&mut self, name: impl Into<String>, width: u8) -> Term {
        let number = self.variables.len() as u32;
        let term = self.intern(Op::Var(number), width);
        self.variables.push((name.into(), term));
        term
    }

    /// The variables, by number: their names and terms.
    pub fn variables(&self) -> &[(String, Term)] {
        &self.variables
    }

    /// The term of this operation, which no rule makes simpler.
    pub(crate) fn intern(&mut self, op: Op, width: u8) -> Term {
        if let Some(known) = self.known.get(&(op, width)) {
            return *known;
        }
        let term = Term(self.ops.len() as u32);
        self.ranges.push(range::of(self, op, width));
        self.ops.push((op, width));
        self.known.insert((op, width), term);
        term
    }
}
