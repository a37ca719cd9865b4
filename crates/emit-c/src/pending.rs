// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that wait, of programs that schedule them: entries of one pool, linked as those of blueprints are, and the
//! packets that they are of.

use carrick_ir::{self as ir, CallTarget, EventKind, MOST_WAITING, SchedInputs};

use crate::Emitter;

impl<'p> Emitter<'p> {
    /// Whether events wait.
    pub(crate) fn events_wait(&self) -> bool {
        self.p.event_schedule.is_some()
    }

    /// The struct of an event that waits.
    pub(crate) fn waiting_struct(&mut self) {
        if !self.events_wait() {
            return;
        }
        self.w.line("/* An event that waits. */");
        self.w.open(format!("struct {} {{", self.names.own("waiting")));
        self.w.line("uint32_t kind; /* which event, or behind them all which call */");
        self.w.line("uint32_t next; /* entry + 1, of the same queue or free; 0: none */");
        self.w.line("uint32_t held; /* the packet + 1 that it is of; 0: none */");
        self.w.line("uint64_t on;   /* the handle that a request is for */");
        self.event_union(&[EventKind::Net, EventKind::App]);
        self.w.end_type();
    }

    /// In the struct of the core.
    pub(crate) fn waiting_members(&mut self) {
        let Some(events) = &self.p.event_schedule else { return };
        let n = MOST_WAITING;
        self.w.line(format!("struct {} *waiting; /* {n} of them */", self.names.own("waiting")));
        self.w.line("uint32_t waiting_free, waiting_fresh, waiting_count;");
        self.w.line("uint8_t *held; /* as many packets, each of the MTU's bytes */");
        self.w.line(format!("uint32_t held_users[{n}], held_next[{n}];"));
        self.w.line("uint32_t held_free, held_fresh, held_count;");
        self.block_members("ev_", &events.schedule);
    }

    /// In the layout function.
    pub(crate) fn waiting_layout(&mut self) {
        if !self.events_wait() {
            return;
        }
        let waiting = self.names.own("waiting");
        self.w.line(format!(
            "core->waiting = (struct {waiting} *)(void *)carrick_place(base, &at, {MOST_WAITING} * sizeof(struct {waiting}));"
        ));
        self.w
            .line(format!("core->held = carrick_place(base, &at, (uint64_t){MOST_WAITING} * config->mtu);"));
    }

    /// What puts an event into a queue.
    pub(crate) fn wait_function(&mut self) {
        if !self.events_wait() {
            return;
        }
        let waiting = self.names.own("waiting");
        self.w.line("/* An entry for an event, behind the last one of a queue. */");
        self.open_on_core(
            &format!("CARRICK_UNUSED static inline struct {waiting} *"),
            "wait",
            ", uint32_t queue, uint32_t kind, uint32_t held",
        );
        self.w.line("uint32_t at = core->waiting_free ? core->waiting_free : ++core->waiting_fresh;");
        self.w.line(format!("struct {waiting} *w = &core->waiting[at - 1];"));
        self.w.line("if (core->waiting_free)\n    core->waiting_free = w->next;");
        self.w.line("struct carrick_input *in = &core->ev_sched.inputs[queue];");
        self.w.line("if (in->first)\n    core->waiting[in->last - 1].next = at;");
        self.w.line("else\n    in->first = at;");
        self.w.line("in->last = at;");
        self.w.line("w->kind = kind;");
        self.w.line("w->next = 0;");
        self.w.line("w->held = held;");
        self.w.line("core->waiting_count++;");
        self.w.line("carrick_sched_join(&core->ev_sched, queue, 0);");
        self.w.end_with("return w;");
    }

    /// Whether the queue of an event is one for each flow.
    fn waits_per_flow(&self, event: usize) -> bool {
        let Some(events) = &self.p.event_schedule else { return false };
        let place = events.queues[event].and_then(|queue| events.schedule.place(queue));
        place
            .is_some_and(|(block, _)| matches!(events.schedule.blocks[block].inputs, SchedInputs::PerFlow(_)))
    }

