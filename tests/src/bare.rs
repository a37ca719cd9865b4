// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code of a text: what is neither in a string nor in a comment.

/// A name that hostile text calls: it is in no code.
pub const MARKER: &str = "hostile_marker";

/// The words of a text without what is in strings and behind what begins a comment, up to the end of the line.
///
/// # Panics
/// If [`MARKER`] is one of them, or a string has no end.
pub fn bare(text: &str, comment: &str) -> Vec<String> {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with(comment) {
            rest = &rest[rest.find(['\n', '\r']).unwrap_or(rest.len())..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        code.push(c);
        if c == '"' {
            rest = behind_string(rest);
            code.push('"');
        }
    }
    let marked = code.lines().find(|line| line.contains(MARKER));
    assert!(marked.is_none(), "text became code: {marked:?}");
    code.split_whitespace().map(str::to_owned).collect()
}

/// What is behind the end of a string.
fn behind_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return &text[at + 1..],
            '\n' | '\r' => panic!("a string goes over the end of a line: {}", &text[..at]),
            _ => {}
        }
    }
    panic!("a string has no end: {text}")
}

/// The words of a file of C, as its standard says: trigraphs and continued lines first, then comments.
///
/// # Panics
/// As [`bare`]; if a comment has no end.
pub fn bare_c(text: &str) -> Vec<String> {
    let joined = text.replace("??/", "\\").replace("\\\n", "");
    let mut code = String::new();
    let mut rest = joined.as_str();
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").expect("a comment has no end").1;
            code.push(' ');
            continue;
        }
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        }
        let behind = &rest[c.len_utf8()..];
        let end =
            if c == '"' { joined.len() - behind_string(behind).len() } else { joined.len() - behind.len() };
        code.push_str(&joined[joined.len() - rest.len()..end]);
        rest = &joined[end..];
    }
    bare(&code, "//")
}

/// The tags of a page, each with its attributes.
pub fn tags(page: &str) -> Vec<String> {
    let behind = page.split('<').skip(1);
    behind.map(|tag| tag.split('>').next().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_string_or_a_comment_is_found() {
        assert_eq!(bare("a \"hostile_marker\\\"\" b // hostile_marker\nc", "//"), ["a", "\"\"", "b", "c"]);
        assert_eq!(
            bare_c("a /* hostile_marker \" */ b \"/* x\" c // hostile_marker"),
            ["a", "b", "\"\"", "c"]
        );
        let run = |text: &'static str| std::panic::catch_unwind(move || bare_c(text)).is_err();
        for text in [
            "\"??/\\\"; hostile_marker(); //\"",
            "/* *\\\n/ hostile_marker(); /* */",
            "// a\nhostile_marker();",
        ] {
            assert!(run(text), "{text}");
        }
    }
}
