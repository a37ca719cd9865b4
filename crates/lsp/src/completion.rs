// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may stand at the cursor.
//!
//! A half-written line seldom parses: the text is read as if a name stood at the cursor, and the line were ended.

use carrick_syntax::Span;
use carrick_syntax::ast::{Item, ItemKind};
use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind};

use crate::document::Analysis;
use crate::hover;
use crate::index::{Kind, Shape, Symbol};
use crate::words::{self, Class, Word};

/// Stands at the cursor while the text is read.
const CURSOR: &str = "cursor_";

pub fn completion(written: &Analysis, at: u32) -> Vec<CompletionItem> {
    let (analysis, cursor) = read_as_named(written, at, "");
    if let Some(shape) = analysis.index.in_front_of(cursor) {
        return members(&analysis, shape);
    }
    let front = written.text()[..cursor.start as usize].trim_end();
    if front.ends_with('.') && !front.ends_with("..") {
        return Vec::new(); // of something unknown
    }
    names(&analysis, cursor.start)
}

/// The text as if a name stood at the cursor, and where that is. Where nothing follows on the line, `closing` and a `;` do.
pub fn read_as_named(written: &Analysis, at: u32, closing: &str) -> (Analysis, Span) {
    let (before, after) = written.text().split_at(at as usize);
    let begun = before.len() - before.trim_end_matches(is_word).len();
    let start = before.len() - begun;
    let rest = after.trim_start_matches(is_word);
    let line_ends = rest.lines().next().is_none_or(|line| line.trim().is_empty());
    let end = if line_ends { format!("{closing};") } else { String::new() };
    let text = format!("{}{CURSOR}{end}{rest}", &before[..start]);
    let analysis = Analysis::new(written.sources().name(0), &text, &written.texts);
    let start = start as u32;
    (analysis, Span::new(start, start + CURSOR.len() as u32))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn members(analysis: &Analysis, shape: &Shape) -> Vec<CompletionItem> {
    let declared = match shape.value() {
        Shape::Of(symbol) => analysis.index.members(*symbol),
        _ => &[],
    };
    let symbols = &analysis.index.symbols;
    let declared = declared.iter().map(|m| of_symbol(analysis, &symbols[*m]));
    let built_in = analysis.index.built_in_members(shape).into_iter();
    declared.chain(built_in.map(|w| of_word(w, member_kind(w)))).collect()
}

fn member_kind(word: &Word) -> CompletionItemKind {
    if word.form.contains('(') { CompletionItemKind::METHOD } else { CompletionItemKind::FIELD }
}

/// What needs no `.`, by what stands around the cursor.
fn names(analysis: &Analysis, at: u32) -> Vec<CompletionItem> {
    let inside = |item: &&Item| item.span.start < at && at < item.span.end;
    let around = analysis.tree().items.iter().find(inside).map(|item| &item.kind);
    let machine = matches!(around, Some(ItemKind::Machine { .. }));
    let before = analysis.text()[..at as usize].trim_end();
    if let Some(wanted) = feature_wanted(before) {
        return features(analysis, wanted, at);
    }
    let only = match before.rsplit(|c| !is_word(c)).next() {
        Some("goto") if machine => Some(Kind::State),
        Some("on") if machine => Some(Kind::Event),
        _ => None,
    };
    let symbols = analysis.index.in_scope(at).filter(|s| s.name != CURSOR);
    if let Some(only) = only {
        return symbols.filter(|s| s.kind == only).map(|s| of_symbol(analysis, s)).collect();
    }
    let symbols = symbols.filter(|s| fits(around, s.kind));
    let words = word_lists(around).iter().flat_map(|list| list.iter());
    symbols
        .map(|s| of_symbol(analysis, s))
        .chain(words.filter_map(|w| words::find(w.name).map(|(class, _)| of_word(w, word_kind(class)))))
        .collect()
}

/// What of a feature is to be named.
#[derive(Debug, PartialEq, Eq)]
enum Wanted<'a> {
    Feature,
    OptionOf(&'a str),
}

/// Behind `requires`, `excludes`, also their `,` and `=`, `feature`, `feature(`, `feature(f,` and `feature f =`.
fn feature_wanted(before: &str) -> Option<Wanted<'_>> {
    if let Some(test) = before.strip_suffix('(') {
        return (split(test.trim_end()).1 == "feature").then_some(Wanted::Feature);
    }
    // The statement up to here, and its first word.
    let statement = before.rsplit([';', '{', '}']).next().unwrap_or_default().trim_start();
    let first = statement.split(|c| !is_word(c)).next().unwrap_or_default();
    let listed = matches!(first, "requires" | "excludes");
    if let Some(of) = before.strip_suffix('=') {
        let name = split(of.trim_end()).1;
        return (listed || first == "feature").then_some(Wanted::OptionOf(name));
    }
    if let Some(of) = before.strip_suffix(',') {
        let (test, name) = split(of.trim_end());
        let tested = test.trim_end().strip_suffix('(').is_some_and(|t| split(t.trim_end()).1 == "feature");
        return if tested { Some(Wanted::OptionOf(name)) } else { listed.then_some(Wanted::Feature) };
    }
    matches!(split(before).1, "requires" | "excludes" | "feature").then_some(Wanted::Feature)
}

