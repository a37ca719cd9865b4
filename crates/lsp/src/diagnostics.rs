//! The compiler's diagnostics as the editor shows them.

use carrick_driver::render::code_name;
use carrick_syntax::diag::{Diagnostic, Severity};
use lsp_types::{
    CodeDescription, Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, NumberOrString, Uri,
};

use crate::document::{Analysis, Document};

/// All that is wrong with a document. `pages` is where the page of each code is, as a prefix of `MTP0123.md`.
pub fn shown(document: &Document, uri: &Uri, pages: Option<&str>) -> Vec<Shown> {
    let analysis = document.analysis();
    document.compiled().diagnostics.iter().map(|d| one(analysis, d, uri, pages)).collect()
}

/// One diagnostic.
pub fn one(analysis: &Analysis, d: &Diagnostic, uri: &Uri, pages: Option<&str>) -> Shown {
    let causes = d.causes.iter().map(|cause| DiagnosticRelatedInformation {
        location: Location::new(uri.clone(), analysis.range(cause.span)),
        message: cause.text.clone(),
    });
    let causes: Vec<_> = causes.collect();
    let code = code_name(d.code);
    let page = pages.and_then(|prefix| format!("{prefix}{code}.md").parse().ok());
    Shown {
        range: analysis.range(d.primary.span),
        severity: Some(match d.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(code)),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some("carrick".into()),
        message: message(d),
        related_information: (!causes.is_empty()).then_some(causes),
        tags: (d.code == carrick_sema::codes::UNUSED).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
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
