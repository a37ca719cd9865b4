// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which curves of a figure are drawn.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// What curves can be chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Host,
    Flow,
    Context,
}

impl By {
    /// All of them.
    pub const ALL: [By; 3] = [By::Host, By::Flow, By::Context];

    /// Its word in messages, and in options behind two dashes.
    pub fn name(self) -> &'static str {
        match self {
            By::Host => "host",
            By::Flow => "flow",
            By::Context => "context",
        }
    }
}

/// Numbers of hosts, flows and contexts; all, where a list is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    pub hosts: Vec<RangeInclusive<u32>>,
    pub flows: Vec<RangeInclusive<u32>>,
    pub contexts: Vec<RangeInclusive<u32>>,
}

impl Choice {
    /// The numbers of one kind.
    pub fn numbers(&self, by: By) -> &[RangeInclusive<u32>] {
        match by {
            By::Host => &self.hosts,
            By::Flow => &self.flows,
            By::Context => &self.contexts,
        }
    }

    /// Whether this one is chosen.
    pub fn has(&self, by: By, number: f64) -> bool {
        let all = self.numbers(by);
        all.is_empty() || all.iter().any(|some| within(some, number))
    }

    /// Whether contexts of a host are shown where nobody chose: of those that send, if it is known which do.
    pub fn shows(&self, senders: Option<&BTreeSet<u32>>, host: f64) -> bool {
        let chosen = !self.hosts.is_empty() || !self.contexts.is_empty();
        chosen || senders.is_none_or(|senders| senders.contains(&(host as u32)))
    }
}

/// These numbers as an option has them: `3`, or `0..3` with both ends.
pub fn shown(some: &RangeInclusive<u32>) -> String {
    let (from, to) = (some.start(), some.end());
    if from == to { from.to_string() } else { format!("{from}..{to}") }
}

/// Whether a number of a table is one of these.
pub fn within(some: &RangeInclusive<u32>, number: f64) -> bool {
    (f64::from(*some.start())..=f64::from(*some.end())).contains(&number)
}
