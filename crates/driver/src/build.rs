// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing what a core needs into a folder that is complete without this repository.

use std::fs;
use std::path::{Component, Path, PathBuf};

use carrick_ir as ir;
use include_dir::{Dir, include_dir};

use crate::Failure;
use crate::written::unwritten;

/// The headers that generated C includes.
pub static RUNTIME: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../runtime/include");

/// Writes the generated C and the runtime headers that it includes. Debuggers find the source if the compiler
/// runs in `dir`.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written, or no C can be made of the program.
pub fn write_core(program: &ir::Program, dir: &Path) -> Result<(), Failure> {
    for (name, text) in carrick_emit_c::emit(&seen_from(program, dir)) {
        write(&dir.join(name), text.as_bytes())?;
    }
    write_runtime(dir)
}

/// Writes the headers that generated C includes.
///
/// # Errors
/// As [`write_core`].
pub fn write_runtime(dir: &Path) -> Result<(), Failure> {
    write_tree(&RUNTIME, &dir.join("runtime/include"))
}

/// The program with its source named as seen from `dir`: what is generated says how the two lie to each other, and
/// nothing of the machine they lie on.
pub fn seen_from(program: &ir::Program, dir: &Path) -> ir::Program {
    let mut program = program.clone();
    let made = fs::create_dir_all(dir).and_then(|()| dir.canonicalize());
    let Ok(dir) = made else { return program };
    for file in std::iter::once(&mut program.file).chain(&mut program.imports) {
        let Ok(source) = Path::new(file.raw()).canonicalize() else { continue };
        let shared = source.components().zip(dir.components()).take_while(|(a, b)| a == b).count();
        let up = dir.components().skip(shared).map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(source.components().skip(shared)).collect();
        *file = path.display().to_string().into();
    }
    program
}

/// Writes the files of a folder, but for those in Rust, which are the compiler's own.
///
/// # Errors
/// As [`write_core`].
pub fn write_tree(tree: &Dir<'_>, to: &Path) -> Result<(), Failure> {
    let is_rust = |path: &Path| path.extension().is_some_and(|ending| ending == "rs");
    for file in tree.files().filter(|file| !is_rust(file.path())) {
        write(&to.join(file.path()), file.contents())?;
    }
    tree.dirs().try_for_each(|dir| write_tree(dir, to))
}

/// Writes a file only if it changes, so that `make` rebuilds only what must be.
///
/// # Errors
/// As [`write_core`].
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, contents));
    made.map_err(|e| Failure::Usage(unwritten(path, &e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_an_error() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("file"), "").expect("writable");
        let in_the_way =
            write(&dir.path().join("file/a.c"), b"").expect_err("a file is no folder").to_string();
        assert!(in_the_way.ends_with("use another folder"), "{in_the_way}");
    }

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
