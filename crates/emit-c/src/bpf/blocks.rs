// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks: `carrick/blocks.h` of the target does their work, on maps. Here is what the blocks of a program begin
//! with, and which input a queue is.

use carrick_ir::{ContextDef, SchedInput, SchedInputs};

use crate::Emitter;
use crate::blocks::in_c;

impl Emitter<'_> {
    /// Before everything that schedules.
    pub(super) fn include_blocks(&mut self) {
        if self.blocks {
            self.w.line(format!("#define CARRICK_BLOCKS {}u", self.p.schedule.blocks.len()));
            self.define_owners();
            self.w.line(format!("#include \"carrick/{}\"", self.blocks_header()));
        }
    }

    /// Members of an entry.
    pub(super) fn entry_waits(&mut self) {
        if self.blocks {
            self.w.line("uint32_t queue; /* the input that it waits at */");
            self.owner_of_chain();
            self.w.line("bool waits;");
            self.w.line("bool carries; /* it has a payload */");
        } else {
            self.w.line(
                "uint64_t turn;   /* in the queue: twice its round there, and 1 more while it waits */",
            );
            self.w.line("uint32_t held;   /* 1: somebody makes a packet of it, or changes it */");
        }
    }

    /// The blocks at their beginning, and which of their inputs belong to whom.
    pub(super) fn blocks_in_kernel(&mut self) {
        self.flow_functions();
        self.blocks_begin();
        self.include("scheduled");
        self.queue_in_kernel();
    }

    /// How many instances there can be, by the parameters; the loader reckons the same.
    pub(super) fn slots(&self, ctx: &ContextDef) -> String {
        format!("carrick_max64({}, 1)", self.value(&ctx.capacity))
    }

    fn blocks_begin(&mut self) {
        self.open_on_core("CARRICK_GLOBAL_FN int ", "blocks_begin", "");
        self.w.line("struct carrick_sched *s = carrick_sched_here();");
        self.w.line("CARRICK_GIVEN(core && s);");
        let flows = self.p.contexts.iter().filter(|c| !c.global).map(|c| self.slots(c));
        let flows: Vec<String> = std::iter::once("1".to_owned()).chain(flows).collect();
        if self.p.schedule.per_flow() {
            self.w.line(format!("uint32_t flows = (uint32_t)({});", flows.join(" + ")));
        }
        self.w.line("uint32_t base = 0;");
        for at in 0..self.p.schedule.blocks.len() {
            self.block_begins(at);
        }
        self.w.line("s->begun = 1;");
        self.w.end_with("return 0;");
    }

    fn block_begins(&mut self, at: usize) {
        let block = &self.p.schedule.blocks[at];
        let (count, per_flow) = match &block.inputs {
            SchedInputs::PerFlow(_) => ("flows".to_owned(), 1),
            SchedInputs::Each(inputs) => (format!("{}u", inputs.len()), 0),
        };
        self.w.line(format!("s->blocks[{at}].base = base;"));
        self.w.line(format!("s->blocks[{at}].count = {count};"));
        self.w.line(format!("s->blocks[{at}].policy = {};", in_c(&block.policy)));
        self.w.line(format!("s->blocks[{at}].per_flow = {per_flow};"));
        self.block_credit(at);
        self.w.line(format!("base += {count};"));
        match &block.inputs {
            SchedInputs::PerFlow(_) => {
                let share = self.share_of_packets(&block.policy, 0);
                self.w.line(format!("s->blocks[{at}].initial = {share};"));
            }
            SchedInputs::Each(inputs) => {
                for (i, input) in inputs.iter().enumerate() {
                    let from = if let SchedInput::Block(n) = input { n + 1 } else { 0 };
                    let share = self.share_of_packets(&block.policy, i);
                    self.w.line(format!("carrick_sched_input(s, {at}, {i}, {from}, {share});"));
                }
            }
        }
    }

    /// Putting an entry into a queue by its number, and what programs set of queues.
    fn queue_in_kernel(&mut self) {
        self.w.line(
            "/* The input that a queue is, of the flow with this handle, and its block in the upper half. */",
        );
        self.open_on_core(
            "CARRICK_INLINE uint64_t ",
            "input",
            ", const struct carrick_sched *s, CARRICK_UNUSED uint64_t handle, uint32_t number",
        );
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.place(number) else { continue };
            let input = self.queue_input(&self.p.schedule, "s->blocks", number, place);
            self.w.line(format!("if (number == {number})"));
            self.w.line(format!("    return (uint64_t){} << 32 | ({input});", place.0));
        }
        self.w.end_with("return 0;");
        self.set_functions();
        self.flow_begins();
    }

    /// In a generate function, before anything waits: `s`, the blocks, and the input that the blueprint is for.
    pub(super) fn choose_queue(&mut self) {
        if !self.blocks {
            return;
        }
        self.w.line(format!("struct carrick_sched *s = {}(core);", self.names.own("blocks")));
        self.w.open("if (!s) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
        self.w.line("return 0;");
        self.w.close("}");
        let (input, owned) = (self.names.own("input"), self.queues_before());
        self.w.line(format!("uint64_t input = {input}(core, s, core->chain.handle, number{owned});"));
        self.w.line("uint32_t queue = (uint32_t)input;");
    }

    /// The last parameter of a generate function.
    pub(super) fn number_param(&self) -> &'static str {
        if self.blocks { ", uint32_t number" } else { "" }
    }

    /// In the same function: what the blocks know of `e`, which has so many bytes of payload.
    pub(super) fn chosen(&mut self, octets: &str) {
        if self.blocks {
            self.w.line("e->queue = queue;");
            self.owner_is("e->owner", "core->chain.owner");
            self.w.line("e->waits = true;");
            self.w.line(format!("e->carries = {octets} != 0;"));
        }
    }

    /// In the same function, when all of the entry is there.
    pub(super) fn waits_in_blocks(&mut self) {
        self.w.line(format!("struct carrick_shared *shared = {}();", self.names.own("shared")));
        self.w.line("if (shared)\n    shared->queue_tail++;");
        self.w.line("(void)carrick_sched_put(place, (uint32_t)(input >> 32), queue, core->now);");
        self.owner_waits();
        self.w.line(format!("{}(s);", self.names.own("blocks_left")));
    }
}
