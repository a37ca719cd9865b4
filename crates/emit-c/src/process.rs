// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dialect of processes: what a function works on is on its stack, and nobody verifies it.

use carrick_ir::{BlueprintDef, Function, LocalId, OptListDef, Ty};

use crate::Emitter;
use crate::blueprint::sums_payload;
use crate::emitter::{Dialect, Feature, Head, Payload, Record};

/// The sum of a payload that is written, where the core makes checksums.
const PAYLOAD_SUM: &str =
    "uint64_t payload_sum = CARRICK_MAKES_SUMS(core) ? carrick_sum(p + header_len, payload_len) : 0;";

pub struct Process;

impl Dialect for Process {
    fn has(&self, _feature: Feature) -> bool {
        true
    }

    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function) {
        e.one_function(function);
    }

    fn generate(&self, e: &mut Emitter<'_>, function: &str, args: [&str; 3], sent: Option<LocalId>) {
        let [bp, rules, queue] = args;
        let call = format!("{function}(core, chain, {bp}, {rules}{queue});");
        let Some((sent, Ty::Event(event))) = sent.map(|local| (local, e.local_type(local))) else {
            return e.w.line(format!("(void){call}"));
        };
        let (name, number, local) = (&e.p.events[event.index()].name, event.0 + 1, e.local(sent));
        e.w.open("{");
        e.w.line(format!("struct {} *entry__ = {call}", e.names.own("entry")));
        e.w.open("if (entry__) {");
        e.w.line(format!("entry__->sent = {number};"));
        e.w.line(format!("entry__->brought.event.{name}_ = {local};"));
        e.w.close("}");
        e.w.close("}");
    }

    fn request_data(&self, e: &mut Emitter<'_>, place: &str) {
        e.w.open("if (request->data.ptr) {");
        e.w.line(format!("{place} = request->data;"));
        e.w.line(format!("{place}.token = request->token;"));
        e.memory_take(place);
        e.w.close("}");
    }

    fn choose_queue(&self, e: &mut Emitter<'_>) {
        e.queue_of_number();
    }

    fn place(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        e.queue_entry();
        if bp.frames.is_some() {
            e.w.line(format!("e->bp.{}_ = copy__;", bp.name));
        }
    }

    fn entry_waits(&self, e: &mut Emitter<'_>, entry: &str) {
        e.w.line(format!("return {entry};"));
    }

    fn members(&self, e: &mut Emitter<'_>, of: Record<'_>) {
        match of {
            Record::Packet => e.w.line("const uint8_t *ptr;"),
            Record::Instance(_) => {
                e.w.line("uint32_t slot__, generation__, next_free__;");
                e.w.line("bool live__; /* has its id; a slot that is neither live nor free waits for its packets */");
            }
            Record::Chain => {
                e.w.line(format!("struct {} *raised;", e.names.own("raised")));
            }
            Record::Entry => e.entry_links(),
        }
    }

    fn open(&self, e: &mut Emitter<'_>, head: Head, bp: &BlueprintDef) {
        let (ty, name, core) = (e.names.declared(&bp.name), e.names.own(&bp.name), e.core_param());
        let (entry, chain) = (e.names.own("entry"), e.names.own("chain"));
        let (returns, function, params) = match head {
            Head::Generate => {
                e.w.line("/* pkt_gen: queues a copy; NULL if the queue is full. */");
                let params = format!(
                    "const struct {chain} *chain, const struct {ty} *bp, uint64_t rules{}",
                    e.queue_param()
                );
                (format!("struct {entry} *"), "generate", params)
            }
            Head::Packet => {
                ("uint32_t ".into(), "packet", format!("struct {entry} *e, uint8_t *out, uint32_t cap"))
            }
            Head::Forward => ("void ".into(), "forward", format!("const struct {ty} *h, uint32_t interface")),
        };
        e.w.open(format!("CARRICK_UNUSED static inline {returns}{name}_{function}({core}, {params}) {{"));
    }

    fn payload_written(&self, e: &mut Emitter<'_>, payload: Payload, bp: &BlueprintDef) {
        let sums = sums_payload(bp);
        match payload {
            Payload::Whole(index) => {
                if sums {
                    e.w.line("uint64_t payload_sum = 0;");
                }
                let joined = if e.joins(bp) { " && !joined" } else { "" };
                let when = format!("CARRICK_MAKES_SUMS(core){joined}");
                e.payload_octets("e->done", sums.then_some(&*when));
                e.trace_payload("e->done", index);
            }
            Payload::OfFrame(index) => {
                e.payload_octets("e->frame_done", None);
                e.trace_payload("e->frame_done", index);
                e.w.line("core->assembly_buffer += header_len + (uint32_t)payload_len;");
            }
            Payload::Frames | Payload::Forwarded => {
                if matches!(payload, Payload::Forwarded) {
                    e.w.line("if (payload_len)\n    memcpy(p + header_len, h->payload__.ptr, payload_len);");
                }
                if sums {
                    e.w.line(PAYLOAD_SUM);
                }
            }
        }
    }

    fn copy_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        e.w.line(format!("struct {} copy__ = *bp, *copy = &copy__;", e.names.declared(&bp.name)));
    }

    fn options_loop(&self, e: &mut Emitter<'_>, list: &OptListDef) {
        let name = e.options_reader(list);
        e.w.open("for (uint32_t at = from, octets = 0; at < to; at += octets) {");
        e.w.line(format!("octets = {name}_one(core, o, p, at, to - at);"));
        e.w.line("if (octets > to - at)\n    return octets == CARRICK_END_OF_OPTIONS;");
        e.w.close("}");
        e.w.end_with("return true;");
    }
}
