//! The `carrick` command: arguments in, the driver's work, text out.
//!
//! Results go to standard output, diagnostics and progress to standard error. Exit codes: 0 done,
//! 1 diagnostics or a failed check, 2 usage, 3 something is missing and nothing ran, 101 our own bug.

mod args;
mod commands;
mod output;
mod stack;
mod watch;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to report to if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match commands::run(&args) {
        Ok(code) => code,
        Err(failure) => {
            output::failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
