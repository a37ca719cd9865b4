// SPDX-License-Identifier: MIT OR Apache-2.0
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
pub mod span;
pub mod suggest;
pub mod walk;

pub use format::format;
pub use lines::{LineCol, LineIndex};
pub use parser::{parse, parse_exprs, parse_part, parse_stmt};
pub use sources::{Places, Sources};
pub use span::Span;
