//! Several blueprint queues, one before the other: entries of one pool, linked.

use carrick_ir::Expr;

use crate::Emitter;
use crate::core_struct::QUEUE;

impl Emitter<'_> {
    /// Whether blueprints wait in more than one queue.
    pub(crate) fn many_queues(&self) -> bool {
        self.p.tx_queues > 1
    }

    /// The last parameter of a generate function.
    pub(crate) fn queue_param(&self) -> &'static str {
        if self.many_queues() { ", uint32_t queue" } else { "" }
    }

    /// And what is given for it.
    pub(crate) fn queue_arg(&self, queue: Option<&Expr>) -> String {
        match queue {
            _ if !self.many_queues() => String::new(),
            None => ", 0".into(),
            Some(queue) => {
                format!(", (uint32_t)carrick_min64({}, {}u)", self.expr(queue), self.p.tx_queues - 1)
            }
        }
    }

    /// C for how many blueprints wait.
    pub(crate) fn queued(&self) -> &'static str {
        if self.many_queues() { "core->queued" } else { "(core->queue_tail - core->queue_head)" }
    }

    /// In the struct of the core.
    pub(crate) fn queue_members(&mut self) {
        if self.many_queues() {
            let n = self.p.tx_queues;
            self.w
                .line(format!("uint32_t queue_first[{n}], queue_last[{n}]; /* entry + 1; 0: none waits */"));
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
        self.w.line("if (core->queue_free)");
        self.w.line("    core->queue_free = e->next;");
        self.w.line("if (core->queue_last[queue])");
        self.w.line("    core->queue[core->queue_last[queue] - 1].next = at;");
        self.w.line("else");
        self.w.line("    core->queue_first[queue] = at;");
        self.w.line("core->queue_last[queue] = at;");
        self.w.line("core->queued++;");
        self.w.line("e->next = 0;");
        self.w.line("e->queue = queue;");
        self.w.line("e->waits = true;");
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
        self.w.open("while (core->queued) {");
        self.w.line("uint32_t queue = 0;");
        self.w.line("while (!core->queue_first[queue])");
        self.w.line("    queue++;");
        self.w.line(format!("struct {entry} *e = &core->queue[core->queue_first[queue] - 1];"));
    }

    /// The entry is out.
    pub(crate) fn leave_queue(&mut self) {
        if !self.many_queues() {
            self.w.line("core->queue_head++;");
            return;
        }
        self.w.line("uint32_t at = core->queue_first[queue];");
        self.w.line("core->queue_first[queue] = e->next;");
        self.w.line("if (!e->next)");
        self.w.line("    core->queue_last[queue] = 0;");
        self.w.line("e->next = core->queue_free;");
        self.w.line("e->waits = false;");
        self.w.line("core->queue_free = at;");
        self.w.line("core->queued--;");
    }
}
