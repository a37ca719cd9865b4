// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tokens of a text with their comments and brackets, and how one token is printed.

use std::collections::{HashMap, HashSet};

use super::trivia::{Comment, Piece, pieces};
use crate::lexer::TokenKind;
use crate::pretty::Doc;

pub(super) struct Formatter<'a> {
    pub(super) text: &'a str,
    pub(super) pieces: Vec<Piece<'a>>,
    /// from the index of an opening bracket to that of its closing one
    pub(super) closer_of: HashMap<usize, usize>,
    /// the `<` and `>` of types
    pub(super) angles: HashSet<usize>,
    /// the token whose leading comments are already printed
    pub(super) led: Option<usize>,
    /// the `require` of the declaration that is being printed
    pub(super) required: Option<usize>,
    /// what is to stand right behind a token, before its comments
    pub(super) suffix: Option<(usize, Doc)>,
}

impl<'a> Formatter<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let pieces = pieces(text);
        let closer_of = match_brackets(&pieces);
        let angles = type_brackets(&pieces);
        Formatter { text, pieces, closer_of, angles, led: None, required: None, suffix: None }
    }

    pub(super) fn is(&self, at: usize, text: &str) -> bool {
        self.pieces.get(at).is_some_and(|p| p.text == text)
    }

    pub(super) fn opener_of(&self, close: usize) -> usize {
        self.closer_of.iter().find(|(_, c)| **c == close).map_or(0, |(open, _)| *open)
    }

    pub(super) fn has_newline(&self, open: usize, close: usize) -> bool {
        self.text[self.pieces[open].start..self.pieces[close].start].contains('\n')
    }

    /// Whether a comment between two tokens ends its line.
    pub(super) fn has_line_comment(&self, from: usize, to: usize) -> bool {
        let leading = (from + 1..=to).any(|i| !self.pieces[i].leading.is_empty());
        leading || (from..to).any(|i| self.pieces[i].trailing.iter().any(|c| c.is_line))
    }

    /// The indices in a range that are inside no bracket that begins in it; brackets themselves are left out.
    pub(super) fn top_level(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let mut at = from;
        let mut angles = 0_usize;
        std::iter::from_fn(move || {
            while at < to {
                let here = at;
                at = self.closer_of.get(&here).map_or(here, |close| *close) + 1;
                if self.angles.contains(&here) {
                    match self.pieces[here].text {
                        "<" => angles += 1,
                        closing => angles = angles.saturating_sub(closing.len()),
                    }
                } else if at == here + 1 && angles == 0 {
                    return Some(here);
                }
            }
            None
        })
    }

    /// A token with its comments.
    pub(super) fn token(&mut self, at: usize) -> Doc {
        let mut docs = Vec::new();
        if self.led != Some(at) {
            docs.extend(self.pieces[at].leading.iter().flat_map(own_line));
        }
        docs.push(Doc::text(self.pieces[at].text));
        if let Some((_, suffix)) = self.suffix.take_if(|(of, _)| *of == at) {
            docs.push(suffix);
        }
        docs.extend(self.pieces[at].trailing.iter().flat_map(same_line));
        Doc::Concat(docs)
    }

    /// The comments of a token that is left out, placed as if they were those of its neighbours.
    pub(super) fn comments_of_dropped(&self, at: usize) -> Doc {
        let piece = &self.pieces[at];
        let on_line = piece.leading.is_empty() && !self.pieces[at - 1].trailing.iter().any(|c| c.is_line);
        let trailing = piece.trailing.iter().flat_map(if on_line { same_line } else { own_line });
        Doc::Concat(piece.leading.iter().flat_map(own_line).chain(trailing).collect())
    }

    /// The comments before a token that begins or ends an element of a list, with their empty lines.
    pub(super) fn leading(&mut self, at: usize, first: bool) -> Doc {
        self.led = Some(at);
        let piece = &self.pieces[at];
        let mut docs = Vec::new();
        for (n, comment) in piece.leading.iter().enumerate() {
            if comment.blank_before && !(first && n == 0) {
                docs.push(Doc::Blank);
            }
            docs.extend(own_line(comment));
        }
        Doc::Concat(docs)
    }
}

fn own_line(comment: &Comment) -> [Doc; 3] {
    [Doc::LocalLine, Doc::Comment(comment.text.clone()), Doc::LocalLine]
}

/// What follows a `/* */` here depends on nothing but its place: a second pass must decide the same.
fn same_line(comment: &Comment) -> [Doc; 3] {
    let after = if comment.is_line { Doc::LocalLine } else { Doc::Space };
    [Doc::Space, Doc::Comment(comment.text.clone()), after]
}

fn match_brackets(pieces: &[Piece<'_>]) -> HashMap<usize, usize> {
    let mut open = Vec::new();
    let mut closer_of = HashMap::new();
    for (i, piece) in pieces.iter().enumerate() {
        match piece.text {
            "(" | "[" | "{" => open.push(i),
            ")" | "]" | "}" => {
                if let Some(o) = open.pop() {
                    closer_of.insert(o, i);
                }
            }
            _ => {}
        }
    }
    closer_of
}

fn is_list(piece: &Piece<'_>) -> bool {
    matches!(piece.text, "list" | "sorted_list")
}

/// The `<` and `>` of `list<...>`, told from comparisons by what stands between and behind them.
fn type_brackets(pieces: &[Piece<'_>]) -> HashSet<usize> {
    let mut angles = HashSet::new();
    for start in 1..pieces.len() {
        if pieces[start].text == "<" && is_list(&pieces[start - 1]) && !angles.contains(&start) {
            angles.extend(angles_from(pieces, start).unwrap_or_default());
        }
    }
    angles
}

fn angles_from(pieces: &[Piece<'_>], start: usize) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for (i, piece) in pieces.iter().enumerate().skip(start) {
        match piece.text {
            "<" if is_list(&pieces[i - 1]) => depth += 1,
            ">" | ">>" => depth = depth.checked_sub(piece.text.len())?,
            "," | "+" | "-" | "*" | "/" | "%" | "(" | ")" | "." => continue,
            _ if matches!(piece.kind, TokenKind::Ident | TokenKind::Int(_) | TokenKind::Unit(..)) => continue,
            _ => return None,
        }
        found.push(i);
        if depth == 0 {
            let named = pieces.get(i + 1).is_some_and(|next| next.kind == TokenKind::Ident);
            return named.then_some(found);
        }
    }
    None
}
