// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run as plain data: what the page draws. Times are virtual nanoseconds; tables are columns of equal length.

use serde::{Serialize, Serializer};

/// Everything that a page shows.
#[derive(Debug, Default, Serialize)]
pub struct Run {
    /// the program's name
    pub program: String,
    /// what makes the run again
    pub command: String,
    /// when the last record was made
    pub end: u64,
    pub hosts: u32,
    pub kinds: Vec<Kind>,
    pub functions: Vec<Function>,
    pub flows: Vec<Flow>,
    pub events: Events,
    /// what events brought about, in the order of the trace
    pub reactions: Vec<Reaction>,
    /// what reactions say, each text once
    pub texts: Vec<String>,
    pub packets: Packets,
    pub segments: Vec<Segments>,
    /// up to where each flow's bytes are acknowledged
    pub edges: Vec<Series>,
    /// from sending bytes (once) to their acknowledgement, nanoseconds
    pub rtt: Vec<Series>,
    /// up to where the application at the other end has each flow's bytes
    pub delivered: Vec<Series>,
    /// what arrived of the bytes that each flow receives
    pub received: Vec<Segments>,
    /// up to where the flow's own application has them
    pub taken: Vec<Series>,
    pub transfers: Vec<Transfer>,
    pub curves: Vec<Curve>,
    /// packets that wait for the link of a host, the one on its way to the wire among them
    pub queues: Vec<Series>,
    /// packets of a host that are on their way
    pub in_flight: Vec<Series>,
    /// text of the program's files; not part of the data, as the page has it as text
    #[serde(skip)]
    pub sources: Vec<Source>,
}

/// A file of the program.
#[derive(Debug, Clone)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// A kind of event.
#[derive(Debug, Serialize)]
pub struct Kind {
    pub name: String,
    /// `app_event`, ..., or `refused` (a packet), `claim` (one that did not hold)
    pub class: &'static str,
    pub doc: String,
    pub fields: Vec<String>,
    /// the processors of its chain, into [`Run::functions`]
    pub present: Vec<u32>,
    pub absent: Vec<u32>,
}

#[derive(Debug, Serialize)]
pub struct Function {
    pub name: String,
    /// into [`Run::sources`]
    pub file: u32,
    pub line: u32,
}

/// An instance of a context at a host.
#[derive(Debug, Serialize)]
pub struct Flow {
    pub host: u32,
    /// the context's name
    pub context: String,
    /// counts those of a context at a host from 1
    pub number: u32,
    /// the parts of its id, if its making was seen
    pub id: Vec<(String, String)>,
}

/// All events, in the order in which they happened.
#[derive(Debug, Default, Serialize)]
pub struct Events {
    pub t: Vec<u64>,
    pub host: Vec<u32>,
    /// into [`Run::kinds`]
    pub kind: Vec<u32>,
    /// into [`Run::flows`]; absent or none: -1
    pub flow: Vec<i64>,
    /// the packet that brought it, into [`Run::packets`]; none: -1
    pub packet: Vec<i64>,
    /// the first of its reactions; those of the next event begin where they end
    pub first: Vec<u32>,
    /// values of the kind's fields
    pub fields: Vec<Vec<serde_json::Value>>,
}

/// An instruction that was issued, and where it stands.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Reaction(
    /// into [`Run::texts`]
    pub u32,
    /// into [`Run::sources`]
    pub u32,
    /// from 1; 0: not known
    pub u32,
);

/// What becomes of packets on a real network, nobody tells.
pub const UNTOLD: i64 = -2;
/// Nor whence they come.
pub const FOREIGN: i64 = -3;

/// All packets, by number.
#[derive(Debug, Default, Serialize)]
pub struct Packets {
    pub t: Vec<u64>,
    pub host: Vec<u32>,
    pub octets: Vec<u32>,
    /// the host at which it arrived; not seen to arrive: -1
    pub to: Vec<i64>,
    /// when its last byte was on the wire; the queue was full: -1; what became of it is not told: [`UNTOLD`]; it came from where
    /// nobody looked on, and `host` is where it arrived: [`FOREIGN`]
    pub left: Vec<i64>,
    /// lost: -1
    pub arrival: Vec<i64>,
    /// of a copy; none: -1
    pub copy: Vec<i64>,
    /// the event that it brought about first; none: -1
    pub event: Vec<i64>,
    /// the event that asked for it; not known: -1
    pub by: Vec<i64>,
}

/// What was sent, or received, of a flow's bytes, packet by packet.
#[derive(Debug, Default, Serialize)]
pub struct Segments {
    pub of: u32,
    pub t: Vec<u64>,
    pub offset: Vec<u64>,
    pub len: Vec<u64>,
    /// 1: some of these bytes were sent, or received, before
    pub again: Vec<u8>,
    /// the event that requested the packet, or that the packet raised; not known: -1
    pub e: Vec<i64>,
}

impl Segments {
    /// Adds a packet at this time, with bytes from an offset on.
    pub fn add(&mut self, t: u64, (offset, len): (u64, u64), again: bool, e: i64) {
        self.t.push(t);
        self.offset.push(offset);
        self.len.push(len);
        self.again.push(u8::from(again));
        self.e.push(e);
    }
}

/// Values over time, of a flow or a host.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Series {
    pub of: u32,
    pub t: Vec<u64>,
    #[serde(serialize_with = "short")]
    pub v: Vec<f64>,
    /// the events that brought the values about; empty: none are known
    pub e: Vec<i64>,
}

impl Series {
    /// No value yet, of a flow or a host.
    pub fn of(of: u32) -> Series {
        Series { of, ..Series::default() }
    }

    /// Adds a value; one for the same time takes the place of the last.
    pub fn step(&mut self, t: u64, v: f64, e: i64) {
        let keep = self.t.len() - usize::from(self.t.last() == Some(&t));
        self.t.truncate(keep);
        self.v.truncate(keep);
        self.e.truncate(keep);
        self.t.push(t);
        self.v.push(v);
        self.e.push(e);
    }
}

/// Whole numbers without a point.
fn short<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
    let whole = |v: f64| v.fract() == 0.0 && v.abs() < 9e15;
    to.collect_seq(values.iter().map(|&v| match whole(v) {
        true => serde_json::Value::from(v as i64),
        false => serde_json::Value::from(v),
    }))
}

/// From the first byte given to a flow that had nothing to send, until the application at the other end has all, or, where
/// that is not seen, until all is acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transfer {
    pub flow: u32,
    pub begin: u64,
    /// absent: it did not end
    pub end: Option<u64>,
    pub octets: u64,
    /// the events of beginning and end
    pub events: (i64, i64),
}

/// A field of a context over time, in all its instances.
#[derive(Debug, Serialize)]
pub struct Curve {
    pub context: String,
    /// with the structs that it lies in: `a.b`
    pub field: String,
    pub doc: String,
    pub unit: Unit,
    /// whether it is drawn from the start
    pub shown: bool,
    pub series: Vec<Series>,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Number,
    /// nanoseconds
    Time,
    Octets,
    /// bits a second
    Rate,
}
