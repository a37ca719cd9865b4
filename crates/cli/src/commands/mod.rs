//! One file a command.

mod build;
mod check;
pub mod diff;
mod dissect;
mod doc;
mod explain;
mod fabric;
mod fmt;
mod layout;
mod lsp;
mod merge;
mod new;
mod plot;
mod report;
mod repro;
mod run;
mod run_in_kernel;
pub mod scenario;
mod shell;
pub mod sim;
mod targets;
pub mod trace;

use std::path::Path;
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;

use carrick_driver::targets::Target;
use carrick_driver::{Choice, Failure, compile_for};
use carrick_ir::Program;
use carrick_kernel::Refusal;

use crate::args::{Args, Command, Source};
use crate::manifest::words;
use crate::{output, watch};

/// The command as it was said, which makes a run again.
fn command_line() -> String {
    format!("carrick {}", words::join(std::env::args().skip(1)))
}

/// Carries out the command.
///
/// # Errors
/// A [`Failure`] with its exit code, if the command could not do its work.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::New(args) => new::run(args),
        Command::Check(args) => watch::run(&args.watching, &args.files, || check::run(args)),
        Command::Fmt(args) => fmt::run(args),
        Command::Build(args) => build::run(args),
        Command::Sim(args) => watch::run(&args.watching, &sim::files(args), || sim::run(args)),
        Command::Trace(args) => trace::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Run(args) if args.target == diff::Where::Xdp => run_in_kernel::run(args),
        Command::Run(args) => run::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Doc(args) => {
            watch::run(&args.watching, slice::from_ref(&args.source.file), || doc::run(args))
        }
        Command::Dissect(args) => dissect::run(args),
        Command::Layout(args) => {
            watch::run(&args.watching, slice::from_ref(&args.source.file), || layout::run(args))
        }
        Command::Merge(args) => merge::run(args),
        Command::Plot(args) => plot::run(args),
        Command::Repro(args) => repro::run(args),
        Command::Report(args) => report::run(args),
        Command::Targets(args) => targets::run(args),
        Command::Completions(args) => Ok(shell::completions(args)),
        Command::Man(args) => shell::man(args),
        Command::Lsp(_) => lsp::run(),
    }
}

/// A program that is not in the kernel, in one sentence; what the verifier says, to who wants it.
fn refused(refusal: Refusal, verbose: bool) -> Failure {
    let text = refusal.to_string();
    match refusal {
        Refusal::Missing(_) => Failure::Missing(text),
        Refusal::Failed(_) => Failure::Failed(text),
        Refusal::Rejected { log, .. } if verbose => Failure::Failed(format!("{text}\n{log}")),
        Refusal::Rejected { .. } => Failure::Failed(format!("{text}; --verbose shows all that it says")),
    }
}

/// The program in the file; its diagnostics go to standard error, and errors end the command.
fn load(source: &Source) -> Result<Arc<Program>, Failure> {
    load_choice(&source.file, &source.features.choice())
}

/// As [`load`], with these features.
fn load_choice(file: &Path, choice: &Choice) -> Result<Arc<Program>, Failure> {
    load_for(file, choice, None)
}

/// As [`load_choice`], for a target, if there is one.
fn load_for(file: &Path, choice: &Choice, target: Option<&Target>) -> Result<Arc<Program>, Failure> {
    let compiled = compile_for(file, choice, target)?;
    output::diagnostics(&compiled);
    compiled.program.clone().ok_or_else(|| Failure::Failed(output::summary(&compiled)))
}
