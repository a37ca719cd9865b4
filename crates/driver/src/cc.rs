//! The C compiler: finding it, and making a shared library of a program for the simulator.

use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_ir as ir;
use tempfile::TempDir;

use crate::{Failure, build};

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

/// A program as a shared library in a folder of its own, which is removed when this is dropped.
#[derive(Debug)]
pub struct SharedLibrary {
    /// the `.so`
    pub path: PathBuf,
    _dir: TempDir,
}

pub(crate) fn temporary() -> Result<TempDir, Failure> {
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
    let library = format!("lib{}.so", program.name);
    let mut command = Command::new(compiler());
    command.args(["-std=c11", "-O2", "-march=native", "-g", "-shared", "-fPIC", "-o", &library]);
    command.args(["-Iruntime/include", "-DCARRICK_ENTRY=1"]).current_dir(dir.path());
    if tracing == Tracing::On {
        command.arg("-DCARRICK_TRACE=1");
    }
    command.arg(format!("{}.c", program.name));
    run(&mut command, "compile the generated C")?;
    Ok(SharedLibrary { path: dir.path().join(library), _dir: dir })
}

/// A program for the kernel in a folder of its own, which is removed when this is dropped.
#[derive(Debug)]
pub struct KernelObject {
    /// the `.bpf.o`
    pub path: PathBuf,
    /// that of what hands packets to the programs on a device
    pub dispatcher: PathBuf,
    _dir: TempDir,
}

/// Emits the program's BPF C and compiles it.
///
/// # Errors
/// As [`build::kernel`]; [`Failure::Missing`] if there is no place for files.
pub fn kernel_object(program: &ir::Program, tracing: Tracing) -> Result<KernelObject, Failure> {
    let dir = temporary()?;
    build::kernel(program, dir.path(), tracing)?;
    let path = dir.path().join(format!("{}.bpf.o", program.name));
    Ok(KernelObject { path, dispatcher: build::dispatcher(dir.path()), _dir: dir })
}

/// The compiler for the kernel's machine: `$CLANG`, else `clang`.
fn kernel_compiler() -> String {
    std::env::var("CLANG").ok().filter(|clang| !clang.is_empty()).unwrap_or_else(|| "clang".into())
}

/// Compiles `NAME.bpf.c` in a folder that has its headers to `NAME.bpf.o`.
///
/// # Errors
/// [`Failure::Missing`] if there is no clang, [`Failure::Failed`] with its messages if it rejects the code.
pub fn kernel(dir: &Path, name: &str, tracing: Tracing) -> Result<(), Failure> {
    let mut command = Command::new(kernel_compiler());
    command.current_dir(dir).args(["-target", "bpf", "-mcpu=v3", "-std=gnu11", "-O2", "-g"]);
    // An object is the same in every folder.
    command.arg("-ffile-compilation-dir=.");
    // Frames of functions share places.
    command.arg("-fno-strict-aliasing");
    command.args(["-ffreestanding", "-nostdlibinc", "-fno-builtin", "-Wall", "-Wextra", "-Wconversion"]);
    command.args(["-Werror", "-Iinclude", "-Iruntime/include"]);
    if tracing == Tracing::On {
        command.arg("-DCARRICK_TRACE=1");
    }
    command.args(["-c", &format!("{name}.bpf.c"), "-o", &format!("{name}.bpf.o")]);
    run_with(&mut command, "compile for the kernel", "apt-get install clang", "CLANG")
}

/// Runs `make` in a folder.
///
/// # Errors
/// [`Failure::Missing`] without `make` or a C compiler, [`Failure::Failed`] with what it printed if it fails.
pub fn make(dir: &Path, goals: &[&str], tracing: Tracing) -> Result<(), Failure> {
    // Else it would be make that complains of it, and not say what to install.
    run(Command::new(compiler()).arg("--version"), "look for the C compiler")?;
    let mut command = Command::new("make");
    command.arg("-C").arg(dir).arg("--no-print-directory").args(goals);
    if std::env::var_os("CC").is_none() {
        command.env("CC", compiler());
    }
    if tracing == Tracing::On {
        command.arg("CFLAGS=-O2 -g -DCARRICK_TRACE=1");
    }
    run(&mut command, "build")
}

fn run(command: &mut Command, what: &str) -> Result<(), Failure> {
    run_with(command, what, "apt-get install gcc make libc6-dev", "CC")
}

/// Runs a tool that `install` brings to Debian, and that the variable can name.
fn run_with(command: &mut Command, what: &str, install: &str, variable: &str) -> Result<(), Failure> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| {
        Failure::Missing(format!(
            "cannot {what}: {tool} does not start ({e}); install it (Debian: {install}) or set {variable}"
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Failed(format!("cannot {what}: {tool} ended with {}\n{said}", output.status)))
}
