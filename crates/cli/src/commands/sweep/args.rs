// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `carrick sweep`: those of `carrick sim`, each with one value or several, and its own.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::values::Unit;
use crate::args::SimArgs;
use crate::commands::fabric::Shard;

#[derive(Debug, Args)]
pub struct SweepArgs {
    #[command(flatten)]
    pub swept: Swept,
    #[command(flatten)]
    pub table: TableArgs,
}

/// What a sweep makes of its runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sweeps")]
pub struct TableArgs {
    /// Table to write (CSV)
    #[arg(short, long, default_value = "sweep.csv")]
    pub output: PathBuf,
    /// Rows of the table
    #[arg(long, value_enum, default_value = "runs")]
    pub rows: Rows,
    /// Number of seeds of each combination; they count up from --seed
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Lists that advance together, in place of all their combinations: rate,delay or a parameter's name. Repeat for several groups
    #[arg(long, value_name = "NAMES")]
    pub zip: Vec<String>,
    /// Number of runs in parallel
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// Keep the rows of the table, and make only the runs that it lacks
    #[arg(long)]
    pub resume: bool,
    /// Table whose rows are taken in place of making their runs. Repeat for several
    #[arg(long, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// Part of the runs to make: the I-th of N. `--from` joins the tables
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Exit with 0 although runs failed: their rows say so
    #[arg(long)]
    pub allow_failures: bool,
    /// Make no run; write a workflow of Snakemake into this folder
    #[arg(long, value_name = "DIR")]
    pub write_snakemake: Option<PathBuf>,
    /// Make no run; write an array job of Slurm into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "write_snakemake")]
    pub write_slurm: Option<PathBuf>,
    /// Number of jobs of --write-snakemake and --write-slurm (default 16)
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub parts: Option<u64>,
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rows {
    /// One row a run
    Runs,
    /// One row a flow
    Flows,
}

/// Options of a simulation that a sweep does not have: they name files for one run, or it has its own.
const ELSEWHERE: [&str; 17] = [
    "pcap",
    "trace",
    "trace_format",
    "trace_at",
    "watch",
    "format",
    "link",
    "csv",
    "rates",
    "every",
    "samples",
    "sample",
    "timeline",
    "plot",
    "seeds",
    "jobs",
    "shard",
];
/// Options whose values have commas themselves, beside those that the parser splits.
const WITH_COMMAS: [&str; 6] = ["host_with", "service", "offload", "call", "link_fault", "cross"];

/// An option of a simulation, as the command line gives it.
#[derive(Debug, Clone)]
pub struct Given {
    /// its name for the parser, and on the command line; programs have none
    pub id: String,
    pub long: Option<String>,
    /// as written, one for each time that it is given; a flag has none
    pub values: Vec<String>,
    /// whether it may be given several times, and each time says something else
    pub repeats: bool,
    /// whether a comma is part of a value
    pub commas: bool,
    pub unit: Option<Unit>,
}

/// Whether values of an option of a simulation have commas.
pub fn with_commas(arg: &Arg) -> bool {
    arg.get_value_delimiter().is_some() || WITH_COMMAS.contains(&arg.get_id().as_str())
}

/// The options of the simulation, in the order of the parser.
#[derive(Debug, Clone)]
pub struct Swept(pub Vec<Given>);

/// The arguments of a simulation that a sweep has.
fn arguments() -> Vec<Arg> {
    let sim = SimArgs::augment_args(Command::new("sim"));
    sim.get_arguments().filter(|arg| !ELSEWHERE.contains(&arg.get_id().as_str())).cloned().collect()
}

/// Takes a list where the simulation takes one value.
fn with_lists(arg: Arg) -> Arg {
    if !arg.get_action().takes_values() {
        return arg;
    }
    let known = List(arg.get_possible_values());
    let arg = if arg.is_positional() {
        arg.num_args(1..).help("Programs (.mtp), or their tables (.json)")
    } else {
        arg
    };
    arg.action(ArgAction::Append).value_delimiter(None).value_parser(known)
}

impl Args for Swept {
    fn augment_args(command: Command) -> Command {
        arguments().into_iter().map(with_lists).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Swept::augment_args(command)
    }
}

impl FromArgMatches for Swept {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Swept, clap::Error> {
        use clap::parser::ValueSource::CommandLine;
        let given = |arg: Arg| {
            let id = arg.get_id().as_str();
            if matches.value_source(id) != Some(CommandLine) {
                return None;
            }
            let takes = arg.get_action().takes_values();
            let values =
                takes.then(|| matches.get_many::<String>(id)).flatten().into_iter().flatten().cloned();
            let delimited = arg.get_value_delimiter().is_some();
            Some(Given {
                id: id.to_owned(),
                long: arg.get_long().map(str::to_owned),
                values: values.collect(),
                repeats: matches!(arg.get_action(), ArgAction::Append) && !delimited,
                commas: with_commas(&arg),
                unit: Unit::of(&arg),
            })
        };
        Ok(Swept(arguments().into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Swept::from_arg_matches(matches)?;
        Ok(())
    }
}

impl SweepArgs {
    /// The words of a command line that asks for the same runs and rows.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec!["sweep".to_owned()];
        for given in &self.swept.0 {
            match &given.long {
                Some(long) if given.values.is_empty() => words.push(format!("--{long}")),
                Some(long) => words.extend(given.values.iter().map(|value| format!("--{long}={value}"))),
                None => words.extend(given.values.iter().cloned()),
            }
        }
        let table = &self.table;
        words.extend(table.zip.iter().map(|names| format!("--zip={names}")));
        words.push(format!("--seeds={}", table.seeds));
        let rows = table.rows.to_possible_value();
        words.extend(rows.map(|rows| format!("--rows={}", rows.get_name())));
        words
    }
}

/// Any text, with the values that the simulation knows for the help.
#[derive(Clone)]
struct List(Vec<PossibleValue>);

impl TypedValueParser for List {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let text = value.to_str().filter(|text| !text.is_empty()).map(str::to_owned);
        text.ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        (!self.0.is_empty()).then(|| Box::new(self.0.iter().cloned()) as Box<_>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new option of the simulation is one of the sweep, or is named here.
    #[test]
    fn what_is_named_is_there() {
        let sim = SimArgs::augment_args(Command::new("sim"));
        for id in ELSEWHERE.iter().chain(&WITH_COMMAS) {
            assert!(sim.get_arguments().any(|arg| arg.get_id() == *id), "{id}");
        }
    }
}
