// SPDX-License-Identifier: MIT OR Apache-2.0
//! The binary trace, written: docs/reference/traces.md has its form.

use std::io::{self, Write};

use carrick_interp::TraceKind;
use carrick_ir::Loc;
use serde_json::{Value, json};

use super::moment::{Hosts, Moment, What, deleted};
use super::series::{AllSeries, CONTEXT, Key};

/// The first bytes of a file. As in PNG, the first is no text, and line ends show what a transfer as text damages.
pub const MAGIC: [u8; 8] = *b"\x89CKT\r\n\x1a\n";
/// The version of the form.
pub const VERSION: u32 = 1;

/// A block that has so many bytes is written.
const BLOCK: usize = 64 * 1024;

/// Kinds of records beside those of [`TraceKind`].
pub const COMPLETION: u8 = 6;
pub const SENT: u8 = 7;
pub const FORWARDED: u8 = 8;
pub const ARRIVED: u8 = 9;

/// Bits of a record's first number, below that of its series.
pub const HEAD_BITS: u32 = 4;
pub const HAS_TIME: u64 = 1;
pub const IS_NEW: u64 = 2;
pub const HAS_PLACE: u64 = 4;
pub const IS_DENSE: u64 = 8;

/// Bits of a forwarded packet: which of its times there are, and whether it is damaged.
pub const LEFT: u64 = 1;
pub const ARRIVAL: u64 = 2;
pub const COPY: u64 = 4;
pub const CORRUPT: u64 = 8;

/// Writes a binary trace; the first error is kept and ends the writing.
pub struct Binary<W: Write> {
    out: W,
    block: Vec<u8>,
    series: AllSeries,
    now: u64,
    records: u64,
    /// used again and again
    words: Vec<u64>,
    differences: Vec<(usize, u64)>,
    error: Option<io::Error>,
}

impl<W: Write> Binary<W> {
    /// Begins a trace; `header` is the first line of a trace of lines.
    pub fn new(mut out: W, mut header: Value, hosts: &Hosts) -> Binary<W> {
        header["programs"] = json!(hosts.programs);
        if !hosts.of.is_empty() {
            header["hosts"] = json!(hosts.of);
        }
        let header = header.to_string();
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend((header.len() as u32).to_le_bytes());
        head.extend(header.as_bytes());
        head.extend(crc32fast::hash(header.as_bytes()).to_le_bytes());
        let error = out.write_all(&head).err();
        let block = Vec::with_capacity(2 * BLOCK);
        let (series, words, differences) = (AllSeries::default(), Vec::new(), Vec::new());
        Binary { out, block, series, now: 0, records: 0, words, differences, error }
    }

    /// Adds what happened.
    pub fn put(&mut self, moment: &Moment<'_>) {
        let key = |kind, number| Key { kind, host: moment.host as u32, number };
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        match moment.what {
            What::Record(record) => {
                self.record(moment.now, key(record.kind as u8, record.number), record.at, &record.words);
                if let Some(handle) = deleted(record) {
                    self.series.end(moment.host as u32, handle);
                }
            }
            What::Completion { token, status, value } => words.extend([token, status.into(), value]),
            What::Sent { packet, octets } | What::Arrived { packet, octets } => {
                words.extend([packet, octets])
            }
            What::Forwarded { packet, left, arrival, copy, corrupt } => {
                let bit = |there: Option<u64>, bit| there.map_or(0, |_| bit);
                let bits = bit(left, LEFT) | bit(arrival, ARRIVAL) | bit(copy, COPY);
                words.extend([packet, bits | if corrupt { CORRUPT } else { 0 }]);
                words.extend([left, arrival, copy].map(Option::unwrap_or_default));
            }
        }
        let kind = match moment.what {
            What::Record(_) => None,
            What::Completion { .. } => Some(COMPLETION),
            What::Sent { .. } => Some(SENT),
            What::Forwarded { .. } => Some(FORWARDED),
            What::Arrived { .. } => Some(ARRIVED),
        };
        if let Some(kind) = kind {
            self.record(moment.now, key(kind, 0), Loc::default(), &words);
        }
        self.words = words;
    }

