// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file a command.

mod build;
mod check;
mod diff;
mod dissect;
mod doc;
mod explain;
pub mod fabric;
pub mod faults;
mod fmt;
mod layout;
mod lsp;
mod merge;
mod new;
mod picture;
mod plot;
mod rate_trace;
mod refused;
pub mod report;
mod repro;
mod run;
pub mod scenario;
mod shell;
pub mod sim;
pub mod sweep;
mod targets;
mod trace;
mod traced;
mod verify;
mod versions;

use std::process::ExitCode;
use std::slice;

use carrick_driver::Failure;
use carrick_driver::targets::Targets;

use crate::args::{Args, Command};
use crate::watch;

/// Carries out the command.
///
/// # Errors
/// A [`Failure`] with its exit code, if the command could not do its work.
pub fn run(args: &Args, targets: Targets) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::New(args) => new::run(args),
        Command::Check(args) => watch::run(&args.watching, &args.files, || check::run(args, targets)),
        Command::Fmt(args) => fmt::run(args),
        Command::Build(args) => build::run(args, targets),
        Command::Sim(args) => watch::run(&args.watching, &sim::files(args), || sim::run(args)),
        Command::Sweep(args) => sweep::run(args),
        Command::Trace(args) => trace::run(args, targets),
        Command::Diff(args) => diff::run(args, targets),
        Command::Run(args) => run::run(args, targets),
        Command::Verify(args) => verify::run(args),
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
        Command::Targets(args) => targets::run(args, targets),
        Command::Completions(args) => Ok(shell::completions(args, targets)),
        Command::Man(args) => shell::man(args, targets),
        Command::Lsp(_) => lsp::run(),
    }
}
