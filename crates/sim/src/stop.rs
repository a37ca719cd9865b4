// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ending a run from outside before it is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a run ends early: set by another thread. What a run gives does not depend on it, except that it may give nothing.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Events between two looks at it.
const EVENTS: u32 = 1024;

impl Stop {
    /// From now on, runs with this end.
    pub fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether runs end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The same as a result.
    ///
    /// # Errors
    /// A sentence, if runs end.
    pub fn check(&self) -> Result<(), String> {
        if self.is_set() { Err("the run was interrupted".to_owned()) } else { Ok(()) }
    }

    /// As [`Stop::is_set`], at every 1024th call only, which `calls` counts.
    pub(crate) fn is_set_at_times(&self, calls: &mut u32) -> bool {
        *calls = calls.wrapping_add(1);
        calls.is_multiple_of(EVENTS) && self.is_set()
    }
}

/// Two descriptions of a run are the same whoever may end it.
impl PartialEq for Stop {
    fn eq(&self, _: &Stop) -> bool {
        true
    }
}
