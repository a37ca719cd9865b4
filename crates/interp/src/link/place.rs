// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places.

use carrick_ir::{LocalId, Place as IrPlace, Proj, Ty};

use super::expr::Scope;
use super::linker::Linker;
use crate::code::*;
use crate::layout::*;

impl Linker<'_> {
    /// A local as a whole: what it refers to, if it is a reference.
    pub(crate) fn local(&self, id: LocalId, scope: Scope) -> Result<(Place, Ty), String> {
        let Scope::Frame(frame) = scope else { return Err("a local outside functions".to_owned()) };
        let local = frame.locals.get(id.index()).ok_or("no such local")?;
        let place = |root, offset| Place { root, offset, indices: Vec::new() };
        let whole =
            if local.by_ref { place(Root::Ref(local.cell), 0) } else { place(Root::Frame, local.cell) };
        Ok((whole, local.ty.clone()))
    }

    pub(crate) fn place(&self, p: &IrPlace, scope: Scope) -> Result<Place, String> {
        let (mut place, mut ty) = self.local(p.root, scope)?;
        for proj in &p.path {
            match proj {
                Proj::Index(at) => {
                    let Ty::Array(of, n) = ty else { return Err("an index of what is no array".to_owned()) };
                    self.index(&mut place, at, Bound::Fixed(n), &of, scope)?;
                    ty = *of;
                }
                Proj::Elem(at) => {
                    let Ty::List(of, _, _) = ty else {
                        return Err("an element of what is no list".to_owned());
                    };
                    self.index(&mut place, at, Bound::Len, &of, scope)?;
                    ty = *of;
                }
                proj => {
                    let (offset, of) = self.field(&ty, proj)?;
                    advance(&mut place, offset);
                    ty = of;
                }
            }
        }
        Ok(place)
    }

    fn index(
        &self,
        place: &mut Place,
        at: &carrick_ir::Expr,
        bound: Bound,
        of: &Ty,
        scope: Scope,
    ) -> Result<(), String> {
        let stride = self.layout.size(of);
        match (self.expr(at, scope)?, bound) {
            (Ex::Lit(i), Bound::Fixed(n)) if i < u64::from(n) => advance(place, i as u32 * stride),
            (at, bound) => place.indices.push(Index { at, bound, stride, then: 0 }),
        }
        Ok(())
    }

    /// A part that lies at a fixed offset: the offset, and its type.
    fn field(&self, ty: &Ty, proj: &Proj) -> Result<(u32, Ty), String> {
        let (p, l) = (self.program, self.layout);
        Ok(match (ty, proj) {
            (Ty::Struct(s), Proj::Field(i)) => {
                (l.struct_fields(*s).fields[*i as usize], p.structs[s.index()].fields[*i as usize].ty.clone())
            }
            (Ty::Scratch(s), Proj::Field(i)) => (
                l.scratch[s.index()].fields[*i as usize],
                p.scratchpads[s.index()].fields[*i as usize].ty.clone(),
            ),
            (Ty::Event(e), Proj::Field(i)) => {
                (l.events[e.index()].fields[*i as usize], p.events[e.index()].fields[*i as usize].ty.clone())
            }
            (Ty::Context(c), Proj::Field(i)) => (
                l.contexts[c.index()].fields[*i as usize],
                p.contexts[c.index()].fields[*i as usize].ty.clone(),
            ),
            (Ty::Id(id), Proj::Field(i)) => {
                (l.part_of_id(p, *id, *i as usize).start, p.ids[id.index()].parts[*i as usize].ty.clone())
            }
            (Ty::Context(c), Proj::CtxId) => (CTX_ID, Ty::Id(p.contexts[c.index()].id)),
            (Ty::Event(_), Proj::Token) => (0, Ty::Token),
            (Ty::Event(e), Proj::FlowId) => match p.events[e.index()].id {
                Some(id) => (EVENT_ID, Ty::Id(id)),
                None => return Err("an event without a flow id".to_owned()),
            },
            (Ty::NetHeader | Ty::Blueprint(_), Proj::Net(i)) => {
                (l.net_fields[*i as usize], p.net_header.fields[*i as usize].ty.clone())
            }
            (Ty::Blueprint(b), proj) => self.blueprint_field(b.index(), proj)?,
            _ => return Err("a part of what has none".to_owned()),
        })
    }

    fn blueprint_field(&self, bp: usize, proj: &Proj) -> Result<(u32, Ty), String> {
        let layout = &self.layout.blueprints[bp];
        Ok(match proj {
            Proj::Field(i) => (layout.fields + i, self.program.blueprints[bp].fields[*i as usize].ty.clone()),
            Proj::OptField(opt, i) => {
                let (_, ty) =
                    self.program.opts[opt.index()].field(*i as usize).ok_or("an option has no such field")?;
                (layout.option(*opt)? + 1 + i, ty)
            }
            Proj::PayloadLen => (layout.payload + PAYLOAD_LEN, Ty::Bytes),
            Proj::PayloadAddr => (layout.payload + PAYLOAD_ADDR, Ty::Addr),
            _ => return Err("a blueprint has no such part".to_owned()),
        })
    }
}

fn advance(place: &mut Place, by: u32) {
    match place.indices.last_mut() {
        Some(last) => last.then += by,
        None => place.offset += by,
    }
}
