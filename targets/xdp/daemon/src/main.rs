// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrickd`: transports in this machine's kernel, from its start to its end.
//!
//! What a daemon holds is pinned: another one that starts after its death finds it, and goes on. Exit codes are those of
//! `carrick`: 0 done, 1 failed, 2 usage, 3 something is missing and nothing was done.

mod about;
mod args;
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

use std::process::ExitCode;

use carrick_driver::progress;
use clap::Parser;

use crate::args::{Args, Command};

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
    progress::show_by(log::step);
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
