// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiler's diagnostics as the editor shows them.

use carrick_driver::render::code_name;
use carrick_syntax::Span;
use carrick_syntax::diag::{Diagnostic, Severity};
use lsp_types::{
    CodeDescription, Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    NumberOrString, Uri,
};

use crate::document::Document;

/// All that is wrong with a document. `pages` is where the page of each code is, as a prefix of `MTP0123.md`.
pub fn shown(document: &Document, uri: &Uri, pages: Option<&str>) -> Vec<Shown> {
    let analysis = document.analysis();
    // The errors of the rest of a program are shown where it is open.
    let here = |d: &&Diagnostic| !analysis.is_part || analysis.is_own(d.primary.span);
    document.compiled().diagnostics.iter().filter(here).map(|d| one(document, d, uri, pages)).collect()
}

/// One diagnostic. One of an imported file stands at the imports, and leads there.
pub fn one(document: &Document, d: &Diagnostic, uri: &Uri, pages: Option<&str>) -> Shown {
    let analysis = document.analysis();
    let place = analysis.location(uri, d.primary.span);
    let imported = place.uri != *uri;
    let elsewhere = imported.then_some(&d.primary);
    let causes = elsewhere.into_iter().chain(&d.causes).map(|cause| DiagnosticRelatedInformation {
        location: analysis.location(uri, cause.span),
        message: cause.text.clone(),
    });
    let causes: Vec<_> = causes.collect();
    let at_imports = || analysis.range(analysis.tree().imports.first().map_or(Span::new(0, 0), |i| i.span));
    let code = code_name(d.code);
    let page = pages.and_then(|prefix| format!("{prefix}{code}.md").parse().ok());
    Shown {
        range: if imported { at_imports() } else { place.range },
        severity: Some(match d.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(code)),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some("carrick".into()),
        message: message(d),
        related_information: (!causes.is_empty()).then_some(causes),
        tags: is_unused(d.code).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}

/// Whether an editor may show the text as one that could be left out.
fn is_unused(code: u16) -> bool {
    use carrick_sema::codes::{UNREACHABLE, UNUSED, UNUSED_LOCAL, UNUSED_VALUE};
    [UNREACHABLE, UNUSED, UNUSED_LOCAL, UNUSED_VALUE].contains(&code)
}

/// What is wrong, why it is so, and the mend, a line each.
fn message(d: &Diagnostic) -> String {
    let mut message = d.message.clone();
    if !d.primary.text.is_empty() {
        message = format!("{message}: {}", d.primary.text);
    }
    let note = d.note.iter().map(|n| format!("\nnote: {n}"));
    let mend = d.mend.iter().map(|m| format!("\nhelp: {}", m.text));
    message.extend(note.chain(mend));
    message
}
