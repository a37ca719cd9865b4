// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of the book for each protocol: what its program is made of, and what its README tells. `CARRICK_RECORD=1` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use carrick_driver::Choice;
use carrick_driver::compile::compile_for;
use carrick_ir::{EventKind, NetLayer, Program, uses};
use carrick_targets::ALL;
use carrick_tests::build::root;
use carrick_tests::recorded;

/// The folders of protocols, by name.
fn protocols() -> BTreeMap<String, PathBuf> {
    let folders = fs::read_dir(root().join("protocols")).expect("there are protocols");
    let named = folders.map(|folder| {
        let path = folder.expect("it can be listed").path();
        (path.file_name().expect("a name").to_string_lossy().into_owned(), path)
    });
    named.collect()
}

/// The texts of a folder's programs.
fn texts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("it can be listed").path()) {
        if path.is_dir() {
            found.extend(texts(&path));
        } else if path.extension().is_some_and(|e| e == "mtp") {
            found.push(fs::read_to_string(&path).expect("it can be read"));
        }
    }
    found
}

/// What a protocol is, in rows of what and how much.
struct Facts {
    title: String,
    lines: usize,
    rows: Vec<(&'static str, String)>,
}

fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn over(program: &Program) -> String {
    let header = &program.net_header;
    match header.layer {
        NetLayer::Ipv4 | NetLayer::Ipv6 => format!("`{}`, protocol {}", header.name, header.protocol),
        NetLayer::Link => format!("`{}`", header.name),
    }
}

/// The features that a text declares, with their options.
fn features(texts: &[String]) -> BTreeSet<String> {
    let lines = texts.iter().flat_map(|text| text.lines());
    let declared = lines.filter_map(|line| line.strip_prefix("feature "));
    let named = declared.filter(|line| !line.contains(" = "));
    named.map(|line| line.split(['{', ';']).next().unwrap_or_default().trim().to_owned()).collect()
}

fn facts(name: &str, folder: &Path) -> Facts {
    let readme = fs::read_to_string(folder.join("README.md")).expect("each protocol has a README");
    let title =
        readme.lines().next().and_then(|line| line.strip_prefix("# ")).expect("it begins with a title");
    let file = folder.join(name).with_extension("mtp");
    let program = compile_for(&file, &Choice::default(), None).expect("it can be read");
    let program = program.program.expect("the program is right");
    let texts = texts(folder);
    let all: Vec<&str> = texts.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let code = all.iter().filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    let scheduled = uses::blocks(&program.schedule);
    let events = program.events.iter().filter(|event| event.kind != EventKind::Flow).count();
    let able =
        ALL.iter().map(|target| ALL.against(target)).filter(|target| !target.file.takes_any()).filter(
            |target| compile_for(&file, &Choice::default(), Some(target)).is_ok_and(|c| c.errors() == 0),
        );
    let able: BTreeSet<String> = able.map(|target| target.file.name).collect();
    let interface = program.interface.as_ref().map(|interface| interface.name.as_str());
    let rows = vec![
        ("program", format!("{code} lines, {} with comments; files: {}", all.len(), texts.len())),
        ("over", over(&program)),
        ("interface", listed(interface)),
        ("features", listed(features(&texts).iter().map(String::as_str))),
        ("contexts", listed(program.contexts.iter().map(|context| context.name.as_str()))),
        ("external events", events.to_string()),
        ("flow events", (program.events.len() - events).to_string()),
        ("packets", listed(program.blueprints.iter().map(|blueprint| blueprint.name.as_str()))),
        ("instructions", listed(uses::instructions(&program))),
        ("scheduling blocks", listed(scheduled)),
        ("runs on", listed(able.iter().map(String::as_str))),
    ];
    Facts { title: title.to_owned(), lines: code, rows }
}

#[test]
fn each_protocol_has_a_page() {
    let docs = root().join("docs");
    let mut index = String::from(
        "# Protocols\n\nAll protocols in this repository. The lines are those of the program with all its features, without comments.\n\n\
         | protocol | what it is | lines | over | interface | runs on |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for (name, folder) in protocols() {
        let Facts { title, lines, rows } = facts(&name, &folder);
        let row = |what: &str| rows.iter().find(|(name, _)| *name == what).map_or("", |(_, how)| how);
        let (over, interface, runs_on) = (row("over"), row("interface"), row("runs on"));
        index += &format!(
            "| [{name}](protocols/{name}.md) | {title} | {lines} | {over} | {interface} | {runs_on} |\n"
        );
        let table: String = rows.iter().map(|(what, how)| format!("| {what} | {how} |\n")).collect();
        let page = format!(
            "# {title}\n\n| | as built by default |\n| --- | --- |\n{table}\n\
             {{{{#include ../../protocols/{name}/README.md:2:}}}}\n"
        );
        recorded::file(&docs.join(format!("protocols/{name}.md")), &page);
    }
    recorded::file(&docs.join("protocols.md"), &index);
}

/// A line of a README, with the lines of the file that it names: `` `NAME.mtp` | LINES | ``.
fn counted(line: &str, folder: &Path) -> String {
    let row = || {
        let (before, rest) = line.split_once(".mtp` | ")?;
        let (said, rest) = rest.split_once(" |")?;
        said.parse::<usize>().ok()?;
        let name = before.rsplit('`').next()?;
        let text = fs::read_to_string(folder.join(format!("{name}.mtp"))).expect("the file is there");
        Some(format!("{before}.mtp` | {} |{rest}", text.lines().count()))
    };
    row().unwrap_or_else(|| line.to_owned())
}

#[test]
fn lines_of_files_are_counted() {
    let mut rows = 0;
    for folder in protocols().into_values() {
        let path = folder.join("README.md");
        let text = fs::read_to_string(&path).expect("each protocol has a README");
        rows += text.lines().filter(|line| line.contains(".mtp` | ")).count();
        let wanted: String = text.lines().map(|line| counted(line, &folder) + "\n").collect();
        recorded::file(&path, &wanted);
    }
    assert!(rows > 30, "{rows} files are listed");
}
