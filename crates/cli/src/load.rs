// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs from files.

use std::path::Path;
use std::sync::Arc;

use carrick_driver::targets::Against;
use carrick_driver::{Choice, Failure, Over, compile_for};
use carrick_ir::{NetLayer, Program};

use crate::args::Source;
use crate::output;

/// As [`load_choice`], of what the command line names.
pub fn load(source: &Source) -> Result<Arc<Program>, Failure> {
    load_choice(&source.file, &source.features.choice())
}

/// The program in the file, with these features; its diagnostics go to standard error, and errors end the command.
pub fn load_choice(file: &Path, choice: &Choice) -> Result<Arc<Program>, Failure> {
    load_for(file, choice, None)
}

/// What a program in the network is built with: the version of the Internet Protocol of the ends.
pub fn choice_between(ends: &Program) -> Choice {
    let over = if ends.net_header.layer == NetLayer::Ipv6 { Over::Ipv6 } else { Over::Ipv4 };
    Choice { over, ..Choice::default() }
}

/// As [`load_choice`], for a target, if there is one.
pub fn load_for(file: &Path, choice: &Choice, target: Option<&Against>) -> Result<Arc<Program>, Failure> {
    let compiled = compile_for(file, choice, target)?;
    output::diagnostics(&compiled);
    compiled.program.clone().ok_or_else(|| Failure::Failed(output::summary(&compiled)))
}
