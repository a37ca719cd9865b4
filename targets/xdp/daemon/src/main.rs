// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrickd`: transports in this machine's kernel, from its start to its end.
//!
//! What a daemon holds is pinned: another one that starts after its death finds it, and goes on. Exit codes are those of
//! `carrick`: 0 done, 1 failed, 2 usage, 3 something is missing and nothing was done.

mod about;
mod clean;
mod config;
mod control;
mod daemon;
mod host;
mod log;
mod metrics;
mod notify;
mod place;
mod process;
#[cfg(test)]
mod random;
mod run;
mod server;
mod service;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod simulated_clients;
mod status;
mod supervise;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::place::Place;

/// Run transport programs in the kernel of this machine, as a service
#[derive(Debug, Parser)]
#[command(
    name = "carrickd",
    version,
    before_help = "Example: carrickd run /etc/carrick/carrickd.toml",
    max_term_width = 100
)]
struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Subcommand)]
enum Command {
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
struct Run {
    /// Configuration: the programs and their devices; docs/carrickd.md describes it
    #[arg(default_value = "/etc/carrick/carrickd.toml")]
    config: PathBuf,
    /// Lowest level of lines on standard error
    #[arg(long, value_enum, default_value = "info")]
    log: log::Level,
    /// Print also the log of the kernel's verifier for a rejected program
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, ClapArgs)]
struct Status {
    /// List also each connection: its context and its id
    #[arg(long)]
    connections: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// for people
    Pretty,
    /// for programs
    Json,
}

#[derive(Debug, ClapArgs)]
struct Clean {
    /// Name of the program. Omit for all
    name: Option<String>,
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to report to if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = match &args.command {
        Command::Run(run) => run::run(run, &args.place),
        Command::Status(status) => status::run(status.connections, status.format, &args.place),
        Command::Clean(clean) => clean::run(clean.name.as_deref(), &args.place),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            log::line(log::Level::Error, &failure.to_string());
            ExitCode::from(failure.exit_code())
        }
    }
}
