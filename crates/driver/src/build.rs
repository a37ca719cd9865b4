//! Writing what a target needs into a folder that stands on its own.

use std::fs;
use std::path::{Component, Path, PathBuf};

use carrick_emit_c::Unfit;
use carrick_ir as ir;
use include_dir::{Dir, include_dir};

use crate::Failure;
use crate::cc::{self, Tracing};
use crate::hash::Hash;

static RUNTIME: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../runtime/include");
static KERNEL: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../targets/xdp/include");
static DISPATCH: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../targets/xdp/dispatch");
static KERNEL_HOST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../targets/xdp/host");
static NATIVE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../targets/native");

/// Writes the generated C and the runtime headers that it includes. Debuggers find the source if the compiler
/// runs in `dir`.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written.
pub fn write_core(program: &ir::Program, dir: &Path) -> Result<(), Failure> {
    for (name, text) in carrick_emit_c::emit(&seen_from(program, dir)) {
        write(&dir.join(name), text.as_bytes())?;
    }
    write_tree(&RUNTIME, &dir.join("runtime/include"))
}

/// The program with its source named as seen from `dir`: what is generated says how the two lie to each other, and
/// nothing of the machine they lie on.
fn seen_from(program: &ir::Program, dir: &Path) -> ir::Program {
    let mut program = program.clone();
    let made = fs::create_dir_all(dir).and_then(|()| dir.canonicalize());
    let Ok(dir) = made else { return program };
    for file in std::iter::once(&mut program.file).chain(&mut program.imports) {
        let Ok(source) = Path::new(file).canonicalize() else { continue };
        let shared = source.components().zip(dir.components()).take_while(|(a, b)| a == b).count();
        let up = dir.components().skip(shared).map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(source.components().skip(shared)).collect();
        *file = path.display().to_string();
    }
    program
}

/// Builds for the target with this name; returns a sentence that says what is there now.
///
/// # Errors
/// As the functions below; [`Failure::Usage`] if nothing is built for that target.
pub fn for_target(target: &str, program: &ir::Program, dir: &Path) -> Result<String, Failure> {
    let (name, at) = (&program.name, dir.display());
    match target {
        "native" => {
            native(program, dir, Tracing::Off)?;
            Ok(format!(
                "{at}: {name}.c, {name}.h, Makefile, lib{name}.a, lib{name}.so, {name}-host, libcarrick-sockets.so"
            ))
        }
        "sim" => {
            write_core(program, dir)?;
            cc::make(dir, &["lib"], Tracing::Off)?;
            Ok(format!("{at}: {name}.c, {name}.h, Makefile, lib{name}.a, lib{name}.so"))
        }
        "xdp" => {
            kernel(program, dir, Tracing::Off)?;
            if program.interface.is_none() {
                return Ok(format!("{at}: {name}.bpf.c, {name}.bpf.o, dispatch, include, runtime"));
            }
            kernel_host(program, dir, Tracing::Off)?;
            Ok(format!(
                "{at}: {name}.bpf.c, {name}.bpf.o, {name}-host, libcarrick-sockets.so, dispatch, include, runtime"
            ))
        }
        other => Err(Failure::Usage(format!("nothing is built for target {other}"))),
    }
}

/// Writes a whole native project (generated core, runtime, host and applications) and builds it: afterwards
/// the folder has `libNAME.a`, `libNAME.so` and the executable `NAME-host`. With tracing it tells what it does.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written, and what [`cc::make`] reports.
pub fn native(program: &ir::Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    native_files(program, dir)?;
    native_made(dir, tracing)
}

pub(crate) fn native_files(program: &ir::Program, dir: &Path) -> Result<(), Failure> {
    write_core(program, dir)?;
    write_tree(&NATIVE, &dir.join("host"))
}

pub(crate) fn native_made(dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    cc::make(dir, &["lib"], tracing)?;
    cc::make(dir, &["host"], tracing)
}

/// Where the dispatcher lies, as seen from what is built.
const DISPATCHER: &str = "dispatch/dispatch";

/// The first thing of a program that nothing is made of for the target with this name.
pub fn unfit(target: &str, program: &ir::Program) -> Option<Unfit> {
    if target == "xdp" { carrick_emit_c::unfit(program) } else { None }
}

