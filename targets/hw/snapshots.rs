// SPDX-License-Identifier: MIT OR Apache-2.0
//! Snapshots of a circuit: their part of the outermost module, and where in a snapshot the words of trace records lie.

use std::fmt::Write;

use carrick_driver::targets::PipelineSpec;
use carrick_ir::{Program, Ty};

use super::circuit::{Ports, flight_bits};
use super::dslx::{Design, PartTy, Shapes, TIMER_BITS, fires, parts};

/// The pins by which snapshots leave: a stream of their own.
pub const PINS: &str = "    output logic snapshot_valid,\n    input  logic snapshot_ready,\n    \
    output logic [63:0] snapshot_data,\n    output logic snapshot_last,\n";

/// What a snapshot is, for the page of the registers.
pub const FRAME: &str = "An Ethernet frame on the stream `snapshot_*`, in beats of 8 bytes. Numbers are in network order.\n\n\
    | bytes | contents |\n| --- | --- |\n\
    | 0 to 13 | destination ff:ff:ff:ff:ff:ff, source 02:00:00:00:00:00, type 0x88b5 |\n\
    | 14 | version of this format: 1 |\n\
    | 15 | bit 0: the flow has a context; bit 1: the event made it; bit 2: the event ended it |\n\
    | 16 to 23 | the clock, in nanoseconds |\n\
    | 24 to 27 | number of the snapshot; a gap shows dropped ones |\n";

/// Bytes of a beat, and beats in front of the event.
const BEAT: u32 = 8;
const HEAD_BEATS: u32 = 4;

/// The module that makes snapshots, behind the shell.
pub fn connected(design: &Design, settings: &PipelineSpec, ports: &Ports) -> String {
    let Ports { id, event, issued, timers, context, .. } = ports;
    let ran = if design.timers == 0 { "1'b1".into() } else { format!("out_data[{}]", ran_at(design)) };
    let instance = match design.makes {
        true => format!("{{out_data[{} -: {context}], {timers}'d0}}", issued - 4),
        false => "'0".into(),
    };
    let instance = if *timers == 0 { instance.replace(", 0'd0", "") } else { instance };
    format!(
        "    logic [1:0] snapshot_mode;\n    logic [{}:0] snapshot_flow;\n    \
         logic [31:0] snapshot_every, snapshots_sent, snapshots_dropped;\n    \
         snapshot #(\n        .ID({id}),\n        .CTX({}),\n        .EVENT({event}),\n        .FLIGHT_BITS({})\n    ) snapshot (\n        \
         .mode(snapshot_mode),\n        .flow(snapshot_flow),\n        .every(snapshot_every),\n        \
         .leave(result_valid && result_ready),\n        .leave_ran({ran}),\n        .leave_found(out_data[{}]),\n        \
         .leave_gone(out_data[{}]),\n        .leave_made(out_new),\n        .leave_context(out_data[{} -: {}]),\n        \
         .leave_instance({instance}),\n        .*\n    );\n",
        id - 1,
        ports.row(),
        flight_bits(settings),
        ports.output() - 1,
        issued - 2,
        ports.output() - 3,
        ports.row(),
    )
}

/// Which bit of a result says whether the chain of a timer ran.
pub fn ran_at(design: &Design) -> u32 {
    design.instructions() + design.scheduled() - 1
}

/// Bytes of the event and of the context in a snapshot.
fn bytes(ports: &Ports) -> (u32, u32) {
    let beats = |bits: u32| bits.div_ceil(8 * BEAT) * BEAT;
    (beats(ports.event), beats(ports.row()))
}

/// The rest of the page: the chain, and where event and context lie.
pub fn page(design: &Design, ports: &Ports) -> String {
    let (event, context) = bytes(ports);
    let head = HEAD_BEATS * BEAT;
    let chains: Vec<String> =
        design.chains.iter().enumerate().map(|(n, (_, name))| format!("{n} `{name}`")).collect();
    format!(
        "| 28 | number of the event's chain: {} |\n| 29 to 31 | 0 |\n\
         | {head} to {} | the event: {} bits, with zeros in front |\n\
         | {} to {} | the context and its timers: the bits of CONTEXT, with zeros in front |\n",
        chains.join(", "),
        head + event - 1,
        ports.event,
        head + event,
        head + event + context - 1
    )
}

/// A word of a trace record: where its scalar lies in the bits of a value. A list's length is one; the scalars of its elements follow.
struct Word {
    at: u32,
    bits: u32,
    signed: bool,
    /// of a list's length: words of an element, elements at most
    each: u32,
    most: u32,
}

/// Collects the words of values in the order of trace records.
struct Words<'p> {
    program: &'p Program,
    shapes: Shapes<'p>,
    all: Vec<Word>,
}

