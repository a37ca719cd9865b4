// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold for every text.

mod common;

use carrick_syntax::lexer::lex;
use carrick_syntax::{format, parse};
use common::{program, tree};
use proptest::prelude::*;

/// The texts of all comments, sorted: the formatter may move them, not lose them.
fn comments(text: &str) -> Vec<String> {
    let (tokens, _) = lex(text);
    let mut comments: Vec<String> = tokens
        .iter()
        .map(|t| text[t.span.start as usize..t.span.end as usize].trim_end().to_owned())
        .filter(|t| t.starts_with("//") || t.starts_with("/*"))
        .collect();
    comments.sort();
    comments
}

fn check_format(text: &str) {
    let once = format(text).unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    assert_eq!(tree(text), tree(&once), "the tree changed:\n{text}\n--\n{once}");
    assert_eq!(comments(text), comments(&once), "comments changed:\n{text}\n--\n{once}");
    assert_eq!(format(&once).as_deref(), Ok(once.as_str()), "not idempotent:\n{text}");
    assert!(once.lines().all(|l| !l.ends_with(' ')), "blanks at the end of a line:\n{once}");
}

fn check_spans(text: &str) {
    for diagnostic in parse(text).1 {
        let span = diagnostic.primary.span;
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{diagnostic:?}");
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
    }
}

const WORDS: [&str; 49] = [
    "event",
    "context",
    "pkt_bp",
    "seg_rule",
    "dispatch",
    "enum",
    "param",
    "list",
    "sliding_wnd",
    "timer_t",
    "if",
    "else",
    "for",
    "while",
    "choose",
    "return",
    "stop",
    "raise",
    "a",
    "uint32",
    "in",
    "by",
    "over",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ">>",
    ";",
    ",",
    ".",
    "..",
    "::",
    ":",
    "->",
    "=",
    "+=",
    "++",
    "*",
    "&",
    "-",
    "1",
    "10ms",
    "/// doc\n",
    "\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_parses_without_panic(text in "\\PC{0,200}") {
        check_spans(&text);
    }

    #[test]
    fn any_bytes_parse_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check_spans(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_parse_without_panic(words in proptest::collection::vec(0..WORDS.len(), 0..120)) {
        let text: Vec<&str> = words.iter().map(|w| WORDS[*w]).collect();
        let text = text.join(" ");
        check_spans(&text);
        if let Ok(once) = format(&text) {
            assert_eq!(tree(&text), tree(&once));
        }
    }

    #[test]
    fn formatting_keeps_meaning_and_comments_and_settles(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check_format(&program(&bytes));
    }

    #[test]
    fn a_damaged_program_parses_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 0..1000_usize, length in 0..20_usize,
    ) {
        let mut text = program(&bytes);
        let from = cut.min(text.len());
        let to = (from + length).min(text.len());
        if text.is_char_boundary(from) && text.is_char_boundary(to) {
            text.replace_range(from..to, "");
        }
        check_spans(&text);
    }
}

#[test]
fn every_program_in_the_tree_settles() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut folders: Vec<std::path::PathBuf> =
        ["protocols", "tests", "crates"].iter().map(|f| std::path::Path::new(root).join(f)).collect();
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "mtp") {
                let text = std::fs::read_to_string(&path).expect("a readable program");
                check_spans(&text);
                if format(&text).is_ok() {
                    check_format(&text);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 0, "no program was found");
}

#[test]
fn long_chains_are_refused_not_overflowed() {
    for chain in ["a + ", "a.", "a[0].", "(", "!", "a ? a : ", "f(", "- "] {
        let text = format!("const uint32 x = {};", chain.repeat(50_000));
        assert!(!parse(&text).1.is_empty());
    }
    let blocks = format!("void f() {}", "{".repeat(50_000));
    assert!(!parse(&blocks).1.is_empty());
    let elses = format!("void f() {{ {} }}", "if (a) { } else ".repeat(50_000));
    assert!(!parse(&elses).1.is_empty());
}
