// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a file declares, but for local names.

use carrick_syntax::Span;
use carrick_syntax::ast::{Feature, File, Ident, Item, ItemKind, LayoutEntry, Param, Type, TypeKind};

use super::symbols::{Index, Kind, Reference, Symbol, SymbolId};

impl Index {
    pub(super) fn declare(&mut self, tree: &File, text: &str) {
        for item in all_items(tree) {
            if let ItemKind::Feature(feature) = &item.kind
                && feature.of_option.is_none()
            {
                self.feature_decl(feature, item, text);
            }
            if let ItemKind::Layout { entries, .. } = &item.kind {
                self.groups(entries, item.span);
            }
            let Some((name, kind)) = named(&item.kind) else { continue };
            // In a feature, what has the name of something that is there extends that.
            if let Some(there) = self.extended(tree, item, name, kind) {
                self.references.push(Reference { span: name.span, symbol: there });
                self.parts(there, item, text);
                continue;
            }
            let (head, ty) = match &item.kind {
                ItemKind::Function { ret, body, .. } => (upto(item.span, body.span.start), Some(ret)),
                ItemKind::Machine { context, .. } => (upto(item.span, context.name.span.end), None),
                ItemKind::Const { ty, .. } | ItemKind::Param { ty, .. } => (item.span, Some(ty)),
                _ => (item.span, None),
            };
            let owner = self.add(Symbol {
                head: without_docs(head, text),
                doc: item.doc.clone(),
                ty: ty.cloned(),
                ..symbol(name, kind, item.span)
            });
            self.globals.entry(name.name.clone()).or_insert(owner);
            self.parts(owner, item, text);
        }
        self.make_with(tree);
        self.take_fields();
    }

    /// The members of what takes the fields of others; each is the same member there.
    fn take_fields(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        // Those from which fields are taken may take others themselves.
        for _ in 0..taken.len() {
            let mut more = false;
            for (owner, name) in &taken {
                let Some(from) = self.global(&name.name) else { continue };
                for member in self.members(from).to_vec() {
                    let own = self.members.entry(*owner).or_default();
                    if !own.contains(&member) {
                        own.push(member);
                        more = true;
                    }
                }
            }
            if !more {
                break;
            }
        }
    }

    fn feature_decl(&mut self, feature: &Feature, item: &Item, text: &str) {
        let end = feature.items.first().map_or(item.span.end, |i| i.span.start);
        let head = without_docs(upto(item.span, end), text);
        let doc = item.doc.clone();
        let owner = self.add(Symbol { head, doc, ..symbol(&feature.name, Kind::Feature, item.span) });
        self.features.entry(feature.name.name.clone()).or_insert(owner);
        for option in &feature.options {
            let part = symbol(option, Kind::FeatureOption, option.span);
            self.add(Symbol { owner: Some(owner), ..part });
        }
    }

    /// The groups of a layout: nothing outside of it names them.
    fn groups(&mut self, entries: &[LayoutEntry], scope: Span) {
        for entry in entries {
            if let LayoutEntry::Group { name, doc, .. } = entry {
                self.add(Symbol {
                    doc: doc.clone(),
                    scope: Some(scope),
                    ..symbol(name, Kind::Group, name.span)
                });
            }
        }
    }

    fn extended(&self, tree: &File, item: &Item, name: &Ident, kind: Kind) -> Option<SymbolId> {
        let inside = !tree.items.iter().any(|i| std::ptr::eq(i, item));
        let there = self.global(&name.name).filter(|_| inside && kind != Kind::Function)?;
        (self.symbols[there].kind == kind).then_some(there)
    }

    /// Adds a symbol; its declaration is a reference to it.
    pub(super) fn add(&mut self, symbol: Symbol) -> SymbolId {
        let id = self.symbols.len();
        self.references.push(Reference { span: symbol.span, symbol: id });
        if let Some(owner) = symbol.owner {
            self.members.entry(owner).or_default().push(id);
        }
        self.symbols.push(symbol);
        id
    }

    fn parts(&mut self, owner: SymbolId, item: &Item, text: &str) {
        let part = |name: &Ident, kind, whole| Symbol { owner: Some(owner), ..symbol(name, kind, whole) };
        match &item.kind {
            ItemKind::Enum { variants, .. } => {
                for variant in variants {
                    let name = &variant.name;
                    let whole = variant.value.as_ref().map_or(name.span, |v| name.span.to(v.span));
                    let id = self.add(part(name, Kind::Variant, whole));
                    self.globals.entry(name.name.clone()).or_insert(id);
                }
            }
            ItemKind::Machine { states, .. } => {
                for state in states {
                    let name = &state.name;
                    let head = without_docs(upto(state.span, name.span.end), text);
                    let doc = state.doc.clone();
                    let id = self.add(Symbol { head, doc, ..part(name, Kind::State, state.span) });
                    self.globals.entry(name.name.clone()).or_insert(id);
                }
            }
            ItemKind::Id { parts, .. } => {
                for p in parts {
                    let whole = p.ty.span.to(p.name.span);
                    self.add(Symbol { ty: Some(p.ty.clone()), ..part(&p.name, Kind::Field, whole) });
                }
            }
            ItemKind::Interface { calls, .. } => {
                for call in calls {
                    let head = without_docs(call.span, text);
                    let doc = call.doc.clone();
                    self.add(Symbol { head, doc, ..part(&call.name, Kind::Call, call.span) });
                }
            }
            ItemKind::Context { timers, .. } => {
                self.fields(owner, item, text);
                for timer in timers {
                    let head = without_docs(timer.span, text);
                    let doc = timer.doc.clone();
                    let ty = Type { kind: TypeKind::Name(timer.event.name.clone()), span: timer.event.span };
                    let (ty, is_array) = (Some(ty), timer.array.is_some());
                    self.add(Symbol {
                        head,
                        doc,
                        ty,
                        is_array,
                        ..part(&timer.name, Kind::Timer, timer.span)
                    });
                }
            }
            _ => self.fields(owner, item, text),
        }
    }

