// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places: each step is possible on what the steps before lead to.

use super::check::Check;
use crate::{BpFieldKind, EventKind, FieldDef, Place, Proj, Ty};

/// Why a place cannot be read or written.
const NO_SUCH_PART: &str = "a place has no such part";

impl Check<'_> {
    pub(super) fn place(&mut self, place: &Place) {
        let Some(root) = self.local(place.root) else { return };
        let mut ty = root.clone();
        for proj in &place.path {
            if let Proj::Index(index) | Proj::Elem(index) = proj {
                self.expr(index);
                self.must(matches!(index.ty, Ty::Int { .. }), "an index that is not an integer");
            }
            let Some(next) = self.part(&ty, proj) else { return self.fail(NO_SUCH_PART) };
            ty = next;
        }
        self.same(&ty, &place.ty, "a place");
    }

    /// A place that a statement changes.
    pub(super) fn written(&mut self, place: &Place) {
        self.place(place);
        let Some(root) = self.local_ty(place.root) else { return };
        self.must(!(root.is_by_ref() && place.path.is_empty()), "a reference is written");
        let mut ty = root.clone();
        for proj in &place.path {
            let fixed = match (&ty, proj) {
                (Ty::Id(_) | Ty::NetHeader, _) => true,
                (Ty::Blueprint(bp), Proj::Field(at)) => {
                    let fields = self.program.blueprints.get(bp.index()).map_or(&[][..], |b| &b.fields);
                    !fields.get(*at as usize).is_some_and(|f| matches!(f.kind, BpFieldKind::Plain { .. }))
                }
                (_, Proj::Field(_) | Proj::Index(_) | Proj::Elem(_) | Proj::Net(_)) => false,
                _ => true,
            };
            if fixed {
                return self.fail("what can only be read is written");
            }
            let Some(next) = self.part(&ty, proj) else { return };
            ty = next;
        }
    }

    /// What a step leads to from a value of type `ty`.
    fn part(&self, ty: &Ty, proj: &Proj) -> Option<Ty> {
        let p = self.program;
        match (ty, proj) {
            (_, Proj::Field(at)) => self.field(ty, *at as usize),
            (Ty::Array(element, _), Proj::Index(_)) | (Ty::List(element, _, _), Proj::Elem(_)) => {
                Some((**element).clone())
            }
            (Ty::Context(id), Proj::CtxId) => Some(Ty::Id(p.contexts.get(id.index())?.id)),
            (Ty::Event(id), Proj::Token) => {
                (p.events.get(id.index())?.kind == EventKind::App).then_some(Ty::Token)
            }
            (Ty::Event(id), Proj::FlowId) => p.events.get(id.index())?.id.map(Ty::Id),
            (Ty::Blueprint(_) | Ty::NetHeader, Proj::Net(at)) => {
                Some(p.net_header.fields.get(*at as usize)?.ty.clone())
            }
            (Ty::Blueprint(bp), Proj::OptField(opt, at)) => {
                let list = p.opt_lists.get(p.blueprints.get(bp.index())?.options?.index())?;
                let (_, ty) = p.opts.get(opt.index())?.field(*at as usize)?;
                list.members.contains(opt).then_some(ty)
            }
            (Ty::Blueprint(_), Proj::PayloadLen) => Some(Ty::Bytes),
            (Ty::Blueprint(_), Proj::PayloadAddr) => Some(Ty::Addr),
            _ => None,
        }
    }

    fn field(&self, ty: &Ty, at: usize) -> Option<Ty> {
        let p = self.program;
        let fields: &[FieldDef] = match ty {
            Ty::Struct(id) => &p.structs.get(id.index())?.fields,
            Ty::Scratch(id) => &p.scratchpads.get(id.index())?.fields,
            Ty::Id(id) => &p.ids.get(id.index())?.parts,
            Ty::Event(id) => &p.events.get(id.index())?.fields,
            Ty::Context(id) => &p.contexts.get(id.index())?.fields,
            Ty::Blueprint(id) => return Some(p.blueprints.get(id.index())?.fields.get(at)?.ty.clone()),
            _ => return None,
        };
        Some(fields.get(at)?.ty.clone())
    }
}
