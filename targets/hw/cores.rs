// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores whose chains run in the circuit, for comparisons with the interpreter.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::built::Built;
use carrick_driver::targets::{Cores, PipelineSpec};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::diff::Pace;
use carrick_sim::interpreted::Interpreted;
use carrick_sim::scenario::Engine;

use super::dslx::Design;
use super::handlers::extended;
use super::verilated::{Calls, Circuit, Events, Wiring, tool};

/// The circuit of one program.
pub struct Circuits {
    made: Made,
    /// it must stay as long as what is loaded from it
    _tool: Built,
}

/// What cores are made of. What surrounds the chains is the interpreter's: parser, timers, queues and units of data.
#[derive(Clone)]
struct Made {
    calls: Rc<Calls>,
    wiring: Rc<Wiring>,
    /// with the functions that carry out what the circuit issues
    program: Arc<Program>,
    broken: Rc<RefCell<Option<String>>>,
}

/// Makes the circuit of a program.
///
/// # Errors
/// As [`tool`].
pub fn of(program: &Program, design: &Design, spec: &PipelineSpec) -> Result<Box<dyn Cores>, Failure> {
    Ok(Box::new(Circuits::new(program, design, tool(program, design, spec)?)?))
}

impl Circuits {
    /// The circuit of a program that this library has.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it is none of a circuit.
    pub fn new(program: &Program, design: &Design, tool: Built) -> Result<Circuits, Failure> {
        let (extended, sites) = extended(program, design);
        let wiring = Rc::new(Wiring::new(program, design, sites));
        let calls = Rc::new(Calls::load(&tool.path)?);
        let made = Made { calls, wiring, program: Arc::new(extended), broken: Rc::default() };
        Ok(Circuits { made, _tool: tool })
    }

    /// A core whose circuit runs as long as a host wants: nothing is compared at the end.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn core(&self, config: &Config) -> Result<Interpreted, String> {
        self.made.core(config, Events::Gone)
    }
}

impl Made {
    fn core(&self, config: &Config, events: Events) -> Result<Interpreted, String> {
        let circuit = Circuit::start(self.calls.clone(), self.wiring.clone(), self.broken.clone(), events);
        Interpreted::with_chains(self.program.clone(), config, Box::new(circuit))
    }
}

impl Cores for Circuits {
    fn paces(&self) -> &[Pace] {
        &[Pace::AtOnce, Pace::Asked]
    }

    fn engine(&self, _pace: Pace) -> Engine {
        let made = self.made.clone();
        Engine::Made(Rc::new(move |_: &Arc<Program>, config| Ok(Box::new(made.core(config, Events::Kept)?))))
    }

    fn refusal(&self) -> Option<Failure> {
        self.made.broken.take().map(Failure::Failed)
    }
}
