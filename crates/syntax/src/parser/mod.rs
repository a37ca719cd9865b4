// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens to tree: recursive descent for declarations and statements, precedence climbing for expressions.
//!
//! A function that meets a mistake reports it once and returns [`Reported`](cursor::Reported); the loop over the
//! enclosing list (of declarations, fields or statements) then skips to where the next element can begin.

mod choice;
mod cursor;
mod decl;
mod expr;
mod feature;
mod header;
mod machine;
mod snippet;
mod stmt;
mod ty;

use std::ops::Range;

use crate::ast::File;
use crate::diag::Diagnostic;
use cursor::Parser;
pub use snippet::{parse_exprs, parse_stmt};

/// Parses a file. The tree holds whatever could be understood; if any diagnostic is an error, it is not
/// to be taken further.
pub fn parse(text: &str) -> (File, Vec<Diagnostic>) {
    parse_part(text, 0..text.len())
}

/// As [`parse`], of a part of a text that begins a line; spans count in the whole.
pub fn parse_part(text: &str, part: Range<usize>) -> (File, Vec<Diagnostic>) {
    let mut parser = Parser::new(text, part);
    let file = parser.file();
    (file, parser.diagnostics.into_vec())
}
