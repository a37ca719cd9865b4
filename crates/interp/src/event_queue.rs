// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that have not run: those that a chain raised, and those that wait with the packets that they are of.

use carrick_ir::{EventSchedule, MOST_WAITING};
use serde::{Deserialize, Serialize};

use crate::sched::Sched;

/// A raised event that has not run: where its cells lie in [`Machine::raised_cells`](crate::machine::Machine::raised_cells).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raised {
    pub event: usize,
    pub at: usize,
}

/// What stands in the queue of timers while one is due.
pub(crate) const TIMERS: usize = usize::MAX;

/// An event that waits.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub event: usize,
    pub cells: Vec<u64>,
    /// of the context that a request is for, if it names one
    pub on: Option<u64>,
    /// the packet that it is of
    pub held: Option<usize>,
}

/// A received packet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Held {
    pub octets: Vec<u8>,
    pub number: u64,
    /// how many of its events wait
    pub users: usize,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub sched: Sched,
    /// by event
    pub queues: Vec<Option<usize>>,
    pub timers: Option<usize>,
    pub entries: Vec<Waiting>,
    pub free: Vec<usize>,
    pub held: Vec<Held>,
    pub free_held: Vec<usize>,
}

impl Pending {
    pub(crate) fn new(events: &EventSchedule, shares: &[Vec<u64>], flows: usize) -> Pending {
        let number = |queue: &Option<u32>| queue.map(|n| n as usize);
        Pending {
            sched: Sched::new(&events.schedule, shares, flows),
            queues: events.queues.iter().map(number).collect(),
            timers: number(&events.timers),
            entries: (0..MOST_WAITING).map(|_| Waiting::default()).collect(),
            free: (0..MOST_WAITING as usize).rev().collect(),
            held: (0..MOST_WAITING).map(|_| Held::default()).collect(),
            free_held: (0..MOST_WAITING as usize).rev().collect(),
        }
    }
}
