// SPDX-License-Identifier: MIT OR Apache-2.0
//! What hosts have done before. A host in one state does the same whenever the same reaches it at the same time, whatever the other hosts
//! and the channel are. What one thread knows all can know, but each has a copy of what it has asked for: then no two wait for each other.

use std::rc::Rc;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

use crate::action::Way;
use crate::goal::Goal;
use crate::store::{Host, Kept};
use crate::visited::lock;

/// Entries at most: then it begins anew, so that a search does not need the more memory the longer it takes.
const ENTRIES: usize = 1 << 20;

/// What reaches which host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    pub host: usize,
    /// the print of the state that it is in
    pub state: u64,
    pub what: What,
    pub now: u64,
    /// a host has begun anew, so that less is required
    pub crashed: bool,
}

/// What reaches a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// a packet with this print, with a bit changed or none
    Packet(Way, u64, Option<u32>),
    Time,
    Crash(u8),
}

/// What it does.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub host: Host,
    pub sent: Vec<(Way, Kept)>,
    /// what is wrong with it
    pub wrong: Option<(Goal, String)>,
    /// it handles events
    pub acts: bool,
}

/// What they have done, as far as any thread knows.
#[derive(Default)]
pub(crate) struct Known(Mutex<FxHashMap<Asked, Done>>);

/// The same, as far as one thread has asked.
pub(crate) struct Memo<'k> {
    known: &'k Known,
    own: FxHashMap<Asked, Rc<Done>>,
}

fn insert<T>(entries: &mut FxHashMap<Asked, T>, asked: Asked, done: T) {
    if entries.len() >= ENTRIES {
        entries.clear();
    }
    entries.insert(asked, done);
}

impl<'k> Memo<'k> {
    pub(crate) fn new(known: &'k Known) -> Memo<'k> {
        Memo { known, own: FxHashMap::default() }
    }

    /// What a host has done before, when the same reached it.
    pub(crate) fn get(&mut self, asked: &Asked) -> Option<Rc<Done>> {
        if let Some(done) = self.own.get(asked) {
            return Some(done.clone());
        }
        let done = Rc::new(lock(&self.known.0).get(asked)?.clone());
        insert(&mut self.own, *asked, done.clone());
        Some(done)
    }

    /// Keeps what a host does.
    pub(crate) fn put(&mut self, asked: Asked, done: &Rc<Done>) {
        insert(&mut lock(&self.known.0), asked, Done::clone(done));
        insert(&mut self.own, asked, done.clone());
    }
}
