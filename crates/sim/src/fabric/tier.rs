// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where in the network a port is.

use super::topology::Node;

/// Where a port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    FromHost,
    ToHost,
    Between,
}

impl Tier {
    /// Of a port of a link between these.
    pub fn of(from: Node, to: Node, hosts: u32) -> Tier {
        match (from < hosts, to < hosts) {
            (true, _) => Tier::FromHost,
            (_, true) => Tier::ToHost,
            _ => Tier::Between,
        }
    }

    /// Its word in names of columns.
    pub fn name(self) -> &'static str {
        match self {
            Tier::FromHost => "from_host",
            Tier::ToHost => "to_host",
            Tier::Between => "between",
        }
    }
}
