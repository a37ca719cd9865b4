// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dialect of the kernel: state in maps, records in frames that lie there too, and bounds where the verifier sees them.

use std::collections::BTreeSet;

use carrick_emit_c::Emitter;
use carrick_emit_c::emitter::{Dialect, Feature, Head, Payload, Record};
use carrick_emit_c::term::{CType, Term};
use carrick_ir::{Block, BlueprintDef, FuncId, Function, LocalId, OptListDef, Stmt, Ty};

use crate::frames::{is_own_record, is_record};
use crate::{blocks, frames, loops, middlebox, out, owners, queue, reading, units};

pub struct Kernel {
    /// the functions that are put into their callers
    pub inlined: BTreeSet<String>,
}

impl Dialect for Kernel {
    /// The verifier wants a number of each function and few arguments; the machine divides no signed numbers.
    fn has(&self, _feature: Feature) -> bool {
        false
    }

    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function) {
        frames::function(e, function, !self.inlined.contains(&function.name));
    }

    fn in_frame(&self, function: &Function, local: LocalId) -> bool {
        is_own_record(function, local)
    }

    fn frame_member(&self, e: &Emitter<'_>, local: LocalId) -> String {
        frames::frame_member(e, local)
    }

    fn returned(&self, e: &mut Emitter<'_>, stmt: &Stmt, dest: LocalId, func: FuncId, call: &str) -> bool {
        frames::returned_at(e, stmt, dest, func, call)
    }

    fn by_reference(&self, ty: &Ty) -> bool {
        is_record(ty)
    }

    fn index(&self, index: Term, n: u32) -> Term {
        Term::primary(format!("carrick_at({}, {n}u)", index.text), CType::Unsigned(64))
    }

    fn turn_begins(&self, e: &mut Emitter<'_>, stmt: &Stmt, body: &Block, counts: &[(&str, &str)]) {
        loops::forget_count(e, stmt, counts);
        loops::forget_numbers(e, stmt, body);
    }

    fn generate(&self, e: &mut Emitter<'_>, function: &str, args: [&str; 3], sent: Option<LocalId>) {
        let [bp, rules, queue] = args;
        let mut number = 0;
        if let Some((sent, Ty::Event(event))) = sent.map(|local| (local, e.local_type(local))) {
            let (member, value) = (&e.p.events[event.index()].name, e.local(sent));
            number = event.0 + 1;
            e.w.line(format!("core->bringing.event.{member}_ = {value};"));
        }
        e.w.line(format!("(void){function}(core, {bp}, {rules}, {number}u{queue});"));
    }

    fn request_data(&self, e: &mut Emitter<'_>, place: &str) {
        e.w.open("if (request->staged) {");
        e.w.line(format!("{place}.ptr = CARRICK_TO_ADDR(CARRICK_STAGED_AT(request->staged));"));
        e.w.line(format!("{place}.len = carrick_min64(request->data_len, CARRICK_STAGED);"));
        e.w.line(format!("{place}.token = request->token;"));
        if units::has_any_units(e) {
            e.w.line("carrick_open_begin(&core->open, request->token);");
        }
        e.w.close("}");
    }

    fn choose_queue(&self, e: &mut Emitter<'_>) {
        blocks::choose_queue(e);
    }

    fn place(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        if bp.frames.is_none() {
            return queue::place_entry(e, bp);
        }
        e.w.open("if (!there) {");
        queue::no_place(e);
        e.w.close("}");
        blocks::chosen(e, "1");
    }

    fn entry_waits(&self, e: &mut Emitter<'_>, entry: &str) {
        queue::brings(e, entry);
        if entry == "e" {
            queue::entry_waits_now(e);
        } else {
            queue::let_go_of_old(e);
        }
        e.w.line("return 0;");
    }

    fn members(&self, e: &mut Emitter<'_>, of: Record<'_>) {
        match of {
            Record::Packet => {}
            Record::Instance(ctx) => {
                owners::owner_of_instance(e);
                if ctx.rx_capacity.is_some() {
                    e.w.line("uint32_t opened__; /* how often it began to receive a unit */");
                }
                e.w.line("uint32_t slot__ __attribute__((aligned(8)));");
                e.w.line("uint32_t generation__;");
                e.w.line("uint32_t held__; /* 1: somebody works on it */");
                e.w.line(
                    "uint32_t live__; /* 1: it has its id; 2: it is gone, and packets of its unit wait */",
                );
            }
            Record::Chain => owners::owner_of_chain(e),
            Record::Entry => blocks::entry_waits(e),
        }
    }

    fn open(&self, e: &mut Emitter<'_>, head: Head, bp: &BlueprintDef) {
        match head {
            Head::Generate => out::open_generate(e, bp),
            Head::Packet => out::open_packet(e, bp),
            Head::Forward => middlebox::forward(e, bp),
        }
    }

    fn payload_written(&self, e: &mut Emitter<'_>, payload: Payload, bp: &BlueprintDef) {
        match payload {
            Payload::Whole(index) => {
                out::part_of_payload(e, "e->done");
                out::sum_of_payload(e, bp);
                e.trace_payload("e->done", index);
            }
            Payload::OfFrame(index) => out::frame_payload(e, index, bp),
            Payload::Frames => {
                e.w.line("memset(&core->payload, 0, sizeof core->payload);");
                e.w.line("core->payload.len = payload_len;");
                e.w.line(format!("core->payload.type = {};", units::put_together(e)));
                out::sum_of_payload(e, bp);
            }
            Payload::Forwarded => middlebox::payload_stays(e, bp),
        }
    }

    fn copy_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        queue::place_or_spare(e, bp);
    }

    fn reads_beyond_window(&self, e: &Emitter<'_>, bp: &BlueprintDef) -> bool {
        !reading::is_in_window(e, bp)
    }

    /// Where in the packet the next option is stands in the core, and each option is verified apart: else the verifier
    /// would follow every choice of options that there can be. Where a list may be as long as packets, the window moves:
    /// wide options are each read from its beginning, of others as many as are wholly in it.
    fn options_loop(&self, e: &mut Emitter<'_>, list: &OptListDef) {
        let name = e.options_reader(list);
        e.w.line("core->at = from;");
        if !reading::is_long(e, list) {
            e.w.open("for (uint32_t turn = 0; turn < CARRICK_SEEN; turn++) {");
            e.w.line("uint32_t at = core->at;");
            e.w.line("if (at >= to)\n    break;");
            e.w.line(format!("uint32_t octets = {name}_one(core, o, at, to - at);"));
            e.w.line("if (octets > to - at)\n    return octets == CARRICK_END_OF_OPTIONS;");
            e.w.line("core->at = at + octets;");
            e.w.close("}");
            return e.w.end_with("return true;");
        }
        let look = e.names.own("look");
        let most = if e.is_wide(list) { "0" } else { "CARRICK_SEEN - CARRICK_OPTION_MAX" };
        e.w.line("const uint32_t begin = core->looked;");
        e.w.line("bool ended = false;");
        e.w.open("while (CARRICK_READ(core->at) < to && CARRICK_GOES_ON) {");
        e.w.line("uint32_t at = CARRICK_READ(core->at), here = begin + at - CARRICK_READ(core->looked);");
        e.w.open(format!("if (here > {most}) {{"));
        e.w.line(format!("(void){look}(core, begin + at);"));
        e.w.line("here = 0;");
        e.w.close("}");
        e.w.line(format!("uint32_t octets = {name}_one(core, o, here, to - at);"));
        e.w.open("if (octets > to - at) {");
        e.w.line("ended = octets == CARRICK_END_OF_OPTIONS;");
        e.w.line("break;");
        e.w.close("}");
        e.w.line("core->at = at + octets;");
        e.w.close("}");
        e.w.line(format!("(void){look}(core, begin);"));
        e.w.end_with("return ended || CARRICK_READ(core->at) >= to;");
    }
}
