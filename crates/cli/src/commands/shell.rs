// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick completions` and `carrick man`: what shells and `man` want to know of this command.

use std::io;
use std::process::ExitCode;

use carrick_driver::Failure;
use carrick_driver::targets::Targets;
use clap::Command;

use crate::args::{Completions, Man};
use crate::command_line::command;

const NAME: &str = "carrick";

pub fn completions(args: &Completions, targets: Targets) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(targets), NAME, &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

/// A page for the command and one for each subcommand.
pub fn man(args: &Man, targets: Targets) -> Result<ExitCode, Failure> {
    let failed = |e: io::Error| Failure::Failed(format!("cannot write {}: {e}", args.dir.display()));
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    clap_mangen::generate_to(with_examples(command(targets)), &args.dir).map_err(failed)?;
    println!("{}: `man -l {}/{NAME}.1`", args.dir.display(), args.dir.display());
    Ok(ExitCode::SUCCESS)
}

/// Pages have a place for what follows the help of a command, and none for the example before it.
fn with_examples(command: Command) -> Command {
    let with = |c: Command| match c.get_before_help().cloned() {
        Some(example) => c.after_help(example),
        None => c,
    };
    with(command).mut_subcommands(with)
}
