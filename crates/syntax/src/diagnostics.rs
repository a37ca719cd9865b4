// SPDX-License-Identifier: MIT OR Apache-2.0
//! The diagnostics of a phase: all are counted, the first are kept.

use std::collections::{BTreeSet, HashSet};

use crate::assemble::codes;
use crate::diag::{Diagnostic, Severity};

/// How many errors, and how many warnings, are kept.
pub const KEPT_MAX: usize = 100;

/// A bounded list of diagnostics.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    errors: Counted,
    warnings: Counted,
    codes: BTreeSet<u16>,
    /// where those of all that were added begin
    starts: HashSet<u32>,
}

/// Those of one severity.
#[derive(Debug, Clone, Default)]
struct Counted {
    kept: usize,
    /// stands for those that are not kept
    rest: Option<Diagnostic>,
}

impl Diagnostics {
    /// Adds one, or counts it if enough of its severity are kept.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.codes.insert(diagnostic.code);
        self.starts.insert(diagnostic.primary.span.start);
        let counted = match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        match &mut counted.rest {
            Some(rest) => *rest = more(rest, rest.count + diagnostic.count),
            None if counted.kept < KEPT_MAX && diagnostic.code != codes::MORE => {
                counted.kept += 1;
                self.kept.push(diagnostic);
            }
            none => *none = Some(more(&diagnostic, diagnostic.count)),
        }
    }

    /// Adds several.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|d| self.push(d));
    }

    /// Whether further errors are only counted: then nobody reads what is suggested.
    pub fn is_full(&self) -> bool {
        self.errors.kept == KEPT_MAX
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors.kept > 0 || self.errors.rest.is_some()
    }

    /// Whether there is one with this code, kept or not.
    pub fn has(&self, code: u16) -> bool {
        self.codes.contains(&code)
    }

    /// Whether there is one that begins here, kept or not.
    pub fn is_at(&self, offset: u32) -> bool {
        self.starts.contains(&offset)
    }

    /// Those that are kept, in the order of the text, each once, then what stands for the rest.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        let mut all = self.kept;
        all.sort_by_key(|d| (d.primary.span.start, d.code));
        all.dedup();
        all.extend(self.errors.rest);
        all.extend(self.warnings.rest);
        all
    }
}

/// Stands for `count` diagnostics, the first of which is there where `first` is.
fn more(first: &Diagnostic, count: usize) -> Diagnostic {
    let what = match (first.severity, count) {
        (Severity::Error, 1) => "error",
        (Severity::Error, _) => "errors",
        (Severity::Warning, 1) => "warning",
        (Severity::Warning, _) => "warnings",
    };
    let message = format!("and {count} more {what}");
    let all = Diagnostic::error(codes::MORE, message, first.primary.span, "one of them");
    Diagnostic { severity: first.severity, count, ..all.mend("fix those above first") }
}

#[cfg(test)]
mod tests {
    use super::{Diagnostics, KEPT_MAX};
    use crate::diag::Diagnostic;
    use crate::span::Span;

    fn numbered(number: u32) -> Diagnostic {
        Diagnostic::error(1, number.to_string(), Span::new(number, number + 1), "here")
    }

    #[test]
    fn the_first_are_kept_and_all_are_counted() {
        let mut inner = Diagnostics::default();
        inner.extend((0..KEPT_MAX as u32 + 20).map(numbered));
        inner.push(Diagnostic::warning(2, "a warning", Span::new(0, 1), "here"));
        assert!(inner.is_full() && inner.has(2) && !inner.has(3));
        let mut outer = Diagnostics::default();
        outer.push(numbered(1000));
        outer.extend(inner.into_vec());
        let all = outer.into_vec();
        assert_eq!(all.len(), KEPT_MAX + 2, "errors, a warning, and the rest");
        assert_eq!(all.last().expect("the rest").message, "and 21 more errors");
        assert_eq!(all.iter().map(|d| d.count).sum::<usize>(), KEPT_MAX + 22);
    }
}