    fn fields(&mut self, owner: SymbolId, item: &Item, text: &str) {
        for field in item.kind.fields() {
            if field.spread {
                self.taken.push((owner, field.name.clone()));
                continue;
            }
            self.add(Symbol {
                head: without_docs(field.span, text),
                doc: field.doc.clone(),
                ty: Some(field.ty.clone()),
                is_array: field.array.is_some(),
                optional: field.optional.is_some(),
                owner: Some(owner),
                ..symbol(&field.name, Kind::Field, field.span)
            });
        }
    }

    /// The id of each context, its machines, the header of each blueprint, and which events have a token.
    fn make_with(&mut self, tree: &File) {
        for item in all_items(tree) {
            match &item.kind {
                ItemKind::Context { name, by: Some(with), .. }
                | ItemKind::Blueprint { name, over: Some(with), .. } => {
                    if let (Some(it), Some(with)) = (self.global(&name.name), self.global(&with.name)) {
                        self.made_with.insert(it, with);
                    }
                }
                ItemKind::Machine { name, context: Param { ty, .. }, .. } => {
                    let TypeKind::Name(context) = &ty.kind else { continue };
                    if let (Some(it), Some(context)) = (self.global(&name.name), self.global(context)) {
                        self.members.entry(context).or_default().push(it);
                    }
                }
                ItemKind::Event { name, kind, .. } if kind.name.eq_ignore_ascii_case("app_event") => {
                    self.app_events.extend(self.global(&name.name));
                }
                ItemKind::Event { name, kind, .. } if kind.name.eq_ignore_ascii_case("net_event") => {
                    self.net_events.extend(self.global(&name.name));
                }
                _ => {}
            }
        }
    }
}

/// The declarations of a file, those of its features last, as those may extend the others.
pub(super) fn all_items(tree: &File) -> impl Iterator<Item = &Item> {
    let inner = tree.items.iter().flat_map(|item| match &item.kind {
        ItemKind::Feature(feature) => feature.items.as_slice(),
        _ => &[],
    });
    tree.items.iter().chain(inner)
}

/// A symbol that is global, without type and documentation.
pub(super) fn symbol(name: &Ident, kind: Kind, whole: Span) -> Symbol {
    Symbol {
        name: name.name.clone(),
        kind,
        span: name.span,
        whole,
        head: whole,
        doc: String::new(),
        ty: None,
        is_array: false,
        optional: false,
        owner: None,
        scope: None,
    }
}

/// A local name.
pub(super) fn local(name: &Ident, kind: Kind, ty: Option<&Type>, scope: Span) -> Symbol {
    let whole = ty.map_or(name.span, |t| t.span.to(name.span));
    Symbol { ty: ty.cloned(), scope: Some(scope), ..symbol(name, kind, whole) }
}

fn upto(span: Span, end: u32) -> Span {
    Span::new(span.start, end.max(span.start))
}

/// The span without the comments that it begins with.
fn without_docs(span: Span, text: &str) -> Span {
    let mut start = span.start;
    while let Some(rest) = text.get(start as usize..span.end as usize) {
        let blank = rest.len() - rest.trim_start().len();
        start += blank as u32;
        if !rest.trim_start().starts_with("//") {
            break;
        }
        start += rest.trim_start().find('\n').unwrap_or(rest.len() - blank) as u32;
    }
    Span::new(start, span.end.max(start))
}

fn named(item: &ItemKind) -> Option<(&Ident, Kind)> {
    Some(match item {
        ItemKind::Const { name, .. } | ItemKind::ConstArray { name, .. } => (name, Kind::Const),
        ItemKind::Param { name, .. } => (name, Kind::Param),
        ItemKind::Enum { name, .. } => (name, Kind::Enum),
        ItemKind::Struct { name, .. } => (name, Kind::Struct),
        ItemKind::Id { name, .. } => (name, Kind::Id),
        ItemKind::Event { name, .. } => (name, Kind::Event),
        ItemKind::Context { name, .. } => (name, Kind::Context),
        ItemKind::Scratchpad { name, .. } => (name, Kind::Scratchpad),
        ItemKind::NetHeader { name, .. } => (name, Kind::NetHeader),
        ItemKind::Opt { name, .. } => (name, Kind::Opt),
        ItemKind::OptUnion { name, .. } => (name, Kind::OptUnion),
        ItemKind::FrameUnion { name, .. } => (name, Kind::FrameUnion),
        ItemKind::OptList { name, .. } => (name, Kind::OptList),
        ItemKind::Blueprint { name, .. } => (name, Kind::Blueprint),
        ItemKind::SegRule { name, .. } => (name, Kind::SegRule),
        ItemKind::CoalescingRule { name, .. } => (name, Kind::CoalescingRule),
        ItemKind::Function { name, .. } => (name, Kind::Function),
        ItemKind::Machine { name, .. } => (name, Kind::Machine),
        ItemKind::Dispatch { name, .. } => (name, Kind::Dispatch),
        ItemKind::Interface { name, .. } => (name, Kind::Interface),
        ItemKind::Require { .. }
        | ItemKind::Deploy { .. }
        | ItemKind::Layout { .. }
        | ItemKind::Extension { .. }
        | ItemKind::Feature(_) => return None,
    })
}
