// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a name is used, and giving it another.

use carrick_syntax::Span;
use carrick_syntax::lexer::{self, TokenKind};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, Location, PrepareRenameResponse, Uri, WorkspaceEdit,
};

use crate::actions::workspace_edit;
use crate::document::Analysis;
use crate::index::{Index, Kind, Reference, Symbol, SymbolId};
use crate::{hover, words};

/// Where the symbol at an offset is named.
pub fn references(analysis: &Analysis, uri: &Uri, at: u32, with_declaration: bool) -> Option<Vec<Location>> {
    let index = &analysis.index;
    let symbol = index.at(at)?.symbol;
    let wanted = |span: &Span| with_declaration || *span != index.symbols[symbol].span;
    let spans = index.uses(symbol).filter(wanted);
    Some(spans.map(|s| analysis.location(uri, s)).collect())
}

pub fn highlights(analysis: &Analysis, at: u32) -> Option<Vec<DocumentHighlight>> {
    let symbol = analysis.index.at(at)?.symbol;
    let kind = Some(DocumentHighlightKind::TEXT);
    let shown = |span| DocumentHighlight { range: analysis.range(span), kind };
    Some(analysis.index.uses(symbol).filter(|s| analysis.is_own(*s)).map(shown).collect())
}

/// The name at an offset, if it can have another.
pub fn prepare(analysis: &Analysis, at: u32) -> Option<PrepareRenameResponse> {
    let found = analysis.index.at(at).filter(|r| fixed(&analysis.index, *r).is_none())?;
    Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: analysis.range(found.span),
        placeholder: analysis.text_of(found.span).to_owned(),
    })
}

/// Why a symbol keeps its name, if it does: something outside of the program knows it.
fn fixed(index: &Index, reference: Reference) -> Option<String> {
    let symbol = &index.symbols[reference.symbol];
    let owner = symbol.owner.map(|o| index.symbols[o].kind);
    let known_outside = matches!(
        symbol.kind,
        Kind::NetHeader | Kind::Interface | Kind::Call | Kind::Feature | Kind::FeatureOption
    )
        || matches!(owner, Some(Kind::NetHeader | Kind::OptList))
        || symbol.owner.is_some_and(|owner| index.is_app_event(owner)) // applications give it
        || owner == Some(Kind::Opt) && ["kind", "len"].contains(&symbol.name.as_str());
    if index.spread.contains(&reference.symbol) {
        return Some(format!("a spread takes the field `{}` over by its name", symbol.name));
    }
    known_outside
        .then(|| format!("the {} `{}` is known by this name outside", hover::noun(symbol.kind), symbol.name))
}

/// The edits that give the symbol at an offset another name.
///
/// # Errors
/// Why it cannot have that name.
pub fn rename(analysis: &Analysis, uri: &Uri, at: u32, name: &str) -> Result<WorkspaceEdit, String> {
    let found = analysis.index.at(at).ok_or("there is no declared name here")?;
    if let Some(why) = fixed(&analysis.index, found) {
        return Err(why);
    }
    if !is_identifier(name) {
        return Err(format!("`{name}` is not a name: letters, digits and `_`, not a digit first"));
    }
    if words::find(name).is_some() {
        return Err(format!("`{name}` has a meaning of its own"));
    }
    if let Some(other) = analysis.index.uses(found.symbol).find(|s| !analysis.is_own(*s)) {
        let file = analysis.sources().name(analysis.sources().file_of(other.start));
        return Err(format!("`{}` is named in {file} too", analysis.text_of(other)));
    }
    if !keeps_meaning(analysis, found, name) {
        return Err(format!("there is a `{name}` already that would be meant"));
    }
    let spans = analysis.index.uses(found.symbol);
    Ok(workspace_edit(uri, spans.map(|s| analysis.edit(s, name.to_owned())).collect()))
}

fn is_identifier(name: &str) -> bool {
    let (tokens, diagnostics) = lexer::lex(name);
    diagnostics.is_empty()
        && matches!(tokens[..], [only, _] if only.kind == TokenKind::Ident && only.span.end as usize == name.len())
}

/// Whether every name means what it meant once the symbol has its new name, and no two declarations share theirs.
fn keeps_meaning(analysis: &Analysis, found: Reference, name: &str) -> bool {
    let index = &analysis.index;
    if index.symbols[found.symbol].name == name {
        return true;
    }
    let mut text = analysis.sources().text().to_owned();
    let spans: Vec<Span> = index.uses(found.symbol).collect();
    for span in spans.iter().rev() {
        text.replace_range(span.start as usize..span.end as usize, name);
    }
    let (tree, _) = carrick_syntax::parse(&text);
    let renamed = Index::new(&tree, &text);
    let meanings = |index: &Index| index.references.iter().map(|r| r.symbol).collect::<Vec<_>>();
    meanings(index) == meanings(&renamed)
        && index.spread == renamed.spread
        && !has_twin(&renamed, found.symbol)
}

/// Whether something beside the symbol has its name: another part of the same whole, or, of what needs no `.`,
/// anything that is known at the same place.
fn has_twin(index: &Index, symbol: SymbolId) -> bool {
    let it = &index.symbols[symbol];
    let part_of = |s: &Symbol| s.owner.filter(|_| s.kind != Kind::Variant);
    let meet = |a: Option<Span>, b: Option<Span>| match (a, b) {
        (Some(a), Some(b)) => a.start < b.end && b.start < a.end,
        _ => true, // what is global is known everywhere
    };
    let twin = |s: &Symbol| s.name == it.name && part_of(s) == part_of(it) && meet(s.scope, it.scope);
    index.symbols.iter().enumerate().any(|(at, s)| at != symbol && twin(s))
}