/// Writes the program for the kernel with the headers that it includes, and compiles it to `NAME.bpf.o`; and so the
/// [`dispatcher`].
///
/// # Errors
/// [`Failure::Failed`] if there is something in the program that no program in the kernel can be made of,
/// [`Failure::Usage`] if the folder cannot be written, and what [`cc::kernel`] reports.
pub fn kernel(program: &ir::Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    if let Some(unfit) = carrick_emit_c::unfit(program) {
        let place = match unfit.loc.line {
            0 => program.file.clone(),
            line => format!("{}:{line}", program.file_of(unfit.loc)),
        };
        let what = unfit.what;
        return Err(Failure::Failed(format!(
            "{place}: target `xdp` has nothing for this yet: {what}; build for `native`"
        )));
    }
    let (name, text) = carrick_emit_c::emit_bpf(&seen_from(program, dir));
    write(&dir.join(name), text.as_bytes())?;
    write_tree(&RUNTIME, &dir.join("runtime/include"))?;
    write_tree(&KERNEL, &dir.join("include"))?;
    cc::kernel(dir, &program.name, tracing)?;
    write_tree(&DISPATCH, &dir.join("dispatch"))?;
    cc::kernel(dir, DISPATCHER, tracing)
}

/// What [`kernel`] puts into `dir` for what hands packets to the programs on a device.
pub fn dispatcher(dir: &Path) -> PathBuf {
    dir.join(format!("{DISPATCHER}.bpf.o"))
}

/// A number that two builds for the kernel share if, and as good as only if, the kernel gets the same of them: of the
/// generated program and all its headers, not of where the source lies.
pub fn kernel_hash(program: &ir::Program) -> u64 {
    let mut hash = Hash::new();
    let (_, text) = carrick_emit_c::emit_bpf(program);
    hash.add_code(text.as_bytes());
    let folders = [KERNEL.get_dir("carrick"), RUNTIME.get_dir("carrick")];
    folders.into_iter().flatten().flat_map(Dir::files).for_each(|file| hash.add(file.contents()));
    hash.value()
}

/// Builds the process by which applications use a program that is in the kernel: afterwards the folder has `NAME-host`.
///
/// # Errors
/// As [`native`].
pub fn kernel_host(program: &ir::Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    kernel_host_files(program, dir)?;
    kernel_host_made(program, dir, tracing)
}

pub(crate) fn kernel_host_files(program: &ir::Program, dir: &Path) -> Result<(), Failure> {
    write_core(program, dir)?;
    write_tree(&KERNEL, &dir.join("include"))?;
    write_tree(&KERNEL_HOST, &dir.join("kernel"))?;
    write_tree(&NATIVE, &dir.join("host"))
}

pub(crate) fn kernel_host_made(program: &ir::Program, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    cc::make(dir, &["lib"], tracing)?;
    let program = format!("PROGRAM={}", program.name);
    // The kernel's folder has a `string.h` of its own, which is not for processes.
    let goals = [
        &*program,
        "PROGRAM_DIR=..",
        "HERE=$(wildcard ../kernel/*.c)",
        "HERE_FLAGS=-I../kernel -idirafter ../include",
        "installed",
    ];
    cc::make(&dir.join("host"), &goals, tracing)
}

fn write_tree(tree: &Dir<'_>, to: &Path) -> Result<(), Failure> {
    for file in tree.files() {
        write(&to.join(file.path()), file.contents())?;
    }
    tree.dirs().try_for_each(|dir| write_tree(dir, to))
}

/// Writes a file only if it changes, so that `make` rebuilds only what must be.
fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, contents));
    made.map_err(|e| {
        Failure::Usage(format!("cannot write {}: {e}; choose another folder with -o", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_named_as_seen_from_the_generated_code() {
        let dir = tempfile::tempdir().expect("a folder");
        let source = dir.path().join("a/of_test.mtp");
        fs::create_dir_all(dir.path().join("a")).expect("writable");
        let text = fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/operators.mtp"),
        );
        fs::write(&source, text.expect("it is there")).expect("writable");
        let program = crate::compile_file(&source).expect("it can be read").program.expect("it is right");
        let out = dir.path().join("out/b");
        write_core(&program, &out).expect("writable");
        let generated = fs::read_to_string(out.join("of_test.c")).expect("it is there");
        assert!(generated.contains(" \"../../a/of_test.mtp\"\n"), "named as seen from out/b");
        assert!(!generated.contains(&*dir.path().to_string_lossy()), "no folder of this machine");
    }
}
