//! Writing what a target needs into a folder that stands on its own.

use std::fs;
use std::path::Path;

use carrick_ir as ir;
use include_dir::{Dir, include_dir};

use crate::{Failure, cc};

static RUNTIME: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../runtime/include");
static NATIVE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../targets/native");

/// Writes the generated C and the runtime headers that it includes.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written.
pub fn write_core(program: &ir::Program, dir: &Path) -> Result<(), Failure> {
    for (name, text) in carrick_emit_c::emit(program) {
        write(&dir.join(name), text.as_bytes())?;
    }
    write_tree(&RUNTIME, &dir.join("runtime/include"))
}

/// Builds for the target with this name; returns a sentence that says what is there now.
///
/// # Errors
/// As the functions below; [`Failure::Usage`] if nothing is built for that target.
pub fn for_target(target: &str, program: &ir::Program, dir: &Path) -> Result<String, Failure> {
    let (name, at) = (&program.name, dir.display());
    match target {
        "native" => {
            native(program, dir)?;
            Ok(format!("{at}: {name}.c, {name}.h, Makefile, lib{name}.a, lib{name}.so, {name}-host"))
        }
        "sim" => {
            write_core(program, dir)?;
            cc::make(dir, &["lib"])?;
            Ok(format!("{at}: {name}.c, {name}.h, Makefile, lib{name}.a, lib{name}.so"))
        }
        other => Err(Failure::Usage(format!("nothing is built for target {other}"))),
    }
}

/// Writes a whole native project (generated core, runtime, host and applications) and builds it: afterwards
/// the folder has `libNAME.a`, `libNAME.so` and the executable `NAME-host`.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written, and what [`cc::make`] reports.
pub fn native(program: &ir::Program, dir: &Path) -> Result<(), Failure> {
    write_core(program, dir)?;
    write_tree(&NATIVE, &dir.join("host"))?;
    cc::make(dir, &["lib"])?;
    cc::make(dir, &["host"])
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
