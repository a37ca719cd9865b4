// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two hosts, with messages that their program takes.

use std::sync::Arc;

use carrick_ir::Program;

use crate::app;
use crate::fit;
use crate::interface::Shape;
use crate::observe::Observer;
use crate::run::{go_together, run_with_messages};
use crate::scenario::{Engine, Report, Scenario, Way};

/// Bytes of a request or response, where nothing else is said.
const RPC_LONGEST: u32 = 65_536;

/// Bytes of a message where applications speak verbs, at most.
const VERBS_MESSAGE: u32 = 65_536;

/// Runs a scenario between a client and a server.
///
/// # Errors
/// If the program has no interface that applications speak, or the configuration is outside what it allows.
pub fn run(
    program: &Arc<Program>,
    engine: &Engine,
    scenario: &Scenario,
    observer: &mut dyn Observer,
    tracing: bool,
) -> Result<Report, String> {
    run_through(program, engine, None, scenario, observer, tracing)
}

/// As [`run`], with a program in the network between client and server: each way has the scenario's link twice.
///
/// # Errors
/// As [`run`], and if the program between is not for the network.
pub fn run_through(
    program: &Arc<Program>,
    engine: &Engine,
    way: Option<&Way<'_>>,
    scenario: &Scenario,
    observer: &mut dyn Observer,
    tracing: bool,
) -> Result<Report, String> {
    go_together(program, way, scenario)?;
    let message = match Shape::of(program)? {
        Shape::Rpc => scenario.message.unwrap_or(RPC_LONGEST),
        Shape::Verbs => scenario.message.unwrap_or(VERBS_MESSAGE),
        Shape::Stream | Shape::Multistream => 0,
        Shape::Message => {
            let ends = Way { program, engine, params: scenario.params.clone() };
            let usual = app::message_in_a_packet(scenario.mtu);
            fit::message([&ends], scenario.mtu, scenario.message, usual)?
        }
    };
    run_with_messages(program, engine, way, scenario, message, observer, tracing)
}
