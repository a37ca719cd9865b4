// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that are read off the trace without knowing any protocol. A trace can be a broken file's: sums and differences saturate.

use std::collections::BTreeMap;

use carrick_ir::Opcode;

use crate::core::{Completion, Record, RecordSet, TraceKind};
use crate::observe::Observer;

const TRACE_INSTR: u32 = TraceKind::Instr as u32;
const TRACE_SEGMENT: u32 = TraceKind::Segment as u32;
const NEW_TX: u32 = Opcode::NewTxOrderedData.number();
const TX_FLUSH: u32 = Opcode::TxFlushAndNotify.number();

/// A TX unit as the trace shows it.
#[derive(Debug, Default)]
struct Unit {
    /// one past the last byte that was ever sent, and the first that was not retired
    sent_to: u64,
    base: u64,
    /// ranges sent once: end -> when; those sent again are taken out
    clean: BTreeMap<u64, u64>,
}

/// Packets, bytes, retransmissions, round-trip times.
#[derive(Debug, Default)]
pub struct Metrics {
    units: BTreeMap<(usize, u64), Unit>,
    /// by host and token, one past the last byte of a request's memory that was ever sent
    requests: BTreeMap<(usize, u64), u64>,
    /// packets with a payload, and the bytes in them
    pub data_packets: u64,
    pub payload_octets: u64,
    /// by host, those of them that had been sent before
    pub retransmitted_by: BTreeMap<usize, u64>,
    pub retransmitted_octets: u64,
    /// nanoseconds from sending a byte (once) to retiring it
    pub rtt_samples: Vec<u64>,
}

impl Metrics {
    fn segment(&mut self, now: u64, host: usize, words: &[u64]) {
        let &[handle, offset, len, token] = words else { return };
        self.data_packets += 1;
        self.payload_octets = self.payload_octets.saturating_add(len);
        let end = offset.saturating_add(len);
        if handle == 0 {
            // Of memory that is not one request's to send, nothing tells what of it went out before.
            let sent_to = self.requests.entry((host, token)).or_default();
            if token != 0 && *sent_to > offset {
                *self.retransmitted_by.entry(host).or_default() += 1;
                let again = end.min(*sent_to).saturating_sub(offset);
                self.retransmitted_octets = self.retransmitted_octets.saturating_add(again);
            }
            *sent_to = end.max(*sent_to);
            return;
        }
        let unit = self.units.entry((host, handle)).or_default();
        let again = unit.sent_to.min(end).saturating_sub(offset);
        if again > 0 {
            *self.retransmitted_by.entry(host).or_default() += 1;
            self.retransmitted_octets = self.retransmitted_octets.saturating_add(again);
            // Karn: what was sent twice says nothing about time.
            let touched: Vec<u64> = unit.clean.range(offset.saturating_add(1)..).map(|(e, _)| *e).collect();
            for e in touched {
                unit.clean.remove(&e);
            }
        } else {
            unit.clean.insert(end, now);
        }
        unit.sent_to = unit.sent_to.max(end);
    }

    fn flush(&mut self, now: u64, host: usize, words: &[u64]) {
        let &[handle, taken] = words else { return };
        let unit = self.units.entry((host, handle)).or_default();
        unit.base = unit.base.saturating_add(taken);
        let base = unit.base;
        let mut last = None;
        while let Some((&end, &at)) = unit.clean.first_key_value() {
            if end > base {
                break;
            }
            last = Some(at);
            unit.clean.remove(&end);
        }
        if let Some(at) = last {
            self.rtt_samples.push(now.saturating_sub(at));
        }
    }

    /// Packets that had been sent before, of all hosts.
    pub fn retransmitted_packets(&self) -> u64 {
        self.retransmitted_by.values().sum()
    }

    /// Median and 99th percentile of the round-trip times, in nanoseconds.
    pub fn rtt(&self) -> Option<(u64, u64)> {
        let mut sorted = self.rtt_samples.clone();
        sorted.sort_unstable();
        let at = |q: usize| sorted.get((sorted.len().saturating_sub(1)) * q / 100).copied();
        Some((at(50)?, at(99)?))
    }
}

impl Observer for Metrics {
    fn reads(&self) -> RecordSet {
        let instructions = [Opcode::NewTxOrderedData, Opcode::TxFlushAndNotify].map(RecordSet::instruction);
        instructions.into_iter().fold(RecordSet::of(TraceKind::Segment), RecordSet::and)
    }

    fn reads_at(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        match (record.kind, record.number) {
            (TRACE_SEGMENT, _) => self.segment(now, host, &record.words),
            (TRACE_INSTR, TX_FLUSH) => self.flush(now, host, &record.words),
            (TRACE_INSTR, NEW_TX) => {
                let handle = record.words.first().copied().unwrap_or(0);
                self.units.insert((host, handle), Unit::default());
            }
            _ => {}
        }
    }
    fn completed(&mut self, _: u64, host: usize, done: &Completion) {
        self.requests.remove(&(host, done.token));
    }
}
