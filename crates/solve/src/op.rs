// SPDX-License-Identifier: MIT OR Apache-2.0
//! What terms are made of.

/// A number of 1 to 128 bits, in the [`Terms`](crate::Terms) that made it. A condition is a number of one bit.
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
    Slice(Term, u8),
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
            Not(a) | Slice(a, _) | Zext(a) | Sext(a) => (Some(a), None, None),
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

/// The bits of a number of this width.
pub(crate) fn mask(width: u8) -> u128 {
    u128::MAX >> (128 - u32::from(width))
}
