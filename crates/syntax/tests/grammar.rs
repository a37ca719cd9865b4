// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grammar that the reference prints is the one that the parser knows.

mod ebnf;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carrick_syntax::parse;
use ebnf::{Grammar, Maker, unread};

const PAGE: &str = include_str!("../../../docs/reference/grammar.md");

/// Words that the parser knows so as to say that the language does not have them.
const REFUSED: [&str; 8] = ["and", "case", "do", "double", "float", "or", "switch", "while"];

/// Programs that the parser takes although the grammar does not, so that something better can be said of them.
const REFUSED_LATER: [&str; 2] = ["MTP0209_not_a_place.mtp", "MTP0507_nested.mtp"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_parser_accepts_what_the_grammar_makes() {
    let grammar = Grammar::of(PAGE);
    let mut maker = Maker::new(&grammar, 0x9e37_79b9_7f4a_7c15);
    for number in 0..6000 {
        let tokens = 1 + number / 2 % 200;
        // Most of the language is in bodies, and few declarations have one.
        let text = match number % 2 {
            0 => maker.text("file", tokens),
            _ => "void f()".to_owned() + &maker.text("block", tokens),
        };
        let (_, diagnostics) = parse(&text);
        assert!(diagnostics.is_empty(), "{diagnostics:#?}\n{text}");
        assert_eq!(unread(&grammar, &text), None, "the tests disagree about the grammar:\n{text}");
    }
    let all = Maker::all(&grammar);
    let never: Vec<_> =
        all.iter().filter(|(at, _)| !maker.taken.contains(*at)).map(|(_, node)| node).collect();
    assert!(never.is_empty(), "never taken: {never:#?}");
}

#[test]
fn the_grammar_reads_what_the_parser_accepts() {
    let grammar = Grammar::of(PAGE);
    let mut places = ["protocols", "tests", "crates/cli/templates"].map(|place| root().join(place)).to_vec();
    let mut count = 0;
    while let Some(place) = places.pop() {
        for path in std::fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                places.push(path);
                continue;
            }
            let Some(text) = program(&path) else { continue };
            let left = unread(&grammar, &text);
            let rest = left.map(|l| l.chars().take(200).collect::<String>());
            assert_eq!(rest, None, "{}: the grammar does not go on here", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "only {count} programs");
}

/// The text of a program without mistakes of syntax.
fn program(path: &Path) -> Option<String> {
    path.extension().filter(|e| *e == "mtp" && !REFUSED_LATER.iter().any(|name| path.ends_with(name)))?;
    let text = std::fs::read_to_string(path).expect("readable");
    parse(&text).1.is_empty().then_some(text)
}

/// All literals of the parser's sources that are a single word, but those that only label a place in a message.
fn words_of_the_parser() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/parser");
    for path in std::fs::read_dir(folder).expect("the parser").flatten().map(|e| e.path()) {
        let text = std::fs::read_to_string(path).expect("readable");
        let code: String = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        let literals = code.split('"').skip(1).step_by(2);
        let is_word = |w: &&str| !w.is_empty() && w.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        words.extend(literals.filter(is_word).map(str::to_owned));
    }
    ["here", "assigns"].iter().for_each(|label| assert!(words.remove(*label), "{label} is gone: remove it"));
    words
}

#[test]
fn the_grammar_has_every_word_of_the_parser() {
    let grammar = Grammar::of(PAGE);
    let texts: BTreeSet<&str> = grammar.texts().into_iter().collect();
    let words = words_of_the_parser();
    assert!(words.len() > 60, "{words:?}");
    let missing: Vec<&String> =
        words.iter().filter(|w| !texts.contains(w.as_str()) && !REFUSED.contains(&w.as_str())).collect();
    assert!(missing.is_empty(), "docs/reference/grammar.md lacks {missing:?}");
}

#[test]
fn what_the_reference_shows_is_of_the_language() {
    let grammar = Grammar::of(PAGE);
    let pages = std::fs::read_dir(root().join("docs/reference")).expect("the reference").flatten();
    let pages: Vec<String> =
        pages.map(|page| std::fs::read_to_string(page.path()).expect("readable")).collect();
    let parts: Vec<&str> = (pages.iter())
        .flat_map(|page| page.split("```mtp,part\n").skip(1).filter_map(|part| part.split("```").next()))
        .collect();
    assert!(parts.len() > 15, "only {} parts of programs", parts.len());
    for part in parts {
        // Declarations, or else statements, fields or what is deployed, which all look like statements.
        let body = format!("void f() {{ {part} }}");
        let text = if parse(part).1.is_empty() { part } else { &body };
        let (_, diagnostics) = parse(text);
        assert!(diagnostics.is_empty(), "{diagnostics:#?}\n{part}");
        assert_eq!(unread(&grammar, text), None, "{part}");
    }
}

#[test]
fn what_is_not_of_the_grammar_is_not_read() {
    let grammar = Grammar::of(PAGE);
    for (text, rest) in [
        ("const uint32 A 1;", Some("1;")),
        ("void f() { a + b; }", Some("+ b; }")),
        ("struct s { list<list<a>> b; }", None),
        ("struct s { list<list<a>>> b; }", Some("> b; }")),
        ("import \"a\"; deploy { }", None),
        ("struct s { uint8 a", Some("")),
    ] {
        assert_eq!(unread(&grammar, text).map(|r| r.trim_start_matches(">>")), rest, "{text}");
    }
}
