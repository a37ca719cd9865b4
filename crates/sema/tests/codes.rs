// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every code of the checker has a page and a program that provokes it and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use carrick_sema::{check, codes::CODES};
use carrick_syntax::assemble::features::{Choice, configure};
use carrick_syntax::parse;

fn programs() -> BTreeMap<u16, Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ui");
    let entries = std::fs::read_dir(folder).expect("the folder of programs that fail");
    let paths = entries.map(|e| e.expect("an entry").path());
    let paths = paths.filter(|p| p.extension().is_some_and(|e| e == "mtp"));
    let mut programs: BTreeMap<u16, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        if let Some(number) = number(&path).filter(|n| (200..500).contains(n)) {
            programs.entry(number).or_default().push(path);
        }
    }
    programs
}

/// The code in a name such as `MTP0200_unknown_name.mtp`.
fn number(path: &Path) -> Option<u16> {
    path.file_name()?.to_str()?.strip_prefix("MTP")?.get(..4)?.parse().ok()
}

fn codes_of(text: &str) -> Vec<(u16, String)> {
    let (file, syntax) = parse(text);
    assert_eq!(syntax, [], "{text}");
    let file = configure(&file, &Choice::default()).tree;
    let (_, diagnostics) = check(&file, "ui", "ui.mtp", text);
    diagnostics.into_iter().map(|d| (d.code, d.message)).collect()
}

#[test]
fn numbers_ascend_within_their_range() {
    assert!(CODES.is_sorted_by(|a, b| a.number < b.number));
    assert!(CODES.iter().all(|c| (200..500).contains(&c.number)));
}

#[test]
fn every_code_has_a_program_that_provokes_only_it() {
    let programs = programs();
    let missing: BTreeSet<u16> =
        CODES.iter().map(|c| c.number).filter(|n| !programs.contains_key(n)).collect();
    assert_eq!(missing, BTreeSet::new(), "codes without a program");
    let mut wrong = Vec::new();
    let each = programs.into_iter().flat_map(|(number, paths)| paths.into_iter().map(move |p| (number, p)));
    for (number, path) in each {
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let found = codes_of(&text);
        if found.is_empty() || found.iter().any(|(code, _)| *code != number) {
            wrong.push((number, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A page shows only what matters of its programs, which hold each line of it.
#[test]
fn every_page_shows_lines_of_its_program() {
    let programs = programs();
    for code in CODES {
        let name = format!("MTP{:04}", code.number);
        assert!(code.explain.starts_with(&format!("# {name}: {}\n", code.title)), "{name}: the title");
        let example = code.explain.split("```mtp\n").nth(1).and_then(|e| e.split("```").next());
        let example = example.unwrap_or_else(|| panic!("{name} has no example"));
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a readable program");
        let text: String = programs[&code.number].iter().map(read).collect();
        let lines: BTreeSet<&str> = text.lines().map(str::trim).collect();
        for line in example.lines() {
            assert!(lines.contains(line.trim()), "{name}: {line:?} is not in the program");
        }
    }
}
