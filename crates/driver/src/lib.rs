// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pipeline and all I/O around it: files, target files, diagnostics as text, the C compiler.
//!
//! *Architecture invariant:* the crates that this one calls are pure; reading, writing and starting
//! processes happen here (and in `carrick_sim`'s loader of compiled cores).

pub mod address;
pub mod build;
pub mod built;
pub mod cc;
pub mod compile;
pub mod compiled;
pub mod cores;
pub mod explain;
pub mod explain_offloads;
pub mod explain_placement;
pub mod failure;
pub mod files;
pub mod hash;
pub mod live_change;
pub mod params;
pub mod parts;
pub mod private;
pub mod probe;
pub mod progress;
pub mod quantity;
pub mod render;
pub mod snapshot;
pub mod stack;
pub mod table;
pub mod targets;
pub mod written;

pub use carrick_syntax::assemble::features::Choice;
pub use carrick_syntax::ast::Over;
pub use compile::{
    Compiled, compile_choice, compile_file, compile_for, compile_text, compile_texts, compile_texts_choice,
};
pub use failure::Failure;
