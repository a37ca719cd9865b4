// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the parser is in the tokens of a text: looking ahead, taking tokens, reporting mistakes, recovering from them.

use std::ops::Range;

use crate::ast::Ident;
use crate::codes;
use crate::diag::Diagnostic;
use crate::diagnostics::Diagnostics;
use crate::lexer::{Lexed, Token, TokenKind, lex_part};
use crate::span::Span;

/// A mistake was found and has been reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

/// How deeply blocks and expressions may nest.
const DEPTH_MAX: u32 = 128;

/// How many operators a statement may hold outside of the blocks in it.
const LINKS_MAX: u32 = 512;

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    /// where the part of the text that is read begins
    pub(super) start: u32,
    /// without comments; documentation stays
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) diagnostics: Diagnostics,
    /// the runs of characters that are not part of the language, ascending
    pub(super) strange: Vec<Span>,
    pub(super) depth: u32,
    /// operators and postfixes so far in this statement: each may make its tree one level higher
    pub(super) links: u32,
    /// in the values of a branch: `->` ends them
    pub(super) arrow_ends: bool,
    /// where it was last noticed that a brace is not closed
    pub(super) unclosed_at: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, part: Range<usize>) -> Parser<'a> {
        let start = part.start as u32;
        let Lexed { tokens, diagnostics, strange } = lex_part(text, part);
        let tokens = tokens.into_iter().filter(|t| !t.kind.is_comment()).collect();
        let (depth, links, arrow_ends) = (0, 0, false);
        Parser {
            text,
            start,
            tokens,
            at: 0,
            diagnostics,
            strange,
            depth,
            links,
            arrow_ends,
            unclosed_at: None,
        }
    }
}

