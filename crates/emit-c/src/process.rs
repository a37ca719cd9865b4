// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dialect of processes: what a function works on is on its stack, and nobody verifies it.

use carrick_ir::{BlueprintDef, ContextDef, EventId, Function, LocalId, OptListDef, Ty};

use crate::Emitter;
use crate::blueprint::sums_payload;
use crate::emitter::Dialect;

/// The sum of a payload that is written, where the core makes checksums.
const PAYLOAD_SUM: &str =
    "uint64_t payload_sum = CARRICK_MAKES_SUMS(core) ? carrick_sum(p + header_len, payload_len) : 0;";

pub struct Process;

impl Dialect for Process {
    fn chain(&self) -> &'static str {
        ", chain"
    }

    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function) {
        e.one_function(function);
    }

    fn nothing(&self) -> &'static str {
        "return;"
    }

    fn has_samples(&self) -> bool {
        true
    }

    fn joins(&self) -> bool {
        true
    }

    fn divides_signed(&self) -> bool {
        true
    }

    fn raise(&self, e: &mut Emitter<'_>, event: EventId, name: &str, local: &str) {
        e.w.line(format!("chain->raised[chain->raised_count].kind = {};", event.0));
        e.w.line(format!("chain->raised[chain->raised_count++].event.{name}_ = {local};"));
    }

    fn generate(&self, e: &mut Emitter<'_>, call: [&str; 2], sent: Option<LocalId>) {
        let call = call.concat();
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

    fn parsed(&self) -> [&'static str; 2] {
        ["const uint8_t *ptr;", "const uint8_t **rest; /* begin and end of what no extract has taken */"]
    }

    fn keeps_beside(&self) -> bool {
        true
    }

    fn instance_members(&self, e: &mut Emitter<'_>, _ctx: &ContextDef) {
        e.w.line("uint32_t slot__, generation__, next_free__;");
        e.w.line("bool live__; /* has its id; a slot that is neither live nor free waits for its packets */");
    }

    fn chain_members(&self, e: &mut Emitter<'_>) {
        e.w.line(format!("struct {} *raised;", e.names.own("raised")));
    }

    fn entry_members(&self, e: &mut Emitter<'_>) {
        e.entry_links();
    }

    fn generate_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        let (ty, name, core) = (e.names.declared(&bp.name), e.names.own(&bp.name), e.core_param());
        let (entry, chain) = (e.names.own("entry"), e.names.own("chain"));
        e.w.line("/* pkt_gen: queues a copy; NULL if the queue is full. */");
        e.w.open(format!(
            "CARRICK_UNUSED static inline struct {entry} *{name}_generate({core}, const struct {chain} *chain, const struct {ty} *bp, uint64_t rules{}) {{",
            e.queue_param()
        ));
    }

    fn choose_queue(&self, e: &mut Emitter<'_>) {
        e.queue_of_number();
    }

    fn place(&self, e: &mut Emitter<'_>, _bp: &BlueprintDef) {
        e.queue_entry();
    }

    fn copy_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        e.w.line(format!("struct {} copy__ = *bp, *copy = &copy__;", e.names.declared(&bp.name)));
    }

    fn place_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        e.queue_entry();
        e.w.line(format!("e->bp.{}_ = copy__;", bp.name));
    }

    fn entry_is_there(&self, e: &mut Emitter<'_>) {
        e.w.end_with("return e;");
    }

    fn entry_place(&self, e: &Emitter<'_>) -> &'static str {
        e.entry_place()
    }

    fn coalesced(&self, e: &mut Emitter<'_>) {
        e.w.line("return old;");
    }

    fn packet_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        let (name, core, entry) = (e.names.own(&bp.name), e.core_param(), e.names.own("entry"));
        e.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {name}_packet({core}, struct {entry} *e, uint8_t *out, uint32_t cap) {{"
        ));
    }

    fn payload_written(&self, e: &mut Emitter<'_>, index: usize, bp: &BlueprintDef) {
        if sums_payload(bp) {
            e.w.line("uint64_t payload_sum = 0;");
        }
        let when =
            if e.joins(bp) { "CARRICK_MAKES_SUMS(core) && !joined" } else { "CARRICK_MAKES_SUMS(core)" };
        e.payload_octets("e->done", sums_payload(bp).then_some(when));
        e.trace_payload("e->done", index);
    }

    fn frame_written(&self, e: &mut Emitter<'_>, index: usize, _bp: &BlueprintDef) {
        e.payload_octets("e->frame_done", None);
        e.trace_payload("e->frame_done", index);
        e.w.line("core->assembly_buffer += header_len + (uint32_t)payload_len;");
    }

    fn frames_written(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        if sums_payload(bp) {
            e.w.line(PAYLOAD_SUM);
        }
    }

    fn forward_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        let (ty, name, core) = (e.names.declared(&bp.name), e.names.own(&bp.name), e.core_param());
        e.w.open(format!(
            "CARRICK_UNUSED static inline void {name}_forward({core}, const struct {ty} *h, uint32_t interface) {{"
        ));
    }

    fn forward_payload(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        e.w.line("if (payload_len)\n    memcpy(p + header_len, h->payload__.ptr, payload_len);");
        if sums_payload(bp) {
            e.w.line(PAYLOAD_SUM);
        }
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
