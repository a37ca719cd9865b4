//! Diagnostics as people and programs read them.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use carrick_syntax::diag::{Diagnostic, Severity};
use carrick_syntax::{LineIndex, Span};
use serde_json::{Value, json};

use crate::Compiled;

/// Whether the terminal shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// escape sequences
    Yes,
    /// plain text
    No,
}

/// All diagnostics of a file, with the source, as a person reads them.
pub fn pretty(compiled: &Compiled, colour: Colour) -> String {
    let renderer = match colour {
        Colour::Yes => Renderer::styled(),
        Colour::No => Renderer::plain(),
    };
    let mut out = String::new();
    for diagnostic in &compiled.diagnostics {
        out.push_str(&renderer.render(&groups(compiled, diagnostic)));
        out.push_str("\n\n");
    }
    out
}

fn groups<'a>(compiled: &'a Compiled, d: &'a Diagnostic) -> Vec<Group<'a>> {
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let text = compiled.text.as_str();
    let mut snippet = Snippet::source(text)
        .path(compiled.file.as_str())
        .annotation(AnnotationKind::Primary.span(range(d.primary.span, text)).label(d.primary.text.as_str()));
    for cause in &d.causes {
        snippet = snippet
            .annotation(AnnotationKind::Context.span(range(cause.span, text)).label(cause.text.as_str()));
    }
    let mut first = level.primary_title(d.message.as_str()).id(code_name(d.code)).element(snippet);
    if let Some(note) = &d.note {
        first = first.element(Level::NOTE.message(note.as_str()));
    }
    let Some(mend) = &d.mend else { return vec![first] };
    if mend.edits.is_empty() {
        return vec![first.element(Level::HELP.message(mend.text.as_str()))];
    }
    let patches = mend.edits.iter().map(|edit| Patch::new(range(edit.span, text), edit.replacement.as_str()));
    let suggestion = Level::HELP
        .secondary_title(mend.text.as_str())
        .element(Snippet::source(text).path(compiled.file.as_str()).patches(patches));
    vec![first, suggestion]
}

/// The span within the text; the end of the file shows as its last character.
fn range(span: Span, text: &str) -> Range<usize> {
    let end = (span.end as usize).min(text.len());
    (span.start as usize).min(end)..end
}

/// `MTP0123`.
pub fn code_name(code: u16) -> String {
    format!("MTP{code:04}")
}

/// All diagnostics of a file for programs: positions are 1-based lines and columns (in characters), and octet offsets.
pub fn json(compiled: &Compiled) -> Value {
    let lines = LineIndex::new(&compiled.text);
    let place = |span: Span| {
        let (start, end) = (lines.line_col(span.start), lines.line_col(span.end));
        json!({
            "start": {"offset": span.start, "line": start.line, "column": start.col},
            "end": {"offset": span.end, "line": end.line, "column": end.col},
        })
    };
    let diagnostics: Vec<Value> = compiled
        .diagnostics
        .iter()
        .map(|d| {
            json!({
                "code": code_name(d.code),
                "severity": match d.severity { Severity::Error => "error", Severity::Warning => "warning" },
                "message": d.message,
                "span": place(d.primary.span),
                "label": d.primary.text,
                "causes": d.causes.iter()
                    .map(|c| json!({"span": place(c.span), "text": c.text})).collect::<Vec<_>>(),
                "note": d.note,
                "mend": d.mend.as_ref().map(|m| json!({
                    "text": m.text,
                    "edits": m.edits.iter()
                        .map(|e| json!({"span": place(e.span), "replacement": e.replacement}))
                        .collect::<Vec<_>>(),
                })),
            })
        })
        .collect();
    json!({"file": compiled.file, "errors": compiled.errors(), "warnings": compiled.warnings(), "diagnostics": diagnostics})
}
