// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documentation, diagnostics and help use the words of the field.

use std::fs;
use std::path::{Path, PathBuf};

use carrick_tests::build::root;
use carrick_tests::command::done;

/// Words and phrases that readers stumble over, each with the one to write. Code and quoted programs may have them.
const WORDS: [(&str, &str); 29] = [
    ("octet", "byte"),
    ("octets", "bytes"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("at hand", "available"),
    ("is told", "is reported to, receives"),
    ("are told", "are reported to, receive"),
    ("told apart", "distinguished"),
    ("held against", "compared with"),
    ("whoever", "the process that, the user that"),
    ("overtaken", "delivered out of order"),
    ("turns of", "iterations of"),
    ("the house", "this repository"),
    ("told", "reported"),
    ("tell", "report, distinguish"),
    ("tells", "reports, says"),
    ("sent again", "retransmitted"),
    ("looked at", "inspected, sampled"),
    ("looks at", "inspects, reads"),
    ("asks for", "requests"),
    ("ask for", "request"),
    ("is asked", "is requested"),
    ("goes out", "is sent"),
    ("arrives twice", "is duplicated"),
    ("arrive twice", "are duplicated"),
    ("somebody", "the process that, the user that"),
    ("nobody", "no process, no user"),
    ("stands", "is, represents"),
    ("stand", "are, represent"),
];

/// The text without code, between backquotes, and without the targets of links.
fn without_code(line: &str) -> String {
    let text = line.split('`').step_by(2).collect::<Vec<_>>().join("_");
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + " " + part.split_once(')').map_or(part, |(_, behind)| behind))
}

/// The forbidden words of a text of one line, with what to write.
fn forbidden(line: &str) -> Vec<String> {
    let words = |text: &str| {
        text.to_lowercase().split(|c: char| !(c.is_alphanumeric() || c == '_')).collect::<Vec<_>>().join(" ")
    };
    let line = format!(" {} ", words(&without_code(line)));
    let found = WORDS.iter().filter(|(word, _)| line.contains(&format!(" {word} ")));
    found.map(|(word, better)| format!("`{word}`: write {better}")).collect()
}

/// The lines of a page outside of its blocks of code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((number, line));
        }
    }
    lines
}

/// The lines of a diagnostic that the compiler wrote. The program's own begin with their number.
fn rendered(text: &str) -> Vec<(usize, &str)> {
    let is_program = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    (1..).zip(text.lines()).filter(|(_, line)| !is_program(line)).collect()
}

/// The files with this ending in a folder, and in the folders below it if `deep`.
fn files(folder: &Path, ending: &str, deep: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && deep {
            found.extend(files(&path, ending, deep));
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    found
}

#[track_caller]
fn has_only_plain_words(files: &[PathBuf], lines: fn(&str) -> Vec<(usize, &str)>) {
    assert!(!files.is_empty(), "there is something to read");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("UTF-8");
        for (number, line) in lines(&text) {
            let wrong = forbidden(line).into_iter();
            found.extend(wrong.map(|wrong| format!("{}:{number}: {wrong}", file.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn documentation_has_plain_words() {
    let mut pages = files(&root().join("docs"), "md", true);
    pages.extend(files(&root(), "md", false));
    pages.extend(files(&root().join("changelog"), "md", false));
    for folder in ["protocols", "targets"] {
        for entry in fs::read_dir(root().join(folder)).expect("a folder").flatten() {
            pages.extend(Some(entry.path().join("README.md")).filter(|page| page.is_file()));
        }
    }
    has_only_plain_words(&pages, prose);
}

#[test]
fn diagnostics_have_plain_words() {
    has_only_plain_words(&files(&root().join("tests/ui"), "txt", false), rendered);
}

#[test]
fn help_has_plain_words() {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["man", "pages"]);
    has_only_plain_words(&files(&folder.path().join("pages"), "1", false), |text| {
        (1..).zip(text.lines()).collect()
    });
}

#[test]
fn the_check_finds_words_in_prose_and_nowhere_else() {
    assert_eq!(forbidden("Octets, turns of a loop").len(), 2);
    assert!(forbidden("the `octets` of a row, octet_count, turns each packet").is_empty());
    assert!(forbidden("[a page](octet.md) and [`mend`](mend.md#mend)").is_empty());
    assert_eq!(forbidden("[octets](a.md), then (mend)").len(), 2);
    assert_eq!(prose("a\n```c\nint octets;\n```\nb"), [(1, "a"), (5, "b")]);
    assert_eq!(
        rendered("error: x\n 1 | uint8 octets;\n  | ^^^ here"),
        [(1, "error: x"), (3, "  | ^^^ here")]
    );
}
