// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declarations of a file, with their parts.

use lsp_types::{DocumentSymbol, SymbolKind};

use crate::document::Analysis;
use crate::hover;
use crate::index::{Kind, SymbolId};

pub fn outline(analysis: &Analysis) -> Vec<DocumentSymbol> {
    let symbols = analysis.index.symbols.iter().enumerate();
    let top = symbols.filter(|(_, s)| s.owner.is_none() && s.scope.is_none() && analysis.is_own(s.span));
    top.map(|(id, _)| entry(analysis, id)).collect()
}

#[expect(deprecated, reason = "the protocol's type has a field that nobody may leave out or use")]
fn entry(analysis: &Analysis, id: SymbolId) -> DocumentSymbol {
    let it = &analysis.index.symbols[id];
    // A machine is a member of its context too.
    let own = |m: &&SymbolId| analysis.index.symbols[**m].owner == Some(id);
    let parts: Vec<_> = analysis.index.members(id).iter().filter(own).map(|m| entry(analysis, *m)).collect();
    let ty = it.ty.as_ref().map(|ty| analysis.text_of(ty.span).to_owned());
    DocumentSymbol {
        name: it.name.clone(),
        detail: Some(ty.unwrap_or_else(|| hover::noun(it.kind).to_owned())),
        kind: symbol_kind(it.kind),
        tags: None,
        deprecated: None,
        range: analysis.range(it.whole.to(it.span)),
        selection_range: analysis.range(it.span),
        children: (!parts.is_empty()).then_some(parts),
    }
}

pub fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Const | Kind::Param => SymbolKind::CONSTANT,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Variant | Kind::State | Kind::FeatureOption => SymbolKind::ENUM_MEMBER,
        Kind::Struct | Kind::Scratchpad | Kind::Id => SymbolKind::STRUCT,
        Kind::Event => SymbolKind::EVENT,
        Kind::Context | Kind::Machine => SymbolKind::CLASS,
        Kind::Feature => SymbolKind::MODULE,
        Kind::NetHeader
        | Kind::Opt
        | Kind::OptUnion
        | Kind::FrameUnion
        | Kind::OptList
        | Kind::Blueprint
        | Kind::Group => SymbolKind::OBJECT,
        Kind::SegRule | Kind::CoalescingRule | Kind::Dispatch => SymbolKind::NAMESPACE,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Interface => SymbolKind::INTERFACE,
        Kind::Call | Kind::Point => SymbolKind::METHOD,
        Kind::Field | Kind::Timer => SymbolKind::FIELD,
        Kind::Parameter | Kind::Variable => SymbolKind::VARIABLE,
    }
}
