// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text of a program in Lua: the one way into a string or a comment, and none out of it again.

use carrick_ir::Text;

/// A string literal.
pub fn string(text: &Text) -> String {
    quoted(text.raw())
}

/// A string literal of what the script calls something.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Lines of comment; none for an empty text.
pub fn comment(text: &Text) -> impl Iterator<Item = String> + '_ {
    text.raw().lines().map(|line| format!("-- {}", without_ends(line)).trim_end().to_owned())
}

/// Text within a line of comment.
pub fn in_line(text: &Text) -> String {
    without_ends(text.raw())
}

/// Lua ends a line at a carriage return, too.
fn without_ends(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_string_nor_a_comment_is_left() {
        assert_eq!(string(&"a \"b\"\\\n\r".into()), "\"a \\\"b\\\"\\\\\\n \"");
        let of = |text: &str| comment(&text.into()).collect::<Vec<_>>();
        assert_eq!(of("a\nb\rf()\n\n[[ \n"), ["-- a", "-- b f()", "--", "-- [["]);
        assert!(of("").is_empty());
    }
}
