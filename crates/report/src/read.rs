// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the records of a trace to a run.

use std::collections::HashMap;

use carrick_ir::uses::event_kind_name;
use carrick_ir::{EventKind, FuncId, Program};
use carrick_sim::trace::{Line, record_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::curves::Curves;
use crate::flows::{Flows, Moment};
use crate::model::{Events, Function, Kind, Reaction, Run, Source};
use crate::packets::Collector;
use crate::received::Received;
use crate::words;

/// What the first line of a trace says.
#[derive(Debug, Deserialize)]
pub struct Header {
    schema: String,
    /// of Carrick, that recorded it
    pub version: String,
    /// the file with the program, as it was named when the run was made
    pub program: String,
    /// of all its text, as [`Program::source_hash`] in hexadecimal digits
    pub source_hash: String,
    pub seed: u64,
    /// what makes the run again
    pub run: String,
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// where in the network the program runs; absent: at the hosts
    pub at: Option<String>,
}

/// A file beside the program that a run is made of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Input {
    /// as it was named
    pub file: String,
    /// of its text, of a program with all that it imports, in hexadecimal digits
    pub hash: String,
}

impl Header {
    /// Reads the first line of a trace.
    ///
    /// # Errors
    /// A sentence, if it is none.
    pub fn read(line: &str) -> Result<Header, String> {
        let wrong = "its first line is not that of a trace; make one with `carrick sim FILE.mtp --trace RUN`";
        let header: Header = serde_json::from_str(line).map_err(|_| wrong.to_owned())?;
        match header.schema.as_str() {
            "carrick-trace-2" => Ok(header),
            other => Err(format!("it has the form `{other}`, which this version does not know")),
        }
    }
}

/// What happens at a host.
#[derive(Clone)]
struct Host {
    /// the last event, and its flow
    event: Option<usize>,
    flow: Option<u32>,
    /// the packet that arrived last (its place), and when
    packet: Option<(usize, u64)>,
    /// of the packet that is about to be sent: whose bytes it has, and the event that asked for it
    segment: Option<(u32, i64)>,
    /// the event that asked last for a packet without payload; none: -1
    asked: i64,
}

impl Default for Host {
    fn default() -> Host {
        Host { event: None, flow: None, packet: None, segment: None, asked: -1 }
    }
}

/// Reads a trace, record by record.
pub struct Reader<'p> {
    program: &'p Program,
    run: Run,
    records: u64,
    hosts: Vec<Host>,
    flows: Flows,
    received: Received,
    packets: Collector,
    /// whose bytes each packet has
    carried: Vec<Option<u32>>,
    curves: Curves,
    /// with the events that they belong to
    reactions: Vec<(usize, Reaction)>,
    /// kinds and texts by what they say
    kinds: HashMap<String, u32>,
    texts: HashMap<String, u32>,
    files: HashMap<String, u32>,
}

/// More hosts than a trace can have: numbers beyond are a broken file's.
const HOSTS_MAX: u32 = 4096;

