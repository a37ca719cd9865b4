// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores in a network of ns-3, for comparisons with the interpreter.

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::built::{self, Built, Recipe};
use carrick_driver::cc::Tracing;
use carrick_driver::compiled;
use carrick_driver::targets::Cores;
use carrick_driver::{Failure, build};
use carrick_ir::Program;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::{Network, Pace};
use carrick_sim::observe::Observer;
use carrick_sim::records::Records;
use carrick_sim::scenario::{Engine, Scenario};
use tempfile::TempDir;

/// The tool that replays a run.
const REPLAY: &str = "replay";

/// A program's core as a library, and what runs two of them in ns-3.
struct Replay {
    program: Arc<Program>,
    compiled: Rc<CompiledProgram>,
    /// it must stay as long as the program that is loaded from it
    library: Built,
    tool: Built,
    scripts: TempDir,
}

/// Compiles a program with tracing, and the tool, unless this machine has it already.
///
/// # Errors
/// As [`compiled::shared_library`]; [`Failure::Missing`] without ns-3.
pub fn of(program: &Arc<Program>) -> Result<Box<dyn Cores>, Failure> {
    let library = compiled::shared_library(program, Tracing::On)?;
    let compiled = CompiledProgram::load(&library.path, program).map_err(Failure::Failed)?;
    let tool = built::once(&Recipe::of_c(REPLAY, "ns3"), write, make)?;
    let scripts = built::temporary()?;
    Ok(Box::new(Replay { program: program.clone(), compiled, library, tool, scripts }))
}

fn write(dir: &Path) -> Result<(), Failure> {
    super::write_host(dir)?;
    build::write_runtime(dir)
}

fn make(dir: &Path) -> Result<(), Failure> {
    super::make(dir)?;
    let cannot = |e| Failure::Missing(format!("cannot write {}: {e}", dir.display()));
    std::fs::rename(dir.join("build").join(REPLAY), dir.join(REPLAY)).map_err(cannot)
}

impl Cores for Replay {
    /// The same C is compared operation by operation with `--target sim`; here its network is.
    fn paces(&self) -> &[Pace] {
        &[]
    }

    fn engine(&self, _pace: Pace) -> Engine {
        Engine::Compiled(self.compiled.clone())
    }

    /// IPv4 of ns-3 drops packets whose header is damaged before a core sees them, and no seed of a node is 0.
    fn fit(&self, mut scenario: Scenario) -> Scenario {
        scenario.seed = scenario.seed.max(1);
        scenario.link.faults.always(|faults| faults.corrupt_ppm = 0);
        scenario
    }

    fn network(&self) -> Option<&dyn Network> {
        Some(self)
    }
}

impl Network for Replay {
    fn replay(&self, script: &[u8], observer: &mut dyn Observer) -> Result<(), String> {
        let path = self.scripts.path().join("script");
        std::fs::write(&path, script).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        let mut command = Command::new(&self.tool.path);
        command.arg(&self.library.path).arg(format!("{}_program", self.program.name)).arg(&path);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut tool = command.spawn().map_err(|e| format!("cannot start the simulation in ns-3: {e}"))?;
        let told = self.tell(&mut tool, observer);
        // What it says beyond what was read is not wanted: it ends when its pipe does.
        drop(tool.stdout.take());
        let mut said = String::new();
        let _ = tool.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
        let ended = tool.wait().map_err(|e| format!("cannot wait for ns-3: {e}"))?;
        told.map_err(|what| format!("{what}\n{said}"))?;
        match ended.success() || observer.enough() {
            true => Ok(()),
            false => Err(format!("the simulation in ns-3 ended with {ended}\n{said}")),
        }
    }
}

impl Replay {
    fn tell(&self, tool: &mut Child, observer: &mut dyn Observer) -> Result<(), String> {
        let stdout = tool.stdout.take().ok_or("the simulation in ns-3 has no output")?;
        let mut records = Records::open(BufReader::new(stdout), &self.program)?;
        records.tell(observer).map(|_| ())
    }
}
