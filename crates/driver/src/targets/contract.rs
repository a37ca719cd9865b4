// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contract of a target: what it has, what it makes of a program, and how that runs.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_ir::{Loc, Program};
use carrick_sim::diff::{Network, Pace};
use carrick_sim::scenario::{Engine, Scenario};

use super::file::TargetFile;
use crate::Failure;
use crate::stack::{Stack, StackRecords};

/// Something of a program that a target cannot build yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// what it is, as the beginning of a sentence
    pub what: String,
    /// the blueprint or option that it is about
    pub declared: Option<String>,
    /// the statement; line 0 if it is none
    pub loc: Loc,
}

/// A target. Only the list of targets names it.
pub trait Target: Sync {
    /// Returns the text of its target file, which says what it supports.
    fn file(&self) -> &'static str;

    /// Checks a program that uses only what the target file lists; returns the first part that cannot be built yet.
    fn check(&self, _program: &Program) -> Option<Unsupported> {
        None
    }

    /// Writes and builds a program in a folder; returns a sentence that lists what is there now. `file` is the target's own
    /// file, or a variant of it with other limits.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the folder cannot be written, [`Failure::Missing`] without a tool, [`Failure::Failed`] with
    /// the messages of a tool that fails.
    fn emit(&self, file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure>;

    /// Returns how `carrick run` runs programs; nothing if only others run what was emitted.
    fn host(&self) -> Option<&dyn Host> {
        None
    }

    /// Builds cores of a program for `carrick diff`. `file` is as for [`Target::emit`]; `verbose`: an error quotes all that a
    /// tool says.
    ///
    /// # Errors
    /// As [`Target::emit`]; [`Failure::Usage`] for a target without cores that can be compared.
    fn cores(
        &self,
        _file: &TargetFile,
        _program: &Arc<Program>,
        _verbose: bool,
    ) -> Result<Box<dyn Cores>, Failure> {
        Err(Failure::Usage("this target has no cores to compare with the interpreter".into()))
    }
}

/// How programs run on a target.
pub trait Host {
    /// Returns the options that it takes, for `carrick run --help`.
    fn options(&self) -> &'static str;

    /// Runs a program until it ends, or is told to.
    ///
    /// # Errors
    /// [`Failure::Usage`] for options that it does not know, [`Failure::Missing`] without a tool, device or privilege.
    fn run(&self, run: &Run<'_>) -> Result<ExitCode, Failure>;

    /// Starts a program that reports each event.
    ///
    /// # Errors
    /// As [`Host::run`]; [`Failure::Usage`] for a host that reports nothing.
    fn run_telling(&self, _run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
        Err(Failure::Usage("this target reports no trace; leave out --trace".into()))
    }
}

/// A program to run.
pub struct Run<'a> {
    /// with the features of this run
    pub program: &'a Arc<Program>,
    /// the host's options, as they were written
    pub words: &'a [String],
    /// an error quotes all that a tool says
    pub verbose: bool,
    /// the program takes changes: so does the stack, of root
    pub changes: bool,
}

/// Cores of one program on a target, next to which the interpreter runs.
pub trait Cores {
    /// Returns in which ways packets can leave a core.
    fn paces(&self) -> &[Pace] {
        &[Pace::Asked]
    }

    /// Returns what makes cores whose packets leave in this way.
    fn engine(&self, pace: Pace) -> Engine;

    /// Returns the scenario as this target can run it, where its packets are shorter or its links lack a fault.
    fn fit(&self, scenario: Scenario) -> Scenario {
        scenario
    }

    /// Returns the network of this target, in which its cores run; without one, they run in the simulator's.
    fn network(&self) -> Option<&dyn Network> {
        None
    }

    /// Returns why the last core could not be made, if that is not the program's fault.
    fn refusal(&self) -> Option<Failure> {
        None
    }
}
