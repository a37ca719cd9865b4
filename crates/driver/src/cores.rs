// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores of compiled C, in this process.

use std::rc::Rc;
use std::sync::Arc;

use carrick_ir::Program;
use carrick_sim::compiled::{Compiled, CompiledProgram};
use carrick_sim::diff::Pace;
use carrick_sim::scenario::Engine;

use crate::Failure;
use crate::built::Built;
use crate::cc::Tracing;
use crate::compiled;
use crate::targets::Cores;

/// Those of one program.
struct CompiledCores {
    compiled: Rc<CompiledProgram>,
    /// packets of it can leave through an engine of segmentation
    joined: bool,
    /// it must stay as long as the program that is loaded from it
    _library: Built,
}

impl Cores for CompiledCores {
    /// Packets of an engine leave at once: it makes all of them when the first one leaves.
    fn paces(&self) -> &[Pace] {
        if self.joined { &[Pace::Asked, Pace::AtOnce] } else { &[Pace::Asked] }
    }

    fn engine(&self, pace: Pace) -> Engine {
        let compiled = self.compiled.clone();
        match pace {
            Pace::Asked => Engine::Compiled(compiled),
            Pace::AtOnce => Engine::Made(Rc::new(move |_, config| {
                let core = Compiled::new(compiled.clone(), config)?;
                Ok(Box::new(core.with_engine(Rc::default())))
            })),
        }
    }
}

/// Compiles a program's C with tracing, for comparisons in this process.
///
/// # Errors
/// As [`shared_library`](crate::compiled::shared_library).
pub fn compiled(program: &Arc<Program>) -> Result<Box<dyn Cores>, Failure> {
    let library = compiled::shared_library(program, Tracing::On)?;
    let compiled = CompiledProgram::load(&library.path, program).map_err(Failure::Failed)?;
    let joined = program.has_joined();
    Ok(Box::new(CompiledCores { compiled, joined, _library: library }))
}
