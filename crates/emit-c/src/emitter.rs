// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all parts of the emitter work on. Each adds methods for what it writes.

use std::collections::BTreeSet;

use carrick_ir::Program;

use crate::names::Names;
use crate::writer::Writer;

/// The state of writing one `NAME.c`.
pub struct Emitter<'p> {
    pub p: &'p Program,
    pub names: Names<'p>,
    pub w: Writer,
    /// whether blueprints wait in scheduling blocks that the runtime works
    pub blocks: bool,
    /// whether it is for the kernel: state in maps, bounds where the verifier sees them
    pub kernel: bool,
    /// for the kernel: the functions that are put into their callers
    pub inlined: BTreeSet<String>,
    /// the function that is being written
    pub function: Option<&'p carrick_ir::Function>,
}

impl Emitter<'_> {
    /// The first parameter of most generated functions.
    pub fn core_param(&self) -> String {
        format!("CARRICK_UNUSED struct {} *core", self.names.own("core"))
    }
}
