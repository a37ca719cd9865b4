// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is to happen, in the order of time: a wheel of buckets for what comes soon, one of slots for what comes within a second, a
//! heap for the rest.
//!
//! Whatever is planned for the same nanosecond happens in the order in which it was planned, so that a run depends on nothing
//! but its description. A bucket is put into order when its turn comes; until then, planning is an append. A slot is spread over the
//! buckets before the first of them has its turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nanoseconds of a bucket, as a power of two: about what a packet takes on a fast link.
const BUCKET_BITS: u32 = 6;
/// Buckets of the wheel, as a power of two: a quarter of a millisecond, more than a round trip in a data centre. They are a slot.
const SLOT_BITS: u32 = 12;
const BUCKETS: usize = 1 << SLOT_BITS;
/// Slots of their wheel, a power of two: a second, more than a round trip anywhere.
const SLOTS: usize = 4096;

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

/// Entries by their bucket or slot, of which only so many that follow each other are not empty.
#[derive(Debug)]
struct Wheel<E, const PLACES: usize> {
    places: Vec<Vec<Entry<E>>>,
    /// a bit for each that is not empty
    taken: Vec<u64>,
}

impl<E: Copy, const PLACES: usize> Wheel<E, PLACES> {
    fn new() -> Wheel<E, PLACES> {
        Wheel { places: (0..PLACES).map(|_| Vec::new()).collect(), taken: vec![0; PLACES / 64] }
    }

    fn put(&mut self, number: u64, entry: Entry<E>) {
        let place = number as usize % PLACES;
        self.places[place].push(entry);
        self.taken[place / 64] |= 1 << (place % 64);
    }

    /// What this one has; nobody takes it out but the caller.
    fn take(&mut self, number: u64) -> &mut Vec<Entry<E>> {
        let place = number as usize % PLACES;
        self.taken[place / 64] &= !(1 << (place % 64));
        &mut self.places[place]
    }

    /// The first one from `begin` on that is not empty.
    fn first(&self, begin: u64) -> Option<u64> {
        let here = begin as usize % PLACES;
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
                return Some(begin + ((place + PLACES - here) % PLACES) as u64);
            }
        }
        None
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
    buckets: Wheel<E, BUCKETS>,
    slots: Wheel<E, SLOTS>,
    later: BinaryHeap<Reverse<Entry<E>>>,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            planned: 0,
            turn: 0,
            now: Vec::new(),
            buckets: Wheel::new(),
            slots: Wheel::new(),
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
            self.buckets.put(bucket, entry);
        } else if (bucket >> SLOT_BITS) - (self.turn >> SLOT_BITS) < SLOTS as u64 {
            self.slots.put(bucket >> SLOT_BITS, entry);
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

    /// Whether something is planned of which this holds. It takes time: all is looked at.
    pub fn any(&self, holds: impl Fn(&E) -> bool) -> bool {
        let later = self.later.iter().map(|Reverse(entry)| entry);
        let soon = self.buckets.places.iter().chain(&self.slots.places).flatten();
        soon.chain(&self.now).chain(later).any(|entry| holds(&entry.what))
    }

    /// Goes to the next bucket that has something, if there is one.
    fn turn_on(&mut self) {
        let far = self.later.peek().map(|Reverse(entry)| entry.due.0 >> BUCKET_BITS);
        let mut near = self.buckets.first(self.turn);
        let first = near.into_iter().chain(far).min();
        let slot = self.slots.first(self.turn >> SLOT_BITS);
        if let Some(slot) = slot.filter(|slot| first.is_none_or(|first| *slot <= first >> SLOT_BITS)) {
            // Nothing comes before the slot, so its buckets are the next ones of the wheel.
            self.turn = slot << SLOT_BITS;
            for entry in self.slots.take(slot).drain(..) {
                self.buckets.put(entry.due.0 >> BUCKET_BITS, entry);
            }
            near = self.buckets.first(self.turn);
        }
        let Some(bucket) = near.into_iter().chain(far).min() else { return };
        self.turn = bucket;
        self.now.append(self.buckets.take(bucket));
        while self.later.peek().is_some_and(|Reverse(entry)| entry.due.0 >> BUCKET_BITS == bucket) {
            self.now.extend(self.later.pop().map(|Reverse(entry)| entry));
        }
        self.now.sort_unstable_by_key(|entry| Reverse(entry.due));
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
                let far = [1, 100, 5_000, 300_000, 50_000_000, 5_000_000_000][rng.below(6) as usize];
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
