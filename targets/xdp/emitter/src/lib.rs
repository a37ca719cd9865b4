// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs for the kernel: BPF C, from the same statements and expressions as the C of other targets.
//!
//! What differs is where things are. A function's own records lie in a frame of what each processor has (the stack has 512
//! bytes, and functions do not call themselves); instances lie in arrays and are found by hash maps; each function is verified
//! apart, so that branches of one do not multiply with those of another. Indices are bounded where they are used.

mod blocks;
mod chains;
mod crossing;
mod depth;
mod dialect;
mod framed;
mod frames;
mod host_request;
mod keys;
mod loops;
mod middlebox;
mod out;
mod owners;
mod places;
mod queue;
mod raised;
mod reading;
mod shared_lock;
mod state;
mod units;
mod unsupported;
mod writing;

use carrick_emit_c::Emitter;
use carrick_emit_c::names::Names;
use carrick_emit_c::text;
use carrick_emit_c::writer::Writer;
use carrick_ir::{Interface, Program, uses};

pub use unsupported::unsupported;

/// `NAME.bpf.c`: name and contents. It expects the headers of the target and of the runtime on the include path, and a
/// program of which [`unsupported`] says nothing.
pub fn emit(program: &Program) -> (String, String) {
    let name = format!("{}.bpf.c", program.name);
    let w = Writer::new(&name);
    let kernel = dialect::Kernel { inlined: depth::inlined(program) };
    let mut emitter = Emitter {
        p: program,
        names: Names::new(program),
        w,
        blocks: !program.schedule.blocks.is_empty(),
        dialect: &kernel,
        function: None,
    };
    kernel_source(&mut emitter);
    (name, emitter.w.finish())
}

fn kernel_source(e: &mut Emitter<'_>) {
    e.w.line("/* SPDX-License-Identifier: MIT */");
    e.w.line(text::generated_from(&e.p.file));
    if e.p.interface.as_ref().is_some_and(Interface::takes_parts) {
        e.w.line("#define CARRICK_STREAM 1");
    }
    if e.over_ipv6() {
        e.w.line("#define CARRICK_IPV6 1");
    }
    e.segments_known();
    e.ranges_kept();
    e.w.line("/* Under which name the headers below find what is generated here. */");
    e.w.line(format!("#define CARRICK_OWN(name) {}##name", e.names.own("")));
    out::what_it_is_like(e);
    middlebox::define_middlebox(e);
    e.w.line("#include \"carrick/units.h\"");
    if !uses::retired(e.p).is_empty() {
        e.w.line("#include \"carrick/retired.h\"");
    }
    middlebox::include_store(e);
    if e.p.report_parser.is_some() {
        e.w.line(format!("#include \"carrick/{}.h\"", e.ip().quoted_include));
    }
    blocks::include_blocks(e);
    e.w.line("#include \"carrick/dialect.h\"");
    e.w.blank();
    e.type_declarations();
    state::structs(e);
    state::maps(e);
    places::places(e);
    writing::include(e, "core");
    e.tracing();
    if e.blocks {
        blocks::blocks(e);
    }
    units::fetching(e);
    state::context_functions(e);
    e.option_functions();
    e.header_functions();
    queue::entry_functions(e);
    e.generate_functions();
    e.forward_functions();
    e.functions();
    chains::run_functions(e);
    host_request::asked_functions(e);
    queue::sent(e);
    framed::payloads_sent(e);
    units::unit_payload_functions(e);
    out::out_functions(e);
    middlebox::include_entry(e);
    writing::include(e, "egress");
    e.w.line("char carrick_license[] CARRICK_SECTION(\"license\") = \"Dual MIT/GPL\";");
}
