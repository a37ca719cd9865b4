// SPDX-License-Identifier: MIT OR Apache-2.0
//! The book: its chapters are all there, its links lead somewhere, its programs check and its commands do what is shown.

#[path = "book/devices.rs"]
mod devices;
#[path = "book/figures.rs"]
mod figures;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_driver::compile_text;
use carrick_driver::render::{Colour, pretty};
use carrick_driver::targets::TargetFile;
use carrick_ir::{COUNTERS, REFUSALS};
use carrick_targets::ALL;
use carrick_tests::build::{copied, root};
use carrick_tests::document::{Link, anchors, blocks, links, replay, run, tables};
use carrick_tests::net::skip;

/// What target files list, as the first heading of a table of it.
const LISTS: [&str; 7] = [
    "instruction",
    "event kind",
    "network header",
    "interface",
    "role",
    "block for packets",
    "block for events",
];

/// What blocks are: programs, parts of programs and the grammar (which `carrick-syntax` parses), commands, a host for them,
/// a target (which the tests of what a new thing touches build), Python (which the tests of its package run), and what is only shown.
const KINDS: [&str; 9] = ["mtp", "mtp,part", "ebnf", "console", "c", "python", "rust", "toml", "text"];

/// Pages whose commands need a setting of their own, which the tests beside make.
const RUN_ELSEWHERE: [&str; 5] =
    ["tutorial.md", "reference/debugging.md", "ns3.md", "hardware.md", "devices.md"];

