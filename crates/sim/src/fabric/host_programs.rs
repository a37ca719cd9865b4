// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of hosts: one at most hosts, others at some.

use std::collections::BTreeMap;

use super::topology::Node;
use crate::interface::Shape;
use crate::run::same_version;
use crate::scenario::Way;

/// What each host runs.
pub struct HostPrograms<'a> {
    /// at each host that [`HostPrograms::others`] does not have
    pub usual: Way<'a>,
    pub others: BTreeMap<Node, Way<'a>>,
}

impl<'a> HostPrograms<'a> {
    /// The same program at all hosts.
    pub fn same(usual: Way<'a>) -> HostPrograms<'a> {
        HostPrograms { usual, others: BTreeMap::new() }
    }

    /// The program of a host.
    pub fn at(&self, host: Node) -> &Way<'a> {
        self.others.get(&host).unwrap_or(&self.usual)
    }

    /// Checks that these hosts can speak with each other.
    ///
    /// # Errors
    /// A sentence, if a host is missing, or programs differ in their packets' protocol or in their kind of API.
    pub(super) fn check(&self, hosts: u32) -> Result<(), String> {
        let usual = self.usual.program;
        for (host, Way { program, .. }) in &self.others {
            if *host >= hosts {
                return Err(format!("h{host} is no host: there are h0 to h{}", hosts - 1));
            }
            same_version(program, usual)?;
            let [its, others] = [program, usual].map(|program| program.net_header.protocol);
            if its != others {
                return Err(format!(
                    "the program of h{host} has the protocol {its}, that of other hosts {others}"
                ));
            }
            if Shape::of(program)? != Shape::of(usual)? {
                return Err(format!(
                    "the program of h{host} has another kind of interface than that of other hosts"
                ));
            }
        }
        Ok(())
    }
}
