// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold of a program in this form, checked: ids in range, types that agree, every rule of this
//! crate's description. What the checker accepts is valid: of a program from text, this finds mistakes of the
//! compiler alone. A program that another tool made is checked by nothing else.

mod check;
mod decl;
mod depths;
mod expr;
mod instr;
mod names;
pub mod numbers;
mod place;
mod stmt;
mod timers;

use crate::Program;
use check::{Check, Scope};

/// Checks a completed program.
///
/// # Errors
///
/// One line for each violation, which says where it is (`function f, line 3: ...`) and what is wrong.
pub fn validate(program: &Program) -> Result<(), Vec<String>> {
    let mut check =
        Check { program, place: String::new(), scope: Scope::Constant, live: Vec::new(), errors: Vec::new() };
    check.numbers();
    if check.errors.is_empty() {
        check.program();
    }
    if check.errors.is_empty() { Ok(()) } else { Err(check.errors) }
}
