// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `carrick` command, with the targets of this repository.

use std::process::ExitCode;

/// Trees of syntax are many small pieces: a program is checked in four fifths of the time that the system's allocator needs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    carrick_cli::main(carrick_targets::ALL)
}
