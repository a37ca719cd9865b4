// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of contexts that can be sampled: those that are a number, also of structs in a context, and the lengths of lists.

use crate::{ContextDef, FieldDef, Program, Ty};

/// A field that can be sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledField<'p> {
    /// the field, or the fields from the outermost struct to it
    pub path: Vec<&'p FieldDef>,
    /// their places among the fields of the context and of each struct
    pub places: Vec<usize>,
}

/// The fields of a context that can be sampled. A core and its host number them in this order.
pub fn sampled_fields<'p>(program: &'p Program, context: &'p ContextDef) -> Vec<SampledField<'p>> {
    let mut all = Vec::new();
    within(program, &context.fields, &SampledField { path: Vec::new(), places: Vec::new() }, &mut all);
    all
}

fn within<'p>(
    program: &'p Program,
    fields: &'p [FieldDef],
    before: &SampledField<'p>,
    all: &mut Vec<SampledField<'p>>,
) {
    for (place, field) in fields.iter().enumerate() {
        let mut here = before.clone();
        here.path.push(field);
        here.places.push(place);
        match &field.ty {
            Ty::Struct(id) => within(program, &program.structs[id.index()].fields, &here, all),
            ty if unit(ty).is_some() => all.push(here),
            _ => {}
        }
    }
}

/// What a number of this type counts; nothing if it is none.
pub fn unit(ty: &Ty) -> Option<&'static str> {
    match ty {
        Ty::Int { .. } | Ty::Fixed | Ty::List(..) => Some("number"),
        Ty::Duration => Some("ns"),
        Ty::Bytes => Some("bytes"),
        Ty::Rate => Some("bps"),
        _ => None,
    }
}
