// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick run`

use std::any::Any;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;

use carrick_driver::Failure;
use carrick_driver::targets::{self, Host, Targets};
use carrick_sim::trace::JsonLines;

use crate::args::Run;
use crate::load::load_for;
use crate::output;

pub fn run(args: &Run, targets: Targets) -> Result<ExitCode, Failure> {
    let (target, host) = (targets.find(&args.target)?, host(targets, &args.target)?);
    let (file, choice) = (&args.source.file, args.source.features.choice());
    let program = load_for(file, &choice, Some(&targets.against(target)))?;
    let run = targets::Run { program: &program, words: &args.stack, verbose: args.verbose, busy: &shown };
    match &args.trace {
        Some(file) => traced(host, &run, file),
        None => host.run(&run),
    }
}

/// How programs run on the target with this name.
///
/// # Errors
/// [`Failure::Usage`] if others run what is built for it.
pub fn host(targets: Targets, name: &str) -> Result<&'static dyn Host, Failure> {
    targets.find(name)?.host().ok_or_else(|| {
        Failure::Usage(format!("`carrick run` does not run programs on {name}; choose another --target"))
    })
}

/// Shows that something takes a while.
pub fn shown(what: &str) -> Box<dyn Any> {
    Box::new(output::Busy::new(what))
}

/// Runs, and writes what the stack tells.
fn traced(host: &dyn Host, run: &targets::Run<'_>, file: &Path) -> Result<ExitCode, Failure> {
    let cannot = |e: std::io::Error| Failure::Usage(format!("cannot write {}: {e}", file.display()));
    let out = BufWriter::new(File::create(file).map_err(cannot)?);
    let (stack, mut records) = host.run_telling(run)?;
    let seed = records.configs.first().map_or(0, |config| config.seed);
    let mut trace = JsonLines::new(out, run.program.clone(), seed, &super::command_line(), &[]);
    let told = records.tell(&mut trace);
    // Whoever is no longer listened to is not to wait for that.
    drop(records);
    let ended = stack.wait();
    trace.finish().map_err(cannot)?;
    told.map_err(Failure::Failed)?;
    Ok(ended)
}
