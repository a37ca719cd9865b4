// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why there is nothing to look at.

use carrick_driver::Failure;
use carrick_driver::probe::Unanswered;

/// Why there is nothing to look at.
pub enum LoadError {
    Usage(Failure),
    Question(Unanswered),
}

impl From<Failure> for LoadError {
    fn from(failure: Failure) -> LoadError {
        LoadError::Usage(failure)
    }
}

impl From<Unanswered> for LoadError {
    fn from(unanswered: Unanswered) -> LoadError {
        LoadError::Question(unanswered)
    }
}
