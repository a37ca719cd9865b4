// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a command ended without its result, and the exit code that says so.

use std::fmt;

/// What went wrong outside the program that is being compiled. Each message says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// the request makes no sense: exit code 2
    Usage(String),
    /// a tool, a device or a privilege is missing and nothing ran: exit code 3
    Missing(String),
    /// a check was made and failed: exit code 1
    Failed(String),
}

impl Failure {
    /// The exit code of a process that ends with this.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Failed(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Missing(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Missing(text) | Failure::Failed(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}
