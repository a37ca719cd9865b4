// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two versions of a program: the same scenario, and the first thing in which they differ. Declarations are compared by their names, and
//! of contexts and events the fields that both versions have.

use std::sync::Arc;

use carrick_ir::{Loc, Program, STATUS_NAMES};
use serde_json::Value;

use super::shown::{Item, MOST_SHOWN, Place, Recorder, Shown};
use crate::core::Record;
use crate::scenario::{Engine, Scenario};
use crate::trace::describe;
use crate::two_hosts::run;

/// What comes of a comparison of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// records, packets and completions that agree
    pub compared: u64,
    pub difference: Option<Difference>,
    /// what the run of each version did wrong
    pub failures: [Vec<String>; 2],
}

/// The first thing in which two versions differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub at_ns: u64,
    /// 0 is the client
    pub host: usize,
    /// the last event at that host before it, which both versions have
    pub event: Option<String>,
    /// what each version shows there; `None`: nothing more
    pub shown: [Option<String>; 2],
    /// where each version issues it: `FILE:LINE`
    pub places: [Option<String>; 2],
}

/// Runs a scenario with both and compares, without parameters of their own.
///
/// # Errors
/// As [`run`].
pub fn diff_versions(programs: [&Arc<Program>; 2], scenario: &Scenario) -> Result<Versions, String> {
    let mut failures = [Vec::new(), Vec::new()];
    let mut all = [Vec::new(), Vec::new()];
    for (version, program) in programs.into_iter().enumerate() {
        let mut recorder = Recorder::default();
        let report = run(program, &Engine::Interpreter, scenario, &mut recorder, true)?;
        failures[version] = report.failures;
        all[version] = recorder.0;
    }
    let [one, other] = &all;
    let mut events: [Option<String>; 2] = [None, None];
    let most = one.len().max(other.len());
    for number in 0..most {
        let both = [one.get(number), other.get(number)];
        let stopped = most >= MOST_SHOWN && both.contains(&None);
        let words = [0, 1].map(|v| both[v].map(|shown| words(programs[v], programs[1 - v], shown)));
        if words[0] != words[1] && !stopped {
            let difference = explain(programs, both, words, &events);
            return Ok(Versions { compared: number as u64, difference, failures });
        }
        if let ([Some(shown), _], [Some(words), _]) = (both, &words)
            && let (Item::Record(Record { kind: 0, .. }), Place::Host(host)) = (&shown.item, shown.place)
        {
            events[host.min(1)] = Some(words.what.clone());
        }
    }
    Ok(Versions { compared: most as u64, difference: None, failures })
}

/// What a run shows, in words that do not depend on where something is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Words {
    at_ns: u64,
    host: usize,
    what: String,
}

fn explain(
    programs: [&Arc<Program>; 2],
    both: [Option<&Shown>; 2],
    words: [Option<Words>; 2],
    events: &[Option<String>; 2],
) -> Option<Difference> {
    // The earlier one is where they part.
    let first = words.iter().flatten().min_by_key(|words| words.at_ns)?;
    let (at_ns, host) = (first.at_ns, first.host);
    let place = |v: usize| {
        let at = both[v]?.at;
        (at != Loc::default()).then(|| format!("{}:{}", programs[v].file_of(at).raw(), at.line))
    };
    let event = events[host.min(1)].clone();
    let shown = words.map(|words| words.map(|words| words.shown(at_ns, host)));
    Some(Difference { at_ns, host, event, shown, places: [place(0), place(1)] })
}

impl Words {
    /// As a part of a sentence about this time and host.
    fn shown(self, at_ns: u64, host: usize) -> String {
        match (self.at_ns == at_ns, self.host == host) {
            (true, true) => self.what,
            _ => format!("{} (at {:.9} s on host {})", self.what, self.at_ns as f64 / 1e9, self.host),
        }
    }
}

fn words(program: &Program, other: &Program, shown: &Shown) -> Words {
    let host = if let Place::Host(host) = shown.place { host } else { 0 };
    let what = match &shown.item {
        Item::Record(record) if record.kind == 1 => instruction(program, record),
        Item::Record(record) => {
            let (what, mut detail) = describe(program, record);
            if let Some(handle) = detail.get("context").and_then(Value::as_u64) {
                detail["context"] = handle_words(program, handle).into();
            }
            keep_common(&mut detail, other);
            format!("{what} {detail}")
        }
        Item::Packet(octets) => {
            let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            format!("packet of {} bytes {hex}", octets.len())
        }
        Item::Completion(token, status, value) => {
            let status = STATUS_NAMES.get(usize::from(*status)).copied().unwrap_or("?");
            format!("completion of request {token}: {status}, {}", handle_words(program, *value))
        }
    };
    Words { at_ns: shown.now, host, what }
}

/// Of a context or an event, only the fields that the other version has, too.
fn keep_common(detail: &mut Value, other: &Program) {
    let name = detail["name"].as_str().unwrap_or_default().to_owned();
    let events = other.events.iter().find(|def| def.name == name).map(|def| &def.fields);
    let contexts = other.contexts.iter().find(|def| def.name == name);
    let timers = contexts.into_iter().flat_map(|def| def.timers.iter().map(|timer| timer.name.as_str()));
    let fields = events.or(contexts.map(|def| &def.fields));
    let known: Vec<&str> =
        fields.into_iter().flatten().map(|field| field.name.as_str()).chain(timers).collect();
    if let Some(fields) = detail["fields"].as_object_mut().filter(|_| !known.is_empty()) {
        fields.retain(|name, _| known.contains(&name.as_str()));
    }
}

/// An instruction with its words, those that number a declaration by its name.
fn instruction(program: &Program, record: &Record) -> String {
    let (_, detail) = describe(program, record);
    let name = detail["name"].as_str().unwrap_or("?");
    let known = |name: Option<&String>, word: u64| name.map_or_else(|| word.to_string(), Clone::clone);
    let context = record.words.first().and_then(|handle| program.contexts.get(context_of(*handle)?));
    let word = |(at, word): (usize, &u64)| {
        let number = *word as usize;
        match (name, at) {
            ("pkt_gen", 0) => known(program.blueprints.get(number).map(|def| &def.name), *word),
            ("raise", 0) => known(program.events.get(number).map(|def| &def.name), *word),
            ("new_ctx", 0) => known(program.contexts.get(number).map(|def| &def.name), *word),
            ("new_ctx", 1) => handle_words(program, *word),
            ("timer_start" | "timer_restart" | "timer_stop", 1) => {
                known(context.and_then(|def| def.timers.get(number)).map(|timer| &timer.name), *word)
            }
            (_, 0) => handle_words(program, *word),
            _ => word.to_string(),
        }
    };
    let words: Vec<String> = record.words.iter().enumerate().map(word).collect();
    format!("{name} {}", words.join(", "))
}

/// The context type of a handle.
fn context_of(handle: u64) -> Option<usize> {
    (handle >> 56).checked_sub(1).map(|number| number as usize)
}

/// A handle by the name of its context; another value as it is.
fn handle_words(program: &Program, value: u64) -> String {
    let context = context_of(value).and_then(|number| program.contexts.get(number));
    context.map_or_else(|| value.to_string(), |def| format!("{} {:x}", def.name, value & (u64::MAX >> 8)))
}
