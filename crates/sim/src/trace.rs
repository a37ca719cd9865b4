// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trace as JSON lines: a header, then one record a line, names and keys in a fixed order, integer nanoseconds. The first record
//! of a context has all its fields, later ones those that changed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use carrick_ir::{BlueprintDef, COUNTERS, FieldDef, Loc, Opcode, Program, STATUS_NAMES, Ty};
use serde_json::{Value, json};

use crate::core::{Completion, Record};
use crate::faults::Fate;
use crate::ip;
use crate::observe::Observer;

/// Writes a trace; the first error is kept and ends the writing.
pub struct JsonLines<W: Write> {
    out: W,
    program: Arc<Program>,
    /// by host, its program; empty: all hosts run the same
    hosts: Vec<Arc<Program>>,
    /// the fields of contexts when they were last written, by host and handle
    contexts: HashMap<(usize, u64), Value>,
    error: Option<io::Error>,
}

impl<W: Write> JsonLines<W> {
    /// Begins a trace; `manifest` says what makes it again, `inputs` of which files beside the program, each with a hash. `at` is
    /// where in the network the program runs.
    pub fn new(
        out: W,
        program: Arc<Program>,
        seed: u64,
        manifest: &str,
        inputs: &[(&str, &str)],
        at: Option<&str>,
    ) -> JsonLines<W> {
        let mut header = json!({
            "schema": "carrick-trace-2",
            "version": env!("CARGO_PKG_VERSION"),
            "program": program.file.raw(),
            "source_hash": format!("{:016x}", program.source_hash),
            "seed": seed,
            "run": manifest,
            "time_unit": "ns",
        });
        if !inputs.is_empty() {
            let of = |(file, hash): &(&str, &str)| json!({ "file": file, "hash": hash });
            header["inputs"] = inputs.iter().map(of).collect();
        }
        if let Some(at) = at {
            header["at"] = at.into();
        }
        let mut lines = JsonLines { out, program, hosts: Vec::new(), contexts: HashMap::new(), error: None };
        lines.line(&header);
        lines
    }

    /// The same, of hosts that run these programs.
    #[must_use]
    pub fn of_hosts(self, hosts: Vec<Arc<Program>>) -> JsonLines<W> {
        JsonLines { hosts, ..self }
    }

