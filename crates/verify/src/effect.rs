// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a path does to packets, timers and the application.

use carrick_ir::Ty;

use crate::value::Value;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// an instruction is issued
    Issue,
    /// a blueprint gets its payload, or a frame
    Fill,
}

/// An instruction, or where the bytes of a packet come from.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub does: Does,
    /// its name, with those of its operands that are names only
    pub what: String,
    /// names, types and values of the others
    pub parts: Vec<(&'static str, Ty, Value)>,
}
