// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks: `carrick/blocks.h` of the target does their work, on maps. Here is what the blocks of a program begin
//! with, and which input a queue is.

use carrick_emit_c::{Emitter, in_c};
use carrick_ir::{ContextDef, SchedInput, SchedInputs};

use crate::{owners, writing};

/// Before everything that schedules.
pub(crate) fn include_blocks(e: &mut Emitter<'_>) {
    if e.blocks {
        e.w.line(format!("#define CARRICK_BLOCKS {}u", e.p.schedule.blocks.len()));
        owners::define_owners(e);
        e.w.line(format!("#include \"carrick/{}\"", owners::blocks_header(e)));
    }
}

/// Members of an entry.
pub(crate) fn entry_waits(e: &mut Emitter<'_>) {
    if e.blocks {
        e.w.line("uint32_t queue; /* the input that it waits at */");
        owners::owner_of_chain(e);
        e.w.line("bool waits;");
        e.w.line("bool carries; /* it has a payload */");
    } else {
        e.w.line("uint64_t turn;   /* in the queue: twice its round there, and 1 more while it waits */");
        e.w.line("uint32_t held;   /* 1: somebody makes a packet of it, or changes it */");
    }
}

/// The blocks at their beginning, and which of their inputs belong to whom.
pub(crate) fn blocks(e: &mut Emitter<'_>) {
    for ctx in e.p.contexts.iter().filter(|ctx| !ctx.global) {
        e.open_on_core("CARRICK_INLINE uint64_t ", &format!("{}_capacity", ctx.name), "");
        let slots = slots(e, ctx);
        e.w.end_with(format!("return {slots};"));
    }
    e.flow_functions();
    blocks_begin(e);
    writing::include(e, "scheduled");
    queue(e);
}

/// How many instances there can be, by the parameters; the loader reckons the same.
fn slots(e: &Emitter<'_>, ctx: &ContextDef) -> String {
    format!("carrick_max64({}, 1)", e.value(&ctx.capacity))
}

fn blocks_begin(e: &mut Emitter<'_>) {
    e.open_on_core("CARRICK_GLOBAL_FN int ", "blocks_begin", "");
    e.w.line("struct carrick_sched *s = carrick_sched_here();");
    e.w.line("CARRICK_GIVEN(core && s);");
    let flows = e.p.contexts.iter().filter(|c| !c.global).map(|c| slots(e, c));
    let flows: Vec<String> = std::iter::once("1".to_owned()).chain(flows).collect();
    if e.p.schedule.per_flow() {
        e.w.line(format!("uint32_t flows = (uint32_t)({});", flows.join(" + ")));
    }
    e.w.line("uint32_t base = 0;");
    for at in 0..e.p.schedule.blocks.len() {
        block_begins(e, at);
    }
    e.w.line("s->begun = 1;");
    e.w.end_with("return 0;");
}

fn block_begins(e: &mut Emitter<'_>, at: usize) {
    let block = &e.p.schedule.blocks[at];
    let (count, per_flow) = match &block.inputs {
        SchedInputs::PerFlow(_) => ("flows".to_owned(), 1),
        SchedInputs::Each(inputs) => (format!("{}u", inputs.len()), 0),
    };
    e.w.line(format!("s->blocks[{at}].base = base;"));
    e.w.line(format!("s->blocks[{at}].count = {count};"));
    e.w.line(format!("s->blocks[{at}].policy = {};", in_c(&block.policy)));
    e.w.line(format!("s->blocks[{at}].per_flow = {per_flow};"));
    owners::block_credit(e, at);
    e.w.line(format!("base += {count};"));
    match &block.inputs {
        SchedInputs::PerFlow(_) => {
            let share = e.share_of_packets(&block.policy, 0);
            e.w.line(format!("s->blocks[{at}].initial = {share};"));
        }
        SchedInputs::Each(inputs) => {
            for (i, input) in inputs.iter().enumerate() {
                let from = if let SchedInput::Block(n) = input { n + 1 } else { 0 };
                let share = e.share_of_packets(&block.policy, i);
                e.w.line(format!("carrick_sched_input(s, {at}, {i}, {from}, {share});"));
            }
        }
    }
}

/// Putting an entry into a queue by its number, and what programs set of queues.
fn queue(e: &mut Emitter<'_>) {
    e.w.line(
        "/* The input that a queue is, of the flow with this handle, and its block in the upper half. */",
    );
    e.open_on_core(
        "CARRICK_INLINE uint64_t ",
        "input",
        ", const struct carrick_sched *s, CARRICK_UNUSED uint64_t handle, uint32_t number",
    );
    for number in 0..e.p.schedule.queues {
        let Some(place) = e.p.schedule.place(number) else { continue };
        let input = e.queue_input(&e.p.schedule, "s->blocks", number, place);
        e.w.line(format!("if (number == {number})"));
        e.w.line(format!("    return (uint64_t){} << 32 | ({input});", place.0));
    }
    e.w.end_with("return 0;");
    e.set_functions();
    e.flow_begins();
}

/// In a generate function, before anything waits: `s`, the blocks, and the input that the blueprint is for.
pub(crate) fn choose_queue(e: &mut Emitter<'_>) {
    if !e.blocks {
        return;
    }
    e.w.line(format!("struct carrick_sched *s = {}(core);", e.names.own("blocks")));
    e.w.open("if (!s) {");
    e.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
    e.w.line("return 0;");
    e.w.close("}");
    let input = e.names.own("input");
    e.w.line(format!(
        "uint64_t input = {input}(core, s, core->chain.handle, CARRICK_OWN_QUEUE(core, number));"
    ));
    e.w.line("uint32_t queue = (uint32_t)input;");
}

/// The last parameter of a generate function.
pub(crate) fn number_param(e: &Emitter<'_>) -> &'static str {
    if e.blocks { ", uint32_t number" } else { "" }
}

/// In the same function: what the blocks know of `e`, which has so many bytes of payload.
pub(crate) fn chosen(e: &mut Emitter<'_>, octets: &str) {
    if e.blocks {
        e.w.line("e->queue = queue;");
        owners::owner_is(e, "e->owner", "core->chain.owner");
        e.w.line("e->waits = true;");
        e.w.line(format!("e->carries = {octets} != 0;"));
    }
}

/// In the same function, when all of the entry is there.
pub(crate) fn waits_in_blocks(e: &mut Emitter<'_>) {
    e.w.line(format!("struct carrick_shared *shared = {}();", e.names.own("shared")));
    e.w.line("if (shared)\n    shared->queue_tail++;");
    e.w.line("(void)carrick_sched_put(place, (uint32_t)(input >> 32), queue, core->now);");
    owners::owner_waits(e);
    e.w.line(format!("{}(s);", e.names.own("blocks_left")));
}
