// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text to tokens. Comments are tokens too: the formatter needs them, the parser skips them.

use std::ops::Range;

use crate::codes;
use crate::diag::Diagnostic;
use crate::diagnostics::Diagnostics;
use crate::span::Span;

/// What a token is; its text is found by its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Ident,
    Int(u64),
    /// a number with a unit, as in `10ms`; how many bytes of the text are the number
    Unit(u64, u32),
    /// one of [`PUNCTUATION`]
    Punct(&'static str),
    /// the path of an import, with its quotes
    Path,
    LineComment,
    DocComment,
    BlockComment,
    Eof,
}

impl TokenKind {
    /// A comment that is not documentation.
    pub fn is_comment(self) -> bool {
        matches!(self, TokenKind::LineComment | TokenKind::BlockComment)
    }

    /// A comment of either sort: no code.
    pub fn is_aside(self) -> bool {
        self.is_comment() || self == TokenKind::DocComment
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The units that a number may carry.
pub const UNITS: [&str; 17] = [
    "ns", "us", "ms", "s", "min", "h", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB", "bps", "Kbps", "Mbps",
    "Gbps",
];

/// Longest first, so that the first that fits is right.
const PUNCTUATION: [&str; 50] = [
    "<<=", ">>=", "->", "..", "::", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "<=", ">=", "==", "!=", "&&", "||", "{", "}", "(", ")", "[", "]", ";", ",", ".", ":", "?", "=", "<", ">",
    "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "@", "#", "$",
];

/// Which of [`PUNCTUATION`] begin with a byte: bits, the first one lowest.
const BEGIN_WITH: [u64; 128] = {
    let mut begin_with = [0; 128];
    let mut at = 0;
    while at < PUNCTUATION.len() {
        begin_with[PUNCTUATION[at].as_bytes()[0] as usize] |= 1 << at;
        at += 1;
    }
    begin_with
};

/// The piece of punctuation that a text begins with.
fn punctuation_at(text: &str) -> Option<&'static str> {
    let mut left = *BEGIN_WITH.get(usize::from(*text.as_bytes().first()?))?;
    while left != 0 {
        let punctuation = PUNCTUATION[left.trailing_zeros() as usize];
        if text.starts_with(punctuation) {
            return Some(punctuation);
        }
        left &= left - 1;
    }
    None
}

/// Whether nothing but white space stands in the last line of what was read before.
pub(crate) fn begins_line(before: &str) -> bool {
    before.chars().rev().find(|c| *c == '\n' || !c.is_whitespace()).is_none_or(|c| c == '\n')
}

/// All tokens, the last of which is [`TokenKind::Eof`], and what was wrong with the text.
pub fn lex(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let lexed = lex_part(text, 0..text.len());
    (lexed.tokens, lexed.diagnostics.into_vec())
}

/// What became of a text.
pub(crate) struct Lexed {
    pub tokens: Vec<Token>,
    pub diagnostics: Diagnostics,
    /// the runs of characters that are not part of the language, ascending
    pub strange: Vec<Span>,
}

/// As [`lex`], of a part of a text; spans count in the whole.
pub(crate) fn lex_part(text: &str, part: Range<usize>) -> Lexed {
    let text = &text[..part.end];
    // Some editors begin a file with a byte order mark.
    let mark = if text[part.start..].starts_with('\u{feff}') { 3 } else { 0 };
    let lexed = Lexed { tokens: Vec::new(), diagnostics: Diagnostics::default(), strange: Vec::new() };
    let mut lexer = Lexer { text, at: part.start + mark, lexed };
    while lexer.at < text.len() {
        lexer.next();
    }
    lexer.push(TokenKind::Eof, text.len());
    lexer.report_strange();
    lexer.lexed
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    lexed: Lexed,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.lexed.tokens.push(Token { kind, span: span(start, self.at) });
    }

