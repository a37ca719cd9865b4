// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter in the simulator against cores in the network of another one, where the same happens again.

use std::sync::Arc;

use carrick_ir::Program;

use super::comparison::Comparison;
use super::script::Script;
use super::shown::{Comparer, Recorder, finish};
use crate::interface::Interface;
use crate::observe::{All, Observer};
use crate::scenario::{Engine, Scenario};
use crate::two_hosts::run;

/// A network outside of the simulator.
pub trait Network {
    /// Runs a script between two hosts, and shows the observer what their cores do.
    ///
    /// # Errors
    /// A sentence, if the network does not run.
    fn replay(&self, script: &[u8], observer: &mut dyn Observer) -> Result<(), String>;
}

/// Runs a scenario in the simulator, replays it in the network, and compares.
///
/// # Errors
/// As [`run`], and what the network says.
pub fn diff_replayed(
    program: &Arc<Program>,
    network: &dyn Network,
    scenario: &Scenario,
) -> Result<Comparison, String> {
    let mut recorder = Recorder::default();
    let mut script = Script::new(Interface::of(program)?, scenario.link.delay_ns);
    let mut both = All(vec![&mut recorder, &mut script]);
    let report = run(program, &Engine::Interpreter, scenario, &mut both, true)?;
    let mut comparer = Comparer::of(recorder);
    network.replay(&script.octets(scenario, report.ended_at), &mut comparer)?;
    Ok(finish(comparer, [program, program], report))
}
