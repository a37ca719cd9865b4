// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose kind and length are variable-length integers.

use carrick_ir::part::{VARINT_MAX, VARINT_OCTETS};
use carrick_ir::{self as ir, Ty};
use carrick_syntax::ast::{Field, Ident, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

pub(crate) fn is_varint(field: &Field) -> bool {
    matches!(&field.ty.kind, TypeKind::Name(n) if n == "varint_t")
}

impl Checker<'_> {
    /// `opt_t o { varint_t kind = K; varint_t len; ... }`
    pub(crate) fn wide_option(&mut self, def: &mut ir::OptDef, name: &Ident, fields: &[Field]) {
        (def.len, def.wide) = (0, Some(0));
        let kind = match fields.first() {
            Some(field) if field.name.name == "kind" => {
                field.init.as_ref().and_then(|e| self.constant(e, &Ty::U64)).filter(|k| *k <= VARINT_MAX)
            }
            _ => None,
        };
        let len = fields.get(1).is_some_and(|f| f.name.name == "len" && is_varint(f) && f.init.is_none());
        let (Some(kind), true) = (kind, len) else {
            self.report(
                Diagnostic::error(
                    codes::OPTION_SHAPE,
                    "an option begins with its kind and length",
                    name.span,
                    "this option",
                )
                .note("the length is computed, and counts the fields after it")
                .mend("begin with `varint_t kind = K; varint_t len;`, with K below 2^62"),
            );
            return;
        };
        def.wide = Some(kind);
        for field in &fields[2..] {
            let varint = is_varint(field);
            let ty = match varint {
                true => Ty::U64,
                false => self.option_field_type(field, "uint8, uint16, uint32, uint64, seq32 or varint_t"),
            };
            let fixed = field.init.as_ref().and_then(|e| self.constant(e, &ty));
            def.fields.push(ir::OptField { name: field.name.name.clone(), ty, varint, fixed });
        }
    }

    /// All options of a list have the same kind of head.
    pub(crate) fn same_heads(&mut self, members: &[ir::OptId], align: u64, name: &Ident) {
        let wide = |m: &ir::OptId| self.program.opts[m.index()].wide.is_some();
        let count = members.iter().filter(|m| wide(m)).count();
        let message = if count != 0 && count != members.len() {
            "a list cannot mix options with fixed-size heads and options with variable-length heads"
        } else if count != 0 && align != 1 {
            "options with variable-length heads cannot be aligned"
        } else {
            return;
        };
        self.report(
            Diagnostic::error(codes::OPTION_HEADS, message, name.span, "this list")
                .note("a receiver finds the next option by the length of the one before")
                .mend("declare all options with `uint8 kind` and `len`, or all with `varint_t`, without `align`"),
        );
    }

    /// The most bytes that an option takes.
    pub(crate) fn longest_wide(def: &ir::OptDef) -> u32 {
        let fields = def.fields.iter();
        let value: u32 =
            fields.map(|f| if f.varint { VARINT_OCTETS } else { ir::arith::shape(&f.ty).0 / 8 }).sum();
        2 * VARINT_OCTETS + value
    }
}
