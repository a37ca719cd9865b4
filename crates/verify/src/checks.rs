// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looking for values with which a check fails.

use carrick_ir::{BinOp, Expr, Loc, Ty};
use carrick_solve::{Answer, Model, Op, Term, Values};
use rustc_hash::FxHashSet;

use crate::layout;
use crate::machine::Machine;
use crate::site::{Doing, Failure, Kind, Site};

impl<'p> Machine<'p> {
    fn is_checked(&self, site: Site) -> bool {
        !self.bounds.count
            && self.doing != Doing::Assuming
            && self.path.is_new()
            && !self.checks.failed.contains_key(&site)
            && self.checks.wanted.as_ref().is_none_or(|wanted| wanted.contains(&site))
    }

    /// Looks for values with which `bad` holds here.
    pub(crate) fn check(&mut self, kind: Kind, loc: Loc, bad: Term) {
        let site = Site { loc, kind };
        if !self.is_checked(site) {
            return;
        }
        let guard = self.guard();
        let bad = self.path.terms.and(guard, bad);
        if self.bounds.dump && self.path.terms.as_constant(bad).is_none() {
            let conditions: Vec<Term> = self.path.conditions.iter().copied().chain([bad]).collect();
            self.checks.smt.push((site, carrick_solve::script(&self.path.terms, &conditions)));
        }
        match self.path.possible(bad) {
            Answer::No => {}
            Answer::Yes(model) => {
                let variables = self.depends_on(bad);
                let model = self.with_small_values(model, &variables, bad);
                self.checks.failed.insert(site, Failure { model, variables, new: self.checks.new });
            }
            Answer::Unknown => {
                self.checks.undecided.insert(site);
            }
        }
    }

    /// The model with smaller values for these variables, one after the other, as far as the path and the condition allow: people
    /// read it.
    pub(crate) fn with_small_values(&self, mut model: Model, variables: &[u32], cond: Term) -> Model {
        let conditions: Vec<Term> = [cond].into_iter().chain(self.path.conditions.iter().copied()).collect();
        let mut values = Values::default();
        model.resize(self.path.terms.variables().len(), 0);
        let mut holds = |model: &Model| {
            values.restart();
            conditions.iter().all(|cond| values.of(&self.path.terms, *cond, model) == 1)
        };
        // A second time, as a smaller value may allow another to be smaller.
        for at in variables.iter().chain(variables).map(|variable| *variable as usize) {
            let bits = 128 - model[at].leading_zeros();
            let old = model[at];
            let shifted = (1..=bits).rev().map(|by| old.checked_shr(by).unwrap_or(0));
            let cleared = (0..bits).rev().map(|bit| !(1_u128 << bit));
            for new in shifted {
                model[at] = new;
                if holds(&model) {
                    break;
                }
                model[at] = old;
            }
            for mask in cleared {
                let old = model[at];
                model[at] &= mask;
                if !holds(&model) {
                    model[at] = old;
                }
            }
        }
        model
    }

    /// The variables of a condition, and of those that led here.
    pub(crate) fn depends_on(&self, cond: Term) -> Vec<u32> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut open = self.path.conditions[self.checks.assumed..].to_vec();
        open.push(cond);
        while let Some(term) = open.pop() {
            if seen.insert(term) {
                open.extend(self.path.terms.op(term).operands());
                if let Op::Var(number) = self.path.terms.op(term) {
                    found.push(number);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The checks of a binary operator.
    pub(crate) fn check_binary(&mut self, op: BinOp, e: &Expr, left: &Expr, a: Term, b: Term) {
        let zero = |m: &mut Self| m.is(b, 0);
        match op {
            BinOp::Div | BinOp::Rem | BinOp::FixedDiv | BinOp::BytesPerRate | BinOp::BytesPerDuration => {
                let bad = zero(self);
                self.check(Kind::Division, e.loc, bad);
            }
            BinOp::Shl | BinOp::Shr => {
                let bits = layout::shape(self.program, &left.ty).0;
                let width = self.path.terms.width(b);
                let bits = self.number(bits.into(), width);
                let fits = self.path.terms.ult(b, bits);
                let bad = self.path.terms.not(fits);
                self.check(Kind::Shift, e.loc, bad);
            }
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge if left.ty == Ty::Seq32 => {
                let distance = self.path.terms.sub(a, b);
                let bad = self.is(distance, 1 << 31);
                self.check(Kind::Serial, e.loc, bad);
            }
            _ => {}
        }
    }
}
