// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is declared and never used: warnings.

use carrick_syntax::ast::{Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

impl Checker<'_> {
    /// Whether a feature that this build does not have mentions the name.
    pub(crate) fn is_left_out(&self, name: &str) -> bool {
        let words = self.left_out.get_or_init(|| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let texts =
                self.file.left_out.iter().filter_map(|s| self.text.get(s.start as usize..s.end as usize));
            texts.flat_map(|text| text.split(move |c| !is_part(c))).filter(|word| !word.is_empty()).collect()
        });
        words.contains(name)
    }

    /// Reports what is never used, unless there is an error, which may be why.
    pub(crate) fn report_unused(&mut self) {
        if self.has_errors() {
            return;
        }
        let file = self.file;
        for item in &file.items {
            let (what, name): (&str, &Ident) = match &item.kind {
                ItemKind::Const { name, .. } => ("constant", name),
                ItemKind::ConstArray { name, .. } => ("constant array", name),
                ItemKind::Param { name, .. } => ("parameter", name),
                ItemKind::Struct { name, .. } => ("struct", name),
                ItemKind::Id { name, .. } => ("id", name),
                ItemKind::OptUnion { name, .. } => ("option union", name),
                ItemKind::OptList { name, .. } => ("option list", name),
                ItemKind::Function { name, .. } => ("function", name),
                ItemKind::Scratchpad { name, .. } => ("scratchpad", name),
                ItemKind::Opt { name, .. } => ("option", name),
                ItemKind::SegRule { name, .. } => ("segmentation rule", name),
                ItemKind::CoalescingRule { name, .. } => ("coalescing rule", name),
                ItemKind::Blueprint { name, .. } => ("blueprint", name),
                _ => continue,
            };
            if !self.usage.has(&name.name) && !self.is_left_out(&name.name) {
                self.report(
                    Diagnostic::warning(
                        codes::UNUSED,
                        format!("the {what} `{}` is never used", name.name),
                        name.span,
                        "declared here",
                    )
                    .mend("use it or remove it"),
                );
            }
        }
    }
}