    /// C for a new entry of an event; where the context is found by `found`, if it has one.
    fn new_entry(&mut self, event: usize, found: Option<(&str, String)>, kind: usize, held: &str) {
        let queue = self.p.event_schedule.as_ref().and_then(|e| e.queues[event]).unwrap_or(0);
        if self.waits_per_flow(event) {
            let handle = match &found {
                Some((ctx, found)) => {
                    let (ty, own) = (self.names.declared(ctx), self.names.own(ctx));
                    self.w.line(format!("const struct {ty} *flow = {found};"));
                    format!("flow ? {own}_handle(flow) : 0")
                }
                None => "0".into(),
            };
            self.w.line(format!("uint64_t handle = {handle};"));
        }
        let (waiting, wait, queue) =
            (self.names.own("waiting"), self.names.own("wait"), self.event_queue(queue));
        self.w.line(format!("struct {waiting} *w = {wait}(core, {queue}, {kind}, {held});"));
    }

    /// In the function that takes a packet, once its header is checked: a copy of it, which lives as long as its events
    /// wait.
    pub(crate) fn hold_packet(&mut self, octets: &str) {
        if !self.events_wait() {
            return;
        }
        self.w.line(format!("uint32_t total = {octets};"));
        self.w.open("if (total > core->mtu) {");
        self.w.line(format!("(void){}(core, CARRICK_COUNT_IP_LENGTH);", self.names.own("refuse")));
        self.w.line("return CARRICK_DROPPED;");
        self.w.close("}");
        self.w.line("uint32_t held = core->held_free ? core->held_free - 1 : core->held_fresh;");
        self.w.line("octets = memcpy(core->held + (size_t)held * core->mtu, octets, total);");
    }

    /// In the same function, at its end: the events that the parser raised wait.
    pub(crate) fn raised_wait(&mut self) {
        self.w.line("if (core->held_free)\n    core->held_free = core->held_next[held];");
        self.w.line("else\n    core->held_fresh++;");
        self.w.line("core->held_count++;");
        self.w.line("core->held_users[held] = chain->raised_count;");
        self.w.open("for (uint32_t i = 0; i < chain->raised_count; i++) {");
        self.w.open("switch (raised[i].kind) {");
        let events = self.p.events.iter().enumerate();
        for (index, event) in events.filter(|(_, e)| e.kind == EventKind::Net) {
            self.w.open(format!("case {index}: {{"));
            let found = self.context_of(index).map(|ctx| {
                let flow = format!("&raised[i].event.{}_.flow__", event.name);
                (ctx, self.found(index, &flow).unwrap_or_default())
            });
            self.new_entry(index, found, index, "held + 1");
            self.w.line(format!("w->event.{0}_ = raised[i].event.{0}_;", event.name));
            self.w.line("break;");
            self.w.close("}");
        }
        self.w.close_switch();
        self.w.close("}");
        self.w.line("return 0;");
    }

