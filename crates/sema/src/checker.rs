// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all parts of the check work on. Each adds methods for what it checks.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use carrick_ir::{self as ir, CtxId, EnumId, EventId, FuncId};
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::diagnostics::Diagnostics;
use carrick_syntax::{Places, Sources, Span};
use rustc_hash::FxHashSet;

use crate::env::Env;

/// The state of one check: the program as far as it is known, and what is wrong.
pub struct Checker<'a> {
    pub file: &'a ast::File,
    pub text: &'a str,
    pub places: Places<'a>,
    pub env: Env,
    pub program: ir::Program,
    /// what the chains take, by event
    pub event_context: Vec<Option<ir::CtxId>>,
    /// the members of the option unions, by the union's number
    pub unions: Vec<Vec<ir::OptId>>,
    /// what else is known of the program's state machines, by number
    pub machines: Vec<KnownMachine>,
    /// the members of the frame unions, by the union's number
    pub frame_unions: Vec<Vec<ir::BpId>>,
    /// the constants as they are written, and what is known of each
    pub constants: Vec<(ConstState, &'a ast::Type, &'a ast::Ident, &'a ast::Expr)>,
    /// which queues the instructions name
    pub queue_uses: Vec<QueueUse>,
    pub usage: Usage,
    /// where the program writes the tokens that it completes
    pub notified: Vec<Span>,
    /// and where it creates data units
    pub units_made: Vec<Span>,
    /// and where it compares values by their order
    pub ordered: Vec<Ordered>,
    /// the words of what a choice of features has left out
    pub left_out: OnceCell<FxHashSet<&'a str>>,
    pub diagnostics: Diagnostics,
    /// warnings that a mistake elsewhere would explain: said only of a program without errors
    pub advice: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    pub fn new(file: &'a ast::File, name: &str, sources: &'a Sources) -> Self {
        Checker {
            file,
            text: sources.text(),
            places: Places::new(sources),
            env: Env::default(),
            program: empty_program(name, sources),
            event_context: Vec::new(),
            unions: Vec::new(),
            machines: Vec::new(),
            frame_unions: Vec::new(),
            constants: Vec::new(),
            queue_uses: Vec::new(),
            usage: Usage::default(),
            notified: Vec::new(),
            units_made: Vec::new(),
            ordered: Vec::new(),
            left_out: OnceCell::new(),
            diagnostics: Diagnostics::default(),
            advice: Vec::new(),
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    pub fn loc(&self, span: Span) -> ir::Loc {
        let (file, at) = self.places.at(span.start);
        ir::Loc { file: file as u32, line: at.line, col: at.col }
    }
}

/// What is known of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstState {
    Unknown,
    Known,
    Wrong,
}

/// What the checker finds out of a machine.
#[derive(Debug, Clone)]
pub struct KnownMachine {
    /// the type of its state
    pub states: EnumId,
    /// its context, and the field that holds the state; `None` if the context is wrong
    pub place: Option<(CtxId, u32)>,
    /// what stands for it in the chain of each event to which it reacts
    pub functions: Vec<(EventId, FuncId)>,
    pub transitions: Vec<ir::Transition>,
    /// the states in which a context is made, beside the first
    pub entered: Vec<u32>,
    /// a context is made in a state that is not known here
    pub entered_anywhere: bool,
}

/// An instruction that names a queue.
pub struct QueueUse {
    pub what: Wanted,
    /// if it is a constant
    pub number: Option<u64>,
    pub span: Span,
}

/// Where two values are compared by their order: the whole, both operands, and whether as `min(a, b)` or `max(a, b)`.
#[derive(Debug, Clone, Copy)]
pub struct Ordered {
    pub span: Span,
    pub operands: [Span; 2],
    pub extreme: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Any,
    Rate,
    Priority,
}

/// The top-level names that something refers to.
#[derive(Debug, Default)]
pub struct Usage {
    names: BTreeSet<String>,
}

impl Usage {
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn mark(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }
}

fn empty_program(name: &str, sources: &Sources) -> ir::Program {
    ir::Program {
        name: name.to_owned(),
        file: sources.name(0).into(),
        imports: (1..sources.count()).map(|file| sources.name(file).into()).collect(),
        texts: (0..sources.count()).map(|file| sources.text()[sources.range(file)].into()).collect(),
        source_hash: fnv1a(sources.text().as_bytes()),
        features: Vec::new(),
        consts: Vec::new(),
        arrays: Vec::new(),
        params: Vec::new(),
        requirements: Vec::new(),
        enums: Vec::new(),
        structs: Vec::new(),
        ids: Vec::new(),
        events: Vec::new(),
        contexts: Vec::new(),
        scratchpads: Vec::new(),
        net_header: ir::NetHeaderDef {
            name: String::new(),
            layer: ir::NetLayer::Ipv4,
            fields: Vec::new(),
            protocol: 0,
        },
        opts: Vec::new(),
        opt_lists: Vec::new(),
        blueprints: Vec::new(),
        seg_rules: Vec::new(),
        schedule: ir::Schedule::fifo(),
        in_network: None,
        event_schedule: None,
        coalescing: Vec::new(),
        functions: Vec::new(),
        parser: ir::FuncId(0),
        report_parser: None,
        max_parsed: 0,
        chains: Vec::new(),
        machines: Vec::new(),
        interface: None,
        claims: Vec::new(),
        invariants: Vec::new(),
        max_blueprints: 0,
    }
}

/// FNV-1a, 64 bits.
fn fnv1a(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
