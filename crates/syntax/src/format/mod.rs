// SPDX-License-Identifier: MIT OR Apache-2.0
//! The formatter. It moves tokens, never changes them: what is printed is the token stream with new white
//! space, all comments, and the commas and semicolons that mean nothing put right.
//!
//! Lines that the author broke stay broken where that is a matter of taste (the members of a `{ }`).

mod expr;
mod formatter;
mod header;
mod stmt;
mod trivia;

use crate::diag::{Diagnostic, Severity};
use crate::pretty::render;
use formatter::Formatter;

/// Columns that a line has where it can be broken at all.
const WIDTH: usize = 100;

/// The text in the one true layout: 4 blanks a level, at most 100 columns, single empty lines kept.
///
/// # Errors
/// The diagnostics of the parser, if one of them is an error: only a program that parses is formatted.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics) = crate::parse(text);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(diagnostics);
    }
    let mut formatter = Formatter::new(text);
    let doc = formatter.file();
    Ok(render(&doc, WIDTH))
}
