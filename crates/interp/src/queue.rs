//! The blueprint queue: packets that are to be made.

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
    /// the most octets that a header of its packets takes
    pub header: usize,
}

/// First in, first out; its entries keep their memory.
#[derive(Debug)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    head: usize,
    len: usize,
    pub progress: Progress,
}

impl Default for Queue {
    fn default() -> Queue {
        let entries = (0..QUEUE).map(|_| Entry::default()).collect();
        Queue { entries, head: 0, len: 0, progress: Progress::default() }
    }
}

impl Queue {
    pub(crate) fn free(&self) -> u32 {
        (self.entries.len() - self.len) as u32
    }

    /// The entry behind the last one, to be filled in; `None` if the queue is full.
    pub(crate) fn push(&mut self) -> Option<&mut Entry> {
        if self.len == self.entries.len() {
            return None;
        }
        let at = (self.head + self.len) % self.entries.len();
        self.len += 1;
        Some(&mut self.entries[at])
    }

    /// The number of the newest entry of a context, if no packet is made of it yet.
    pub(crate) fn newest(&self, handle: u64) -> Option<usize> {
        let numbers = (0..self.len).rev().map(|i| (self.head + i) % self.entries.len());
        let number = numbers.into_iter().find(|number| self.entries[*number].handle == handle)?;
        (number != self.head || !self.progress.begun).then_some(number)
    }

    pub(crate) fn entry(&mut self, number: usize) -> &mut Entry {
        &mut self.entries[number]
    }

    pub(crate) fn first(&self) -> Option<&Entry> {
        (self.len > 0).then(|| &self.entries[self.head])
    }

    /// Takes the first entry out; its place is reused only by a later [`Queue::push`].
    pub(crate) fn pop(&mut self) -> &Entry {
        let at = self.head;
        self.head = (at + 1) % self.entries.len();
        self.len -= 1;
        self.progress.begun = false;
        &self.entries[at]
    }
}
