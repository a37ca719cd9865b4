// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a condition can hold on a path.
//!
//! Of the path, only those conditions count that have a variable in common with the new one, by however many others. So most queries are
//! small, and many are equal to earlier ones, whose answers are kept.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::blast::Blast;
use crate::gates::Gates;
use crate::guess::guess;
use crate::op::{Op, Term};
use crate::sat::{Batsat, Limits};
use crate::term::Terms;
use crate::value::{Model, Values};

/// Beyond so many variables, circuits start again: each search goes through all of them.
const VARIABLES_MAX: usize = 60_000;
/// How often wrong values of products and quotients are corrected one by one, before they get circuits.
const ROUNDS_OF_VALUES: usize = 6;
/// Answers that are kept.
const ANSWERS_MAX: usize = 1 << 18;

/// Whether a condition can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// With these values.
    Yes(Model),
    /// With none.
    No,
    /// The search took too long, or was cancelled.
    Unknown,
}

/// How much work it was.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Questions.
    pub queries: u64,
    /// Of them, searches: the others were known.
    pub searches: u64,
    /// Others were answered by a good guess.
    pub guessed: u64,
    /// Exact circuits of products and quotients that were added.
    pub refined: u64,
    /// Time of the searches.
    pub time: Duration,
    /// The longest one.
    pub longest: Duration,
}

/// Decides conditions. All that it is asked is of the same [`Terms`].
#[derive(Debug)]
pub struct Solver {
    blast: Blast,
    limits: Limits,
    /// the longest search
    most: Option<Duration>,
    /// variables of each term, sorted
    variables: FxHashMap<Term, Rc<[u32]>>,
    /// the values of the variables that count, or that there are none
    answers: FxHashMap<Rc<[Term]>, Option<Rc<[u128]>>>,
    values: Values,
    /// in which round a variable was marked
    marks: Vec<u32>,
    round: u32,
    figures: Figures,
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new(Arc::default(), None)
    }
}

fn new_blast(limits: &Limits) -> Blast {
    Blast::new(Gates::new(Box::new(Batsat::new(limits.clone()))))
}

impl Solver {
    /// A solver that gives up when the flag is set, or when one search takes longer than this.
    pub fn new(cancelled: Arc<AtomicBool>, most: Option<Duration>) -> Solver {
        let limits = Limits { cancelled, ..Limits::default() };
        Solver {
            blast: new_blast(&limits),
            limits,
            most,
            variables: FxHashMap::default(),
            answers: FxHashMap::default(),
            values: Values::default(),
            marks: Vec::new(),
            round: 0,
            figures: Figures::default(),
        }
    }

    /// How much work it was so far.
    pub fn figures(&self) -> Figures {
        self.figures
    }

    /// Whether the condition can hold with all those of a path, which `model` satisfies. The model of the answer has other values
    /// only for variables that the condition depends on.
    pub fn check(&mut self, terms: &Terms, path: &[Term], cond: Term, model: &Model) -> Answer {
        self.figures.queries += 1;
        match terms.as_constant(cond) {
            Some(0) => return Answer::No,
            Some(_) => return Answer::Yes(model.clone()),
            None => {}
        }
        let mut wanted = self.related(terms, path, cond);
        wanted.sort_unstable();
        wanted.dedup();
        let key: Rc<[Term]> = wanted.into();
        if let Some(known) = self.answers.get(&key) {
            let known = known.clone();
            return self.answer(known, model);
        }
        if let Some(found) = guess(terms, &mut self.values, &key, cond, model) {
            self.figures.guessed += 1;
            return Answer::Yes(found);
        }
        match self.search(terms, &key) {
            None => Answer::Unknown,
            Some(found) => {
                if self.answers.len() >= ANSWERS_MAX {
                    self.answers.clear();
                }
                self.answers.insert(key, found.clone());
                self.answer(found, model)
            }
        }
    }

    /// The model with new values for the marked variables.
    fn answer(&self, found: Option<Rc<[u128]>>, model: &Model) -> Answer {
        let Some(values) = found else { return Answer::No };
        let mut model = model.clone();
        let marked = (0..self.marks.len()).filter(|number| self.marks[*number] == self.round);
        for (number, value) in marked.zip(values.iter()) {
            if model.len() <= number {
                model.resize(number + 1, 0);
            }
            model[number] = *value;
        }
        Answer::Yes(model)
    }

