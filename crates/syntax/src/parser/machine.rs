// SPDX-License-Identifier: MIT OR Apache-2.0
//! State machines.

use super::cursor::{Parsed, Parser};
use crate::ast::*;

enum Element {
    State(State),
    Reaction(Reaction),
}

impl Parser<'_> {
    pub(super) fn machine_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("the machine's name")?;
        if !self.eat_word("for") {
            return Err(self.expected("`for` and the machine's context"));
        }
        let of = self.ident("a context")?;
        let ty = Type { kind: TypeKind::Name(of.name), span: of.span };
        let context = Param { ty, name: self.ident("a name for the context")? };
        let open = self.open_brace()?;
        let elements = self.braced(open, Self::element)?;
        self.eat(";");
        let mut states = Vec::new();
        let mut anywhere = Vec::new();
        for element in elements {
            match element {
                Element::State(state) => states.push(state),
                Element::Reaction(reaction) => anywhere.push(reaction),
            }
        }
        Ok(ItemKind::Machine { name, context, states, anywhere })
    }

    fn element(&mut self) -> Parsed<Element> {
        let doc = self.doc();
        if !self.is_word("state") {
            return self.reaction("`state` or `on`").map(Element::Reaction);
        }
        let start = self.advance().span;
        let name = self.ident("the state's name")?;
        let open = self.open_brace()?;
        let reactions = self.nested(|p| p.braced(open, |p| p.reaction("`on` and an event")))?;
        self.eat(";");
        Ok(Element::State(State { doc, name, reactions, span: self.span_from(start) }))
    }

    /// `what` may stand here.
    fn reaction(&mut self, what: &str) -> Parsed<Reaction> {
        self.doc();
        let start = self.span();
        if !self.eat_word("on") {
            return Err(self.expected(what));
        }
        let event = self.ident("an event")?;
        let named = self.is_ident_at(0) && !self.is_word("with") && !self.is_word("if");
        let name = if named { Some(self.ident("a name")?) } else { None };
        let mut with = Vec::new();
        if self.eat_word("with") {
            loop {
                with.push(Param { ty: self.ty()?, name: self.ident("a name")? });
                if !self.eat(",") {
                    break;
                }
            }
        }
        let cond = if self.eat_word("if") { Some(self.condition()?) } else { None };
        let head = self.span_from(start);
        let body = self.block()?;
        Ok(Reaction { event, name, with, cond, body, head })
    }
}
