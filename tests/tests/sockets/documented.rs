// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of options in the target's README is that of the library.

use std::collections::BTreeSet;

use carrick_tests::build::root;

/// Asked by the library, not by programs.
const ITS_OWN: [&str; 1] = ["BUF_LOCK"];
const PREFIXES: [&str; 4] = ["TCP_", "IPV6_", "IP_", "SO_"];

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("readable")
}

/// `NODELAY` of `TCP_NODELAY`.
fn option(word: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix))
}

fn options_of_the_library() -> BTreeSet<String> {
    let code = ["names.c", "options.c"].map(|file| read(&format!("targets/native/preload/{file}"))).concat();
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter_map(option).filter(|name| !ITS_OWN.contains(name)).map(str::to_owned).collect()
}

/// The first column of the table of options.
fn options_of_the_readme() -> BTreeSet<String> {
    let text = read("targets/native/README.md");
    let table =
        text.split("\n| option |").nth(1).expect("there is a table").split("\n\n").next().unwrap_or_default();
    let rows = table.lines().skip(2).filter_map(|row| row.split('|').nth(1));
    let names = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(|name| option(name).unwrap_or(name).to_owned()).collect()
}

#[test]
fn the_readme_lists_the_options_of_sockets() {
    assert_eq!(options_of_the_readme(), options_of_the_library());
}
