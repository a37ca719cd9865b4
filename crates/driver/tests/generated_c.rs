// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated C compiles without a warning, whatever a program has and has not.

use std::path::Path;
use std::process::Command;

use carrick_driver::{build, compile_file};

#[test]
fn compilers_have_nothing_to_say() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let dir = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(programs).expect("tests/programs is there") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_none_or(|e| e != "mtp") {
            continue; // the parts of others
        }
        let compiled = compile_file(&path).expect("it can be read");
        let program = compiled.program.unwrap_or_else(|| panic!("{}", path.display()));
        let dir = dir.path().join(&program.name);
        build::write_core(&program, &dir).expect("writable");
        for (compiler, options) in
            [("cc", ""), ("cc", "-O2 -DCARRICK_TRACE"), ("clang", "-O1 -DCARRICK_CLAIMS")]
        {
            if Command::new(compiler).arg("--version").output().is_err() {
                eprintln!("SKIPPED: {} with {compiler}, which is missing", path.display());
                continue;
            }
            let flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-c", "-o", "/dev/null"];
            let mut command = Command::new(compiler);
            command.args(flags).args(options.split_whitespace()).args(["-Iruntime/include", "-I."]);
            let output = command.arg(format!("{}.c", program.name)).current_dir(&dir).output();
            let output = output.expect("it starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} with {compiler} {options}:\n{said}", path.display());
        }
    }
}
