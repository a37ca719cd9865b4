// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types as they are written.

use super::cursor::{Parsed, Parser};
use crate::ast::*;
use crate::codes;
use crate::diag::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

impl Parser<'_> {
    pub(super) fn array_suffix(&mut self) -> Parsed<Option<Expr>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let length = self.expr()?;
        self.expect("]")?;
        Ok(Some(length))
    }

    /// `uint32[4] x`, which is written `uint32 x[4]`.
    pub(super) fn no_array_behind_type(&mut self) -> Parsed<()> {
        if !self.is("[") {
            return Ok(());
        }
        let start = self.span();
        self.array_suffix()?;
        let brackets = self.span_from(start);
        let length = self.text_of(brackets).to_owned();
        let diagnostic = Diagnostic::error(
            codes::ARRAY_BEHIND_TYPE,
            "the length of an array belongs after its name",
            brackets,
            "after the type",
        );
        let name = if self.is_ident_at(0) { self.text_of(self.span()) } else { "" };
        let mend = format!("write `{length}` behind the name: `{name}{length}`");
        self.report(diagnostic.mend(mend));
        Ok(())
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let start = self.span();
        let name = self.ident("a type")?;
        let kind = match name.name.as_str() {
            "list" if self.is("<") => self.list_type()?,
            "sorted_list" if self.is("<") => self.sorted_list_type()?,
            "sliding_wnd" => self.window_type()?,
            "float" | "double" => {
                self.floating_type(start);
                TypeKind::Name(name.name)
            }
            _ => TypeKind::Name(name.name),
        };
        if self.is("*") {
            let here = self.span();
            self.report(
                Diagnostic::error(codes::POINTER, "there are no pointers", here, "a pointer type")
                    .note("state lives in contexts, data in data units; `addr_t` refers to data without an address")
                    .mend("use the value itself, `addr_t` for data, or an id for another context"),
            );
            while self.eat("*") {}
        }
        Ok(Type { kind, span: self.span_from(start) })
    }

    fn floating_type(&mut self, span: Span) {
        self.report(
            Diagnostic::error(codes::FLOATING_POINT, "there is no floating point", span, "not a type here")
                .note("targets in a kernel or in hardware have no floating-point unit, and results must be the same everywhere")
                .mend("use `fixed`, or an integer of a smaller unit"),
        );
    }

    fn list_type(&mut self) -> Parsed<TypeKind> {
        self.expect("<")?;
        let element = self.nested(Self::ty)?;
        // An additive expression, so that `>` ends the type.
        let bound = if self.eat(",") { Some(Box::new(self.expr_additive()?)) } else { None };
        self.split_shift();
        self.expect(">")?;
        Ok(TypeKind::List(Box::new(element), bound))
    }

    fn sorted_list_type(&mut self) -> Parsed<TypeKind> {
        self.expect("<")?;
        let element = self.nested(Self::ty)?;
        let bound = if self.eat(",") { Some(Box::new(self.expr_additive()?)) } else { None };
        let key = if self.eat(",") { Some(self.ident("the field to sort by")?) } else { None };
        self.split_shift();
        self.expect(">")?;
        Ok(TypeKind::SortedList(Box::new(element), bound, key))
    }

    /// In `list<list<T>>` the two ends are one token: makes them two.
    fn split_shift(&mut self) {
        if !self.is(">>") {
            return;
        }
        let Span { start, end } = self.span();
        let half = |start, end| Token { kind: TokenKind::Punct(">"), span: Span::new(start, end) };
        self.tokens[self.at] = half(start, start + 1);
        self.tokens.insert(self.at + 1, half(start + 1, end));
    }

    fn window_type(&mut self) -> Parsed<TypeKind> {
        if !self.eat("(") {
            return Ok(TypeKind::SlidingWnd(None, None));
        }
        let mut arguments = self.comma_list(")", Self::expr)?.into_iter().map(Box::new);
        Ok(TypeKind::SlidingWnd(arguments.next(), arguments.next()))
    }
}
