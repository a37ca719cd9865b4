// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores of compiled C, in this process.

use std::rc::Rc;
use std::sync::Arc;

use carrick_ir::Program;
use carrick_sim::compiled::CompiledProgram;
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
    /// it must stay as long as the program that is loaded from it
    _library: Built,
}

impl Cores for CompiledCores {
    fn engine(&self, _pace: Pace) -> Engine {
        Engine::Compiled(self.compiled.clone())
    }
}

/// Compiles a program's C with tracing, for comparisons in this process.
///
/// # Errors
/// As [`shared_library`](crate::compiled::shared_library).
pub fn compiled(program: &Arc<Program>) -> Result<Box<dyn Cores>, Failure> {
    let library = compiled::shared_library(program, Tracing::On)?;
    let compiled = CompiledProgram::load(&library.path, program).map_err(Failure::Failed)?;
    Ok(Box::new(CompiledCores { compiled, _library: library }))
}