    fn record(&mut self, now: u64, key: Key, at: Loc, words: &[u64]) {
        let found = self.series.find(key, words);
        let number = found.unwrap_or_else(|| self.series.begin(key));
        if found.is_none() {
            self.series.name(number, key, words);
        }
        let Some(series) = self.series.get(number) else { return };
        let before = series.words.len();
        replace(&mut series.words, words, &mut self.differences);
        if key.kind == CONTEXT && self.differences.is_empty() && before == words.len() {
            return;
        }
        let place = key.kind == TraceKind::Instr as u8 && at != Loc::default();
        // Without gaps where most words differ.
        let dense = self.differences.len() * 2 > words.len();
        let flags =
            [(now != self.now, HAS_TIME), (found.is_none(), IS_NEW), (place, HAS_PLACE), (dense, IS_DENSE)];
        let flags: u64 = flags.iter().filter(|(it, _)| *it).map(|(_, flag)| flag).sum();
        let out = &mut self.block;
        varint(out, u64::from(number) << HEAD_BITS | flags);
        if found.is_none() {
            out.push(key.kind);
            varint(out, key.host.into());
            varint(out, key.number.into());
        }
        if now != self.now {
            varint(out, now.wrapping_sub(self.now));
        }
        if place {
            varint(out, at.file.into());
            varint(out, at.line.into());
        }
        varint(out, words.len() as u64);
        write_words(out, &self.differences, dense.then_some(words.len()));
        self.now = now;
        self.records += 1;
        if self.block.len() >= BLOCK {
            self.write_block();
        }
    }

    fn write_block(&mut self) {
        let head = [self.block.len() as u32, crc32fast::hash(&self.block)].map(u32::to_le_bytes).concat();
        self.write(&head);
        let block = std::mem::take(&mut self.block);
        self.write(&block);
        self.block = block;
        self.block.clear();
    }

    fn write(&mut self, octets: &[u8]) {
        if self.error.is_none() {
            self.error = self.out.write_all(octets).err();
        }
    }

    /// Ends the trace: an empty block, and how many records there are.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.write_block();
        }
        let records = self.records.to_le_bytes();
        let mut end = 0_u32.to_le_bytes().to_vec();
        end.extend(crc32fast::hash(&records).to_le_bytes());
        end.extend(records);
        self.write(&end);
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

/// Puts words in the place of those before, and notes which differ, by how much; there are 0 where there were fewer.
fn replace(before: &mut Vec<u64>, words: &[u64], differences: &mut Vec<(usize, u64)>) {
    /// Most words of a context stay: so many are compared at once.
    const AT_ONCE: usize = 8;
    differences.clear();
    before.resize(words.len(), 0);
    let all = before.chunks_mut(AT_ONCE).zip(words.chunks(AT_ONCE));
    let differ = |a: &[u64], b: &[u64]| a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) != 0;
    for (place, (before, words)) in all.enumerate().filter(|(_, (before, words))| differ(before, words)) {
        for (at, (before, word)) in before.iter_mut().zip(words).enumerate().filter(|(_, (a, b))| a != b) {
            differences.push((place * AT_ONCE + at, zigzag(word.wrapping_sub(*before) as i64)));
            *before = *word;
        }
    }
}

/// Writes differences: those of all words, or those that are not 0, each with the gap before it.
fn write_words(out: &mut Vec<u8>, differences: &[(usize, u64)], words: Option<usize>) {
    let mut next = 0;
    if let Some(words) = words {
        for (place, difference) in differences {
            out.resize(out.len() + place - next, 0);
            varint(out, *difference);
            next = place + 1;
        }
        return out.resize(out.len() + words - next, 0);
    }
    varint(out, differences.len() as u64);
    for (place, difference) in differences {
        varint(out, (place - next) as u64);
        varint(out, *difference);
        next = place + 1;
    }
}

/// Seven bits a byte, the low ones first; the top bit says that more follow (LEB128).
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A signed number whose small values have few bits.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}
