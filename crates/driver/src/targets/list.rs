// SPDX-License-Identifier: MIT OR Apache-2.0
//! A list of targets, reading their files, and choosing one.

use std::path::Path;
use std::sync::Arc;

use carrick_ir::Program;

use super::contract::{Cores, Target};
use super::file::TargetFile;
use super::{groups, limits, sites};
use crate::Failure;

impl TargetFile {
    /// Reads a target file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<TargetFile, String> {
        let mut file: TargetFile = toml::from_str(text).map_err(|e| e.to_string())?;
        groups::expand(&mut file)?;
        limits::unknown(&file).or_else(|| sites::wrong(&file)).map_or(Ok(file), Err)
    }
}

/// The file of a target.
///
/// # Panics
/// If it is malformed; a test reads them all.
fn file(target: &dyn Target) -> TargetFile {
    let text = target.file();
    TargetFile::parse(text).unwrap_or_else(|e| panic!("a target file is malformed: {e}\n{text}"))
}

/// The targets of a command. The command's `main` hands them over; nothing else lists them.
#[derive(Clone, Copy)]
pub struct Targets(&'static [&'static dyn Target]);

/// What a program is checked against.
#[derive(Clone)]
pub struct Against {
    /// what the target supports
    pub file: TargetFile,
    /// what builds for it; nothing does for a target file that is still being written
    pub(super) target: Option<&'static dyn Target>,
    /// the files of all targets: one of them may support what this one does not
    pub(super) all: Vec<TargetFile>,
    /// whether the target's applications call the program
    pub(super) called: bool,
}

impl Against {
    /// The same for cores alone, without the target's applications: a comparison makes the calls of any interface.
    #[must_use]
    pub fn cores_alone(self) -> Against {
        Against { called: false, ..self }
    }

    /// Builds a program in a folder; returns a sentence that lists what is there now.
    ///
    /// # Errors
    /// As [`Target::emit`]; [`Failure::Usage`] if no target builds for this target file.
    pub fn emit(&self, program: &Program, dir: &Path) -> Result<String, Failure> {
        self.target()?.emit(&self.file, program, dir)
    }

    /// Builds cores of a program for `carrick diff`; `verbose`: an error quotes all that a tool says.
    ///
    /// # Errors
    /// As [`Target::cores`]; [`Failure::Usage`] if no target builds for this target file.
    pub fn cores(&self, program: &Arc<Program>, verbose: bool) -> Result<Box<dyn Cores>, Failure> {
        self.target()?.cores(&self.file, program, verbose)
    }

    fn target(&self) -> Result<&'static dyn Target, Failure> {
        let name = &self.file.name;
        self.target.ok_or_else(|| Failure::Usage(format!("no target builds for {name:?}")))
    }
}

impl Targets {
    /// Lists these targets.
    pub const fn new(all: &'static [&'static dyn Target]) -> Targets {
        Targets(all)
    }

    /// The targets, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Target> {
        self.0.iter().copied()
    }

    /// The files of all targets, in their order.
    pub fn files(&self) -> Vec<TargetFile> {
        self.iter().map(file).collect()
    }

    /// The target with this name.
    ///
    /// # Errors
    /// [`Failure::Usage`] with the names of all.
    pub fn find(&self, name: &str) -> Result<&'static dyn Target, Failure> {
        let files = self.files();
        let at = files.iter().position(|file| file.name == name);
        at.map(|at| self.0[at]).ok_or_else(|| {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            Failure::Usage(format!("there is no target {name:?}; there are {}", names.join(", ")))
        })
    }

    /// Checks programs against this target.
    pub fn against(&self, target: &'static dyn Target) -> Against {
        Against { file: file(target), target: Some(target), all: self.files(), called: true }
    }

    /// Checks programs against the target with this name, or a target file if the name ends in `.toml`. A file with the name
    /// of a listed target is a variant of that target, which builds for it.
    ///
    /// # Errors
    /// [`Failure::Usage`] with the names of all, or what is wrong with the file.
    pub fn named(&self, name: &str) -> Result<Against, Failure> {
        if !name.ends_with(".toml") {
            return self.find(name).map(|target| self.against(target));
        }
        let wrong = |e: &dyn std::fmt::Display| Failure::Usage(format!("{name} is no target file: {e}"));
        let text = std::fs::read_to_string(Path::new(name)).map_err(|e| wrong(&e))?;
        let file = TargetFile::parse(&text).map_err(|e| wrong(&e))?;
        let target = self.find(&file.name).ok();
        Ok(Against { file, target, all: self.files(), called: true })
    }
}
