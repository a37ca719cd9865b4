// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inside of a line: operators, brackets, blanks between tokens.

use super::formatter::Formatter;
use crate::lexer::TokenKind;
use crate::pretty::Doc;

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// How strongly a binary operator binds, for the order in which a long expression is broken.
fn strength(operator: &str) -> Option<u8> {
    Some(match operator {
        "?" | ":" => 0,
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | "<=" | ">" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl Formatter<'_> {
    /// A statement or field without its `;`: its right-hand side may be broken.
    pub(super) fn simple(&mut self, from: usize, to: usize) -> Doc {
        let assignment = self.top_level(from, to).find(|i| ASSIGNMENTS.contains(&self.pieces[*i].text));
        if let Some(at) = assignment {
            let left = self.inline(from, at);
            let operator = self.token(at);
            let right = self.expr(at + 1, to);
            return Doc::Concat(vec![left, Doc::Space, operator, Doc::Space, right]);
        }
        if self.is(from, "return") || self.is(from, "raise") || self.required == Some(from) {
            let word = self.token(from);
            if from + 1 == to {
                return word;
            }
            let value = self.expr(from + 1, to);
            return Doc::Concat(vec![word, Doc::Space, value]);
        }
        self.inline(from, to)
    }

    /// An expression, broken in front of its loosest operators if it does not fit.
    pub(super) fn expr(&mut self, from: usize, to: usize) -> Doc {
        let operators: Vec<(usize, u8)> = self
            .top_level(from, to)
            .filter(|i| !self.is_unary(*i) && !self.angles.contains(i))
            .filter_map(|i| strength(self.pieces[i].text).map(|s| (i, s)))
            .collect();
        let Some(loosest) = operators.iter().map(|(_, s)| *s).min() else {
            return self.inline(from, to);
        };
        let splits: Vec<usize> = operators.iter().filter(|(_, s)| *s == loosest).map(|(i, _)| *i).collect();
        let first = self.expr(from, splits[0]);
        let mut rest = Vec::new();
        for (n, at) in splits.iter().enumerate() {
            let end = splits.get(n + 1).copied().unwrap_or(to);
            let operator = self.token(*at);
            let operand = self.expr(at + 1, end);
            rest.extend([Doc::Line, operator, Doc::Space, operand]);
        }
        Doc::Concat(vec![first, Doc::Concat(rest).indent()]).group(false)
    }

    /// Tokens one after the other; only brackets among them may be broken.
    pub(super) fn inline(&mut self, from: usize, to: usize) -> Doc {
        let mut docs = Vec::new();
        let mut at = from;
        while at < to {
            if at > from && self.space_between(at - 1, at) {
                docs.push(Doc::Space);
            }
            match self.closer_of.get(&at).copied() {
                Some(close) if close < to => {
                    // Only a record has braces inside of a line.
                    let is_record = self.is(at, "{");
                    docs.push(if is_record { self.brace_list(at) } else { self.bracketed(at, close) });
                    at = close + 1;
                }
                _ => {
                    docs.push(self.token(at));
                    at += 1;
                }
            }
        }
        Doc::Concat(docs)
    }

    /// `( )` or `[ ]` with what is inside; one element alone stays with its brackets.
    fn bracketed(&mut self, open: usize, close: usize) -> Doc {
        let elements = self.elements(open, close);
        let commented = self.has_line_comment(open, close);
        let opening = self.token(open);
        if elements.len() < 2 && !commented {
            let inside = self.comma_separated(&elements, close, false);
            return Doc::Concat(vec![opening, inside, self.token(close)]);
        }
        let inside = self.comma_separated(&elements, close, false);
        let before_close = self.leading(close, elements.is_empty());
        let inside = Doc::Concat(vec![Doc::SoftLine, inside, before_close]).indent();
        Doc::Concat(vec![opening, inside, Doc::SoftLine, self.token(close)]).group(commented)
    }

    /// The ranges between the commas of a bracket; a comma before the closing one adds none.
    pub(super) fn elements(&self, open: usize, close: usize) -> Vec<(usize, usize)> {
        let mut elements = Vec::new();
        let mut start = open + 1;
        for comma in self.top_level(open + 1, close).filter(|i| self.is(*i, ",")) {
            elements.push((start, comma));
            start = comma + 1;
        }
        if start < close {
            elements.push((start, close));
        }
        elements
    }

    /// The elements up to `close`. The last is followed by a comma only where `trailing` and broken.
    pub(super) fn comma_separated(
        &mut self,
        elements: &[(usize, usize)],
        close: usize,
        trailing: bool,
    ) -> Doc {
        let mut docs = Vec::new();
        for (n, (from, to)) in elements.iter().enumerate() {
            let is_last = n + 1 == elements.len();
            if is_last && trailing {
                self.suffix = Some((to - 1, Doc::IfBroken(",")));
            }
            let named = self.top_level(*from, *to).any(|i| self.is(i, "="));
            docs.push(if named { self.simple(*from, *to) } else { self.expr(*from, *to) });
            if *to == close {
                continue;
            }
            if is_last {
                docs.push(self.comments_of_dropped(*to));
            } else {
                docs.extend([self.token(*to), Doc::Line]);
            }
        }
        Doc::Concat(docs)
    }

    fn is_unary(&self, at: usize) -> bool {
        if !matches!(self.pieces[at].text, "-" | "!" | "~") {
            return false;
        }
        let Some(before) = at.checked_sub(1).map(|i| &self.pieces[i]) else { return true };
        match before.kind {
            TokenKind::Ident => {
                matches!(before.text, "return" | "in" | "raise") || self.required == Some(at - 1)
            }
            TokenKind::Int(_) | TokenKind::Unit(..) => false,
            _ => !matches!(before.text, ")" | "]"),
        }
    }

    fn space_between(&self, left: usize, right: usize) -> bool {
        let (before, after) = (self.pieces[left].text, self.pieces[right].text);
        if self.is_unary(left) {
            // Two of them would be one token.
            return before == "-" && after == "-";
        }
        if matches!(after, "," | ";" | "." | "::" | ".." | ")" | "]" | "++" | "--")
            || matches!(before, "." | "::" | "..")
        {
            return false;
        }
        if self.angles.contains(&left) {
            return before != "<" && !matches!(after, ">" | ">>" | "(" | "[");
        }
        if self.angles.contains(&right) {
            return false;
        }
        if matches!(after, "(" | "[") {
            let callable = self.pieces[left].kind == TokenKind::Ident || matches!(before, ")" | "]");
            return !callable
                || matches!(before, "if" | "for" | "while" | "return" | "in" | "raise")
                || self.required == Some(left)
                || (after == "[" && self.begins_rule(left));
        }
        true
    }

    /// `seg_rule r [` and `seg_rule r(x) [`: this bracket is no index.
    fn begins_rule(&self, last: usize) -> bool {
        let name = if self.is(last, ")") { self.opener_of(last).saturating_sub(1) } else { last };
        name > 0 && (self.is(name - 1, "seg_rule") || self.is(name - 1, "coalescing_rule"))
    }
}
