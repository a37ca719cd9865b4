// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs compiled in folders of their own: a shared library for the simulator.

use std::path::PathBuf;
use std::process::Command;

use carrick_ir as ir;
use tempfile::TempDir;

use crate::cc::{Tracing, compiler, run};
use crate::{Failure, build};

/// A program as a shared library in a folder of its own, which is removed when this is dropped.
#[derive(Debug)]
pub struct SharedLibrary {
    /// the `.so`
    pub path: PathBuf,
    _dir: TempDir,
}

/// A folder that is removed when this is dropped.
///
/// # Errors
/// [`Failure::Missing`] if there is no place for files.
pub fn temporary() -> Result<TempDir, Failure> {
    tempfile::Builder::new().prefix("carrick-").tempdir().map_err(|e| {
        Failure::Missing(format!("cannot make a temporary folder: {e}; set TMPDIR to a writable one"))
    })
}

/// Emits the program's C and compiles it.
///
/// # Errors
/// [`Failure::Missing`] if there is no C compiler, [`Failure::Failed`] with its messages if it rejects the code.
pub fn shared_library(program: &ir::Program, tracing: Tracing) -> Result<SharedLibrary, Failure> {
    let dir = temporary()?;
    build::write_core(program, dir.path())?;
    let [source, object, library] = ["c", "o", "so"].map(|ending| format!("{}.{ending}", program.name));
    let cc = || {
        let mut command = Command::new(compiler());
        command.current_dir(dir.path());
        command
    };
    let mut compile = cc();
    compile.args(["-std=c11", "-O2", "-march=native", "-g", "-fPIC", "-Iruntime/include"]);
    compile.args(["-c", "-o", &object, &source]);
    if tracing == Tracing::On {
        compile.arg("-DCARRICK_TRACE=1");
    }
    run(&mut compile, "compile the generated C")?;
    run(cc().args(["-shared", "-o", &library, &object]), "link the generated C")?;
    Ok(SharedLibrary { path: dir.path().join(library), _dir: dir })
}
