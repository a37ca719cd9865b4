//! What is declared and never used: warnings.

use std::collections::BTreeSet;

use carrick_syntax::ast::{Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// The top-level names that something refers to.
#[derive(Debug, Default)]
pub struct Usage {
    names: BTreeSet<String>,
}

impl Usage {
    pub fn mark(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }
}

impl Checker<'_> {
    pub(crate) fn report_unused(&mut self) {
        let file = self.file;
        for item in &file.items {
            let (what, name): (&str, &Ident) = match &item.kind {
                ItemKind::Const { name, .. } => ("constant", name),
                ItemKind::Param { name, .. } => ("parameter", name),
                ItemKind::Struct { name, .. } => ("struct", name),
                ItemKind::Function { name, .. } => ("function", name),
                ItemKind::Scratchpad { name, .. } => ("scratchpad", name),
                ItemKind::Opt { name, .. } => ("option", name),
                ItemKind::SegRule { name, .. } => ("segmentation rule", name),
                ItemKind::CoalescingRule { name, .. } => ("coalescing rule", name),
                ItemKind::Blueprint { name, .. } => ("blueprint", name),
                _ => continue,
            };
            if !self.usage.names.contains(&name.name) {
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