/// A text up to its last word, and that.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(is_word).len())
}

fn features(analysis: &Analysis, wanted: Wanted<'_>, at: u32) -> Vec<CompletionItem> {
    let index = &analysis.index;
    match wanted {
        Wanted::Feature => {
            // The one that it is said in is no matter of itself.
            let other = |s: &&Symbol| s.kind == Kind::Feature && !(s.whole.start < at && at < s.whole.end);
            let features = index.symbols.iter().filter(other).filter(|s| s.name != CURSOR);
            features.map(|s| of_symbol(analysis, s)).collect()
        }
        Wanted::OptionOf(name) => {
            let options = index.feature(name).map_or(&[][..], |feature| index.members(feature));
            options.iter().map(|s| of_symbol(analysis, &index.symbols[*s])).collect()
        }
    }
}

/// Whether what is declared like this can be meant there.
fn fits(around: Option<&ItemKind>, kind: Kind) -> bool {
    match around {
        None => is_type(kind),
        Some(ItemKind::Function { .. } | ItemKind::Machine { .. } | ItemKind::Extension { .. }) => {
            !matches!(kind, Kind::Dispatch | Kind::Interface)
        }
        Some(ItemKind::Dispatch { .. }) => matches!(kind, Kind::Event | Kind::Function | Kind::Machine),
        Some(ItemKind::Interface { .. }) => matches!(kind, Kind::Event | Kind::Id | Kind::Context),
        Some(ItemKind::Deploy { .. }) => !matches!(kind, Kind::Event | Kind::Variant),
        Some(_) => {
            is_type(kind)
                || matches!(kind, Kind::Const | Kind::Param | Kind::Variant | Kind::State | Kind::Parameter)
        }
    }
}

fn is_type(kind: Kind) -> bool {
    use Kind as K;
    matches!(
        kind,
        K::Enum
            | K::Struct
            | K::Id
            | K::Event
            | K::Context
            | K::Scratchpad
            | K::NetHeader
            | K::Opt
            | K::OptUnion
            | K::FrameUnion
            | K::OptList
            | K::Blueprint
            | K::Machine
    )
}

fn word_lists(around: Option<&ItemKind>) -> &'static [&'static [Word]] {
    match around {
        None => &[words::DECLARATIONS, words::TYPES],
        Some(ItemKind::Dispatch { .. } | ItemKind::Interface { .. }) => &[words::STATEMENTS],
        Some(ItemKind::Deploy { .. }) => &[words::REGISTRATIONS],
        Some(ItemKind::Function { .. } | ItemKind::Machine { .. } | ItemKind::Extension { .. }) => &[
            words::STATEMENTS,
            words::TYPES,
            words::INSTRUCTIONS,
            words::FUNCTIONS,
            words::FORMS,
            words::LITERALS,
            words::STATUSES,
        ],
        Some(ItemKind::Event { .. }) => &[words::EVENT_KINDS, words::EVENT_FIELDS, words::TYPES],
        Some(_) => &[words::TYPES, words::LITERALS],
    }
}

fn of_symbol(analysis: &Analysis, symbol: &Symbol) -> CompletionItem {
    let ty = symbol.ty.as_ref().map(|ty| analysis.text_of(ty.span).to_owned());
    let detail = match symbol.kind {
        Kind::Function => hover::declaration(analysis, symbol).trim_end_matches(['{', ' ']).to_owned(),
        Kind::Id => hover::declaration(analysis, symbol),
        kind => ty.unwrap_or_else(|| hover::noun(kind).to_owned()),
    };
    CompletionItem {
        kind: Some(symbol_kind(symbol.kind)),
        documentation: (!symbol.doc.is_empty()).then(|| markdown(symbol.doc.clone())),
        ..CompletionItem::new_simple(symbol.name.clone(), detail)
    }
}

