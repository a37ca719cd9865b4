// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of fields that are not in every packet.

use super::formatter::Formatter;
use super::stmt::Elements;
use crate::pretty::Doc;

impl Formatter<'_> {
    /// A field, `if (cond) { } else { }` or `union (e) { value -> { } }`.
    pub(super) fn member(&mut self, at: usize, end: usize) -> (Doc, usize) {
        if self.is(at + 1, "(") && self.is(at, "if") {
            return self.optional(at, end);
        }
        if self.is(at + 1, "(") && self.is(at, "union") {
            let open = self.closer_of[&(at + 1)] + 1;
            let (word, selector) = (self.token(at), self.inline(at + 1, open));
            let arms = self.block(open, Elements::Unions);
            return (
                Doc::Concat(vec![word, Doc::Space, selector, Doc::Space, arms]),
                self.closer_of[&open] + 1,
            );
        }
        self.simple_with_semicolon(at, end)
    }

    fn optional(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let open = self.closer_of[&(at + 1)] + 1;
        let mut docs = vec![self.inline(at, open), Doc::Space, self.block(open, Elements::Members)];
        let mut next = self.closer_of[&open] + 1;
        if next < end && self.is(next, "else") {
            docs.extend([Doc::Space, self.token(next), Doc::Space]);
            let (otherwise, after) = if self.is(next + 1, "if") {
                self.optional(next + 1, end)
            } else {
                (self.block(next + 1, Elements::Members), self.closer_of[&(next + 1)] + 1)
            };
            docs.push(otherwise);
            next = after;
        }
        (Doc::Concat(docs), next)
    }

    /// `value -> { fields }`; a `;` behind it means nothing.
    pub(super) fn union_arm(&mut self, at: usize, end: usize) -> (Doc, usize) {
        let open = self.top_level_or_brace(at, end).find(|i| self.is(*i, "{")).unwrap_or(end);
        let arrow = open - 1;
        let value = self.expr(at, arrow);
        let arrow = self.token(arrow);
        let mut docs = vec![value, Doc::Space, arrow, Doc::Space, self.block(open, Elements::Members)];
        let mut next = self.closer_of[&open] + 1;
        if next < end && self.is(next, ";") {
            docs.push(self.comments_of_dropped(next));
            next += 1;
        }
        (Doc::Concat(docs), next)
    }
}