    /// The name of the context of an event's chain.
    fn context_of(&self, event: usize) -> Option<&'p str> {
        let p: &'p ir::Program = self.p;
        let ctx = p.chains[event].as_ref()?.context?;
        Some(&p.contexts[ctx.index()].name)
    }

    /// In the function that takes a request, once its event `e` is there: it waits.
    pub(crate) fn request_waits(&mut self, number: usize, call: &ir::InterfaceCall) {
        let event = call.event.index();
        let found = self.context_of(event).map(|ctx| {
            let own = self.names.own(ctx);
            match call.target {
                CallTarget::At { .. } => (ctx, format!("{own}_find(core, &e.flow__)")),
                _ => (ctx, format!("{own}_by_handle(core, request->handle)")),
            }
        });
        self.new_entry(event, found, self.p.events.len() + number, "0");
        self.w.line("w->on = request->handle;");
        self.w.line(format!("w->event.{}_ = e;", self.p.events[event].name));
    }

    /// What handles events that wait, and timers that are due.
    pub(crate) fn handle_waiting_function(&mut self) {
        let Some(events) = &self.p.event_schedule else { return };
        self.handle_function();
        self.w.line("/* Handles what waits and is due, in the order of the schedule: AGAIN if it finds the blueprint queue full. */");
        self.open_on_core("static int ", "handle_waiting", "");
        self.w.line("CARRICK_UNUSED uint64_t now = core->now;");
        self.w.open("for (;;) {");
        self.w.line("bool due = carrick_wheel_peek(&core->wheel, core->now) != NULL;");
        match events.timers {
            Some(queue) => {
                self.w.line(format!("uint32_t timers = {};", self.event_queue(queue)));
                self.w.open("if (due && !core->ev_sched.inputs[timers].busy) {");
                self.w.line("core->ev_sched.inputs[timers].first = 1;");
                self.w.line("carrick_sched_join(&core->ev_sched, timers, 0);");
                self.w.close("}");
                self.w.line("uint32_t queue = carrick_sched_next(&core->ev_sched, 0);");
            }
            None => {
                self.w.line("uint32_t timers = CARRICK_NO_INPUT - 1;");
                self.w.line("uint32_t queue = due ? timers : carrick_sched_next(&core->ev_sched, 0);");
            }
        }
        self.w.line("if (queue == CARRICK_NO_INPUT)\n    return 0;");
        if let Some(full) = self.queue_full() {
            self.w.line(format!("if ({full})\n    return CARRICK_AGAIN;"));
        }
        self.w.open("if (queue == timers) {");
        self.w.line("struct carrick_timer *t = carrick_wheel_due(&core->wheel, core->now);");
        if events.timers.is_some() {
            self.w.line(
                "core->ev_sched.inputs[timers].first = carrick_wheel_peek(&core->wheel, core->now) != NULL;",
            );
            self.w.line("carrick_sched_sent(&core->ev_sched, timers, t != NULL, 0);");
        }
        self.w.line(format!("if (t)\n    {}(core, t);", self.names.own("fire")));
        self.w.line("continue;");
        self.w.close("}");
        self.take_waiting();
        self.w.close("}");
        self.w.end();
    }

    /// The first entry of `queue` leaves it, its event is handled, and it is free.
    fn take_waiting(&mut self) {
        let waiting = self.names.own("waiting");
        self.w.line("struct carrick_input *in = &core->ev_sched.inputs[queue];");
        self.w.line("uint32_t at = in->first;");
        self.w.line(format!("struct {waiting} *w = &core->waiting[at - 1];"));
        self.w.line("in->first = w->next;");
        self.w.line("if (!w->next)\n    in->last = 0;");
        self.w.line("carrick_sched_sent(&core->ev_sched, queue, 1, 0);");
        self.w.line(format!("{}(core, w);", self.names.own("handle")));
        self.w.open("if (w->held && !--core->held_users[w->held - 1]) {");
        self.w.line("core->held_next[w->held - 1] = core->held_free;");
        self.w.line("core->held_free = w->held;");
        self.w.line("core->held_count--;");
        self.w.close("}");
        self.w.line("w->next = core->waiting_free;");
        self.w.line("core->waiting_free = at;");
        self.w.line("core->waiting_count--;");
    }

    fn handle_function(&mut self) {
        self.w.line("/* An event's time has come. */");
        self.open_on_core("static void ", "handle", &format!(", struct {} *w", self.names.own("waiting")));
        self.w.open("switch (w->kind) {");
        let p: &'p ir::Program = self.p;
        for (index, event) in p.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Net) {
            if p.chains[index].is_none() {
                continue;
            }
            let e = format!("w->event.{}_", event.name);
            self.w.open(format!("case {index}:"));
            self.run_event(index, &e);
            self.w.close_case("break;");
        }
        let calls = p.interface.as_ref().map_or(&[][..], |i| &i.calls);
        for (number, call) in calls.iter().enumerate() {
            self.w.open(format!("case {}: {{ /* {} */", p.events.len() + number, call.name));
            let e = format!("w->event.{}_", p.events[call.event.index()].name);
            self.run_request(call, &e, "w->on");
            self.w.line("break;");
            self.w.close("}");
        }
        self.w.close_switch();
        self.w.end();
    }
}
