// SPDX-License-Identifier: MIT OR Apache-2.0
//! A trace that is written: binary, or as JSON lines with names and keys in a fixed order and integer nanoseconds.

use std::io::{self, Write};
use std::sync::Arc;

use carrick_interp::Config;
use carrick_ir::Program;
use serde_json::{Value, json};

use super::binary::Binary;
use super::cores::CoreOf;
use super::moment::{Describer, Hosts, Moment, What};
use crate::core::{Completion, Record};
use crate::faults::Fate;
use crate::observe::Observer;

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    #[default]
    Binary,
    /// JSON lines
    Json,
}

/// What a trace says first.
pub struct Head<'a> {
    pub program: &'a Arc<Program>,
    /// by host, its program; empty: all hosts run the same
    pub hosts: &'a [Arc<Program>],
    /// by host, how its core was made; empty: the trace does not say it
    pub cores: &'a [Config],
    pub seed: u64,
    /// the command that makes it again
    pub run: &'a str,
    /// the files beside the program, each with a hash
    pub inputs: &'a [(&'a str, &'a str)],
    /// where in the network the program runs
    pub at: Option<&'a str>,
}

impl<'a> Head<'a> {
    /// Of hosts that all run one program.
    pub fn new(program: &'a Arc<Program>, seed: u64, run: &'a str) -> Head<'a> {
        Head { program, hosts: &[], cores: &[], seed, run, inputs: &[], at: None }
    }

    fn header(&self) -> Value {
        let mut header = json!({
            "schema": "carrick-trace-2",
            "version": env!("CARGO_PKG_VERSION"),
            "program": self.program.file.raw(),
            "source_hash": format!("{:016x}", self.program.source_hash),
            "seed": self.seed,
            "run": self.run,
            "time_unit": "ns",
        });
        if !self.inputs.is_empty() {
            let of = |(file, hash): &(&str, &str)| json!({ "file": file, "hash": hash });
            header["inputs"] = self.inputs.iter().map(of).collect();
        }
        if !self.cores.is_empty() {
            let program = |host: usize| self.hosts.get(host).unwrap_or(self.program);
            let of = |(host, config)| CoreOf::new(program(host), config);
            header["cores"] = json!(self.cores.iter().enumerate().map(of).collect::<Vec<_>>());
        }
        if let Some(at) = self.at {
            header["at"] = at.into();
        }
        header
    }
}

/// Writes a trace as lines; the first error is kept and ends the writing.
pub struct Lines<W: Write> {
    out: W,
    describer: Describer,
    error: Option<io::Error>,
}

impl<W: Write> Lines<W> {
    /// Begins with a header.
    pub fn new(out: W, header: &Value, hosts: Hosts) -> Lines<W> {
        let mut lines = Lines { out, describer: Describer::new(hosts), error: None };
        lines.line(header);
        lines
    }

    /// Adds what happened.
    pub fn put(&mut self, moment: &Moment<'_>) {
        if let Some((what, detail)) = self.describer.describe(moment) {
            self.line(&json!({"t": moment.now, "host": moment.host, "what": what, "detail": detail}));
        }
    }

    fn line(&mut self, value: &Value) {
        if self.error.is_none() {
            self.error = writeln!(self.out, "{value}").err();
        }
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

/// Writes a trace of what it observes.
pub enum Writer<W: Write> {
    Binary(Box<Binary<W>>),
    Json(Lines<W>),
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    pub fn new(form: Form, out: W, head: &Head<'_>) -> Writer<W> {
        let hosts = Hosts::new(head.program, head.hosts);
        match form {
            Form::Binary => Writer::Binary(Box::new(Binary::new(out, head.header(), &hosts))),
            Form::Json => Writer::Json(Lines::new(out, &head.header(), hosts)),
        }
    }

    fn put(&mut self, now: u64, host: usize, what: What<'_>) {
        let moment = Moment { now, host, what };
        match self {
            Writer::Binary(binary) => binary.put(&moment),
            Writer::Json(lines) => lines.put(&moment),
        }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Writer::Binary(binary) => binary.finish(),
            Writer::Json(lines) => lines.finish(),
        }
    }
}

impl<W: Write> Observer for Writer<W> {
    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.put(now, host, What::Record(record));
    }

    fn completed(&mut self, now: u64, host: usize, done: &Completion) {
        self.put(now, host, What::Completion { token: done.token, status: done.status, value: done.value });
    }

    fn sent(&mut self, now: u64, host: usize, number: u64, packet: &[u8]) {
        self.put(now, host, What::Sent { packet: number, octets: packet.len() as u64 });
    }

    fn forwarded(&mut self, now: u64, host: usize, number: u64, fate: &Fate) {
        let Fate { left, arrival, copy, flipped_bit, .. } = *fate;
        let corrupt = flipped_bit.is_some();
        self.put(now, host, What::Forwarded { packet: number, left, arrival, copy, corrupt });
    }

    fn arrived(&mut self, now: u64, host: usize, number: u64, packet: &[u8]) {
        self.put(now, host, What::Arrived { packet: number, octets: packet.len() as u64 });
    }
}
