// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grammar of the reference as data: what its ```` ```ebnf ```` blocks say.

mod make;
mod read;

use std::collections::BTreeMap;

pub use make::Maker;
pub use read::unread;

/// What may stand at a place.
#[derive(Debug, PartialEq, Eq)]
pub enum Node {
    /// a word or a sign of the language
    Text(String),
    /// `NAME`, `NUMBER`, `QUANTITY` or `PATH`
    Token(String),
    Rule(String),
    Row(Vec<Node>),
    /// one of several
    Choice(Vec<Node>),
    /// none or one
    Maybe(Box<Node>),
    /// any number
    Many(Box<Node>),
}

/// The rules by their names; `file` is the whole.
pub struct Grammar {
    pub rules: BTreeMap<String, Node>,
}

impl Grammar {
    /// Reads a page. Panics if it is malformed, or has a rule twice or not at all.
    pub fn of(page: &str) -> Grammar {
        let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
        let blocks = page.split("```ebnf\n").skip(1).filter_map(|block| block.split("```").next());
        for line in blocks.flat_map(str::lines) {
            let mut words = line.split_whitespace();
            // A rule begins at the margin and goes on in the lines that do not.
            if let Some(name) = words.next().filter(|_| !line.starts_with(' ')) {
                assert_eq!(words.next(), Some("="), "behind {name}");
                texts.push((name, words.collect()));
            } else if let Some((_, last)) = texts.last_mut() {
                last.extend(line.split_whitespace());
            }
        }
        let mut rules = BTreeMap::new();
        for (name, words) in texts {
            let mut words = words.into_iter().peekable();
            let node = choice(&mut words);
            assert_eq!(words.next(), None, "in {name}");
            assert!(rules.insert(name.to_owned(), node).is_none(), "{name} is there twice");
        }
        let grammar = Grammar { rules };
        grammar.rules.values().for_each(|node| grammar.check(node));
        grammar
    }

    fn check(&self, node: &Node) {
        match node {
            Node::Rule(name) => assert!(self.rules.contains_key(name), "there is no rule {name}"),
            _ => node.parts().iter().for_each(|part| self.check(part)),
        }
    }

    /// The words and signs that stand in it.
    pub fn texts(&self) -> Vec<&str> {
        let mut found = Vec::new();
        let mut nodes: Vec<&Node> = self.rules.values().collect();
        while let Some(node) = nodes.pop() {
            if let Node::Text(text) = node {
                found.push(text.as_str());
            }
            nodes.extend(node.parts());
        }
        found
    }
}

impl Node {
    fn parts(&self) -> &[Node] {
        match self {
            Node::Text(_) | Node::Token(_) | Node::Rule(_) => &[],
            Node::Row(nodes) | Node::Choice(nodes) => nodes,
            Node::Maybe(node) | Node::Many(node) => std::slice::from_ref(node),
        }
    }
}

type Words<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn choice(words: &mut Words<'_>) -> Node {
    let mut all = vec![row(words)];
    while words.next_if_eq(&"|").is_some() {
        all.push(row(words));
    }
    if all.len() == 1 { all.remove(0) } else { Node::Choice(all) }
}

fn row(words: &mut Words<'_>) -> Node {
    let mut all = Vec::new();
    while let Some(word) = words.next_if(|w| !["|", ")", "]", "}"].contains(w)) {
        all.push(match word {
            "(" => closed(words, ")"),
            "[" => Node::Maybe(Box::new(closed(words, "]"))),
            "{" => Node::Many(Box::new(closed(words, "}"))),
            _ => leaf(word),
        });
    }
    assert!(!all.is_empty(), "nothing stands before {:?}", words.peek());
    if all.len() == 1 { all.remove(0) } else { Node::Row(all) }
}

fn closed(words: &mut Words<'_>, end: &str) -> Node {
    let inner = choice(words);
    assert_eq!(words.next(), Some(end));
    inner
}

fn leaf(word: &str) -> Node {
    if let Some(text) = word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
        Node::Text(text.to_owned())
    } else if word.chars().all(|c| c.is_ascii_uppercase()) {
        Node::Token(word.to_owned())
    } else {
        Node::Rule(word.to_owned())
    }
}
