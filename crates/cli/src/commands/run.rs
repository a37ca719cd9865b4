//! `carrick run`

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_ir::Program;
use carrick_sim::trace::JsonLines;

use crate::args::Run;
use crate::stack::Stack;

pub fn run(args: &Run) -> Result<ExitCode, Failure> {
    let program = super::load(&args.source)?;
    match &args.trace {
        Some(file) => traced(&program, file, &args.stack),
        None => Ok(Stack::start(&program, &args.stack)?.wait()),
    }
}

/// Runs, and writes what the stack tells.
fn traced(program: &Arc<Program>, file: &Path, args: &[String]) -> Result<ExitCode, Failure> {
    let cannot = |e: std::io::Error| Failure::Usage(format!("cannot write {}: {e}", file.display()));
    let out = BufWriter::new(File::create(file).map_err(cannot)?);
    let (stack, mut records) = Stack::start_telling(program, args)?;
    let seed = records.configs.first().map_or(0, |config| config.seed);
    let mut trace = JsonLines::new(out, program.clone(), seed, &super::command_line(), &[]);
    let told = records.tell(&mut trace);
    // Whoever is no longer listened to is not to wait for that.
    drop(records);
    let ended = stack.wait();
    trace.finish().map_err(cannot)?;
    told.map_err(Failure::Failed)?;
    Ok(ended)
}
