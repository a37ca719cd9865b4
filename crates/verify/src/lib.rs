// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proofs of programs: every path of every processor, from any state that satisfies the claims.
//!
//! A *unit* is a processor, a parser, or the beginning. Its event, its contexts and the parameters have any values of their types, of
//! which only the ranges, the requirements and the invariants hold. Each path of the unit is run with terms in place of numbers. Where a
//! claim stands, the solver looks for values with which it does not hold. If there are none on any path of any unit, it is proved: it holds
//! at first, and each unit keeps it.
//!
//! *Architecture invariant:* this crate knows the IR and the solver, and no emitter. What a statement does is written here a second time
//! beside the interpreter; tests compare the two.

mod against;
mod arith;
mod array;
mod bounds;
mod checks;

mod expr;
mod instr;
mod layout;
mod list;
mod machine;
mod note;
mod packet;
mod path;
mod place;
mod report;
mod site;
mod sites;
mod stmt;
mod symbolic;
mod unit;
mod value;
mod window;

pub use against::{Comparison, Declared, Difference, Names, PairReport, Unlike, Verdict, compare};
pub use bounds::Bounds;
pub use report::{CheckReport, Counterexample, Report, Status, UnitReport, Wanted, verify};
pub use site::{Kind, Site};
