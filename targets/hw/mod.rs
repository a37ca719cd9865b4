// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware: each chain as a pipeline.

mod bits;
mod calendar;
mod circuit;
mod cores;
mod dslx;
mod handlers;
mod header;
mod pipelines;
mod registers;
mod snapshots;
mod verilated;
mod xls;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::stack::{CORE, Stack, StackRecords, Telling};
use carrick_driver::targets::{Cores, Host, PipelineSpec, Run, Target, TargetFile, Unsupported};
use carrick_ir::Program;

use super::native;

pub use xls::library;

/// The target.
pub struct Hw;

/// As it is listed.
pub static TARGET: Hw = Hw;

impl Target for Hw {
    fn file(&self) -> &'static str {
        include_str!("target.toml")
    }

    fn check(&self, program: &Program) -> Option<Unsupported> {
        dslx::emit(program).err()
    }

    fn emit(&self, file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure> {
        let settings = file.pipeline.as_ref().ok_or_else(no_pipeline)?;
        let files = circuit::write(program, &design(program)?, settings, dir)?;
        Ok(format!("{}: {}", dir.display(), files.join(", ")))
    }

    fn cores(
        &self,
        file: &TargetFile,
        program: &Arc<Program>,
        _verbose: bool,
    ) -> Result<Box<dyn Cores>, Failure> {
        cores::of(program, &design(program)?, file.pipeline.as_ref().ok_or_else(no_pipeline)?)
    }

    fn host(&self) -> Option<&dyn Host> {
        Some(self)
    }
}

/// The native stack, with the circuit as its core.
impl Host for Hw {
    fn options(&self) -> &'static str {
        "--port packet:DEV|xdp:DEV|tun:NAME|udp:LOCAL:PEER|unix:LOCAL:PEER (one for each interface), --fault FAULTS, \
         --pcap FILE, --set PARAM=VALUE, --seed N, --user UID, --spin (the native stack for a program in the network; \
         Verilator simulates its core)"
    }

    fn run(&self, run: &Run<'_>) -> Result<ExitCode, Failure> {
        let circuit = compiled(run)?;
        let host = run.compiling(|| native::host(run.program, Tracing::Off))?;
        let start = |command: &mut Command| command.env(CORE, &circuit.path).args(run.words).spawn();
        Ok(Stack::start(host, start)?.wait())
    }

    /// The records are made from snapshots of the circuit.
    fn run_telling(&self, run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
        if run.changes {
            return Err(Failure::Usage(
                "--set changes no context of a circuit; change it by its registers (`registers.md`)".into(),
            ));
        }
        let circuit = compiled(run)?;
        let telling =
            Telling { program: run.program, args: run.words, core: Some(&circuit.path), changes: false };
        let host = || run.compiling(|| native::host(run.program, Tracing::On));
        let (mut stack, records) = Stack::start_telling(&telling, host)?;
        stack.hold(Box::new(circuit));
        Ok((stack, records))
    }
}

/// The circuit of a program as a core, which is shown to be compiled meanwhile.
fn compiled(run: &Run<'_>) -> Result<Built, Failure> {
    let _busy = (run.busy)("compiling the circuit");
    core(run.program)
}

/// A library with a core of the program for hosts: packets go in and out of its circuit.
///
/// # Errors
/// [`Failure::Usage`] with what of its packets no circuit is made of; else as [`Target::cores`].
pub fn core(program: &Program) -> Result<Built, Failure> {
    let design = design(program)?;
    if let Err(unsupported) = &design.packets {
        let at = program.file_of(unsupported.loc);
        return Err(Failure::Usage(format!(
            "{at}:{}:{}: the target `hw` has no packets of this program: {}",
            unsupported.loc.line, unsupported.loc.col, unsupported.what
        )));
    }
    verilated::tool(program, &design, &spec()?)
}

fn design(program: &Program) -> Result<dslx::Design, Failure> {
    dslx::emit(program).map_err(|unsupported| {
        let at = program.file_of(unsupported.loc);
        Failure::Usage(format!(
            "{at}:{}:{}: target `hw` does not support this yet: {}",
            unsupported.loc.line, unsupported.loc.col, unsupported.what
        ))
    })
}

fn no_pipeline() -> Failure {
    Failure::Usage("the target file has no [pipeline]".into())
}

fn spec() -> Result<PipelineSpec, Failure> {
    let file = TargetFile::parse(TARGET.file()).ok();
    file.and_then(|file| file.pipeline).ok_or_else(no_pipeline)
}
