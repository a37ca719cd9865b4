// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `carrick` command: arguments in, the driver's work, text out.
//!
//! Its `main` hands over the targets: nothing here names one. Results go to standard output, diagnostics and progress to standard
//! error. Exit codes: 0 done, 1 diagnostics or a failed check, 2 usage, 3 something is missing and nothing ran, 4 a proof
//! was not found, 101 our own bug.

mod args;
mod command_line;
mod commands;
mod load;
mod manifest;
mod output;
mod recorded;
pub mod simulations;
mod trace_file;
mod unused;
mod watch;

use std::io::ErrorKind;
use std::process::ExitCode;

use carrick_driver::progress;
use carrick_driver::targets::Targets;

/// Trees of syntax are many small pieces: a program is checked in four fifths of the time that the system's allocator needs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What `println!` panics with, before the system's error.
const UNWRITTEN: &str = "failed printing to stdout: ";

/// Ends when nothing more can be written to standard output: quietly if its reader has closed it (`carrick ... | head`), else with
/// an error, and without a bug report.
fn end_with_the_output() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        match text.and_then(|text| text.strip_prefix(UNWRITTEN)) {
            None => usual(panic),
            Some(error) if error.starts_with("Broken pipe") => std::process::exit(0),
            Some(error) => {
                eprintln!("carrick: cannot write to standard output: {error}");
                std::process::exit(1);
            }
        }
    }));
}

/// Help goes to standard output, and what is wrong with the arguments to standard error.
fn told(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(unwritten) if !error.use_stderr() && unwritten.kind() != ErrorKind::BrokenPipe => {
            eprintln!("carrick: cannot write to standard output: {unwritten}");
            ExitCode::FAILURE
        }
        // Nothing is left to report to if the terminal is gone.
        _ => ExitCode::from(if error.use_stderr() { 2 } else { 0 }),
    }
}

/// Does what the process's arguments say, with these targets.
pub fn main(targets: Targets) -> ExitCode {
    end_with_the_output();
    let args = match command_line::parse(targets) {
        Ok(args) => args,
        Err(error) => {
            return told(&error);
        }
    };
    if args.quiet {
        output::be_quiet();
    }
    progress::show_by(output::step);
    match commands::run(&args, targets) {
        Ok(code) => code,
        Err(failure) => {
            output::failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
