// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several blueprint queues: entries of one pool, linked.

use carrick_ir::Expr;

use crate::Emitter;
use crate::core_struct::QUEUE;

impl Emitter<'_> {
    /// Whether blueprints wait in more than one queue.
    pub(crate) fn many_queues(&self) -> bool {
        self.blocks || self.p.schedule.queues > 1
    }

    /// The last parameter of a generate function.
    pub(crate) fn queue_param(&self) -> &'static str {
        match self.many_queues() {
            true if self.blocks => ", uint32_t number",
            true => ", uint32_t queue",
            false => "",
        }
    }

    /// At the beginning of such a function: which input of a block the queue with this number is.
    pub(crate) fn queue_of_number(&mut self) {
        if self.blocks {
            self.w
                .line(format!("uint32_t queue = {}(core, chain->handle, number);", self.names.own("queue")));
        }
    }

    /// And what is given for it.
    pub(crate) fn queue_arg(&self, queue: Option<&Expr>) -> String {
        match queue {
            _ if !self.many_queues() => String::new(),
            queue => {
                let number = queue.map_or("0".into(), |q| self.queue_number(q));
                format!(", {number}")
            }
        }
    }

    /// C for the number of a queue, the last if there are not as many.
    pub(crate) fn queue_number(&self, queue: &Expr) -> String {
        format!("(uint32_t)carrick_min64({}, {}u)", self.value(queue), self.p.schedule.own_queues() - 1)
    }

    /// C for how many blueprints wait.
    pub(crate) fn queued(&self) -> &'static str {
        if self.many_queues() { "core->queued" } else { "(core->queue_tail - core->queue_head)" }
    }

    /// In the struct of the core.
    pub(crate) fn queue_members(&mut self) {
        if self.many_queues() {
            let n = self.p.schedule.queues;
            if self.blocks {
                self.block_members("", &self.p.schedule);
            } else {
                self.w.line(format!(
                    "uint32_t queue_first[{n}], queue_last[{n}]; /* entry + 1; 0: none waits */"
                ));
            }
            self.w.line("uint32_t queue_free, queue_fresh, queued; /* free entry + 1, never used ones, how many wait */");
        } else {
            self.w.line("uint32_t queue_head, queue_tail;");
        }
    }

    /// In the struct of an entry.
    pub(crate) fn entry_links(&mut self) {
        if self.many_queues() {
            self.w.line("uint32_t next;   /* entry + 1, of the same queue or free; 0: none */");
            self.w.line("uint32_t queue;");
            self.w.line("bool waits;");
        }
    }

    /// In a generate function: `e`, an entry that waits behind the last one of `queue`.
    pub(crate) fn take_entry(&mut self) {
        let entry = self.names.own("entry");
        if !self.many_queues() {
            self.w.line(format!("struct {entry} *e = &core->queue[core->queue_tail++ & {}];", QUEUE - 1));
            return;
        }
        self.w.line("uint32_t at = core->queue_free ? core->queue_free : ++core->queue_fresh;");
        self.w.line(format!("struct {entry} *e = &core->queue[at - 1];"));
        self.w.line("if (core->queue_free)\n    core->queue_free = e->next;");
        let [first, last] = self.queue_ends();
        self.w.line(format!("if ({last})"));
        self.w.line(format!("    core->queue[{last} - 1].next = at;"));
        self.w.line("else");
        self.w.line(format!("    {first} = at;"));
        self.w.line(format!("{last} = at;"));
        self.w.line("core->queued++;");
        if self.blocks {
            self.w.line("carrick_sched_join(&core->sched, queue, core->now);");
        }
        self.w.line("e->next = 0;");
        self.w.line("e->queue = queue;");
        self.w.line("e->waits = true;");
    }

    /// C for the first and the last entry + 1 of `queue`.
    fn queue_ends(&self) -> [&'static str; 2] {
        match self.blocks {
            true => ["core->sched.inputs[queue].first", "core->sched.inputs[queue].last"],
            false => ["core->queue_first[queue]", "core->queue_last[queue]"],
        }
    }

    /// C for where the entry just taken stands.
    pub(crate) fn entry_place(&self) -> &'static str {
        if self.many_queues() { "at" } else { "core->queue_tail - 1" }
    }

    /// In the function that makes packets: the loop's head, and `e`.
    pub(crate) fn open_queue_loop(&mut self) {
        let entry = self.names.own("entry");
        if !self.many_queues() {
            self.w.open("while (core->queue_head != core->queue_tail) {");
            self.w.line(format!("struct {entry} *e = &core->queue[core->queue_head & {}];", QUEUE - 1));
            return;
        }
        if self.blocks {
            self.w.line("uint32_t queue;");
            self.w
                .open("while ((queue = carrick_sched_next(&core->sched, core->now)) != CARRICK_NO_INPUT) {");
            self.w.line(format!("struct {entry} *e = &core->queue[core->sched.inputs[queue].first - 1];"));
            return;
        }
        self.w.open("while (core->queued) {");
        self.w.line("uint32_t queue = 0;");
        self.w.line("while (!core->queue_first[queue])\n    queue++;");
        self.w.line(format!("struct {entry} *e = &core->queue[core->queue_first[queue] - 1];"));
    }

    /// In that loop, once a packet is made: opens what is left to do if it was the last of its entry.
    pub(crate) fn packet_made(&mut self) {
        self.w.open("if (core->last) {");
        self.leave_queue();
        if self.blocks {
            self.w.close("}");
            self.w.line("carrick_sched_sent(&core->sched, queue, len, core->now);");
            self.w.open("if (core->last) {");
        }
    }

    /// The entry is out.
    fn leave_queue(&mut self) {
        if !self.many_queues() {
            self.w.line("core->queue_head++;");
            return;
        }
        let [first, last] = self.queue_ends();
        self.w.line(format!("uint32_t at = {first};"));
        self.w.line(format!("{first} = e->next;"));
        self.w.line("if (!e->next)");
        self.w.line(format!("    {last} = 0;"));
        self.w.line("e->next = core->queue_free;");
        self.w.line("e->waits = false;");
        self.w.line("core->queue_free = at;");
        self.w.line("core->queued--;");
    }
}
