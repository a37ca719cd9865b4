// SPDX-License-Identifier: MIT OR Apache-2.0
//! One word that has a meaning before any declaration.

use carrick_ir::Opcode;

/// A word, how it is written with what belongs to it, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    pub name: &'static str,
    pub form: &'static str,
    pub doc: &'static str,
}

pub(crate) const fn word(name: &'static str, form: &'static str, doc: &'static str) -> Word {
    Word { name, form, doc }
}

pub(crate) const fn instruction(op: Opcode) -> Word {
    let declared = op.declaration();
    word(declared.name, declared.form, declared.meaning)
}
