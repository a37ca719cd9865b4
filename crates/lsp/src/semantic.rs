// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each word is, for colours that a grammar cannot know.

use carrick_syntax::Span;
use carrick_syntax::lexer::{self, TokenKind};
use lsp_types::{SemanticToken, SemanticTokens, SemanticTokensLegend};

use crate::document::Analysis;
use crate::index::{Kind, Reference};
use crate::words::{self, Class};

/// The types of tokens, as the legend numbers them.
const TYPES: [&str; 15] = [
    "type",
    "enum",
    "enumMember",
    "namespace",
    "struct",
    "class",
    "event",
    "interface",
    "function",
    "method",
    "property",
    "parameter",
    "variable",
    "keyword",
    "number",
];
const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const DEFAULT_LIBRARY: u32 = 4;

pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.iter().map(|t| (*t).into()).collect(),
        token_modifiers: ["declaration", "readonly", "defaultLibrary"].map(Into::into).into(),
    }
}

/// The tokens of the whole text, each placed relative to the one before it.
pub fn tokens(analysis: &Analysis) -> SemanticTokens {
    let (lexed, _) = lexer::lex(analysis.text());
    let mut references = analysis.index.references.iter().peekable();
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    for token in lexed {
        while references.next_if(|r| r.span.start < token.span.start).is_some() {}
        let found = references.peek().filter(|r| r.span == token.span);
        let what = match token.kind {
            TokenKind::Ident => {
                found.map(|r| declared(analysis, r)).or_else(|| built_in(analysis, token.span))
            }
            TokenKind::Int(_) | TokenKind::Unit(..) => Some(("number", 0)),
            _ => None,
        };
        let Some((name, modifiers)) = what else { continue };
        let at = analysis.range(token.span).start;
        let delta_line = at.line - line;
        let delta_start = if delta_line == 0 { at.character - column } else { at.character };
        (line, column) = (at.line, at.character);
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length: token.span.end - token.span.start, // all of these are ASCII
            token_type: TYPES.iter().position(|t| *t == name).unwrap_or_default() as u32,
            token_modifiers_bitset: modifiers,
        });
    }
    SemanticTokens { result_id: None, data }
}

fn declared(analysis: &Analysis, reference: &Reference) -> (&'static str, u32) {
    let symbol = &analysis.index.symbols[reference.symbol];
    let (name, modifiers) = match symbol.kind {
        Kind::Const | Kind::Param => ("variable", READONLY),
        Kind::Enum => ("enum", 0),
        Kind::Variant | Kind::State | Kind::FeatureOption => ("enumMember", READONLY),
        Kind::Feature => ("namespace", 0),
        Kind::Struct | Kind::Scratchpad | Kind::Id => ("struct", 0),
        Kind::Event => ("event", 0),
        Kind::Context | Kind::Machine => ("class", 0),
        Kind::NetHeader
        | Kind::Opt
        | Kind::OptUnion
        | Kind::FrameUnion
        | Kind::OptList
        | Kind::Blueprint
        | Kind::Group => ("type", 0),
        Kind::Interface => ("interface", 0),
        Kind::SegRule | Kind::CoalescingRule | Kind::Dispatch | Kind::Function => ("function", 0),
        Kind::Call | Kind::Point => ("method", 0),
        Kind::Field | Kind::Timer => ("property", 0),
        Kind::Parameter => ("parameter", 0),
        Kind::Variable => ("variable", 0),
    };
    (name, modifiers | if symbol.span == reference.span { DECLARATION } else { 0 })
}

fn built_in(analysis: &Analysis, span: Span) -> Option<(&'static str, u32)> {
    let name = analysis.text_of(span);
    if let Some(shape) = analysis.index.in_front_of(span) {
        let member = analysis.index.built_in_members(shape).into_iter().find(|w| w.name == name)?;
        return Some((if member.form.contains('(') { "method" } else { "property" }, DEFAULT_LIBRARY));
    }
    let called = analysis.text().get(span.end as usize..).is_some_and(|rest| rest.starts_with('('));
    let (class, _) = words::find(name)?;
    Some(match class {
        // `max` bounds a loop, or is a function.
        Class::Keyword if called && name == "max" => ("function", DEFAULT_LIBRARY),
        Class::Keyword => ("keyword", 0),
        Class::Type => ("type", DEFAULT_LIBRARY),
        Class::Function | Class::Instruction => ("function", DEFAULT_LIBRARY),
        Class::Value => ("enumMember", READONLY | DEFAULT_LIBRARY),
    })
}
