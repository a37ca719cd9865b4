// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where `optional` may stand, and which fields of events are optional.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Field, ItemKind, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// The test of an optional field.
pub(crate) const PRESENT: &str = "present";

/// Why a field cannot be optional.
struct Reason {
    message: String,
    label: &'static str,
    mend: &'static str,
}

impl Checker<'_> {
    /// `optional` stands in events only.
    pub(crate) fn check_optional_places(&mut self) {
        let file = self.file;
        let others = file.items.iter().filter(|item| !matches!(item.kind, ItemKind::Event { .. }));
        for field in others.flat_map(|item| item.kind.fields()) {
            let Some(word) = field.optional else { continue };
            let reason = Reason {
                message: "only fields of events are optional".to_owned(),
                label: "not in an event",
                mend: "add a `bool` that says whether the field is set",
            };
            self.not_optional(word, reason);
        }
    }

    /// Which fields of an event are optional. Before each is the field that says whether it is there.
    pub(crate) fn optional_fields(&mut self, kind: ir::EventKind, fields: &[Field]) -> Vec<u32> {
        let mut optional = Vec::new();
        for (at, field) in (0..).zip(fields) {
            let Some(word) = field.optional else { continue };
            match self.why_not_optional(kind, field) {
                Some(reason) => self.not_optional(word, reason),
                None if at > 0 => optional.push(at),
                None => {}
            }
        }
        optional
    }

    fn why_not_optional(&self, kind: ir::EventKind, field: &Field) -> Option<Reason> {
        let (message, label, mend) = match kind {
            ir::EventKind::App => (
                "a request has all its fields".to_owned(),
                "the caller gives them",
                "let a value of the field mean that it is not set",
            ),
            ir::EventKind::Timer => (
                "a timer event has all its fields".to_owned(),
                "given when the timer starts",
                "let a value of the field mean that it is not set",
            ),
            _ if self.has_own_test(field) => (
                format!("the type of `{}` has a field `{PRESENT}`", field.name.name),
                "which of the two is tested?",
                "give that field another name",
            ),
            _ => return None,
        };
        Some(Reason { message, label, mend })
    }

    /// Whether the fields of a value of this type are among others `present`.
    fn has_own_test(&self, field: &Field) -> bool {
        let TypeKind::Name(ty) = &field.ty.kind else { return false };
        let named = |name: &str| name == PRESENT;
        self.file.items.iter().any(|item| match &item.kind {
            ItemKind::Struct { name, fields } => {
                name.name == *ty && fields.iter().any(|f| named(&f.name.name))
            }
            ItemKind::Id { name, parts } => name.name == *ty && parts.iter().any(|p| named(&p.name.name)),
            _ => false,
        })
    }

    fn not_optional(&mut self, word: Span, reason: Reason) {
        self.report(
            Diagnostic::error(codes::OPTIONAL_FIELD, reason.message, word, reason.label)
                .note("a field is optional in net events, sent events and flow events")
                .mend(reason.mend),
        );
    }

    /// Whether this field of a value of this type is optional.
    pub(crate) fn is_optional(&self, ty: &Ty, field: u32) -> bool {
        let Ty::Event(event) = ty else { return false };
        self.program.events.get(event.index()).is_some_and(|def| def.optional.contains(&field))
    }

    /// Whether this field says whether the next one is there.
    pub(crate) fn is_presence(&self, ty: &Ty, field: u32) -> bool {
        self.is_optional(ty, field + 1)
    }
}
