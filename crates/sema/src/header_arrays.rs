// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrays in headers: each element, or each field of an element that is a struct, becomes a field of its own.

use carrick_ir::{self as ir, FieldElement, MOST_ELEMENTS, Ty};
use carrick_syntax::ast::{Expr, Field, Ident, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::types::is_int;
use crate::{Checker, codes};

/// A field of the header, of those that one declaration stands for.
pub(crate) struct Piece {
    pub name: String,
    pub ty: Ty,
    pub bits: u32,
    pub element: Option<FieldElement>,
}

impl Checker<'_> {
    /// The fields that a declaration stands for; `bits`: the width if its layout says it.
    pub(crate) fn pieces(&mut self, field: &Field, bits: Option<u32>) -> Vec<Piece> {
        if let Some(length) = &field.array {
            return self.elements(field, length);
        }
        let ty = self.header_type(field);
        let bits = bits.unwrap_or_else(|| self.field_bits(field, &ty));
        vec![Piece { name: field.name.name.clone(), ty, bits, element: None }]
    }

    fn elements(&mut self, field: &Field, length: &Expr) -> Vec<Piece> {
        let parts = self.parts_of_element(field);
        // Uses of what is wrong are not reported.
        let parts = parts.unwrap_or_else(|| vec![(None, Ty::Void, 8)]);
        let each = parts.len() as u32;
        let of = match self.length(length) {
            Some(n) if n.saturating_mul(each) > MOST_ELEMENTS => {
                let message = format!("`{}` has too many elements", field.name.name);
                self.report(
                    Diagnostic::error(codes::ARRAY_LENGTH, message, length.span, "too long")
                        .note(format!("an array in a header has at most {MOST_ELEMENTS} fields in all"))
                        .mend("make it shorter, or use the payload"),
                );
                MOST_ELEMENTS / each.max(1)
            }
            Some(n) => n,
            None => MOST_ELEMENTS / each.max(1),
        };
        let array = &field.name.name;
        let piece = |at: u32, (part, ty, bits): &(Option<ir::ElementPart>, Ty, u32)| {
            let name = match part {
                Some(part) => format!("{array}_{at}_{}", part.name),
                None => format!("{array}_{at}"),
            };
            let element = FieldElement { array: array.clone(), at, of, part: part.clone() };
            Piece { name, ty: ty.clone(), bits: *bits, element: Some(element) }
        };
        (0..of).flat_map(|at| parts.iter().map(move |part| piece(at, part))).collect()
    }

    /// The fields that each element takes, with their widths.
    fn parts_of_element(&mut self, field: &Field) -> Option<Vec<(Option<ir::ElementPart>, Ty, u32)>> {
        if let TypeKind::Name(name) = &field.ty.kind
            && matches!(name.as_str(), "checksum16_t" | "crc32_t")
        {
            return self.no_header_array(field, "computed over the packet", "declare it alone");
        }
        let ty = self.header_type(field);
        let Ty::Struct(id) = ty else {
            let bits = self.field_bits(field, &ty);
            return Some(vec![(None, ty, bits)]);
        };
        if let Some(bits) = &field.bits {
            self.report(
                Diagnostic::error(
                    codes::BIT_WIDTH,
                    format!("`{}` cannot have this width", field.name.name),
                    bits.span,
                    "an array of structs",
                )
                .note("the fields of a struct have the widths of their types")
                .mend("remove the width, or declare an array for each field of the struct"),
            );
            return None;
        }
        let fields = self.program.structs.get(id.index())?.fields.clone();
        let wrong = fields.iter().find(|f| !(is_int(&f.ty) || matches!(f.ty, Ty::Seq32 | Ty::Enum(_))));
        if let Some(wrong) = wrong.filter(|f| f.ty != Ty::Void) {
            let label = format!("its `{}` is a `{}`", wrong.name, self.name(&wrong.ty));
            let mend = "declare a struct of integers, `seq32` and enums for it";
            return self.no_header_array(field, &label, mend);
        }
        let part = |f: &ir::FieldDef| {
            let bits = ir::arith::shape(self.repr(&f.ty)).0;
            (Some(ir::ElementPart { of: id, name: f.name.clone() }), f.ty.clone(), bits)
        };
        Some(fields.iter().map(part).collect::<Vec<_>>()).filter(|parts| !parts.is_empty())
    }

    fn no_header_array<T>(&mut self, field: &Field, label: &str, mend: &str) -> Option<T> {
        let name = &field.name.name;
        self.report(
            Diagnostic::error(
                codes::HEADER_ARRAY,
                format!("`{name}` cannot be an array"),
                field.ty.span,
                label.to_owned(),
            )
            .note("the elements of an array in a header are integers, `seq32`, enums, or structs of these")
            .mend(mend),
        );
        None
    }

    /// Reports fields that are named as targets name an element of an array.
    pub(crate) fn check_element_names(&mut self, bp: &ir::BlueprintDef, fields: &[Field]) {
        let elements: Vec<&ir::BpField> = bp.fields.iter().filter(|f| f.element.is_some()).collect();
        for (at, element) in elements.iter().enumerate() {
            let twin = elements[..at].iter().find(|other| other.name == element.name);
            let named = match twin {
                Some(twin) => twin.declared(),
                None => element.name.as_str(),
            };
            let array = fields.iter().find(|f| f.name.name == element.declared());
            let (Some(other), Some(array)) = (fields.iter().find(|f| f.name.name == named), array) else {
                continue;
            };
            self.report(
                Diagnostic::error(
                    codes::FIELD_TWICE,
                    format!("`{}` is also the name of `{}`", element.name, element.written()),
                    other.name.span,
                    "this name",
                )
                .cause(array.name.span, "the array")
                .note("generated code, traces and dissectors name the elements of an array in a header like this")
                .mend("give one of them another name"),
            );
            return;
        }
    }

    /// The fields of an array begin as the least that they can be.
    pub(crate) fn array_initialiser(&mut self, bp: ir::BpId, field: &Field) {
        if let Some(init) = &field.init {
            self.report(
                Diagnostic::error(
                    codes::FIELD_INITIAL,
                    "only scalars have an initial value",
                    init.span,
                    "of an array",
                )
                .mend("it starts as zeros; set its elements before `pkt_gen`"),
            );
        }
        let fields = self.program.blueprints[bp.index()].fields.iter().enumerate();
        let own = fields.filter(|(_, f)| f.element.is_some() && f.declared() == field.name.name);
        for at in own.map(|(at, _)| at).collect::<Vec<_>>() {
            self.least_of_range(bp, at, field.span);
        }
    }

    /// The number of the one field of a blueprint that a declaration names.
    pub(crate) fn single_field(&mut self, bp: ir::BpId, field: &Ident) -> Option<u32> {
        let def = &self.program.blueprints[bp.index()];
        if let Some(at) = def.field_named(&field.name) {
            return Some(at);
        }
        if def.array_named(&field.name).is_some() {
            self.report(
                Diagnostic::error(
                    codes::HEADER_ARRAY,
                    format!("`{}` is an array", field.name),
                    field.span,
                    "not a single field",
                )
                .mend("name a field that is not an array"),
            );
            return None;
        }
        let names: Vec<String> = def.declared_names().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.unknown(codes::UNKNOWN_FIELD, "field", field, &names);
        None
    }
}
