// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dialect of processes: what a function works on is on its stack, and nobody verifies it.

use carrick_ir::{BlueprintDef, CtxId, EventId, Function, LocalId, OptListDef, Ty};

use crate::Emitter;
use crate::emitter::{Cursor, Dialect, Passed, Scratch, Steps};
use crate::names::safe;

pub struct Process;

impl Dialect for Process {
    fn chain(&self) -> &'static str {
        ", chain"
    }

    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function) {
        e.one_function(function);
    }

    fn scratch(&self, ty: &str, name: &str) -> Scratch {
        Scratch { declared: format!("struct {ty} {};", safe(name)), at: safe(name) }
    }

    fn nothing(&self) -> &'static str {
        "return;"
    }

    fn divides_signed(&self) -> bool {
        true
    }

    fn random(&self) -> &'static str {
        "carrick_pcg_next(&core->rng)"
    }

    fn arm_timer(&self, _e: &Emitter<'_>, timer: &str) -> String {
        format!("carrick_timer_restart(&core->wheel, {timer}, core->now, after);")
    }

    fn stop_timer(&self, timer: &str) -> String {
        format!("carrick_timer_stop(&core->wheel, {timer});")
    }

    fn instance_begins(&self, e: &mut Emitter<'_>, ctx: CtxId) {
        e.begin_timers(ctx);
        e.w.line(format!("core->{}_live++;", e.p.contexts[ctx.index()].name));
        e.begin_flow(ctx);
    }

    fn raise(&self, e: &mut Emitter<'_>, event: EventId, name: &str, local: &str) {
        e.w.line(format!("chain->raised[chain->raised_count].kind = {};", event.0));
        e.w.line(format!("chain->raised[chain->raised_count++].event.{name}_ = {local};"));
    }

    fn generate(
        &self,
        e: &mut Emitter<'_>,
        name: &str,
        bp: &str,
        rules: u64,
        sent: Option<LocalId>,
        queue: &str,
    ) {
        let call = format!("{name}_generate(core, chain, &{bp}, {rules}u{queue});");
        let Some((sent, Ty::Event(event))) = sent.map(|local| (local, e.local_type(local))) else {
            return e.w.line(format!("(void){call}"));
        };
        let (name, number, local) = (&e.p.events[event.index()].name, event.0 + 1, e.local(sent));
        e.w.open("{");
        e.w.line(format!("struct {} *entry__ = {call}", e.names.own("entry")));
        e.w.open("if (entry__) {");
        e.w.line(format!("entry__->sent = {number};"));
        e.w.line(format!("entry__->event.{name}_ = {local};"));
        e.w.close("}");
        e.w.close("}");
    }

    fn note_newest(&self, e: &mut Emitter<'_>) {
        let place = e.entry_place();
        e.w.line(format!("uint32_t *newest = {}(core, chain->handle);", e.names.own("newest_at")));
        e.w.line(format!("if (newest)\n    *newest = {place};"));
    }

    fn coalesced(&self, e: &mut Emitter<'_>) {
        e.w.line("return old;");
    }

    fn reading_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        if bp.frame {
            e.w.line("const uint8_t *p = packet->rest[0];");
            e.w.line("uint32_t len = (uint32_t)(packet->rest[1] - p);");
        } else {
            e.w.line("const uint8_t *p = packet->ptr;");
        }
    }

    fn payload_begin(&self, _bp: &BlueprintDef) -> &'static str {
        "p + header_len"
    }

    fn left(&self, e: &mut Emitter<'_>, bp: &BlueprintDef) {
        if bp.frame {
            e.w.line("packet->rest[0] = p + header_len + h->payload__.len;");
        } else if e.has_frames() {
            e.w.line("packet->rest[0] = p + header_len;");
            e.w.line("packet->rest[1] = packet->rest[0] + h->payload__.len;");
        }
    }

    fn received_sum(&self, whole: bool, len: &str) -> String {
        format!("carrick_sum(p, {})", if whole { len } else { "header_len" })
    }

    fn network(&self) -> &'static str {
        "packet->ip->"
    }

    fn peek(&self, _e: &Emitter<'_>, packet: &str) -> String {
        format!("({packet}->rest[0] < {packet}->rest[1] ? *{packet}->rest[0] : 0u)")
    }

    fn tx_room(&self, _e: &Emitter<'_>, name: &str, at: &str) -> String {
        format!("carrick_tx_room(&{at}->tx__, core->{name}_tx_mask)")
    }

    fn writes(&self, e: &mut Emitter<'_>, begin: u32) {
        e.w.line(format!("CARRICK_UNUSED uint8_t *q = p + {begin};"));
    }

    fn written(&self) -> Cursor {
        Cursor {
            passed: Passed { param: ", CARRICK_UNUSED uint8_t *q", arg: ", q" },
            here: "",
            at: "q",
            position: "q",
        }
    }

    fn reads(&self) -> Passed {
        Passed { param: ", CARRICK_UNUSED const uint8_t *p", arg: ", p" }
    }

    fn read_at(&self, at: &str) -> String {
        format!("p + {at}")
    }

    fn steps(&self) -> Steps {
        Steps { begin: "", here: "const uint8_t *q = p + header_len;", moved: "header_len +=", end: "" }
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
