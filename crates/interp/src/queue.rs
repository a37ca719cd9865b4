//! The blueprint queue: packets that are to be made.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::link::QUEUE;

/// A range of a TX data unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Payload {
    pub ctx: usize,
    pub slot: u32,
    pub handle: u64,
    pub offset: u64,
    pub len: u64,
}

/// A blueprint as it was issued.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub bp: usize,
    pub cells: Vec<u64>,
    /// which of the program's lists of segmentation rules
    pub rules: usize,
    pub payload: Option<Payload>,
    /// those of its frames
    pub frames: Vec<Option<Payload>>,
    /// octets of payload a packet at most; 0: what fits
    pub mss: u64,
    /// the context on which it was issued, for its sent event
    pub handle: u64,
    /// the queue in which it waits, and how many were issued before it
    pub queue: usize,
    pub issued: u64,
    pub sent: Option<usize>,
    pub sent_cells: Vec<u64>,
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

/// How far the first entry has been made into packets.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub begun: bool,
    /// octets of its payload that are out
    pub at: u64,
    pub options: Vec<u8>,
    /// which of its frames is next, and how many octets of that one's payload are out
    pub frame: usize,
    pub frame_at: u64,
    /// the last piece of that frame, and the last packet, as they were made; octets of the packet's payload
    pub frame_prev: Vec<u64>,
    pub packet_prev: Vec<u64>,
    pub packet_len: u64,
    /// while another queue goes before it: the last packet as it was made, and its payload's length
    pub parked_prev: Vec<u64>,
    pub parked_len: u64,
    /// the most octets that a header of its packets takes
    pub header: usize,
}

/// Queues of which an earlier one goes before the later ones; each is first in, first out. Entries keep their memory.
#[derive(Debug)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    /// the numbers of those that hold nothing
    free: Vec<usize>,
    /// of those that wait, queue by queue
    waiting: Vec<VecDeque<usize>>,
    /// how many were issued so far
    issued: u64,
    /// by context type and slot: the number of the entry that was issued last there, and how many were before it
    newest: FxHashMap<u64, (usize, u64)>,
    /// the queue whose first entry is being made into packets, and how far that is; of the others what is begun
    pub selected: usize,
    pub progress: Progress,
    pub parked: Vec<Progress>,
}

impl Queue {
    pub(crate) fn new(queues: u32) -> Queue {
        Queue {
            entries: (0..QUEUE).map(|_| Entry::default()).collect(),
            free: (0..QUEUE as usize).rev().collect(),
            waiting: vec![VecDeque::new(); queues as usize],
            issued: 0,
            newest: FxHashMap::default(),
            selected: 0,
            progress: Progress::default(),
            parked: (0..queues).map(|_| Progress::default()).collect(),
        }
    }

    pub(crate) fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// The entry behind the last one of a queue, to be filled in; `None` if as many wait as can.
    pub(crate) fn push(&mut self, queue: usize) -> Option<&mut Entry> {
        let number = self.free.pop()?;
        self.waiting[queue].push_back(number);
        self.issued += 1;
        let entry = &mut self.entries[number];
        (entry.queue, entry.issued) = (queue, self.issued);
        Some(entry)
    }

    /// Takes note of the entry that was pushed last, into this queue, as the newest of its context.
    pub(crate) fn note_newest(&mut self, queue: usize, handle: u64) {
        if let Some(&number) = self.waiting[queue].back() {
            self.newest.insert(place(handle), (number, self.issued));
        }
    }

    /// The number of the entry that was issued last on a context, if that waits and no packet is made of it yet.
    pub(crate) fn newest(&self, handle: u64) -> Option<usize> {
        let (number, issued) = *self.newest.get(&place(handle))?;
        let entry = &self.entries[number];
        if entry.issued != issued || entry.handle != handle {
            return None; // its place has been taken since
        }
        let queue = entry.queue;
        // First in, first out: what was issued before the first that waits is gone.
        let first = self.entries[*self.waiting[queue].front()?].issued;
        let progress = if queue == self.selected { &self.progress } else { &self.parked[queue] };
        (first < issued || first == issued && !progress.begun).then_some(number)
    }

    pub(crate) fn entry(&mut self, number: usize) -> &mut Entry {
        &mut self.entries[number]
    }

    /// The first queue in which something waits.
    pub(crate) fn next_queue(&self) -> Option<usize> {
        self.waiting.iter().position(|queue| !queue.is_empty())
    }

    /// The first entry of the selected queue.
    pub(crate) fn first(&self) -> Option<&Entry> {
        self.waiting[self.selected].front().map(|number| &self.entries[*number])
    }

    /// Takes the first entry out of the selected queue, which has one; its place is reused only by a later
    /// [`Queue::push`].
    pub(crate) fn pop(&mut self) -> Option<&Entry> {
        let number = self.waiting[self.selected].pop_front()?;
        self.free.push(number);
        self.progress.begun = false;
        Some(&self.entries[number])
    }
}

/// Of a handle all but the generation.
fn place(handle: u64) -> u64 {
    handle & 0xff00_0000_ffff_ffff
}
