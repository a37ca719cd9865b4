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
mod served;
mod snapshots;
mod verilated;
mod xls;

use std::any::Any;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::stack::{CORE, Stack, StackRecords, Telling};
use carrick_driver::targets::{Cores, Host, PipelineSpec, Run, Target, TargetFile, Unsupported};
use carrick_ir::Program;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::native;

pub use served::Service;
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
        dslx::refusal(program)
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

/// The native stack. Its core is the circuit, where packets go in and out of it; else the interpreter's, whose chains run in the
/// circuit.
impl Host for Hw {
    fn options(&self) -> &'static str {
        native::TARGET.host().map_or("", Host::options)
    }

    fn run(&self, run: &Run<'_>) -> Result<ExitCode, Failure> {
        let design = design(run.program)?;
        let host = || native::host(run.program, Tracing::Off);
        if design.packets.is_ok() {
            let circuit = circuit(run.program, &design)?;
            let start = |command: &mut Command| command.env(CORE, &circuit.path).args(run.words).spawn();
            return Ok(Stack::start(host()?, start)?.wait());
        }
        let (service, ended) = (serve(run.program, design)?, end_of_signals()?);
        let start = |command: &mut Command| command.envs(service.environment()).args(run.words).spawn();
        let stack = Stack::start(host()?, start)?;
        let code = stack.wait_or_end(&ended, || Ok(()))?;
        service.end();
        Ok(code)
    }

    /// The records are made from snapshots of the circuit, or the interpreter's.
    fn run_telling(&self, run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
        if run.changes {
            return Err(Failure::Usage(
                "--set changes no context of a circuit; change it by its registers (`registers.md`)".into(),
            ));
        }
        let host = || native::host(run.program, Tracing::On);
        let design = design(run.program)?;
        let start = |env: &[(&'static str, OsString)], held: Box<dyn Any>| {
            let telling = Telling { program: run.program, args: run.words, env, changes: false };
            let (mut stack, records) = Stack::start_telling(&telling, host)?;
            stack.hold(held);
            Ok((stack, records))
        };
        if design.packets.is_ok() {
            let circuit = circuit(run.program, &design)?;
            return start(&[(CORE, circuit.path.clone().into())], Box::new(circuit));
        }
        let service = serve(run.program, design)?;
        start(&service.environment(), Box::new(service))
    }
}

/// From which there is something to read once this process is told to end.
fn end_of_signals() -> Result<UnixStream, Failure> {
    let cannot = |e: io::Error| Failure::Missing(format!("cannot wait for signals: {e}"));
    let (end, write) = UnixStream::pair().map_err(cannot)?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, write.try_clone().map_err(cannot)?).map_err(cannot)?;
    }
    Ok(end)
}

/// A library with a core of the program for hosts: packets go in and out of its circuit.
///
/// # Errors
/// [`Failure::Usage`] with what of its packets no circuit is made of; else as [`Target::cores`].
pub fn core(program: &Program) -> Result<Built, Failure> {
    let design = design(program)?;
    if let Err(unsupported) = &design.packets {
        let at = program.file_of(unsupported.loc).raw();
        return Err(Failure::Usage(format!(
            "{at}:{}:{}: the target `hw` has no packets of this program: {}",
            unsupported.loc.line, unsupported.loc.col, unsupported.what
        )));
    }
    circuit(program, &design)
}

/// Cores of the program whose chains run in its circuit, served over a socket.
///
/// # Errors
/// As [`Target::cores`]; [`Failure::Missing`] without a socket.
pub fn served(program: &Arc<Program>) -> Result<Service, Failure> {
    serve(program, design(program)?)
}

fn serve(program: &Arc<Program>, design: dslx::Design) -> Result<Service, Failure> {
    let circuit = circuit(program, &design)?;
    Service::start(program, design, circuit)
}

fn circuit(program: &Program, design: &dslx::Design) -> Result<Built, Failure> {
    verilated::tool(program, design, &spec()?)
}

/// The chains of a program in DSLX; none if no circuit can be made of it.
pub fn chains(program: &Program) -> Option<String> {
    dslx::emit(program).ok().map(|design| design.text)
}

fn design(program: &Program) -> Result<dslx::Design, Failure> {
    dslx::emit(program).map_err(|unsupported| {
        let at = program.file_of(unsupported.loc).raw();
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