    /// The condition, and those that it depends on. Marks their variables.
    fn related(&mut self, terms: &Terms, path: &[Term], cond: Term) -> Vec<Term> {
        self.marks.resize(terms.variables().len(), 0);
        self.round += 1;
        let mut wanted = vec![cond];
        self.mark(terms, cond);
        let mut open: Vec<(Term, Rc<[u32]>)> =
            path.iter().map(|term| (*term, self.variables_of(terms, *term))).collect();
        loop {
            let before = wanted.len();
            open.retain(|(term, variables)| {
                let meets = variables.iter().any(|v| self.marks[*v as usize] == self.round);
                if meets {
                    wanted.push(*term);
                    variables.iter().for_each(|v| self.marks[*v as usize] = self.round);
                }
                !meets
            });
            if wanted.len() == before {
                return wanted;
            }
        }
    }

    fn mark(&mut self, terms: &Terms, term: Term) {
        for variable in self.variables_of(terms, term).iter() {
            self.marks[*variable as usize] = self.round;
        }
    }

    fn variables_of(&mut self, terms: &Terms, term: Term) -> Rc<[u32]> {
        if let Some(known) = self.variables.get(&term) {
            return known.clone();
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(terms.op(next).operands());
                if let Op::Var(number) = terms.op(next) {
                    found.push(number);
                }
            }
        }
        found.sort_unstable();
        let found: Rc<[u32]> = found.into();
        self.variables.insert(term, found.clone());
        found
    }

    /// Whether all these can hold: the values of the marked variables then; `None`: not known.
    fn search(&mut self, terms: &Terms, wanted: &[Term]) -> Option<Option<Rc<[u128]>>> {
        let begun = Instant::now();
        if self.blast.gates.variables > VARIABLES_MAX {
            self.blast = new_blast(&self.limits);
        }
        self.limits.until.set(self.most.map(|most| begun + most));
        let found = self.search_on(terms, wanted);
        let time = begun.elapsed();
        self.figures.searches += 1;
        self.figures.time += time;
        self.figures.longest = self.figures.longest.max(time);
        found
    }

    fn search_on(&mut self, terms: &Terms, wanted: &[Term]) -> Option<Option<Rc<[u128]>>> {
        let assumed: Vec<_> = wanted.iter().map(|term| self.blast.bits(terms, *term)[0]).collect();
        for _ in 0..ROUNDS_OF_VALUES {
            if !self.blast.gates.sat.solve(&assumed)? {
                return Some(None);
            }
            let values = self.values_of(&self.blast, terms);
            if self.satisfies(terms, wanted, &values) {
                return Some(Some(values));
            }
            let wrong = self.blast.wrong(terms, wanted);
            self.blast.learn_values(terms, &wrong);
        }
        self.search_exactly(terms, wanted)
    }

    /// With exact circuits, which no other search has to go through.
    fn search_exactly(&mut self, terms: &Terms, wanted: &[Term]) -> Option<Option<Rc<[u128]>>> {
        let mut blast = new_blast(&self.limits);
        let assumed: Vec<_> = wanted.iter().map(|term| blast.bits(terms, *term)[0]).collect();
        loop {
            if !blast.gates.sat.solve(&assumed)? {
                return Some(None);
            }
            let values = self.values_of(&blast, terms);
            if self.satisfies(terms, wanted, &values) {
                return Some(Some(values));
            }
            let wrong = blast.wrong(terms, wanted);
            // A wrong model would be a wrong proof: it is never taken on trust.
            assert!(!wrong.is_empty(), "a model does not satisfy its conditions");
            blast.make_exact(terms, &wrong);
            self.figures.refined += 1;
        }
    }

    /// After a solution: the values of the marked variables.
    fn values_of(&self, blast: &Blast, terms: &Terms) -> Rc<[u128]> {
        let marked = (0..self.marks.len()).filter(|number| self.marks[*number] == self.round);
        marked.map(|number| blast.value(terms, terms.variables()[number].1)).collect()
    }

    /// Whether the conditions hold with these values.
    fn satisfies(&mut self, terms: &Terms, wanted: &[Term], values: &[u128]) -> bool {
        let mut model = vec![0; self.marks.len()];
        let marked = (0..self.marks.len()).filter(|number| self.marks[*number] == self.round);
        marked.zip(values).for_each(|(number, value)| model[number] = *value);
        self.values.restart();
        wanted.iter().all(|term| self.values.of(terms, *term, &model) == 1)
    }
}
