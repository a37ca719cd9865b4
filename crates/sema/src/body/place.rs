// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be read and assigned: locals and the parts of them.

use carrick_ir::{self as ir, ExprKind, LocalId, Order, Proj, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident};
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::suggest::nearest;

use super::{Binding, Body, Scope};
use crate::codes;
use crate::env::{Def, GLOBAL_ID};
use crate::optional::PRESENT;
use crate::types::is_int;

/// What an expression of names, fields and indices denotes.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Place(ir::Place),
    /// the same, but it cannot be assigned: why
    ReadOnly(ir::Place, &'static str),
    /// an element of a list that is sorted by this field: its other fields can be assigned
    Sorted(ir::Place, u32),
    Timer(LocalId, ir::TimerId, Option<ir::Expr>),
    /// several timers under one name: the first
    Timers(LocalId, ir::TimerId),
    /// a blueprint's options
    Options(LocalId, ir::OptListId),
    /// one option of a received blueprint
    Option(LocalId, ir::OptId),
    /// a blueprint's payload
    Payload(LocalId),
    /// a blueprint's network header
    Net(LocalId),
    /// an array of a blueprint, or what an index finds in it
    Elements(Elements),
    /// a field of an event that may not be there
    Optional(ir::Place),
}

/// An array of a header, an element of it that is a struct, or a part of an element.
#[derive(Debug, Clone)]
pub(super) struct Elements {
    pub header: LocalId,
    pub array: ir::FieldArray,
    /// a `uint64`; absent: all of them
    pub index: Option<ir::Expr>,
    /// which field of each element
    pub part: Option<u32>,
}

impl Body<'_, '_> {
    pub(super) fn readable_place(&mut self, e: &ast::Expr) -> Option<ir::Place> {
        let node = self.node(e)?;
        self.readable(node, e)
    }

    /// What can be read of what was named here.
    pub(super) fn readable(&mut self, node: Node, e: &ast::Expr) -> Option<ir::Place> {
        match self.there(node, e.span)? {
            Node::Place(place) | Node::ReadOnly(place, _) | Node::Sorted(place, _) => Some(place),
            Node::Timer(..) => self.not_a_value(e.span, "a timer", "read `armed()`, or start or stop it"),
            Node::Timers(..) => self.not_a_value(e.span, "a row of timers", "choose one by an index"),
            Node::Options(..) | Node::Option(..) => {
                self.not_a_value(e.span, "an option", "use its fields, `valid()`, or `add`")
            }
            Node::Payload(_) => self.not_a_value(e.span, "a payload", "use `.len` and `.addr`"),
            Node::Net(_) => self.not_a_value(e.span, "a network header", "use its fields"),
            Node::Optional(place) => Some(place),
            Node::Elements(elements) => {
                let value = self.elements_value(elements, e.span);
                let local = match &value.kind {
                    ExprKind::Load(place) => return Some(place.clone()),
                    _ => self.temporary(value.ty.clone()),
                };
                self.emit(StmtKind::Let { local, init: Some(value) });
                Some(self.local_place(local))
            }
        }
    }

    pub(super) fn not_a_value<T>(&mut self, span: Span, what: &str, mend: &str) -> Option<T> {
        self.report(
            Diagnostic::error(codes::NOT_A_VALUE, format!("{what} is not a value"), span, "not a value")
                .mend(mend),
        )
    }

    /// What can be assigned of what was named here.
    pub(super) fn assignable(&mut self, node: Node, span: Span) -> Option<ir::Place> {
        match self.there(node, span)? {
            Node::Place(place) => Some(place),
            Node::Sorted(..) | Node::ReadOnly(_, SORTED) => self.sorted_element(span),
            Node::ReadOnly(_, STATE) => self.state_assigned(span),
            Node::ReadOnly(_, why) => {
                let (code, mend) = match why {
                    COMPUTED => {
                        (codes::COMPUTED_FIELD, "remove the assignment: it is filled in for each packet")
                    }
                    ID => {
                        (codes::ID_ASSIGNED, "find the instance by another id: see `carrick explain MTP0471`")
                    }
                    OPTION => (codes::OPTION_ASSIGNED, "write `bp.opts.add(an_option(value));`"),
                    TEST => (codes::READ_ONLY, "assign the field itself: it is present from then on"),
                    PAYLOAD => (codes::PAYLOAD_ASSIGNED, "write `bp.payload = data(c.id, offset, len);`"),
                    _ => (codes::READ_ONLY, "assign something else"),
                };
                self.report(Diagnostic::error(code, "this cannot be assigned", span, why).mend(mend))
            }
            _ => self.report(
                Diagnostic::error(
                    codes::NOT_A_PLACE,
                    "this cannot be assigned",
                    span,
                    "not a variable or a field",
                )
                .mend("assign a variable, or a field of one"),
            ),
        }
    }

