// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs a program in the kernel: its object, the dispatcher, and the process by which applications use it.

use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_driver::Failure;
use carrick_driver::build::{RUNTIME, seen_from, write, write_core, write_runtime, write_tree};
use carrick_driver::built::{self, Built, Recipe};
use carrick_driver::cc::{self, Tracing};
use carrick_driver::hash::Hash;
use carrick_ir::Program;
use include_dir::{Dir, include_dir};

use crate::native;

static INCLUDE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/xdp/include");
static DISPATCH: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/xdp/dispatch");
static HOST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/xdp/host");

/// Where the dispatcher lies, as seen from what is built.
const DISPATCHER: &str = "dispatch/dispatch";

/// Writes the program for the kernel with the headers that it includes, and compiles it to `NAME.bpf.o`; and so the
/// [`dispatcher`].
///
/// # Errors
/// [`Failure::Failed`] if there is something in the program that no program in the kernel can be made of,
/// [`Failure::Usage`] if the folder cannot be written, and what [`compile`] reports.
pub fn object(program: &Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    write_object(program, dir)?;
    compile(dir, &program.name, tracing)?;
    write_tree(&DISPATCH, &dir.join("dispatch"))?;
    compile(dir, DISPATCHER, tracing)
}

/// Writes what is compiled to the program's object.
fn write_object(program: &Program, dir: &Path) -> Result<(), Failure> {
    if let Some(unsupported) = carrick_xdp_emitter::unsupported(program) {
        let place = match unsupported.loc.line {
            0 => program.file.raw().to_owned(),
            line => format!("{}:{line}", program.file_of(unsupported.loc).raw()),
        };
        let what = unsupported.what;
        return Err(Failure::Failed(format!(
            "{place}: target `xdp` does not support this yet: {what}; build for `native`"
        )));
    }
    let (name, text) = carrick_xdp_emitter::emit(&seen_from(program, dir));
    write(&dir.join(name), text.as_bytes())?;
    write_headers(dir)
}

fn write_headers(dir: &Path) -> Result<(), Failure> {
    write_runtime(dir)?;
    write_tree(&INCLUDE, &dir.join("include"))
}

/// What [`object`] puts into `dir` for what hands packets to the programs on a device.
pub fn dispatcher(dir: &Path) -> PathBuf {
    dir.join(format!("{DISPATCHER}.bpf.o"))
}

/// A number that two builds for the kernel share if, and as good as only if, the kernel gets the same of them: of the
/// generated program and all its headers, not of where the source lies.
pub fn hash(program: &Program) -> u64 {
    let mut hash = Hash::new();
    let (_, text) = carrick_xdp_emitter::emit(program);
    hash.add_code(text.as_bytes());
    add_headers(&mut hash);
    hash.value()
}

fn add_headers(hash: &mut Hash) {
    let folders = [INCLUDE.get_dir("carrick"), RUNTIME.get_dir("carrick")];
    folders.into_iter().flatten().flat_map(Dir::files).for_each(|file| hash.add(file.contents()));
}

/// The option by which a program and its host see that the same version of Carrick built both (`CARRICK_LAYOUT` of layout.h).
fn layout() -> String {
    let mut hash = Hash::new();
    add_headers(&mut hash);
    format!("-DCARRICK_LAYOUT=UINT64_C({:#018x})", hash.value())
}

/// Builds the process by which applications use a program that is in the kernel: afterwards the folder has `NAME-host`.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written, and what [`cc::make`] reports.
pub fn host(program: &Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    host_files(program, dir)?;
    host_made(program, dir, tracing)
}

fn host_files(program: &Program, dir: &Path) -> Result<(), Failure> {
    write_core(program, dir)?;
    write_tree(&INCLUDE, &dir.join("include"))?;
    write_tree(&HOST, &dir.join("kernel"))?;
    native::write_host(dir)
}

