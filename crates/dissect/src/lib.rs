// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Wireshark dissector, in Lua, for the packets of a transport program.
//!
//! The script needs nothing else. What it shows of a packet is what the program makes of it: the blueprints that its
//! parser extracts, why it drops a packet, and the events that it raises. So the parser and the functions that it calls
//! are translated too, and each blueprint becomes a function that reads it as the reference says.
//!
//! *Architecture invariant:* this crate does no I/O.

mod checks;
mod emitter;
mod events;
mod expr;
mod extract;
mod fields;
mod library;
mod names;
mod operators;
mod options;
mod place;
mod script;
mod stmt;
mod text;
mod types;
mod values;
mod writer;

use carrick_ir::Program;

/// The script for a program whose parameters have these values, one for each of [`Program::params`].
///
/// # Errors
/// What the parser does that a script cannot: the program is right, but has no dissector.
pub fn dissector(program: &Program, params: &[u64]) -> Result<String, String> {
    script::write(program, params)
}
