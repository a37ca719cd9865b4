// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold, without a line written for it.

use std::fmt;

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Goal {
    /// the program's own claims
    Claims,
    /// what arrives was sent so, once and in order, as the interface promises; each request completes once
    Delivery,
    /// each run comes to an end, and no application waits then
    Ends,
    /// without faults and with them, the same contexts are left at the end
    Released,
    /// the ends do not answer each other for ever, without any time passing
    Calm,
}

impl Goal {
    /// All of them.
    pub const ALL: [Goal; 5] = [Goal::Claims, Goal::Delivery, Goal::Ends, Goal::Released, Goal::Calm];

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Goal::Claims => "claims",
            Goal::Delivery => "delivery",
            Goal::Ends => "ends",
            Goal::Released => "released",
            Goal::Calm => "calm",
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Goal::Claims => "no claim of the program fails",
            Goal::Delivery => "what arrives is what was sent, as the interface promises",
            Goal::Ends => "every run ends, and nobody waits then",
            Goal::Released => "every run leaves what a run without faults leaves",
            Goal::Calm => "the ends never exchange packets without end while no time passes",
        })
    }
}
