// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many files a new thing touches is what the book says: the lists are compared with the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_tests::build::{copied, root};
use carrick_tests::document::{blocks, run, tables};
use carrick_tests::other_targets::carrick_with;

/// Folders and files in which an example may have a part.
const PLACES: [&str; 6] = ["crates", "runtime", "targets", "editors", "docs", "tests/ui"];

/// Files of the example of a section, and of its other examples, at most: where things are declared once.
const MOST: [(&str, usize, usize); 4] = [
    ("A new instruction", 11, 30),
    ("A new built-in function", 8, 9),
    ("A new list operation", 10, 9),
    ("A new statement", 13, 20),
];

/// Pages that tell of everything, and one that shows a program.
const OF_EVERYTHING: [&str; 3] = ["docs/extending.md", "docs/benchmarks.md", "docs/empty-file.md"];

/// A file in which things are only used: a program, a test, the page of a diagnostic, a decision.
fn only_uses(path: &str) -> bool {
    let beside = [
        "/tests/",
        "/ui/",
        "/errors/",
        "/decisions/",
        "docs/protocols/",
        "/templates/",
        "/node_modules/",
        "/target/",
        "/build/",
    ];
    beside.iter().any(|folder| path.contains(folder)) || OF_EVERYTHING.contains(&path)
}

/// Every file below a folder, by its path below the root.
fn files(place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut places = vec![root().join(place)];
    while let Some(place) = places.pop() {
        for path in std::fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                places.push(path);
            } else {
                found.push(path.strip_prefix(root()).expect("it is in there").display().to_string());
            }
        }
    }
    found
}

/// Whether a text has one of the words.
fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| words.contains(&word))
}

/// The files that have a part of what these words name.
fn touched(words: &[&str]) -> BTreeSet<String> {
    let all = PLACES.iter().flat_map(|place| files(place));
    all.filter(|path| {
        let named = words.iter().any(|word| path.contains(word));
        named
            || !only_uses(path)
                && std::fs::read_to_string(root().join(path)).is_ok_and(|text| has_word(&text, words))
    })
    .collect()
}

/// The words between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The number of `**N files**`.
fn claimed(section: &str) -> usize {
    let (before, _) = section.split_once(" files**").expect("a section says how many files");
    before.rsplit("**").next().and_then(|n| n.parse().ok()).expect("a number")
}

/// The other examples of a section: their words, and in how many files they are said to be.
fn others(section: &str) -> Vec<(Vec<&str>, usize)> {
    let rows = section.lines().skip_while(|line| !line.starts_with("| other examples |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|')).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let files = cells.get(2).and_then(|n| n.trim().parse().ok()).expect("a number of files");
        (quoted(cells[1]), files)
    });
    rows.collect()
}

#[test]
fn each_list_is_what_is_there() {
    let page = std::fs::read_to_string(root().join("docs/extending.md")).expect("readable");
    let mut wrong = Vec::new();
    let mut count = 0;
    for section in page.split("\n## ").skip(1) {
        let Some((_, words)) = section.split_once("Look for ") else { continue };
        let words = quoted(words.split(':').next().unwrap_or_default());
        let title = section.lines().next().unwrap_or_default();
        let listed: BTreeSet<String> =
            tables(section)[0][1..].iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
        let found = touched(&words);
        let others = others(section);
        for (words, files) in &others {
            let found = touched(words);
            if found.len() != *files {
                wrong.push(format!("{title}: {words:?} is in {} files: {found:#?}", found.len()));
            }
        }
        if let Some((_, first, most)) = MOST.iter().find(|(of, ..)| *of == title) {
            let worst = others.iter().map(|(_, files)| *files).max();
            if listed.len() > *first || worst.is_none_or(|worst| worst > *most) {
                wrong.push(format!("{title}: more than {first} files, or {most} of another example"));
            }
        }
        if claimed(section) != listed.len() {
            wrong.push(format!("{title}: {} files are listed", listed.len()));
        }
        wrong.extend(found.difference(&listed).map(|f| format!("{title}: {f} is not listed")));
        wrong.extend(listed.difference(&found).map(|f| format!("{title}: {f} has nothing of it")));
        count += 1;
    }
    assert_eq!(
        count, 7,
        "a diagnostic, an instruction, a function, a list operation, a statement, a scheduling block, a fault"
    );
    assert!(wrong.is_empty(), "docs/extending.md:\n{}", wrong.join("\n"));
}

