// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an application is.

use serde::{Deserialize, Serialize};

/// What an application knows of its surroundings.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Place {
    /// it opens connections, and answers on none
    pub is_client: bool,
    pub address: u32,
    pub peer: u32,
    pub seed: u64,
    /// bytes of a message at most
    pub message: u32,
    /// its program lets applications listen
    pub listens: bool,
    /// bytes begin with the number of their connection; where there is only one, they need not
    pub numbered: bool,
}
