//! How many files a new thing touches is what the book says: the lists are compared with the repository.

use std::collections::BTreeSet;
use std::path::Path;

use carrick_tests::build::root;
use carrick_tests::document::{run, tables};

/// Folders and files in which an example may have a part.
const PLACES: [&str; 6] = ["crates", "runtime", "targets", "editors", "docs", "tests/ui"];

/// Pages that tell of everything.
const OF_EVERYTHING: [&str; 2] = ["docs/extending.md", "docs/benchmarks.md"];

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
        if claimed(section) != listed.len() {
            wrong.push(format!("{title}: {} files are listed", listed.len()));
        }
        wrong.extend(found.difference(&listed).map(|f| format!("{title}: {f} is not listed")));
        wrong.extend(listed.difference(&found).map(|f| format!("{title}: {f} has nothing of it")));
        count += 1;
    }
    assert_eq!(count, 3, "a diagnostic, an instruction, a scheduling block");
    assert!(wrong.is_empty(), "docs/extending.md:\n{}", wrong.join("\n"));
}

#[test]
fn a_protocol_is_a_folder() {
    let page = std::fs::read_to_string(root().join("docs/extending.md")).expect("readable");
    let section = page.split("\n## ").find(|s| s.starts_with("A protocol\n")).expect("there is a section");
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