    fn sorted_element<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::SORTED,
                "this cannot be assigned",
                span,
                "decides the position in the list",
            )
            .note("the key of an element decides its position in a sorted list")
            .mend("remove the element, and add it with another key"),
        )
    }

    pub(super) fn node(&mut self, e: &ast::Expr) -> Option<Node> {
        match &e.kind {
            ast::ExprKind::Name(name) => self.local_node(name, e.span),
            ast::ExprKind::Paren(inner) => self.node(inner),
            ast::ExprKind::Field(base, field) => {
                let node = self.node(base)?;
                let tests = matches!(&node, Node::Optional(of) if field.name == PRESENT || of.ty.is_scalar());
                let node = if tests { node } else { self.there(node, base.span)? };
                self.field(node, field)
            }
            ast::ExprKind::Index(base, index) => {
                let node = self.node(base)?;
                let base = self.there(node, base.span)?;
                self.index(base, index, e.span)
            }
            ast::ExprKind::Error => None,
            _ => self.report(
                Diagnostic::error(
                    codes::NOT_A_PLACE,
                    "this is not a variable",
                    e.span,
                    "a computed value has no fields",
                )
                .mend("put it into a variable first"),
            ),
        }
    }

    fn local_node(&mut self, name: &str, span: Span) -> Option<Node> {
        match self.find(name) {
            Some(Binding::Local(local)) => {
                let place = self.local_place(local);
                if place.ty == Ty::Void {
                    return None; // a parameter whose type is wrong
                }
                Some(if place.ty.is_by_ref() {
                    Node::ReadOnly(place, "passed by reference")
                } else {
                    Node::Place(place)
                })
            }
            Some(Binding::Part(local)) => {
                let whole = Node::ReadOnly(self.local_place(local), "passed by reference");
                self.field(whole, &Ident { name: name.to_owned(), span })
            }
            Some(Binding::Wrong) => None,
            Some(_) => {
                self.not_a_value(span, "a collection of instructions or events", "only `add` and `return` it")
            }
            None => self.unknown_local(name, span),
        }
    }

    fn unknown_local<T>(&mut self, name: &str, span: Span) -> Option<T> {
        if self.cx.env.get(name).is_some() {
            if let Some(Def::Const(_)) = self.cx.env.get(name) {
                self.cx.usage.mark(name);
                if self.cx.has_errors() {
                    return None; // a constant that may be wrong itself
                }
            }
            return self.declared_otherwise(name, span);
        }
        if let Some(meant) = crate::habits::of_value(name) {
            let there_is_not = format!("there is no `{name}` here");
            let unknown = Diagnostic::error(codes::UNKNOWN_NAME, there_is_not, span, "not declared");
            return self.report(unknown.fix(format!("write `{meant}`"), span, meant));
        }
        let locals = self.names.iter().flat_map(|scope| scope.keys().map(String::as_str));
        let candidates: Vec<&str> =
            locals.chain(self.cx.names_to_suggest()).chain(ir::STATUS_NAMES).collect();
        let near = nearest(name, candidates).map(str::to_owned);
        let mut diagnostic = Diagnostic::error(
            codes::UNKNOWN_NAME,
            format!("there is no `{name}` here"),
            span,
            "not declared",
        );
        diagnostic = match near {
            Some(near) => diagnostic.fix(format!("did you mean `{near}`?"), span, near),
            None => diagnostic.mend("declare it, or use a name that is declared"),
        };
        self.report(diagnostic)
    }

    /// A name that stands for no variable, where one is wanted.
    fn declared_otherwise<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let def = self.cx.env.get(name)?;
        let kind = crate::unknown::kind(def);
        let constant = matches!(def, Def::Const(_) | Def::Param(_));
        let (wanted, mend) = match constant {
            true => ("not a variable", "name a variable, or a field of one"),
            false => ("not a value", "name a variable, a constant or a parameter"),
        };
        let message = format!("`{name}` is {kind}, {wanted}");
        self.report(Diagnostic::error(codes::NOT_A_VALUE, message, span, wanted).mend(mend))
    }

    pub(super) fn unknown_field<'n, T>(
        &mut self,
        name: &str,
        span: Span,
        fields: impl Iterator<Item = &'n str>,
    ) -> Option<T> {
        let fields: Vec<&str> = fields.collect();
        let ident = Ident { name: name.to_owned(), span };
        self.cx.unknown(codes::UNKNOWN_FIELD, "field", &ident, &fields);
        None
    }

    pub(super) fn field(&mut self, base: Node, field: &Ident) -> Option<Node> {
        match base {
            Node::Place(place) => self.place_field(place, field, None),
            Node::ReadOnly(place, why) => {
                // What is referred to can be written, though the reference itself cannot be replaced.
                let by_ref = place.path.is_empty() && place.ty.is_by_ref();
                self.place_field(place, field, if by_ref { None } else { Some(why) })
            }
            Node::Sorted(place, key) => {
                let Ty::Struct(id) = place.ty else { return self.place_field(place, field, None) };
                let fields = &self.cx.program.structs[id.index()].fields;
                let is_key = fields.get(key as usize).is_some_and(|f| f.name == field.name);
                self.place_field(place, field, is_key.then_some(SORTED))
            }
            Node::Option(bp, opt) => {
                let def = self.cx.program.opts[opt.index()].clone();
                match def.all_fields().enumerate().find(|(_, (name, _))| *name == field.name) {
                    Some((at, (_, ty))) => {
                        let path = vec![Proj::OptField(opt, at as u32)];
                        Some(Node::ReadOnly(ir::Place { root: bp, path, ty }, OPTION))
                    }
                    None => {
                        self.unknown_field(&field.name, field.span, def.all_fields().map(|(name, _)| name))
                    }
                }
            }
            Node::Payload(bp) => match field.name.as_str() {
                "len" => Some(payload_part(bp, Proj::PayloadLen, Ty::Bytes)),
                "addr" => Some(payload_part(bp, Proj::PayloadAddr, Ty::Addr)),
                _ => self.unknown_field(&field.name, field.span, ["len", "addr"].into_iter()),
            },
            Node::Net(bp) => self.net_field(bp, field, false),
            Node::Optional(place) if field.name == PRESENT => {
                Some(Node::ReadOnly(self.presence_of(&place), TEST))
            }
            Node::Optional(ref place) if place.ty.is_scalar() => {
                self.unknown_field(&field.name, field.span, [PRESENT].into_iter())
            }
            Node::Optional(_) => {
                let place = self.there(base, field.span)?;
                self.field(place, field)
            }
            Node::Elements(elements) => self.part_of_element(elements, field),
            Node::Timer(..) | Node::Timers(..) | Node::Options(..) => {
                self.unknown_field(&field.name, field.span, ["armed", "add"].into_iter())
            }
        }
    }

    fn net_field(&mut self, root: LocalId, field: &Ident, received: bool) -> Option<Node> {
        let fields = self.cx.program.net_header.fields.clone();
        let Some(at) = fields.iter().position(|f| f.name == field.name) else {
            return self.unknown_field(&field.name, field.span, fields.iter().map(|f| f.name.as_str()));
        };
        let place = ir::Place { root, path: vec![Proj::Net(at as u32)], ty: fields[at].ty.clone() };
        let fixed = matches!(fields[at].field, ir::NetField::PayloadLen | ir::NetField::Protocol);
        Some(if received {
            Node::ReadOnly(place, "of a received packet")
        } else if fixed {
            Node::ReadOnly(place, "set by the network layer")
        } else {
            Node::Place(place)
        })
    }

    fn place_field(&mut self, place: ir::Place, field: &Ident, why: Option<&'static str>) -> Option<Node> {
        let p = &self.cx.program;
        let fields: &[ir::FieldDef] = match &place.ty {
            Ty::Struct(id) => &p.structs[id.index()].fields,
            Ty::Scratch(id) => &p.scratchpads[id.index()].fields,
            Ty::Id(id) if place.ty != p.address_ty() => &p.ids[id.index()].parts,
            Ty::Event(id) => &p.events[id.index()].fields,
            Ty::Context(id) => &p.contexts[id.index()].fields,
            Ty::Blueprint(id) => return self.blueprint_field(place.root, *id, field),
            Ty::NetHeader => return self.net_field(place.root, field, true),
            ty if matches!(ty, Ty::List(..) | Ty::Wnd { .. }) && ASKED.contains(&field.name.as_str())
                || ty.has_none() && field.name == "take" =>
            {
                let end = Span::new(field.span.end, field.span.end);
                return self.report(
                    Diagnostic::error(
                        codes::METHOD_NOT_CALLED,
                        format!("`{}` is a method", field.name),
                        field.span,
                        "not called",
                    )
                    .fix("call it", end, "()"),
                );
            }
            other => {
                let ty = other.clone();
                return self.without_fields(&ty, field);
            }
        };
        let kept = |at: usize| matches!(place.ty, Ty::Context(ctx) if p.contexts[ctx.index()].keeps(at));
        if let Some(at) = fields.iter().position(|f| f.name == field.name).filter(|at| !kept(*at)) {
            let ty = fields[at].ty.clone();
            if ty == Ty::Void {
                return None; // reported where it is declared
            }
            if self.cx.is_presence(&place.ty, at as u32) {
                let written = format!("{}.{PRESENT}", fields[at + 1].name);
                return self.named_by_generated_code(
                    field,
                    "says whether another field is present",
                    &written,
                );
            }
            if self.cx.is_optional(&place.ty, at as u32) {
                return Some(Node::Optional(extended(place, Proj::Field(at as u32), ty)));
            }
            let read_only = why.or(matches!(place.ty, Ty::Id(_)).then_some("part of an id"));
            let read_only = read_only.or(self.is_state(&place, at).then_some(STATE));
            let place = extended(place, Proj::Field(at as u32), ty);
            return Some(match read_only {
                Some(why) => Node::ReadOnly(place, why),
                None => Node::Place(place),
            });
        }
        let declared = (0..).zip(fields).filter(|(at, _)| !self.cx.is_presence(&place.ty, *at));
        let fields: Vec<(String, Ty)> = declared.map(|(_, f)| (f.name.clone(), f.ty.clone())).collect();
        self.special_field(place, field, &fields)
    }

    pub(super) fn without_fields<T>(&mut self, ty: &Ty, field: &Ident) -> Option<T> {
        let name = self.name(ty);
        self.report(
            Diagnostic::error(codes::NO_FIELDS, format!("`{name}` has no fields"), field.span, "not a field")
                .mend("use the value itself"),
        )
    }

    /// `c.id`, `c.timer`, `e.token`.
    fn special_field(&mut self, place: ir::Place, field: &Ident, fields: &[(String, Ty)]) -> Option<Node> {
        match (place.ty.clone(), field.name.as_str()) {
            (Ty::Context(ctx), name) => {
                let def = &self.cx.program.contexts[ctx.index()];
                if name == "id" && !def.global {
                    // An id that is not declared has been reported.
                    if self.cx.program.ids[def.id.index()].name == GLOBAL_ID {
                        return None;
                    }
                    let id = Ty::Id(def.id);
                    return Some(Node::ReadOnly(extended(place, Proj::CtxId, id), ID));
                }
                if let Some(at) = def.timers.iter().position(|t| t.base() == name) {
                    let timer = ir::TimerId(at as u32);
                    return Some(match def.timers[at].element {
                        Some(_) => Node::Timers(place.root, timer),
                        None => Node::Timer(place.root, timer, None),
                    });
                }
            }
            (Ty::Event(event), "token")
                if self.cx.program.events[event.index()].kind == ir::EventKind::App =>
            {
                return Some(Node::ReadOnly(
                    extended(place, Proj::Token, Ty::Token),
                    "given by the application",
                ));
            }
            (Ty::Event(_), "token") => {
                return self.report(
                    Diagnostic::error(
                        codes::TOKEN_OF_EVENT,
                        "only app events have a token",
                        field.span,
                        "an event without a request",
                    )
                    .mend("keep the token of the request in the context, and use that"),
                );
            }
            (Ty::Event(event), "pkt") if self.cx.carries_packet(event) => {
                return self.packet_as_value(field.span);
            }
            _ => {}
        }
        self.unknown_field(&field.name, field.span, fields.iter().map(|(n, _)| n.as_str()))
    }

    fn blueprint_field(&mut self, root: LocalId, bp: ir::BpId, field: &Ident) -> Option<Node> {
        let def = self.cx.program.blueprints[bp.index()].clone();
        if field.name == "net" && !def.frame {
            return Some(Node::Net(root));
        }
        if def.payload_name.as_deref() == Some(&field.name) {
            return Some(Node::Payload(root));
        }
        if let (Some(list), Some(name)) = (def.options, &def.options_name)
            && *name == field.name
        {
            return Some(Node::Options(root, list));
        }
        if let Some(array) = self.array_of_header(root, bp, &field.name) {
            return array.map(Node::Elements);
        }
        let Some(at) = def.field_named(&field.name) else {
            if let Some(element) = def.fields.iter().find(|f| f.name == field.name) {
                return self.named_by_generated_code(field, "an element of an array", &element.written());
            }
            return self.unknown_field(&field.name, field.span, def.declared_names());
        };
        let field = &def.fields[at as usize];
        let place = ir::Place { root, path: vec![Proj::Field(at)], ty: field.ty.clone() };
        Some(match field.kind {
            ir::BpFieldKind::Plain { .. } => Node::Place(place),
            _ => Node::ReadOnly(place, COMPUTED),
        })
    }

    /// A field, named as generated code names it.
    fn named_by_generated_code<T>(&mut self, field: &Ident, what: &str, written: &str) -> Option<T> {
        let message = format!("there is no field `{}`", field.name);
        self.report(Diagnostic::error(codes::UNKNOWN_FIELD, message, field.span, what).fix(
            format!("write `{written}`"),
            field.span,
            written,
        ))
    }

    fn index(&mut self, base: Node, index: &ast::Expr, span: Span) -> Option<Node> {
        if let Node::Options(bp, list) = base {
            return self.option(bp, list, index);
        }
        if let Node::Timers(ctx, first) = base {
            let most = self.timer_def(ctx, first)?.count();
            return Some(Node::Timer(ctx, first, Some(self.index_value(index, most)?)));
        }
        if let Node::Elements(elements) = base {
            let ty = self.elements_type(&elements);
            return match self.element_at(elements, index)? {
                Some(element) => Some(element),
                None => self.without_elements(&ty, span),
            };
        }
        let (place, why) = match base {
            Node::Place(place) => (place, None),
            Node::ReadOnly(place, why) => (place, Some(why)),
            _ => return self.not_a_value(span, "this", "index an array or a list"),
        };
        let (element, most, is_array) = match &place.ty {
            Ty::Array(element, n) => ((**element).clone(), *n, true),
            Ty::List(element, n, _) => ((**element).clone(), *n, false),
            other => {
                let ty = other.clone();
                return self.without_elements(&ty, span);
            }
        };
        let at = self.index_value(index, most)?;
        let proj = if is_array { Proj::Index(at) } else { Proj::Elem(at) };
        let order = if let Ty::List(_, _, order) = place.ty { order } else { Order::Given };
        let place = extended(place, proj, element);
        Some(match (why, order) {
            (Some(why), _) => Node::ReadOnly(place, why),
            (None, Order::Given) => Node::Place(place),
            (None, Order::Sorted) => Node::ReadOnly(place, SORTED),
            (None, Order::SortedBy(key)) => Node::Sorted(place, key),
        })
    }

    fn without_elements<T>(&mut self, ty: &Ty, span: Span) -> Option<T> {
        let name = self.name(ty);
        self.report(
            Diagnostic::error(codes::NO_ELEMENTS, format!("`{name}` has no elements"), span, "indexed")
                .mend("index an array or a list"),
        )
    }

    /// An index into at most so many elements, as `uint64` so that no value wraps into them.
    pub(super) fn index_value(&mut self, index: &ast::Expr, most: u32) -> Option<ir::Expr> {
        let at = self.typed(index)?;
        self.index_of(at, most, index.span)
    }

    /// The same, of a value.
    pub(super) fn index_of(&mut self, at: ir::Expr, most: u32, span: Span) -> Option<ir::Expr> {
        if !is_int(&at.ty) {
            let found = format!("`{}`", self.name(&at.ty));
            return self.mismatch(&found, &Ty::U32, span);
        }
        let at = self.cast(at, &Ty::U64);
        match self.cx.fold(&at) {
            Some(constant) if constant >= u64::from(most) => self.report(
                Diagnostic::error(
                    codes::INDEX_OUTSIDE,
                    format!("index {constant} is out of range: there are {most} elements"),
                    span,
                    "out of range",
                )
                .mend(format!("the last element is {}", most - 1)),
            ),
            _ => Some(at),
        }
    }

    fn option(&mut self, bp: LocalId, list: ir::OptListId, index: &ast::Expr) -> Option<Node> {
        let members = self.cx.program.opt_lists[list.index()].members.clone();
        let ast::ExprKind::Name(name) = &index.kind else {
            return self.report(
                Diagnostic::error(
                    codes::OPTION_NAME,
                    "options are selected by their names",
                    index.span,
                    "not the name of an option",
                )
                .mend("write `bp.opts[an_option]`"),
            );
        };
        let ident = Ident { name: name.clone(), span: index.span };
        let opt = self.cx.lookup("option", &ident, |d| match d {
            Def::Opt(opt) if members.contains(&opt) => Some(opt),
            _ => None,
        })?;
        Some(Node::Option(bp, opt))
    }

    /// The context that stands for the chain's: `c.id`, or `get_flow_id(e)` where there is one context.
    pub(super) fn unit_context(&mut self, e: &ast::Expr) -> Option<LocalId> {
        let own = self.own_unit(e);
        if own.is_none() {
            self.report::<LocalId>(
                Diagnostic::error(
                    codes::UNIT_ID,
                    "a data unit is named by the id of the chain's context",
                    e.span,
                    "not `c.id`",
                )
                .note("a context has at most one unit in each direction")
                .mend("write `c.id`, with c the processor's context parameter"),
            );
        }
        own
    }

    /// The same, `None` if it is anything else.
    pub(super) fn own_unit(&mut self, e: &ast::Expr) -> Option<LocalId> {
        if let ast::ExprKind::Call(callee, _) = &e.kind
            && matches!(&callee.kind, ast::ExprKind::Name(n) if n == "get_flow_id")
        {
            let contexts: Vec<usize> =
                (0..self.locals.len()).filter(|i| self.is_keyed_context(LocalId(*i as u32))).collect();
            if let [only] = contexts[..] {
                return Some(LocalId(only as u32));
            }
        }
        if let ast::ExprKind::Field(base, field) = &e.kind
            && field.name == "id"
            && let Some(local) = self.context_local(base)
            && self.is_keyed_context(local)
        {
            return Some(local);
        }
        None
    }

    /// The context whose instances are found by an id of this type, for the data of one of them.
    pub(super) fn found_by(&mut self, ty: &Ty, span: Span) -> Option<ir::CtxId> {
        let contexts = self.cx.program.contexts.iter().zip(0..);
        let by = contexts.filter(|(def, _)| !def.global && *ty == Ty::Id(def.id));
        let found: Vec<ir::CtxId> = by.map(|(_, number)| ir::CtxId(number)).collect();
        if let [only] = found[..] {
            return Some(only);
        }
        let (message, mend) = match found.len() {
            0 => ("this id finds no context", "write `c.id`, or the id of the context that has the data"),
            _ => ("ids of this type find several contexts", "give each of them an id of its own"),
        };
        let error = Diagnostic::error(codes::UNIT_ID, message, span, "names no data unit");
        self.report(error.note("a payload comes from the unit of one context, which the id names").mend(mend))
    }

    fn is_context_reference(&self, local: LocalId) -> bool {
        matches!(self.locals[local.index()].ty, Ty::Context(_)) && self.is_parameter(local)
    }

    /// Whether it is a context of the chain that has an id.
    pub(super) fn is_keyed_context(&self, local: LocalId) -> bool {
        let Ty::Context(ctx) = self.locals[local.index()].ty else { return false };
        self.is_parameter(local) && !self.cx.program.contexts[ctx.index()].global
    }

    pub(super) fn is_parameter(&self, local: LocalId) -> bool {
        local.index() < self.parameters
    }

    /// The local that the name denotes, if it is a reference to a context.
    pub(super) fn context_local(&mut self, e: &ast::Expr) -> Option<LocalId> {
        let ast::ExprKind::Name(name) = &e.kind else { return None };
        match self.find(name) {
            Some(Binding::Local(local)) if self.is_context_reference(local) => Some(local),
            _ => None,
        }
    }

    pub(super) fn in_parser(&self) -> bool {
        self.scope == Scope::Parser
    }
}

const SORTED: &str = "sorted by this";
const STATE: &str = "where a machine is";
const COMPUTED: &str = "computed for each packet";
const ID: &str = "the id of an instance";
const TEST: &str = "says whether the field is there";
const OPTION: &str = "options are given with `add`";
const PAYLOAD: &str = "set as a whole: `bp.payload = data(...)`";
/// Methods of lists and windows without arguments that have a value.
const ASKED: [&str; 6] = ["len", "full", "pop", "head", "first_unset", "slide"];

fn payload_part(root: LocalId, proj: Proj, ty: Ty) -> Node {
    Node::ReadOnly(ir::Place { root, path: vec![proj], ty }, PAYLOAD)
}

pub(super) fn extended(mut place: ir::Place, proj: Proj, ty: Ty) -> ir::Place {
    place.path.push(proj);
    place.ty = ty;
    place
}
