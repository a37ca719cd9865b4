// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is to happen, in the order of time: a wheel of buckets for what comes soon, a heap for the rest.
//!
//! Whatever is planned for the same nanosecond happens in the order in which it was planned, so that a run depends on nothing
//! but its description. A bucket is put into order when its turn comes; until then, planning is an append.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nanoseconds of a bucket, as a power of two: about what a packet takes on a fast link.
const BUCKET_BITS: u32 = 6;
/// Buckets of the wheel, a power of two: a quarter of a millisecond, more than a round trip in a data centre.
const BUCKETS: usize = 4096;

/// When, and the how-manieth it was to be planned.
type Due = (u64, u64);

#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    due: Due,
    what: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

/// A queue of happenings whose time never runs backwards.
#[derive(Debug)]
pub struct EventQueue<E> {
    planned: u64,
    /// the bucket, counted from time 0, whose entries are in `now`
    turn: u64,
    /// the last is the next
    now: Vec<Entry<E>>,
    wheel: Vec<Vec<Entry<E>>>,
    /// a bit for each bucket that is not empty
    taken: [u64; BUCKETS / 64],
    later: BinaryHeap<Reverse<Entry<E>>>,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            planned: 0,
            turn: 0,
            now: Vec::new(),
            wheel: (0..BUCKETS).map(|_| Vec::new()).collect(),
            taken: [0; BUCKETS / 64],
            later: BinaryHeap::new(),
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Plans something for a time, in nanoseconds; what is past happens next.
    pub fn plan(&mut self, at: u64, what: E) {
        self.planned += 1;
        let entry = Entry { due: (at, self.planned), what };
        let bucket = at >> BUCKET_BITS;
        if bucket <= self.turn {
            let place = self.now.partition_point(|other| other.due > entry.due);
            self.now.insert(place, entry);
        } else if bucket - self.turn < BUCKETS as u64 {
            let place = bucket as usize % BUCKETS;
            self.wheel[place].push(entry);
            self.taken[place / 64] |= 1 << (place % 64);
        } else {
            self.later.push(Reverse(entry));
        }
    }

    /// Takes out what is to happen next, with its time.
    pub fn next(&mut self) -> Option<(u64, E)> {
        if self.now.is_empty() {
            self.turn_on();
        }
        self.now.pop().map(|entry| (entry.due.0, entry.what))
    }

    /// Goes to the next bucket that has something, if there is one.
    fn turn_on(&mut self) {
        let far = self.later.peek().map(|Reverse(entry)| entry.due.0 >> BUCKET_BITS);
        let Some(bucket) = [self.next_bucket(), far].into_iter().flatten().min() else { return };
        self.turn = bucket;
        let place = bucket as usize % BUCKETS;
        self.taken[place / 64] &= !(1 << (place % 64));
        self.now.append(&mut self.wheel[place]);
        while self.later.peek().is_some_and(|Reverse(entry)| entry.due.0 >> BUCKET_BITS == bucket) {
            self.now.extend(self.later.pop().map(|Reverse(entry)| entry));
        }
        self.now.sort_unstable_by_key(|entry| Reverse(entry.due));
    }

    /// The first bucket of the wheel behind this one that is not empty.
    fn next_bucket(&self) -> Option<u64> {
        let here = self.turn as usize % BUCKETS;
        let words = self.taken.len();
        for step in 0..=words {
            let word = (here / 64 + step) % words;
            let mut bits = self.taken[word];
            // Of the word where it stands, what is behind it comes first, and what is before it last.
            let behind = !0_u64 << (here % 64);
            bits &= match step {
                0 => behind,
                _ if step == words => !behind,
                _ => !0,
            };
            if bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                return Some(self.turn + ((place + BUCKETS - here) % BUCKETS) as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_was_planned_comes_in_order() {
        let mut rng = Rng::new(5, 5);
        let mut event_queue = EventQueue::default();
        let mut plain = BinaryHeap::new();
        let (mut now, mut number) = (0, 0_u64);
        for _ in 0..50_000 {
            for _ in 0..rng.below(3) {
                number += 1;
                let far = [1, 100, 5_000, 300_000, 50_000_000][rng.below(5) as usize];
                let at = now + rng.below(far);
                event_queue.plan(at, number);
                plain.push(Reverse((at, number)));
            }
            let expected = plain.pop().map(|Reverse(due)| due);
            assert_eq!(event_queue.next(), expected);
            now = expected.map_or(now, |(at, _)| at);
        }
        while let Some(Reverse(due)) = plain.pop() {
            assert_eq!(event_queue.next(), Some(due));
        }
        assert_eq!(event_queue.next(), None);
    }
}
