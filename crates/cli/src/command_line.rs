// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line with what depends on the targets: their names, and the options of their hosts.

use std::ffi::OsStr;
use std::iter;

use carrick_driver::targets::Targets;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser};

use crate::args::{self, Args, Features};
use crate::commands::sweep::where_one_is_needed;
use crate::manifest::words;
use crate::unused;

/// The whole command line.
pub fn command(targets: Targets) -> Command {
    let files = targets.files();
    let hosts = files.iter().zip(targets.iter());
    let hosts: Vec<_> = hosts.filter_map(|(file, target)| Some((&*file.name, target.host()?))).collect();
    let options = hosts.iter().map(|(name, host)| format!("\n\nWith --target {name}: {}", host.options()));
    let help: String = iter::once("Options of the stack".to_owned()).chain(options).collect();
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    let host_names: Vec<&str> = hosts.iter().map(|(name, _)| *name).collect();
    Args::command()
        .mut_subcommand("build", |command| with_targets(command, NameOrFile(possible(&names))))
        .mut_subcommand("diff", |command| with_targets(command, NameOrFile(possible(&names))))
        .mut_subcommand("run", |command| {
            with_targets(command, possible(&host_names)).mut_arg("stack", |arg| arg.help(help))
        })
}

/// What `--target` takes.
fn with_targets(command: Command, parser: impl TypedValueParser<Value = String>) -> Command {
    command.mut_arg("target", |arg| arg.value_parser(parser))
}

fn possible(names: &[&str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names.iter().map(|name| (*name).to_owned()))
}

/// One of these names, or a target file.
#[derive(Clone)]
struct NameOrFile(PossibleValuesParser);

impl TypedValueParser for NameOrFile {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        match value.to_str() {
            Some(name) if name.ends_with(".toml") => Ok(name.to_owned()),
            _ => self.0.parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// What this process was started with.
///
/// # Errors
/// What is wrong with it, or the help that it asks for.
pub fn parse(targets: Targets) -> Result<Args, clap::Error> {
    let (mut command, given) = (command(targets), std::env::args_os().map(|word| word.into_string()));
    let matches = match given.collect::<Result<Vec<_>, _>>() {
        Ok(given) => command.try_get_matches_from_mut(own_first(given)),
        Err(_) => command.try_get_matches_from_mut(std::env::args_os()),
    }?;
    if let Some((name @ ("sim" | "trace"), given)) = matches.subcommand()
        && let Some(command) = command.find_subcommand_mut(name)
        && let Some(why) = unused::of_recording(given, command)
            .or_else(|| where_one_is_needed(given, command))
            .or_else(|| unused::find(given))
            .or_else(|| unused::without_table(given))
    {
        return Err(command.error(ErrorKind::ArgumentConflict, why));
    }
    Args::from_arg_matches(&matches)
}

/// Returns the features with which a command line (`carrick sim ...`) builds its program; `None` if it builds none.
pub fn features(line: &str) -> Option<Features> {
    match Args::try_parse_from(own_first(words::split(line))).ok()?.command {
        args::Command::Sim(sim) => Some(sim.source.features),
        args::Command::Trace(trace) => Some(trace.features),
        args::Command::Run(run) => Some(run.source.features),
        _ => None,
    }
}

/// Returns whether hosts of a command line (`carrick sim ...`, `carrick verify --peers ...`) have programs or features of their own.
pub fn has_different_hosts(line: &str) -> bool {
    match Args::try_parse_from(own_first(words::split(line))) {
        Ok(Args { command: args::Command::Sim(sim), .. }) => {
            !sim.fabric.host_with.is_empty() || !sim.fabric.host_program.is_empty()
        }
        Ok(Args { command: args::Command::Verify(verify), .. }) => verify.peers.server.is_some(),
        _ => false,
    }
}

/// What records a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorder {
    TwoHosts,
    Topology,
    Stack,
}

/// Returns what a command line (`carrick sim ...`) records.
pub fn recorder(line: &str) -> Recorder {
    match Args::try_parse_from(own_first(words::split(line))) {
        Ok(Args { command: args::Command::Sim(sim), .. }) if sim.fabric.topology.is_none() => {
            Recorder::TwoHosts
        }
        Ok(Args { command: args::Command::Run(_), .. }) => Recorder::Stack,
        _ => Recorder::Topology,
    }
}

/// `carrick run` takes its own options also behind those of the stack: moves them before the others.
fn own_first(given: Vec<String>) -> Vec<String> {
    let Some((start, rest)) = given.split_at_checked(2).filter(|(start, _)| start[1] == "run") else {
        return given;
    };
    let known = Args::command();
    let options = known.find_subcommand("run").into_iter().flat_map(Command::get_arguments);
    let options = options.chain(known.get_arguments().filter(|arg| arg.is_global_set()));
    let options: Vec<(String, bool)> = options
        .filter_map(|arg| Some((format!("--{}", arg.get_long()?), arg.get_action().takes_values())))
        .collect();
    let (mut own, mut others) = (start.to_vec(), Vec::new());
    let mut rest = rest.iter().peekable();
    while let Some(word) = rest.next() {
        let name = word.split_once('=').map_or(&**word, |(name, _)| name);
        match options.iter().find(|(option, _)| option == name) {
            Some((_, takes)) => {
                own.push(word.clone());
                own.extend(rest.next_if(|_| *takes && name == word).cloned());
            }
            None => others.push(word.clone()),
        }
    }
    own.extend(others);
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_run_stand_anywhere() {
        let line = "carrick run a.mtp --port loop --trace a.run --app echo --quiet --with=b,c=d --verbose";
        let Ok(Args { command: args::Command::Run(run), quiet: true }) =
            Args::try_parse_from(own_first(words::split(line)))
        else {
            panic!("it is a command line")
        };
        assert_eq!(run.stack, ["--port", "loop", "--app", "echo"]);
        assert!(run.verbose && run.trace.is_some_and(|file| file.ends_with("a.run")));
        assert_eq!(
            features(line).map(|features| features.with),
            Some(vec!["b".to_owned(), "c=d".to_owned()])
        );
        assert!(features("carrick targets").is_none());
    }
}
