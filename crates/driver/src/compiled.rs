// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs compiled to shared libraries, for the simulator.

use std::path::Path;
use std::process::Command;

use carrick_ir as ir;

use crate::built::{self, Built, Recipe};
use crate::cc::{self, Tracing, compiler};
use crate::{Failure, build};

/// Emits the program's C and compiles it to a `.so`, unless this machine has it already.
///
/// # Errors
/// [`Failure::Missing`] if there is no C compiler, [`Failure::Failed`] with its messages if it rejects the code.
pub fn shared_library(program: &ir::Program, tracing: Tracing) -> Result<Built, Failure> {
    let name = &program.name;
    let kind = if tracing == Tracing::On { "telling library" } else { "library" };
    let files = |dir: &Path| build::write_core(program, dir);
    built::once(&Recipe::of_c(&format!("{name}.so"), kind), files, |dir| compile(name, dir, tracing))
}

fn compile(name: &str, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    let [source, object, library] = ["c", "o", "so"].map(|ending| format!("{name}.{ending}"));
    let command = || {
        let mut command = Command::new(compiler());
        command.current_dir(dir);
        command
    };
    // What is traced and compared is not run for long. Lines are for backtraces and profiles: with variables (-g) the compiler
    // takes half as long again.
    let options: &[&str] = if tracing == Tracing::On { &["-O1", "-DCARRICK_TRACE=1"] } else { &["-O2"] };
    let mut compile = command();
    compile.args(options);
    compile.args(["-std=gnu11", "-g1", "-fPIC", "-Iruntime/include", "-c", "-o", &object, &source]);
    cc::run(&mut compile, &format!("compiling the core of {name}"))?;
    cc::link(command().args(["-shared", "-o", &library, &object]), &format!("linking the core of {name}"))
}