fn of_word(word: &Word, kind: CompletionItemKind) -> CompletionItem {
    CompletionItem {
        kind: Some(kind),
        documentation: Some(markdown(word.doc.to_owned())),
        ..CompletionItem::new_simple(word.name.to_owned(), word.form.to_owned())
    }
}

/// What is said of something, as an editor shows it.
pub fn markdown(value: String) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
}

fn word_kind(class: Class) -> CompletionItemKind {
    match class {
        Class::Keyword => CompletionItemKind::KEYWORD,
        Class::Type => CompletionItemKind::CLASS,
        Class::Function | Class::Instruction => CompletionItemKind::FUNCTION,
        Class::Value => CompletionItemKind::CONSTANT,
    }
}

fn symbol_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Const | Kind::Param => CompletionItemKind::CONSTANT,
        Kind::Enum => CompletionItemKind::ENUM,
        Kind::Variant | Kind::State => CompletionItemKind::ENUM_MEMBER,
        Kind::Event => CompletionItemKind::EVENT,
        Kind::Function => CompletionItemKind::FUNCTION,
        Kind::Field | Kind::Timer => CompletionItemKind::FIELD,
        Kind::Parameter | Kind::Variable => CompletionItemKind::VARIABLE,
        Kind::Interface
        | Kind::Call
        | Kind::Point
        | Kind::Dispatch
        | Kind::SegRule
        | Kind::CoalescingRule => CompletionItemKind::REFERENCE,
        _ => CompletionItemKind::STRUCT,
    }
}

#[cfg(test)]
mod tests {
    use super::completion;
    use crate::document::Analysis;
    use crate::texts::Texts;

    /// What is offered where `$` stands, behind the declarations of two features.
    fn offered(text: &str) -> Vec<String> {
        let text = format!("feature lossless;\nfeature ordered(hold, discard) default {{ }}\n{text}");
        let at = text.find('$').expect("a place");
        let analysis = Analysis::new("p.mtp", &text.replace('$', ""), &Texts::default());
        completion(&analysis, at as u32).into_iter().map(|item| item.label).collect()
    }

    #[test]
    fn points_are_offered_and_what_they_pass() {
        let function = "context c by k { uint32 n; }\n\
                        void f(c x) { uint32 a = 1; uint32 b = 2; point p(x, a); point q(x); }\n";
        for text in ["extend f.$", "extend f.$ { x.n = 1; }"] {
            assert_eq!(offered(&format!("{function}{text}")), ["p", "q"], "{text}");
        }
        let inside = offered(&format!("{function}extend f.p {{ a = $ }}"));
        assert!(["x", "a", "f"].iter().all(|name| inside.iter().any(|n| n == name)), "{inside:?}");
        assert!(!inside.iter().any(|name| name == "b"), "{inside:?}");
        assert_eq!(offered(&format!("{function}extend f.p {{ x.$ }}"))[0], "n");
    }

    #[test]
    fn the_list_of_an_option_is_a_list() {
        let header = "opt_t sack { uint8 kind = 5; uint8 len; list<uint32, 4> blocks in 1..4; }\n\
                      opt_union u { sack } opt_list options { bytes len = n; list<u, 1> opts; }\n\
                      pkt_bp hdr over ipv4 { uint8 n; options opts; }\n";
        let offered = |text: &str| offered(&format!("{header}void f() {{ hdr h; x = {text} }}"));
        assert!(offered("h.opts[sack].$").contains(&"blocks".to_owned()));
        assert!(offered("h.opts[sack].blocks.$").contains(&"len".to_owned()));
    }

    #[test]
    fn features_are_offered_where_they_are_named() {
        let (features, options) = (["lossless", "ordered"], ["hold", "discard"]);
        for text in [
            "feature third { requires $ }",
            "feature third { requires lossless, o$ }",
            "feature third { const uint8 A = 1; excludes l$; }",
            "feature $",
            "void f(e x) { if (feature($)) { x.n = 1; } }",
            "void f(e x) { x.n = feature ( l",
        ] {
            let text = if text.contains('$') { text.to_owned() } else { format!("{text}$") };
            assert_eq!(offered(&text), features, "{text}");
        }
        for text in [
            "feature third { requires lossless, ordered = $; }",
            "feature ordered = $ { }",
            "void f(e x) { if (feature(ordered, h$)) { x.n = 1; } }",
        ] {
            assert_eq!(offered(text), options, "{text}");
        }
        assert_eq!(offered("feature third { requires lossless = $; }"), [""; 0]);
        let plain = offered("void f(e x) { x.n = g(x, $); }");
        assert!(!plain.iter().any(|name| name == "lossless" || name == "hold"), "{plain:?}");
    }
}
