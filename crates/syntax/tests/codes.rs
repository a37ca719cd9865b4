// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every code has a page and a program, both of which provoke it and nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carrick_syntax::codes::CODES;
use carrick_syntax::parse;

fn codes_of(text: &str) -> Vec<u16> {
    parse(text).1.iter().map(|d| d.code).collect()
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ui");
    let entries = std::fs::read_dir(folder).expect("the folder of programs that fail");
    let paths = entries.map(|e| e.expect("an entry").path());
    paths.filter(|p| p.extension().is_some_and(|e| e == "mtp")).collect()
}

#[test]
fn numbers_ascend_within_their_range() {
    assert!(CODES.is_sorted_by(|a, b| a.number < b.number));
    assert!(CODES.iter().all(|c| (1..200).contains(&c.number)));
}

#[test]
fn every_page_provokes_its_code() {
    for code in CODES {
        let name = format!("MTP{:04}", code.number);
        assert!(code.explain.starts_with(&format!("# {name}: {}\n", code.title)), "{name}: the title");
        let example = code.explain.split("```mtp\n").nth(1).and_then(|e| e.split("```").next());
        let example = example.unwrap_or_else(|| panic!("{name} has no example"));
        assert_eq!(codes_of(example), [code.number], "{name}");
    }
}

#[test]
fn every_code_has_a_program_that_provokes_only_it() {
    let mut missing: BTreeSet<u16> = CODES.iter().map(|c| c.number).collect();
    for path in programs() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(number) = name.get(3..7).and_then(|n| n.parse::<u16>().ok()).filter(|n| *n < 200) else {
            continue;
        };
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let found = codes_of(&text);
        assert!(!found.is_empty() && found.iter().all(|code| *code == number), "{name}: {found:?}");
        missing.remove(&number);
    }
    assert_eq!(missing, BTreeSet::new(), "codes without a program");
}
