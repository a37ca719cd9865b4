// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places: what stands to the left of `=`, and is read.

use carrick_ir::{self as ir, NetField, Place, Proj, Ty};

use crate::Emitter;
use crate::names::safe;
use crate::term::{Binds, CType, Term};

/// A place in C: the lvalue, and what must hold for it to be there.
pub struct CPlace {
    pub text: String,
    pub guard: Option<String>,
    /// its value, also where it is not there, if a call gives it: an element of a list, or a part of one
    call: Option<String>,
}

impl CPlace {
    /// Whether it is read by the function that reads elements of this list.
    pub fn reads(&self, list: &str) -> bool {
        let called = self.call.as_ref().and_then(|call| call.split_once('('));
        called.is_some_and(|(name, _)| name == get_name(list))
    }
}

/// The name of the function that reads an element of a list.
pub fn get_name(list: &str) -> String {
    format!("{}_get", list.trim_start_matches("struct "))
}

/// The most elements of a list.
pub fn list_bound(ty: &Ty) -> u32 {
    if let Ty::List(_, n, _) = ty { *n } else { 0 }
}

impl Emitter<'_> {
    /// Whether the local lies in the function's frame.
    pub fn in_frame(&self, id: ir::LocalId) -> bool {
        self.function.is_some_and(|f| self.dialect.in_frame(f, id))
    }

    /// The value of a place: zero where an index is outside.
    pub(crate) fn load(&self, place: &Place) -> Term {
        self.value_at(self.place(place), &place.ty)
    }

    fn value_at(&self, at: CPlace, ty: &Ty) -> Term {
        let c = CType::of(ty);
        if let Some(call) = at.call {
            // As a choice, a struct that is returned is nowhere.
            let binds = if ty.is_scalar() { Binds::Primary } else { Binds::Choice };
            return Term { text: call, binds, c };
        }
        let Some(guard) = at.guard else { return Term::primary(at.text, c) };
        let zero =
            if ty.is_scalar() { self.literal(0, ty) } else { format!("({}){{0}}", self.names.ctype(ty)) };
        Term { text: format!("{guard} ? {} : {zero}", at.text), binds: Binds::Choice, c }
    }

    /// An element of a constant array.
    pub(crate) fn element(&self, id: ir::ArrayId, at: &ir::Expr) -> Term {
        let def = &self.p.arrays[id.index()];
        let (index, guard) = self.index_below(at, def.values.len() as u32);
        let text = format!("{}[{}]", self.names.declared(&def.name), index.text);
        self.value_at(CPlace { text, guard, call: None }, &def.ty)
    }

    /// An index of an array of `n` elements, and what must hold for it to be one.
    pub(crate) fn index_below(&self, index: &ir::Expr, n: u32) -> (Term, Option<String>) {
        let term = self.index(index);
        if matches!(index.kind, ir::ExprKind::Lit(v) if v < u64::from(n)) {
            return (term, None);
        }
        let guard = format!("{} < {n}u", term.beside(Binds::Order, true));
        (self.dialect.index(term, n), Some(guard))
    }

    /// C for a local.
    pub fn local(&self, id: ir::LocalId) -> String {
        if self.in_frame(id) { self.dialect.frame_member(self, id) } else { self.c_name(id) }
    }

    /// The local's own name.
    pub fn c_name(&self, id: ir::LocalId) -> String {
        self.function.map_or_else(String::new, |f| safe(&f.locals[id.index()].name))
    }

    /// What stands to the left of `=` where a local begins to live with a value.
    pub(crate) fn declared_local(&self, id: ir::LocalId) -> String {
        let name = self.local(id);
        if self.in_frame(id) {
            return name;
        }
        self.names.declaration(self.local_type(id), &name)
    }

    /// The type of a local of the function that is written.
    pub fn local_type(&self, id: ir::LocalId) -> &Ty {
        self.function.map_or(&Ty::Void, |f| &f.locals[id.index()].ty)
    }

    /// Whether the local is a pointer to what the chain works on.
    pub(crate) fn is_reference(&self, id: ir::LocalId) -> bool {
        self.function.is_some_and(|f| id.0 < f.params && f.locals[id.index()].ty.is_by_ref())
    }

    /// An index of which it is known that it is below `n`, where the verifier sees it too.
    pub fn bounded(&self, index: String, n: u32) -> String {
        self.dialect.index(Term::primary(index, CType::Unsigned(32)), n).text
    }

    /// The address of a local of an aggregate type.
    pub(crate) fn address(&self, id: ir::LocalId) -> String {
        if self.is_reference(id) { self.local(id) } else { format!("&{}", self.local(id)) }
    }

    /// C for a place, and the condition under which it is there.
    pub fn place(&self, place: &Place) -> CPlace {
        let mut text = self.local(place.root);
        let mut ty = self.local_type(place.root).clone();
        let mut arrow = self.is_reference(place.root);
        let mut guards = Vec::new();
        // The call that reads the last element of a list on the way, and how far the place went with it.
        let mut element = None;
        for proj in &place.path {
            let dot = if std::mem::take(&mut arrow) { "->" } else { "." };
            match proj {
                Proj::Field(at) => {
                    let (name, field) = self.field(&ty, *at);
                    text = format!("{text}{dot}{name}");
                    ty = field;
                }
                Proj::Index(index) => {
                    if let Ty::Array(element, n) = ty {
                        let (index, guard) = self.index_below(index, n);
                        guards.extend(guard);
                        text = format!("{text}[{}]", index.text);
                        ty = *element;
                    }
                }
                Proj::Elem(index) => {
                    let (at, guard, get) = self.list_element(&text, dot, &ty, index);
                    guards.push(guard);
                    text = at;
                    element = Some((get, text.len()));
                    if let Ty::List(element, _, _) = ty {
                        ty = *element;
                    }
                }
                Proj::CtxId => {
                    text = format!("{text}{dot}id__");
                    if let Ty::Context(ctx) = ty {
                        ty = Ty::Id(self.p.contexts[ctx.index()].id);
                    }
                }
                Proj::Token => text = format!("{text}{dot}token__"),
                Proj::FlowId => {
                    text = format!("{text}{dot}flow__");
                    ty = place.ty.clone();
                }
                Proj::Net(at) => {
                    let def = &self.p.net_header.fields[*at as usize];
                    let through = if ty == Ty::NetHeader { "" } else { "net__." };
                    text = format!("{text}{dot}{through}{}", net_member(def.field));
                    ty = def.ty.clone();
                }
                Proj::OptField(opt, at) => {
                    let def = &self.p.opts[opt.index()];
                    if let Some((field, of)) = def.field(*at as usize) {
                        text = format!("{text}{dot}opts__.{}.{}", safe(&def.name), safe(field));
                        ty = of;
                    }
                }
                Proj::PayloadLen => text = format!("{text}{dot}payload__.len"),
                Proj::PayloadAddr => {
                    // The packet is read-only, but an address is also what applications give to be written.
                    text = format!(
                        "((struct carrick_addr){{(uint8_t *)(uintptr_t){text}{dot}payload__.ptr, {text}{dot}payload__.len, 0}})"
                    );
                }
            }
        }
        let call = element.filter(|_| guards.len() == 1).map(|(get, to)| format!("{get}{}", &text[to..]));
        let guard = (!guards.is_empty()).then(|| guards.join(" && "));
        CPlace { text, guard, call }
    }

    /// An element of the list at `list`: its place, what must hold for it to be there, and the call that reads it.
    fn list_element(&self, list: &str, dot: &str, ty: &Ty, index: &ir::Expr) -> (String, String, String) {
        let term = self.index(index);
        let guard = format!("{} < {list}{dot}len", term.beside(Binds::Order, true));
        let address = if dot == "->" { list.to_owned() } else { format!("&{list}") };
        let get = format!("{}({address}, {})", get_name(&self.names.ctype(ty)), term.text);
        let bounded = self.dialect.index(term, list_bound(ty));
        (format!("{list}{dot}items[{}]", bounded.text), guard, get)
    }

    /// C for a field from a value of the type on, and the field's type.
    fn field(&self, ty: &Ty, at: u32) -> (String, Ty) {
        let at = at as usize;
        let p = self.p;
        let field = match ty {
            Ty::Struct(id) => &p.structs[id.index()].fields[at],
            Ty::Scratch(id) => &p.scratchpads[id.index()].fields[at],
            Ty::Id(id) => &p.ids[id.index()].parts[at],
            Ty::Event(id) => &p.events[id.index()].fields[at],
            Ty::Context(id) => {
                let ctx = &p.contexts[id.index()];
                return (self.member(ctx, &ctx.fields[at]), ctx.fields[at].ty.clone());
            }
            Ty::Blueprint(id) => {
                let field = &p.blueprints[id.index()].fields[at];
                return (safe(&field.name), field.ty.clone());
            }
            _ => return (String::new(), Ty::Void),
        };
        (safe(&field.name), field.ty.clone())
    }
}

/// The member of the struct of a network header.
pub fn net_member(field: NetField) -> &'static str {
    match field {
        NetField::SrcIp => "src",
        NetField::DstIp => "dst",
        NetField::Protocol => "protocol",
        NetField::Ttl => "ttl",
        NetField::Tos => "tos",
        NetField::PayloadLen => "payload_len",
        NetField::Interface => "interface",
        NetField::Segments => "segments",
        NetField::SegmentCount => "segment_count",
        NetField::SegmentsLeft => "segments_left",
        NetField::SegmentFlags => "segment_flags",
        NetField::SegmentTag => "segment_tag",
    }
}
