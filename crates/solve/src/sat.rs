// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is needed of a solver of propositional formulas, and the one that does it.
//!
//! `batsat` is Rust alone. CaDiCaL decides hard proofs faster, but it is C++: building it takes longer than building the compiler. The queries
//! here are small, as [`query`](crate::query) cuts them. The measurements are in `docs/decisions/0019-a-solver-in-rust.md`.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use batsat::{Callbacks, EmptyTheory, Solver, SolverInterface, SolverOpts, lbool};

/// A variable, or its opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lit(u32);

impl Lit {
    /// The variable with this number.
    pub(crate) fn of(number: u32) -> Lit {
        Lit(number << 1)
    }

    /// Its variable, as it is.
    pub(crate) fn variable(self) -> Lit {
        Lit(self.0 & !1)
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn number(self) -> u32 {
        self.0 >> 1
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// When a search is given up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    pub until: Rc<Cell<Option<Instant>>>,
    pub cancelled: Arc<AtomicBool>,
}

impl Limits {
    fn are_reached(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.until.get().is_some_and(|end| Instant::now() >= end)
    }
}

/// An incremental solver of propositional formulas.
pub(crate) trait Sat: std::fmt::Debug {
    fn variable(&mut self) -> Lit;
    fn clause(&mut self, literals: &[Lit]);
    /// Whether all clauses and these literals can hold; `None`: a limit was reached.
    fn solve(&mut self, assumed: &[Lit]) -> Option<bool>;
    /// After a solution, until the next call of another function: the value of a literal.
    fn value(&self, literal: Lit) -> bool;
}

impl Callbacks for Limits {
    fn stop(&self) -> bool {
        self.are_reached()
    }
}

/// `batsat`.
pub(crate) struct Batsat {
    solver: Solver<Limits>,
    /// counts its levels, and does nothing else
    theory: EmptyTheory,
    variables: u32,
    buffer: Vec<batsat::Lit>,
    /// a solution is on the trail, where it is read without a copy of it
    solved: bool,
}

impl std::fmt::Debug for Batsat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batsat").field("variables", &self.variables).finish_non_exhaustive()
    }
}

impl Batsat {
    pub(crate) fn new(limits: Limits) -> Batsat {
        let solver = Solver::new(SolverOpts::default(), limits);
        let theory = EmptyTheory::new();
        Batsat { solver, theory, variables: 0, buffer: Vec::new(), solved: false }
    }

    fn leave_solution(&mut self) {
        if std::mem::take(&mut self.solved) {
            self.solver.pop_model(&mut self.theory);
        }
    }
}

fn literal(lit: Lit) -> batsat::Lit {
    batsat::Lit::new(batsat::Var::unsafe_from_idx(lit.number()), !lit.is_negated())
}

impl Sat for Batsat {
    fn variable(&mut self) -> Lit {
        self.leave_solution();
        self.solver.new_var_default();
        self.variables += 1;
        Lit::of(self.variables - 1)
    }

    fn clause(&mut self, literals: &[Lit]) {
        self.leave_solution();
        self.buffer.clear();
        self.buffer.extend(literals.iter().map(|lit| literal(*lit)));
        self.solver.add_clause_reuse(&mut self.buffer);
    }

    fn solve(&mut self, assumed: &[Lit]) -> Option<bool> {
        self.leave_solution();
        let assumed: Vec<_> = assumed.iter().map(|lit| literal(*lit)).collect();
        let found = self.solver.solve_limited_preserving_trail_th(&mut self.theory, &assumed);
        self.solved = true;
        if found == lbool::UNDEF {
            return None;
        }
        Some(found == lbool::TRUE)
    }

    fn value(&self, lit: Lit) -> bool {
        self.solver.raw_value_lit(literal(lit)) == lbool::TRUE
    }
}
