// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of printing: lines, with names looked up in the program.

use std::fmt::Write;

use super::names::{name, type_name};
use crate::{Function, LocalId, Program, Ty};

/// The text so far, and what is printed.
pub(super) struct Printer<'p> {
    pub(super) program: &'p Program,
    /// whose locals are meant
    pub(super) function: Option<&'p Function>,
    /// the names of the fields that `BpField`, `PrevField` and `CallArg` mean
    pub(super) fields: Vec<&'p str>,
    /// whether each literal has its type, and nothing is left out that tells two programs apart
    pub(super) whole: bool,
    pub(super) out: String,
    pub(super) indent: usize,
}

impl Printer<'_> {
    pub(super) fn line(&mut self, text: &str) {
        let indent = 4 * self.indent;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    pub(super) fn ty(&self, ty: &Ty) -> String {
        type_name(self.program, ty)
    }

    /// A local's name; with its number where another local of the function has the same.
    pub(super) fn local(&self, id: LocalId) -> String {
        let locals = self.function.map_or(&[][..], |f| &f.locals);
        let name = name(locals, id.index(), |l| &l.name);
        if locals.iter().filter(|l| l.name == name).count() > 1 {
            return format!("{name}.{}", id.0);
        }
        name.to_owned()
    }
}
