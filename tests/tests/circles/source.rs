// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one file of Rust says of modules: those it declares, what it imports, the items it has, the paths it writes.

use std::collections::BTreeSet;

/// Words that an item's name follows.
const ITEMS: [&str; 9] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union", "mod"];

#[derive(Debug, Default, PartialEq)]
pub struct Source {
    /// Modules in files of their own.
    pub modules: Vec<String>,
    pub imports: Vec<Import>,
    /// Names of items, methods among them.
    pub items: BTreeSet<String>,
    /// Paths of two or more segments outside `use`.
    pub paths: BTreeSet<Vec<String>>,
}

/// One name that a `use` brings; `*` for all names of a module.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub name: String,
    pub path: Vec<String>,
}

/// Reads the text of a file. What only tests compile is left out.
pub fn read(text: &str) -> Source {
    let words = words(text);
    let mut source = Source::default();
    let mut macros = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        at += match rest {
            ["#", "[", "cfg", "(", "test", ")", "]", ..] => 7 + item_length(&rest[7..]),
            ["mod", name, ";", ..] => {
                source.modules.push((*name).to_owned());
                3
            }
            ["use", next, ..] if *next != "<" => {
                let end = rest.iter().position(|&w| w == ";").unwrap_or(rest.len());
                import(&rest[1..end], &[], &mut source.imports);
                end
            }
            ["macro_rules", "!", name, ..] => {
                macros.push(*name);
                source.items.insert((*name).to_owned());
                3
            }
            // A macro of the file may declare any name that it is given.
            [name, "!", ..] if macros.contains(name) => {
                let given = rest[2..2 + arguments_length(&rest[2..])].iter().filter(|word| is_name(word));
                source.items.extend(given.map(|&word| word.to_owned()));
                2
            }
            [word, name, ..] if ITEMS.contains(word) && is_name(name) => {
                source.items.insert((*name).to_owned());
                1
            }
            [first, "::", ..] if is_name(first) => {
                let (path, length) = path(rest);
                source.paths.insert(path);
                length
            }
            _ => 1,
        };
    }
    source
}

/// The number of words of the item at the start: to its `;` or to the end of its first block.
fn item_length(words: &[&str]) -> usize {
    let mut depth = 0;
    for (at, &word) in words.iter().enumerate() {
        match word {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    words.len()
}

/// The number of words of the arguments of a macro, with what surrounds them.
fn arguments_length(words: &[&str]) -> usize {
    let mut depth = 0;
    for (at, &word) in words.iter().enumerate() {
        depth += i32::from(["(", "[", "{"].contains(&word)) - i32::from([")", "]", "}"].contains(&word));
        if depth == 0 {
            return at + 1;
        }
    }
    words.len()
}

/// The path at the start, and the number of its words.
fn path(words: &[&str]) -> (Vec<String>, usize) {
    let mut path = vec![words[0].to_owned()];
    let mut length = 1;
    while let ["::", name, ..] = &words[length..]
        && is_name(name)
    {
        path.push((*name).to_owned());
        length += 2;
    }
    (path, length)
}

/// Appends what a tree of a `use` brings: `a::{b, c as d, e::*}`.
fn import(tree: &[&str], prefix: &[String], imports: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    let mut rest = tree;
    while let [word, "::", after @ ..] = rest {
        path.push((*word).to_owned());
        rest = after;
    }
    match rest {
        ["{", inner @ .., "}"] => branches(inner).iter().for_each(|tree| import(tree, &path, imports)),
        [word, renamed @ ..] => {
            if *word != "self" {
                path.push((*word).to_owned());
            }
            let name = renamed.last().map_or_else(|| path.last().cloned(), |name| Some((*name).to_owned()));
            imports.push(Import { name: name.unwrap_or_default(), path });
        }
        [] => {}
    }
}

/// The parts between commas that stand in no inner braces.
fn branches<'a>(words: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut depth = 0;
    let parts = words.split(|&word| {
        depth += i32::from(word == "{") - i32::from(word == "}");
        word == "," && depth == 0
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The words of a text of Rust, without comments; a literal is the word `""`.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => {
                let (word, length) = word(rest);
                words.push(word);
                length
            }
        };
        rest = &rest[length..];
    }
    words
}

/// The first word of a text, and the number of its bytes.
fn word(text: &str) -> (&str, usize) {
    if let Some(length) = literal_length(text) {
        return ("\"\"", length);
    }
    let name = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let length = match text {
        _ if name > 0 => name,
        _ if text.starts_with("::") => 2,
        _ => text.chars().next().map_or(0, char::len_utf8),
    };
    (&text[..length], length)
}

/// The number of bytes of the string or character at the start, if there is one. A lifetime is none.
fn literal_length(text: &str) -> Option<usize> {
    let body = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - body.len();
    if prefix > 1 {
        return None;
    }
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(prefix + hashes + 2 + inner.find(&close)? + close.len());
    }
    let quote = body.chars().next().filter(|q| ['"', '\''].contains(q))?;
    let mut escaped = false;
    let end = body[1..].find(|c| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    })?;
    let is_lifetime = quote == '\'' && !body[1..].starts_with('\\') && body[1..=end].chars().count() != 1;
    (!is_lifetime).then_some(prefix + 1 + end + 1)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