impl Parser<'_> {
    pub(super) fn token(&self) -> Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, n: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + n).min(last)]
    }

    pub(super) fn span(&self) -> Span {
        self.token().span
    }

    /// From `start` to the end of the last token taken.
    pub(super) fn span_from(&self, start: Span) -> Span {
        Span::new(start.start, self.previous_end().max(start.start))
    }

    pub(super) fn previous_end(&self) -> u32 {
        if self.at == 0 { self.start } else { self.tokens[self.at - 1].span.end }
    }

    pub(super) fn text_of(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::Eof {
            self.at += 1;
        }
        token
    }

    pub(super) fn is(&self, punct: &str) -> bool {
        self.is_at(0, punct)
    }

    pub(super) fn is_at(&self, n: usize, punct: &str) -> bool {
        matches!(self.ahead(n).kind, TokenKind::Punct(found) if found == punct)
    }

    pub(super) fn is_ident_at(&self, n: usize) -> bool {
        self.ahead(n).kind == TokenKind::Ident
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    pub(super) fn is_word_at(&self, n: usize, word: &str) -> bool {
        let token = self.ahead(n);
        token.kind == TokenKind::Ident && self.text_of(token.span) == word
    }

    pub(super) fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if !self.follows_from_another(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Whether a mistake already reported explains this one: it is at the same place, or the text right before it
    /// could not be made a token, or a comment has taken the rest of the file.
    pub(super) fn follows_from_another(&self, diagnostic: &Diagnostic) -> bool {
        let at_end = self.token().kind == TokenKind::Eof;
        let next = self.strange.partition_point(|s| s.start < self.previous_end());
        self.diagnostics.is_at(diagnostic.primary.span.start)
            || self.strange.get(next).is_some_and(|s| s.end <= self.span().start)
            || at_end && self.diagnostics.has(codes::UNTERMINATED_COMMENT)
    }

    /// What stands here, for a message.
    pub(super) fn found(&self) -> String {
        match self.token().kind {
            TokenKind::Eof => "the end of the file".into(),
            TokenKind::DocComment => "a doc comment".into(),
            _ => format!("`{}`", self.text_of(self.span())),
        }
    }

    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let found = self.found();
        let mut here = self.span();
        if self.token().kind == TokenKind::Eof {
            here = self.last_character();
        }
        self.report(
            Diagnostic::error(
                codes::EXPECTED,
                format!("expected {what}, found {found}"),
                here,
                format!("{what} should be here"),
            )
            .mend(format!("write {what} here")),
        )
    }

    pub(super) fn missing_comma(&mut self) -> Reported {
        let (here, end) = (self.span(), self.previous_end());
        let found = self.found();
        self.report(
            Diagnostic::error(
                codes::MISSING_COMMA,
                format!("a `,` is missing before {found}"),
                here,
                "the next element",
            )
            .fix("add it", Span::new(end, end), ","),
        )
    }

    /// A part without which a declaration means nothing: `what` is missing, and `mend` says how it is written.
    pub(super) fn lacks(&mut self, code: u16, what: &str, mend: &str) -> Reported {
        let here = if self.is(";") || self.is("{") { self.last_character() } else { self.span() };
        self.report(Diagnostic::error(code, what, here, "missing here").mend(mend))
    }

    pub(super) fn expect(&mut self, punct: &'static str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(&format!("`{punct}`"))) }
    }

    /// The last character of what was read.
    pub(super) fn last_character(&self) -> Span {
        let end = self.previous_end();
        let last = self.text.get(..end as usize).and_then(|before| before.chars().next_back());
        Span::new(end - last.map_or(0, char::len_utf8) as u32, end)
    }

    /// The `;` that ends a declaration or a statement: the common mistake is to forget it.
    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.eat(";") {
            return Ok(());
        }
        let end = self.previous_end();
        let next = self.span();
        let new_line = self.text.get(end as usize..next.start as usize).is_some_and(|gap| gap.contains('\n'));
        if !(new_line || self.is("}") || self.token().kind == TokenKind::Eof) {
            return Err(self.expected("`;`"));
        }
        self.report(
            Diagnostic::error(
                codes::MISSING_SEMICOLON,
                "a `;` is missing",
                self.last_character(),
                "after this",
            )
            .fix("add it", Span::new(end, end), ";"),
        );
        // The rest of the list can be read as if it were there.
        Ok(())
    }

    pub(super) fn ident(&mut self, what: &str) -> Parsed<Ident> {
        if self.token().kind != TokenKind::Ident {
            return Err(self.expected(what));
        }
        let span = self.advance().span;
        Ok(Ident { name: self.text_of(span).to_owned(), span })
    }

    /// Counts one level of nesting for as long as `inner` runs.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return Err(self.too_deep(format!("blocks and expressions nest at most {DEPTH_MAX} levels")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator or a postfix: what a loop reads in a row still nests in the tree.
    pub(super) fn link(&mut self) -> Parsed<()> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(self.too_deep(format!("a statement holds at most {LINKS_MAX} operators")));
        }
        Ok(())
    }

    pub(super) fn too_deep(&mut self, note: String) -> Reported {
        let here = self.span();
        let reported = self.report(
            Diagnostic::error(codes::TOO_DEEP, "this nests too deeply", here, "one level too many")
                .note(note)
                .mend("move a part into a local variable or a function"),
        );
        // All that is left would only repeat it.
        self.at = self.tokens.len() - 1;
        reported
    }

    /// Elements separated by commas up to `close`, which is taken; a comma may stand before it.
    pub(super) fn comma_list<T>(
        &mut self,
        close: &'static str,
        element: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut elements = Vec::new();
        self.doc();
        while !self.is(close) {
            elements.push(element(self)?);
            self.doc();
            if !self.eat(",") {
                break;
            }
            self.doc();
        }
        if self.eat(close) {
            Ok(elements)
        } else if self.is_ident_at(0) && !elements.is_empty() {
            Err(self.missing_comma())
        } else {
            Err(self.expected(&format!("`,` or `{close}`")))
        }
    }

    /// The elements of a `{ }` list, whose opening brace has been taken at `open`: each mistake costs one element.
    pub(super) fn braced<T>(
        &mut self,
        open: Span,
        element: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.braced_around(open, false, element)
    }

    /// As [`braced`](Self::braced); `of_declarations`: one at the beginning of a line is no sign that the brace is not closed.
    pub(super) fn braced_around<T>(
        &mut self,
        open: Span,
        of_declarations: bool,
        element: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut elements = Vec::new();
        loop {
            self.skip_last_doc();
            if self.eat("}") {
                return Ok(elements);
            }
            if self.token().kind == TokenKind::Eof {
                return Err(self.unclosed(open));
            }
            if !of_declarations && self.declaration_at_margin() {
                // What follows is read as if the brace were closed.
                self.unclosed(open);
                return Ok(elements);
            }
            let before = self.at;
            self.links = 0;
            match element(self) {
                Ok(e) => elements.push(e),
                Err(Reported) => self.skip_element(before),
            }
        }
    }

    /// Documentation that no declaration follows is a comment.
    pub(super) fn skip_last_doc(&mut self) {
        let docs = self.docs_ahead();
        if self.is_at(docs, "}") || self.ahead(docs).kind == TokenKind::Eof {
            self.at += docs;
        }
    }

    pub(super) fn unclosed(&mut self, open: Span) -> Reported {
        // The braces around this one are open for the same reason.
        if self.unclosed_at.replace(self.at) == Some(self.at) || self.diagnostics.has(codes::TOO_DEEP) {
            return Reported;
        }
        self.report(
            Diagnostic::error(codes::UNCLOSED, "this `{` is not closed", open, "opened here")
                .mend("add the `}` that closes it"),
        )
    }

    /// After a mistake in an element that began at token `before`: past the next `;` of this level, or up to the
    /// `}` that ends the list.
    pub(super) fn skip_element(&mut self, before: usize) {
        let mut depth = 0_u32;
        if self.at == before && !self.is("}") {
            depth += u32::from(self.is("{"));
            self.advance();
        }
        loop {
            match self.token().kind {
                TokenKind::Eof => return,
                TokenKind::Punct("{") => depth += 1,
                TokenKind::Punct("}") if depth == 0 => return,
                TokenKind::Punct("}") => {
                    depth -= 1;
                    if depth == 0 && !self.is_word_at(1, "else") {
                        self.advance();
                        self.eat(";");
                        return;
                    }
                }
                TokenKind::Punct(";") if depth == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }
}
