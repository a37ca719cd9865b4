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
    text(program, false)
}

fn text(program: &Program, whole: bool) -> String {
    let mut printer =
        Printer { program, function: None, fields: Vec::new(), whole, out: String::new(), indent: 0 };
    printer.program();
    printer.out
}

/// A declaration of a program, a function, or a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is and its name: the first two words, such as `context tcb`.
    pub head: String,
    /// Its text, which names everything: two programs that number their declarations differently have the same.
    pub text: String,
}

/// The parts of [`print`], but the first line; of functions without their claims, which do nothing. Literals have their types.
pub fn items(program: &Program) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    for line in text(program, true).lines().skip(1).filter(|line| !line.trim_start().starts_with("assert #"))
    {
        match found.last_mut() {
            Some(item) if line.starts_with([' ', '}']) => item.text.extend(["\n", line]),
            _ => {
                let line = line.replacen("event block ", "event_block ", 1);
                let words =
                    line.split([' ', '(', ':', ',']).filter(|word| !word.is_empty() && *word != "global");
                let head = words.take(2).collect::<Vec<_>>().join(" ");
                found.push(Item { head, text: line });
            }
        }
    }
    found
}

/// An expression as it is written in a program; `fields` are the names that fields of a blueprint have in it.
pub fn expression(program: &Program, e: &crate::Expr, fields: &[&str]) -> String {
    let fields = fields.to_vec();
    let printer = Printer { program, function: None, fields, whole: false, out: String::new(), indent: 0 };
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
