// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets that a core in the network holds.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The packets that a core in the network holds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Passing {
    /// the packet that is looked at, whole, and by which interface it came
    pub current: Vec<u8>,
    pub interface: u64,
    /// it has been said what becomes of it
    pub gone: bool,
    /// with their keys, the oldest first
    pub stored: VecDeque<(u64, Vec<u8>)>,
    /// with the interface by which each leaves, in order
    pub leaving: VecDeque<(u64, Vec<u8>)>,
    /// by which the last packet left
    pub left_by: u64,
}

impl Passing {
    /// No event asks for the packet that was looked at last any more.
    pub(crate) fn forget_current(&mut self) {
        self.current.clear();
        (self.interface, self.gone, self.left_by) = (0, false, 0);
    }

    pub(crate) fn waits_to_leave(&self) -> bool {
        !self.leaving.is_empty()
    }

    pub(crate) fn interface(&self) -> u64 {
        self.interface
    }
}
