// SPDX-License-Identifier: MIT OR Apache-2.0
//! Breaks programs as people and editors do: a token too few, one twice, two exchanged, half of another program.

use crate::random::Random;

/// Words and signs worth putting where they do not belong.
const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    ".",
    "..",
    "->",
    "=",
    "==",
    "!=",
    "<<",
    ">>",
    "<=",
    "?",
    "&&",
    "||",
    "!",
    "~",
    "-",
    "+",
    "/",
    "%",
    "++",
    "--",
    "+=",
    "<<=",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "///",
    "@",
    "0",
    "1",
    "65535",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "0x",
    "0b",
    "0xffff_",
    "10ms",
    "1GiB",
    "9223372036854775807s",
    "99999999999999999999999999",
    "INF",
    "none",
    "true",
    "event",
    "context",
    "by",
    "id",
    "struct",
    "enum",
    "const",
    "param",
    "in",
    "timer_t",
    "list",
    "sliding_wnd",
    "pkt_bp",
    "over",
    "opt_t",
    "opt_union",
    "frame_union",
    "coalescing_rule",
    "opt_list",
    "seg_rule",
    "dispatch",
    "deploy",
    "interface",
    "absent",
    "stop",
    "raise",
    "for",
    "if",
    "else",
    "return",
    "break",
    "now()",
    "uint8",
    "uint64",
    "int64",
    "seq32",
    "bytes",
    "duration",
    "addr_t",
    "data_t",
    "checksum16_t",
    "crc32_t",
    "varint_t",
    "header_len",
    "net_header",
    "scratchpad",
    "\u{feff}",
    "\u{00e9}",
    "\u{1f600}",
    "\0",
    "\r",
    "\t",
];

/// Longest text, in bytes: what is wrong with a long one is wrong with a short one.
const LONGEST: usize = 60_000;

/// Makes one broken program after another.
pub struct Mutator {
    seeds: Vec<Vec<String>>,
    random: Random,
}

impl Mutator {
    pub fn new(seeds: Vec<String>, random: Random) -> Mutator {
        Mutator { seeds: seeds.iter().map(|s| tokens(s)).collect(), random }
    }

    pub fn next(&mut self) -> String {
        let mut text = self.random.pick(&self.seeds).cloned().unwrap_or_default();
        for _ in 0..=self.random.below(6) {
            self.mutate(&mut text);
        }
        let mut text = text.concat();
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }

    fn mutate(&mut self, text: &mut Vec<String>) {
        let (at, len) = (self.random.below(text.len()), self.random.below(8));
        let range = at..(at + len).min(text.len());
        match self.random.below(10) {
            0 => drop(text.drain(range)),
            1 => {
                let copy = text[range].to_vec();
                let to = self.random.below(text.len());
                text.splice(to..to, copy);
            }
            2 if !text.is_empty() => {
                let other = self.random.below(text.len());
                text.swap(at, other);
            }
            3 | 4 => self.put_word(text, at, true),
            5 => self.put_word(text, at, false),
            6 => self.splice(text, at),
            7 => self.nest(text, at),
            8 => text.truncate(at),
            _ => self.rename(text, at),
        }
    }

    fn put_word(&mut self, text: &mut Vec<String>, at: usize, replace: bool) {
        let word = self.random.pick(WORDS).copied().unwrap_or("").to_owned();
        let end = if replace && at < text.len() { at + 1 } else { at };
        text.splice(at..end, [word]);
    }

    /// Goes on with a piece of another program.
    fn splice(&mut self, text: &mut Vec<String>, at: usize) {
        let Some(other) = self.random.pick(&self.seeds).cloned() else { return };
        let from = self.random.below(other.len());
        let to = from + self.random.below((other.len() - from).min(200));
        text.splice(at..at, other[from..to].iter().cloned());
    }

    /// Repeats one token until a recursive descent must notice.
    fn nest(&mut self, text: &mut Vec<String>, at: usize) {
        const OPENERS: &[&str] =
            &["(", "{", "[", "-", "!", "~", "if (a) ", "a ? ", "list<", "f(", "x.", "for (T a in b) ", "1+"];
        let opener = self.random.pick(OPENERS).copied().unwrap_or("(");
        let depth = 1 << self.random.below(14);
        text.insert(at, opener.repeat(depth));
    }

    /// Gives one place the name that stands in another.
    fn rename(&mut self, text: &mut [String], at: usize) {
        let from = self.random.below(text.len());
        if let (Some(name), true) = (text.get(from).cloned(), at < text.len()) {
            text[at] = name;
        }
    }
}

/// Words, numbers, blanks and single signs; together they are the text.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        let kind =
            if c.is_alphanumeric() || c == '_' { Some(true) } else { c.is_whitespace().then_some(false) };
        match found.last_mut() {
            Some(token) if kind.is_some() && kind == last => token.push(c),
            _ => found.push(c.to_string()),
        }
        last = kind;
    }
    found
}
