// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program's text as lines that can be pointed at.

use carrick_doc::escape;
use carrick_ir::Opcode;
use carrick_syntax::lexer::{TokenKind, lex};

use crate::model::Source;

/// A file with numbered lines: line `n` of file `f` has the id `lf-n`. They are blocks: an end of a line between them would be
/// one more line.
pub fn lines(file: usize, source: &Source) -> String {
    let mut out = format!("<h3>{}</h3>\n<pre class=\"source\">", escape(&source.name));
    for (n, line) in (1..).zip(coloured(&source.text).split('\n')) {
        out.push_str(&format!("<span class=\"line\" id=\"l{file}-{n}\"><i>{n}</i>{line}</span>"));
    }
    out.push_str("</pre>\n");
    out
}

/// The text as HTML; no tag goes over the end of a line.
fn coloured(text: &str) -> String {
    let (tokens, _) = lex(text);
    let mut out = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for token in tokens {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let (Some(before), Some(shown)) = (text.get(at..start), text.get(start..end)) else { continue };
        at = end;
        out.push_str(&escape(before));
        let class = match token.kind {
            TokenKind::LineComment | TokenKind::DocComment | TokenKind::BlockComment => "comment",
            TokenKind::Int(_) | TokenKind::Unit(..) => "number",
            TokenKind::Ident if Opcode::named(shown).is_some() => "instruction",
            _ => {
                out.push_str(&escape(shown));
                continue;
            }
        };
        let pieces = shown.split('\n').map(|piece| format!("<b class=\"{class}\">{}</b>", escape(piece)));
        out.push_str(&pieces.collect::<Vec<_>>().join("\n"));
    }
    out.push_str(&escape(text.get(at..).unwrap_or_default()));
    out.trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_pointed_at_and_nothing_is_taken_for_a_tag() {
        let text = "/* a\n < b */\nproc f() { pkt_gen(x); } // 1 & 2\n".to_owned();
        let html = lines(3, &Source { name: "a<b.mtp".into(), text });
        assert!(html.contains("<h3>a&lt;b.mtp</h3>"));
        assert!(html.contains("id=\"l3-2\"><i>2</i><b class=\"comment\"> &lt; b */</b></span>"));
        assert!(html.contains("<b class=\"instruction\">pkt_gen</b>(x)"));
        assert_eq!(html.matches("class=\"line\"").count(), 3, "the end of the last line begins none");
        assert_eq!(html.matches("<b ").count(), html.matches("</b>").count());
    }
}
