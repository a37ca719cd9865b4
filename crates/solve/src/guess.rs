// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values that satisfy conditions, found without a search.
//!
//! A path's model satisfies all its conditions, and a new condition is often about one variable more. So other values are tried for one
//! variable after the other: those that parts of the condition have, and those next to them. A good guess saves a search of
//! milliseconds. A bad one costs microseconds, and a model is never taken without its conditions being evaluated.

use rustc_hash::FxHashSet;

use crate::op::{Op, Term, mask};
use crate::term::Terms;
use crate::value::{Model, Values};

/// Parts of a condition that are looked at.
const PARTS_MAX: usize = 48;
/// Variables for which values are tried.
const VARIABLES_MAX: usize = 8;

/// The parts of a term, nearest first, and the variables among them.
fn parts(terms: &Terms, term: Term) -> (Vec<Term>, Vec<u32>) {
    let (mut seen, mut parts, mut variables) = (FxHashSet::default(), vec![term], Vec::new());
    let mut at = 0;
    while let Some(&next) = parts.get(at) {
        at += 1;
        if let Op::Var(number) = terms.op(next) {
            variables.push(number);
        }
        if parts.len() < PARTS_MAX {
            parts.extend(terms.op(next).operands().filter(|operand| seen.insert(*operand)));
        }
    }
    variables.truncate(VARIABLES_MAX);
    (parts, variables)
}

/// A model in which one variable has another value, and with which `cond` and all the wanted conditions hold.
pub(crate) fn guess(
    terms: &Terms,
    values: &mut Values,
    wanted: &[Term],
    cond: Term,
    model: &Model,
) -> Option<Model> {
    let (parts, variables) = parts(terms, cond);
    let mut model = model.clone();
    model.resize(terms.variables().len(), 0);
    values.restart();
    let known: Vec<u128> = parts.iter().map(|part| values.of(terms, *part, &model)).collect();
    for number in variables {
        let width = terms.width(terms.variables()[number as usize].1);
        let old = model[number as usize];
        let mut tried = FxHashSet::default();
        for new in candidates(&known, old).map(|value| value & mask(width)) {
            if new == old || !tried.insert(new) {
                continue;
            }
            model[number as usize] = new;
            values.restart();
            let holds = |term: &Term, values: &mut Values| values.of(terms, *term, &model) == 1;
            if holds(&cond, values) && wanted.iter().all(|term| holds(term, values)) {
                return Some(model);
            }
        }
        model[number as usize] = old;
    }
    None
}

/// Values to try for a variable.
fn candidates(known: &[u128], old: u128) -> impl Iterator<Item = u128> {
    let near = |value: u128| [value, value.wrapping_add(1), value.wrapping_sub(1)];
    let beside =
        move |value: u128| [old.wrapping_add(value), old.wrapping_sub(value)].into_iter().flat_map(near);
    let limits = [0, 1, u128::MAX, 1 << 31, 1 << 63];
    let all = known.iter().copied().flat_map(move |value| near(value).into_iter().chain(beside(value)));
    limits.into_iter().chain(all)
}
