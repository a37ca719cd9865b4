// SPDX-License-Identifier: MIT OR Apache-2.0
//! What nothing is made of yet for a target, though its file does not say so.

use carrick_ir as ir;
use carrick_syntax::ast::{File, ItemKind};
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::{LineCol, Places, Sources, Span};

use super::codes;
use super::contract::Unsupported;
use super::list::Against;

/// The first such thing of a program that has all that the target's file asks for, at its place in the tree, if there is one.
pub fn of(
    against: &Against,
    program: &ir::Program,
    file: Option<&File>,
    sources: &Sources,
) -> Option<Diagnostic> {
    let unsupported = against.target?.check(program)?;
    let message = format!("target `{}` does not support this yet: {}", against.file.name, unsupported.what);
    let place = place(&unsupported, file, sources);
    Some(Diagnostic::error(codes::UNBUILT, message, place, "here").mend("build for `native`"))
}

fn place(unsupported: &Unsupported, file: Option<&File>, sources: &Sources) -> Span {
    if unsupported.loc.line > 0 && !sources.text().is_empty() {
        let at = LineCol { line: unsupported.loc.line, col: unsupported.loc.col };
        let start = Places::new(sources).offset(unsupported.loc.file as usize, at);
        let rest = sources.text().get(start as usize..).unwrap_or_default();
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        return Span::new(start, start + word.max(1) as u32);
    }
    let items = || file.into_iter().flat_map(|file| &file.items);
    let declared = items().find_map(|item| match &item.kind {
        ItemKind::Blueprint { name, .. } | ItemKind::Opt { name, .. } => {
            (Some(&name.name) == unsupported.declared.as_ref()).then_some(name.span)
        }
        _ => None,
    });
    let deployed = || {
        let deploy = items().find(|item| matches!(item.kind, ItemKind::Deploy { .. }));
        deploy.map(|item| Span::new(item.span.start, item.span.start + "deploy".len() as u32))
    };
    declared.or_else(deployed).unwrap_or(Span::new(0, 0))
}
