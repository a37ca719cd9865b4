// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a text is one of a grammar: all ways are tried, each place and rule once.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use carrick_syntax::lexer::{Token, TokenKind, lex};

use super::{Grammar, Node};

/// Places are counted in halves of tokens, because `>>` may be two ends of types.
type Ends = Rc<BTreeSet<usize>>;

struct Reader<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    tokens: Vec<Token>,
    known: HashMap<(&'a str, usize), Ends>,
    /// the furthest token at which something else was expected
    furthest: usize,
}

/// Where a text is not of the grammar, if it is not: what is left of it from the first token that no rule takes.
pub fn unread<'a>(grammar: &'a Grammar, text: &'a str) -> Option<&'a str> {
    let (tokens, _) = lex(text);
    let tokens: Vec<Token> =
        tokens.into_iter().filter(|t| !t.kind.is_comment() && t.kind != TokenKind::DocComment).collect();
    let end = 2 * (tokens.len() - 1);
    let mut reader = Reader { grammar, text, tokens, known: HashMap::new(), furthest: 0 };
    let ends = reader.rule("file", 0);
    let last = reader.tokens[reader.furthest].span.start as usize;
    (!ends.contains(&end)).then(|| &text[last..])
}

impl<'a> Reader<'a> {
    fn rule(&mut self, name: &'a str, at: usize) -> Ends {
        if let Some(ends) = self.known.get(&(name, at)) {
            return Rc::clone(ends);
        }
        let ends = Rc::new(self.ends(&self.grammar.rules[name], at));
        self.known.insert((name, at), Rc::clone(&ends));
        ends
    }

    /// Where what stands at a place may end.
    fn ends(&mut self, node: &'a Node, at: usize) -> BTreeSet<usize> {
        match node {
            Node::Text(text) => self.one(at, |kind, found| kind != TokenKind::Path && found == text),
            Node::Token(name) => self.one(at, |kind, _| match kind {
                TokenKind::Ident => name == "NAME",
                TokenKind::Int(_) => name == "NUMBER",
                TokenKind::Unit(..) => name == "QUANTITY",
                TokenKind::Path => name == "PATH",
                _ => false,
            }),
            Node::Rule(name) => (*self.rule(name, at)).clone(),
            Node::Choice(nodes) => nodes.iter().flat_map(|node| self.ends(node, at)).collect(),
            Node::Row(nodes) => nodes.iter().fold(BTreeSet::from([at]), |places, node| {
                places.into_iter().flat_map(|place| self.ends(node, place)).collect()
            }),
            Node::Maybe(node) => {
                let mut ends = self.ends(node, at);
                ends.insert(at);
                ends
            }
            Node::Many(node) => {
                let (mut ends, mut places) = (BTreeSet::from([at]), vec![at]);
                while let Some(place) = places.pop() {
                    places.extend(self.ends(node, place).into_iter().filter(|end| ends.insert(*end)));
                }
                ends
            }
        }
    }

    fn one(&mut self, at: usize, wanted: impl Fn(TokenKind, &str) -> bool) -> BTreeSet<usize> {
        let Token { kind, span } = self.tokens[at / 2];
        let text = &self.text[span.start as usize..span.end as usize];
        let shift = kind == TokenKind::Punct(">>");
        if shift && wanted(TokenKind::Punct(">"), ">") {
            return BTreeSet::from([at + 1]);
        }
        if at.is_multiple_of(2) && kind != TokenKind::Eof && wanted(kind, text) {
            return BTreeSet::from([at + 2]);
        }
        self.furthest = self.furthest.max(at / 2);
        BTreeSet::new()
    }
}
