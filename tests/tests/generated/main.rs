// SPDX-License-Identifier: MIT OR Apache-2.0
//! The generated C as a reader sees it, and what is in an object of it.
//!
//! `tests/generated` has the whole C of four small programs: for processes (`NAME.h`, `NAME.c`) and for the kernel (`NAME.bpf.c`).
//! `CARRICK_RECORD=1 cargo test -p carrick-tests --test generated` writes it anew: read the diff.

mod hostile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_driver::{build, cc, compile_file};
use carrick_ir::Program;
use carrick_tests::build::root;
use carrick_tests::net::lacks;
use carrick_tests::programs::protocols;
use carrick_tests::recorded;

/// `octets`: contexts, chains, data units, options, segmentation, checksums. `scheduling`: scheduling blocks, coalescing.
/// `shared`: several contexts in a chain, timers, searches. `structures`: arrays, lists, windows, records.
const SHOWN: [&str; 4] = ["octets", "scheduling", "shared", "structures"];

fn program(path: &Path) -> Program {
    let compiled = compile_file(path).expect("readable");
    let program =
        compiled.program.unwrap_or_else(|| panic!("{}: {:?}", path.display(), compiled.diagnostics));
    Program::clone(&program)
}

/// Name and text of each file that is generated of a program, which is named as seen from the root.
fn generated(name: &str) -> Vec<(String, String)> {
    let file = format!("tests/programs/{name}.mtp");
    let mut program = program(&root().join(&file));
    program.file = file.into();
    // It changes with each comment of the source.
    program.source_hash = 0;
    let here = format!("{}/", root().display());
    for import in &mut program.imports {
        *import = import.raw().replace(&here, "").into();
    }
    assert_eq!(carrick_xdp_emitter::unsupported(&program), None, "{name} fits the kernel");
    let mut files = carrick_emit_c::emit(&program);
    files.retain(|(name, _)| name != "Makefile");
    files.push(carrick_xdp_emitter::emit(&program));
    files
}

#[test]
fn the_c_of_four_programs_is_as_recorded() {
    let here = root().display().to_string();
    for (file, text) in SHOWN.iter().flat_map(|name| generated(name)) {
        assert!(!text.contains(&here), "{file} names a folder of this machine");
        recorded::file(&root().join("tests/generated").join(format!("{file}.snap")), &text);
    }
}

/// The protocols that are shipped, and the four programs above.
fn programs() -> Vec<PathBuf> {
    let small = SHOWN.iter().map(|name| root().join(format!("tests/programs/{name}.mtp")));
    protocols().into_iter().chain(small).collect()
}

/// The symbols of an object, each with the letter of its section.
fn symbols(object: &Path) -> Vec<(char, String)> {
    let listed = Command::new("nm").args(["--portability"]).arg(object).output().expect("nm runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let symbol = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        Some((words.next()?.chars().next()?, name))
    };
    String::from_utf8_lossy(&listed.stdout).lines().filter_map(symbol).collect()
}

/// An object of a C file. No position-independent code: constants that hold addresses are read-only without a loader too.
fn object(dir: &Path, source: &str) -> PathBuf {
    let made = dir.join(source).with_extension("o");
    let compiled = Command::new(cc::compiler())
        .args(["-std=gnu11", "-O0", "-fno-pie", "-Iruntime/include", "-I.", "-c", source, "-o"])
        .arg(&made)
        .current_dir(dir)
        .output()
        .expect("the compiler runs");
    assert!(compiled.status.success(), "{source}: {}", String::from_utf8_lossy(&compiled.stderr));
    made
}

/// The symbols that are neither code nor constants nor another object's.
fn static_data(object: &Path) -> Vec<(char, String)> {
    let all = symbols(object);
    assert!(all.iter().any(|(kind, _)| *kind == 't'), "{} has functions", object.display());
    all.into_iter().filter(|(kind, _)| !"tTrRU".contains(*kind)).collect()
}

/// A core has all its state in the memory that its host gives it: instances share nothing, in one process either.
#[test]
fn no_core_has_static_data() {
    if lacks("nm") || lacks(&cc::compiler()) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for path in programs() {
        let program = program(&path);
        let dir = folder.path().join(&program.name);
        build::write_core(&program, &dir).expect("writable");
        let found = static_data(&object(&dir, &format!("{}.c", program.name)));
        assert!(found.is_empty(), "{} has static data: {found:?}", program.name);
    }
}

/// The test above misses nothing that a core must not have.
#[test]
fn static_data_is_found() {
    if lacks("nm") || lacks(&cc::compiler()) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = "static int zero; static int one = 1; int common; static const int constant = 3;\n\
        static int f(void) { static int inner; return inner++ + zero++ + one++ + common++ + constant; }\n\
        int g(void);\nint g(void) { return f(); }\n";
    fs::write(folder.path().join("some.c"), text).expect("writable");
    let mut found: Vec<_> =
        static_data(&object(folder.path(), "some.c")).into_iter().map(|(_, name)| name).collect();
    found.sort();
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found[0] == "common" && found[1].starts_with("inner") && found[2..] == ["one", "zero"],
        "{found:?}"
    );
}
