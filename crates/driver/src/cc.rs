// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tools that compile: finding them, and running them in a folder. Each says what it does while it runs.

use std::path::Path;
use std::process::Command;

use crate::{Failure, progress};

/// The compiler: `$CC`, else `cc`.
pub fn compiler() -> String {
    std::env::var("CC").ok().filter(|cc| !cc.is_empty()).unwrap_or_else(|| "cc".into())
}

/// Whether the library reports trace records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    /// built with `CARRICK_TRACE`: for `diff`, traces and metrics
    On,
    /// as fast as it can be
    Off,
}

/// How Debian brings a C compiler.
const INSTALL: &str = "apt-get install gcc make libc6-dev";

/// Runs `make` in a folder; `what` is as for [`run`].
///
/// # Errors
/// [`Failure::Missing`] without `make` or a C compiler, [`Failure::Failed`] with what it printed if it fails.
pub fn make(dir: &Path, goals: &[&str], tracing: Tracing, what: &str) -> Result<(), Failure> {
    // Else it would be make that complains of it, and not say what to install.
    ran(Command::new(compiler()).arg("--version"), what, INSTALL, "CC")?;
    let mut command = Command::new("make");
    command.arg("-C").arg(dir).arg("--no-print-directory").args(goals);
    if std::env::var_os("CC").is_none() {
        command.env("CC", compiler());
    }
    if tracing == Tracing::On {
        command.arg("CFLAGS=-O2 -g1 -DCARRICK_TRACE=1");
    }
    run(&mut command, what)
}

/// Runs a tool of the C compiler, and says so; `what` is a step: `compiling the core of parcel`.
///
/// # Errors
/// As [`run_with`].
pub fn run(command: &mut Command, what: &str) -> Result<(), Failure> {
    run_with(command, what, INSTALL, "CC")
}

/// Runs the linker, which takes no time.
///
/// # Errors
/// As [`run_with`].
pub fn link(command: &mut Command, what: &str) -> Result<(), Failure> {
    ran(command, what, INSTALL, "CC")
}

/// Runs a tool that `install` brings to Debian, and that the variable can name.
///
/// # Errors
/// [`Failure::Missing`] if it does not start, [`Failure::Failed`] with what it printed if it fails.
pub fn run_with(command: &mut Command, what: &str, install: &str, variable: &str) -> Result<(), Failure> {
    let _step = progress::step(what);
    ran(command, what, install, variable)
}

fn ran(command: &mut Command, what: &str, install: &str, variable: &str) -> Result<(), Failure> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| {
        Failure::Missing(format!(
            "{what} needs {tool}, which does not start ({e}); install it (Debian: {install}) or set {variable}"
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Failed(format!("{what} failed: {tool} ended with {}\n{said}", output.status)))
}
