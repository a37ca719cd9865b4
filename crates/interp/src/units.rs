// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data units: what is sent and what is received, in order.

use serde::{Deserialize, Serialize};

use crate::ring::Ring;
use crate::runs;

/// Data to send: held from `base` to `end`.
#[derive(Debug, Default)]
pub(crate) struct TxUnit {
    pub exists: bool,
    base: u64,
    end: u64,
    /// what lies before it may be overwritten
    reclaimed: u64,
    /// queued blueprints with a payload of this unit, of each round
    queued: [u32; 2],
    /// no queued payload of a round begins before it; of meaning while there is one
    floor: [u64; 2],
    /// that of the next one
    round: usize,
    /// `end` goes no further
    limit: u64,
    capacity: u64,
    ring: Ring,
}

impl TxUnit {
    /// Begins the unit, empty, with room for `capacity` bytes, a power of two.
    pub(crate) fn start(&mut self, size: u64, capacity: usize) {
        self.ring.make(capacity);
        (self.base, self.end, self.reclaimed, self.floor, self.round) = (0, 0, 0, [0; 2], 0);
        (self.exists, self.limit, self.capacity) = (true, size, capacity as u64);
    }

    /// How many bytes would be taken now.
    pub(crate) fn room(&self) -> u64 {
        (self.capacity - (self.end - self.reclaimed)).min(self.limit - self.end)
    }

    /// Appends what there is room for; returns how much that was.
    pub(crate) fn add(&mut self, from: &[u8]) -> u64 {
        let taken = self.room().min(from.len() as u64);
        self.ring.put(self.end, &from[..taken as usize]);
        self.end += taken;
        taken
    }

    /// Retires the first `len` bytes held, as many as there are; returns how many.
    pub(crate) fn flush(&mut self, len: u64) -> u64 {
        let taken = len.min(self.end - self.base);
        self.base += taken;
        self.reclaim();
        taken
    }

    /// What is still there of a range: offset, length.
    pub(crate) fn cut(&self, offset: u64, len: u64) -> (u64, u64) {
        let from = offset.max(self.reclaimed);
        let to = offset.saturating_add(len).min(self.end);
        (from, to.saturating_sub(from))
    }

    /// A blueprint whose payload begins there is queued: in which round.
    ///
    /// Bytes are to come free also while something is always queued: which payload is the first is known for each round, and one
    /// begins when none of the other is left.
    pub(crate) fn queued_at(&mut self, offset: u64) -> usize {
        if self.queued[self.round] > 0 && self.queued[1 - self.round] == 0 {
            self.round = 1 - self.round;
        }
        let round = self.round;
        self.floor[round] = if self.queued[round] == 0 { offset } else { self.floor[round].min(offset) };
        self.queued[round] += 1;
        round
    }

    /// A queued blueprint of a round is out.
    pub(crate) fn dequeued(&mut self, round: usize) {
        self.queued[round] = self.queued[round].saturating_sub(1);
        self.reclaim();
    }

    /// Whether a blueprint with a payload of this unit is queued.
    pub(crate) fn is_queued(&self) -> bool {
        self.queued != [0; 2]
    }

    fn reclaim(&mut self) {
        let queued = (0..2).filter(|&round| self.queued[round] > 0).map(|round| self.floor[round]);
        self.reclaimed = self.reclaimed.max(queued.fold(self.base, u64::min));
    }

    pub(crate) fn get(&self, offset: u64, len: usize, out: &mut Vec<u8>) {
        self.ring.get(offset, len, out);
    }
}

/// What of a unit to be sent is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedTx {
    exists: bool,
    base: u64,
    reclaimed: u64,
    end: u64,
    queued: [u32; 2],
    floor: [u64; 2],
    round: usize,
    limit: u64,
    octets: Vec<u8>,
}

impl TxUnit {
    /// What is kept of it, if it exists, or packets of it are queued.
    pub(crate) fn saved(&self) -> Option<SavedTx> {
        if !self.exists && !self.is_queued() {
            return None;
        }
        let mut octets = Vec::new();
        self.ring.get(self.reclaimed, (self.end - self.reclaimed) as usize, &mut octets);
        // What was queued says nothing any more, once nothing is.
        let (floor, round) = if self.is_queued() { (self.floor, self.round) } else { ([0; 2], 0) };
        let TxUnit { exists, base, reclaimed, end, queued, limit, .. } = *self;
        Some(SavedTx { exists, base, reclaimed, end, queued, floor, round, limit, octets })
    }

