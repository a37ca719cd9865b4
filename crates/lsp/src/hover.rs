// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the editor shows for the name under the pointer.

use carrick_syntax::Span;
use carrick_syntax::lexer::{self, TokenKind};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use crate::document::Analysis;
use crate::index::{Kind, Symbol};
use crate::words::{self, Word};

/// Lines of a declaration that are shown at most.
const LINES_MAX: usize = 12;

pub fn hover(analysis: &Analysis, at: u32) -> Option<Hover> {
    let (span, value) = match analysis.index.at(at) {
        Some(reference) => (reference.span, of_symbol(analysis, &analysis.index.symbols[reference.symbol])),
        None => {
            let span = identifier(analysis.text(), at)?;
            (span, of_word(built_in(analysis, span)?))
        }
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(analysis.range(span)) })
}

/// The declaration as it is written, and its documentation.
pub fn of_symbol(analysis: &Analysis, symbol: &Symbol) -> String {
    let mut shown = fenced(&declaration(analysis, symbol));
    if let Some(owner) = symbol.owner {
        shown.push_str(&format!("\n{} of `{}`\n", noun(symbol.kind), analysis.index.symbols[owner].name));
    }
    if !symbol.doc.is_empty() {
        shown.push_str(&format!("\n{}\n", symbol.doc.trim()));
    }
    shown
}

/// The declaration without its comments, cut if it is long.
pub fn declaration(analysis: &Analysis, symbol: &Symbol) -> String {
    let text = analysis.text_of(symbol.head).trim();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES_MAX {
        return text.to_owned();
    }
    format!("{}\n    ...\n}}", lines[..LINES_MAX].join("\n"))
}

pub fn of_word(word: &Word) -> String {
    format!("{}\n{}\n", fenced(word.form), word.doc)
}

fn fenced(code: &str) -> String {
    format!("```mtp\n{code}\n```\n")
}

/// What an identifier means that no declaration gives a meaning.
fn built_in(analysis: &Analysis, span: Span) -> Option<&'static Word> {
    let name = analysis.text_of(span);
    match analysis.index.in_front_of(span) {
        Some(shape) => analysis.index.built_in_members(shape).into_iter().find(|w| w.name == name),
        None => words::find(name).map(|(_, word)| word),
    }
}

fn identifier(text: &str, at: u32) -> Option<Span> {
    let (tokens, _) = lexer::lex(text);
    let touched = tokens.iter().filter(|t| t.span.start <= at && at <= t.span.end);
    touched.filter(|t| t.kind == TokenKind::Ident).map(|t| t.span).next_back()
}

/// A kind, as a person calls it.
pub fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Const => "constant",
        Kind::Param => "parameter of the stack",
        Kind::Enum => "enum",
        Kind::Variant => "value",
        Kind::Struct => "struct",
        Kind::Id => "id",
        Kind::Event => "event",
        Kind::Context => "context",
        Kind::Scratchpad => "scratchpad",
        Kind::NetHeader => "network header",
        Kind::Opt => "option",
        Kind::OptUnion => "union of options",
        Kind::FrameUnion => "union of frames",
        Kind::OptList => "list of options",
        Kind::Blueprint => "blueprint",
        Kind::Feature => "feature",
        Kind::Group => "group of fields",
        Kind::FeatureOption => "option of a feature",
        Kind::SegRule => "segmentation rule",
        Kind::CoalescingRule => "coalescing rule",
        Kind::Function => "function",
        Kind::Point => "point",
        Kind::Machine => "state machine",
        Kind::State => "state",
        Kind::Dispatch => "dispatch",
        Kind::Interface => "interface",
        Kind::Call => "call",
        Kind::Field => "field",
        Kind::Timer => "timer",
        Kind::Parameter => "parameter",
        Kind::Variable => "variable",
    }
}
