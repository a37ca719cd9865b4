// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs from files.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compiled::shared_library;
use carrick_driver::targets::Against;
use carrick_driver::{Choice, Compiled, Failure, Over, compile_for, compile_texts_choice};
use carrick_ir::{NetLayer, Program};
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::scenario::Engine;
use carrick_sim::stop::Stop;

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
    program(&compiled)
}

fn program(compiled: &Compiled) -> Result<Arc<Program>, Failure> {
    compiled.program.clone().ok_or_else(|| Failure::Failed(output::summary(compiled)))
}

/// Texts of programs by the names of their files, in place of these files.
pub type Texts = BTreeMap<String, String>;

/// Takes the diagnostics of each program that is compiled.
type Hear = Box<dyn Fn(&Compiled) + Send + Sync>;

/// Reads imports from these texts.
pub fn reader(texts: &Texts) -> impl FnMut(&str) -> Result<String, String> {
    |name| texts.get(name).cloned().ok_or_else(|| "the program does not have it".to_owned())
}

/// A program, and the library of its compiled core if that runs it. The library must stay as long as its core is used.
#[derive(Clone)]
pub struct Build {
    pub program: Arc<Program>,
    library: Option<Arc<Built>>,
}

impl Build {
    /// Compiles the core of a program, if there is a kind of core to compile.
    ///
    /// # Errors
    /// Those of [`shared_library`].
    pub fn of(program: Arc<Program>, compiled: Option<Tracing>) -> Result<Build, Failure> {
        let library = compiled.map(|tracing| shared_library(&program, tracing)).transpose()?;
        Ok(Build { program, library: library.map(Arc::new) })
    }

    /// The interpreter, or the compiled core.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the core cannot be loaded.
    pub fn engine(&self) -> Result<Engine, Failure> {
        let Some(library) = &self.library else { return Ok(Engine::Interpreter) };
        let core = CompiledProgram::load(&library.path, &self.program).map_err(Failure::Failed)?;
        Ok(Engine::Compiled(core))
    }
}

/// The programs of a command. Each is compiled once, with each choice of features, however many runs the command makes.
pub struct Builds {
    compiled: Option<Tracing>,
    texts: Texts,
    hear: Hear,
    /// ends the runs of these programs
    pub stop: Stop,
    known: Mutex<HashMap<(PathBuf, Choice), Build>>,
}

impl Builds {
    /// With compiled cores of this kind; `None` for the interpreter.
    pub fn new(compiled: Option<Tracing>) -> Builds {
        Builds::of(compiled, Texts::new(), Box::new(output::diagnostics), Stop::default())
    }

    /// The same, of texts where there are some, with diagnostics for another reader than a person at a terminal.
    pub fn of(compiled: Option<Tracing>, texts: Texts, hear: Hear, stop: Stop) -> Builds {
        Builds { compiled, texts, hear, stop, known: Mutex::default() }
    }

    /// The program in the file, with these features.
    ///
    /// # Errors
    /// Those of [`load_choice`] and [`Build::of`].
    pub fn get(&self, file: &Path, choice: &Choice) -> Result<Build, Failure> {
        // Others wait: they need the same program, or the same processor.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (file.to_path_buf(), choice.clone());
        if let Some(build) = known.get(&name) {
            return Ok(build.clone());
        }
        let build = Build::of(self.load(file, choice)?, self.compiled)?;
        known.insert(name, build.clone());
        Ok(build)
    }

    fn load(&self, file: &Path, choice: &Choice) -> Result<Arc<Program>, Failure> {
        let name = file.to_str().unwrap_or_default();
        let compiled = match self.texts.get(name) {
            Some(text) => compile_texts_choice(name, text, &mut reader(&self.texts), choice)?,
            None => compile_for(file, choice, None)?,
        };
        (self.hear)(&compiled);
        program(&compiled)
    }
}