    /// Goes back to what was kept; `capacity` as in [`TxUnit::start`].
    pub(crate) fn restore(&mut self, saved: Option<SavedTx>, capacity: usize) {
        (self.exists, self.queued) = (false, [0; 2]);
        let Some(saved) = saved else { return };
        self.start(saved.limit, capacity);
        self.exists = saved.exists;
        (self.base, self.reclaimed, self.end) = (saved.base, saved.reclaimed, saved.end);
        (self.queued, self.floor, self.round) = (saved.queued, saved.floor, saved.round);
        self.ring.put(self.reclaimed, &saved.octets);
    }
}

/// How a segment was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    All,
    /// not what lies beyond the room
    Cut,
    /// nothing: it would be one run too many
    RunsFull,
}

/// Received data: in order from `base` to `ready`, and separate runs above.
#[derive(Debug, Default)]
pub(crate) struct RxUnit {
    pub exists: bool,
    base: u64,
    ready: u64,
    /// two cells for each that it tells apart
    runs: Vec<u64>,
    count: usize,
    limit: u64,
    capacity: u64,
    ring: Ring,
}

impl RxUnit {
    /// Begins the unit, empty, with room for `capacity` bytes, a power of two, and for so many separate runs.
    pub(crate) fn start(&mut self, size: u64, capacity: usize, runs: usize) {
        self.ring.make(capacity);
        self.runs.resize(2 * runs, 0);
        (self.base, self.ready, self.count) = (0, 0, 0);
        (self.exists, self.limit, self.capacity) = (true, size, capacity as u64);
    }

    /// How many bytes it has room for, those that it holds included; 0 without a unit.
    pub(crate) fn room(&self) -> u64 {
        if self.exists { self.capacity } else { 0 }
    }

    /// How many bytes it holds, with those that are missing among them.
    pub(crate) fn held(&self) -> u64 {
        let end = if self.count == 0 { self.ready } else { self.runs[2 * self.count - 1] };
        end - self.base
    }

    /// How many bytes it holds that can be delivered.
    pub(crate) fn in_order(&self) -> u64 {
        self.ready - self.base
    }

    /// Drops what lies at or beyond an offset, behind a gap.
    fn cut(&mut self, end: u64) {
        let kept = self.runs[..2 * self.count].chunks_exact(2).take_while(|run| run[0] < end).count();
        self.count = kept;
        if let Some(last) = self.runs[..2 * kept].last_mut() {
            *last = (*last).min(end);
        }
    }

    /// Gives it room for `capacity` bytes, a power of two that is not below what it holds in order.
    pub(crate) fn resize(&mut self, capacity: usize) {
        if capacity as u64 != self.capacity {
            self.cut(self.base + capacity as u64);
            self.ring.resize(capacity, self.base, self.held() as usize);
            self.capacity = capacity as u64;
        }
    }

    /// Takes what is new of the bytes that belong at `offset`.
    pub(crate) fn add(&mut self, offset: u64, from: &[u8]) -> Added {
        let end = offset.saturating_add(from.len() as u64);
        let top = self.base.saturating_add(self.capacity).min(self.limit);
        let (lo, hi) = (offset.max(self.base), end.min(top));
        let added = if end > top && !from.is_empty() { Added::Cut } else { Added::All };
        if lo >= hi {
            return added;
        }
        let mut at = lo.max(self.ready);
        let mut fill = |from_octet: u64, to: u64| {
            if from_octet < to {
                self.ring.put(from_octet, &from[(from_octet - offset) as usize..(to - offset) as usize]);
            }
        };
        for run in self.runs[..2 * self.count].chunks_exact(2) {
            fill(at, run[0].min(hi));
            at = at.max(run[1]);
        }
        fill(at, hi);
        // What is not noted is not there, and is overwritten.
        if self.note(lo, hi) { added } else { Added::RunsFull }
    }

