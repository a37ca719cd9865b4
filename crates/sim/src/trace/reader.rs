// SPDX-License-Identifier: MIT OR Apache-2.0
//! A binary trace, read: docs/reference/traces.md has its form. A file can be cut short by a run that was killed, and it can be
//! anybody's.

use std::io::{self, Read};

use carrick_ir::Loc;
use serde_json::Value;

use super::binary::{
    ARRIVAL, ARRIVED, COMPLETION, COPY, CORRUPT, FORWARDED, HAS_PLACE, HAS_TIME, HEAD_BITS, IS_DENSE, IS_NEW,
    LEFT, MAGIC, SENT, VERSION,
};
use super::layouts::Layouts;
use super::moment::{Hosts, Moment, What, deleted};
use super::series::{AllSeries, CONTEXT, Key};
use crate::core::Record;

/// Bytes of a header and of a block at most, and words of a record: more are those of a broken file.
const MOST_HEADER: u32 = 1 << 26;
const MOST_BLOCK: u32 = 1 << 26;
const MOST_WORDS: u64 = 1 << 20;
/// Hosts of a network at most.
const MOST_HOSTS: u32 = 1 << 16;

/// Whether a file that begins so is a binary trace.
pub fn is_binary(first: &[u8]) -> bool {
    first.starts_with(&MAGIC)
}

/// Reads the records of a trace.
pub struct Reader<R: Read> {
    from: R,
    /// the first line of a trace of lines
    pub header: Value,
    pub hosts: Hosts,
    block: Vec<u8>,
    at: usize,
    series: AllSeries,
    now: u64,
    /// the last record
    record: Record,
    pub records: u64,
    /// whether its end was read
    whole: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the beginning of a trace.
    ///
    /// # Errors
    /// A sentence, if it is none, or has another version.
    pub fn open(mut from: R) -> Result<Reader<R>, String> {
        let mut head = [0; 16];
        let got = fill(&mut from, &mut head)?;
        if !is_binary(&head[..got]) {
            return Err("it is no binary trace".into());
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (version, len) = (number(8), number(12));
        if got >= 12 && version != VERSION {
            return Err(format!(
                "it is a binary trace of version {version}, and this is version {VERSION}: record it again"
            ));
        }
        let cut = || "its header is cut short: the run that wrote it was killed as it began".to_owned();
        if got < head.len() {
            return Err(cut());
        }
        if len > MOST_HEADER {
            return Err("its header is damaged".into());
        }
        let mut text = vec![0; len as usize + 4];
        if fill(&mut from, &mut text)? < text.len() {
            return Err(cut());
        }
        let sum = text.split_off(len as usize);
        if crc32fast::hash(&text).to_le_bytes()[..] != sum {
            return Err("its header is damaged".into());
        }
        let wrong = |_| "its header is none of a trace".to_owned();
        let mut header: Value = serde_json::from_slice(&text).map_err(wrong)?;
        let part = |header: &mut Value, name| header.as_object_mut().and_then(|all| all.remove(name));
        let programs = part(&mut header, "programs").unwrap_or_default();
        let programs: Vec<Layouts> = serde_json::from_value(programs).map_err(wrong)?;
        let of = part(&mut header, "hosts").map(serde_json::from_value).transpose().map_err(wrong)?;
        let of: Vec<usize> = of.unwrap_or_default();
        if programs.is_empty()
            || of.iter().any(|number| *number >= programs.len())
            || !programs.iter().all(Layouts::are_bounded)
        {
            return Err("its header is none of a trace".into());
        }
        Ok(Reader {
            from,
            header,
            hosts: Hosts { programs, of },
            block: Vec::new(),
            at: 0,
            series: AllSeries::default(),
            now: 0,
            record: Record { kind: 0, number: 0, words: Vec::new(), at: Loc::default() },
            records: 0,
            whole: false,
        })
    }

    /// The next thing that happened; `None` at the end.
    ///
    /// # Errors
    /// A sentence, if the file cannot be read or is damaged.
    pub fn read(&mut self) -> Result<Option<Moment<'_>>, String> {
        if self.at == self.block.len() && !self.next_block()? {
            return Ok(None);
        }
        let (key, begins) = self.decode().ok_or_else(|| self.damaged())?;
        self.records += 1;
        if let Some(number) = begins {
            self.series.name(number, key, &self.record.words);
        }
        if let Some(handle) = deleted(&self.record).filter(|_| u32::from(key.kind) == self.record.kind) {
            self.series.end(key.host, handle);
        }
        let what = what(key, &self.record).ok_or_else(|| self.damaged())?;
        Ok(Some(Moment { now: self.now, host: key.host as usize, what }))
    }

    /// A sentence about where the trace ends, if its end is missing; once [`Reader::next`] has returned `None`.
    pub fn cut(&self) -> Option<String> {
        let seconds = self.now as f64 / 1e9;
        (!self.whole).then(|| {
            format!(
                "it ends without its end mark, after {} records, at {seconds:.9} s: the run was killed, or the file is not whole",
                self.records
            )
        })
    }

