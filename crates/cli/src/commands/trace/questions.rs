// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs and recorded runs have in common: their program, and what is wrong with what is asked of it.

use std::path::Path;
use std::process::ExitCode;

use carrick_driver::probe::{self, Asked, Unanswered};
use carrick_driver::{Choice, Failure, quantity};
use carrick_sim::show::clock;

use super::load_error::LoadError;
use crate::args::TraceArgs;
use crate::output;

/// The program of a file, of which questions are asked.
pub fn open(file: &Path, choice: &Choice) -> Result<Asked, Failure> {
    let (compiled, asked) = probe::open(file, choice)?;
    output::diagnostics(&compiled);
    asked.ok_or_else(|| Failure::Failed(output::summary(&compiled)))
}

/// Says which times of `--at` come after the end, where there is nothing to see.
pub fn beyond(args: &TraceArgs, ended_at: u64, run: &str) -> Result<(), Failure> {
    for at in &args.at {
        if quantity::duration(at)? > ended_at {
            eprintln!("carrick: --at {at}: {run} ends before, at {} s", clock(ended_at));
        }
    }
    Ok(())
}

/// Says what is wrong with a question on the command line.
pub fn refuse(unanswered: LoadError) -> Result<ExitCode, Failure> {
    match unanswered {
        LoadError::Usage(failure) => Err(failure),
        LoadError::Question(Unanswered::Refused(sentence)) => Err(Failure::Usage(sentence)),
        LoadError::Question(Unanswered::Wrong(compiled)) => {
            output::diagnostics(&compiled);
            Ok(ExitCode::from(2))
        }
    }
}
