//! Scheduling blocks beyond queues of which one goes before the other: the runtime's `sched.h` does their work.

use carrick_ir::{CtxId, Expr, Policy, Program, SchedBlock, SchedInput, SchedInputs, uses};

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

impl Emitter<'_> {
    /// The contexts that are flows, with their numbers.
    fn flows(&self) -> Vec<(usize, String)> {
        let contexts = self.p.contexts.iter().enumerate();
        contexts.filter(|(_, c)| !c.global).map(|(i, c)| (i, c.name.clone())).collect()
    }

    /// Numbers of the blocks that have an input for each flow.
    fn flow_blocks(&self) -> Vec<usize> {
        let blocks = self.p.schedule.blocks.iter().enumerate();
        blocks.filter(|(_, b)| matches!(b.inputs, SchedInputs::PerFlow(_))).map(|(at, _)| at).collect()
    }

    /// Which input queue `number` is, or by which its packets come to the block at `place`.
    fn queue_input(&self, number: u32, place: (usize, usize)) -> String {
        let (block, input) = place;
        let flow = self.p.schedule.place(number) == Some(place)
            && matches!(self.p.schedule.blocks[block].inputs, SchedInputs::PerFlow(_));
        let input =
            if flow { format!("{}(core, handle)", self.names.own("flow")) } else { format!("{input}u") };
        format!("core->blocks[{block}].base + {input}")
    }

    /// What the queues of instructions stand for, and what instructions set of them.
    pub(crate) fn block_functions(&mut self) {
        if !self.blocks {
            return;
        }
        let core = self.core_param();
        self.w.line("/* The input of a block that is this queue, of the flow with this handle. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {}({core}, CARRICK_UNUSED uint64_t handle, uint32_t number) {{",
            self.names.own("queue")
        ));
        self.w.open("switch (number) {");
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.place(number) else { continue };
            let label =
                if number + 1 == self.p.schedule.queues { "default" } else { &format!("case {number}") };
            self.w.line(format!("{label}:\n    return {};", self.queue_input(number, place)));
        }
        self.w.close("}");
        self.w.close("}");
        self.w.blank();
        self.set_function(15, "rate", |p| matches!(p, Policy::RateLimiter(_)));
        self.set_function(16, "prio", |p| matches!(p, Policy::StrictPriority));
    }

    /// Which queue is whose.
    pub(crate) fn flow_function(&mut self) {
        if !self.p.schedule.per_flow() {
            return;
        }
        let core = self.core_param();
        self.w.line("/* Which of the queues for all flows is that of a context: the first is for what belongs to none. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {}({core}, uint64_t handle) {{",
            self.names.own("flow")
        ));
        self.w.open("switch (handle >> 56) {");
        let mut before = String::from("1u");
        for (index, name) in self.flows() {
            self.w.line(format!("case {}:\n    return {before} + (uint32_t)handle;", index + 1));
            before.push_str(&format!(" + core->{name}_capacity"));
        }
        self.w.line("default:\n    return 0;");
        self.w.close("}");
        self.w.close("}");
        self.w.blank();
    }

    /// `set_queue_rate` or `set_queue_prio`.
    fn set_function(&mut self, instr: u32, what: &str, wanted: impl Fn(&Policy) -> bool) {
        if !uses::instructions(self.p).contains(format!("set_queue_{what}").as_str()) {
            return;
        }
        let core = self.core_param();
        self.w.open(format!(
            "CARRICK_UNUSED static inline void {}({core}, CARRICK_UNUSED uint64_t handle, uint32_t number, uint64_t value) {{",
            self.names.own(&format!("set_{what}"))
        ));
        self.trace_instr(instr, &["number".into(), "value".into()]);
        let now = if what == "rate" { ", core->now" } else { "" };
        self.w.open("switch (number) {");
        for number in 0..self.p.schedule.queues {
            let Some(place) = self.p.schedule.nearest(number, &wanted) else { continue };
            self.w.open(format!("case {number}:"));
            let input = self.queue_input(number, place);
            self.w.line(format!("carrick_sched_{what}(&core->sched, {input}, value{now});"));
            self.w.close_case("break;");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.close("}");
        self.w.blank();
    }

    pub(crate) fn set_queue(&mut self, what: &str, queue: &Expr, value: &Expr) {
        let text = format!(
            "{}(core, chain->handle, {}, {});",
            self.names.own(&format!("set_{what}")),
            self.queue_number(queue),
            self.expr(value)
        );
        self.w.line(text);
    }

    /// In `new_ctx`, behind `slot`: the queues of the new flow.
    pub(crate) fn begin_flow(&mut self, ctx: CtxId) {
        let sets = uses::instructions(self.p);
        if !self.blocks || !(sets.contains("set_queue_rate") || sets.contains("set_queue_prio")) {
            return;
        }
        let name = &self.p.contexts[ctx.index()].name;
        for block in self.flow_blocks() {
            let flow = format!("{}(core, {}_handle(c))", self.names.own("flow"), self.names.own(name));
            self.w.line(format!("carrick_sched_flow(&core->sched, {block}, {flow}, core->now);"));
        }
    }

    /// In the layout function: where the inputs of each block lie.
    pub(crate) fn blocks_layout(&mut self) {
        if !self.blocks {
            return;
        }
        let take = self.names.own("take");
        self.w.line("uint64_t inputs = 0;");
        if self.p.schedule.per_flow() {
            let all: String = self.flows().iter().map(|(_, c)| format!(" + core->{c}_capacity")).collect();
            self.w.line(format!("uint64_t flows = (uint64_t)1{all};"));
        }
        for (at, block) in self.p.schedule.blocks.iter().enumerate() {
            let count = match &block.inputs {
                SchedInputs::PerFlow(_) => "flows".to_owned(),
                SchedInputs::Each(inputs) => inputs.len().to_string(),
            };
            self.w.line(format!("core->blocks[{at}].base = (uint32_t)inputs;"));
            self.w.line(format!("core->blocks[{at}].count = (uint32_t){count};"));
            self.w.line(format!("inputs += {count};"));
            self.w.line("if (inputs > 1u << 30)\n    return 0;");
            if count != "flows" {
                continue;
            }
            let mut array = |field: &str, ty: &str, count: &str| {
                self.w.line(format!(
                    "core->blocks[{at}].{field} = ({ty} *)(void *){take}(base, &at, {count} * sizeof({ty}));"
                ));
            };
            match block.policy {
                Policy::StrictPriority => array("heap", "uint32_t", "flows"),
                Policy::Drr(_) => {}
                Policy::RateLimiter(_) => {
                    array("timers", "struct carrick_timer", "flows");
                    array("wheel", "struct carrick_wheel", "1");
                }
            }
        }
        self.w.line("core->sched.blocks = core->blocks;");
        self.w.line(format!(
            "core->sched.inputs = (struct carrick_input *)(void *){take}(base, &at, inputs * sizeof(struct carrick_input));"
        ));
    }

    /// In the function that makes a core, once its arrays are placed.
    pub(crate) fn begin_blocks(&mut self) {
        if !self.blocks {
            return;
        }
        for (at, block) in self.p.schedule.blocks.iter().enumerate() {
            let policy = match block.policy {
                Policy::StrictPriority => "CARRICK_STRICT_PRIORITY",
                Policy::Drr(_) => "CARRICK_DRR",
                Policy::RateLimiter(_) => "CARRICK_RATE_LIMITER",
            };
            self.w.line(format!("core->blocks[{at}].policy = {policy};"));
            let share = |e: &Self, i: usize| block.policy.shares().get(i).map_or("0".into(), |s| e.expr(s));
            let SchedInputs::Each(inputs) = &block.inputs else {
                let share = share(self, 0);
                self.w.line(format!("core->blocks[{at}].per_flow = true;"));
                self.w.line(format!("for (uint32_t i = 0; i < core->blocks[{at}].count; i++)"));
                self.w.line(format!("    carrick_sched_input(&core->sched, {at}, i, 0, {share});"));
                continue;
            };
            for (i, input) in inputs.iter().enumerate() {
                let from = if let SchedInput::Block(n) = input { *n } else { 0 };
                let share = share(self, i);
                self.w.line(format!("carrick_sched_input(&core->sched, {at}, {i}, {from}, {share});"));
            }
        }
    }
}
