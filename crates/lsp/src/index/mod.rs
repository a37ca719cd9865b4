// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of a program: what declares them, where each is used, and what stands behind a `.`.
//!
//! Made from the syntax tree alone: a name that does not resolve is left out, and everything else is still there.

mod declare;
mod resolve;
mod shape;
mod symbols;
#[cfg(test)]
mod tests;

use carrick_syntax::ast;

pub use symbols::{Index, Kind, Reference, Shape, Symbol, SymbolId};

impl Index {
    pub fn new(tree: &ast::File, text: &str) -> Self {
        let mut index = Index::default();
        index.declare(tree, text);
        resolve::resolve(&mut index, tree);
        index.references.sort_unstable();
        // A group's condition is there once for each of its fields.
        index.references.dedup();
        index
    }
}
