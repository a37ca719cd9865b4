// SPDX-License-Identifier: MIT OR Apache-2.0
//! Satisfiability of conditions over bit vectors.
//!
//! A [`Term`] is a number of 1 to 128 bits. [`Terms`] holds each term once and simplifies it when it is made. A [`Solver`] decides
//! whether a condition can hold together with those of a path, and gives a [`Model`]: values of the variables with which it does.
//!
//! ```
//! use carrick_solve::{Answer, Solver, Terms};
//!
//! let mut terms = Terms::default();
//! let x = terms.var("x", 32);
//! let five = terms.constant(5, 32);
//! let product = terms.mul(x, five);
//! let wanted = terms.constant(35, 32);
//! let equal = terms.equal(product, wanted);
//! let Answer::Yes(model) = Solver::default().check(&terms, &[], equal, &vec![0]) else { panic!("5 x = 35") };
//! assert_eq!(model, [7]);
//! ```
//!
//! *Architecture invariant:* this crate knows nothing of programs: bit vectors only.

mod blast;
mod gates;
mod guess;
mod lazy;
mod op;
mod query;
mod range;
mod sat;
mod simplify;
mod smt;
mod term;
mod value;

pub use op::{Op, Term};
pub use query::{Answer, Figures, Solver};
pub use smt::{answers, script};
pub use term::Terms;
pub use value::{Model, Values};
