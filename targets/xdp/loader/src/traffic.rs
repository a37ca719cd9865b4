// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets of a device are for a program: its place in the maps of the dispatcher.

use std::fmt;

use carrick_ir::{NetLayer, Program};

/// Protocols of one version of the Internet Protocol.
const PROTOCOLS: u32 = 256;

/// The packets of one protocol over one version of the Internet Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// IPv4's protocols have the first places, IPv6's the others: `place_of` of the dispatcher
    place: u32,
}

impl Traffic {
    /// How many places there are.
    pub(crate) const PLACES: u32 = 2 * PROTOCOLS;

    /// That of a program.
    pub fn of(program: &Program) -> Traffic {
        let first = if program.net_header.layer == NetLayer::Ipv6 { PROTOCOLS } else { 0 };
        Traffic { place: first + u32::from(program.net_header.protocol) }
    }

    /// All that there can be, by their places.
    pub(crate) fn all() -> impl Iterator<Item = Traffic> {
        (0..Traffic::PLACES).map(|place| Traffic { place })
    }

    /// Its place.
    pub(crate) fn place(self) -> u32 {
        self.place
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = if self.place < PROTOCOLS { "" } else { " over IPv6" };
        write!(f, "IP protocol {}{version}", self.place % PROTOCOLS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_have_all_protocols() {
        let all: Vec<String> = Traffic::all().map(|traffic| traffic.to_string()).collect();
        assert_eq!((all.len(), &*all[6], &*all[262]), (512, "IP protocol 6", "IP protocol 6 over IPv6"));
    }
}
