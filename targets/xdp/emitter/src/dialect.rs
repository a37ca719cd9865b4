// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dialect of the kernel: state in maps, records in frames that lie there too, and bounds where the verifier sees them.

use std::collections::BTreeSet;

use carrick_emit_c::Emitter;
use carrick_emit_c::emitter::Dialect;
use carrick_emit_c::term::{CType, Term};
use carrick_ir::{
    Block, BlueprintDef, ContextDef, EventId, Expr, FuncId, Function, LocalId, OptListDef, Stmt, Ty,
};

use crate::crossing::MANY;
use crate::frames::{is_own_record, is_record};
use crate::{blocks, frames, loops, middlebox, out, owners, queue, raised, reading, units};

pub struct Kernel {
    /// the functions that are put into their callers
    pub inlined: BTreeSet<String>,
}

impl Dialect for Kernel {
    fn chain(&self) -> &'static str {
        ""
    }

    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function) {
        frames::function(e, function, !self.inlined.contains(&function.name));
    }

    fn nothing(&self) -> &'static str {
        "return 0;"
    }

    fn in_frame(&self, function: &Function, local: LocalId) -> bool {
        is_own_record(function, local)
    }

    fn frame_member(&self, e: &Emitter<'_>, local: LocalId) -> String {
        frames::frame_member(e, local)
    }

    fn returns(&self, e: &mut Emitter<'_>, stmt: &Stmt, value: &Expr) -> bool {
        frames::return_at(e, stmt, value)
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

    fn within(&self, index: &str, n: u32) -> String {
        format!("{index} < {n}u && ")
    }

    fn goes_on(&self, turns: u32) -> &'static str {
        if turns >= MANY { " && CARRICK_GOES_ON" } else { "" }
    }

    fn turn_begins(&self, e: &mut Emitter<'_>, stmt: &Stmt, body: &Block, counts: &[(&str, &str)]) {
        loops::forget_count(e, stmt, counts);
        loops::forget_numbers(e, stmt, body);
    }

    fn divides_signed(&self) -> bool {
        false
    }

    fn raise(&self, e: &mut Emitter<'_>, event: EventId, name: &str, local: &str) {
        raised::raise(e, event, name, local);
    }

    fn generate(&self, e: &mut Emitter<'_>, call: [&str; 2], sent: Option<LocalId>) {
        let mut number = 0;
        if let Some((sent, Ty::Event(event))) = sent.map(|local| (local, e.local_type(local))) {
            let (member, value) = (&e.p.events[event.index()].name, e.local(sent));
            number = event.0 + 1;
            e.w.line(format!("core->bringing.event.{member}_ = {value};"));
        }
        e.w.line(format!("(void){}, {number}u{}", call[0], call[1]));
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

    fn parsed(&self) -> [&'static str; 2] {
        ["", "uint32_t rest[2]; /* what no extract has taken: from where, and to where */"]
    }

    fn instance_members(&self, e: &mut Emitter<'_>, ctx: &ContextDef) {
        owners::owner_of_instance(e);
        if ctx.rx_capacity.is_some() {
            e.w.line("uint32_t opened__; /* how often it began to receive a unit */");
        }
        e.w.line("uint32_t slot__ __attribute__((aligned(8)));");
        e.w.line("uint32_t generation__;");
        e.w.line("uint32_t held__; /* 1: somebody works on it */");
        e.w.line("uint32_t live__; /* 1: it has its id; 2: it is gone, and packets of its unit wait */");
    }

    fn chain_members(&self, e: &mut Emitter<'_>) {
        owners::owner_of_chain(e);
    }

    fn entry_members(&self, e: &mut Emitter<'_>) {
        blocks::entry_waits(e);
    }

    fn generate_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        let (ty, name) = (e.names.declared(&bp.name), e.names.own(&bp.name));
        let (core, chain) = (e.names.own("core"), e.names.own("chain"));
        e.w.open(format!(
            "CARRICK_GLOBAL_FN int {name}_generate(struct {core} *core, const struct {ty} *bp, uint64_t rules, uint32_t sent{}) {{",
            blocks::number_param(e)
        ));
        e.w.line("CARRICK_GIVEN(core && bp);");
        e.w.line("CARRICK_ALIGNED(core);");
        e.w.line("CARRICK_ALIGNED(bp);");
        e.w.line(format!("CARRICK_UNUSED const struct {chain} *chain = &core->chain;"));
        // An argument that nothing uses is one that the callers do not give.
        e.w.line("CARRICK_BARRIER_VAR(sent);");
        e.w.line("CARRICK_BARRIER_VAR(rules);");
    }

    fn choose_queue(&self, e: &mut Emitter<'_>) {
        blocks::choose_queue(e);
    }

    fn place(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        queue::place_entry(e, bp);
    }

    fn copy_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        queue::place_or_spare(e, bp);
    }

    fn place_frames(&self, e: &mut Emitter<'_>, _bp: &BlueprintDef) {
        e.w.open("if (!there) {");
        queue::no_place(e);
        e.w.close("}");
        blocks::chosen(e, "1");
    }

    fn entry_is_there(&self, e: &mut Emitter<'_>) {
        queue::brings(e, "e");
        queue::entry_waits_now(e);
        e.w.end_with("return 0;");
    }

    fn entry_place(&self, e: &Emitter<'_>) -> &'static str {
        if e.blocks { "place" } else { "alone ? 0 : place + 1" }
    }

    fn coalesced(&self, e: &mut Emitter<'_>) {
        queue::brings(e, "old");
        let text = queue::let_go_of_old(e);
        e.w.line(text);
        e.w.line("return 0;");
    }

    fn not_coalesced(&self, e: &mut Emitter<'_>) {
        if !e.blocks {
            e.w.open("if (old) {");
            let text = queue::let_go_of_old(e);
            e.w.line(text);
            e.w.close("}");
        }
    }

    /// What the device takes of a packet with one payload is known when it is brought into a frame.
    fn packet_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        let (core, entry, name) = (e.names.own("core"), e.names.own("entry"), e.names.own(&bp.name));
        e.w.open(format!("CARRICK_GLOBAL_FN int {name}_packet(struct {core} *core, struct {entry} *e) {{"));
        e.w.line("CARRICK_GIVEN(core && e);");
        e.w.line("CARRICK_ALIGNED(core);");
        e.w.line("CARRICK_ALIGNED(e);");
        let cap = if bp.frames.is_some() { "CARRICK_FRAME_MAX" } else { "UINT64_MAX" };
        e.w.line(format!("const uint64_t cap = {cap};"));
        e.w.line("uint8_t *out = core->out + CARRICK_ETHERNET;");
    }

    fn writes_in_one_place(&self) -> bool {
        true
    }

    fn payload_written(&self, e: &mut Emitter<'_>, index: usize, bp: &BlueprintDef) {
        out::part_of_payload(e, "e->done");
        out::sum_of_payload(e, bp);
        e.trace_payload("e->done", index);
    }

    fn frame_written(&self, e: &mut Emitter<'_>, index: usize, bp: &BlueprintDef) {
        e.w.line(format!("(void){}(core, header_len);", e.names.own("lay_header")));
        if bp.payload_name.is_some() {
            e.w.line("core->payload = bp->payload__;");
            out::part_of_payload(e, "e->frame_done");
            e.w.line(format!("if (payload_len)\n    (void){}(core);", e.names.own("lay_payload")));
            e.trace_payload("e->frame_done", index);
        }
    }

    fn frames_written(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        e.w.line("memset(&core->payload, 0, sizeof core->payload);");
        e.w.line("core->payload.len = payload_len;");
        e.w.line(format!("core->payload.type = {};", units::put_together(e)));
        out::sum_of_payload(e, bp);
    }

    fn reads_beyond_window(&self, e: &Emitter<'_>, bp: &BlueprintDef) -> bool {
        !reading::is_in_window(e, bp)
    }

    fn forward_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        middlebox::forward(e, bp);
    }

    fn forward_payload(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        middlebox::payload_stays(e, bp);
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
