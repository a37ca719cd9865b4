// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `carrick` command, with the targets of this repository.

use std::process::ExitCode;

fn main() -> ExitCode {
    carrick_cli::main(carrick_targets::ALL)
}
