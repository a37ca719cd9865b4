//! Text to syntax tree, and back again.
//!
//! *Architecture invariant:* this crate does no I/O and knows no name or type of a program.
#![allow(missing_docs, reason = "the tree's fields are named for what they hold")]

pub mod assemble;
pub mod ast;
pub mod codes;
pub mod diag;
pub mod diagnostics;
mod format;
pub mod lexer;
pub mod lines;
mod parser;
mod pretty;
pub mod sources;
pub mod suggest;
pub mod walk;

pub use format::format;
pub use lines::{LineCol, LineIndex};
pub use parser::{parse, parse_exprs, parse_part, parse_stmt};
pub use sources::{Places, Sources};

/// A half-open range of byte offsets in the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}
