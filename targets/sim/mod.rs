// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's target: a core in C, as a library.

use std::path::Path;
use std::sync::Arc;

use carrick_driver::cc::{self, Tracing};
use carrick_driver::targets::{Cores, Target, TargetFile};
use carrick_driver::{Failure, build, cores};
use carrick_ir::Program;

/// The target; `carrick sim` is its host.
pub struct Sim;

/// As it is listed.
pub static TARGET: Sim = Sim;

impl Target for Sim {
    fn file(&self) -> &'static str {
        include_str!("target.toml")
    }

    fn emit(&self, _file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure> {
        build::write_core(program, dir)?;
        let (name, at) = (&program.name, dir.display());
        cc::make(dir, &["lib"], Tracing::Off, &format!("compiling the core of {name}"))?;
        Ok(format!("{at}: {name}.c, {name}.h, Makefile, lib{name}.a, lib{name}.so"))
    }

    fn cores(
        &self,
        _file: &TargetFile,
        program: &Arc<Program>,
        _verbose: bool,
    ) -> Result<Box<dyn Cores>, Failure> {
        cores::compiled(program)
    }
}
