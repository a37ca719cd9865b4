// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks: `carrick/blocks.h` of the target does their work, on maps. Here is what the blocks of a program begin
//! with, and which input a queue is.

use carrick_ir::{ContextDef, Opcode, Policy, SchedInput, SchedInputs, uses};

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
        if self.p.schedule.per_flow() {
            self.flow_in_kernel();
        }
        self.blocks_begin();
        self.include("scheduled");
        self.queue_in_kernel();
    }

    /// How many instances there can be, by the parameters; the loader reckons the same.
    fn slots(&self, ctx: &ContextDef) -> String {
        format!("carrick_max64({}, 1)", self.value(&ctx.capacity))
    }

    fn flow_in_kernel(&mut self) {
        let core = self.core_param();
        self.w.line("/* Which of the inputs for all flows is that of a context: the first is for what belongs to none. */");
        self.w
            .open(format!("CARRICK_INLINE uint32_t {}({core}, uint64_t handle) {{", self.names.own("flow")));
        self.w.line("uint32_t before = 1;");
        for (number, ctx) in self.p.contexts.iter().enumerate().filter(|(_, c)| !c.global) {
            self.w.line(format!("if (handle >> 56 == {})", number + 1));
            self.w.line("    return before + (uint32_t)handle;");
            self.w.line(format!("before += (uint32_t){};", self.slots(ctx)));
        }
        self.w.end_with("return 0;");
    }

    fn blocks_begin(&mut self) {
        let core = self.names.own("core");
        self.w.open(format!("CARRICK_APART int {}(struct {core} *core) {{", self.names.own("blocks_begin")));
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

    /// C for an input by which the packets of queue `number` come to the block at `place`: the block, and which of all
    /// inputs.
    fn input_in_kernel(&self, number: u32, place: (usize, usize)) -> String {
        let (block, input) = place;
        let flow = self.p.schedule.place(number) == Some(place)
            && matches!(self.p.schedule.blocks[block].inputs, SchedInputs::PerFlow(_));
        let input =
            if flow { format!("{}(core, handle)", self.names.own("flow")) } else { format!("{input}u") };
        format!("{block}, s->blocks[{block}].base + {input}")
    }

    /// Putting an entry into a queue by its number, and what programs set of queues.
    fn queue_in_kernel(&mut self) {
        let core = self.core_param();
        self.w.line(
            "/* The input that a queue is, of the flow with this handle, and its block in the upper half. */",
        );
        self.w.open(format!(
            "CARRICK_INLINE uint64_t {}({core}, const struct carrick_sched *s, CARRICK_UNUSED uint64_t handle, uint32_t number) {{",
            self.names.own("input")
        ));
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.place(number) else { continue };
            let input = self.input_in_kernel(number, place);
            let (block, at) = input.split_once(", ").unwrap_or((&input, ""));
            self.w.line(format!("if (number == {number})"));
            self.w.line(format!("    return (uint64_t){block} << 32 | ({at});"));
        }
        self.w.end_with("return 0;");
        self.set_in_kernel(Opcode::SetQueueRate, "rate", |p| matches!(p, Policy::RateLimiter(_)));
        self.set_in_kernel(Opcode::SetQueuePrio, "prio", |p| matches!(p, Policy::StrictPriority));
        self.flow_begins();
    }

    /// `set_queue_rate` or `set_queue_prio`.
    fn set_in_kernel(&mut self, op: Opcode, what: &str, wanted: impl Fn(&Policy) -> bool) {
        if !uses::instructions(self.p).contains(format!("set_queue_{what}").as_str()) {
            return;
        }
        self.w.open(format!(
            "CARRICK_APART int {}(struct {} *core, uint64_t handle, uint32_t number, uint64_t value) {{",
            self.names.own(&format!("set_{what}")),
            self.names.own("core")
        ));
        self.held_blocks();
        self.w.line("CARRICK_OPAQUE(handle);");
        self.trace_instr(op, &["number", "value"]);
        self.number_of_owner();
        let now = if what == "rate" { ", core->now" } else { "" };
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.nearest(number, &wanted) else { continue };
            let input = self.input_in_kernel(number, place);
            self.w.line(format!("if (number == {number})"));
            self.w.line(format!("    (void)carrick_sched_{what}({input}, value{now});"));
        }
        self.release_blocks();
    }

    /// In a function that is verified apart: `s`, the blocks.
    fn held_blocks(&mut self) {
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line(format!("struct carrick_sched *s = {}(core);", self.names.own("blocks")));
        self.w.line("CARRICK_GIVEN(s);");
    }

    fn release_blocks(&mut self) {
        self.w.line(format!("{}(s);", self.names.own("blocks_left")));
        self.w.end_with("return 0;");
    }

    /// Whether the inputs of flows change, so that a new one has to begin anew.
    fn flows_change(&self) -> bool {
        let sets = uses::instructions(self.p);
        self.p.schedule.per_flow() && (sets.contains("set_queue_rate") || sets.contains("set_queue_prio"))
    }

    fn flow_begins(&mut self) {
        if !self.flows_change() {
            return;
        }
        self.w.line("/* A flow begins: it has the share and the priority that all had at first. */");
        self.w.open(format!(
            "CARRICK_APART int {}(struct {} *core, uint64_t handle) {{",
            self.names.own("flow_begins"),
            self.names.own("core")
        ));
        self.held_blocks();
        self.w.line(format!("uint32_t flow = {}(core, handle);", self.names.own("flow")));
        for (at, block) in self.p.schedule.blocks.iter().enumerate() {
            if !matches!(block.inputs, SchedInputs::PerFlow(_)) {
                continue;
            }
            let input = format!("{at}, s->blocks[{at}].base + flow");
            match block.policy {
                Policy::RateLimiter(_) => self
                    .w
                    .line(format!("(void)carrick_sched_rate({input}, s->blocks[{at}].initial, core->now);")),
                Policy::StrictPriority => self.w.line(format!("(void)carrick_sched_prio({input}, 0);")),
                Policy::Drr(_) => {}
            }
        }
        self.release_blocks();
    }

    /// In the function that makes an instance, when it has its slot.
    pub(super) fn begin_flow_in_kernel(&mut self, handle: &str) {
        if self.flows_change() {
            self.w.line(format!("(void){}(core, {handle});", self.names.own("flow_begins")));
        }
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

    /// In the same function: what the blocks know of `e`, which has so many octets of payload.
    pub(super) fn chosen(&mut self, octets: &str) {
        if self.blocks {
            self.w.line("e->queue = queue;");
            self.owner_is("e->owner", "core->chain.owner");
            self.w.line("e->waits = true;");
            self.w.line(format!("e->carries = {octets} != 0;"));
        }
    }

    /// The newest entry of a context, for coalescing rules.
    pub(super) fn newest_in_blocks(&mut self) {
        let (core, entry) = (self.core_param(), self.names.own("entry"));
        self.w.line("/* The newest entry of a context if it waits whole, and brings nothing. */");
        self.w.open(format!(
            "CARRICK_INLINE struct {entry} *{}({core}, uint64_t handle) {{",
            self.names.own("newest")
        ));
        self.w.line(format!("uint64_t at = handle ? {}(handle, NULL) : 0;", self.names.own("newest_at")));
        self.w.line(format!(
            "struct {entry} *e = at ? {}((uint32_t)at - 1) : NULL;",
            self.names.own("entry_at")
        ));
        self.w.end_with("return e && e->waits && e->handle == handle && !e->done && !e->sent ? e : NULL;");
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
