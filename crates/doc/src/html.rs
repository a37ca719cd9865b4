// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pieces of HTML. Text of a program gets into a page by the functions of this module alone.

use carrick_ir::{Loc, Program, Text};

/// Text in which nothing is taken for a tag, a reference or the end of an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// The text that [`escape`] was given.
pub fn unescape(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&amp;", "&")
}

/// The same of text of a program.
pub fn escaped(text: &Text) -> String {
    escape(text.raw())
}

/// A file of HTML with this title, style and body, all of which are HTML and CSS by now.
pub fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}</body>
</html>
"#
    )
}

/// At most so many letters.
pub fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters - 1).chain(['…']).collect()
}

/// A part of the page.
pub struct Section {
    pub anchor: &'static str,
    pub title: &'static str,
    pub html: String,
}

/// A part with this content; `None` if there is none.
pub fn section(anchor: &'static str, title: &'static str, content: &str) -> Option<Section> {
    let html = format!("<section id=\"{anchor}\">\n<h2>{title}</h2>\n{content}</section>\n");
    (!content.is_empty()).then_some(Section { anchor, title, html })
}

/// A table of cells that are HTML already; nothing if it has no row.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<String> = rows
        .into_iter()
        .map(|row| {
            let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let head: String = head.iter().map(|title| format!("<th>{title}</th>")).collect();
    format!("<table>\n<tr>{head}</tr>\n{}</table>\n", rows.concat())
}

/// Documentation as paragraphs; what stands between backquotes as code.
pub fn prose(doc: &Text) -> String {
    let doc = doc.raw().trim();
    if doc.is_empty() {
        return String::new();
    }
    doc.split("\n\n").map(|paragraph| format!("<p>{}</p>\n", with_code(paragraph))).collect()
}

/// Documentation in a line.
pub fn inline(doc: &Text) -> String {
    with_code(doc.raw())
}

fn with_code(text: &str) -> String {
    let pieces = text.trim().split('`').enumerate();
    let shown = pieces.map(|(n, piece)| match n % 2 {
        0 => escape(piece),
        _ => format!("<code>{}</code>", escape(piece)),
    });
    shown.collect()
}

/// Text of a program; nothing if there is none.
pub fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", escape(text)) }
}

/// Text of a program as it was written.
pub fn written(text: &Text) -> String {
    code(text.raw())
}

/// A place in the program's files.
pub fn place(program: &Program, loc: Loc) -> String {
    code(&format!("{}:{}", program.file_of(loc).raw(), loc.line))
}

/// A name as code, leading to where it is told of.
pub fn link(kind: &str, name: &str) -> String {
    format!("<a href=\"#{kind}-{0}\"><code>{0}</code></a>", escape(name))
}
