// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finishes what the checker elaborated: what depends on the whole program.
//!
//! Functions come in an order in which callees are before callers, and every bound that a target needs to
//! allocate at its start is computed: how many events a chain raises, how many blueprints an event issues.
//!
//! *Architecture invariant:* no I/O, no diagnostics: a program that gets here is right.

mod bounds;
mod effects;
mod order;
pub mod placement;

use carrick_ir::Program;

/// Completes a checked program.
pub fn lower(mut program: Program) -> Program {
    order::callees_first(&mut program);
    effects::mark(&mut program);
    bounds::compute(&mut program);
    program
}
