// SPDX-License-Identifier: MIT OR Apache-2.0
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
mod checker;
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
mod fallback;
mod frames;
mod graph;
mod habits;
mod header_arrays;
mod headers;
mod interface;
mod layout;
mod limits;
mod machines;
mod names;
mod network;
mod option_elements;
mod optional;
mod options;
mod packet_size;
mod parts;
pub mod probe;
mod reports;
mod require;
mod retired;
mod role;
mod sched;
mod shared;
mod timers;
mod tlv;
mod types;
mod unknown;
mod usage;
mod values;

use carrick_ir as ir;
use carrick_syntax::Sources;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use checker::Checker;

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

impl Checker<'_> {
    /// The phases; each needs only what those before it found.
    fn run(&mut self) {
        self.collect_names();
        self.check_constants();
        self.check_constant_arrays();
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
        self.check_retired();
        self.check_invariants();
        self.check_interface();
        self.check_deploy();
        self.check_limits();
        self.check_room();
        self.report_unused();
        self.give_advice();
    }
}
