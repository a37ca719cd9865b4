// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records: values of structs, events, contexts and headers that are given by the names of their fields.
//!
//! They are gone below: a variable with its initial value, and an assignment for each field, in the order of the entries.

use std::collections::BTreeMap;

use carrick_ir::{self as ir, ExprKind, Instr, LocalId, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Entry, Ident};
use carrick_syntax::diag::Diagnostic;

use super::place::Node;
use super::{Binding, Body, Val};
use crate::codes;
use crate::env::Def;
use crate::types::converts;

/// Whether a variable of this type has fields that a record may name.
fn has_fields(ty: &Ty) -> bool {
    matches!(ty, Ty::Struct(_) | Ty::Event(_) | Ty::Context(_) | Ty::Blueprint(_))
}

impl Body<'_, '_> {
    /// A record in an expression, where a struct is wanted.
    pub(super) fn record_value(&mut self, e: &ast::Expr, want: Option<&Ty>) -> Option<Val> {
        let ast::ExprKind::Record(entries) = &e.kind else { return None };
        let Some(ty @ Ty::Struct(_)) = want else { return self.no_record(e.span, want) };
        let local = self.filled(ty.clone(), entries)?;
        Some(Val::Typed(self.load(local, e.span)))
    }

    fn no_record<T>(&mut self, span: Span, want: Option<&Ty>) -> Option<T> {
        let (message, label) = match want {
            Some(ty) => (format!("expected `{}`, found a record", self.name(ty)), "no value of this type"),
            None => ("a record has no type of its own".to_owned(), "no type is expected here"),
        };
        self.report(
            Diagnostic::error(codes::RECORD_TYPE, message, span, label)
                .note("a record is a value where a struct is expected, or the first value of a variable with fields")
                .mend("declare a variable with it: `the_type x = { field = value };`"),
        )
    }

    /// `T x = { ... };`: the variable is filled where it is.
    pub(super) fn let_record(
        &mut self,
        (name, ty): (&Ident, Ty),
        entries: &[Entry],
        span: Span,
    ) -> Option<()> {
        if !has_fields(&ty) {
            self.bind(name, Binding::Wrong);
            return self.no_record(span, Some(&ty));
        }
        let local = self.new_local(name.name.clone(), ty);
        self.emit(StmtKind::Let { local, init: None });
        let filled = self.fill_local(local, entries);
        // Its own name means nothing in its entries.
        self.used[local.index()] = false;
        self.declared.push((local, name.span));
        self.bind(name, Binding::Local(local));
        filled
    }

    /// A record where an event is wanted: a variable that nobody else sees.
    pub(super) fn event_record(&mut self, ty: &Ty, e: &ast::Expr) -> Option<LocalId> {
        let ast::ExprKind::Record(entries) = &e.kind else {
            let message = format!("expected the fields of `{}`", self.name(ty));
            let mend = "write a record: `{ field = value }`";
            return self.wrong_argument(codes::INSTRUCTION_ARGUMENT, &message, e.span, mend);
        };
        self.filled(ty.clone(), entries)
    }

    /// A new variable of the type, which a record fills.
    fn filled(&mut self, ty: Ty, entries: &[Entry]) -> Option<LocalId> {
        let local = self.temporary(ty);
        self.emit(StmtKind::Let { local, init: None });
        self.fill_local(local, entries)?;
        Some(local)
    }

    fn fill_local(&mut self, local: LocalId, entries: &[Entry]) -> Option<()> {
        let place = self.local_place(local);
        let whole =
            if place.ty.is_by_ref() { Node::ReadOnly(place, "made here") } else { Node::Place(place) };
        self.fill(&whole, entries)
    }

    /// Carries out the entries, on what has its initial value.
    fn fill(&mut self, whole: &Node, entries: &[Entry]) -> Option<()> {
        let named = self.named_entries(entries);
        let mut done = Some(());
        for entry in entries {
            let filled = match entry {
                Entry::Field { name, value } => self.fill_field(whole, name, value),
                Entry::Spread(from) => self.spread(whole, from, &named),
            };
            done = done.and(filled);
        }
        done
    }

