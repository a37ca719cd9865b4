// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter against the compiled core: the same scenario, compared event by event; and random operations.

mod comparison;
mod operations;
mod replay;
mod script;
mod shown;
mod versions;

use std::rc::Rc;
use std::sync::Arc;

use carrick_ir::Program;

use crate::compiled::CompiledProgram;
use crate::observe::Observer;
use crate::scenario::{Engine, Scenario, Way};
use crate::two_hosts::run_through;
use shown::{Comparer, Recorder, finish};

pub use comparison::Comparison;
pub use operations::{Pace, diff_cores, diff_operations};
pub use replay::{Network, diff_replayed};
pub use versions::{Difference, Versions, diff_versions};

/// A program in the network between the two ends of a comparison.
pub struct Via<'a> {
    pub program: &'a Arc<Program>,
    /// makes the cores that the interpreter is compared with
    pub engine: &'a Engine,
    /// a value for each parameter of the program; empty: the defaults
    pub params: Vec<u64>,
}

/// Runs a scenario on both and compares.
///
/// # Errors
/// As [`run_through`].
pub fn diff(
    program: &Arc<Program>,
    compiled: &Rc<CompiledProgram>,
    scenario: &Scenario,
) -> Result<Comparison, String> {
    diff_engine(program, &Engine::Compiled(compiled.clone()), scenario)
}

/// As [`diff`], with cores of another engine in place of compiled ones.
///
/// # Errors
/// As [`run_through`].
pub fn diff_engine(
    program: &Arc<Program>,
    engine: &Engine,
    scenario: &Scenario,
) -> Result<Comparison, String> {
    diff_through(program, engine, None, scenario)
}

/// As [`diff_engine`], with a program in the network between the ends, which is interpreted and compiled as they are.
///
/// # Errors
/// As [`run_through`].
pub fn diff_through(
    program: &Arc<Program>,
    engine: &Engine,
    via: Option<&Via<'_>>,
    scenario: &Scenario,
) -> Result<Comparison, String> {
    let run = |engine: &Engine, between: Option<&Engine>, observer: &mut dyn Observer| {
        let way = via.zip(between);
        let way = way.map(|(v, engine)| Way { program: v.program, engine, params: v.params.clone() });
        run_through(program, engine, way.as_ref(), scenario, observer, true)
    };
    let mut recorder = Recorder::default();
    let report = run(&Engine::Interpreter, Some(&Engine::Interpreter), &mut recorder)?;
    let mut comparer = Comparer::of(recorder);
    run(engine, via.map(|via| via.engine), &mut comparer)?;
    Ok(finish(comparer, [&**program, via.map_or(program, |via| via.program)], report))
}
