// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line with what depends on the targets: their names, and the options of their hosts.

use std::iter;

use carrick_driver::targets::Targets;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory, FromArgMatches};

use crate::args::Args;

/// The whole command line.
pub fn command(targets: Targets) -> Command {
    let files = targets.files();
    let hosts = files.iter().zip(targets.iter());
    let hosts: Vec<_> = hosts.filter_map(|(file, target)| Some((&*file.name, target.host()?))).collect();
    let options = hosts.iter().map(|(name, host)| format!("; with --target {name}: {}", host.options()));
    let help: String = iter::once("Options of the stack".to_owned()).chain(options).collect();
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    let host_names: Vec<&str> = hosts.iter().map(|(name, _)| *name).collect();
    Args::command()
        .mut_subcommand("build", |command| with_targets(command, &names))
        .mut_subcommand("diff", |command| with_targets(command, &names))
        .mut_subcommand("run", |command| {
            with_targets(command, &host_names).mut_arg("stack", |arg| arg.help(help))
        })
}

/// Lets `--target` take these names.
fn with_targets(command: Command, names: &[&str]) -> Command {
    let names = PossibleValuesParser::new(names.iter().map(|name| (*name).to_owned()));
    command.mut_arg("target", |arg| arg.value_parser(names))
}

/// What this process was started with.
///
/// # Errors
/// What is wrong with it, or the help that it asks for.
pub fn parse(targets: Targets) -> Result<Args, clap::Error> {
    Args::from_arg_matches(&command(targets).try_get_matches()?)
}
