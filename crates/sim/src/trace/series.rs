// SPDX-License-Identifier: MIT OR Apache-2.0
//! The series that the records of a binary trace form: records of one kind, with the words of the last one. What is written of
//! the next one is how it differs. Writer and reader number them alike.

use rustc_hash::FxHashMap;

/// The kind of a context's record: each context is a series of its own.
pub const CONTEXT: u8 = 2;

/// What the records of a series have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub kind: u8,
    pub host: u32,
    /// of the event, instruction, context type or counter
    pub number: u32,
}

/// Records of one kind.
#[derive(Debug, Clone)]
pub struct Series {
    pub key: Key,
    /// of the last record
    pub words: Vec<u64>,
}

/// All series of a trace.
#[derive(Debug, Default)]
pub struct AllSeries {
    all: Vec<Series>,
    free: Vec<u32>,
    plain: FxHashMap<Key, u32>,
    contexts: FxHashMap<(u32, u64), u32>,
}

impl AllSeries {
    /// The series of a record with these words, if there is one.
    pub fn find(&self, key: Key, words: &[u64]) -> Option<u32> {
        match key.kind {
            CONTEXT => self.contexts.get(&(key.host, words.first().copied().unwrap_or(0))).copied(),
            _ => self.plain.get(&key).copied(),
        }
    }

    pub fn get(&mut self, number: u32) -> Option<&mut Series> {
        self.all.get_mut(number as usize)
    }

    /// The number of a new series: that which became free last, or the next.
    pub fn begin(&mut self, key: Key) -> u32 {
        let series = Series { key, words: Vec::new() };
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = series;
            return number;
        }
        self.all.push(series);
        self.all.len() as u32 - 1
    }

    /// Notes the words of a new series' first record.
    pub fn name(&mut self, number: u32, key: Key, words: &[u64]) {
        match key.kind {
            CONTEXT => drop(self.contexts.insert((key.host, words.first().copied().unwrap_or(0)), number)),
            _ => drop(self.plain.insert(key, number)),
        }
    }

    /// A context is gone.
    pub fn end(&mut self, host: u32, handle: u64) {
        if let Some(number) = self.contexts.remove(&(host, handle)) {
            self.all[number as usize].words = Vec::new();
            self.free.push(number);
        }
    }
}