    fn damaged(&self) -> String {
        format!("it is damaged after {} records, at {:.9} s", self.records, self.now as f64 / 1e9)
    }

    /// Reads the next block; false if there is none.
    fn next_block(&mut self) -> Result<bool, String> {
        if self.whole {
            return Ok(false);
        }
        let mut head = [0; 8];
        if fill(&mut self.from, &mut head)? < head.len() {
            return Ok(false);
        }
        let [len, sum] =
            [0, 4].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        if len > MOST_BLOCK {
            return Err(self.damaged());
        }
        let mut block = std::mem::take(&mut self.block);
        block.resize(if len == 0 { 8 } else { len as usize }, 0);
        if fill(&mut self.from, &mut block)? < block.len() {
            (self.block, self.at) = (Vec::new(), 0);
            return Ok(false);
        }
        if crc32fast::hash(&block) != sum || len == 0 && block[..] != self.records.to_le_bytes() {
            return Err(self.damaged());
        }
        self.whole = len == 0;
        block.truncate(len as usize);
        (self.block, self.at) = (block, 0);
        Ok(!self.whole)
    }

    /// Reads a record into `record`; returns its series, and the number of that if it is new.
    fn decode(&mut self) -> Option<(Key, Option<u32>)> {
        let head = self.varint()?;
        let number = u32::try_from(head >> HEAD_BITS).ok()?;
        let begins = (head & IS_NEW != 0).then_some(number);
        let key = if begins.is_some() {
            let kind = *self.block.get(self.at)?;
            self.at += 1;
            let [host, of] = [self.varint()?, self.varint()?];
            let key = Key { kind, host: u32::try_from(host).ok()?, number: u32::try_from(of).ok()? };
            if kind > ARRIVED || key.host >= MOST_HOSTS || self.series.begin(key) != number {
                return None;
            }
            key
        } else {
            self.series.get(number)?.key
        };
        if head & HAS_TIME != 0 {
            self.now = self.now.wrapping_add(self.varint()?);
        }
        let mut at = Loc::default();
        if head & HAS_PLACE != 0 {
            (at.file, at.line) = (u32::try_from(self.varint()?).ok()?, u32::try_from(self.varint()?).ok()?);
        }
        let len = self.varint()?;
        if len > MOST_WORDS {
            return None;
        }
        let mut words = std::mem::take(&mut self.series.get(number)?.words);
        words.resize(len as usize, 0);
        self.add_differences(&mut words, head & IS_DENSE != 0)?;
        self.record.words.clone_from(&words);
        self.series.get(number)?.words = words;
        (self.record.kind, self.record.number, self.record.at) = (key.kind.into(), key.number, at);
        Some((key, begins))
    }

    fn add_differences(&mut self, words: &mut [u64], dense: bool) -> Option<()> {
        if dense {
            for word in words {
                *word = word.wrapping_add(unzigzag(self.varint()?));
            }
            return Some(());
        }
        let mut place = 0_usize;
        for _ in 0..self.varint()? {
            place = place.checked_add(usize::try_from(self.varint()?).ok()?)?;
            let word = words.get_mut(place)?;
            *word = word.wrapping_add(unzigzag(self.varint()?));
            place += 1;
        }
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let octet = *self.block.get(self.at)?;
            self.at += 1;
            value |= u64::from(octet & 0x7f) << shift;
            if octet & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn unzigzag(value: u64) -> u64 {
    value >> 1 ^ (value & 1).wrapping_neg()
}

/// What a record says; `None`: words are missing.
fn what(key: Key, record: &Record) -> Option<What<'_>> {
    let words = &record.words[..];
    Some(match (key.kind, words) {
        (COMPLETION, [token, status, value]) => {
            What::Completion { token: *token, status: u8::try_from(*status).ok()?, value: *value }
        }
        (SENT, [packet, octets]) => What::Sent { packet: *packet, octets: *octets },
        (ARRIVED, [packet, octets]) => What::Arrived { packet: *packet, octets: *octets },
        (FORWARDED, [packet, bits, left, arrival, copy]) => {
            let there = |bit, time: &u64| (bits & bit != 0).then_some(*time);
            What::Forwarded {
                packet: *packet,
                left: there(LEFT, left),
                arrival: there(ARRIVAL, arrival),
                copy: there(COPY, copy),
                corrupt: bits & CORRUPT != 0,
            }
        }
        (COMPLETION | SENT | ARRIVED | FORWARDED, _) => return None,
        (CONTEXT, []) => return None,
        _ => What::Record(record),
    })
}

/// Reads as many bytes as there are, and says how many.
fn fill(from: &mut impl Read, to: &mut [u8]) -> Result<usize, String> {
    let mut got = 0;
    while got < to.len() {
        match from.read(&mut to[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(got)
}
