// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything made of fields: structs, ids, events, contexts, scratchpads.

use std::collections::HashMap;

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Field, Ident, ItemKind, Param, Timer};
use carrick_syntax::diag::Diagnostic;

use crate::body::Body;
use crate::env::{Def, GLOBAL_ID};
use crate::types::is_int;
use crate::{Checker, codes};

/// How many bytes a struct has at most.
const STRUCT_MAX: u64 = ir::size::STRUCT_MAX;

/// How many structs may be within each other.
const STRUCT_DEPTH_MAX: usize = ir::size::STRUCT_DEPTH_MAX;

/// The struct of which a value of this type has one or more.
fn struct_in(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Array(element, _) | Ty::List(element, _, _) => struct_in(element),
        Ty::Struct(id) => Some(id.index()),
        _ => None,
    }
}

/// Whether a value of this type is an address, or several.
fn has_address(ty: &Ty) -> bool {
    match ty {
        Ty::Array(element, _) | Ty::List(element, _, _) => has_address(element),
        other => *other == Ty::Addr,
    }
}

impl Checker<'_> {
    pub(crate) fn declare_records(&mut self) {
        let file = self.file;
        for item in &file.items {
            let doc = item.doc.as_str().into();
            match &item.kind {
                ItemKind::Struct { name, fields } => {
                    let fields = self.fields(fields, "struct");
                    self.program.structs.push(ir::StructDef { name: name.name.clone(), doc, fields });
                }
                ItemKind::Scratchpad { name, fields } => {
                    let fields = self.fields(fields, "scratchpad");
                    self.program.scratchpads.push(ir::StructDef { name: name.name.clone(), doc, fields });
                }
                ItemKind::Id { name, parts } => {
                    let parts = self.id_parts(parts);
                    self.program.ids.push(ir::IdDef { name: name.name.clone(), doc, parts });
                }
                ItemKind::Event { name, kind, fields } => self.event(doc, name, kind, fields),
                ItemKind::Context { name, global, by, fields, timers } => {
                    let by = self.id_of_context(name, *global, by.as_ref());
                    self.context(doc, name, (global.is_some(), by), fields, timers);
                }
                _ => {}
            }
        }
        self.check_optional_places();
        self.id_of_globals();
        self.timer_fields();
        self.check_recursive_types();
    }

    /// Fields without their initialisers, which need all names first.
    fn fields(&mut self, fields: &[Field], of: &str) -> Vec<ir::FieldDef> {
        let mut defs: Vec<ir::FieldDef> = Vec::new();
        self.check_twins(fields.iter().map(|f| &f.name));
        for field in fields {
            let ty = self.field_type(field, of).unwrap_or(Ty::Void);
            if let Some(bits) = &field.bits {
                self.report(
                    Diagnostic::error(
                        codes::BITS_OUTSIDE_HEADER,
                        "only blueprints have bit fields",
                        bits.span,
                        "a width in bits",
                    )
                    .mend("remove it"),
                );
            }
            defs.push(ir::FieldDef {
                name: field.name.name.clone(),
                doc: field.doc.as_str().into(),
                ty,
                init: None,
            });
        }
        defs
    }

    /// Reports the names that others before them have.
    pub(crate) fn check_twins<'n>(&mut self, names: impl IntoIterator<Item = &'n Ident>) {
        let mut first: HashMap<&str, Span> = HashMap::new();
        for name in names {
            let first = *first.entry(&name.name).or_insert(name.span);
            if first != name.span {
                self.report(
                    Diagnostic::error(
                        codes::FIELD_TWICE,
                        format!("`{}` is declared twice", name.name),
                        name.span,
                        "again here",
                    )
                    .cause(first, "declared first here")
                    .mend("give one of them another name"),
                );
            }
        }
    }

    /// Reports a part that has the name of one which is always there.
    pub(crate) fn check_reserved(&mut self, name: &Ident, reserved: &str, of: &str) {
        if name.name == reserved {
            self.report(
                Diagnostic::error(
                    codes::RESERVED_FIELD,
                    format!("every {of} already has `{reserved}`"),
                    name.span,
                    "cannot be declared",
                )
                .mend("give it another name"),
            );
        }
    }

    fn field_type(&mut self, field: &Field, of: &str) -> Option<Ty> {
        let element = self.resolve(&field.ty)?;
        let allowed = match &element {
            Ty::Wnd { .. } => of == "context",
            Ty::List(inner, _, _) => {
                inner.is_scalar() || matches!(**inner, Ty::Struct(_) | Ty::Id(_) | Ty::Addr)
            }
            Ty::Struct(_) | Ty::Id(_) | Ty::Addr => true,
            other => other.is_scalar(),
        };
        if !allowed {
            let name = self.name(&element);
            let article = if of == "event" { "an" } else { "a" };
            self.report(
                Diagnostic::error(
                    codes::FIELD_TYPE,
                    format!("a field of {article} {of} cannot be of type `{name}`"),
                    field.ty.span,
                    "not possible here",
                )
                .note("fields are scalars, ids, structs, addr_t, and arrays and lists of these; windows and timers live in contexts")
                .mend("use another type"),
            );
            return None;
        }
        match &field.array {
            Some(length) if matches!(element, Ty::List(..) | Ty::Wnd { .. }) => {
                self.report(
                    Diagnostic::error(
                        codes::FIELD_ARRAY,
                        "an array of this is not possible here",
                        length.span,
                        "here",
                    )
                    .mend("put it into a struct, and declare an array of that"),
                );
                None
            }
            Some(length) => Some(Ty::Array(Box::new(element), self.length(length)?)),
            None => Some(element),
        }
    }

    fn id_parts(&mut self, parts: &[Param]) -> Vec<ir::FieldDef> {
        self.check_twins(parts.iter().map(|p| &p.name));
        let mut defs = Vec::new();
        for part in parts {
            let ty = self.resolve(&part.ty);
            let allowed = |t: &Ty| t.is_scalar() || *t == self.program.address_ty();
            if ty.as_ref().is_some_and(|t| !allowed(t)) {
                self.report(
                    Diagnostic::error(
                        codes::ID_PART,
                        "an id is made of scalars",
                        part.ty.span,
                        "not a scalar type",
                    )
                    .mend("use an integer type"),
                );
            }
            let ty = ty.filter(|t| t.is_scalar() || *t == self.program.address_ty()).unwrap_or(Ty::U64);
            defs.push(ir::FieldDef {
                name: part.name.name.clone(),
                doc: ir::Text::default(),
                ty,
                init: None,
            });
        }
        defs
    }

    fn event(&mut self, doc: ir::Text, name: &Ident, kind: &Ident, fields: &[Field]) {
        const KINDS: [(&str, &str, ir::EventKind); 5] = [
            ("app_event", "APP_EVENT", ir::EventKind::App),
            ("net_event", "NET_EVENT", ir::EventKind::Net),
            ("timer_event", "TIMER_EVENT", ir::EventKind::Timer),
            ("sent_event", "SENT_EVENT", ir::EventKind::Sent),
            ("flow_event", "FLOW_EVENT", ir::EventKind::Flow),
        ];
        let found = KINDS.iter().find(|(a, b, _)| *a == kind.name || *b == kind.name);
        if found.is_none() {
            self.unknown(codes::EVENT_KIND, "kind of event", kind, &KINDS.map(|(n, ..)| n));
        }
        let event_kind = found.map_or(ir::EventKind::Net, |(.., k)| *k);
        let defs = self.fields(fields, "event");
        if event_kind == ir::EventKind::Timer
            && let Some((field, _)) = fields.iter().zip(&defs).find(|(_, def)| has_address(&def.ty))
        {
            self.report(
                Diagnostic::error(
                    codes::FIELD_TYPE,
                    "a timer event does not refer to memory",
                    field.ty.span,
                    "not possible here",
                )
                .note("a request ends before the timer fires")
                .mend("keep what was read there"),
            );
        }
        if event_kind == ir::EventKind::App {
            fields.iter().for_each(|f| self.check_reserved(&f.name, "token", "app event"));
        }
        if event_kind == ir::EventKind::Net && self.has_role() {
            fields.iter().for_each(|f| self.check_reserved(&f.name, "pkt", "net event"));
        }
        let addrs: Vec<Span> =
            fields.iter().zip(&defs).filter(|(_, d)| has_address(&d.ty)).map(|(f, _)| f.span).collect();
        if event_kind == ir::EventKind::App && addrs.len() > 1 {
            self.report(
                Diagnostic::error(
                    codes::EVENT_ADDR,
                    "an app event refers to one piece of data",
                    addrs[1],
                    "the second addr_t",
                )
                .cause(addrs[0], "the first")
                .mend("split it into two requests"),
            );
        }
        let optional = self.optional_fields(event_kind, fields);
        self.program.events.push(ir::EventDef {
            name: name.name.clone(),
            doc,
            kind: event_kind,
            fields: defs,
            optional,
            id: None,
        });
    }

    /// The id by which an instance of a context is found; nothing for a global one.
    fn id_of_context(&mut self, name: &Ident, global: Option<Span>, by: Option<&Ident>) -> Option<ir::IdId> {
        match by {
            Some(by) if global.is_some() => {
                self.not_for_globals(by.span, "an id", "remove `by`, or `global`");
                None
            }
            None if global.is_some() => None,
            Some(by) => self.lookup("id", by, |d| if let Def::Id(id) = d { Some(id) } else { None }),
            None => {
                self.report(
                    Diagnostic::error(
                        codes::CONTEXT_ID,
                        format!("the context `{}` has no id", name.name),
                        name.span,
                        "no id identifies its instances",
                    )
                    .mend("declare an id and write `context C by id_name { }`, or `global context C { }` for a single one"),
                );
                None
            }
        }
    }

    /// What a context with one instance has no use for.
    pub(crate) fn not_for_globals(&mut self, span: Span, what: &str, mend: &str) {
        self.report(
            Diagnostic::error(
                codes::GLOBAL_CONTEXT,
                "a global context always has one instance",
                span,
                what.to_owned(),
            )
            .note("it exists from the start of the core, and every processor that takes it as a parameter uses it")
            .mend(mend),
        );
    }

    /// The id of all global contexts: it has no parts. Each context has an id, so it is also there if none is declared.
    fn id_of_globals(&mut self) {
        let id = ir::IdId(self.program.ids.len() as u32);
        let mut any = self.program.ids.is_empty() && !self.program.contexts.is_empty();
        for context in self.program.contexts.iter_mut().filter(|c| c.global) {
            context.id = id;
            any = true;
        }
        if any {
            let name = GLOBAL_ID.to_owned();
            self.program.ids.push(ir::IdDef { name, doc: ir::Text::default(), parts: Vec::new() });
        }
    }

    fn context(
        &mut self,
        doc: ir::Text,
        name: &Ident,
        (global, id): (bool, Option<ir::IdId>),
        fields: &[Field],
        timers: &[Timer],
    ) {
        let names = || fields.iter().map(|f| &f.name).chain(timers.iter().map(|t| &t.name));
        names().for_each(|n| self.check_reserved(n, "id", "context"));
        let taken: Vec<&Ident> = names().collect();
        self.check_twins(names());
        let mut fields = self.fields(fields, "context");
        fields.extend(self.state_fields(name, &taken));
        let timers = timers.iter().flat_map(|t| self.timer(t)).collect();
        let capacity = ir::ExprKind::Lit(u64::from(global));
        self.program.contexts.push(ir::ContextDef {
            name: name.name.clone(),
            doc,
            global,
            id: id.unwrap_or(ir::IdId(0)),
            fields,
            timers,
            capacity: ir::Expr { kind: capacity, ty: Ty::U64, loc: ir::Loc::default() },
            tx_capacity: None,
            rx_capacity: None,
            rx_growth: None,
        });
    }

    fn check_recursive_types(&mut self) {
        let file = self.file;
        let names: Vec<&Ident> = file
            .items
            .iter()
            .filter_map(|i| if let ItemKind::Struct { name, .. } = &i.kind { Some(name) } else { None })
            .collect();
        let circular = ir::graph::in_circles(&self.struct_edges());
        for (index, name) in names.iter().enumerate().filter(|(index, _)| circular[*index]) {
            self.report(
                Diagnostic::error(
                    codes::RECURSIVE_TYPE,
                    format!("`{}` contains itself", name.name),
                    name.span,
                    "would have no size",
                )
                .mend("keep an index instead"),
            );
            for field in &mut self.program.structs[index].fields {
                field.ty = Ty::Void;
            }
        }
        self.check_struct_sizes(&names, &self.struct_edges());
    }

    /// For each struct those that it has parts of.
    fn struct_edges(&self) -> Vec<Vec<usize>> {
        let edges = self.program.structs.iter().map(|s| s.fields.iter().filter_map(|f| struct_in(&f.ty)));
        edges.map(Iterator::collect).collect()
    }

    /// Of structs within each other, only the innermost that is too large is reported.
    fn check_struct_sizes(&mut self, names: &[&Ident], edges: &[Vec<usize>]) {
        let depths = ir::graph::depths(edges);
        let mut sizes = ir::size::Sizes::new(&self.program);
        let mut large = vec![false; edges.len()];
        let mut found = Vec::new();
        for index in ir::graph::postorder(edges) {
            let within = edges[index].iter().any(|part| large[*part]);
            let own = depths[index] > STRUCT_DEPTH_MAX
                || !within && sizes.value(&Ty::Struct(ir::StructId(index as u32))) > STRUCT_MAX;
            large[index] = within || own;
            if own && !within {
                found.push(names[index]);
            }
        }
        for name in found {
            self.report(
                Diagnostic::error(
                    codes::STRUCT_TOO_LARGE,
                    format!("`{}` is too large", name.name),
                    name.span,
                    format!(
                        "more than {} KiB, or more than {STRUCT_DEPTH_MAX} structs within each other",
                        STRUCT_MAX >> 10
                    ),
                )
                .note("targets copy a value as a whole, and keep variables on a stack")
                .mend("make its arrays and lists shorter"),
            );
        }
    }

    /// The initial values of all fields, now that every name is known.
    pub(crate) fn check_initialisers(&mut self) {
        let file = self.file;
        let (mut structs, mut scratchpads, mut contexts) = (0, 0, 0);
        for item in &file.items {
            match &item.kind {
                ItemKind::Struct { fields, .. } => {
                    let defs = self.program.structs[structs].fields.clone();
                    self.program.structs[structs].fields = self.initialised(fields, defs);
                    structs += 1;
                }
                ItemKind::Scratchpad { fields, .. } => {
                    let defs = self.program.scratchpads[scratchpads].fields.clone();
                    self.program.scratchpads[scratchpads].fields = self.initialised(fields, defs);
                    scratchpads += 1;
                }
                ItemKind::Context { fields, .. } => {
                    let defs = self.program.contexts[contexts].fields.clone();
                    self.program.contexts[contexts].fields = self.initialised(fields, defs);
                    contexts += 1;
                }
                ItemKind::Event { fields, .. } => {
                    for field in fields.iter().filter(|f| f.init.is_some()) {
                        self.report(
                            Diagnostic::error(
                                codes::EVENT_INITIAL,
                                "a field of an event has no initial value",
                                field.span,
                                "set by the statement that raises the event",
                            )
                            .mend("set it where the event is raised"),
                        );
                    }
                }
                _ => {}
            }
        }
        self.check_header_initialisers();
    }

    fn initialised(&mut self, fields: &[Field], mut defs: Vec<ir::FieldDef>) -> Vec<ir::FieldDef> {
        for (field, def) in fields.iter().zip(&mut defs) {
            let Some(init) = &field.init else { continue };
            if def.ty == Ty::Void {
                continue;
            }
            if !(def.ty.is_scalar() || is_int(&def.ty)) {
                self.report(
                    Diagnostic::error(
                        codes::FIELD_INITIAL,
                        "only scalars have an initial value",
                        init.span,
                        "here",
                    )
                    .mend("it starts empty; set it in an event processor"),
                );
                continue;
            }
            def.init = Body::for_declaration(self).value_of_type(init, &def.ty);
        }
        defs
    }
}
