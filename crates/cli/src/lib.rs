// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `carrick` command: arguments in, the driver's work, text out.
//!
//! Its `main` hands over the targets: nothing here names one. Results go to standard output, diagnostics and progress to standard
//! error. Exit codes: 0 done, 1 diagnostics or a failed check, 2 usage, 3 something is missing and nothing ran, 101 our own bug.

mod args;
mod command_line;
mod commands;
mod load;
mod manifest;
mod output;
mod unused;
mod watch;

use std::process::ExitCode;

use carrick_driver::progress;
use carrick_driver::targets::Targets;

/// Trees of syntax are many small pieces: a program is checked in four fifths of the time that the system's allocator needs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Ends quietly when the reader of the output has closed it (`carrick ... | head`): no error and no bug report.
fn end_with_the_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if text.is_some_and(|text| text.starts_with("failed printing to stdout: Broken pipe")) {
            std::process::exit(0);
        }
        usual(panic);
    }));
}

/// Does what the process's arguments say, with these targets.
pub fn main(targets: Targets) -> ExitCode {
    end_with_the_reader();
    let args = match command_line::parse(targets) {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to report to if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
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
