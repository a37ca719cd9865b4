// SPDX-License-Identifier: MIT OR Apache-2.0
//! `optional T x;` in an event: two fields, `bool has_x` and `T x`, as programs without the word write them.

use crate::ast::*;

/// Puts before each optional field of an event the field that says whether it is there.
pub(super) fn expand(tree: &mut File) {
    for item in &mut tree.items {
        if let ItemKind::Event { fields, .. } = &mut item.kind
            && fields.iter().any(|field| field.optional.is_some())
        {
            *fields = std::mem::take(fields).into_iter().flat_map(with_presence).collect();
        }
    }
}

fn with_presence(field: Field) -> impl Iterator<Item = Field> {
    let Ident { name, span } = &field.name;
    let ty = Type { kind: TypeKind::Name("bool".to_owned()), span: field.ty.span };
    let presence = Field {
        doc: format!("whether `{name}` is there"),
        span: field.span,
        ..Field::plain(ty, Ident { name: format!("has_{name}"), span: *span })
    };
    field.optional.map(|_| presence).into_iter().chain([field])
}
