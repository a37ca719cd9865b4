// SPDX-License-Identifier: MIT OR Apache-2.0
//! The language server: what the compiler knows of a program, asked by an editor over standard input and output.
//!
//! One thread reads a message, carries it out and answers it. Changes only replace the text; what is known of it
//! (the [`index`] of its names, its diagnostics) is computed when it is next asked for, and diagnostics are sent when no
//! message waits, so that typing never outruns the checks.
//!
//! *Architecture invariant:* names are resolved over the syntax tree, with what the recovering parser made of a broken
//! text, so that every request works on a program that does not check.

mod actions;
mod completion;
mod diagnostics;
mod document;
mod hover;
mod index;
mod outline;
mod paths;
mod positions;
mod rename;
mod requests;
mod semantic;
mod server;
mod signature;
mod stdio;
mod texts;
mod words;
mod workspace;

pub use server::{Ended, serve, serve_stdio};
pub use words::{Class, names as built_in_words};
