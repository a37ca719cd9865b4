// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options that end with a list: what it may be, and how long the option gets.

use carrick_ir::{self as ir, OptElements, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Field, Ident, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// The fields of an option before its list, and the list, if it is the last field.
pub(crate) fn split_list(fields: &[Field]) -> (&[Field], Option<&Field>) {
    match fields.split_last() {
        Some((last, before)) if matches!(last.ty.kind, TypeKind::List(..)) && last.array.is_none() => {
            (before, Some(last))
        }
        _ => (fields, None),
    }
}

impl Checker<'_> {
    /// Reports fields before the list that have several values too; whether there are any.
    pub(crate) fn several_values(&mut self, fields: &[Field]) -> bool {
        let several = |f: &&Field| f.array.is_some() || !matches!(f.ty.kind, TypeKind::Name(_));
        let mut found = false;
        for field in fields.iter().filter(several) {
            found = true;
            self.elements_error(
                field.span,
                format!("`{}` is not a list at the end of an option", field.name.name),
                "several values",
                "write `list<T, N>`, as the last field",
            );
        }
        found
    }

    /// `list<T, N> name in lo..N;`, the last field of an option.
    pub(crate) fn option_elements(&mut self, field: &Field) -> Option<OptElements> {
        let Ty::List(element, most, _) = self.resolve(&field.ty)? else { return None };
        let list = OptElements { name: field.name.name.clone(), element: *element, least: 0, most };
        let parts = list.parts(&self.program);
        if parts.is_empty() || !parts.iter().all(|(_, ty)| matches!(ty, Ty::Int { .. } | Ty::Seq32)) {
            let found = self.name(&list.element);
            self.elements_error(
                field.ty.span,
                format!("a `{found}` cannot be in the list of an option"),
                "not made of integers",
                "use an integer type, `seq32`, or a struct of these",
            );
            return None;
        }
        Some(OptElements { least: self.fewest(field, most)?, ..list })
    }

    /// The fewest elements: 0, or what the field's range says.
    fn fewest(&mut self, field: &Field, most: u32) -> Option<u32> {
        let Some((lo, hi)) = &field.range else { return Some(0) };
        let (least, end) = (self.constant(lo, &Ty::U32)?, self.constant(hi, &Ty::U32)?);
        if end == u64::from(most) && least <= end {
            return Some(least as u32);
        }
        self.elements_error(
            lo.span.to(hi.span),
            format!("`{}` cannot have this range", field.name.name),
            "the fewest and the most elements",
            &format!("write `in LEAST..{most}`: {most} is the bound of the list"),
        );
        None
    }

    /// Reports an option that gets longer than its length can say.
    pub(crate) fn longest_option(&mut self, def: &mut ir::OptDef, name: &Ident) {
        let listed = def.most_listed(&self.program);
        let (fixed, limit) = match def.wide {
            Some(_) => (Self::longest_wide(def), u32::from(u16::MAX)),
            None => (u32::from(def.len), u32::from(u8::MAX)),
        };
        if def.list.is_some() && listed.saturating_add(fixed) > limit {
            self.elements_error(
                name.span,
                format!("`{}` can be longer than {limit} bytes", name.name),
                &format!("{fixed} bytes, and at most {listed} of the list"),
                "use fewer or smaller elements",
            );
            def.list = None;
        }
    }

    pub(crate) fn elements_error(&mut self, span: Span, message: String, label: &str, mend: &str) {
        self.report(
            Diagnostic::error(codes::OPTION_ELEMENTS, message, span, label.to_owned())
                .note(
                    "an option may end with one list; the length of the option says how many elements it has",
                )
                .mend(mend),
        );
    }
}
