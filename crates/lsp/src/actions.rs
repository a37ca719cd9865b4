// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suggested mends and the one layout, as edits.

use std::collections::HashMap;

use carrick_syntax::Span;
use carrick_syntax::diag::{Diagnostic, Mend};
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, TextEdit, Uri, WorkspaceEdit};

use crate::diagnostics;
use crate::document::{Analysis, Document};

/// The mends of the diagnostics that touch `span`, if a tool can carry them out.
pub fn mends(document: &Document, uri: &Uri, span: Span, pages: Option<&str>) -> Vec<CodeActionOrCommand> {
    let analysis = document.analysis();
    let own = |d: &&Diagnostic| analysis.is_own(d.primary.span);
    let touches = |d: &&Diagnostic| d.primary.span.start <= span.end && span.start <= d.primary.span.end;
    let touched = document.compiled().diagnostics.iter().filter(own).filter(touches);
    let with_mend = touched.filter_map(|d| d.mend.as_ref().filter(|m| !m.edits.is_empty()).map(|m| (d, m)));
    with_mend
        .map(|(d, mend)| {
            CodeActionOrCommand::CodeAction(CodeAction {
                title: mend.text.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostics::one(document, d, uri, pages)]),
                edit: Some(workspace_edit(uri, edits(analysis, mend))),
                is_preferred: Some(true),
                ..CodeAction::default()
            })
        })
        .collect()
}

fn edits(analysis: &Analysis, mend: &Mend) -> Vec<TextEdit> {
    mend.edits.iter().map(|e| analysis.edit(e.span, e.replacement.clone())).collect()
}

/// Edits of this one file.
pub fn workspace_edit(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() }
}

/// What brings the text into the one layout: one edit, of the lines that differ. `None` if the text does not parse.
pub fn format(document: &Document) -> Option<Vec<TextEdit>> {
    let old = document.text();
    let new = carrick_syntax::format(old).ok()?;
    if new == old {
        return Some(Vec::new());
    }
    let start = common_lines(old, &new);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = common_last_lines(old_rest, new_rest);
    let span = Span::new(start as u32, (old.len() - end) as u32);
    let replacement = new_rest[..new_rest.len() - end].to_owned();
    Some(vec![document.analysis().edit(span, replacement)])
}

/// Bytes of the whole lines that both begin with.
fn common_lines(a: &str, b: &str) -> usize {
    let same = a.split_inclusive('\n').zip(b.split_inclusive('\n')).take_while(|(x, y)| x == y);
    same.map(|(x, _)| x.len()).sum()
}

/// Bytes of the whole lines that both end with.
fn common_last_lines(a: &str, b: &str) -> usize {
    let lines = |text| str::split_inclusive(text, '\n').rev();
    let same = lines(a).zip(lines(b)).take_while(|(x, y)| x == y);
    same.map(|(x, _)| x.len()).sum()
}
