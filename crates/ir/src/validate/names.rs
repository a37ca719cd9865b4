// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names, texts that messages quote, and structures that contain each other.

use super::check::Check;
use crate::identifiers::{self, Found};
use crate::{Program, Text, Ty, graph};

impl Check<'_> {
    /// Every string that is no text is an identifier: generated code has it as it is. What messages quote is one line.
    pub(super) fn names(&mut self) {
        self.place = "names".into();
        let mut wrong = Vec::new();
        identifiers::each(self.program, &mut |found| {
            if !is_identifier(name_of(&found)) {
                wrong.push(format!("{:?} is no identifier", found.value));
            }
        });
        wrong.iter().for_each(|what| self.fail(what));
        for line in lines(self.program) {
            self.must(!line.raw().contains(char::is_control), &format!("{:?} is not one line", line.raw()));
        }
    }

    /// No structure contains itself.
    pub(super) fn structures(&mut self) {
        let structs = &self.program.structs;
        let edges: Vec<Vec<usize>> =
            structs.iter().map(|def| def.fields.iter().filter_map(|f| contained(&f.ty)).collect()).collect();
        if edges.iter().flatten().any(|to| *to >= structs.len()) {
            return;
        }
        for circle in graph::circles(&edges) {
            self.place = format!("struct {}", structs[circle[0]].name);
            self.fail("it contains itself");
        }
    }
}

/// The structure in a type.
pub(super) fn contained(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Struct(id) => Some(id.index()),
        Ty::Array(element, _) | Ty::List(element, ..) => contained(element),
        _ => None,
    }
}

fn is_identifier(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// The name in a string: a timer among several has its index behind it.
fn name_of<'a>(found: &Found<'a>) -> &'a str {
    let index = |index: &str| index.strip_suffix(']').is_some_and(|digits| digits.parse::<u32>().is_ok());
    match found.value.split_once('[') {
        Some((name, rest)) if found.of == "TimerDef" && index(rest) => name,
        _ => found.value,
    }
}

/// What messages quote.
fn lines(p: &Program) -> impl Iterator<Item = &Text> {
    let guards = p.machines.iter().flat_map(|m| m.transitions.iter().filter_map(|t| t.guard.as_ref()));
    let quoted = p.claims.iter().map(|c| &c.text).chain(p.requirements.iter().map(|r| &r.text));
    p.imports.iter().chain([&p.file]).chain(&p.features).chain(quoted).chain(guards)
}
