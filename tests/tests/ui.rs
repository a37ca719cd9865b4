// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every diagnostic has a program in `tests/ui` that provokes it, and its exact rendering beside it.
//!
//! The first line of `NAME.mtp` is `// MTP0123: what is wrong here`; `NAME.txt` is what a person sees. The second may be
//! `// --with feature`, or `// --target sim`, or `// --target targets/small.toml`, a file beside the programs, or
//! `// --repeat 120`, which repeats the last line.
//! `UPDATE_UI=1 cargo test -p carrick-tests --test ui` writes the renderings and the index of the book anew: read the diff.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carrick_driver::render::{Colour, code_name, json, pretty};
use carrick_driver::targets::Against;
use carrick_driver::{Choice, compile::compile_assembled, explain};
use carrick_syntax::assemble::assemble;
use carrick_targets::ALL;
use carrick_tests::build::root;

fn programs() -> Vec<PathBuf> {
    let folder = root().join("tests/ui");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("tests/ui is there")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "mtp"))
        .collect();
    files.sort();
    files
}

/// The text of a program, whose last line may be repeated.
fn text_of(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("UTF-8");
    let times = text.lines().nth(1).and_then(|line| line.strip_prefix("// --repeat "));
    let Some(times) = times.map(|n| n.parse::<usize>().expect("a number")) else { return text };
    let last = text.lines().last().unwrap_or_default();
    format!("{text}{}", format!("{last}\n").repeat(times - 1))
}

/// The code that the first line promises.
fn promised(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("// ").split(':').next().unwrap_or_default()
}

/// The features that the second line asks for, if it is `// --with feature`.
fn choice(text: &str) -> Choice {
    let mut choice = Choice::default();
    let second = text.lines().nth(1).unwrap_or_default();
    second.strip_prefix("// --with ").into_iter().flat_map(|f| f.split(',')).for_each(|f| choice.add(f));
    choice
}

/// The target that the second line asks for, if it is `// --target name`.
fn target(folder: &Path, text: &str) -> Option<Against> {
    let name = text.lines().nth(1)?.strip_prefix("// --target ")?;
    let file = folder.join(name).display().to_string();
    Some(ALL.named(if name.ends_with(".toml") { &file } else { name }).expect("a target"))
}

#[test]
fn each_program_provokes_its_diagnostic_as_rendered() {
    let update = std::env::var_os("UPDATE_UI").is_some();
    let mut wrong = Vec::new();
    for path in programs() {
        let text = text_of(&path);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let code = promised(&text).to_owned();
        let folder = path.parent().expect("a folder");
        let assembled = assemble(&name, &text, &mut |import| {
            fs::read_to_string(folder.join(import)).map_err(|_| "there is no such file".into())
        });
        let compiled = compile_assembled(&name, &assembled, &choice(&text), target(folder, &text).as_ref());
        if !compiled.diagnostics.iter().any(|d| code_name(d.code) == code) {
            wrong.push(format!("{name}: no {code}; got:\n{}", pretty(&compiled, Colour::No)));
            continue;
        }
        assert!(json(&compiled)["diagnostics"].is_array());
        let rendered = pretty(&compiled, Colour::No);
        let beside = path.with_extension("txt");
        if update {
            fs::write(&beside, &rendered).expect("writable");
        } else if fs::read_to_string(&beside).ok().as_deref() != Some(&rendered) {
            wrong.push(format!("{name}: the rendering differs from {}; now:\n{rendered}", beside.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_program_and_a_page() {
    let covered: BTreeSet<String> = programs()
        .iter()
        .map(|path| promised(&fs::read_to_string(path).expect("UTF-8")).to_owned())
        .collect();
    let mut last = 0;
    for code in explain::codes() {
        assert!(code.number > last, "codes ascend and are unique: {}", code.number);
        last = code.number;
        let name = code_name(code.number);
        assert!(covered.contains(&name), "no program in tests/ui provokes {name} ({})", code.title);
        assert!(code.explain.contains("```mtp"), "the page of {name} has an example");
    }
    assert!(covered.len() >= 200, "only {} diagnostics", covered.len());
}

#[test]
fn every_page_shows_what_provokes_its_code() {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let programs: Vec<String> = programs().iter().map(|p| fs::read_to_string(p).expect("UTF-8")).collect();
    for code in explain::codes() {
        let name = code_name(code.number);
        let own: Vec<String> =
            programs.iter().filter(|text| promised(text) == name).map(|text| plain(text)).collect();
        for example in code.explain.split("```mtp\n").skip(1).filter_map(|e| e.split("```").next()) {
            let lines: Vec<String> = example.lines().map(plain).collect();
            let shown = |text: &String| lines.iter().all(|line| text.contains(line));
            assert!(own.iter().any(shown), "{name}: no program in tests/ui has these lines:\n{example}");
        }
    }
}

/// The index of all diagnostics, and the book's list of their pages.
fn index() -> (String, String) {
    let mut page = "# All diagnostics\n\nWhat the compiler can say of a program, by number. `carrick explain MTP0201` prints a page.\n\n\
                    | code | what it is about |\n| --- | --- |\n"
        .to_owned();
    let mut chapters = "- [All diagnostics](errors.md)\n".to_owned();
    for code in explain::codes() {
        let (name, title) = (code_name(code.number), code.title);
        page += &format!("| [{name}](errors/{name}.md) | {title} |\n");
        chapters += &format!("  - [{name}: {title}](errors/{name}.md)\n");
    }
    (page, chapters)
}

#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let read = |name: &str| fs::read_to_string(docs.join(name)).unwrap_or_default();
    let summary = read("SUMMARY.md");
    let heading = "# Diagnostics\n\n";
    let (before, _) = summary.split_once(heading).expect("they have a part of their own");
    let (page, chapters) = index();
    let wanted = [("errors.md", page), ("SUMMARY.md", format!("{before}{heading}{chapters}"))];
    for (name, text) in wanted {
        if std::env::var_os("UPDATE_UI").is_some() {
            fs::write(docs.join(name), text).expect("writable");
        } else {
            assert!(read(name) == text, "docs/{name} is not as the codes are: UPDATE_UI=1 writes it anew");
        }
    }
}
