//! Names, types, units and bounds; all diagnostics of a program that parses.
//!
//! The checker elaborates: it turns the syntax tree into the typed tree of `carrick-ir` as it goes, so
//! that no second typed tree has to be kept in step. What comes out is not finished: `carrick-lower` orders
//! the functions and computes what depends on the whole program.
//!
//! *Architecture invariant:* no I/O; one mistake gives one diagnostic: what depends on it is silent.

mod advice;
mod bits;
mod body;
mod claims;
mod coalesce;
pub mod codes;
mod consts;
mod crc;
mod decls;
mod deploy;
mod dispatch;
mod env;
mod ev_sched;
mod frames;
mod graph;
mod headers;
mod interface;
mod layout;
mod limits;
mod machines;
mod network;
mod options;
mod parts;
pub mod probe;
mod require;
mod role;
mod room;
mod sched;
mod shared;
mod tlv;
mod types;
mod unknown;
mod usage;
mod values;

use std::cell::OnceCell;
use std::collections::HashSet;

use carrick_ir as ir;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::diagnostics::Diagnostics;
use carrick_syntax::{Places, Sources, Span};

use env::Env;

/// Checks a file that parsed without an error. The program is there iff no diagnostic is an error.
///
/// `name` is the prefix of generated names, `path` the file in messages and `#line`, `text` its text.
pub fn check(file: &ast::File, name: &str, path: &str, text: &str) -> (Option<ir::Program>, Vec<Diagnostic>) {
    check_sources(file, name, &Sources::new(path, text))
}

/// As [`check`], of a program that may be spread over several files.
pub fn check_sources(
    file: &ast::File,
    name: &str,
    sources: &Sources,
) -> (Option<ir::Program>, Vec<Diagnostic>) {
    let mut checker = Checker::new(file, name, sources);
    checker.run();
    let ok = !checker.has_errors();
    (ok.then_some(checker.program), checker.diagnostics.into_vec())
}

/// The state of one check: the program as far as it is known, and what is wrong.
struct Checker<'a> {
    file: &'a ast::File,
    text: &'a str,
    places: Places<'a>,
    env: Env,
    program: ir::Program,
    /// what the chains take, by event
    event_context: Vec<Option<ir::CtxId>>,
    /// the members of the option unions, by the union's number
    unions: Vec<Vec<ir::OptId>>,
    /// what else is known of the program's state machines, by number
    machines: Vec<machines::Known>,
    /// the members of the frame unions, by the union's number
    frame_unions: Vec<Vec<ir::BpId>>,
    /// the constants as they are written, and what is known of each
    constants: Vec<(consts::State, &'a ast::Type, &'a ast::Ident, &'a ast::Expr)>,
    /// which queues the instructions name
    queue_uses: Vec<sched::QueueUse>,
    usage: usage::Usage,
    /// the words of what a choice of features has left out
    left_out: OnceCell<HashSet<&'a str>>,
    diagnostics: Diagnostics,
    /// warnings that a mistake elsewhere would explain: said only of a program without errors
    advice: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    fn new(file: &'a ast::File, name: &str, sources: &'a Sources) -> Self {
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
            usage: usage::Usage::default(),
            left_out: OnceCell::new(),
            diagnostics: Diagnostics::default(),
            advice: Vec::new(),
        }
    }

    /// The phases; each needs only what those before it found.
    fn run(&mut self) {
        self.collect_names();
        self.check_constants();
        self.declare_enums();
        self.declare_params();
        self.check_requirements();
        self.declare_records();
        if self.diagnostics.has(codes::STRUCT_TOO_LARGE) {
            return; // what follows walks through all parts of a value
        }
        self.declare_headers();
        self.check_layouts();
        self.declare_functions();
        self.declare_machines();
        self.declare_chains();
        self.check_initialisers();
        self.check_bodies();
        self.check_machines();
        self.check_graphs();
        if self.diagnostics.has(codes::CALLS_TOO_DEEP) {
            return; // what follows walks down the calls
        }
        self.check_shared_contexts();
        self.check_invariants();
        self.check_interface();
        self.check_deploy();
        self.check_limits();
        self.check_room();
        self.report_unused();
        self.give_advice();
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    fn loc(&self, span: Span) -> ir::Loc {
        let (file, at) = self.places.at(span.start);
        ir::Loc { file: file as u32, line: at.line, col: at.col }
    }
}

fn empty_program(name: &str, sources: &Sources) -> ir::Program {
    ir::Program {
        name: name.to_owned(),
        file: sources.name(0).to_owned(),
        imports: (1..sources.count()).map(|file| sources.name(file).to_owned()).collect(),
        source_hash: fnv1a(sources.text().as_bytes()),
        features: Vec::new(),
        consts: Vec::new(),
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
