// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blueprint queue: packets that are to be made.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::linked::QUEUE;
use crate::sched::Sched;

/// Where a payload comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    /// the TX unit of a context
    Unit { ctx: usize, slot: u32, handle: u64 },
    /// the memory of a request, from `at` on
    Memory { slot: u64, token: u64, at: u64 },
}

/// A range of a TX data unit, or of the memory of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub of: Source,
    pub offset: u64,
    pub len: u64,
    /// once it is queued: of those of the unit
    pub round: usize,
}

/// A blueprint as it was issued.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub bp: usize,
    pub cells: Vec<u64>,
    /// which of the program's lists of segmentation rules
    pub rules: usize,
    pub payload: Option<Payload>,
    /// those of its frames
    pub frames: Vec<Option<Payload>>,
    /// bytes of payload a packet at most; 0: what fits
    pub mss: u64,
    /// the context on which it was issued, for its sent event
    pub handle: u64,
    /// the queue in which it waits, or waited
    pub queue: usize,
    pub waits: bool,
    pub sent: Option<usize>,
    pub sent_cells: Vec<u64>,
    /// while another entry goes before it: how far it has been made into packets
    parked: Progress,
}

impl Entry {
    /// Which event runs after its last packet, and where its cells are.
    pub(crate) fn set_sent(&mut self, mem: &[u64], sent: Option<(usize, std::ops::Range<usize>)>) {
        self.sent_cells.clear();
        self.sent = sent.map(|(event, cells)| {
            self.sent_cells.extend_from_slice(&mem[cells]);
            event
        });
    }
}

/// How far an entry has been made into packets.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub begun: bool,
    /// bytes of its payload that are out
    pub at: u64,
    pub options: Vec<u8>,
    /// which of its frames is next, and how many bytes of that one's payload are out
    pub frame: usize,
    pub frame_at: u64,
    /// the last piece of that frame, and the last packet, as they were made; bytes of the packet's payload
    pub frame_prev: Vec<u64>,
    pub packet_prev: Vec<u64>,
    pub packet_len: u64,
    /// while another entry goes before it: the last packet as it was made, and its payload's length
    pub parked_prev: Vec<u64>,
    pub parked_len: u64,
    /// the most bytes that a header of its packets takes
    pub header: usize,
    /// bytes of their network header
    pub net: usize,
}

/// Entries that wait in the queues of scheduling blocks. They keep their memory.
#[derive(Debug)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    /// the numbers of those that hold nothing
    free: Vec<usize>,
    pub sched: Sched,
    /// by context type and slot: the number of the entry that was issued last there
    newest: FxHashMap<u64, usize>,
    /// the entry that is being made into packets, and how far that is
    pub selected: usize,
    pub progress: Progress,
}

impl Queue {
    pub(crate) fn new(sched: Sched) -> Queue {
        Queue {
            entries: (0..QUEUE).map(|_| Entry::default()).collect(),
            free: (0..QUEUE as usize).rev().collect(),
            sched,
            newest: FxHashMap::default(),
            selected: 0,
            progress: Progress::default(),
        }
    }

    pub(crate) fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// The entry behind the last one of a queue, to be filled in; `None` if as many wait as can.
    pub(crate) fn push(&mut self, queue: usize, now: u64) -> Option<usize> {
        let number = self.free.pop()?;
        self.sched.push(queue, number, now);
        let entry = &mut self.entries[number];
        (entry.queue, entry.waits) = (queue, true);
        Some(number)
    }

    /// Takes note of an entry as the newest of its context.
    pub(crate) fn note_newest(&mut self, number: usize) {
        self.newest.insert(place(self.entries[number].handle), number);
    }

    /// The number of the entry that was issued last on a context, if that waits and no packet is made of it yet.
    pub(crate) fn newest(&self, handle: u64) -> Option<usize> {
        let number = *self.newest.get(&place(handle))?;
        let entry = &self.entries[number];
        let progress = if number == self.selected { &self.progress } else { &entry.parked };
        (entry.waits && entry.handle == handle && !progress.begun).then_some(number)
    }

    pub(crate) fn entry(&mut self, number: usize) -> &mut Entry {
        &mut self.entries[number]
    }

    /// Goes on with another entry: leaves `progress` with the one that was selected before.
    pub(crate) fn select(&mut self, number: usize) {
        let mut progress = std::mem::take(&mut self.entries[number].parked);
        std::mem::swap(&mut progress, &mut self.progress);
        self.entries[self.selected].parked = progress;
        self.selected = number;
    }

    /// The entry that is being made into packets.
    pub(crate) fn first(&self) -> Option<&Entry> {
        Some(&self.entries[self.selected]).filter(|entry| entry.waits)
    }

    /// Takes the selected entry, the first of its queue, out of that; its place is reused only by a later
    /// [`Queue::push`].
    pub(crate) fn pop(&mut self) {
        let entry = &mut self.entries[self.selected];
        self.sched.pop(entry.queue);
        entry.waits = false;
        self.free.push(self.selected);
        self.progress.begun = false;
    }
}

/// What of a queue is kept: the entries that wait, with their numbers, and all that says which goes next.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedQueue {
    waiting: Vec<(usize, Entry)>,
    free: Vec<usize>,
    newest: Vec<(u64, usize)>,
    selected: usize,
    progress: Progress,
}

impl Queue {
    /// Whether nothing waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.entries.len()
    }

    /// Takes what waits out of the queue; [`Queue::put_back`] puts it there again.
    pub(crate) fn take_out(&mut self) -> SavedQueue {
        let waiting = self.entries.iter_mut().enumerate().filter(|(_, entry)| entry.waits);
        let mut waiting: Vec<(usize, Entry)> =
            waiting.map(|(number, entry)| (number, std::mem::take(entry))).collect();
        // How far an entry is says something only once it is begun.
        let all = waiting.iter_mut().map(|(_, entry)| &mut entry.parked).chain([&mut self.progress]);
        all.filter(|progress| !progress.begun).for_each(|progress| *progress = Progress::default());
        let mut newest: Vec<(u64, usize)> = self.newest.drain().collect();
        newest.sort_unstable();
        SavedQueue {
            waiting,
            free: std::mem::take(&mut self.free),
            newest,
            selected: self.selected,
            progress: std::mem::take(&mut self.progress),
        }
    }

    /// What was taken out waits again.
    pub(crate) fn put_back(&mut self, saved: SavedQueue) {
        self.empty();
        for (number, entry) in saved.waiting {
            self.entries[number] = entry;
        }
        self.free = saved.free;
        self.newest = saved.newest.into_iter().collect();
        (self.selected, self.progress) = (saved.selected, saved.progress);
    }

    /// Nothing waits any more, and nothing tells what has.
    pub(crate) fn empty(&mut self) {
        if !self.is_idle() {
            self.entries.iter_mut().for_each(|entry| entry.waits = false);
        }
        self.free.clear();
        self.free.extend((0..self.entries.len()).rev());
        self.newest.clear();
        self.selected = 0;
        self.progress = Progress::default();
    }
}

/// Of a handle all but the generation.
fn place(handle: u64) -> u64 {
    handle & 0xff00_0000_ffff_ffff
}