impl Words<'_> {
    /// The words of a value that ends below bit `end`.
    fn value(&mut self, ty: &Ty, end: u32) {
        match ty {
            Ty::Array(of, n) => self.elements(of, *n, end - self.shapes.width(ty)),
            Ty::List(of, n, _) => {
                let begin = end - self.shapes.width(ty);
                let length = self.all.len();
                let bits = self.shapes.width(ty) - n * self.shapes.width(of);
                self.all.push(Word { at: end - bits, bits, signed: false, each: 0, most: *n });
                self.elements(of, *n, begin);
                self.all[length].each = (self.all.len() - length - 1) as u32 / n.max(&1);
            }
            ty => match parts(self.program, ty) {
                Some(parts) => {
                    let mut end = end;
                    for part in parts {
                        if let PartTy::Is(ty) = &part.ty {
                            self.value(ty, end);
                            end -= self.shapes.width(ty);
                        }
                    }
                }
                None => {
                    for leaf in self.shapes.leaves(ty) {
                        let at = end - leaf.bits;
                        self.all.push(Word { at, bits: leaf.bits, signed: leaf.signed, each: 0, most: 0 });
                    }
                }
            },
        }
    }

    /// Elements lie from the first, which has the least significant bits, on.
    fn elements(&mut self, of: &Ty, n: u32, begin: u32) {
        let width = self.shapes.width(of);
        (1..=n).for_each(|i| self.value(of, begin + i * width));
    }

    /// The declared fields of an event or a context; what is in front of them is not in its record.
    fn fields(&mut self, ty: &Ty, declared: usize, base: u32) {
        let all = parts(self.program, ty).unwrap_or_default();
        let mut end = base + self.shapes.width(ty);
        for (n, part) in all.iter().enumerate() {
            if let PartTy::Is(ty) = &part.ty {
                if n >= all.len() - declared {
                    self.value(ty, end);
                }
                end -= self.shapes.width(ty);
            }
        }
    }

    fn taken(&mut self) -> Vec<Word> {
        std::mem::take(&mut self.all)
    }
}

/// The tables by which a process reads snapshots, for C++.
pub fn header(program: &Program, design: &Design, ports: &Ports) -> String {
    let mut words = Words { program, shapes: Shapes::new(program), all: Vec::new() };
    let context = &program.contexts[design.context.index()];
    let (event_bytes, context_bytes) = bytes(ports);
    let mut text = format!(
        "\n// Snapshots: bytes of their parts, and where the words of trace records lie in the bits of an event or of a context.\n\
         constexpr unsigned snapshot_head = {}, snapshot_event = {event_bytes}, snapshot_context = {context_bytes};\n\
         constexpr unsigned context_number = {};\n\
         struct Word {{\n    unsigned at, bits;\n    bool is_signed;\n    unsigned each, most;\n}};\n\
         struct Table {{\n    const Word *words;\n    unsigned count;\n}};\n",
        HEAD_BEATS * BEAT,
        design.context.index(),
    );
    let mut events = Vec::new();
    for (n, (event, _)) in design.chains.iter().enumerate() {
        let def = &program.events[event.index()];
        if !fires(program, *event) {
            words.fields(&Ty::Event(*event), def.fields.len(), 0);
        }
        let name = format!("words_of_event_{n}");
        events.push(format!("{{{}, {name}}}", event.0));
        table(&mut text, &name, &words.taken());
    }
    let row = (ports.row() - ports.id, ports.row());
    words.value(&Ty::Id(context.id), row.1);
    table(&mut text, "words_of_id", &words.taken());
    words.fields(&Ty::Context(design.context), context.fields.len(), ports.timers);
    debug_assert!(words.all.iter().all(|word| word.at < row.0));
    let deadline = |n| Word {
        at: n * TIMER_BITS + TIMER_BITS / 2,
        bits: TIMER_BITS / 2,
        signed: false,
        each: 0,
        most: 0,
    };
    words.all.extend((0..design.timers).map(deadline));
    table(&mut text, "words_of_context", &words.taken());
    let _ = write!(
        text,
        "struct EventWords {{\n    unsigned number;\n    Table words;\n}};\n\
         constexpr std::array<EventWords, {}> words_of_events = {{{{{}}}}};\n",
        events.len(),
        events.join(", ")
    );
    text
}

/// A table has a row more than words, so that it is never empty.
fn table(text: &mut String, name: &str, words: &[Word]) {
    let _ = write!(text, "constexpr Word rows_of_{name}[] = {{");
    for Word { at, bits, signed, each, most } in words {
        let _ = write!(text, "{{{at}, {bits}, {signed}, {each}, {most}}}, ");
    }
    let _ = writeln!(text, "{{}}}};\nconstexpr Table {name} = {{rows_of_{name}, {}}};", words.len());
}
