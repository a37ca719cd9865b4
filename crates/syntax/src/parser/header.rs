// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands in a blueprint: fields, and groups of fields that are not in every packet.

use super::cursor::{Parsed, Parser};
use crate::ast::*;
use crate::span::Span;

impl Parser<'_> {
    pub(super) fn blueprint_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let over = if self.eat_word("over") { Some(self.ident("the name of a net_header")?) } else { None };
        let fields = self.members()?;
        self.eat(";");
        Ok(ItemKind::Blueprint { name, over, fields })
    }

    pub(super) fn net_header_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let fields = self.members()?;
        self.eat(";");
        Ok(ItemKind::NetHeader { name, fields })
    }

    pub(super) fn coalescing_rule_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        self.expect("[")?;
        let blueprint = self.ident("a blueprint")?;
        self.expect(",")?;
        let when = self.expr()?;
        let takes = if self.eat(",") {
            self.comma_list("]", |p| p.ident("a field of the blueprint"))?
        } else {
            self.expect("]")?;
            Vec::new()
        };
        self.semicolon()?;
        Ok(ItemKind::CoalescingRule { name, blueprint, when, takes })
    }

    fn members(&mut self) -> Parsed<Vec<Field>> {
        let open = self.open_brace()?;
        let members = self.nested(|p| p.braced(open, Self::member))?;
        Ok(members.into_iter().flatten().collect())
    }

    /// A field, `if (cond) { } else { }` or `union (e) { value -> { } }`.
    fn member(&mut self) -> Parsed<Vec<Field>> {
        let docs = self.docs_ahead();
        let group = |p: &Self, word| p.is_word_at(docs, word) && p.is_at(docs + 1, "(");
        if group(self, "if") {
            self.doc();
            self.nested(Self::optional)
        } else if group(self, "union") {
            self.doc();
            self.nested(Self::union)
        } else {
            self.field()
        }
    }

    /// Behind `if` or `union`.
    fn group_head(&mut self) -> Parsed<Expr> {
        self.advance();
        self.condition()
    }

    fn optional(&mut self) -> Parsed<Vec<Field>> {
        let start = self.span();
        let cond = self.group_head()?;
        let mut fields = self.members()?;
        let span = self.span_from(start);
        under(&mut fields, &Presence { cond: cond.clone(), arm: None, span });
        if self.is_word_at(0, "else") {
            let start = self.advance().span;
            let if_follows = self.is_word_at(0, "if") && self.is_at(1, "(");
            let mut others = if if_follows { self.nested(Self::optional)? } else { self.members()? };
            let at = cond.span;
            let paren = Expr { kind: ExprKind::Paren(Box::new(cond)), span: at };
            let cond = Expr { kind: ExprKind::Unary(UnOp::Not, Box::new(paren)), span: at };
            under(&mut others, &Presence { cond, arm: None, span: self.span_from(start) });
            fields.extend(others);
        }
        Ok(fields)
    }

    fn union(&mut self) -> Parsed<Vec<Field>> {
        let selector = self.group_head()?;
        let open = self.open_brace()?;
        let arms = self.nested(|p| p.braced(open, |p| p.union_arm(&selector)))?;
        Ok(arms.into_iter().flatten().collect())
    }

    fn union_arm(&mut self, selector: &Expr) -> Parsed<Vec<Field>> {
        self.doc();
        let start = self.span();
        let value = self.expr()?;
        self.expect("->")?;
        let mut fields = self.members()?;
        // As behind the arms of a dispatch.
        self.eat(";");
        let span = self.span_from(start);
        under(&mut fields, &Presence { cond: selector.clone(), arm: Some(value), span });
        Ok(fields)
    }
}

fn under(fields: &mut [Field], presence: &Presence) {
    for field in fields {
        field.presence.insert(0, presence.clone());
    }
}

impl Presence {
    /// The condition with which the fields are there: `cond`, or `cond == arm`.
    pub fn condition(&self) -> Expr {
        let Some(arm) = &self.arm else { return self.cond.clone() };
        let paren = |e: &Expr| Box::new(Expr { kind: ExprKind::Paren(Box::new(e.clone())), span: e.span });
        let span = Span { start: arm.span.start, end: arm.span.end };
        Expr { kind: ExprKind::Binary(BinOp::Eq, paren(&self.cond), paren(arm)), span }
    }
}
