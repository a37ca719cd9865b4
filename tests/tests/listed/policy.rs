// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/policy.md` has the versions that the code has.

use std::fs;

use carrick_tests::build::root;
use carrick_tests::document::tables;

/// What is between two pieces of a file's text, the first time that they are there.
fn between(file: &str, before: &str, behind: &str) -> String {
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(behind));
    found.unwrap_or_else(|| panic!("{file} has no `{before}...{behind}`")).0.trim().to_owned()
}

#[test]
fn versions_are_those_of_the_code() {
    let text = fs::read_to_string(root().join("docs/policy.md")).expect("it is there");
    let all = tables(&text);
    let table = all.iter().find(|table| table[0][0] == "part").expect("a table of parts");
    let shown: Vec<(&str, &str)> = table[1..].iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    let wanted = [
        ("Carrick", between("Cargo.toml", "\nversion = \"", "\"")),
        ("Rust to build it (MSRV)", between("Cargo.toml", "rust-version = \"", "\"")),
        ("C interface (ABI)", between("runtime/include/carrick/program.h", "#define CARRICK_ABI", "u")),
        ("tables (JSON)", between("crates/driver/src/table.rs", "const VERSION: u32 = ", ";")),
        ("traces of lines", between("crates/sim/src/trace/writer.rs", "\"schema\": \"", "\"")),
        ("binary traces", between("crates/sim/src/trace/binary.rs", "pub const VERSION: u32 = ", ";")),
    ];
    let wanted: Vec<(&str, &str)> = wanted.iter().map(|(part, version)| (*part, version.as_str())).collect();
    assert_eq!(shown, wanted);
}

#[test]
fn other_places_have_the_same_numbers() {
    let abi = between("runtime/include/carrick/program.h", "#define CARRICK_ABI", "u");
    assert_eq!(between("crates/sim/src/compiled.rs", "const ABI: u32 = ", ";"), abi);
    let trace = between("crates/sim/src/trace/writer.rs", "\"schema\": \"", "\"");
    let reader = fs::read_to_string(root().join("crates/report/src/read.rs")).expect("it is there");
    assert!(reader.contains(&format!("\"{trace}\" => Ok(header)")), "carrick report reads {trace}");
    let rust = between("Cargo.toml", "rust-version = \"", "\"");
    for page in ["README.md", "docs/install.md"] {
        let text = fs::read_to_string(root().join(page)).expect("it is there");
        assert!(text.contains(&format!("Rust {rust} or later")), "{page} names Rust {rust}");
    }
}
