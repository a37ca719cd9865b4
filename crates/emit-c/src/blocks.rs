// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks beyond queues of which one goes before the other: the runtime's `sched.h` does their work.

use std::ops::RangeInclusive;

use carrick_ir::{
    EVENT_QUANTUM, Expr, Opcode, Policy, Program, QUANTUM, SchedBlock, SchedInput, SchedInputs, Schedule,
    uses,
};

use crate::Emitter;

/// Whether the schedule needs them.
pub fn needed(p: &Program) -> bool {
    match &p.schedule.blocks[..] {
        [] => false,
        [SchedBlock { policy: Policy::StrictPriority, inputs: SchedInputs::Each(inputs) }] => {
            inputs.iter().any(|i| matches!(i, SchedInput::Block(_)))
                || uses::instructions(p).contains("set_queue_prio")
        }
        _ => true,
    }
}

impl<'p> Emitter<'p> {
    /// What is scheduled with blocks: its schedule, what names begin with, and how much a turn can be.
    fn trees(&self) -> Vec<Tree<'p>> {
        let p: &'p Program = self.p;
        let packets = Tree { schedule: &p.schedule, name: "", quantum: QUANTUM };
        let events = p.event_schedule.as_ref();
        let events = events.map(|e| Tree { schedule: &e.schedule, name: "ev_", quantum: EVENT_QUANTUM });
        self.blocks.then_some(packets).into_iter().chain(events).collect()
    }

    /// C for an input: which queue `number` is, or by which its packets come to the block at `place`, of these blocks.
    pub fn queue_input(
        &self,
        schedule: &Schedule,
        blocks: &str,
        number: u32,
        place: (usize, usize),
    ) -> String {
        let (block, input) = place;
        let flow = schedule.place(number) == Some(place)
            && matches!(schedule.blocks[block].inputs, SchedInputs::PerFlow(_));
        let input =
            if flow { format!("{}(core, handle)", self.names.own("flow")) } else { format!("{input}u") };
        format!("{blocks}[{block}].base + {input}")
    }

    /// Which input the queue with this number is, of events; `handle` is that of the flow.
    pub(crate) fn event_queue(&self, number: u32) -> String {
        let schedule = self.p.event_schedule.as_ref().map(|e| &e.schedule);
        let place = schedule.and_then(|s| Some((s, s.place(number)?)));
        place.map_or_else(|| "0".into(), |(s, place)| self.queue_input(s, "core->ev_blocks", number, place))
    }

    /// In the struct of the core.
    pub(crate) fn block_members(&mut self, name: &str, schedule: &Schedule) {
        let n = schedule.blocks.len().max(1);
        self.w.line(format!("struct carrick_block {name}blocks[{n}]; /* the outermost first */"));
        self.w.line(format!("struct carrick_sched {name}sched;"));
    }

    /// What the queues of instructions stand for, and what instructions set of them.
    pub(crate) fn block_functions(&mut self) {
        if !self.blocks {
            return;
        }
        self.w.line("/* The input of a block that is this queue, of the flow with this handle. */");
        self.open_on_core(
            "CARRICK_UNUSED static inline uint32_t ",
            "queue",
            ", CARRICK_UNUSED uint64_t handle, uint32_t number",
        );
        self.w.open("switch (number) {");
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.place(number) else { continue };
            let label =
                if number + 1 == self.p.schedule.queues { "default" } else { &format!("case {number}") };
            let input = self.queue_input(&self.p.schedule, "core->blocks", number, place);
            self.w.line(format!("{label}:\n    return {input};"));
        }
        self.w.close("}");
        self.w.end();
        self.set_functions();
    }

    /// Which queue is whose.
    pub fn flow_functions(&mut self) {
        if !self.trees().iter().any(|t| t.schedule.per_flow()) {
            return;
        }
        self.w.line("/* Which of the inputs for all flows is that of a context: the first is for what belongs to none. */");
        self.open_on_core("CARRICK_INLINE uint32_t ", "flow", ", uint64_t handle");
        self.w.line("uint32_t before = 1;");
        for (number, ctx) in self.p.contexts.iter().enumerate().filter(|(_, c)| !c.global) {
            self.w.line(format!("if (handle >> 56 == {})", number + 1));
            self.w.line("    return before + (uint32_t)handle;");
            self.w.line(format!("before += (uint32_t)CARRICK_CAPACITY(core, {});", ctx.name));
        }
        self.w.end_with("return 0;");
    }

    /// Whether the inputs of flows change, so that a new one has to begin anew.
    fn flows_change(&self) -> bool {
        let sets = uses::instructions(self.p);
        self.p.schedule.per_flow() && (sets.contains("set_queue_rate") || sets.contains("set_queue_prio"))
    }

    /// Before the contexts' functions.
    pub fn flow_begins(&mut self) {
        if !self.flows_change() {
            return;
        }
        self.w.line("/* A flow begins: it has the share and the priority that all had at first. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "flow_begins", ", uint64_t handle");
        self.w.line("CARRICK_OPEN_BLOCKS(core, s);");
        self.w.line(format!("CARRICK_UNUSED uint32_t flow = {}(core, handle);", self.names.own("flow")));
        for (at, block) in self.p.schedule.blocks.iter().enumerate() {
            let input = format!("CARRICK_IN_BLOCK(s, {at}), s->blocks[{at}].base + flow");
            match (&block.inputs, &block.policy) {
                (SchedInputs::PerFlow(_), Policy::RateLimiter(_)) => self
                    .w
                    .line(format!("(void)carrick_sched_rate({input}, s->blocks[{at}].initial, core->now);")),
                (SchedInputs::PerFlow(_), Policy::StrictPriority) => {
                    self.w.line(format!("(void)carrick_sched_prio({input}, 0);"));
                }
                _ => {}
            }
        }
        self.w.line("CARRICK_CLOSE_BLOCKS(s);");
        self.w.end_with("return 0;");
    }

    /// In `new_ctx`: the queues of the new flow.
    pub(crate) fn begin_flow(&mut self, name: &str) {
        if self.flows_change() {
            self.w.line(format!("(void){}(core, {name}_handle(c));", self.names.own("flow_begins")));
        }
    }

    /// What programs set of queues.
    pub fn set_functions(&mut self) {
        self.set_function(Opcode::SetQueueRate, "rate", |p| matches!(p, Policy::RateLimiter(_)));
        self.set_function(Opcode::SetQueuePrio, "prio", |p| matches!(p, Policy::StrictPriority));
    }

    /// `set_queue_rate` or `set_queue_prio`.
    fn set_function(&mut self, op: Opcode, what: &str, wanted: impl Fn(&Policy) -> bool) {
        if !uses::instructions(self.p).contains(format!("set_queue_{what}").as_str()) {
            return;
        }
        self.open_on_core(
            "CARRICK_GLOBAL_FN int ",
            &format!("set_{what}"),
            ", CARRICK_UNUSED uint64_t handle, uint32_t number, uint64_t value",
        );
        self.w.line("CARRICK_OPEN_BLOCKS(core, s);");
        self.w.line("CARRICK_BARRIER_VAR(handle);");
        self.trace_instr(op, &["number", "value"]);
        self.w.line("uint32_t queue = CARRICK_OWN_QUEUE(core, number);");
        let now = if what == "rate" { ", core->now" } else { "" };
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.nearest(number, &wanted) else { continue };
            let input = self.queue_input(&self.p.schedule, "s->blocks", number, place);
            let block = place.0;
            self.w.line(format!("if (queue == {number})"));
            self.w.line(format!(
                "    (void)carrick_sched_{what}(CARRICK_IN_BLOCK(s, {block}), {input}, value{now});"
            ));
        }
        self.w.line("CARRICK_CLOSE_BLOCKS(s);");
        self.w.end_with("return 0;");
    }

    pub(crate) fn set_queue(&mut self, what: &str, queue: &Expr, value: &Expr) {
        let text = format!(
            "{}(core, chain->handle, {}, {});",
            self.names.own(&format!("set_{what}")),
            self.queue_number(queue),
            self.value(value)
        );
        self.w.line(text);
    }

    /// In the layout function: where the inputs of each block lie.
    pub(crate) fn blocks_layout(&mut self) {
        let per_flow = self.trees().iter().any(|t| t.schedule.per_flow());
        if per_flow {
            let flows = self.p.contexts.iter().filter(|c| !c.global);
            let all: String = flows.map(|c| format!(" + core->{}_capacity", c.name)).collect();
            self.w.line(format!("uint64_t flows = (uint64_t)1{all};"));
        }
        for tree in self.trees() {
            let lines = self.tree_layout(&tree);
            lines.into_iter().for_each(|line| self.w.line(line));
        }
    }

    fn tree_layout(&self, tree: &Tree<'_>) -> Vec<String> {
        let name = tree.name;
        let array = |what: &str, ty: &str, count: &str| {
            format!("core->{name}{what} = ({ty} *)(void *)carrick_place(base, &at, {count} * sizeof({ty}));")
        };
        let mut lines = vec![format!("uint64_t {name}inputs = 0;")];
        for (at, block) in tree.schedule.blocks.iter().enumerate() {
            let count = match &block.inputs {
                SchedInputs::PerFlow(_) => "flows".to_owned(),
                SchedInputs::Each(inputs) => inputs.len().to_string(),
            };
            lines.push(format!("core->{name}blocks[{at}].base = (uint32_t){name}inputs;"));
            lines.push(format!("core->{name}blocks[{at}].count = (uint32_t){count};"));
            lines.push(format!("{name}inputs += {count};"));
            lines.push(format!("if ({name}inputs > 1u << 30)\n    return 0;"));
            match block.policy {
                _ if count != "flows" => {}
                Policy::StrictPriority => {
                    lines.push(array(&format!("blocks[{at}].heap"), "uint32_t", "flows"))
                }
                Policy::Drr(_) => {}
                Policy::RateLimiter(_) => {
                    lines.push(array(&format!("blocks[{at}].timers"), "struct carrick_timer", "flows"));
                    lines.push(array(&format!("blocks[{at}].wheel"), "struct carrick_wheel", "1"));
                }
            }
        }
        lines.push(format!("core->{name}sched.blocks = core->{name}blocks;"));
        lines.push(array("sched.inputs", "struct carrick_input", &format!("{name}inputs")));
        lines
    }

    /// In the function that makes a core, once its arrays are placed.
    pub(crate) fn begin_blocks(&mut self) {
        for tree in self.trees() {
            let lines = self.tree_begins(&tree);
            lines.into_iter().for_each(|line| self.w.line(line));
        }
    }

    fn tree_begins(&self, tree: &Tree<'_>) -> Vec<String> {
        let (name, mut lines) = (tree.name, Vec::new());
        for (at, block) in tree.schedule.blocks.iter().enumerate() {
            lines.push(format!("core->{name}blocks[{at}].policy = {};", in_c(&block.policy)));
            let SchedInputs::Each(inputs) = &block.inputs else {
                let share = self.share(tree, &block.policy, 0);
                lines.push(format!("core->{name}blocks[{at}].per_flow = true;"));
                lines.push(format!("for (uint32_t i = 0; i < core->{name}blocks[{at}].count; i++)"));
                lines.push(format!("    carrick_sched_input(&core->{name}sched, {at}, i, 0, {share});"));
                continue;
            };
            for (i, input) in inputs.iter().enumerate() {
                let from = if let SchedInput::Block(n) = input { *n } else { 0 };
                let share = self.share(tree, &block.policy, i);
                lines.push(format!("carrick_sched_input(&core->{name}sched, {at}, {i}, {from}, {share});"));
            }
        }
        lines
    }

    /// What a block of packets gives an input.
    pub fn share_of_packets(&self, policy: &Policy, input: usize) -> String {
        self.share(&Tree { schedule: &self.p.schedule, name: "", quantum: QUANTUM }, policy, input)
    }

    /// What a block gives an input, within what it can.
    fn share(&self, tree: &Tree<'_>, policy: &Policy, input: usize) -> String {
        let given = policy.shares().get(input).map_or("0".into(), |s| self.value(s));
        match policy {
            Policy::StrictPriority => "0".into(),
            Policy::Drr(_) => {
                let (least, most) = (tree.quantum.start(), tree.quantum.end());
                format!("carrick_min64(carrick_max64({given}, {least}u), {most}u)")
            }
            Policy::RateLimiter(_) => format!("carrick_min64({given}, CARRICK_TOP_RATE)"),
        }
    }
}

/// What the runtime calls a policy.
pub fn in_c(policy: &Policy) -> &'static str {
    match policy {
        Policy::StrictPriority => "CARRICK_STRICT_PRIORITY",
        Policy::Drr(_) => "CARRICK_DRR",
        Policy::RateLimiter(_) => "CARRICK_RATE_LIMITER",
    }
}

/// Blocks of one sort.
struct Tree<'a> {
    schedule: &'a Schedule,
    /// what the names of its parts begin with
    name: &'static str,
    quantum: RangeInclusive<u64>,
}
