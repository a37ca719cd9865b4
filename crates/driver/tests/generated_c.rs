// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated C compiles without a warning, whatever a program has and has not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread::{available_parallelism, scope};

use carrick_driver::{build, compile_file};

/// Compilers, with what they are to generate and the program's macros. gcc has warnings that need its optimiser; the others come before
/// code is generated.
const COMPILERS: [(&str, &str); 3] =
    [("cc", "-fsyntax-only"), ("cc", "-O2 -DCARRICK_TRACE"), ("clang", "-fsyntax-only -DCARRICK_CLAIMS")];

/// Fails if a compiler has something to say.
fn compiles(path: &Path, dir: &Path, compilers: &[(&str, &str)]) {
    let compiled = compile_file(path).expect("it can be read");
    let program = compiled.program.unwrap_or_else(|| panic!("{}", path.display()));
    let dir = dir.join(&program.name);
    build::write_core(&program, &dir).expect("writable");
    for (compiler, options) in compilers {
        // A file, as a cache of compilers keeps no /dev/null.
        let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-c", "-o", "core.o"];
        let mut command = Command::new(compiler);
        command.args(flags).args(options.split_whitespace()).args(["-Iruntime/include", "-I."]);
        let output = command.arg(format!("{}.c", program.name)).current_dir(&dir).output();
        let output = output.expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} with {compiler} {options}:\n{said}", path.display());
    }
}

#[test]
fn compilers_have_nothing_to_say() {
    let mut compilers = COMPILERS.to_vec();
    compilers.retain(|(compiler, _)| {
        let there = Command::new(compiler).arg("--version").output().is_ok();
        if !there {
            eprintln!("SKIPPED: the C of all programs with {compiler}, which is missing");
        }
        there
    });
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let files = std::fs::read_dir(programs).expect("tests/programs is there");
    let files = files.map(|entry| entry.expect("a readable entry").path());
    // Folders have the parts of others.
    let programs: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "mtp")).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let left = Mutex::new(programs.iter());
    scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let next = || left.lock().expect("a compiler has nothing to say").next();
                while let Some(path) = next() {
                    compiles(path, dir.path(), &compilers);
                }
            });
        }
    });
}
