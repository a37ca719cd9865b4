// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring of bytes that a 64-bit offset runs around; its length is a power of two.

/// Room for `capacity` bytes, made when it is first used.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    octets: Vec<u8>,
}

impl Ring {
    pub(crate) fn make(&mut self, capacity: usize) {
        if self.octets.len() != capacity {
            self.octets = vec![0; capacity];
        }
    }

    /// Changes its capacity; `len` bytes at `offset`, no more than that, stay.
    pub(crate) fn resize(&mut self, capacity: usize, offset: u64, len: usize) {
        let mut held = Vec::with_capacity(len);
        self.get(offset, len, &mut held);
        self.make(capacity);
        self.put(offset, &held);
    }

    /// The part of the ring that `len` bytes at `offset` take, as two stretches.
    fn stretches(&self, offset: u64, len: usize) -> (usize, usize) {
        let at = (offset & (self.octets.len() as u64 - 1)) as usize;
        (at, len.min(self.octets.len() - at))
    }

    /// Puts bytes, no more than the ring holds.
    pub(crate) fn put(&mut self, offset: u64, from: &[u8]) {
        if from.is_empty() {
            return;
        }
        let (at, first) = self.stretches(offset, from.len());
        self.octets[at..at + first].copy_from_slice(&from[..first]);
        self.octets[..from.len() - first].copy_from_slice(&from[first..]);
    }

    /// Appends `len` bytes, no more than the ring holds, to `out`.
    pub(crate) fn get(&self, offset: u64, len: usize, out: &mut Vec<u8>) {
        if len == 0 {
            return;
        }
        let (at, first) = self.stretches(offset, len);
        out.extend_from_slice(&self.octets[at..at + first]);
        out.extend_from_slice(&self.octets[..len - first]);
    }
}