impl<'p> Reader<'p> {
    /// Of a run of this program. `plot` names the fields to draw; if it is empty, those are taken that tell most.
    ///
    /// # Errors
    /// A sentence, if there is no such field.
    pub fn new(header: &Header, program: &'p Program, plot: &[String]) -> Result<Reader<'p>, String> {
        let place = |func: &FuncId| func.0;
        let kinds: Vec<Kind> = program
            .events
            .iter()
            .enumerate()
            .map(|(n, event)| {
                let chain = program.chains.get(n).and_then(Option::as_ref);
                let absent = chain.and_then(|c| c.absent.as_ref());
                Kind {
                    name: event.name.clone(),
                    class: event_kind_name(event.kind),
                    doc: event.doc.raw().to_owned(),
                    fields: event.fields.iter().map(|f| f.name.clone()).collect(),
                    present: chain.map_or(Vec::new(), |c| c.present.iter().map(place).collect()),
                    absent: absent.map_or(Vec::new(), |c| c.iter().map(place).collect()),
                }
            })
            .collect();
        let function =
            |f: &carrick_ir::Function| Function { name: f.name.clone(), file: f.loc.file, line: f.loc.line };
        let names = std::iter::once(&program.file).chain(&program.imports);
        Ok(Reader {
            program,
            records: 0,
            hosts: Vec::new(),
            flows: Flows::default(),
            received: Received::default(),
            packets: Collector::default(),
            carried: Vec::new(),
            curves: Curves::new(program, plot)?,
            reactions: Vec::new(),
            kinds: (0..).zip(&kinds).map(|(n, k)| (k.name.clone(), n)).collect(),
            texts: HashMap::new(),
            files: (0..).zip(names).map(|(n, name)| (name.raw().to_owned(), n)).collect(),
            run: Run {
                program: program.name.clone(),
                command: header.run.clone(),
                kinds,
                functions: program.functions.iter().map(function).collect(),
                ..Run::default()
            },
        })
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// A sentence with the record's number, if it is none of a trace of this program.
    pub fn record(&mut self, line: &Line) -> Result<(), String> {
        self.records += 1;
        let number = self.records;
        let wrong = |why: &str| format!("record {number}: {why}");
        if line.host >= HOSTS_MAX {
            return Err(wrong(&format!("there is no host {}", line.host)));
        }
        if self.hosts.len() <= line.host as usize {
            self.hosts.resize(line.host as usize + 1, Host::default());
        }
        self.run.end = self.run.end.max(line.t);
        self.take(line).ok_or_else(|| wrong("parts of it are missing"))
    }

    /// `None`: something is missing in the line.
    fn take(&mut self, line: &Line) -> Option<()> {
        let detail = &line.detail;
        let number = |key: &str| detail[key].as_u64();
        match line.what.as_str() {
            "event" => self.event(line, detail["name"].as_str()?)?,
            "instruction" => self.instruction(line)?,
            "context" => {
                let handle = number("context")?;
                let flow = self.flows.of(self.program, line.host, handle)?;
                let event = self.moment(line).event;
                self.curves.context(line.t, words::context_of(handle)?, flow, &detail["fields"], event);
            }
            "segment" => {
                let record = record_of(&line.what, detail)?;
                let found = self.flows.segment(self.program, self.moment(line), &record);
                self.hosts[line.host as usize].segment = found;
            }
            "sent" => self.sent(line, number("packet")?, number("bytes")?),
            "forwarded" => {
                self.packets.forwarded(number("packet")?, number("left"), number("arrival"), number("copy"));
            }
            "arrived" => {
                let before = self.packets.len();
                let (packet, octets) = (number("packet")?, number("bytes")?);
                let place = self.packets.arrived(line.t, line.host, packet, octets);
                if self.packets.len() > before {
                    self.carried.push(None);
                }
                // What the parser raises is no reaction of the event before.
                let host = &mut self.hosts[line.host as usize];
                host.packet = Some((place, line.t));
                (host.event, host.flow) = (None, None);
            }
            "drop" => self.note(line, "refused", detail["reason"].as_str()?, None),
            "claim" => {
                let place = (detail["file"].as_str().unwrap_or_default(), number("line").unwrap_or(0));
                self.note(line, "claim", detail["failed"].as_str()?, Some(place));
            }
            // Completions say again what `notify` said; what is not known yet is nothing to draw.
            _ => {}
        }
        Some(())
    }

    fn sent(&mut self, line: &Line, number: u64, octets: u64) {
        let host = &mut self.hosts[line.host as usize];
        let segment = host.segment.take();
        let by = segment.map_or(host.asked, |(_, by)| by);
        self.packets.sent(line.t, line.host, number, octets, by);
        self.carried.push(segment.map(|(flow, _)| flow));
    }

    fn moment(&self, line: &Line) -> Moment {
        let event = self.hosts[line.host as usize].event.map_or(-1, |e| e as i64);
        Moment { t: line.t, host: line.host, event }
    }

    fn event(&mut self, line: &Line, name: &str) -> Option<()> {
        let number = *self.kinds.get(name)?;
        let def = &self.program.events[number as usize];
        let flow = self.flows.of(self.program, line.host, line.detail["context"].as_u64()?);
        let values = def.fields.iter().map(|f| exact(&line.detail["fields"][f.name.as_str()]));
        let values = values.collect();
        let arrived = self.hosts[line.host as usize].packet.filter(|(_, t)| *t == line.t);
        let packet = arrived.map(|(place, _)| place).filter(|_| def.kind == EventKind::Net);
        self.push(line, number, flow, packet, values);
        if let Some((from, to)) = packet.and_then(|p| self.carried[p]).zip(flow) {
            self.flows.pair(from, to);
        }
        Some(())
    }

    /// Something that is no event of the program, but is shown among them.
    fn note(&mut self, line: &Line, class: &'static str, said: &str, place: Option<(&str, u64)>) {
        // A name of the program is not taken, whatever was refused is called.
        let key = format!("{class} {said}");
        let number = *self.kinds.entry(key).or_insert_with(|| {
            let (name, doc) = (said.to_owned(), String::new());
            let kind = Kind { name, class, doc, fields: Vec::new(), present: Vec::new(), absent: Vec::new() };
            self.run.kinds.push(kind);
            self.run.kinds.len() as u32 - 1
        });
        let host = &self.hosts[line.host as usize];
        let packet = host.packet.filter(|(_, t)| *t == line.t).map(|(place, _)| place);
        let before = (host.event, host.flow);
        self.push(line, number, before.1, packet, Vec::new());
        if let Some((file, at)) = place {
            let text = self.text(format!("does not hold: {said}"));
            self.react(self.run.events.t.len() - 1, text, file, at);
        }
        let host = &mut self.hosts[line.host as usize];
        (host.event, host.flow) = before;
    }

    fn push(&mut self, line: &Line, kind: u32, flow: Option<u32>, packet: Option<usize>, values: Vec<Value>) {
        let events = &mut self.run.events;
        let number = events.t.len();
        let Events { t, host, kind: kinds, flow: flows, packet: packets, fields, .. } = events;
        t.push(line.t);
        host.push(line.host);
        kinds.push(kind);
        flows.push(flow.map_or(-1, i64::from));
        packets.push(packet.map_or(-1, |p| p as i64));
        fields.push(values);
        if let Some(packet) = packet {
            self.packets.event(packet, number as i64);
        }
        let here = &mut self.hosts[line.host as usize];
        (here.event, here.flow) = (Some(number), flow);
    }

    fn instruction(&mut self, line: &Line) -> Option<()> {
        let detail = &line.detail;
        let record = record_of(&line.what, detail)?;
        let name = detail["name"].as_str()?;
        let host = &self.hosts[line.host as usize];
        let (event, flow) = (host.event, host.flow);
        let moment = self.moment(line);
        self.flows.instruction(self.program, moment, flow, name, &record);
        if let Some(flow) = record.words.first().and_then(|h| self.flows.of(self.program, line.host, *h)) {
            self.received.instruction(moment, flow, name, &record);
        }
        if let Some(event) = event {
            if name == "pkt_gen" && record.words.get(2) == Some(&0) {
                self.hosts[line.host as usize].asked = event as i64;
            }
            let text = self.text(words::instruction(self.program, name, &record.words));
            let place = detail["file"].as_str().unwrap_or_default();
            self.react(event, text, place, detail["line"].as_u64().unwrap_or(0));
        }
        Some(())
    }

    /// The number of a text that reactions say.
    fn text(&mut self, text: String) -> u32 {
        let next = self.run.texts.len() as u32;
        *self.texts.entry(text).or_insert_with_key(|text| {
            self.run.texts.push(text.clone());
            next
        })
    }

    fn react(&mut self, event: usize, text: u32, file: &str, line: u64) {
        let (file, line) = self.files.get(file).map_or((0, 0), |file| (*file, line as u32));
        self.reactions.push((event, Reaction(text, file, line)));
    }

    /// Puts reactions in the order of their events.
    fn place_reactions(&mut self) {
        self.reactions.sort_by_key(|(event, _)| *event);
        let mut reactions = self.reactions.drain(..).peekable();
        for event in 0..self.run.events.t.len() {
            self.run.events.first.push(self.run.reactions.len() as u32);
            while let Some((_, reaction)) = reactions.next_if(|(of, _)| *of == event) {
                self.run.reactions.push(reaction);
            }
        }
    }

    /// The run; `sources` are the files of the program, in the order of their numbers.
    pub fn finish(mut self, sources: Vec<Source>) -> Run {
        self.place_reactions();
        let flows = self.flows.finish();
        self.run.hosts = self.hosts.len() as u32;
        self.run.curves = self.curves.finish(self.program);
        (self.run.packets, self.run.queues, self.run.in_flight) = self.packets.finish();
        (self.run.flows, self.run.transfers) = (flows.flows, flows.transfers);
        (self.run.segments, self.run.edges) = (flows.segments, flows.edges);
        (self.run.received, self.run.taken) = self.received.finish();
        (self.run.delivered, self.run.rtt) = (flows.delivered, flows.rtt);
        self.run.sources = sources;
        self.run
    }
}

/// A value that a page reads as it is: it has no whole numbers above 2^53.
fn exact(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.as_u64().is_some_and(|n| n > 1 << 53) => Value::String(n.to_string()),
        Value::Array(all) => all.iter().map(exact).collect(),
        Value::Object(all) => all.iter().map(|(name, v)| (name.clone(), exact(v))).collect(),
        other => other.clone(),
    }
}
