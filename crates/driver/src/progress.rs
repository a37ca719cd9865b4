// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps that take longer than a person waits without a word, as those of compilers. A program that has this library says how they are
//! shown; by default they are not.

use std::any::Any;
use std::sync::OnceLock;

/// Shows that a step begins (`compiling the host of parcel`); drops what it returns when the step ends.
pub type Show = fn(&str) -> Box<dyn Any>;

static SHOW: OnceLock<Show> = OnceLock::new();

/// Sets how steps are shown from now on. The first call counts.
pub fn show_by(show: Show) {
    let _ = SHOW.set(show);
}

/// A step, until this is dropped.
#[must_use = "the step ends with it"]
pub struct Step {
    _shown: Option<Box<dyn Any>>,
}

/// Begins a step.
pub fn step(what: &str) -> Step {
    Step { _shown: SHOW.get().map(|show| show(what)) }
}
