// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IR as C11 that a person can read.
//!
//! An indenting writer over the tree, one function for each kind of node. The generated files stand on
//! the headers in `runtime/include/carrick`; statements carry `#line`, so that a debugger stops in the
//! program, and what surrounds them points back to the generated file.
//!
//! A target whose C differs implements [`emitter::Dialect`], and writes around types and functions what it needs.
//!
//! Names: what the program declares is `PROGRAM_name`, its functions are `fn_name`, and all that only the
//! generated code knows has two underscores in it.

mod api;
mod beside;
mod blocks;
mod blueprint;
mod chain;
mod coalesce;
mod context;
mod core_struct;
mod crc;
pub mod emitter;
mod expr;
mod frame;
mod framed;
mod header;
mod identity;
mod in_place;
mod instr;
mod ip;
mod joined;
mod layout;
mod list;
pub mod loops;
mod memory;
pub mod names;
mod network;
mod operator;
mod option_elements;
mod options;
mod packets;
mod part;
mod pending;
mod pkt_gen;
mod place;
mod process;
mod queue;
mod report;
mod retire;
mod run;
mod sched;
mod stmt;
pub mod term;
pub mod text;
mod timers;
mod tlv;
mod trace;
mod types;
mod units;
mod windows;
pub mod writer;

pub use blocks::in_c;
pub use blueprint::sums_payload;
pub use core_struct::QUEUE;
pub use emitter::Emitter;
pub use pkt_gen::Unit;
pub use timers::plus;

use carrick_ir::{Program, uses};

use names::Names;
use process::Process;
use writer::Writer;

/// The generated files: name and contents.
///
/// `NAME.h` is the public API, `NAME.c` all the rest, `Makefile` builds `libNAME.a` and `libNAME.so`. They expect
/// the runtime's headers in `runtime/include` beside them (or where `CARRICK_RUNTIME` says).
pub fn emit(program: &Program) -> Vec<(String, String)> {
    let name = &program.name;
    vec![
        (format!("{name}.h"), api::header(program)),
        (format!("{name}.c"), Emitter::new(program).source()),
        ("Makefile".into(), api::makefile(program)),
    ]
}

impl<'p> Emitter<'p> {
    fn new(p: &'p Program) -> Self {
        let w = Writer::new(&format!("{}.c", p.name));
        Emitter { p, names: Names::new(p), w, blocks: blocks::needed(p), dialect: &Process, function: None }
    }

    fn source(mut self) -> String {
        self.prologue();
        self.type_declarations();
        self.core_structs();
        self.tracing();
        self.flow_functions();
        self.flow_begins();
        self.context_functions();
        self.option_functions();
        self.header_functions();
        self.queue_functions();
        self.forward_functions();
        self.functions();
        self.wait_function();
        self.chains();
        self.inputs();
        self.packet_functions();
        self.sent_function();
        self.tx_function();
        self.life();
        self.program_table();
        self.w.finish()
    }

    /// Before all headers: how many ranges RX units keep, if these are more than usual.
    pub fn ranges_kept(&mut self) {
        let ranges = carrick_ir::units::ranges(self.p);
        if ranges > 16 {
            self.w.line(format!("#define CARRICK_RX_RUNS {ranges}u"));
        }
    }

    /// Before any include: how many segments of a path the program knows, and whether it sees packets on their way.
    pub fn segments_known(&mut self) {
        let Some(segments) = self.p.net_header.segments() else { return };
        self.w.line(format!("#define CARRICK_SEGMENTS {segments}u"));
        if self.p.in_network.is_some() {
            self.w.line("#define CARRICK_SEGMENTS_ON_PATH");
        }
    }

    fn prologue(&mut self) {
        let p = self.p;
        self.w.line("/* SPDX-License-Identifier: MIT */");
        self.w.line(text::generated_from(&p.file));
        self.ranges_kept();
        self.segments_known();
        self.w.line(format!("#include \"{}.h\"", p.name));
        for header in [
            "arith",
            "base",
            "bounds",
            "claim",
            "counters",
            "cq",
            "dialect",
            "fixed",
            self.ip().include,
            "rand",
            "table",
            "timer",
            "trace",
            "unit",
            "wnd",
        ] {
            self.w.line(format!("#include \"carrick/{header}.h\""));
        }
        if !uses::retired(self.p).is_empty() {
            self.w.line("#include \"carrick/retired.h\"");
        }
        if self.blocks || self.events_wait() {
            self.w.line("#include \"carrick/sched.h\"");
        }
        if self.has_varint() {
            self.w.line("#include \"carrick/varint.h\"");
        }
        if self.has_crc() {
            self.w.line("#include \"carrick/crc32.h\"");
        }
        if self.has_addresses() {
            self.w.line("#include \"carrick/memory.h\"");
        }
        if self.p.report_parser.is_some() {
            let report = self.ip().report_include;
            self.w.line(format!("#include \"carrick/{report}.h\""));
        }
        if self.p.in_network.is_some() {
            self.w.line("#include \"carrick/store.h\"");
        }
        self.w.blank();
    }
}
