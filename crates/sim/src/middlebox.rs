// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network: a core between client and server, on the way of every packet.

use crate::core::Core;
use crate::link::{Link, LinkCounters};

/// The core with its links: 0 leads to the client, 1 to the server, as its interfaces do.
pub struct Middlebox {
    pub core: Box<dyn Core>,
    pub links: [Link; 2],
    /// the earliest time for which a timer is planned
    pub(crate) timer_at: u64,
    /// packets that it sent by an interface that there is not
    pub(crate) astray: u64,
}

impl Middlebox {
    /// A core that has not seen a packet.
    pub fn new(core: Box<dyn Core>, links: [Link; 2]) -> Middlebox {
        Middlebox { core, links, timer_at: u64::MAX, astray: 0 }
    }

    /// A sentence, if the core sent packets by interfaces that there are not.
    pub(crate) fn stray_packets(&self) -> Option<String> {
        let astray = self.astray;
        (astray > 0).then(|| {
            format!("the program in the network sent {astray} packets by interfaces other than 0, 1 and `ROUTE`; they were dropped")
        })
    }

    /// What became of the packets that it sent to client and server.
    pub fn link_counters(&self) -> [LinkCounters; 2] {
        [self.links[0].counters, self.links[1].counters]
    }
}
