// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instances of a context type: slots, generations, and the index by id.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layout::CTX_ID;
use crate::linked::CtxCode;
use crate::units::{RxUnit, SavedRx, SavedTx, TxUnit};

const GENERATION_BITS: u32 = 24;
const GENERATION_MASK: u64 = (1 << GENERATION_BITS) - 1;

/// A handle taken apart; the type is counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handle {
    pub ctx: usize,
    pub generation: u32,
    pub slot: u32,
}

impl Handle {
    pub(crate) fn word(self) -> u64 {
        (self.ctx as u64 + 1) << 56 | u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// `None` for `none`.
    pub(crate) fn of(word: u64) -> Option<Handle> {
        let ctx = (word >> 56).checked_sub(1)? as usize;
        Some(Handle { ctx, generation: ((word >> 32) & GENERATION_MASK) as u32, slot: word as u32 })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Free,
    Live,
    /// deleted, but with packets still queued
    Leaving,
}

#[derive(Debug)]
pub(crate) struct Slot {
    generation: u32,
    state: State,
    /// its number among those that were retired, from 1; 0: it is not
    retired: u64,
    pub tx: TxUnit,
    pub rx: RxUnit,
}

/// All instances of one context type. Their cells lie in the core's memory from `base`.
#[derive(Debug)]
pub(crate) struct Instances {
    ctx: usize,
    base: usize,
    size: usize,
    ids: usize,
    pub capacity: u32,
    pub tx_capacity: usize,
    pub rx_capacity: usize,
    pub rx_most: usize,
    /// what is left for RX units to grow by
    pub rx_pool: u64,
    pub rx_ranges: usize,
    slots: Vec<Slot>,
    freed: Vec<u32>,
    /// those that a new instance may take the slot of, by when they were retired
    retired: BTreeMap<u64, u32>,
    retirements: u64,
    /// open addressing: slot + 1, 0 for none
    index: Vec<u32>,
    pub open: usize,
}

impl Instances {
    pub(crate) fn new(ctx: usize, code: &CtxCode, base: usize, size: usize, ids: usize) -> Instances {
        let index = (code.capacity as usize * 2).next_power_of_two().max(4);
        Instances {
            ctx,
            base,
            size,
            ids,
            capacity: code.capacity,
            tx_capacity: code.tx_capacity,
            rx_capacity: code.rx_capacity,
            rx_most: code.rx_most,
            rx_pool: code.rx_pool,
            rx_ranges: code.rx_ranges,
            slots: Vec::new(),
            freed: Vec::new(),
            retired: BTreeMap::new(),
            retirements: 0,
            index: vec![0; index],
            open: 0,
        }
    }

    /// Where the cells of a slot lie.
    pub(crate) fn address(&self, slot: u32) -> usize {
        self.base + slot as usize * self.size
    }

    pub(crate) fn slot(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    pub(crate) fn peek(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// The slot of a handle, if its instance lives.
    pub(crate) fn live(&self, handle: Handle) -> Option<u32> {
        let slot = self.slots.get(handle.slot as usize)?;
        (slot.state == State::Live && slot.generation == handle.generation).then_some(handle.slot)
    }

    /// Those of the instances that live.
    pub(crate) fn live_slots(&self) -> impl Iterator<Item = u32> {
        let slots = self.slots.iter().zip(0..);
        slots.filter(|(slot, _)| slot.state == State::Live).map(|(_, number)| number)
    }

    /// The slot of the instance with this id.
    pub(crate) fn find(&self, mem: &[u64], id: &[u64]) -> Option<u32> {
        let mut at = self.home(id);
        while let Some(slot) = self.index[at].checked_sub(1) {
            if self.id(mem, slot) == id {
                return Some(slot);
            }
            at = (at + 1) & (self.index.len() - 1);
        }
        None
    }

    /// Takes a slot for a new instance, whose id is not taken: the slot freed last, else the next one.
    pub(crate) fn take(&mut self) -> Option<Handle> {
        let slot = match self.freed.pop() {
            Some(slot) => slot,
            None if self.slots.len() < self.capacity as usize => {
                let (tx, rx) = (TxUnit::default(), RxUnit::default());
                self.slots.push(Slot { generation: 1, state: State::Free, retired: 0, tx, rx });
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        self.open += 1;
        let taken = self.slot(slot);
        taken.state = State::Live;
        let generation = taken.generation;
        Some(Handle { ctx: self.ctx, generation, slot })
    }

    /// Whether [`Instances::take`] would give one.
    pub(crate) fn has_free_slot(&self) -> bool {
        !self.freed.is_empty() || self.slots.len() < self.capacity as usize
    }

    /// An instance may be deleted for a new one, after all that were retired before.
    pub(crate) fn retire(&mut self, slot: u32) {
        self.keep(slot);
        self.retirements += 1;
        self.slots[slot as usize].retired = self.retirements;
        self.retired.insert(self.retirements, slot);
    }

    /// It may not be deleted for a new one, or is gone.
    fn keep(&mut self, slot: u32) {
        let retired = std::mem::take(&mut self.slots[slot as usize].retired);
        self.retired.remove(&retired);
    }

    /// The instance that was retired first, if its slot is free once it is deleted.
    pub(crate) fn reclaimable(&self) -> Option<u32> {
        let (_, slot) = self.retired.first_key_value()?;
        (!self.peek(*slot).tx.is_queued()).then_some(*slot)
    }

    /// Takes the slot of a global context, which does not count as open; its handle.
    pub(crate) fn begin_global(&mut self) -> u64 {
        let handle = self.take();
        self.open = 0;
        handle.map_or(0, Handle::word)
    }

    /// Makes an instance found by the id in its cells.
    pub(crate) fn bind(&mut self, mem: &[u64], slot: u32) {
        let mut at = self.home(self.id(mem, slot));
        while self.index[at] != 0 {
            at = (at + 1) & (self.index.len() - 1);
        }
        self.index[at] = slot + 1;
    }

    /// Ends an instance: its id is free at once, its slot when no packet of its unit is queued.
    pub(crate) fn end(&mut self, mem: &[u64], slot: u32) {
        self.unbind(mem, slot);
        self.keep(slot);
        self.open -= 1;
        let ended = self.slot(slot);
        ended.state = State::Leaving;
        ended.tx.exists = false;
        self.end_rx(slot);
        self.leave(slot);
    }

    /// Ends an RX unit, if there is one: what it grew by goes back to the pool.
    pub(crate) fn end_rx(&mut self, slot: u32) {
        let rx = &mut self.slots[slot as usize].rx;
        self.rx_pool += rx.room().saturating_sub(self.rx_capacity as u64);
        rx.exists = false;
    }

    /// Gives an RX unit room for `size` bytes, unless it holds more than that in order or the pool has less.
    pub(crate) fn resize_rx(&mut self, slot: u32, size: u64) {
        let least = self.rx_capacity as u64;
        let size = size.clamp(least, self.rx_most as u64).next_power_of_two();
        let rx = &mut self.slots[slot as usize].rx;
        let left = self.rx_pool + rx.room() - least;
        if size >= rx.in_order() && size - least <= left {
            self.rx_pool = left - (size - least);
            rx.resize(size as usize);
        }
    }

    /// A queued blueprint with a payload of this slot's unit is out.
    pub(crate) fn dequeued(&mut self, slot: u32, round: usize) {
        self.slot(slot).tx.dequeued(round);
        self.leave(slot);
    }

    fn leave(&mut self, slot: u32) {
        let leaving = self.slot(slot);
        if leaving.state != State::Leaving || leaving.tx.is_queued() {
            return;
        }
        leaving.state = State::Free;
        leaving.generation = (leaving.generation + 1) & GENERATION_MASK as u32;
        if leaving.generation == 0 {
            leaving.generation = 1;
        }
        self.freed.push(slot);
    }

    fn id<'m>(&self, mem: &'m [u64], slot: u32) -> &'m [u64] {
        let at = self.address(slot) + CTX_ID as usize;
        &mem[at..at + self.ids]
    }

    fn home(&self, id: &[u64]) -> usize {
        let mix = |h: u64, part: &u64| (h.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = id.iter().fold(0, mix);
        (hash >> 32) as usize & (self.index.len() - 1)
    }

    /// Takes a slot out of the index and moves up those that would no longer be found.
    pub(crate) fn unbind(&mut self, mem: &[u64], slot: u32) {
        let mask = self.index.len() - 1;
        let mut hole = self.home(self.id(mem, slot));
        while self.index[hole] != slot + 1 {
            hole = (hole + 1) & mask;
        }
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let Some(other) = self.index[at].checked_sub(1) else { break };
            let home = self.home(self.id(mem, other));
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.index[hole] = other + 1;
                hole = at;
            }
        }
        self.index[hole] = 0;
    }
}

/// What of a slot is kept.
#[derive(Debug, Serialize, Deserialize)]
struct SavedSlot {
    generation: u32,
    state: State,
    tx: Option<SavedTx>,
    rx: Option<SavedRx>,
    /// unless it is free: see [`sparse`]
    cells: Vec<u64>,
}

/// Cells without their zeros, of which there are many: how many are skipped, how many follow, these, and so on.
fn sparse(cells: &[u64]) -> Vec<u64> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(zeros) = cells[at..].iter().position(|cell| *cell != 0) {
        let from = at + zeros;
        let count = cells[from..].iter().position(|cell| *cell == 0).unwrap_or(cells.len() - from);
        out.extend([zeros as u64, count as u64]);
        out.extend_from_slice(&cells[from..from + count]);
        at = from + count;
    }
    out
}

/// Makes cells what they were when they were made [`sparse`].
fn fill(cells: &mut [u64], mut from: &[u64]) {
    cells.fill(0);
    let mut at = 0;
    while let [zeros, count, rest @ ..] = from {
        let (count, begin) = (*count as usize, at + *zeros as usize);
        cells[begin..begin + count].copy_from_slice(&rest[..count]);
        (at, from) = (begin + count, &rest[count..]);
    }
}

/// What of the instances of a context type is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedInstances {
    slots: Vec<SavedSlot>,
    freed: Vec<u32>,
    /// in their order
    retired: Vec<u32>,
    rx_pool: u64,
    open: usize,
}

impl Instances {
    /// The number of their type.
    pub(crate) fn ctx(&self) -> usize {
        self.ctx
    }

