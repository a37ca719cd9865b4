// SPDX-License-Identifier: MIT OR Apache-2.0
//! The states that were seen, and how each was reached first.

use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::action::Action;

const SHARDS: usize = 64;

/// How a state was reached.
#[derive(Debug, Clone, Copy)]
struct Origin {
    /// the print of the state before
    from: u64,
    by: Action,
    depth: u32,
}

/// States by their prints. Many threads add to it at once.
pub(crate) struct Visited {
    shards: Vec<Mutex<FxHashMap<u64, Option<Origin>>>>,
}

/// What is known of a state that was seen before.
pub(crate) enum Seen {
    New,
    /// so many steps from the beginning
    Before(u32),
}

/// What a thread has left, also one that has ended amid it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Visited {
    /// Only the first state was seen.
    pub(crate) fn beginning_with(print: u64) -> Visited {
        let visited = Visited { shards: (0..SHARDS).map(|_| Mutex::default()).collect() };
        visited.shard(print).insert(print, None);
        visited
    }

    fn shard(&self, print: u64) -> MutexGuard<'_, FxHashMap<u64, Option<Origin>>> {
        lock(&self.shards[(print >> 58) as usize % SHARDS])
    }

    /// A state was reached from another. Of several ways of one length the least counts, so that the order of threads does not.
    pub(crate) fn add(&self, print: u64, from: u64, by: Action, depth: u32) -> Seen {
        match self.shard(print).entry(print) {
            Entry::Vacant(vacant) => {
                vacant.insert(Some(Origin { from, by, depth }));
                Seen::New
            }
            Entry::Occupied(mut occupied) => match occupied.get_mut() {
                None => Seen::Before(0),
                Some(origin) => {
                    if origin.depth == depth && (from, by) < (origin.from, origin.by) {
                        (origin.from, origin.by) = (from, by);
                    }
                    Seen::Before(origin.depth)
                }
            },
        }
    }

    /// The actions that lead to a state from the beginning.
    pub(crate) fn path(&self, print: u64) -> Vec<Action> {
        let mut path = Vec::new();
        let mut at = print;
        loop {
            let origin = self.shard(at).get(&at).copied().flatten();
            let Some(origin) = origin else { break };
            path.push(origin.by);
            at = origin.from;
        }
        path.reverse();
        path
    }
}