/// The pages of the book, by their place in it, with their texts; without the list of them.
fn pages() -> Vec<(String, String)> {
    let docs = root().join("docs");
    let mut places = vec![docs.clone()];
    let mut found = Vec::new();
    while let Some(place) = places.pop() {
        for path in std::fs::read_dir(&place).expect("a folder").flatten().map(|e| e.path()) {
            if path.is_dir() {
                places.push(path);
            } else if path.extension().is_some_and(|e| e == "md") && !path.ends_with("SUMMARY.md") {
                let name = path.strip_prefix(&docs).expect("it is in there").display().to_string();
                found.push((name, read(&path)));
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// `reference/../errors.md` is `errors.md`; nothing of what is above the folder.
fn tidy(path: &Path) -> Option<PathBuf> {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() != ".." {
            tidied.push(part);
        } else if !tidied.pop() {
            return None;
        }
    }
    Some(tidied)
}

/// Why a link on the page leads nowhere, if it does not.
fn astray(folder: &Path, page: &str, link: &Link) -> Option<String> {
    let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
    let beside = Path::new(page).parent().unwrap_or(Path::new(""));
    let to = if file.is_empty() { Some(page.into()) } else { tidy(&beside.join(file)) };
    let path = to.as_ref().map(|to| folder.join(to));
    let why = match path {
        None => "leaves the folder",
        Some(path) if !path.exists() => "leads nowhere",
        Some(path) if !anchor.is_empty() && !anchors(&read(&path)).contains(anchor) => "leads to no heading",
        Some(_) => return None,
    };
    Some(format!("{page}:{}: {} {why}", link.line, link.target))
}

#[test]
fn every_page_is_a_chapter() {
    let summary = links(&read(&root().join("docs/SUMMARY.md")));
    let chapters: Vec<&str> = summary.iter().map(|l| l.target.as_str()).collect();
    let once: BTreeSet<&str> = chapters.iter().copied().collect();
    assert_eq!(once.len(), chapters.len(), "no chapter is there twice");
    let pages = pages();
    let names: BTreeSet<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    let wrong: Vec<_> = once.symmetric_difference(&names).collect();
    assert!(wrong.is_empty(), "either no page in docs/ or no chapter in docs/SUMMARY.md: {wrong:?}");
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        wrong.extend(links(&text).iter().filter_map(|l| astray(&root().join("docs"), &page, l)));
    }
    let versions = std::fs::read_dir(root().join("changelog")).expect("a folder").flatten();
    let versions = versions.map(|entry| format!("changelog/{}", entry.file_name().to_string_lossy()));
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/faults.md"];
    for page in others.into_iter().map(str::to_owned).chain(versions) {
        wrong.extend(links(&read(&root().join(&page))).iter().filter_map(|l| astray(&root(), &page, l)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let text = "[a](b.md#c)\n`[no](link)` [web](https://x.org)\n```\n[no](link)\n```\n[d](#e-f)\n";
    let found = links(text);
    assert_eq!(
        found.iter().map(|l| (l.line, l.target.as_str())).collect::<Vec<_>>(),
        [(1, "b.md#c"), (6, "#e-f")]
    );
    assert!(anchors("# A `b`, c\n```\n# not\n```\n## D e\n").into_iter().eq(["a-b-c", "d-e"]));
    let docs = root().join("docs");
    let why = |target: &str| {
        astray(&docs, "reference/language.md", &Link { line: 7, target: target.to_owned() })
            .unwrap_or_default()
    };
    assert_eq!(why("execution.md#packets"), "");
    assert_eq!(why("#types"), "");
    assert_eq!(why("../errors.md"), "");
    assert_eq!(why("../../README.md"), "reference/language.md:7: ../../README.md leaves the folder");
    assert_eq!(why("nothing.md"), "reference/language.md:7: nothing.md leads nowhere");
    assert_eq!(
        why("execution.md#nothing"),
        "reference/language.md:7: execution.md#nothing leads to no heading"
    );
}

#[test]
fn programs_check() {
    let mut count = 0;
    for (page, text) in pages().iter().filter(|(page, _)| !page.starts_with("errors/")) {
        for (_, program) in blocks(text).into_iter().filter(|(kind, _)| *kind == "mtp") {
            let compiled = compile_text(page, program);
            assert!(compiled.diagnostics.is_empty(), "{}", pretty(&compiled, Colour::No));
            assert!(compiled.program.is_some(), "{page}: a block of mtp is a whole program");
            count += 1;
        }
    }
    assert!(count > 0, "where are the programs?");
}

#[test]
fn commands_say_what_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    for place in ["targets", "tests"] {
        std::os::unix::fs::symlink(root().join(place), folder.path().join(place)).expect("writable");
    }
    // `carrick repro` follows no link out of its folder.
    copied(&["protocols", "examples"], folder.path());
    let mut commands = 0;
    for (page, text) in pages().iter().filter(|(page, _)| !RUN_ELSEWHERE.contains(&page.as_str())) {
        for (kind, block) in blocks(text) {
            assert!(KINDS.contains(&kind), "{page}: who tests a block of {kind:?}?\n{block}");
            match kind {
                "console" => commands += replay(folder.path(), block),
                "c" => std::fs::write(folder.path().join("host.c"), block).expect("writable"),
                _ => {}
            }
        }
    }
    assert!(commands > 0, "where are the commands?");
}

/// Its pieces are those of the program that its commands check, but for comments at the begin.
#[test]
fn the_program_from_an_empty_file_is_the_example() {
    let page = read(&root().join("docs/empty-file.md"));
    let pieces: Vec<&str> =
        blocks(&page).into_iter().filter(|(kind, _)| *kind == "mtp,part").map(|(_, piece)| piece).collect();
    let example = read(&root().join("examples/datagram.mtp"));
    let code = example.split_once("\n\n").expect("a comment, then the program").1;
    assert_eq!(pieces.join("\n"), code);
}

/// What a target says that it has of what a table lists.
fn has<'a>(target: &'a TargetFile, what: &str) -> Option<&'a [String]> {
    Some(match what {
        "instruction" => &target.instructions,
        "event kind" => &target.event_kinds,
        "network header" => &target.net_headers,
        "interface" => &target.interfaces,
        "role" => &target.roles,
        "report" => &target.reports,
        "block for packets" => &target.blocks,
        "block for events" => &target.event_blocks,
        _ => return None,
    })
}

#[test]
fn tables_say_which_target_has_what() {
    let mut all = ALL.files();
    all.retain(|target| !target.takes_any());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let names: Vec<&str> = all.iter().map(|t| t.name.as_str()).collect();
    let mut listed: BTreeSet<(String, String)> = BTreeSet::new();
    for (page, text) in pages() {
        for table in tables(&text).iter().filter(|t| has(&all[0], &t[0][0]).is_some()) {
            let (head, rows) = table.split_first().expect("a table has a head");
            let from = head.len().checked_sub(names.len()).expect("a column for each target");
            assert_eq!(head[from..], names, "{page}: the last columns are the targets");
            for row in rows {
                let name = row[0].trim_matches('`').split(['(', ' ']).next().unwrap_or_default();
                let wanted = all.iter().map(|t| {
                    if has(t, &head[0]).is_some_and(|h| h.iter().any(|n| n == name)) { "yes" } else { "-" }
                });
                assert!(
                    wanted.eq(row[from..].iter().map(String::as_str)),
                    "{page}: {name}: {:?}",
                    &row[from..]
                );
                listed.insert((head[0].clone(), name.to_owned()));
            }
        }
    }
    for target in &all {
        for what in LISTS {
            for name in has(target, what).into_iter().flatten() {
                assert!(
                    listed.contains(&(what.to_owned(), name.clone())),
                    "{}: no table has {what} {name}",
                    target.name
                );
            }
        }
    }
}

#[test]
fn what_is_counted_has_that_name() {
    let text = read(&root().join("docs/reference/instructions.md"));
    let mut names = BTreeSet::new();
    for table in tables(&text).iter().filter(|t| t[0].iter().any(|h| h == "what can go wrong")) {
        let column = table[0].iter().position(|h| h == "what can go wrong").expect("it was found");
        names.extend(
            table[1..].iter().flat_map(|row| row[column].split('`').skip(1).step_by(2).map(str::to_owned)),
        );
    }
    assert!(names.len() > 5, "{names:?}");
    let unknown: Vec<&String> = names.iter().filter(|n| !COUNTERS.contains(&n.as_str())).collect();
    assert!(unknown.is_empty(), "no counters: {unknown:?}");
}

#[test]
fn every_command_is_told_of() {
    let help = run(&root(), "carrick --help");
    let (_, commands) = help.split_once("Commands:\n").expect("a list of them");
    let names: BTreeSet<&str> = commands.lines().map_while(|line| line.split_whitespace().next()).collect();
    let all = tables(&read(&root().join("docs/commands.md")));
    let told: BTreeSet<&str> = all[0][1..].iter().map(|row| row[0].trim_matches('`')).collect();
    let wrong: Vec<_> = names.symmetric_difference(&told).collect();
    assert_eq!(wrong, [&"help"], "either no command or not told of in docs/commands.md");
}

#[test]
fn every_counter_is_explained() {
    let text = read(&root().join("docs/reference/execution.md"));
    let all = tables(&text);
    let table = all.iter().find(|t| t[0][0] == "number" && t[0][1] == "counter").expect("a table of them");
    let listed = table[1..].iter().map(|row| (row[0].parse().ok(), row[1].trim_matches('`').to_owned()));
    let wanted = COUNTERS.iter().enumerate().map(|(number, name)| (Some(number), (*name).to_owned()));
    assert_eq!(listed.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    let words: Vec<&str> = table[1..].iter().take(REFUSALS).map(|row| row[2].as_str()).collect();
    assert_eq!(words, carrick_ir::REFUSED, "as `carrick sim` says it");
    assert!(text.contains(&format!("The first {REFUSALS} count")));
}

#[test]
fn mdbook_builds_it() {
    if Command::new("mdbook").arg("--version").output().is_err() {
        return skip("mdbook is not installed (scripts/setup installs it)");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let built =
        Command::new("mdbook").arg("build").arg(root().join("docs")).arg("-d").arg(folder.path()).output();
    let built = built.expect("mdbook runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && !said.contains("WARN") && !said.contains("ERROR"), "{said}");
    for (page, _) in pages() {
        assert!(
            folder.path().join(&page).with_extension("html").is_file(),
            "{page} has become no page\n{said}"
        );
    }
}