    fn line(&mut self, value: &Value) {
        if self.error.is_none() {
            self.error = writeln!(self.out, "{value}").err();
        }
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

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write> Observer for JsonLines<W> {
    fn record(&mut self, now: u64, host: usize, record: &Record) {
        let (what, mut detail) = describe(self.hosts.get(host).unwrap_or(&self.program), record);
        if what == "context" && !self.keep_changes(host, &mut detail) {
            return;
        }
        if what == "instruction" && detail["name"] == Opcode::DelCtx.name() {
            record.words.first().and_then(|handle| self.contexts.remove(&(host, *handle)));
        }
        self.line(&json!({"t": now, "host": host, "what": what, "detail": detail}));
    }

    fn completed(&mut self, now: u64, host: usize, done: &Completion) {
        let status = STATUS_NAMES.get(usize::from(done.status)).copied().unwrap_or("?");
        let detail = json!({"token": done.token, "status": status, "value": done.value});
        self.line(&json!({"t": now, "host": host, "what": "completion", "detail": detail}));
    }

    fn sent(&mut self, now: u64, host: usize, number: u64, packet: &[u8]) {
        let detail = json!({"packet": number, "bytes": packet.len()});
        self.line(&json!({"t": now, "host": host, "what": "sent", "detail": detail}));
    }

    fn forwarded(&mut self, now: u64, host: usize, number: u64, fate: &Fate) {
        let Fate { left, arrival, copy, flipped_bit, .. } = fate;
        let detail = json!({
            "packet": number, "left": left, "arrival": arrival, "copy": copy, "corrupt": flipped_bit.is_some(),
        });
        self.line(&json!({"t": now, "host": host, "what": "forwarded", "detail": detail}));
    }

    fn arrived(&mut self, now: u64, host: usize, number: u64, packet: &[u8]) {
        let detail = json!({"packet": number, "bytes": packet.len()});
        self.line(&json!({"t": now, "host": host, "what": "arrived", "detail": detail}));
    }
}

/// A record in words: what it is, and its parts by name.
pub fn describe(program: &Program, record: &Record) -> (&'static str, Value) {
    let number = record.number as usize;
    let mut words = record.words.iter().copied();
    match record.kind {
        0 => {
            let Some(event) = program.events.get(number) else { return ("event", json!(record.words)) };
            let handle = words.next().unwrap_or(0);
            let fields = fields(program, &event.fields, &mut words);
            ("event", json!({"name": event.name, "context": handle, "fields": fields}))
        }
        1 => {
            let name = Opcode::numbered(record.number).map_or("?", Opcode::name);
            let mut detail = json!({"name": name, "words": record.words});
            if record.at != Loc::default() {
                detail["file"] = json!(program.file_of(record.at).raw());
                detail["line"] = json!(record.at.line);
            }
            ("instruction", detail)
        }
        2 => {
            let Some(context) = program.contexts.get(number) else { return ("context", json!(record.words)) };
            let handle = words.next().unwrap_or(0);
            let mut all = fields(program, &context.fields, &mut words);
            for timer in &context.timers {
                all[timer.name.as_str()] = json!(words.next().unwrap_or(0));
            }
            ("context", json!({"name": context.name, "context": handle, "fields": all}))
        }
        3 => {
            let detail = SEGMENT.iter().map(|key| ((*key).to_owned(), json!(words.next()))).collect();
            ("segment", Value::Object(detail))
        }
        5 => {
            let claim = program.claims.get(number);
            (
                "claim",
                json!({
                    "failed": claim.map(|c| &c.text),
                    "file": claim.map(|c| program.file_of(c.loc).raw()),
                    "line": claim.map(|c| c.loc.line),
                    "context": words.next(),
                }),
            )
        }
        _ => ("drop", json!({"reason": COUNTERS.get(number)})),
    }
}

/// What the words of a segment are: the context of its unit, or 0 and the request whose memory it is of.
const SEGMENT: [&str; 4] = ["context", "offset", "bytes", "request"];

/// The record that a line tells of, if it is one of an instruction or a segment: whatever reads records can so read a trace
/// that was written.
pub fn record_of(what: &str, detail: &Value) -> Option<Record> {
    let number = |value: &Value| value.as_u64();
    let (kind, number, words) = match what {
        "instruction" => {
            let op = Opcode::named(detail["name"].as_str()?)?;
            (1, op.number(), detail["words"].as_array()?.iter().map(number).collect::<Option<_>>()?)
        }
        "segment" => {
            let words = SEGMENT.iter().map(|key| number(&detail[*key]));
            (3, 0, words.collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(Record { kind, number, words, at: Loc::default() })
}

/// Fields that begin the words, by name.
pub fn fields(program: &Program, defs: &[FieldDef], words: &mut dyn Iterator<Item = u64>) -> Value {
    let mut all = json!({});
    for field in defs {
        all[field.name.as_str()] = value(program, &field.ty, words);
    }
    all
}

/// A blueprint: its network header, its fields, the options that it has, and how much payload.
fn blueprint(program: &Program, def: &BlueprintDef, words: &mut dyn Iterator<Item = u64>) -> Value {
    let net = value(program, &Ty::NetHeader, &mut *words);
    let header: Value =
        def.fields.iter().map(|f| (f.name.clone(), value(program, &f.ty, &mut *words))).collect();
    let mut options = json!({});
    for opt in def.options.iter().flat_map(|list| &program.opt_lists[list.index()].members) {
        let opt = &program.opts[opt.index()];
        let there = words.next() == Some(1);
        let fields: Value =
            opt.all_fields().map(|(name, ty)| (name.to_owned(), value(program, &ty, &mut *words))).collect();
        if there {
            options[opt.name.as_str()] = fields;
        }
    }
    json!({"net": net, "header": header, "options": options, "payload": words.next()})
}

/// A value that begins the words, as programs read it.
pub fn value(program: &Program, ty: &Ty, words: &mut dyn Iterator<Item = u64>) -> Value {
    match ty {
        Ty::Event(id) => fields(program, &program.events[id.index()].fields, words),
        Ty::NetHeader => {
            let net = &program.net_header.fields;
            net.iter().map(|f| (f.name.clone(), value(program, &f.ty, &mut *words))).collect()
        }
        Ty::Blueprint(id) => blueprint(program, &program.blueprints[id.index()], words),
        Ty::Scratch(id) => fields(program, &program.scratchpads[id.index()].fields, words),
        Ty::Context(id) => {
            let def = &program.contexts[id.index()];
            let handle = words.next();
            let mut all = fields(program, &def.fields, words);
            for timer in &def.timers {
                all[timer.name.as_str()] = json!(words.next().unwrap_or(0));
            }
            json!({"context": handle, "fields": all})
        }
        Ty::Struct(id) => fields(program, &program.structs[id.index()].fields, words),
        ty @ Ty::Id(_) if *ty == program.address_ty() => {
            json!(ip::shown(words.next().unwrap_or(0), words.next().unwrap_or(0)))
        }
        Ty::Id(id) => fields(program, &program.ids[id.index()].parts, words),
        Ty::Array(element, n) => Value::Array((0..*n).map(|_| value(program, element, words)).collect()),
        Ty::List(element, n, _) => {
            let len = words.next().unwrap_or(0).min(u64::from(*n));
            Value::Array((0..len).map(|_| value(program, element, words)).collect())
        }
        Ty::Wnd { .. } => {
            let head = words.next();
            let runs = words.next().unwrap_or(0).min(65_536);
            let runs: Vec<Value> = (0..runs).map(|_| json!([words.next(), words.next()])).collect();
            json!({"head": head, "set": runs})
        }
        Ty::Fixed => json!(words.next().unwrap_or(0) as i64 as f64 / 4_294_967_296.0),
        Ty::Bool => json!(words.next().unwrap_or(0) != 0),
        Ty::Int { signed: true, .. } | Ty::Duration => json!(words.next().unwrap_or(0) as i64),
        Ty::Enum(id) => {
            let value = words.next().unwrap_or(0);
            let def = &program.enums[id.index()];
            json!(def.variants.iter().find(|(_, v)| *v == value).map_or("?", |(n, _)| n.as_str()))
        }
        Ty::Status => json!(STATUS_NAMES.get(words.next().unwrap_or(0) as usize)),
        _ => json!(words.next().unwrap_or(0)),
    }
}
