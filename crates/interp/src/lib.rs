//! The reference semantics: the IR, executed.

mod api;
mod core;

pub use api::*;
pub use core::Core;