    /// What is kept of them; `mem` has their cells.
    pub(crate) fn saved(&self, mem: &[u64]) -> SavedInstances {
        let slot = |(slot, number): (&Slot, u32)| {
            let at = self.address(number);
            let cells = if slot.state == State::Free { Vec::new() } else { sparse(&mem[at..at + self.size]) };
            let Slot { generation, state, ref tx, ref rx, .. } = *slot;
            SavedSlot { generation, state, tx: tx.saved(), rx: rx.saved(), cells }
        };
        SavedInstances {
            slots: self.slots.iter().zip(0..).map(slot).collect(),
            freed: self.freed.clone(),
            retired: self.retired.values().copied().collect(),
            rx_pool: self.rx_pool,
            open: self.open,
        }
    }

    /// Goes back to what was kept; the instance of a `global` context has no id by which it is found.
    pub(crate) fn restore(&mut self, mem: &mut [u64], saved: SavedInstances, global: bool) {
        self.index.fill(0);
        self.slots.truncate(saved.slots.len());
        for (slot, number) in saved.slots.into_iter().zip(0..) {
            if number as usize == self.slots.len() {
                let (tx, rx) = (TxUnit::default(), RxUnit::default());
                self.slots.push(Slot { generation: 0, state: State::Free, retired: 0, tx, rx });
            }
            let at = self.address(number);
            let to = &mut self.slots[number as usize];
            (to.generation, to.state, to.retired) = (slot.generation, slot.state, 0);
            to.tx.restore(slot.tx, self.tx_capacity);
            to.rx.restore(slot.rx, self.rx_ranges);
            fill(&mut mem[at..at + self.size], &slot.cells);
            if slot.state == State::Live && !global {
                self.bind(mem, number);
            }
        }
        (self.freed, self.rx_pool, self.open) = (saved.freed, saved.rx_pool, saved.open);
        self.retirements = 0;
        self.retired.clear();
        for slot in saved.retired {
            self.retire(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const CODE: CtxCode = CtxCode {
        global: None,
        capacity: 4,
        tx_capacity: 16,
        rx_capacity: 16,
        rx_most: 16,
        rx_pool: 0,
        rx_ranges: 16,
    };

    fn make(instances: &mut Instances, mem: &mut [u64], id: u64) -> Option<Handle> {
        let handle = instances.take()?;
        let at = instances.address(handle.slot);
        (mem[at], mem[at + 1]) = (handle.word(), id);
        instances.bind(mem, handle.slot);
        Some(handle)
    }

    #[test]
    fn the_slot_freed_last_is_used_first_with_the_next_generation() {
        let (mut all, mut mem) = (Instances::new(0, &CODE, 0, 2, 1), vec![0; 8]);
        let handles: Vec<Handle> = (10..13).map(|id| make(&mut all, &mut mem, id).unwrap()).collect();
        assert_eq!(handles.iter().map(|h| h.slot).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(handles[1].word(), 1 << 56 | 1 << 32 | 1);
        all.end(&mem, 0);
        all.end(&mem, 2);
        let next = make(&mut all, &mut mem, 20).unwrap();
        assert_eq!((next.slot, next.generation), (2, 2));
        assert_eq!(all.live(handles[2]), None, "a stale handle finds nothing");
        assert_eq!(make(&mut all, &mut mem, 21).unwrap().slot, 0);
        assert_eq!(make(&mut all, &mut mem, 22).unwrap().slot, 3);
        assert!(all.take().is_none());
        assert_eq!(Handle::of(next.word()), Some(next));
    }

    #[test]
    fn a_slot_is_kept_while_packets_are_queued() {
        let (mut all, mut mem) = (Instances::new(0, &CODE, 0, 2, 1), vec![0; 8]);
        let handle = make(&mut all, &mut mem, 5).unwrap();
        let round = all.slot(0).tx.queued_at(0);
        all.end(&mem, 0);
        assert_eq!((all.find(&mem, &[5]), all.live(handle), all.open), (None, None, 0));
        assert_eq!(make(&mut all, &mut mem, 5).unwrap().slot, 1);
        all.dequeued(0, round);
        assert_eq!(make(&mut all, &mut mem, 6).unwrap().slot, 0);
    }

    #[test]
    fn what_was_retired_first_is_reclaimed_first_unless_its_packets_are_queued() {
        let (mut all, mut mem) = (Instances::new(0, &CODE, 0, 2, 1), vec![0; 8]);
        for id in 0..4 {
            make(&mut all, &mut mem, id).unwrap();
        }
        assert_eq!((all.has_free_slot(), all.reclaimable()), (false, None));
        for slot in [2, 0, 3, 2] {
            all.retire(slot);
        }
        assert_eq!(all.reclaimable(), Some(0));
        all.end(&mem, 3);
        let round = all.slot(0).tx.queued_at(0);
        assert_eq!(all.reclaimable(), None);
        all.dequeued(0, round);
        all.end(&mem, 0);
        assert_eq!(all.reclaimable(), Some(2), "again is later");
        all.end(&mem, 2);
        assert_eq!(make(&mut all, &mut mem, 9).map(|h| h.slot), Some(2));
        assert_eq!(all.reclaimable(), None, "a new instance in its slot is not retired");
    }

    #[test]
    fn generation_zero_is_skipped() {
        let (mut all, mut mem) = (Instances::new(0, &CODE, 0, 2, 1), vec![0; 8]);
        make(&mut all, &mut mem, 1);
        all.slot(0).generation = GENERATION_MASK as u32;
        all.end(&mem, 0);
        assert_eq!(make(&mut all, &mut mem, 1).unwrap().generation, 1);
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_map_finds(steps in prop::collection::vec((0_u64..12, any::<bool>()), 1..200)) {
            let code = CtxCode { capacity: 8, ..CODE };
            let (mut all, mut mem) = (Instances::new(0, &code, 0, 2, 1), vec![0; 16]);
            let mut map = BTreeMap::new();
            for (id, add) in steps {
                let found = all.find(&mem, &[id]);
                prop_assert_eq!(found, map.get(&id).copied());
                match (add, found) {
                    (true, None) => {
                        if let Some(handle) = make(&mut all, &mut mem, id) {
                            map.insert(id, handle.slot);
                        }
                    }
                    (false, Some(slot)) => {
                        all.end(&mem, slot);
                        map.remove(&id);
                    }
                    _ => {}
                }
            }
        }
    }
}
