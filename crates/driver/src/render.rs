// SPDX-License-Identifier: MIT OR Apache-2.0
//! Diagnostics as people and programs read them.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use carrick_syntax::diag::{Diagnostic, Severity};
use carrick_syntax::{Places, Span};
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
    let mut first = Group::with_title(level.primary_title(d.message.as_str()).id(code_name(d.code)));
    for file in files(compiled, d) {
        first = first.element(snippet(compiled, d, file));
    }
    if let Some(note) = &d.note {
        first = first.element(Level::NOTE.message(note.as_str()));
    }
    let Some(mend) = &d.mend else { return vec![first] };
    if mend.edits.is_empty() {
        return vec![first.element(Level::HELP.message(mend.text.as_str()))];
    }
    let sources = &compiled.sources;
    // A mend changes one file.
    let file = mend.edits.first().map_or(0, |edit| sources.file_of(edit.span.start));
    let window = Window::around(compiled, file, mend.edits.iter().map(|edit| edit.span));
    let patches =
        mend.edits.iter().map(|edit| Patch::new(window.range(edit.span), edit.replacement.as_str()));
    let suggestion = Level::HELP.secondary_title(mend.text.as_str()).element(
        Snippet::source(window.text).line_start(window.line).path(sources.name(file)).patches(patches),
    );
    vec![first, suggestion]
}

/// The files that a diagnostic points into: that of what is wrong, then those of its causes.
fn files(compiled: &Compiled, d: &Diagnostic) -> Vec<usize> {
    let mut files = vec![compiled.sources.file_of(d.primary.span.start)];
    for cause in &d.causes {
        let file = compiled.sources.file_of(cause.span.start);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// What a diagnostic points at in one file.
fn snippet<'a>(
    compiled: &'a Compiled,
    d: &'a Diagnostic,
    file: usize,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let causes = d.causes.iter().map(|cause| (AnnotationKind::Context, cause));
    let labels: Vec<_> = std::iter::once((AnnotationKind::Primary, &d.primary))
        .chain(causes)
        .filter(|(_, label)| compiled.sources.file_of(label.span.start) == file)
        .collect();
    let window = Window::around(compiled, file, labels.iter().map(|(_, label)| label.span));
    let snippet = Snippet::source(window.text).line_start(window.line).path(compiled.sources.name(file));
    labels.into_iter().fold(snippet, |snippet, (kind, label)| {
        snippet.annotation(kind.span(window.range(label.span)).label(label.text.as_str()))
    })
}

/// The lines of a file that a message is about, and no others: a file may be long.
struct Window<'a> {
    compiled: &'a Compiled,
    text: &'a str,
    /// where it begins in its file, and in which line
    start: usize,
    line: usize,
}

impl<'a> Window<'a> {
    /// All lines of these spans, and one more on either side.
    fn around(compiled: &'a Compiled, file: usize, spans: impl Iterator<Item = Span>) -> Self {
        let whole = &compiled.sources.text()[compiled.sources.range(file)];
        let (mut first, mut last) = (whole.len(), 0);
        for span in spans.map(|span| compiled.sources.within(span)) {
            first = first.min(span.start as usize);
            last = last.max(span.end as usize);
        }
        let (before, after) = (&whole.as_bytes()[..first.min(last)], &whole.as_bytes()[last..]);
        let ends = |text: &'a [u8]| text.iter().enumerate().filter(|(_, c)| **c == b'\n').map(|(at, _)| at);
        let start = before
            .iter()
            .rposition(|c| *c == b'\n')
            .map_or(0, |end| before[..end].iter().rposition(|c| *c == b'\n').map_or(0, |end| end + 1));
        let end = ends(after).nth(1).map_or(whole.len(), |at| last + at);
        let line = 1 + ends(&whole.as_bytes()[..start]).count();
        Window { compiled, text: &whole[start..end], start, line }
    }

    /// The span within the window.
    fn range(&self, span: Span) -> Range<usize> {
        let span = self.compiled.sources.within(span);
        span.start as usize - self.start..span.end as usize - self.start
    }
}

/// `MTP0123`.
pub fn code_name(code: u16) -> String {
    format!("MTP{code:04}")
}

/// All diagnostics of a program for programs: positions are in the file that they name, 1-based lines and columns (in characters), and byte offsets.
pub fn json(compiled: &Compiled) -> Value {
    let places = Places::new(&compiled.sources);
    let place = |global: Span| {
        let span = compiled.sources.within(global);
        let ((file, start), (_, end)) = (places.at(global.start), places.at(global.end));
        json!({
            "file": compiled.sources.name(file),
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
                "count": d.count,
                "span": place(d.primary.span),
                "label": d.primary.text,
                "causes": d.causes.iter()
                    .map(|c| json!({"span": place(c.span), "text": c.text})).collect::<Vec<_>>(),
                "note": d.note,
                "fix": d.mend.as_ref().map(|m| json!({
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
