// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long arrays: what was written, over elements of which nothing else is known.
//!
//! A choice among a thousand elements is a large circuit. So a read of a long array is a variable of its own, and of two reads it is known
//! that equal indices give equal elements.

use carrick_ir::Ty;
use carrick_solve::Term;

use crate::machine::Machine;
use crate::path::End;
use crate::value::{Array, Base, Step, Value};

impl Value {
    /// The long array in which the steps choose an element.
    pub(crate) fn array_at(&self, steps: &[Step]) -> Option<(&Array, Term)> {
        match (steps.split_first()?, self) {
            ((Step::Part(part), rest), Value::Record(parts)) => parts.get(*part)?.array_at(rest),
            ((Step::At(at), []), Value::Array(array)) => Some((array, *at)),
            _ => None,
        }
    }
}

impl Machine<'_> {
    /// A long array of any elements.
    pub(crate) fn any_array(&mut self, of: &Ty, len: u32, name: &str) -> Value {
        self.arrays.push((name.to_owned(), of.clone()));
        let (base, width) = (Base::Any(self.arrays.len() - 1), self.width(of));
        Value::Array(Array { base, len, width, writes: Vec::new() })
    }

    /// An element; outside of the array zero.
    pub(crate) fn read_array(&mut self, array: &Array, at: Term) -> Result<Term, End> {
        let mut found = match array.base {
            Base::Same(value) => value,
            Base::Any(number) => self.unwritten(number, at)?,
        };
        let terms = &mut self.path.terms;
        for (cond, index, value) in &array.writes {
            let index = terms.resize(*index, terms.width(at), false);
            let this = terms.equal(index, at);
            let this = terms.and(this, *cond);
            found = terms.ite(this, *value, found);
        }
        let (zero, len) = (terms.constant(0, array.width), terms.constant(array.len.into(), terms.width(at)));
        // An index of few bits may have no value outside.
        if u128::from(array.len) >> terms.width(at).min(127) != 0 {
            return Ok(found);
        }
        let inside = terms.ult(at, len);
        Ok(terms.ite(inside, found, zero))
    }

    /// The element as it was at first.
    fn unwritten(&mut self, number: usize, at: Term) -> Result<Term, End> {
        let at = self.path.terms.resize(at, 64, false);
        if let Some((.., known)) =
            self.array_reads.iter().find(|(array, index, _)| (*array, *index) == (number, at))
        {
            return Ok(*known);
        }
        let element = match self.array_elements.get(&(number, at)) {
            Some(known) => *known,
            None => {
                let (name, ty) = self.arrays[number].clone();
                let what = match self.path.terms.as_constant(at) {
                    Some(at) => format!("{name}[{at}]"),
                    None => format!("{name}[...] ({})", self.array_elements.len()),
                };
                let term = self.variable(what, &ty);
                self.array_elements.insert((number, at), term);
                term
            }
        };
        for (array, index, other) in self.array_reads.clone() {
            if array == number {
                let terms = &mut self.path.terms;
                let (same_index, same) = (terms.equal(index, at), terms.equal(other, element));
                let elsewhere = terms.not(same_index);
                let agree = terms.or(elsewhere, same);
                self.path.assume(agree)?;
            }
        }
        self.array_reads.push((number, at, element));
        Ok(element)
    }

    /// The element with a number, for a loop; `None` behind the last.
    pub(crate) fn array_element(&mut self, array: &Array, at: u32) -> Result<Option<Value>, End> {
        if at >= array.len {
            return Ok(None);
        }
        let at = self.number(at.into(), 64);
        self.read_array(array, at).map(|term| Some(Value::Scalar(term)))
    }
}
