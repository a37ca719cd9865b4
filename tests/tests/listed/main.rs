// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lists of this repository name is there: tests, faults with their tests, versions, and what workflows run.
//!
//! The list of tests in `tests/README.md` is made of what the files say of themselves. `CARRICK_RECORD=1` writes it.

mod changelog;
mod faults;
mod policy;
mod workflows;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use carrick_tests::build::root;
use carrick_tests::recorded;

/// What a file of tests says of itself first.
fn first_sentence(text: &str) -> String {
    let words =
        text.lines().skip_while(|line| !line.starts_with("//! ")).map_while(|line| line.strip_prefix("//! "));
    let paragraph = words.collect::<Vec<_>>().join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.trim_end_matches('.').len());
    paragraph[..end].to_owned()
}

/// The names of a list in `scripts/test`.
fn computing() -> BTreeSet<String> {
    let script = fs::read_to_string(root().join("scripts/test")).expect("it is there");
    let (_, list) = script.split_once("computing=(").expect("a list");
    list.split(')').take(1).flat_map(str::split_whitespace).map(str::to_owned).collect()
}

fn table() -> String {
    let computing = computing();
    let mut rows = BTreeSet::new();
    for entry in fs::read_dir(root().join("tests/tests")).expect("there are tests") {
        let path = entry.expect("readable").path();
        let file = if path.is_dir() { path.join("main.rs") } else { path.clone() };
        if !file.is_file() || file.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let text = fs::read_to_string(&file).expect("readable");
        let link = file.strip_prefix(root().join("tests")).expect("it is there").display().to_string();
        let lane = if computing.contains(name) { "yes" } else { "" };
        rows.insert(format!(
            "| [`{name}`]({link}) | {lane} | {} |\n",
            first_sentence(&text).replace('|', "\\|")
        ));
    }
    assert!(
        computing.iter().all(|name| rows.iter().any(|row| row.contains(&format!("[`{name}`]")))),
        "{computing:?}"
    );
    let mut table = "| `--test` | background | what it shows |\n| --- | --- | --- |\n".to_owned();
    rows.iter().for_each(|row| write!(table, "{row}").expect("a string takes it"));
    table
}

#[test]
fn every_file_of_tests_is_in_the_list() {
    recorded::part(&root().join("tests/README.md"), "list", &table());
}

#[test]
fn a_first_sentence_ends_where_it_ends() {
    assert_eq!(
        first_sentence("// licence\n//! One: of `a.b`\n//! line. Another.\n//!\n//! More.\n"),
        "One: of `a.b` line"
    );
    assert_eq!(first_sentence("//! Only one.\n"), "Only one");
}