    /// Notes that the bytes of `[lo, hi)` are there; false if that needs too many runs.
    fn note(&mut self, lo: u64, hi: u64) -> bool {
        if lo > self.ready {
            let most = self.runs.len() / 2;
            let count = runs::insert(&mut self.runs, self.count, most, lo, hi);
            self.count = count.unwrap_or(self.count);
            return count.is_some();
        }
        self.ready = self.ready.max(hi);
        let absorbed = self.runs[..2 * self.count].chunks_exact(2).take_while(|r| r[0] <= self.ready).count();
        if absorbed > 0 {
            self.ready = self.ready.max(self.runs[2 * absorbed - 1]);
            self.runs.copy_within(2 * absorbed..2 * self.count, 0);
            self.count -= absorbed;
        }
        true
    }

    /// Moves up to `len` bytes that are there in order to `out`, if it is there; returns how many.
    pub(crate) fn flush(&mut self, len: u64, out: Option<&mut Vec<u8>>) -> u64 {
        let taken = len.min(self.ready - self.base);
        if let Some(out) = out {
            self.ring.get(self.base, taken as usize, out);
        }
        self.base += taken;
        taken
    }
}

/// What of a unit of received data is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedRx {
    base: u64,
    ready: u64,
    runs: Vec<u64>,
    limit: u64,
    capacity: usize,
    octets: Vec<u8>,
}

impl RxUnit {
    /// What is kept of it, if it exists.
    pub(crate) fn saved(&self) -> Option<SavedRx> {
        if !self.exists {
            return None;
        }
        let runs = self.runs[..2 * self.count].to_vec();
        let mut octets = Vec::new();
        for run in [&[self.base, self.ready][..]].into_iter().chain(runs.chunks_exact(2)) {
            self.ring.get(run[0], (run[1] - run[0]) as usize, &mut octets);
        }
        let capacity = self.capacity as usize;
        Some(SavedRx { base: self.base, ready: self.ready, runs, limit: self.limit, capacity, octets })
    }

