// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::log;
use crate::place::Place;

/// Run transport programs in the kernel of this machine, as a service
#[derive(Debug, Parser)]
#[command(
    name = "carrickd",
    version,
    before_help = "Example: carrickd run /etc/carrick/carrickd.toml",
    max_term_width = 100
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load the programs of a configuration into the kernel, and keep them there until SIGTERM or SIGINT. SIGHUP reads the configuration again. SIGUSR1 ends the daemon alone; the next daemon continues
    #[command(before_help = "Example: carrickd run /etc/carrick/carrickd.toml --log debug")]
    Run(Run),
    /// Print the programs, applications, connections and counters of the daemon
    #[command(before_help = "Example: carrickd status --format json")]
    Status(Status),
    /// Remove the pins, devices and files of dead daemons
    #[command(before_help = "Example: carrickd clean stream")]
    Clean(Clean),
}

#[derive(Debug, ClapArgs)]
pub struct Run {
    /// Configuration: the programs and their devices; docs/carrickd.md describes it
    #[arg(default_value = "/etc/carrick/carrickd.toml")]
    pub config: PathBuf,
    /// Lowest level of lines on standard error
    #[arg(long, value_enum, default_value = "info")]
    pub log: log::Level,
    /// Print also the log of the kernel's verifier for a rejected program
    #[arg(long)]
    pub verbose: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Status {
    /// List also each connection: its context and its id
    #[arg(long)]
    pub connections: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// for people
    Pretty,
    /// for programs
    Json,
}

#[derive(Debug, ClapArgs)]
pub struct Clean {
    /// Name of the program. Omit for all
    pub name: Option<String>,
}
