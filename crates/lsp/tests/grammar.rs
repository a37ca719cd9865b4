// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grammar by which editors colour a program before the server has spoken, and the colours of the book: they are made of
//! the words that the server knows.
//!
//! `CARRICK_RECORD=1 cargo test -p carrick-lsp --test grammar` writes it anew.

use std::collections::BTreeSet;
use std::path::Path;

use carrick_lsp::{Class, built_in_words};
use carrick_syntax::lexer;
use serde_json::{Value, json};

fn scope(class: Class) -> &'static str {
    match class {
        Class::Keyword => "keyword.control.mtp",
        Class::Type => "storage.type.mtp",
        Class::Function => "support.function.mtp",
        Class::Instruction => "support.function.instruction.mtp",
        Class::Value => "constant.language.mtp",
    }
}

fn rule(name: &str, pattern: &str) -> Value {
    json!({"name": name, "match": pattern})
}

/// One rule for the words of a class.
fn words(class: Class) -> Value {
    let names: BTreeSet<&str> = built_in_words().filter(|(c, _)| *c == class).map(|(_, name)| name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    rule(scope(class), &format!("\\b(?:{})\\b", names.join("|")))
}

fn grammar() -> Value {
    let units = format!("(?:{})", lexer::UNITS.join("|"));
    let block = json!({"name": "comment.block.mtp", "begin": "/\\*", "end": "\\*/"});
    let mut patterns = vec![
        rule("comment.line.documentation.mtp", "///.*$"),
        rule("comment.line.double-slash.mtp", "//.*$"),
        block,
        rule("string.quoted.double.mtp", "\"[^\"\\n]*\"?"),
        rule(
            "constant.numeric.mtp",
            &format!("\\b(?:0x[0-9a-fA-F_]+|[0-9][0-9_]*(?:\\.[0-9]+)?){units}?\\b"),
        ),
    ];
    let classes = [Class::Keyword, Class::Type, Class::Function, Class::Instruction, Class::Value];
    patterns.extend(classes.map(words));
    patterns.extend([
        rule("entity.name.function.mtp", "\\b[A-Za-z_][A-Za-z0-9_]*(?=\\s*\\()"),
        rule("constant.other.mtp", "\\b[A-Z][A-Z0-9_]+\\b"),
        rule("keyword.operator.mtp", "->|::|<<=?|>>=?|[-+*/%&|^=!<>]=?|&&|\\|\\||[~?]"),
    ]);
    json!({"name": "Transport program", "scopeName": "source.mtp", "fileTypes": ["mtp"], "patterns": patterns})
}

#[test]
fn the_grammar_knows_the_words_that_the_server_knows() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode/syntaxes/mtp.tmLanguage.json");
    let wanted = serde_json::to_string_pretty(&grammar()).expect("it is JSON") + "\n";
    if std::env::var_os("CARRICK_RECORD").is_some() {
        std::fs::write(&path, &wanted).expect("writable");
    }
    let found = std::fs::read_to_string(&path).expect("the grammar is there");
    assert_eq!(found, wanted, "CARRICK_RECORD=1 writes it anew");
}

/// The words by the colours that they have in the book.
fn book_words() -> Value {
    let of = |classes: &[Class]| {
        let names: BTreeSet<&str> =
            built_in_words().filter(|(c, _)| classes.contains(c)).map(|(_, name)| name).collect();
        names.into_iter().collect::<Vec<_>>().join(" ")
    };
    json!({
        "keyword": of(&[Class::Keyword]),
        "type": of(&[Class::Type]),
        "built_in": of(&[Class::Function, Class::Instruction]),
        "literal": of(&[Class::Value]),
    })
}

#[test]
fn the_book_colours_the_same_words() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mtp.js");
    let found = std::fs::read_to_string(&path).expect("it is there");
    let old = found
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("const words = "))
        .expect("a line of words");
    let new = format!("const words = {};", book_words());
    if std::env::var_os("CARRICK_RECORD").is_some() {
        std::fs::write(&path, found.replace(old, &new)).expect("writable");
    } else {
        assert_eq!(old, new, "CARRICK_RECORD=1 writes it anew");
    }
}

#[test]
fn the_reference_has_every_word() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let pages = std::fs::read_dir(folder).expect("the reference").flatten();
    let pages: Vec<String> =
        pages.map(|page| std::fs::read_to_string(page.path()).expect("readable")).collect();
    let known: BTreeSet<&str> =
        pages.iter().flat_map(|p| p.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))).collect();
    let missing: BTreeSet<&str> =
        built_in_words().map(|(_, name)| name).filter(|name| !known.contains(name)).collect();
    assert_eq!(missing, BTreeSet::new(), "words that docs/reference does not have");
}
