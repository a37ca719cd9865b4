// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a trace tells of a run: one thing after another, and each of them as a line.

use std::collections::HashMap;
use std::sync::Arc;

use carrick_ir::{Opcode, Program, STATUS_NAMES};
use serde_json::{Value, json};

use super::layouts::Layouts;
use crate::core::Record;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<'a> {
    Record(&'a Record),
    Completion { token: u64, status: u8, value: u64 },
    Sent { packet: u64, octets: u64 },
    Forwarded { packet: u64, left: Option<u64>, arrival: Option<u64>, copy: Option<u64>, corrupt: bool },
    Arrived { packet: u64, octets: u64 },
}

/// When, where and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment<'a> {
    pub now: u64,
    pub host: usize,
    pub what: What<'a>,
}

/// A record of a trace in words.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Line {
    pub t: u64,
    pub host: u32,
    pub what: String,
    pub detail: Value,
}

/// The layouts of hosts.
#[derive(Debug, Clone)]
pub struct Hosts {
    pub programs: Vec<Layouts>,
    /// by host, the number of its program; that of hosts beyond is the first
    pub of: Vec<usize>,
}

impl Hosts {
    /// Of hosts that run these programs, and of others that run the first.
    pub fn new(first: &Arc<Program>, hosts: &[Arc<Program>]) -> Hosts {
        let mut known: Vec<&Arc<Program>> = vec![first];
        let number = |program| {
            let found = known.iter().position(|it| Arc::ptr_eq(it, program));
            found.unwrap_or_else(|| {
                known.push(program);
                known.len() - 1
            })
        };
        let of: Vec<usize> = hosts.iter().map(number).collect();
        let of = if of.iter().all(|number| *number == 0) { Vec::new() } else { of };
        Hosts { programs: known.into_iter().map(|program| Layouts::of(program)).collect(), of }
    }

    fn layouts(&self, host: usize) -> &Layouts {
        &self.programs[self.of.get(host).copied().unwrap_or(0)]
    }
}

/// Makes lines of what happens. The first line of a context has all its fields, later ones those that changed.
#[derive(Debug)]
pub struct Describer {
    hosts: Hosts,
    /// the fields of contexts when they were last described, by host and handle
    contexts: HashMap<(usize, u64), Value>,
}

impl Describer {
    pub fn new(hosts: Hosts) -> Describer {
        Describer { hosts, contexts: HashMap::new() }
    }

    /// The words for it; `None`: a context has not changed.
    pub fn describe(&mut self, moment: &Moment<'_>) -> Option<(&'static str, Value)> {
        match moment.what {
            What::Record(record) => self.record(moment.host, record),
            What::Completion { token, status, value } => {
                let status = STATUS_NAMES.get(usize::from(status)).copied().unwrap_or("?");
                Some(("completion", json!({"token": token, "status": status, "value": value})))
            }
            What::Sent { packet, octets } => Some(("sent", json!({"packet": packet, "bytes": octets}))),
            What::Forwarded { packet, left, arrival, copy, corrupt } => {
                let detail = json!({
                    "packet": packet, "left": left, "arrival": arrival, "copy": copy, "corrupt": corrupt,
                });
                Some(("forwarded", detail))
            }
            What::Arrived { packet, octets } => Some(("arrived", json!({"packet": packet, "bytes": octets}))),
        }
    }

    fn record(&mut self, host: usize, record: &Record) -> Option<(&'static str, Value)> {
        let (what, mut detail) = self.hosts.layouts(host).describe(record);
        // Of a context type that the layouts lack there are only words.
        if what == "context" && detail.is_object() && !self.keep_changes(host, &mut detail) {
            return None;
        }
        if let Some(handle) = deleted(record) {
            self.contexts.remove(&(host, handle));
        }
        Some((what, detail))
    }

    /// Leaves only the fields of a context that changed; false if none did.
    fn keep_changes(&mut self, host: usize, detail: &mut Value) -> bool {
        let handle = detail["context"].as_u64().unwrap_or(0);
        let fields = detail["fields"].take();
        let mut changed = fields.clone();
        if let (Some(before), Some(changed)) = (self.contexts.get(&(host, handle)), changed.as_object_mut()) {
            changed.retain(|name, value| before[name] != *value);
        }
        detail["fields"] = changed;
        self.contexts.insert((host, handle), fields);
        detail["fields"].as_object().is_none_or(|changed| !changed.is_empty())
    }
}

/// The handle of the context that a record says is deleted.
pub fn deleted(record: &Record) -> Option<u64> {
    let deletes =
        record.kind == carrick_interp::TraceKind::Instr as u32 && record.number == Opcode::DelCtx.number();
    record.words.first().copied().filter(|_| deletes)
}
