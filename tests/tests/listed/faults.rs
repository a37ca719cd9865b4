// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tests/faults.md`: each fault names a test that exists, and the part of `make test` that runs it.

use std::fs;

use carrick_tests::build::root;
use carrick_tests::document::tables;

use crate::computing;

/// The head of a table of faults.
const HEAD: [&str; 3] = ["fault", "test", "run"];

/// The part of `make test` that runs the tests of a file, which is given from the root.
fn part(file: &str) -> &'static str {
    if file.ends_with(".c") {
        return "C";
    }
    // Scripts of protocols, scripts of packetdrill and programs with a diagnostic are played by tests of these names.
    let binary = match file.strip_prefix("tests/tests/") {
        Some(below) => below.split(['/', '.']).next().unwrap_or_default(),
        None if file.ends_with(".pkt") => "conformance",
        None if file.ends_with(".script") => "scripts",
        None if file.starts_with("tests/ui/") => "ui",
        None => return "background",
    };
    if computing().contains(binary) { "background" } else { "foreground" }
}

/// A test as a cell names it, ``[`name`](path from tests/)``: its name, and its file from the root. None if it is no such link.
fn named(link: &str) -> Option<(&str, String)> {
    let (name, path) = link.strip_prefix("[`")?.strip_suffix(')')?.split_once("`](")?;
    let file = path.strip_prefix("../").map_or_else(|| format!("tests/{path}"), str::to_owned);
    Some((name, file))
}

/// What is wrong with a row of the table: nothing, or a sentence.
fn mistake(row: &[String]) -> Option<String> {
    let [fault, tests, run] = row else { return Some(format!("{row:?} has not {} cells", HEAD.len())) };
    let mut parts: Vec<&str> = Vec::new();
    for link in tests.split(", ") {
        let Some((name, file)) = named(link) else { return Some(format!("{fault}: {link} names no test")) };
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            return Some(format!("{fault}: there is no file {file}"));
        };
        // A script, or a program, is a test by itself.
        let whole = file.rsplit('/').next() == Some(name);
        if !whole && !text.contains(&format!(" {name}(")) {
            return Some(format!("{fault}: {file} has no test `{name}`"));
        }
        parts.extend(Some(part(&file)).filter(|part| !parts.contains(part)));
    }
    (parts.join(", ") != *run).then(|| format!("{fault}: it is run in: {}", parts.join(", ")))
}

#[test]
fn each_fault_has_a_test_that_exists() {
    let text = fs::read_to_string(root().join("tests/faults.md")).expect("it is there");
    let all = tables(&text);
    let rows: Vec<_> = all.iter().filter(|table| table[0] == HEAD).flat_map(|table| &table[1..]).collect();
    assert!(rows.len() > 100, "only {} faults", rows.len());
    let wrong: Vec<String> = rows.into_iter().filter_map(|row| mistake(row)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_row_that_is_wrong_is_found() {
    let row = |tests: &str, run: &str| mistake(&["F".to_owned(), tests.to_owned(), run.to_owned()]);
    let here = "[`a_row_that_is_wrong_is_found`](tests/listed/faults.rs)";
    assert_eq!(row(here, "background"), None);
    assert_eq!(row(here, "foreground"), Some("F: it is run in: background".to_owned()));
    let other = here.replace("`a_row", "`no_row");
    let missing = "F: tests/tests/listed/faults.rs has no test `no_row_that_is_wrong_is_found`";
    assert_eq!(row(&other, "background"), Some(missing.to_owned()));
    assert_eq!(row("[`x`](x.rs)", "C"), Some("F: there is no file tests/x.rs".to_owned()));
    assert_eq!(row("none", "C"), Some("F: none names no test".to_owned()));
}
