// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints that take the place of one that waits, or are taken up by it.

use crate::counters::TX_COALESCED;
use crate::layout::PAYLOAD_MSS;
use crate::linked::{CoalesceCode, Linked, PAYLOAD_LEN_CELL, PREV_PAYLOAD_LEN_CELL};
use crate::machine::Machine;
use crate::queue::Payload;

impl Machine {
    /// Lets the newest blueprint that waits on this context stand for the one at `at` too, if a rule says so. Which
    /// entry that is.
    pub(crate) fn coalesce(
        &mut self,
        p: &Linked,
        (bp, at): (usize, usize),
        mut payload: Option<Payload>,
        rules: usize,
        queue: usize,
    ) -> Option<usize> {
        if !p.coalescing.iter().any(|rule| rule.bp == bp) || self.current == 0 {
            return None;
        }
        let number = self.queue.newest(self.current)?;
        let old = self.queue.entry(number);
        if old.bp != bp || old.queue != queue || old.sent.is_some() {
            return None;
        }
        let (old_payload, size) = (old.payload, old.cells.len());
        let saved = self.with_both(p, number, at, size, payload.map_or(0, |p| p.len));
        let holds = |rule: &&CoalesceCode| {
            let free = if rule.takes.is_empty() { old_payload.is_none() } else { payload.is_none() };
            rule.bp == bp && free && self.eval(&rule.when, 0) != 0
        };
        let found = p.coalescing.iter().find(|rule| holds(rule));
        self.restore(p, saved);
        let rule = found?;
        self.count(TX_COALESCED);
        if let (true, Some(payload)) = (rule.takes.is_empty(), &mut payload) {
            self.payload_waits(payload);
        }
        let new = &self.mem[at..at + size];
        let old = self.queue.entry(number);
        if rule.takes.is_empty() {
            old.cells.copy_from_slice(new);
            (old.rules, old.payload) = (rules, payload);
            old.mss = new[(p.blueprints[bp].payload + PAYLOAD_MSS) as usize];
        }
        for &cell in &rule.takes {
            old.cells[cell as usize] = new[cell as usize];
        }
        Some(number)
    }

    /// Puts both blueprints where rules look for them; what was there.
    fn with_both(&mut self, p: &Linked, number: usize, at: usize, size: usize, len: u64) -> Vec<u64> {
        let (given, prev) = (p.map.given as usize, p.map.prev as usize);
        let mut saved = self.mem[given..given + size].to_vec();
        saved.extend_from_slice(&self.mem[prev..prev + size]);
        saved.extend([PAYLOAD_LEN_CELL, PREV_PAYLOAD_LEN_CELL].map(|cell| self.mem[cell as usize]));
        self.mem.copy_within(at..at + size, given);
        let old = self.queue.entry(number);
        self.mem[prev..prev + size].copy_from_slice(&old.cells);
        self.mem[PAYLOAD_LEN_CELL as usize] = len;
        self.mem[PREV_PAYLOAD_LEN_CELL as usize] = old.payload.map_or(0, |payload| payload.len);
        saved
    }

    fn restore(&mut self, p: &Linked, saved: Vec<u64>) {
        let (given, prev) = (p.map.given as usize, p.map.prev as usize);
        let size = saved.len() / 2 - 1;
        self.mem[given..given + size].copy_from_slice(&saved[..size]);
        self.mem[prev..prev + size].copy_from_slice(&saved[size..2 * size]);
        self.mem[PAYLOAD_LEN_CELL as usize] = saved[2 * size];
        self.mem[PREV_PAYLOAD_LEN_CELL as usize] = saved[2 * size + 1];
    }
}