fn host_made(program: &Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    let name = &program.name;
    cc::make(dir, &["lib"], tracing, &format!("compiling the core of {name}"))?;
    let program = format!("PROGRAM={name}");
    // The kernel's folder has a `string.h` of its own, which is not for processes.
    let goals = [
        &*program,
        "PROGRAM_DIR=..",
        "HERE=$(wildcard ../kernel/*.c)",
        &*format!("HERE_FLAGS=-I../kernel -idirafter ../include '{}'", layout()),
        "installed",
    ];
    cc::make(&dir.join("host"), &goals, tracing, &format!("compiling the host of {name}"))
}

/// The compiler for the kernel's machine: `$CLANG`, else `clang`.
fn compiler() -> String {
    std::env::var("CLANG").ok().filter(|clang| !clang.is_empty()).unwrap_or_else(|| "clang".into())
}

/// Compiles `NAME.bpf.c` in a folder that has its headers to `NAME.bpf.o`.
///
/// # Errors
/// [`Failure::Missing`] if there is no clang, [`Failure::Failed`] with its messages if it rejects the code.
pub fn compile(dir: &Path, name: &str, tracing: Tracing) -> Result<(), Failure> {
    let mut command = Command::new(compiler());
    command.current_dir(dir).args(["-target", "bpf", "-mcpu=v3", "-std=gnu11", "-O2", "-g"]);
    // An object is the same in every folder.
    command.arg("-ffile-compilation-dir=.");
    // Frames of functions share places.
    command.arg("-fno-strict-aliasing");
    command.args(["-ffreestanding", "-nostdlibinc", "-fno-builtin", "-Wall", "-Wextra", "-Wconversion"]);
    command.args(["-Werror", "-Iinclude", "-Iruntime/include"]);
    command.arg(layout());
    if tracing == Tracing::On {
        command.arg("-DCARRICK_TRACE=1");
    }
    if cfg!(target_arch = "x86_64") {
        command.arg("-DCARRICK_STORES_IN_ORDER=1");
    }
    command.args(["-c", &format!("{name}.bpf.c"), "-o", &format!("{name}.bpf.o")]);
    let what = Path::new(name).file_name().unwrap_or_default().display();
    let what = format!("compiling {what} for the kernel");
    cc::run_with(&mut command, &what, "apt-get install clang", "CLANG")
}

/// A program for the kernel, compiled.
#[derive(Debug)]
pub struct Object {
    /// the `.bpf.o`
    pub program: Built,
    /// that of what hands packets to the programs on a device
    pub dispatcher: Built,
}

/// Emits the program's BPF C and compiles it, unless this machine has it already.
///
/// # Errors
/// As [`object`]; [`Failure::Missing`] if there is no place for files.
pub fn cached_object(program: &Program, tracing: Tracing) -> Result<Object, Failure> {
    let object = |name: &str, kind, files: &dyn Fn(&Path) -> Result<(), Failure>, tracing| {
        let file = format!("{name}.bpf.o");
        // The verifier's rejections name lines.
        let recipe = Recipe { name: &file, kind, compiler: compiler(), lines: true };
        built::once(&recipe, files, |dir| compile(dir, name, tracing))
    };
    let kind = if tracing == Tracing::On { "telling object" } else { "object" };
    let dispatcher = |dir: &Path| write_headers(dir).and_then(|()| write_tree(&DISPATCH, dir));
    Ok(Object {
        program: object(&program.name, kind, &|dir| write_object(program, dir), tracing)?,
        dispatcher: object("dispatch", "object", &dispatcher, Tracing::Off)?,
    })
}

/// The host of a program that is in the kernel, for `carrick run`.
///
/// # Errors
/// As [`host`].
pub fn cached_host(program: &Program, tracing: Tracing) -> Result<Built, Failure> {
    let made = |dir: &Path| host_made(program, dir, tracing);
    let kind = if tracing == Tracing::On { "kernel-telling" } else { "kernel" };
    let name = format!("{}-host", program.name);
    built::once(&Recipe::of_c(&name, kind), |dir| host_files(program, dir), made)
}
