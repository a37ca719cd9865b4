// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations, blocks and statements.

use super::formatter::Formatter;
use crate::lexer::TokenKind;
use crate::pretty::Doc;

/// What the elements of a `{ }` are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Elements {
    /// fields and the like: each ends in `;`
    Simple,
    Statements,
    Arms,
    /// fields of a blueprint, and groups of them
    Members,
    Unions,
    /// of a machine: its states, and what happens in all of them
    States,
    /// declarations, of a feature
    Items,
    /// groups of fields, and what is said of one
    Layout,
    /// of a choice
    Branches,
}

impl Formatter<'_> {
    pub(super) fn file(&mut self) -> Doc {
        let end = self.pieces.len() - 1;
        let mut docs = Vec::new();
        let mut at = 0;
        while at < end {
            docs.push(self.separator(at, at == 0));
            let (item, next) = self.item(at, end);
            docs.push(item);
            at = next;
        }
        docs.push(Doc::HardLine);
        docs.push(self.leading(end, at == 0));
        Doc::Concat(docs)
    }

    /// What stands before an element: a new line, an empty line if there was one, its comments.
    fn separator(&mut self, at: usize, first: bool) -> Doc {
        let comments = self.leading(at, first);
        let piece = &self.pieces[at];
        let blank = piece.blank_before && !(first && piece.leading.is_empty());
        let mut docs = vec![Doc::Line, comments];
        if blank {
            docs.push(Doc::Blank);
        }
        Doc::Concat(docs)
    }

    /// The declaration that begins at `at`, and where the next begins.
    fn item(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let stop =
            self.top_level_or_brace(at, end).find(|i| self.is(*i, "{") || self.is(*i, ";")).unwrap_or(end);
        if !self.is(stop, "{") {
            self.required = Some(at).filter(|at| self.is(*at, "require"));
            return self.simple_with_semicolon(at, end);
        }
        let header = self.inline(at, stop);
        let body = if self.is(at, "enum") || self.is(at, "opt_union") || self.is(at, "frame_union") {
            self.brace_list(stop)
        } else if self.is(at, "dispatch") {
            self.block(stop, Elements::Arms)
        } else if self.is(at, "machine") && self.is(at + 2, "for") {
            self.block(stop, Elements::States)
        } else if self.is(at, "feature") {
            self.block(stop, Elements::Items)
        } else if self.is(at, "layout") {
            self.block(stop, Elements::Layout)
        } else if self.is(at, "pkt_bp") || self.is(at, "net_header") {
            self.block(stop, Elements::Members)
        } else if self.is(stop - 1, ")") || self.is(at, "extend") {
            self.block(stop, Elements::Statements)
        } else {
            self.block(stop, Elements::Simple)
        };
        let mut docs = vec![header, Doc::Space, body];
        let mut next = self.closer_of[&stop] + 1;
        // Some write `};` out of habit.
        if self.is(next, ";") {
            docs.push(self.comments_of_dropped(next));
            next += 1;
        }
        (Doc::Concat(docs), next)
    }

    /// As `top_level`, but opening braces are among what it yields.
    pub(super) fn top_level_or_brace(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            if at >= to {
                return None;
            }
            let here = at;
            at = self.closer_of.get(&here).map_or(here, |close| *close) + 1;
            Some(here)
        })
    }

    /// `a, b` between braces on one line if the author had it so and it fits, else one to a line.
    pub(super) fn brace_list(&mut self, open: usize) -> Doc {
        let close = self.closer_of[&open];
        let elements = self.elements(open, close);
        let broken = self.text[self.pieces[open].start..self.pieces[open + 1].start].contains('\n')
            || self.has_line_comment(open, close);
        let opening = self.token(open);
        if elements.is_empty() && !broken {
            return Doc::Concat(vec![opening, Doc::Space, self.token(close)]);
        }
        let inside = self.comma_separated(&elements, close, true);
        let comments = self.leading(close, elements.is_empty());
        let inside = Doc::Concat(vec![Doc::Line, inside, comments]).indent();
        Doc::Concat(vec![opening, inside, Doc::Line, self.token(close)])
            .group(broken && self.holds_lines(open, close))
    }

    /// Whether there is anything between two brackets that wants lines of its own.
    fn holds_lines(&self, open: usize, close: usize) -> bool {
        open + 1 < close || !self.pieces[close].leading.is_empty()
    }

    pub(super) fn block(&mut self, open: usize, elements: Elements) -> Doc {
        let close = self.closer_of[&open];
        let opening = self.token(open);
        let mut inside = Vec::new();
        let mut at = open + 1;
        let mut count = 0;
        let mut nested = false;
        while at < close {
            inside.push(self.separator(at, count == 0));
            let (element, next) = match elements {
                Elements::Simple => self.simple_with_semicolon(at, close),
                Elements::Statements => self.statement(at, close),
                Elements::Arms => self.arm(at, close),
                Elements::Members => self.member(at, close),
                Elements::Unions => self.union_arm(at, close),
                Elements::States => self.state(at, close),
                Elements::Items => self.item(at, close),
                Elements::Layout => self.layout_entry(at, close),
                Elements::Branches => self.branch(at, close),
            };
            nested |= (at..next).any(|i| self.is(i, "{") || self.is(i, "if") || self.is_loop(i));
            inside.push(element);
            at = next;
            count += 1;
        }
        inside.push(self.leading(close, count == 0));
        let one_line = !self.has_newline(open, close)
            && match elements {
                Elements::Simple | Elements::Members => true,
                Elements::Statements => count < 2 && !nested && !self.has_else_near(open, close + 1),
                _ => false,
            };
        let inside = Doc::Concat(inside).indent();
        let broken = !one_line && self.holds_lines(open, close);
        Doc::Concat(vec![opening, inside, Doc::Line, self.token(close)]).group(broken)
    }

    /// Up to and with the next `;` of this level.
    pub(super) fn simple_with_semicolon(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let stop = self.top_level(at, end).find(|i| self.is(*i, ";")).unwrap_or(end);
        let doc = self.simple(at, stop);
        if stop == end {
            return (doc, end);
        }
        (Doc::Concat(vec![doc, self.token(stop)]), stop + 1)
    }

    /// `E else at id(0, part) -> { a, b } absent { c };`
    fn arm(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let arrow = self.top_level(at, end).find(|i| self.is(*i, "->")).unwrap_or(at);
        let mut docs = vec![self.inline(at, arrow)];
        let mut i = arrow;
        while i < end && !self.is(i, ";") {
            if i > at {
                docs.push(Doc::Space);
            }
            if self.is(i, "{") {
                docs.push(self.brace_list(i));
                i = self.closer_of[&i] + 1;
            } else {
                docs.push(self.token(i));
                i += 1;
            }
        }
        if i < end {
            docs.push(self.token(i));
            i += 1;
        }
        (Doc::Concat(docs), i)
    }

    /// `state S { ... }` or `on E if (cond) { ... }`
    fn state(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let open = self.top_level_or_brace(at, end).find(|i| self.is(*i, "{")).unwrap_or(at);
        let inside = if self.is(at, "state") { Elements::States } else { Elements::Statements };
        let mut docs = vec![self.inline(at, open), Doc::Space, self.block(open, inside)];
        let mut next = self.closer_of[&open] + 1;
        if self.is(next, ";") {
            docs.push(self.comments_of_dropped(next));
            next += 1;
        }
        (Doc::Concat(docs), next)
    }

    /// `group g { f, ... }`, or what ends in `;`.
    fn layout_entry(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let stop = self.top_level_or_brace(at, end).find(|i| self.is(*i, "{") || self.is(*i, ";"));
        let Some(open) = stop.filter(|stop| self.is(*stop, "{")) else {
            return self.simple_with_semicolon(at, end);
        };
        let mut docs = vec![self.inline(at, open), Doc::Space, self.brace_list(open)];
        let mut next = self.closer_of[&open] + 1;
        if self.is(next, ";") {
            docs.push(self.comments_of_dropped(next));
            next += 1;
        }
        (Doc::Concat(docs), next)
    }

    fn statement(&mut self, at: usize, end: usize) -> (Doc, usize) {
        if self.is(at, "{") {
            return (self.block(at, Elements::Statements), self.closer_of[&at] + 1);
        }
        if self.is_choice(at) {
            return self.choice(at);
        }
        let keyword = self.pieces[at].kind == TokenKind::Ident && self.is(at + 1, "(");
        if !(keyword && (self.is(at, "if") || self.is_loop(at))) {
            return self.simple_with_semicolon(at, end);
        }
        let condition_end = self.closer_of[&(at + 1)] + 1;
        let mut docs = vec![self.inline(at, condition_end)];
        let (body, mut next) = self.body(condition_end, end, self.is(at, "if"));
        docs.push(body);
        if self.is(at, "if") && self.is_else(next) {
            docs.push(if self.is(next - 1, "}") { Doc::Space } else { Doc::LocalLine });
            docs.push(self.token(next));
            let (otherwise, after) = self.otherwise(next + 1, end);
            docs.push(otherwise);
            next = after;
        }
        (Doc::Concat(docs), next)
    }

    fn otherwise(&mut self, at: usize, end: usize) -> (Doc, usize) {
        if self.is(at, "if") {
            let (doc, next) = self.statement(at, end);
            return (Doc::Concat(vec![Doc::Space, doc]), next);
        }
        self.body(at, end, true)
    }

    /// A block behind its head, or one statement: on the same line if it fits and nothing depends on it.
    fn body(&mut self, at: usize, end: usize, of_if: bool) -> (Doc, usize) {
        let (doc, next) = self.statement(at, end);
        if self.is(at, "{") {
            return (Doc::Concat(vec![Doc::Space, doc]), next);
        }
        let control = self.is(at, "if") || self.is_loop(at) || self.is_choice(at);
        let broken = control || (of_if && self.has_else_near(at, next));
        (Doc::Concat(vec![Doc::Line, doc]).indent().group(broken), next)
    }

    fn is_loop(&self, at: usize) -> bool {
        self.is(at, "for") || self.is(at, "while")
    }

    /// `choose (value) {`, and not a call of a function of this name.
    fn is_choice(&self, at: usize) -> bool {
        let close = self.closer_of.get(&(at + 1));
        self.is(at, "choose") && self.is(at + 1, "(") && close.is_some_and(|close| self.is(close + 1, "{"))
    }

    fn choice(&mut self, at: usize) -> (Doc, usize) {
        let open = self.closer_of[&(at + 1)] + 1;
        let (word, value) = (self.token(at), self.inline(at + 1, open));
        let branches = self.block(open, Elements::Branches);
        (Doc::Concat(vec![word, Doc::Space, value, Doc::Space, branches]), self.closer_of[&open] + 1)
    }

    /// `1, 4..7 -> f();` or `else -> { }`
    fn branch(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let arrow = self.top_level(at, end).find(|i| self.is(*i, "->")).unwrap_or(at);
        let elements = self.elements(at - 1, arrow);
        let commented = self.has_line_comment(at, arrow);
        let values = self.comma_separated(&elements, arrow, false).indent().group(commented);
        let sign = self.token(arrow);
        let (body, next) = self.body(arrow + 1, end, false);
        (Doc::Concat(vec![values, Doc::Space, sign, body]), next)
    }

    /// The other branch of an `if`: in a choice, `else ->` is a branch.
    fn is_else(&self, at: usize) -> bool {
        self.is(at, "else") && !self.is(at + 1, "->")
    }

    /// Whether the statement from `at` to `next` stands before or behind an `else`.
    fn has_else_near(&self, at: usize, next: usize) -> bool {
        self.is_else(next) || self.is(at - 1, "else")
    }
}
