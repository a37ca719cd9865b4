// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick lsp`

use std::process::ExitCode;

use carrick_driver::Failure;
use carrick_lsp::Ended;

/// Serves the editor that started this process; an editor that went without a word gives exit code 1.
pub fn run() -> Result<ExitCode, Failure> {
    match carrick_lsp::serve_stdio() {
        Ok(Ended::Properly) => Ok(ExitCode::SUCCESS),
        Ok(Ended::Abruptly) => Ok(ExitCode::FAILURE),
        Err(error) => Err(Failure::Failed(format!("the conversation with the editor broke off: {error}"))),
    }
}
