// SPDX-License-Identifier: MIT OR Apache-2.0
//! Features, and how the fields of a blueprint lie.

use super::cursor::{Parsed, Parser};
use crate::ast::*;

/// What a feature is made of.
enum Part {
    Requires(Vec<FeatureUse>),
    Excludes(Vec<FeatureUse>),
    Item(Box<Item>),
}

impl Parser<'_> {
    pub(super) fn feature_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("the feature's name")?;
        let options =
            if self.eat("(") { self.comma_list(")", |p| p.ident("an option"))? } else { Vec::new() };
        let of_option = if self.eat("=") { Some(self.ident("an option of the feature")?) } else { None };
        let default = if self.is_word("default") { Some(self.advance().span) } else { None };
        let always =
            if default.is_none() && self.is_word("always") { Some(self.advance().span) } else { None };
        let mut feature = Feature {
            name,
            of_option,
            options,
            default,
            always,
            requires: Vec::new(),
            excludes: Vec::new(),
            items: Vec::new(),
        };
        if self.eat(";") {
            return Ok(ItemKind::Feature(feature));
        }
        let open = self.open_brace()?;
        let parts = self.nested(|p| p.braced_around(open, true, Self::feature_part))?;
        self.eat(";");
        for part in parts {
            match part {
                Part::Requires(uses) => feature.requires.extend(uses),
                Part::Excludes(uses) => feature.excludes.extend(uses),
                Part::Item(item) => feature.items.push(*item),
            }
        }
        Ok(ItemKind::Feature(feature))
    }

    fn feature_part(&mut self) -> Parsed<Part> {
        let docs = self.docs_ahead();
        // A type of this name would be followed by a name and `(`.
        let says = |p: &Self, word| p.is_word_at(docs, word) && !p.is_at(docs + 2, "(");
        if says(self, "requires") {
            self.feature_uses().map(Part::Requires)
        } else if says(self, "excludes") {
            self.feature_uses().map(Part::Excludes)
        } else {
            self.item().map(|item| Part::Item(Box::new(item)))
        }
    }

    /// `requires F, G = option;`
    fn feature_uses(&mut self) -> Parsed<Vec<FeatureUse>> {
        self.doc();
        self.advance();
        let mut uses = Vec::new();
        loop {
            let feature = self.ident("a feature")?;
            let option = if self.eat("=") { Some(self.ident("an option of the feature")?) } else { None };
            uses.push(FeatureUse { feature, option });
            if !self.eat(",") {
                break;
            }
        }
        self.semicolon()?;
        Ok(uses)
    }

    /// `extend f.p { body }`
    pub(super) fn extension_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let function = self.ident("a function")?;
        self.expect(".")?;
        let point = self.ident("a point of the function")?;
        if self.is(";") {
            // An editor completes the names of one whose body is not written yet.
            self.expected("`{`");
            let span = self.advance().span;
            return Ok(ItemKind::Extension { function, point, body: Block { stmts: Vec::new(), span } });
        }
        Ok(ItemKind::Extension { function, point, body: self.block()? })
    }

    pub(super) fn layout_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let blueprint = self.ident("a blueprint")?;
        let open = self.open_brace()?;
        let entries = self.braced(open, Self::layout_entry)?;
        self.eat(";");
        Ok(ItemKind::Layout { blueprint, entries })
    }

    fn layout_entry(&mut self) -> Parsed<LayoutEntry> {
        let doc = self.doc();
        let packed = self.is_word("pack");
        if packed || self.is_word("group") {
            self.advance();
            let name = self.ident("the group's name")?;
            let shaped = !packed && self.eat_word("as");
            let shape = if shaped { Some(self.ident("ethernet, ipv4 or udp")?) } else { None };
            self.open_brace()?;
            let fields = self.comma_list("}", |p| p.ident("a field of the blueprint"))?;
            self.eat(";");
            return Ok(LayoutEntry::Group { doc, name, packed, shape, fields });
        }
        let entry = if self.eat_word("range") {
            let field = self.ident("a field of the blueprint")?;
            if !self.eat_word("in") {
                return Err(self.expected("`in` and the field's range"));
            }
            let (lo, hi) = self.range()?;
            LayoutEntry::Range { field, lo, hi }
        } else if self.eat_word("align") {
            let field = self.ident("a field of the blueprint")?;
            self.expect("=")?;
            LayoutEntry::Align { field, bits: self.expr()? }
        } else {
            return Err(self.expected("group, pack, range or align"));
        };
        self.semicolon()?;
        Ok(entry)
    }
}
