// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host (a simulator, a test) exchanges with a core.

use carrick_ir::{Loc, Opcode};
use serde::{Deserialize, Serialize};

/// How a core is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// of the random numbers and of the secret key
    pub seed: u64,
    /// the core's address; an IPv4 address is in the lowest bits
    pub address: u128,
    /// bytes of an IP packet, 68..=65535
    pub mtu: u32,
    /// the most open requests, a power of two; 0: 1024
    pub completions: u32,
    /// a value for each of the program's parameters, in order; empty: the defaults
    pub params: Vec<u64>,
    /// the most instances of each context, where the program allows more; 0: as many as it says
    pub instances: u32,
    /// whether to keep trace records for [`Core::take_trace`](crate::Core::take_trace)
    pub trace: bool,
    /// which of them
    pub records: RecordSet,
}

impl Default for Config {
    fn default() -> Config {
        let records = RecordSet::ALL;
        Config {
            seed: 0,
            address: 0,
            mtu: 1500,
            completions: 0,
            params: Vec::new(),
            instances: 0,
            trace: false,
            records,
        }
    }
}

/// Why an input was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// nothing happened: take out packets (or completions), then try again
    Again,
    /// the packet was dropped and counted: the number in [`COUNTERS`](carrick_ir::COUNTERS)
    Dropped(usize),
    /// no such call, token 0, a wrong number of arguments, or data for a call that has none
    BadArg,
}

/// What a request brings for the `addr_t` field of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data<'a> {
    /// nothing
    None,
    /// bytes for the program; the core copies them and keeps them until the request completes
    Send(&'a [u8]),
    /// bytes for the program that outlive every core: they are not copied
    Lent(&'static [u8]),
    /// room for so many bytes; what is delivered comes with the completion
    Recv(u64),
    /// bytes for the program, which may put others there; they come back with the completion
    Shared(&'a [u8]),
}

/// An application's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// for calls on a context
    pub handle: u64,
    /// chosen by the application, not 0, unique among its open requests
    pub token: u64,
    /// the event's scalar fields, in declared order
    pub args: &'a [u64],
    /// for the event's `addr_t` field
    pub data: Data<'a>,
}

/// A finished request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// the request's
    pub token: u64,
    /// a `status_t`: see [`STATUS_NAMES`](carrick_ir::STATUS_NAMES)
    pub status: u8,
    /// bytes, or a handle: what the call says
    pub value: u64,
    /// the bytes that were delivered to a [`Data::Recv`] or [`Data::Shared`] request
    pub data: Option<Vec<u8>>,
}

/// The kinds of trace records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TraceKind {
    /// an event is about to be handled: handle, fields
    Event = 0,
    /// an instruction was issued: its arguments
    Instr,
    /// a context was made, or a chain ended on one that lives on: handle, fields, deadlines
    Context,
    /// a packet with a payload was made: handle, offset, length
    Segment,
    /// a packet was refused
    Drop,
    /// a claim did not hold: handle, the event's number + 1 (0: the parser)
    Claim,
    /// in place of a context: handle, one of its fields
    Sample,
}

/// Kinds of trace records, and instructions: those that a host reads. Most hosts read few of them, and each takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordSet {
    bits: u64,
    /// a context type and the number of a field that can be sampled
    sample: Option<(u32, u32)>,
}

impl RecordSet {
    /// No records.
    pub const NONE: RecordSet = RecordSet { bits: 0, sample: None };
    /// All records. None is a [`TraceKind::Sample`], since each is part of another one.
    pub const ALL: RecordSet = RecordSet { bits: u64::MAX, sample: None };

    /// The bit of the first instruction; below it is one for each kind (`CARRICK_RECORD_BIT` in carrick/program.h).
    const INSTRUCTIONS: u32 = 8;

    /// All records of a kind.
    pub const fn of(kind: TraceKind) -> RecordSet {
        let bits = match kind {
            TraceKind::Instr => u64::MAX << RecordSet::INSTRUCTIONS,
            kind => 1 << kind as u32,
        };
        RecordSet { bits, sample: None }
    }

    /// Those of one instruction.
    pub const fn instruction(op: Opcode) -> RecordSet {
        RecordSet { bits: 1 << (RecordSet::INSTRUCTIONS + op.number()), sample: None }
    }

    /// Samples of one field of a context type, by their numbers: [`carrick_ir::samples::sampled_fields`].
    pub const fn sample(context: u32, field: u32) -> RecordSet {
        RecordSet { bits: 0, sample: Some((context, field)) }
    }

    /// Those of both. Whoever wants samples of two fields gets whole contexts.
    #[must_use]
    pub fn and(self, other: RecordSet) -> RecordSet {
        let bits = self.bits | other.bits;
        match (self.sample, other.sample) {
            (Some(a), Some(b)) if a != b => {
                RecordSet { bits: bits | RecordSet::of(TraceKind::Context).bits, sample: None }
            }
            (a, b) => RecordSet { bits, sample: a.or(b) },
        }
    }

    /// Whether it has records of this kind and number.
    pub const fn has(self, kind: TraceKind, number: usize) -> bool {
        let bit = match kind {
            TraceKind::Instr => RecordSet::INSTRUCTIONS + number as u32,
            kind => kind as u32,
        };
        self.bits >> bit & 1 != 0
    }

    /// The context type and the field that are sampled; `None` where whole contexts are read.
    pub fn sampled(self) -> Option<(u32, u32)> {
        self.sample.filter(|_| !self.has(TraceKind::Context, 0))
    }

    /// As compiled cores take it, without samples.
    pub const fn bits(self) -> u64 {
        self.bits
    }
}

/// Of claims that did not hold, so many are kept for who asks.
pub const FAILED_CLAIMS_KEPT: usize = 16;

/// A claim of the program that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedClaim {
    /// its number in the program's claims
    pub claim: u32,
    /// whose chain broke it; `None`: the parser
    pub event: Option<u32>,
    /// the handle of the chain's context, 0 if it has none
    pub context: u64,
    /// when, in nanoseconds
    pub at: u64,
}

/// A trace record; its words are those of the reference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// a [`TraceKind`]
    pub kind: u32,
    /// of the event, instruction, context type, blueprint or counter
    pub number: u32,
    /// what there is to say about it
    pub words: Vec<u64>,
    /// of an instruction that a statement issued: where that stands (a compiled core does not tell); else nowhere
    pub at: Loc,
}

impl Record {
    /// Whether both say the same of what happened. Only the interpreter tells the place in the text.
    pub fn tells_the_same(&self, other: &Record) -> bool {
        self.kind == other.kind && self.number == other.number && self.words == other.words
    }
}

/// What a trace has told of something: what a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<'a> {
    /// of the context; of an event and other values 0
    pub handle: u64,
    /// the parts of the context's id, or of the event's flow id, if it has one
    pub id: &'a [u64],
    /// as in trace records, without the handle
    pub words: &'a [u64],
}
