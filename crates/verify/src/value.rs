// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values whose numbers are terms.

use carrick_ir::Ty;
use carrick_solve::{Term, Terms};

/// A value of any type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Scalar(Term),
    /// a struct, id, array, event, context, scratchpad or blueprint, with what [`layout`](crate::layout) adds to its fields
    Record(Vec<Value>),
    List(Vec<Value>),
    /// a list whose length is not decided yet
    OpenList(Box<OpenList>),
    /// a long array of numbers
    Array(Array),
    Window(Window),
    /// a window of which it is not decided yet how many ranges it has
    OpenWindow(Box<OpenWindow>),
    /// whether there is memory, and how many bytes
    Addr(Term, Term),
    /// where bytes come from
    Source(Box<Effect>),
    /// what a reference leads to, in the heap
    Object(usize),
    Nothing,
}

/// An instruction that is issued, or where the bytes of a packet come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effect {
    /// its name, with those of its operands that are names only
    pub what: String,
    /// names, types and values of the others
    pub parts: Vec<(&'static str, Ty, Value)>,
}

/// A list of one of these lengths.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenList {
    pub len: Term,
    /// ascending
    pub lengths: Vec<usize>,
    pub elements: Vec<Value>,
}

/// Ranges of set flags, from the first to before the second, counted from the head, in 64 bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    pub head: Term,
    pub ranges: Vec<(Term, Term)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenWindow {
    pub count: Term,
    pub size: u64,
    pub window: Window,
}

/// Shorter arrays are held element by element.
const SHORT: u32 = 16;

/// What the elements are that nothing was written to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Base {
    /// any, of the array with this number
    Any(usize),
    Same(Term),
}

/// An array of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub base: Base,
    pub len: u32,
    pub width: u8,
    /// conditions, indices and values, in order
    pub writes: Vec<(Term, Term, Term)>,
}

/// Whether arrays of so many such elements are held this way.
pub(crate) fn is_long(of: &Ty, len: u32) -> bool {
    len > SHORT && of.is_scalar()
}

impl Array {
    /// Writes an element, if the condition holds.
    pub(crate) fn write(&mut self, cond: Term, at: Term, value: &Value) -> Option<()> {
        let Value::Scalar(value) = value else { return None };
        self.writes.push((cond, at, *value));
        Some(())
    }
}

/// A step from a value to a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Part(usize),
    /// an element of an array or a list
    At(Term),
}

/// The first of two values if the condition holds, else the second; `None`: they have not the same form.
pub(crate) fn choose(terms: &mut Terms, cond: Term, a: &Value, b: &Value) -> Option<Value> {
    use Value::*;
    if a == b {
        return Some(a.clone());
    }
    Some(match (a, b) {
        (Scalar(a), Scalar(b)) => Scalar(terms.ite(cond, *a, *b)),
        (Addr(a, len_a), Addr(b, len_b)) => Addr(terms.ite(cond, *a, *b), terms.ite(cond, *len_a, *len_b)),
        (Record(a), Record(b)) if a.len() == b.len() => Record(choose_each(terms, cond, a, b)?),
        (List(a), List(b)) if a.len() == b.len() => List(choose_each(terms, cond, a, b)?),
        (Window(a), Window(b)) if a.ranges.len() == b.ranges.len() => {
            let ranges = a.ranges.iter().zip(&b.ranges);
            let ranges =
                ranges.map(|(a, b)| (terms.ite(cond, a.0, b.0), terms.ite(cond, a.1, b.1))).collect();
            Window(self::Window { head: terms.ite(cond, a.head, b.head), ranges })
        }
        _ => return None,
    })
}

fn choose_each(terms: &mut Terms, cond: Term, a: &[Value], b: &[Value]) -> Option<Vec<Value>> {
    a.iter().zip(b).map(|(a, b)| choose(terms, cond, a, b)).collect()
}

/// Whether two values are equal; `None`: they have not the same form.
pub(crate) fn equal(terms: &mut Terms, a: &Value, b: &Value) -> Option<Term> {
    use Value::*;
    Some(match (a, b) {
        (Scalar(a), Scalar(b)) => terms.equal(*a, *b),
        (Record(a), Record(b)) if a.len() == b.len() => {
            let mut all = terms.truth(true);
            for (a, b) in a.iter().zip(b) {
                let same = equal(terms, a, b)?;
                all = terms.and(all, same);
            }
            all
        }
        (Nothing, Nothing) => terms.truth(true),
        _ => return None,
    })
}

impl Value {
    /// Leaves all lists and windows in it empty.
    pub(crate) fn close(&mut self) {
        match self {
            Value::Record(parts) => parts.iter_mut().for_each(Value::close),
            Value::OpenList(_) => *self = Value::List(Vec::new()),
            Value::OpenWindow(open) => {
                *self = Value::Window(Window { head: open.window.head, ranges: Vec::new() });
            }
            _ => {}
        }
    }

    /// The part that the steps lead to; `zero` where an index is outside.
    pub(crate) fn get(&self, terms: &mut Terms, steps: &[Step], zero: &Value) -> Option<Value> {
        let Some((step, rest)) = steps.split_first() else { return Some(self.clone()) };
        match (step, self) {
            (Step::Part(part), Value::Record(parts)) => parts.get(*part)?.get(terms, rest, zero),
            (Step::At(at), Value::Record(elements) | Value::List(elements)) => {
                if let Some(at) = terms.as_constant(*at) {
                    return match elements.get(usize::try_from(at).unwrap_or(usize::MAX)) {
                        Some(element) => element.get(terms, rest, zero),
                        None => Some(zero.clone()),
                    };
                }
                let mut found = zero.clone();
                for (i, element) in elements.iter().enumerate() {
                    let this = is_index(terms, *at, i);
                    let part = element.get(terms, rest, zero)?;
                    found = choose(terms, this, &part, &found)?;
                }
                Some(found)
            }
            _ => None,
        }
    }

    /// Writes the part that the steps lead to, if the condition holds.
    pub(crate) fn set(&mut self, terms: &mut Terms, steps: &[Step], new: &Value, cond: Term) -> Option<()> {
        let Some((step, rest)) = steps.split_first() else {
            *self = if terms.as_constant(cond) == Some(1) {
                new.clone()
            } else {
                choose(terms, cond, new, self)?
            };
            return Some(());
        };
        match (step, self) {
            (Step::At(at), Value::Array(array)) if rest.is_empty() => array.write(cond, *at, new),
            (Step::Part(part), Value::Record(parts)) => parts.get_mut(*part)?.set(terms, rest, new, cond),
            (Step::At(at), Value::Record(elements) | Value::List(elements)) => {
                if let Some(at) = terms.as_constant(*at) {
                    let element = elements.get_mut(usize::try_from(at).unwrap_or(usize::MAX));
                    return element.map_or(Some(()), |element| element.set(terms, rest, new, cond));
                }
                for (i, element) in elements.iter_mut().enumerate() {
                    let this = is_index(terms, *at, i);
                    let both = terms.and(cond, this);
                    element.set(terms, rest, new, both)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}

fn is_index(terms: &mut Terms, at: Term, index: usize) -> Term {
    let width = terms.width(at);
    let index = terms.constant(index as u128, width);
    terms.equal(at, index)
}