    /// Goes back to what was kept; `ranges` as in [`RxUnit::start`].
    pub(crate) fn restore(&mut self, saved: Option<SavedRx>, ranges: usize) {
        self.exists = false;
        let Some(saved) = saved else { return };
        self.start(saved.limit, saved.capacity, ranges);
        (self.base, self.ready) = (saved.base, saved.ready);
        self.count = saved.runs.len() / 2;
        self.runs[..saved.runs.len()].copy_from_slice(&saved.runs);
        let mut octets = &saved.octets[..];
        for run in [&[self.base, self.ready][..]].into_iter().chain(saved.runs.chunks_exact(2)) {
            let (here, rest) = octets.split_at((run[1] - run[0]) as usize);
            self.ring.put(run[0], here);
            octets = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROOM: usize = 64;
    const RX_RUNS: usize = 16;

    fn octet(at: u64) -> u8 {
        (at * 7 + 3) as u8
    }

    fn text(offset: u64, len: u64) -> Vec<u8> {
        (offset..offset + len).map(octet).collect()
    }

    #[test]
    fn what_lies_before_all_queued_octets_is_given_back_at_once() {
        let mut unit = TxUnit::default();
        unit.start(u64::MAX, ROOM);
        assert_eq!(unit.add(&text(0, 64)), 64);
        unit.queued_at(30);
        assert_eq!(unit.flush(20), 20);
        assert_eq!(unit.room(), 20);
        assert_eq!(unit.flush(20), 20);
        assert_eq!(unit.room(), 30);
    }

    #[test]
    fn queued_octets_are_not_overwritten() {
        let mut unit = TxUnit::default();
        unit.start(u64::MAX, ROOM);
        assert_eq!(unit.add(&text(0, 70)), 64);
        let (later, first) = (unit.queued_at(20), unit.queued_at(0));
        assert_eq!(unit.flush(10), 10);
        assert_eq!(unit.add(&text(64, 4)), 0, "the octets may still be sent");
        assert_eq!(unit.cut(0, 20), (0, 20));
        unit.dequeued(later);
        assert_eq!(unit.add(&text(64, 4)), 0, "the first one still waits");
        unit.dequeued(first);
        assert_eq!(unit.add(&text(64, 16)), 10);
        assert_eq!(unit.cut(5, 20), (10, 15));
        let mut out = Vec::new();
        unit.get(60, 14, &mut out);
        assert_eq!(out, text(60, 14));
    }

    #[test]
    fn octets_come_free_while_something_is_always_queued() {
        let mut unit = TxUnit::default();
        unit.start(u64::MAX, ROOM);
        assert_eq!(unit.add(&text(0, 64)), 64);
        let mut before = unit.queued_at(0);
        for at in 1..100 {
            let next = unit.queued_at(at * 16);
            unit.dequeued(before);
            assert_eq!(unit.flush(16), 16);
            assert_eq!(unit.add(&text(48 + at * 16, 16)), 16, "after {at} packets");
            before = next;
        }
    }

    #[test]
    fn a_finite_size_bounds_the_unit() {
        let (mut tx, mut rx) = (TxUnit::default(), RxUnit::default());
        tx.start(10, ROOM);
        assert_eq!(tx.add(&text(0, 20)), 10);
        rx.start(10, ROOM, RX_RUNS);
        assert_eq!(rx.add(5, &text(5, 20)), Added::Cut);
        assert_eq!(rx.add(0, &text(0, 5)), Added::All);
        assert_eq!(rx.flush(100, None), 10);
    }

    #[test]
    fn a_smaller_unit_drops_what_is_behind_a_gap() {
        let mut unit = RxUnit::default();
        unit.start(u64::MAX, ROOM, RX_RUNS);
        for (at, len) in [(0, 10), (20, 4), (30, 10), (50, 4)] {
            assert_eq!(unit.add(at, &text(at, len)), Added::All);
        }
        unit.resize(32);
        assert_eq!((unit.in_order(), unit.held(), unit.count), (10, 32, 2));
        unit.resize(ROOM);
        assert_eq!(unit.add(10, &text(10, 10)), Added::All);
        assert_eq!(unit.add(24, &text(24, 6)), Added::All);
        let mut out = Vec::new();
        assert_eq!(unit.flush(100, Some(&mut out)), 32);
        assert_eq!(out, text(0, 32));
    }

    /// A unit as a map from each byte's number to its value.
    #[derive(Default)]
    struct Naive {
        base: u64,
        held: std::collections::BTreeMap<u64, u8>,
    }

    impl Naive {
        fn ready(&self) -> u64 {
            (self.base..).find(|at| !self.held.contains_key(at)).unwrap()
        }

        fn runs_above(&self, held: &std::collections::BTreeMap<u64, u8>) -> usize {
            let ready = (self.base..).find(|at| !held.contains_key(at)).unwrap();
            held.keys().filter(|at| **at > ready && !held.contains_key(&(**at - 1))).count()
        }

        fn add(&mut self, offset: u64, from: &[u8]) -> Added {
            let mut held = self.held.clone();
            let mut added = Added::All;
            for (at, value) in (offset..).zip(from) {
                if at >= self.base + ROOM as u64 {
                    added = Added::Cut;
                } else if at >= self.base {
                    held.entry(at).or_insert(*value);
                }
            }
            if self.runs_above(&held) > RX_RUNS && held.len() > self.held.len() {
                return Added::RunsFull;
            }
            self.held = held;
            added
        }

        fn flush(&mut self, len: u64) -> Vec<u8> {
            let taken = len.min(self.ready() - self.base);
            let out = (self.base..self.base + taken).map(|at| self.held.remove(&at).unwrap()).collect();
            self.base += taken;
            out
        }
    }

    proptest! {
        #[test]
        fn reassembly_is_that_of_a_map(
            steps in prop::collection::vec((0_u64..90, 0_u64..6, any::<bool>(), 0_u8..4), 1..150)
        ) {
            let (mut unit, mut naive) = (RxUnit::default(), Naive::default());
            unit.start(u64::MAX, ROOM, RX_RUNS);
            for (at, len, flush, salt) in steps {
                if flush && at < 30 {
                    let mut out = Vec::new();
                    unit.flush(len * 3, Some(&mut out));
                    prop_assert_eq!(out, naive.flush(len * 3));
                } else {
                    // Bytes that come again with other values must not replace the first ones.
                    let offset = (naive.base + at).saturating_sub(10);
                    let from: Vec<u8> = text(offset, len).iter().map(|o| o ^ salt).collect();
                    prop_assert_eq!(unit.add(offset, &from), naive.add(offset, &from));
                }
            }
        }
    }
}
