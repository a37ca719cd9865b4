// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as text: one stable, readable form for people and for snapshots. It is not parsed again.
//!
//! Ids out of range print as `?`, so that a program that the validator refuses can still be looked at.

mod decl;
mod expr;
mod machine;
mod names;
mod printer;
mod stmt;

pub use names::{literal, type_name};

use crate::Program;
use printer::Printer;

/// The text of a program: declarations in their order, then functions, chains, interface and bounds.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { program, function: None, fields: Vec::new(), out: String::new(), indent: 0 };
    printer.program();
    printer.out
}

/// An expression as it is written in a program; `fields` are the names that fields of a blueprint have in it.
pub fn expression(program: &Program, e: &crate::Expr, fields: &[&str]) -> String {
    let printer = Printer { program, function: None, fields: fields.to_vec(), out: String::new(), indent: 0 };
    printer.expr(e)
}

/// An expression as text without the parentheses around the whole of it, if there are some.
pub fn without_parentheses(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0_i32;
    let closes_early = inner.chars().any(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    if closes_early { text } else { inner }
}
