// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that is no name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Documentation, a condition as written, the name of a file, its text: anything may be in it, whoever wrote the program.
///
/// It has no `Display`, so that no emitter can put it into what it writes as it is. Each emitter has one module that takes it: that
/// module knows what ends a string and a comment in the language that is written. Every other string of a program is an
/// identifier, which the validator checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Text(String);

impl Text {
    /// Returns the text as it is: for people, for the file system, and for the modules that escape it.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.to_owned())
    }
}
