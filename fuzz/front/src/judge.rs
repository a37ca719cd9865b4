// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold for any text at all.

use carrick_syntax::diag::{Diagnostic, Severity};

/// Runs the front end on a text.
///
/// # Panics
/// If a promise is broken, or the front end panics.
pub fn judge(text: &str) {
    let (tree, diagnostics) = carrick_syntax::parse(text);
    spans_lie_in(text, &diagnostics);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return;
    }
    if let Ok(once) = carrick_syntax::format(text) {
        let twice = carrick_syntax::format(&once);
        assert!(twice.is_ok_and(|twice| twice == once), "formatting does not settle");
    }
    let (program, diagnostics) = carrick_sema::check(&tree, "fuzz", "fuzz.mtp", text);
    spans_lie_in(text, &diagnostics);
    if let Some(program) = program {
        carrick_lower::lower(program);
    }
}

fn spans_lie_in(text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let causes = diagnostic.causes.iter().map(|label| label.span);
        let edits = diagnostic.mend.iter().flat_map(|mend| mend.edits.iter().map(|edit| edit.span));
        let spans = causes.chain(edits).chain([diagnostic.primary.span]);
        for span in spans {
            let range = span.start as usize..span.end as usize;
            assert!(text.get(range).is_some(), "{} at {span:?}, of {}", diagnostic.code, text.len());
        }
    }
}
