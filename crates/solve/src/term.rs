// SPDX-License-Identifier: MIT OR Apache-2.0
//! Terms: each is held once, so that two equal terms are one number.

use rustc_hash::FxHashMap;

use crate::op::{Op, Term, mask};
use crate::range::{self, Range};

/// All terms of a problem.
#[derive(Debug, Default)]
pub struct Terms {
    ops: Vec<(Op, u8)>,
    ranges: Vec<Range>,
    known: FxHashMap<(Op, u8), Term>,
    /// names and widths of the variables
    variables: Vec<(String, Term)>,
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
        self.ranges.push(range::of(op, width, |term| self.range(term)));
        self.ops.push((op, width));
        self.known.insert((op, width), term);
        term
    }
}