#[test]
fn a_protocol_is_a_folder() {
    let page = std::fs::read_to_string(root().join("docs/extending.md")).expect("readable");
    let section =
        page.split("\n## ").find(|s| s.starts_with("A new protocol\n")).expect("there is a section");
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "carrick new parcel");
    let made = std::fs::read_dir(folder.path().join("parcel")).expect("it was made").count();
    assert_eq!(made, claimed(section));
    for protocol in std::fs::read_dir(root().join("protocols")).expect("there are some").flatten() {
        let name = protocol.file_name().into_string().expect("a name");
        let has = |file: &str| Path::new(&protocol.path()).join(file).is_file();
        assert!(
            has(&format!("{name}.mtp")) && has("README.md"),
            "protocols/{name} lacks its program or its page"
        );
    }
}

/// The first block of this kind in a text.
fn block<'p>(page: &'p str, kind: &str) -> &'p str {
    let found = blocks(page).into_iter().find(|(of, _)| *of == kind);
    found.unwrap_or_else(|| panic!("there is no block of {kind}")).1
}

/// A copy of `targets/` with the target of the page, and the one line that lists it.
fn with_toy(page: &str, line: &str, folder: &Path) -> PathBuf {
    let targets = folder.join("targets");
    copied(&["targets"], folder);
    let toy = targets.join("toy");
    std::fs::create_dir(&toy).expect("writable");
    for (file, kind) in [("host.c", "c"), ("target.toml", "toml"), ("mod.rs", "rust")] {
        std::fs::write(toy.join(file), block(page, kind)).expect("writable");
    }
    let list = std::fs::read_to_string(targets.join("lib.rs")).expect("readable");
    let (before, after) = list.split_once("targets! {\n").expect("there is a list");
    std::fs::write(targets.join("lib.rs"), format!("{before}targets! {{\n{line}{after}")).expect("writable");
    targets
}

#[test]
fn a_target_is_a_folder_and_a_line() {
    let page = std::fs::read_to_string(root().join("docs/writing-a-target.md")).expect("readable");
    let shown: Vec<&str> =
        blocks(&page).into_iter().filter(|(kind, _)| *kind == "text").map(|(_, s)| s).collect();
    let [line, session] = shown[..] else { panic!("the page shows the line, and what the target does") };
    assert_eq!(line.lines().count(), 1);
    let folder = tempfile::tempdir().expect("a folder");
    let carrick = carrick_with(&with_toy(&page, line, folder.path()), folder.path());

    let place = folder.path().join("work");
    copied(&["tests/programs"], &place);
    let said = |command: &mut Command| {
        let output = command.current_dir(&place).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8_lossy(&output.stdout).into_owned(), errors)
    };
    let (command, expected) = session.split_once('\n').expect("a command, and what it prints");
    let command = command.trim_start_matches("$ carrick");
    let built = said(Command::new("sh").args(["-c", &format!("\"$0\"{command}")]).arg(&carrick));
    // What its tools do is said without its doing.
    let steps = "carrick: compiling the core ...\ncarrick: compiling the host ...\n";
    assert_eq!(built, (expected.to_owned(), steps.to_owned()));
    let (listed, _) = said(Command::new(&carrick).arg("targets"));
    assert!(listed.contains("toy      a network from which the same packet"), "{listed}");
    let lacks = ["check", "--target", "toy", "tests/programs/scheduling.mtp"];
    let (_, lacks) = said(Command::new(&carrick).args(lacks));
    assert!(lacks.contains("target `toy` does not support the packet block"), "{lacks}");
}