    /// The fields that a record names; those that it names twice, and spreads behind them, are reported.
    fn named_entries<'e>(&mut self, entries: &'e [Entry]) -> BTreeMap<&'e str, Span> {
        let mut named: BTreeMap<&str, Span> = BTreeMap::new();
        for entry in entries {
            match entry {
                Entry::Field { name, .. } => {
                    if let Some(first) = named.insert(&name.name, name.span) {
                        self.cx.report(
                            Diagnostic::error(
                                codes::RECORD_TWICE,
                                format!("`{}` is given twice", name.name),
                                name.span,
                                "again here",
                            )
                            .cause(first, "given first here")
                            .mend("keep one of the two"),
                        );
                    }
                }
                Entry::Spread(from) if !named.is_empty() => {
                    self.cx.report(
                        Diagnostic::error(
                            codes::SPREAD,
                            "a spread follows a field",
                            from.span,
                            "after a field that the record names",
                        )
                        .note("fields that a record names override those that it spreads")
                        .mend("write the spreads first: `{ ..e, field = value }`"),
                    );
                }
                Entry::Spread(_) => {}
            }
        }
        named
    }

    fn fill_field(&mut self, whole: &Node, name: &Ident, value: &ast::Expr) -> Option<()> {
        let node = self.field(whole.clone(), name)?;
        match (&node, &value.kind) {
            (
                Node::Place(ir::Place { ty: Ty::Struct(_), .. }) | Node::Net(_),
                ast::ExprKind::Record(entries),
            ) => self.fill(&node, entries),
            (Node::Optional(field), value_kind) if !super::stmt::is_data_call(value) => {
                let field = field.clone();
                let set = match (&field.ty, value_kind) {
                    (Ty::Struct(_), ast::ExprKind::Record(entries)) => {
                        self.fill(&Node::Place(field.clone()), entries)
                    }
                    _ => self.set_place(field.clone(), value, name.span.to(value.span)),
                };
                self.set_present(&field, name.span);
                set
            }
            (Node::Elements(_), _) => {
                let Node::Elements(elements) = node else { return None };
                self.assign_elements(elements, None, value, name.span.to(value.span))
            }
            _ if super::stmt::is_data_call(value) => self.set_payload(node, name.span, value),
            _ => {
                let target = self.assignable(node, name.span)?;
                self.set_place(target, value, name.span.to(value.span))
            }
        }
    }

    /// `..from`: each field that both have and that the record does not name.
    fn spread(&mut self, whole: &Node, from: &ast::Expr, named: &BTreeMap<&str, Span>) -> Option<()> {
        let source = self.spread_source(from)?;
        let there = self.readable_fields(&source.ty);
        let wanted = self.fields_of_node(whole);
        let (mut shared, mut done) = (false, Some(()));
        for name in wanted.iter().filter(|name| there.contains(name)) {
            let name = Ident { name: name.clone(), span: from.span };
            let Some(target @ (Node::Place(_) | Node::Elements(_) | Node::Optional(_))) =
                self.field(whole.clone(), &name)
            else {
                continue;
            };
            shared = true;
            if !named.contains_key(name.name.as_str()) {
                done = done.and(self.take_over(target, &source, &name));
            }
        }
        if !shared {
            let found = self.name(&source.ty);
            return self.report(
                Diagnostic::error(
                    codes::SPREAD,
                    format!("`{found}` has no field of this record"),
                    from.span,
                    "nothing is taken over",
                )
                .mend("remove it, or name the fields: `field = value`"),
            );
        }
        done
    }

    /// One field of a spread.
    fn take_over(&mut self, target: Node, source: &ir::Place, name: &Ident) -> Option<()> {
        let wanted = match &target {
            Node::Elements(array) => self.elements_type(array),
            Node::Place(place) | Node::Optional(place) => place.ty.clone(),
            _ => return None,
        };
        let part = self.field(Node::ReadOnly(source.clone(), "spread"), name)?;
        let (part, presence) = self.part_taken(part, &target, source, name)?;
        let found = match &part {
            Node::Place(part) | Node::ReadOnly(part, _) | Node::Sorted(part, _) => part.ty.clone(),
            Node::Elements(array) => self.elements_type(array),
            _ => return None,
        };
        if !converts(&found, &wanted) {
            let (field, wanted, found) = (&name.name, self.name(&wanted), self.name(&found));
            return self.report(
                Diagnostic::error(
                    codes::SPREAD,
                    format!("`{field}` is a `{wanted}`, but a `{found}` in what is spread"),
                    name.span,
                    "of another type",
                )
                .mend(format!("give the field by name: `{field} = value`")),
            );
        }
        let value = match (part, &target) {
            (Node::Elements(array), Node::Place(target)) => {
                self.copy_elements(&array, target, name.span);
                return Some(());
            }
            (Node::Elements(array), Node::Optional(target)) => {
                self.copy_elements(&array, target, name.span);
                self.set_present(target, name.span);
                return Some(());
            }
            (Node::Elements(array), _) => self.elements_value(array, name.span),
            (Node::Place(part) | Node::ReadOnly(part, _) | Node::Sorted(part, _), _) => {
                self.make(ExprKind::Load(part), found, name.span)
            }
            _ => return None,
        };
        let value = self.cast(value, &wanted);
        match target {
            Node::Elements(array) => {
                let mark = self.out.len();
                self.set_elements(array, value, mark, name.span)
            }
            Node::Place(target) => {
                let value = self.fitting(&target, value);
                self.emit(StmtKind::Assign { place: target, value });
                Some(())
            }
            Node::Optional(target) => {
                self.emit(StmtKind::Assign { place: target.clone(), value });
                match presence {
                    None => self.set_present(&target, name.span),
                    Some(presence) => {
                        let value = self.make(ExprKind::Load(presence), Ty::Bool, name.span);
                        let place = self.presence_of(&target);
                        self.emit(StmtKind::Assign { place, value });
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    /// What a spread takes for a field; for an optional one also what says whether that is there, unless it is known to be.
    fn part_taken(
        &mut self,
        part: Node,
        target: &Node,
        source: &ir::Place,
        name: &Ident,
    ) -> Option<(Node, Option<ir::Place>)> {
        let optional = matches!(target, Node::Optional(_));
        match part {
            Node::Optional(part) if self.is_known_present(&part) => Some((Node::Place(part), None)),
            Node::Optional(part) if optional => {
                let presence = self.presence_of(&part);
                Some((Node::Place(part), Some(presence)))
            }
            Node::Optional(_) => {
                self.spread_of_absent(name, "may be absent in what is spread", "optional there")
            }
            part if optional && self.in_some_packets(source, &part) => {
                self.spread_of_absent(name, "is not in every packet", "in packets that meet a condition")
            }
            part => Some((part, None)),
        }
    }

    fn spread_of_absent<T>(&mut self, name: &Ident, what: &str, label: &str) -> Option<T> {
        let field = &name.name;
        self.report(
            Diagnostic::error(codes::SPREAD, format!("`{field}` {what}"), name.span, label)
                .mend(format!("give the field by name: `{field} = value`, or set it where it is there")),
        )
    }

    /// Whether only some packets have this field of a header.
    fn in_some_packets(&self, source: &ir::Place, part: &Node) -> bool {
        let Ty::Blueprint(bp) = source.ty else { return false };
        let at = match part {
            Node::Elements(elements) => elements.array.first,
            Node::Place(part) | Node::ReadOnly(part, _) => match part.path.last() {
                Some(ir::Proj::Field(at)) => *at,
                _ => return false,
            },
            _ => return false,
        };
        let parts = &self.cx.program.blueprints[bp.index()].parts;
        parts.iter().any(|p| p.when.is_some() && (p.first..p.first + p.count).contains(&at))
    }

    /// What is spread, as a place with fields.
    fn spread_source(&mut self, from: &ast::Expr) -> Option<ir::Place> {
        let value = self.typed(from)?;
        if self.readable_fields(&value.ty).is_empty() {
            let found = self.name(&value.ty);
            return self.report(
                Diagnostic::error(
                    codes::SPREAD,
                    format!("`{found}` has no fields"),
                    from.span,
                    "nothing to spread",
                )
                .mend("spread a struct, an id, an event, a context, a scratchpad or a header"),
            );
        }
        if let ExprKind::Load(place) = &value.kind
            && !place.path.contains(&ir::Proj::FlowId)
        {
            return Some(place.clone());
        }
        let local = self.temporary(value.ty.clone());
        self.emit(StmtKind::Let { local, init: Some(value) });
        Some(self.local_place(local))
    }

    /// The fields that a spread may take from a value of this type.
    fn readable_fields(&self, ty: &Ty) -> Vec<String> {
        let p = &self.cx.program;
        let names = |fields: &[ir::FieldDef]| fields.iter().map(|f| f.name.clone()).collect();
        match ty {
            Ty::Struct(id) => names(&p.structs[id.index()].fields),
            Ty::Scratch(id) => names(&p.scratchpads[id.index()].fields),
            Ty::Id(id) => names(&p.ids[id.index()].parts),
            Ty::Context(id) => p.contexts[id.index()].declared_fields().map(|f| f.name.clone()).collect(),
            Ty::Blueprint(id) => p.blueprints[id.index()].declared_names().map(str::to_owned).collect(),
            Ty::NetHeader => p.net_header.fields.iter().map(|f| f.name.clone()).collect(),
            Ty::Event(id) => {
                let fields = (0..).zip(&p.events[id.index()].fields);
                fields.filter(|(at, _)| !self.cx.is_presence(ty, *at)).map(|(_, f)| f.name.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The fields that a spread may give a value; windows keep their own.
    fn fields_of_node(&self, whole: &Node) -> Vec<String> {
        match whole {
            Node::Place(place) | Node::ReadOnly(place, _) => {
                let names = self.readable_fields(&place.ty);
                let Ty::Context(id) = place.ty else { return names };
                let fields = self.cx.program.contexts[id.index()].declared_fields();
                let copied = fields.filter(|f| !matches!(f.ty, Ty::Wnd { .. }));
                copied.map(|f| f.name.clone()).collect()
            }
            Node::Net(_) => self.readable_fields(&Ty::NetHeader),
            _ => Vec::new(),
        }
    }

    /// `raise e;`, `raise e at id;`, `raise E at id { ... };`
    pub(super) fn raise_stmt(
        &mut self,
        event: &ast::Expr,
        at: Option<&ast::Expr>,
        record: Option<&ast::Expr>,
    ) -> Option<()> {
        let local = match self.event_named(event) {
            Some(kind) => self.new_event(kind, event)?,
            None => self.raisable(event)?,
        };
        if let Some(at) = at {
            self.give_id(local, at)?;
        }
        if let Some(ast::Expr { kind: ast::ExprKind::Record(entries), .. }) = record {
            self.fill_local(local, entries)?;
        }
        self.emit(StmtKind::Instr(Instr::Raise { event: local }));
        Some(())
    }

    /// The event that a name stands for, if it stands for no variable.
    fn event_named(&mut self, e: &ast::Expr) -> Option<ir::EventId> {
        let ast::ExprKind::Name(name) = &e.kind else { return None };
        if self.find(name).is_some() {
            return None;
        }
        match self.cx.env.get(name)? {
            Def::Event(event) => Some(event),
            _ => None,
        }
    }

    /// A variable for an event that has none of its own.
    fn new_event(&mut self, event: ir::EventId, named: &ast::Expr) -> Option<LocalId> {
        let def = &self.cx.program.events[event.index()];
        let name = def.name.clone();
        self.cx.usage.mark(&name);
        if self.cx.program.events[event.index()].kind != self.raised_kind() {
            return self.not_raised(named.span);
        }
        let local = self.temporary(Ty::Event(event));
        self.locals[local.index()].name = name;
        self.declared.push((local, named.span));
        self.emit(StmtKind::Let { local, init: None });
        Some(local)
    }
}
