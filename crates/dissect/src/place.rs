// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places: what can be read, and mostly written.

use carrick_ir::{ExprKind, OptId, Place, Proj, Ty};

use crate::emitter::Emitter;
use crate::names::{field, net_field, option_field};
use crate::types::Rep;

impl Emitter<'_> {
    /// What a place holds.
    pub(crate) fn load(&self, place: &Place) -> String {
        self.steps(place, place.path.len()).0
    }

    /// Writes a value into a place.
    pub(crate) fn store(&self, place: &Place, value: &str) -> String {
        match place.path.split_last() {
            Some((Proj::Index(at) | Proj::Elem(at), before)) => {
                let (list, _) = self.steps(place, before.len());
                format!("put({list}, {}, {value})", self.number(at))
            }
            _ => format!("{} = {value}", self.load(place)),
        }
    }

    /// Where the first steps lead, and the type there.
    fn steps(&self, place: &Place, count: usize) -> (String, Ty) {
        let mut at = (self.local(place.root), self.local_ty(place.root).clone());
        for proj in &place.path[..count.min(place.path.len())] {
            at = self.step(&at.0, &at.1, proj);
        }
        at
    }

    fn step(&self, base: &str, ty: &Ty, proj: &Proj) -> (String, Ty) {
        match proj {
            Proj::Field(i) => match self.field_of(ty, *i as usize) {
                Some((name, ty)) => (field(base, &name), ty),
                None => (self.refuse("the parser uses a field that dissectors do not support"), Ty::Void),
            },
            Proj::Index(at) | Proj::Elem(at) => {
                let (Ty::Array(of, _) | Ty::List(of, ..)) = ty else {
                    return (self.refuse("the parser uses an element of an unknown type"), Ty::Void);
                };
                (format!("element({base}, {}, {})", self.number(at), self.zero(of)), (**of).clone())
            }
            Proj::Net(i) => {
                let Some(def) = self.p.net_header.fields.get(*i as usize) else {
                    return (self.refuse("the parser uses an unknown field of the network header"), Ty::Void);
                };
                let net = if *ty == Ty::NetHeader { base.to_owned() } else { field(base, "net") };
                (field(&net, net_field(def.field)), def.ty.clone())
            }
            Proj::Token => ("u64(0)".to_owned(), Ty::Token),
            Proj::FlowId => {
                (self.refuse("the parser reads a flow id, which dissectors do not support"), Ty::Void)
            }
            Proj::OptField(opt, i) => {
                let found = self.p.opts.get(opt.index()).and_then(|o| o.field(*i as usize));
                let (name, of) = found.unwrap_or(("", Ty::Void));
                (field(&self.option(base, ty, *opt), option_field(name)), of)
            }
            Proj::PayloadLen => (field(&self.payload(base, ty), "len"), Ty::Bytes),
            Proj::PayloadAddr => (field(&self.payload(base, ty), "addr"), Ty::Addr),
            Proj::CtxId => (self.refuse("the parser uses a context, and a capture has none"), Ty::Void),
        }
    }

    fn field_of(&self, ty: &Ty, at: usize) -> Option<(String, Ty)> {
        let fields = match ty {
            Ty::Struct(id) => &self.p.structs.get(id.index())?.fields,
            Ty::Event(id) => &self.p.events.get(id.index())?.fields,
            Ty::Id(id) => &self.p.ids.get(id.index())?.parts,
            Ty::Blueprint(id) => {
                let field = self.p.blueprints.get(id.index())?.fields.get(at)?;
                return Some((field.name.clone(), field.ty.clone()));
            }
            _ => return None,
        };
        fields.get(at).map(|f| (f.name.clone(), f.ty.clone()))
    }

    /// An option of the blueprint at `base`.
    pub(crate) fn option(&self, base: &str, ty: &Ty, opt: OptId) -> String {
        let bp = if let Ty::Blueprint(id) = ty { self.p.blueprints.get(id.index()) } else { None };
        let list = bp.and_then(|bp| bp.options_name.as_deref()).unwrap_or_default();
        let name = self.p.opts.get(opt.index()).map_or("", |o| &o.name);
        field(&field(base, list), name)
    }

    fn payload(&self, base: &str, ty: &Ty) -> String {
        let bp = if let Ty::Blueprint(id) = ty { self.p.blueprints.get(id.index()) } else { None };
        field(base, bp.and_then(|bp| bp.payload_name.as_deref()).unwrap_or_default())
    }

    /// An expression as a Lua number: for counts and indices, of which only small ones matter.
    pub(crate) fn number(&self, e: &carrick_ir::Expr) -> String {
        match (&e.kind, self.rep(&e.ty)) {
            (ExprKind::Lit(n), Rep::Wide { .. }) if *n < 1 << 32 => n.to_string(),
            (ExprKind::Cast(a), Rep::Wide { .. })
                if matches!(self.rep(&a.ty), Rep::Narrow { signed: false, .. }) =>
            {
                self.expr(a)
            }
            (_, Rep::Wide { .. }) => format!("{}:tonumber()", self.expr(e)),
            _ => self.expr(e),
        }
    }
}
