// SPDX-License-Identifier: MIT OR Apache-2.0
//! What makes an artefact again: every table, trace, capture, drawing and page that a run leaves carries it.

pub mod allowed;
mod inputs;
mod read;
mod record;
pub mod words;

pub use read::{Form, PNG_KEYWORD};
pub use record::{Manifest, VERSION};
