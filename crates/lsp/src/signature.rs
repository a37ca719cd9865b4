// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters of the call whose arguments are being written.

use carrick_syntax::Span;
use carrick_syntax::lexer::{self, Token, TokenKind};
use lsp_types::{ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation};

use crate::completion::{markdown, read_as_named};
use crate::document::Analysis;
use crate::hover;
use crate::index::{Index, Kind};
use crate::words::{self, Class};

pub fn signature(written: &Analysis, at: u32) -> Option<SignatureHelp> {
    let (tokens, _) = lexer::lex(&written.text()[..at as usize]);
    let call = Call::around(&tokens)?;
    let (analysis, _) = read_as_named(written, at, &call.closing);
    let (label, doc) = callee(&analysis, call.name)?;
    let parameters = parameters(&label);
    let last = parameters.len().checked_sub(1);
    let more = parameters.last().is_some_and(|last| last == "...");
    let active = if more { last.map(|last| call.argument.min(last)) } else { Some(call.argument) };
    let information =
        |label: String| ParameterInformation { label: ParameterLabel::Simple(label), documentation: None };
    Some(SignatureHelp {
        signatures: vec![SignatureInformation {
            label,
            documentation: Some(markdown(doc)),
            parameters: Some(parameters.into_iter().map(information).collect()),
            active_parameter: active.and_then(|n| n.try_into().ok()),
        }],
        active_signature: Some(0),
        active_parameter: None,
    })
}

/// An unfinished call.
struct Call {
    name: Span,
    /// how many arguments stand before the cursor's
    argument: usize,
    /// what ends all parentheses and brackets of the statement
    closing: String,
}

impl Call {
    /// The innermost call that is open behind these tokens.
    fn around(tokens: &[Token]) -> Option<Call> {
        // What is open: its closing character, what stands before it, and the commas in it.
        let mut open: Vec<(char, Option<Span>, usize)> = Vec::new();
        for (n, token) in tokens.iter().enumerate() {
            let TokenKind::Punct(punct) = token.kind else { continue };
            let before = n.checked_sub(1).map(|n| &tokens[n]).filter(|t| t.kind == TokenKind::Ident);
            match punct {
                "(" => open.push((')', before.map(|t| t.span), 0)),
                "[" => open.push((']', None, 0)),
                "{" => open.push(('}', None, 0)),
                ")" | "]" | "}" => drop(open.pop()),
                "," => open.iter_mut().next_back().into_iter().for_each(|(.., commas)| *commas += 1),
                _ => {}
            }
        }
        let statement = open.iter().rposition(|(closes, ..)| *closes == '}').map_or(0, |block| block + 1);
        let open = &open[statement..];
        let (_, name, argument) = open.iter().rfind(|(_, name, _)| name.is_some())?;
        let closing = open.iter().rev().map(|(closes, ..)| *closes).collect();
        Some(Call { name: (*name)?, argument: *argument, closing })
    }
}

/// How what is called is declared, and what is said of it.
fn callee(analysis: &Analysis, name: Span) -> Option<(String, String)> {
    let index: &Index = &analysis.index;
    let text = analysis.text_of(name);
    if let Some(shape) = index.in_front_of(name) {
        let word = index.built_in_members(shape).into_iter().find(|w| w.name == text)?;
        return word.form.contains('(').then(|| (word.form.to_owned(), word.doc.to_owned()));
    }
    let declared = index.global(text).map(|id| &index.symbols[id]);
    if let Some(symbol) = declared.filter(|s| matches!(s.kind, Kind::Function | Kind::Id)) {
        let label = hover::declaration(analysis, symbol);
        return Some((label.trim_end_matches(['{', ' ', ';']).to_owned(), symbol.doc.clone()));
    }
    let (class, word) = words::find(text)?;
    let is_called = matches!(class, Class::Function | Class::Instruction);
    is_called.then(|| (word.form.to_owned(), word.doc.to_owned()))
}

/// What stands between the parentheses of a declaration: `bytes len[, bytes mss]` are two.
fn parameters(label: &str) -> Vec<String> {
    let Some((_, behind)) = label.split_once('(') else { return Vec::new() };
    let mut depth = 1;
    let open = |c: &char| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth > 0
    };
    let inside: String = behind.chars().take_while(open).collect();
    // Parentheses in parentheses have no commas that separate parameters.
    let mut depth = 0;
    let parts = inside.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    let parts = parts.map(|part| part.trim_matches(['[', ']', ' ', '\n'])).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use lsp_types::ParameterLabel;

    use super::signature;
    use crate::document::Analysis;
    use crate::texts::Texts;

    /// The declaration that is shown where `$` stands in a processor, and the parameter that is written.
    fn shown(body: &str) -> Option<(String, String)> {
        let text = format!(
            "id k(uint32 peer, uint16 port);\nevent e : net_event {{ uint32 n; }}\ncontext c by k {{ list<uint32, 4> l; }}\n\
             /// Says more.\nuint32 f(uint32 a, bool b) {{ return a; }}\nvoid g(e m, c x) {{ {body}\n }}\nvoid h(e m) {{ }}\n"
        );
        let at = text.find('$').expect("a place");
        let analysis = Analysis::new("p.mtp", &text.replace('$', ""), &Texts::default());
        let help = signature(&analysis, at as u32)?;
        let it = &help.signatures[0];
        let active = it.active_parameter.and_then(|n| it.parameters.as_ref()?.get(n as usize));
        let active = active.map(|p| match &p.label {
            ParameterLabel::Simple(label) => label.clone(),
            ParameterLabel::LabelOffsets(_) => String::new(),
        });
        Some((it.label.clone(), active.unwrap_or_default()))
    }

    fn is(body: &str, label: &str, parameter: &str) {
        assert_eq!(shown(body), Some((label.to_owned(), parameter.to_owned())), "{body}");
    }

    #[test]
    fn the_parameter_of_the_innermost_call_is_shown() {
        let f = "uint32 f(uint32 a, bool b)";
        is("x.l.add(f($", f, "uint32 a");
        is("x.l.add(f(1, $", f, "bool b");
        is("x.l.add(f($));", f, "uint32 a");
        is("uint32 v = f(x.l.get($), true);", "get(uint32 i)", "uint32 i");
        is("uint32 v = f(x.l[0], $", f, "bool b");
        is("set_flow_id(m, k(1, $", "id k(uint32 peer, uint16 port)", "uint16 port");
        is("set_flow_id(m, $", "set_flow_id(event e, id)", "id");
        is("uint32 v = keyed_hash(1, 2, 3, $", "keyed_hash(x, ...) -> uint32", "...");
        is("pkt_gen(x, data(x.id, 0, 1, $", "data(c.id, uint64 offset, bytes len[, bytes mss])", "bytes mss");
        is("uint32 v = f(1, true, $", f, "");
    }

    #[test]
    fn outside_of_calls_nothing_is_shown() {
        for body in ["$", "f(1, true); $", "if (m.n > $", "x.l.add(1)$;", "unknown($", "( $"] {
            assert_eq!(shown(body), None, "{body}");
        }
    }
}
