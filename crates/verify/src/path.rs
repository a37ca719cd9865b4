// SPDX-License-Identifier: MIT OR Apache-2.0
//! One path after the other: which way each condition went, and what holds therefore.
//!
//! A path is run again from its beginning with another decision at its end. A decision that was taken before costs no query.

use carrick_solve::{Answer, Model, Op, Solver, Term, Terms, Values};

/// Why a path ends before its processor does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// No values lead here.
    Impossible,
    /// A bound is reached.
    Stopped(String),
    /// It has a construct that cannot be explored.
    Unsupported(String),
}

/// A condition that went one of its two ways.
#[derive(Debug)]
struct Decision {
    taken: bool,
    /// values with which it goes the other way, if it has not been there
    other: Option<Model>,
}

#[derive(Debug)]
pub(crate) struct Path {
    pub terms: Terms,
    pub solver: Solver,
    /// what holds on this path
    pub conditions: Vec<Term>,
    /// what is known of a condition: the round of the path, and its value
    known: Vec<(u32, bool)>,
    round: u32,
    decisions: Vec<Decision>,
    at: usize,
    /// values with which the path is taken
    pub model: Model,
    values: Values,
    /// conditions that the solver could not decide
    pub undecided: u64,
}

impl Path {
    pub(crate) fn new(solver: Solver) -> Path {
        Path {
            terms: Terms::default(),
            solver,
            conditions: Vec::new(),
            known: Vec::new(),
            round: 0,
            decisions: Vec::new(),
            at: 0,
            model: Model::new(),
            values: Values::default(),
            undecided: 0,
        }
    }

    /// Begins the path that [`Path::next`] chose, or the first one.
    pub(crate) fn begin(&mut self) {
        self.conditions.clear();
        self.at = 0;
        self.round += 1;
    }

    /// Chooses the next path; false if all were taken.
    pub(crate) fn next(&mut self) -> bool {
        while let Some(decision) = self.decisions.last_mut() {
            if let Some(model) = decision.other.take() {
                decision.taken = !decision.taken;
                self.use_model(model);
                return true;
            }
            self.decisions.pop();
        }
        false
    }

    fn use_model(&mut self, model: Model) {
        self.model = model;
        self.values.restart();
    }

    /// A new variable: it has a value from now on, which is 0.
    pub(crate) fn var(&mut self, name: String, width: u8) -> Term {
        self.terms.var(name, width)
    }

    pub(crate) fn value(&mut self, term: Term) -> u128 {
        self.values.of(&self.terms, term, &self.model)
    }

    /// Adds what holds from here on: of a conjunction its parts.
    fn hold(&mut self, cond: Term) {
        match self.terms.op(cond) {
            _ if self.known_value(cond).is_some() => return,
            Op::And(a, b) => {
                self.hold(a);
                self.hold(b);
            }
            Op::Not(of) => match self.terms.op(of) {
                Op::Or(a, b) => {
                    let (a, b) = (self.terms.not(a), self.terms.not(b));
                    self.hold(a);
                    self.hold(b);
                }
                _ => self.conditions.push(cond),
            },
            _ => self.conditions.push(cond),
        }
        self.note(cond, true);
        let opposite = self.terms.not(cond);
        self.note(opposite, false);
    }

    fn note(&mut self, cond: Term, value: bool) {
        self.known.resize(self.terms.len(), (0, false));
        self.known[cond.index()] = (self.round, value);
    }

    /// The value of a condition that this path has decided already.
    pub(crate) fn known_value(&self, cond: Term) -> Option<bool> {
        if let Some(value) = self.terms.as_constant(cond) {
            return Some(value == 1);
        }
        let (round, value) = *self.known.get(cond.index())?;
        (round == self.round).then_some(value)
    }

    /// Values with which the condition holds here; `None`: there are none. Those of the path are tried first.
    pub(crate) fn possible(&mut self, cond: Term) -> Answer {
        if self.known_value(cond) == Some(false) {
            return Answer::No;
        }
        if self.value(cond) == 1 {
            return Answer::Yes(self.model.clone());
        }
        self.solver.check(&self.terms, &self.conditions, cond, &self.model)
    }

    /// Which way a condition goes on this path.
    pub(crate) fn branch(&mut self, cond: Term) -> bool {
        if let Some(value) = self.known_value(cond) {
            return value;
        }
        let taken = match self.decisions.get(self.at) {
            Some(decision) => decision.taken,
            None => self.decide(cond),
        };
        self.at += 1;
        let holds = if taken { cond } else { self.terms.not(cond) };
        self.hold(holds);
        taken
    }

    fn decide(&mut self, cond: Term) -> bool {
        let taken = self.value(cond) == 1;
        let other = if taken { self.terms.not(cond) } else { cond };
        let other = match self.solver.check(&self.terms, &self.conditions, other, &self.model) {
            Answer::Yes(model) => Some(model),
            Answer::No => None,
            Answer::Unknown => {
                self.undecided += 1;
                None
            }
        };
        self.decisions.push(Decision { taken, other });
        taken
    }

    /// Goes on only if the condition holds.
    pub(crate) fn assume(&mut self, cond: Term) -> Result<(), End> {
        match self.known_value(cond) {
            Some(true) => return Ok(()),
            Some(false) => return Err(End::Impossible),
            None => {}
        }
        // Decisions that were taken before have a model that fits.
        if self.value(cond) != 1 {
            match self.solver.check(&self.terms, &self.conditions, cond, &self.model) {
                Answer::Yes(model) => self.use_model(model),
                Answer::No => return Err(End::Impossible),
                Answer::Unknown => {
                    self.undecided += 1;
                    return Err(End::Impossible);
                }
            }
        }
        self.hold(cond);
        Ok(())
    }
}

impl Path {
    /// Whether no earlier path has been here with the same decisions.
    pub(crate) fn is_new(&self) -> bool {
        self.at >= self.decisions.len()
    }
}
