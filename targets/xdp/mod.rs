// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel of this machine: a program as eBPF, its loader, and the process by which applications use it.

pub mod build;
mod cores;
mod run;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_driver::stack::{Stack, StackRecords};
use carrick_driver::targets::{Cores, Host, Run, Target, TargetFile, Unsupported};
use carrick_ir::Program;
use carrick_xdp_loader::needs;

/// The target, and its host.
pub struct Xdp;

/// As it is listed.
pub static TARGET: Xdp = Xdp;

impl Target for Xdp {
    fn file(&self) -> &'static str {
        include_str!("target.toml")
    }

    fn check(&self, program: &Program) -> Option<Unsupported> {
        carrick_xdp_emitter::unsupported(program)
    }

    fn emit(&self, _file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure> {
        build::object(program, dir, Tracing::Off)?;
        let (name, at) = (&program.name, dir.display());
        let mut files = format!("{at}: {name}.bpf.c, {name}.bpf.o");
        if program.interface.is_some() {
            build::host(program, dir, Tracing::Off)?;
            files.push_str(&format!(", {name}-host, libcarrick-sockets.so"));
        }
        let need = needs::of(&dir.join(format!("{name}.bpf.o"))).map_err(Failure::Failed)?;
        Ok(format!("{files}, dispatch, include, runtime\nit needs Linux {need}, or a later one"))
    }

    fn host(&self) -> Option<&dyn Host> {
        Some(self)
    }

    fn cores(
        &self,
        _file: &TargetFile,
        program: &Arc<Program>,
        verbose: bool,
    ) -> Result<Box<dyn Cores>, Failure> {
        cores::of(program, verbose)
    }
}

impl Host for Xdp {
    fn options(&self) -> &'static str {
        run::OPTIONS
    }

    fn run(&self, run: &Run<'_>) -> Result<ExitCode, Failure> {
        run::run(run)
    }

    fn run_telling(&self, run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
        run::run_telling(run)
    }
}