    /// Advances while the bytes satisfy `wanted`, which holds for all bytes of a character beyond ASCII or for none.
    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = self.rest().as_bytes();
        self.at += rest.iter().position(|b| !wanted(*b)).unwrap_or(rest.len());
    }

    /// The rest of a name, or of a number with its unit.
    fn skip_word(&mut self) {
        self.skip(|b| b.is_ascii_alphanumeric() || b == b'_');
    }

    fn next(&mut self) {
        let start = self.at;
        let c = self.rest().chars().next().unwrap_or('\0');
        if c.is_ascii_whitespace() {
            self.skip(|b| b.is_ascii_whitespace());
        } else if self.rest().starts_with("//") {
            self.line_comment();
        } else if self.rest().starts_with("/*") {
            self.block_comment();
        } else if c.is_ascii_alphabetic() || c == '_' {
            self.skip_word();
            self.push(TokenKind::Ident, start);
        } else if c.is_ascii_digit() {
            self.number();
        } else if c == '"' || c == '\'' {
            self.string(c as u8);
        } else if let Some(p) = punctuation_at(self.rest()) {
            if p == "#" && self.begins_line() {
                return self.preprocessor();
            }
            self.at += p.len();
            if matches!(p, "@" | "#" | "$") {
                self.unexpected(start);
            } else {
                self.push(TokenKind::Punct(p), start);
            }
        } else {
            self.at += c.len_utf8();
            self.unexpected(start);
        }
    }

    fn begins_line(&self) -> bool {
        begins_line(&self.text[..self.at])
    }

    /// `#include`, `#define`: the line is not read.
    fn preprocessor(&mut self) {
        let start = self.at;
        self.skip(|b| b != b'\n');
        self.lexed.diagnostics.push(
            Diagnostic::error(
                codes::PREPROCESSOR,
                "there is no preprocessor",
                span(start, self.at),
                "a directive",
            )
            .mend("write `import \"file.mtp\";`, `const T NAME = value;`, or a `feature`"),
        );
    }

    /// A run of strange characters is one mistake.
    fn unexpected(&mut self, start: usize) {
        match self.lexed.strange.last_mut() {
            Some(last) if last.end as usize == start => last.end = self.at as u32,
            _ => self.lexed.strange.push(span(start, self.at)),
        }
    }

    fn report_strange(&mut self) {
        for &here in &self.lexed.strange {
            let first = self.text[here.start as usize..].chars().next().unwrap_or_default();
            self.lexed.diagnostics.push(
                Diagnostic::error(
                    codes::STRANGE_CHARACTER,
                    format!("the character {first:?} is not part of the language"),
                    here,
                    "allowed only in comments",
                )
                .mend("remove it"),
            );
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let doc = self.rest().starts_with("///") && !self.rest().starts_with("////");
        self.skip(|b| b != b'\n');
        self.push(if doc { TokenKind::DocComment } else { TokenKind::LineComment }, start);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        match self.rest().find("*/") {
            Some(end) if end >= 2 => self.at += end + 2,
            _ => match self.rest().get(2..).and_then(|r| r.find("*/")) {
                Some(end) => self.at += 2 + end + 2,
                None => {
                    self.at = self.text.len();
                    self.lexed.diagnostics.push(
                        Diagnostic::error(
                            codes::UNTERMINATED_COMMENT,
                            "this comment has no end",
                            span(start, start + 2),
                            "it begins here",
                        )
                        .mend("end it with `*/`"),
                    );
                }
            },
        }
        self.push(TokenKind::BlockComment, start);
    }

    fn string(&mut self, quote: u8) {
        let start = self.at;
        self.at += 1;
        self.skip(|b| b != quote && b != b'\n');
        let closed = self.rest().starts_with(char::from(quote));
        if closed {
            self.at += 1;
        }
        if closed && quote == b'"' && self.behind_import() {
            self.push(TokenKind::Path, start);
            return;
        }
        let found = Diagnostic::error(
            codes::STRING,
            "there are no strings or character literals",
            span(start, self.at),
            "a string",
        );
        self.lexed.diagnostics.push(if self.in_print() {
            found
                .note("a program prints nothing: it runs in kernels and circuits too")
                .mend("claim what must hold with `assert(...)`, or watch values with `carrick trace FILE --on EVENT`")
        } else {
            found
                .note("packets carry numbers, and applications their own data; only `import` takes text, a path that ends on its line")
                .mend("use a number, or a name declared with `const` or `enum`")
        });
        // A value stands here, so that the parser has nothing to add.
        self.push(TokenKind::Int(0), start);
    }

    /// Whether what is read now is the first argument of something that prints.
    fn in_print(&self) -> bool {
        let mut last = self.lexed.tokens.iter().rev().filter(|t| !t.kind.is_comment());
        let text = |t: &Token| &self.text[t.span.start as usize..t.span.end as usize];
        let opens = last.next().is_some_and(|t| text(t) == "(");
        let prints = ["printf", "print", "println", "puts", "printk", "pr_info", "log", "debug", "trace"];
        opens && last.next().is_some_and(|t| prints.contains(&text(t)))
    }

    /// Whether the word `import` stands before what is read now.
    fn behind_import(&self) -> bool {
        let last = self.lexed.tokens.iter().rev().find(|t| !t.kind.is_comment());
        last.is_some_and(|t| &self.text[t.span.start as usize..t.span.end as usize] == "import")
    }

    fn number(&mut self) {
        let start = self.at;
        let radix = match self.rest().get(..2) {
            Some("0x" | "0X") => 16,
            // No binary digit begins a unit, and no rate, or no byte, is as common as none.
            Some("0b" | "0B") if !self.rest().starts_with("0bps") && !self.no_octets() => 2,
            _ => 10,
        };
        if radix != 10 {
            self.at += 2;
            self.skip_word();
            let value = self.value(start, start + 2, radix);
            self.push(TokenKind::Int(value), start);
            return;
        }
        self.skip(|b| b.is_ascii_digit() || b == b'_');
        let digits_end = self.at;
        if self.rest().starts_with('.') && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.fraction(start);
        }
        self.skip_word();
        let text = self.text;
        let value = self.value_of(start, &text[start..digits_end], 10);
        let unit = &text[digits_end..self.at];
        if unit.is_empty() {
            self.push(TokenKind::Int(value), start);
        } else if UNITS.contains(&unit) {
            self.push(TokenKind::Unit(value, (digits_end - start) as u32), start);
        } else {
            self.unknown_unit(start, digits_end);
            self.push(TokenKind::Int(value), start);
        }
    }

    /// `0B`, behind which no digit follows.
    fn no_octets(&self) -> bool {
        let behind = self.rest().strip_prefix("0B");
        behind.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    }

    fn unknown_unit(&mut self, start: usize, digits_end: usize) {
        let unit = &self.text[digits_end..self.at];
        let mut diagnostic = Diagnostic::error(
            codes::UNKNOWN_UNIT,
            format!("`{unit}` is not a unit"),
            span(digits_end, self.at),
            "follows a number",
        )
        .note(format!("the units are {}", UNITS.join(", ")));
        if let Some(near) = UNITS.iter().find(|u| u.eq_ignore_ascii_case(unit)) {
            let number = &self.text[start..digits_end];
            diagnostic = diagnostic.fix(
                format!("write `{number}{near}`"),
                span(digits_end, self.at),
                (*near).to_owned(),
            );
        } else {
            diagnostic = diagnostic.mend("use one of the units, or separate the number from the name");
        }
        self.lexed.diagnostics.push(diagnostic);
    }

    fn fraction(&mut self, start: usize) {
        self.at += 1;
        self.skip_word();
        self.lexed.diagnostics.push(
            Diagnostic::error(
                codes::FLOATING_POINT,
                "there is no floating point",
                span(start, self.at),
                "a number with a fraction",
            )
            .note("targets in a kernel or in hardware have no floating-point unit, and results must be the same everywhere")
            .mend("use a smaller unit (1500us for 1.5ms), multiply before dividing (x * 5 / 4), or use `fixed`: ratio(5, 4)"),
        );
        self.push(TokenKind::Int(0), start);
    }

    fn value(&mut self, start: usize, digits: usize, radix: u32) -> u64 {
        let text = self.text;
        self.value_of(start, &text[digits..self.at], radix)
    }

    fn value_of(&mut self, start: usize, digits: &str, radix: u32) -> u64 {
        let digits: String = digits.chars().filter(|c| *c != '_').collect();
        let here = span(start, self.at);
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            let what = if radix == 16 { "hexadecimal (0-9, a-f)" } else { "binary (0, 1)" };
            self.lexed.diagnostics.push(
                Diagnostic::error(codes::MALFORMED_NUMBER, "this number is malformed", here, "here")
                    .mend(format!("after the prefix come {what} digits only")),
            );
            return 0;
        }
        u64::from_str_radix(&digits, radix).unwrap_or_else(|_| {
            self.lexed.diagnostics.push(
                Diagnostic::error(
                    codes::NUMBER_TOO_LARGE,
                    "this number does not fit 64 bits",
                    here,
                    "too large",
                )
                .note(format!("the largest number is {}", u64::MAX))
                .mend("use a smaller number"),
            );
            0
        })
    }
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let (tokens, diagnostics) = lex(text);
        assert_eq!(diagnostics, [], "{text}");
        tokens.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_and_units() {
        use TokenKind::{Eof, Int, Punct, Unit};
        assert_eq!(kinds("1_000 0xff 0b101"), [Int(1000), Int(255), Int(5), Eof]);
        assert_eq!(kinds("0bps 0B 0B1"), [Unit(0, 1), Unit(0, 1), Int(1), Eof]);
        assert_eq!(kinds("10ms 64KiB 25Gbps"), [Unit(10, 2), Unit(64, 2), Unit(25, 2), Eof]);
        assert_eq!(kinds("0..8"), [Int(0), Punct(".."), Int(8), Eof]);
        assert_eq!(kinds("1ms..60s"), [Unit(1, 1), Punct(".."), Unit(60, 2), Eof]);
    }

    #[test]
    fn comments_are_tokens() {
        use TokenKind::{BlockComment, DocComment, Eof, LineComment};
        assert_eq!(
            kinds("// a\n/// b\n//// c\n/* d */ /**/"),
            [LineComment, DocComment, LineComment, BlockComment, BlockComment, Eof]
        );
    }

    #[test]
    fn mistakes_have_codes() {
        let codes = |text| lex(text).1.iter().map(|d| d.code).collect::<Vec<_>>();
        assert_eq!(codes("a § b"), [codes::STRANGE_CHARACTER]);
        assert_eq!(codes("@@"), [codes::STRANGE_CHARACTER]);
        assert_eq!(codes("/* a"), [codes::UNTERMINATED_COMMENT]);
        assert_eq!(codes("/*/"), [codes::UNTERMINATED_COMMENT]);
        assert_eq!(codes("18446744073709551616"), [codes::NUMBER_TOO_LARGE]);
        assert_eq!(codes("10Ms"), [codes::UNKNOWN_UNIT]);
        assert_eq!(codes("0x"), [codes::MALFORMED_NUMBER]);
        assert_eq!(codes("1.5"), [codes::FLOATING_POINT]);
        assert_eq!(codes("\"a\""), [codes::STRING]);
        assert_eq!(codes("\u{feff}a"), []);
    }
}
