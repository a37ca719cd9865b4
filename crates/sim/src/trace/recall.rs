// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of a trace of lines: what [`Describer`](super::Describer) did, backwards. Lines leave out what has not changed.

use std::collections::HashMap;
use std::net::Ipv6Addr;

use carrick_ir::Loc;
use serde_json::{Map, Value};

use super::layouts::{Layouts, Named, Shape, record_of};
use super::moment::{Line, deleted};
use crate::core::{Record, TraceKind};

/// Makes records of the lines of hosts that all run one program.
pub struct Recaller {
    layouts: Layouts,
    /// by host and handle, all fields of a context
    contexts: HashMap<(usize, u64), Kept>,
    /// the context of the chain that runs last, as long as no line says its state
    running: Option<(usize, u64)>,
}

/// A context as it was last described.
struct Kept {
    /// of its type
    number: usize,
    fields: Map<String, Value>,
}

impl Recaller {
    pub fn new(layouts: Layouts) -> Recaller {
        Recaller { layouts, contexts: HashMap::new(), running: None }
    }

    /// The record that a line tells of; `Ok(None)`: of a packet, a completion, a drop or a claim.
    ///
    /// # Errors
    /// A sentence, if no such line is of this program.
    pub fn recall(&mut self, line: &Line) -> Result<Option<Record>, String> {
        let host = line.host as usize;
        let wrong = || format!("a record `{}` that the program does not have", line.what);
        let detail = &line.detail;
        let record = match line.what.as_str() {
            "event" => self.event(detail).ok_or_else(wrong)?,
            "context" => self.context(host, detail).ok_or_else(wrong)?,
            "instruction" | "segment" => record_of(&line.what, detail).ok_or_else(wrong)?,
            "completion" | "sent" | "forwarded" | "arrived" | "drop" | "claim" => return Ok(None),
            _ => return Err(format!("`{}` is no record", line.what)),
        };
        let handle = record.words.first().copied().unwrap_or(0);
        if record.kind == TraceKind::Event as u32 {
            self.running = Some((host, handle)).filter(|running| self.contexts.contains_key(running));
        } else if record.kind == TraceKind::Context as u32 && self.running == Some((host, handle)) {
            self.running = None;
        }
        if let Some(gone) = deleted(&record) {
            self.contexts.remove(&(host, gone));
        }
        Ok(Some(record))
    }

    /// The record of the context of the chain that ran last, if no line was written since its state did not change. To be called
    /// before the next event, and when something happens at another time or host.
    pub fn unchanged(&mut self) -> Option<(usize, Record)> {
        let (host, handle) = self.running.take()?;
        let record = self.state(host, handle)?;
        Some((host, record))
    }

    fn event(&self, detail: &Value) -> Option<Record> {
        let (number, named) = find(&self.layouts.events, detail)?;
        let mut words = vec![detail["context"].as_u64()?];
        put_fields(&named.fields, &detail["fields"], &mut words)?;
        Some(record(TraceKind::Event, number, words))
    }

    fn context(&mut self, host: usize, detail: &Value) -> Option<Record> {
        let (number, _) = find(&self.layouts.contexts, detail)?;
        let (handle, changed) = (detail["context"].as_u64()?, detail["fields"].as_object()?);
        let kept = self.contexts.entry((host, handle)).or_insert_with(|| Kept { number, fields: Map::new() });
        (kept.number == number).then_some(())?;
        kept.fields.extend(changed.clone());
        self.state(host, handle)
    }

    fn state(&self, host: usize, handle: u64) -> Option<Record> {
        let Kept { number, fields } = self.contexts.get(&(host, handle))?;
        let mut words = vec![handle];
        let shapes = &self.layouts.contexts.get(*number)?.fields;
        shapes.iter().try_for_each(|(name, shape)| shape.put(fields.get(name)?, &mut words))?;
        Some(record(TraceKind::Context, *number, words))
    }
}

fn record(kind: TraceKind, number: usize, words: Vec<u64>) -> Record {
    Record { kind: kind as u32, number: number as u32, words, at: Loc::default() }
}

fn find<'n>(all: &'n [Named], detail: &Value) -> Option<(usize, &'n Named)> {
    let name = detail["name"].as_str()?;
    all.iter().enumerate().find(|(_, named)| named.name == name)
}

fn put_fields(fields: &[(String, Shape)], value: &Value, words: &mut Vec<u64>) -> Option<()> {
    let value = value.as_object()?;
    fields.iter().try_for_each(|(name, shape)| shape.put(value.get(name)?, words))
}

/// Units of a number with a fraction.
const FRACTION: f64 = 4_294_967_296.0;
/// A number that no name of an enum stands for.
const UNNAMED: u64 = u64::MAX;

impl Shape {
    /// Appends the words of a value, as [`Shape::value`] reads them; `None` if it has another shape.
    fn put(&self, value: &Value, words: &mut Vec<u64>) -> Option<()> {
        match self {
            Shape::Number => words.push(value.as_u64()?),
            Shape::Signed => words.push(value.as_i64()? as u64),
            Shape::Bool => words.push(value.as_bool()?.into()),
            Shape::Fixed => words.push((value.as_f64()? * FRACTION).round() as i64 as u64),
            Shape::Address => {
                let address = u128::from(value.as_str()?.parse::<Ipv6Addr>().ok()?);
                words.extend([(address >> 64) as u64, address as u64]);
            }
            Shape::Window => {
                let ranges = value["set"].as_array()?;
                words.extend([value["head"].as_u64()?, ranges.len() as u64]);
                for end in ranges.iter().flat_map(|range| [&range[0], &range[1]]) {
                    words.push(end.as_u64()?);
                }
            }
            Shape::Enum(names) => {
                let name = value.as_str()?;
                words.push(names.iter().find(|(it, _)| it == name).map_or(UNNAMED, |(_, number)| *number));
            }
            Shape::Struct(fields) => put_fields(fields, value, words)?,
            Shape::Array(element, n) => {
                let all = value.as_array().filter(|all| all.len() == *n as usize)?;
                all.iter().try_for_each(|value| element.put(value, words))?;
            }
            Shape::List(element, most) => {
                let all = value.as_array().filter(|all| all.len() <= *most as usize)?;
                words.push(all.len() as u64);
                all.iter().try_for_each(|value| element.put(value, words))?;
            }
            Shape::Options(all) => {
                for (name, fields) in all {
                    let there = value.get(name);
                    words.push(there.is_some().into());
                    match there {
                        Some(value) => put_fields(fields, value, words)?,
                        None => fields.iter().for_each(|(_, shape)| shape.put_nothing(words)),
                    }
                }
            }
        }
        Some(())
    }

    /// Appends words that are all 0, of a value that is not there.
    fn put_nothing(&self, words: &mut Vec<u64>) {
        let zeros = self.words(&[]);
        words.resize(words.len() + zeros, 0);
    }
}
