// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: running their chains, and what comes in from outside.

use carrick_ir::{
    self as ir, CallTarget, Chain, EventDef, EventKind, FuncId, KeyPart, MOST_WAITING, NetLayer, Ty,
};

use crate::Emitter;
use crate::names::safe;

impl Emitter<'_> {
    pub(crate) fn chains(&mut self) {
        let core = self.core_param();
        self.w.line(format!(
            "CARRICK_UNUSED static void {}({core}, struct {} *raised, uint32_t count);",
            self.names.own("run_raised"),
            self.names.own("raised")
        ));
        self.w.blank();
        for scratchpad in &self.p.scratchpads {
            self.initial(&scratchpad.name, &scratchpad.fields);
        }
        for index in 0..self.p.events.len() {
            if let Some(chain) = &self.p.chains[index] {
                self.lookup_function(index, chain);
                self.run_function(index, chain);
            }
        }
        self.run_events("run_raised", EventKind::Flow);
        self.run_events("run_parsed", EventKind::Net);
    }

    /// C for the context of an event's chain, by the event's flow id.
    pub(crate) fn found(&self, index: usize, flow: &str) -> Option<String> {
        let chain = self.p.chains[index].as_ref()?;
        let ctx = self.names.own(&self.p.contexts[chain.context?.index()].name);
        Some(match chain.fallback.is_empty() {
            true => format!("{ctx}_find(core, {flow})"),
            false => format!("{}_context(core, {flow})", self.names.own(&self.p.events[index].name)),
        })
    }

    /// The second key of a lookup, made of the first.
    pub(crate) fn second_key(&self, chain: &Chain, ctx: ir::CtxId, flow: &str) -> String {
        let id = self.p.contexts[ctx.index()].id;
        let parts = &self.p.ids[id.index()].parts;
        let made = chain.fallback.iter().zip(parts).map(|(made, part)| match made {
            KeyPart::Same(at) => format!(".{} = {flow}{}", safe(&part.name), safe(&parts[*at as usize].name)),
            KeyPart::Const(value) => format!(".{} = {}", safe(&part.name), self.literal(*value, &part.ty)),
        });
        format!("(const struct {}){{{}}}", self.names.id(id), made.collect::<Vec<_>>().join(", "))
    }

    /// Finds the context of a chain that looks twice.
    fn lookup_function(&mut self, index: usize, chain: &Chain) {
        let Some(ctx) = chain.context.filter(|_| !chain.fallback.is_empty()) else { return };
        let (def, core) = (&self.p.contexts[ctx.index()], self.core_param());
        let (ty, find) = (self.names.declared(&def.name), self.names.own(&def.name));
        let (own, id) = (self.names.own(&self.p.events[index].name), self.names.id(def.id));
        let key = self.second_key(chain, ctx, "flow->");
        self.w.open(format!("static struct {ty} *{own}_context({core}, const struct {id} *flow) {{"));
        self.w.line(format!("struct {ty} *c = {find}_find(core, flow);"));
        self.w.line(format!("return c ? c : {find}_find(core, &{key});"));
        self.w.close("}");
        self.w.blank();
    }

    /// The arguments of a processor, by the types of its parameters.
    fn processor_call(&self, func: FuncId, chain: &Chain) -> String {
        let def = &self.p.functions[func.index()];
        let args: String = def.locals[..def.params as usize]
            .iter()
            .map(|l| match &l.ty {
                Ty::Event(_) => ", e".to_owned(),
                Ty::Context(c) if self.p.contexts[c.index()].global => format!(", {}", self.global(*c)),
                Ty::Context(c) if chain.context != Some(*c) => format!(", {}", self.shared(*c)),
                Ty::Context(_) => ", c".to_owned(),
                Ty::Scratch(s) => format!(", &{}", safe(&self.p.scratchpads[s.index()].name)),
                _ => String::new(),
            })
            .collect();
        format!("fn_{}(core, chain{args});", def.name)
    }

    /// The only instance of a global context.
    fn global(&self, ctx: ir::CtxId) -> String {
        format!("core->{}_slots", self.p.contexts[ctx.index()].name)
    }

    /// The local that holds the instance of a shared context.
    fn shared(&self, ctx: ir::CtxId) -> String {
        format!("{}__", self.p.contexts[ctx.index()].name)
    }

    /// Finds what the chain's context shares with other flows; it counts as absent if that is.
    fn find_shared(&mut self, chain: &Chain) {
        let Some(own) = chain.context else { return };
        let own_id = &self.p.ids[self.p.contexts[own.index()].id.index()];
        for shared in &chain.shared {
            let def = &self.p.contexts[shared.context.index()];
            let id = &self.p.ids[def.id.index()];
            let parts: Vec<String> = id
                .parts
                .iter()
                .zip(&shared.parts)
                .map(|(part, of)| {
                    format!(".{} = c->id__.{}", safe(&part.name), safe(&own_id.parts[*of as usize].name))
                })
                .collect();
            let line = format!(
                "struct {} *{} = c ? {}_find(core, &(const struct {}){{{}}}) : NULL;",
                self.names.declared(&def.name),
                self.shared(shared.context),
                self.names.own(&def.name),
                self.names.id(def.id),
                parts.join(", ")
            );
            self.w.line(line);
        }
        if !chain.shared.is_empty() {
            let missing: Vec<String> =
                chain.shared.iter().map(|s| format!("!{}", self.shared(s.context))).collect();
            self.w.line(format!("if ({})", missing.join(" || ")));
            self.w.line("    c = NULL;");
        }
    }

    fn run_function(&mut self, index: usize, chain: &Chain) {
        let event = &self.p.events[index];
        let own = self.names.own(&event.name);
        let context = chain.context.map(|c| &self.p.contexts[c.index()]);
        let context_param =
            context.map_or_else(String::new, |c| format!(", struct {} *c", self.names.declared(&c.name)));
        let core = self.core_param();
        self.w.open(format!(
            "CARRICK_UNUSED static void {own}_run({core}{context_param}, CARRICK_UNUSED struct {} *e) {{",
            self.names.declared(&event.name)
        ));
        self.find_shared(chain);
        let handle =
            context.map_or_else(|| "0".into(), |c| format!("c ? {}_handle(c) : 0", self.names.own(&c.name)));
        if chain.max_raised > 0 {
            self.w.line(format!("struct {} raised[{}];", self.names.own("raised"), chain.max_raised));
        }
        let raised = if chain.max_raised > 0 { "raised" } else { "NULL" };
        let event_number =
            if self.p.claims.is_empty() { String::new() } else { format!(", .event = {}", index + 1) };
        self.w.line(format!(
            "struct {} chain__ = {{.handle = {handle}, .raised = {raised}{event_number}}}, *chain = &chain__;",
            self.names.own("chain")
        ));
        self.traced(&format!("{own}_trace(core, chain->handle, e);"));
        if context.is_some() {
            self.w.open("if (!c) {");
            match &chain.absent {
                Some(absent) => {
                    self.w.line("core->counters[CARRICK_COUNT_EVENTS]++;");
                    self.processors(absent, chain, "absent_done");
                    self.other_invariants(chain, false);
                    self.trace_others(chain, false);
                }
                None => self.no_context(event),
            }
            self.raised_after(chain);
            self.w.line("return;");
            self.w.close("}");
        }
        self.w.line("core->counters[CARRICK_COUNT_EVENTS]++;");
        self.processors(&chain.present, chain, "done");
        if let Some(ctx) = context {
            let ctx_own = self.names.own(&ctx.name);
            self.w.open("if (chain->deleted) {");
            self.w.line(format!("{ctx_own}_remove(core, c);"));
            self.w.close("}");
            self.invariants(chain.context, "c");
        }
        self.other_invariants(chain, true);
        if let Some(ctx) = context {
            let ctx_own = self.names.own(&ctx.name);
            self.traced(&format!("if (!chain->deleted)\n    {ctx_own}_trace(core, chain->handle, c);"));
        }
        self.trace_others(chain, true);
        self.raised_after(chain);
        self.w.end();
    }

    /// The contexts that a chain works on beside its own, and where they are; `all`: also those that it shares.
    fn others(&self, chain: &Chain, all: bool) -> Vec<(ir::CtxId, String)> {
        let shared = chain.shared.iter().filter(|_| all).map(|s| (s.context, self.shared(s.context)));
        shared.chain(chain.globals.iter().map(|ctx| (*ctx, self.global(*ctx)))).collect()
    }

    fn other_invariants(&mut self, chain: &Chain, all: bool) {
        for (ctx, at) in self.others(chain, all) {
            self.invariants(Some(ctx), &at);
        }
    }

    fn trace_others(&mut self, chain: &Chain, all: bool) {
        for (ctx, at) in self.others(chain, all) {
            let own = self.names.own(&self.p.contexts[ctx.index()].name);
            self.traced(&format!("{own}_trace(core, {own}_handle({at}), {at});"));
        }
    }

    /// The invariants of a context of a chain; `c` may be deleted.
    pub(crate) fn invariants(&mut self, ctx: Option<ir::CtxId>, at: &str) {
        let (guard, chain) = ("if (!chain->deleted) ", self.dialect.chain());
        let guard = if at == "c" { guard } else { "" };
        let names: Vec<String> = self
            .p
            .invariants
            .iter()
            .map(|f| &self.p.functions[f.index()])
            .filter(|f| ctx.is_some_and(|ctx| f.locals[0].ty == Ty::Context(ctx)))
            .map(|f| format!("{guard}fn_{}(core{chain}, {at});", f.name))
            .collect();
        if names.is_empty() {
            return;
        }
        self.w.line("#ifdef CARRICK_CLAIMS");
        for call in names {
            self.w.line(call);
        }
        self.w.line("#endif");
    }

    fn no_context(&mut self, event: &EventDef) {
        self.w.line(format!("(void){}(core, CARRICK_COUNT_NO_CONTEXT);", self.names.own("refuse")));
        if event.kind == EventKind::App {
            self.w.line(format!("{}(core, e->token__, CARRICK_CLOSED, 0);", self.names.own("notify")));
        }
    }

    fn raised_after(&mut self, chain: &Chain) {
        if chain.max_raised > 0 {
            self.w.line("if (chain->raised_count)");
            self.w.line(format!("    {}(core, raised, chain->raised_count);", self.names.own("run_raised")));
        }
    }

    fn processors(&mut self, functions: &[FuncId], chain: &Chain, label: &str) {
        for scratch in &chain.scratchpads {
            let used = functions.iter().any(|f| {
                let def = &self.p.functions[f.index()];
                def.locals[..def.params as usize].iter().any(|l| l.ty == Ty::Scratch(*scratch))
            });
            if used {
                let def = &self.p.scratchpads[scratch.index()];
                let (ty, name) = (self.names.declared(&def.name), safe(&def.name));
                self.w.line(format!("struct {ty} {name};"));
                self.w.line(format!("{}_initial(core, &{name});", self.names.own(&def.name)));
            }
        }
        let stoppers = functions.iter().rev().skip(1).any(|f| self.p.functions[f.index()].may_stop);
        for (at, func) in functions.iter().enumerate() {
            let call = self.processor_call(*func, chain);
            self.w.line(call);
            if self.p.functions[func.index()].may_stop && at + 1 < functions.len() {
                self.w.line("if (chain->stopped)");
                self.w.line(format!("    goto {label};"));
            }
        }
        if stoppers {
            self.w.line(format!("{label}:;"));
        }
    }

    /// Runs what was raised, in order: net events by a parser, flow events by a chain.
    fn run_events(&mut self, name: &str, kind: EventKind) {
        let core = self.core_param();
        self.w.open(format!(
            "CARRICK_UNUSED static void {}({core}, CARRICK_UNUSED struct {} *raised, CARRICK_UNUSED uint32_t count) {{",
            self.names.own(name),
            self.names.own("raised")
        ));
        self.w.open("for (uint32_t i = 0; i < count; i++) {");
        self.w.open("switch (raised[i].kind) {");
        for (index, event) in self.p.events.iter().enumerate().filter(|(_, e)| e.kind == kind) {
            if self.p.chains[index].is_none() {
                continue;
            }
            let (own, member) = (self.names.own(&event.name), format!("raised[i].event.{}_", event.name));
            self.w.open(format!("case {index}:"));
            let line = match self.found(index, &format!("&{member}.flow__")) {
                Some(found) => format!("{own}_run(core, {found}, &{member});"),
                None => format!("{own}_run(core, &{member});"),
            };
            self.w.line(line);
            self.w.close_case("break;");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.close("}");
        self.w.end();
    }

    /// `rx`, `call` and `advance`.
    pub(crate) fn inputs(&mut self) {
        self.rx_function();
        self.call_function();
        self.advance_function();
    }

    /// Refuses an input while there is no room for it; `leaving`: also while a packet waits to leave.
    fn begin_input(&mut self, full: Option<String>, leaving: bool) {
        let core = self.names.own("core");
        self.w.line(format!("struct {core} *core = (struct {core} *)opaque;"));
        let refusals = leaving.then(|| "core->store.leaving".to_owned()).into_iter().chain(full);
        let refusals: Vec<String> = refusals.collect();
        if !refusals.is_empty() {
            self.w.line(format!("if ({})", refusals.join(" || ")));
            self.w.line("    return CARRICK_AGAIN;");
        }
    }

    /// Whether an event could find too little room for its blueprints although a packet can go out; nothing for a program
    /// that issues none.
    pub(crate) fn queue_full(&self) -> Option<String> {
        let (queue, most) = (crate::core_struct::QUEUE, self.p.max_blueprints);
        let ready = match self.blocks {
            true => " && carrick_sched_ready(&core->sched, 0, carrick_max64(core->now, now))",
            false => "",
        };
        (most > 0).then(|| format!("{queue} - {} < {most}u{ready}", self.queued()))
    }

    fn rx_function(&mut self) {
        let (refuse, packet) = (self.names.own("refuse"), self.names.own("packet"));
        let in_network = self.p.in_network.is_some();
        let (name, interface) = if in_network { ("rx_on", "uint32_t interface, ") } else { ("rx", "") };
        self.w.open(format!(
            "static int {}(struct carrick_core *opaque, {interface}const uint8_t *octets, uint32_t len, uint64_t now) {{",
            self.names.own(name)
        ));
        let most = self.p.max_parsed.max(1);
        let no_room =
            format!("{MOST_WAITING} - core->waiting_count < {most}u || core->held_count == {MOST_WAITING}");
        let full = if self.events_wait() { Some(no_room) } else { self.queue_full() };
        self.begin_input(full, in_network);
        self.w.line("core->now = carrick_max64(core->now, now);");
        let net_len = if self.crc_over_net() { ", .net_len = (uint32_t)header" } else { "" };
        let (begin, len) = match self.p.net_header.layer {
            NetLayer::Ipv4 => {
                self.check_ip();
                self.hold_packet("(uint32_t)header + ip.payload_len");
                ("octets + header", "ip.payload_len")
            }
            NetLayer::Link => {
                self.w.line("struct carrick_ip ip = {0};");
                self.hold_packet("len");
                ("octets", "len")
            }
        };
        self.w.line("core->counters[CARRICK_COUNT_RX_PACKETS]++;");
        let mut rest = "";
        if self.has_frames() {
            self.w.line(format!("const uint8_t *ends[2] = {{{begin}, {begin} + {len}}};"));
            rest = ", .rest = ends";
        }
        self.w.line(format!(
            "struct {packet} packet = {{.ptr = {begin}, .len = {len}, .ip = &ip{net_len}{rest}}};"
        ));
        if in_network {
            self.w.line("core->looked_at = &packet;");
        }
        self.w.line(format!("struct {} raised[{most}];", self.names.own("raised")));
        self.w.line(format!(
            "struct {} chain__ = {{.raised = raised}}, *chain = &chain__;",
            self.names.own("chain")
        ));
        let parser = &self.p.functions[self.p.parser.index()];
        self.w.line(format!("fn_{}(core, chain, &packet, &ip);", parser.name));
        self.w.open("if (chain->raised_count == 0) {");
        self.w.line("if (!chain->dropped)");
        self.w.line(format!("    (void){refuse}(core, CARRICK_COUNT_UNPARSED);"));
        if !in_network {
            self.w.line("return CARRICK_DROPPED;");
        }
        self.w.close("}");
        if self.events_wait() {
            self.raised_wait();
        } else {
            self.w.line(format!("{}(core, raised, chain->raised_count);", self.names.own("run_parsed")));
            if in_network {
                self.w.line("core->looked_at = NULL;");
                self.w.line("carrick_store_pass(&core->store, core->counters);");
            }
            self.w.line("return 0;");
        }
        self.w.end();
        if in_network {
            self.rx_by_any();
        }
    }

    /// In the rx function: the packet is one that the network layer takes.
    fn check_ip(&mut self) {
        self.w.line("struct carrick_ip ip;");
        let in_network = self.p.in_network.is_some();
        self.w.line(format!(
            "int header = carrick_ip_parse(octets, len, {}, {}, &ip);",
            if in_network { "carrick_ip_destination(octets, len)" } else { "core->address" },
            self.p.net_header.protocol
        ));
        self.look_at();
        self.w.open("if (header < 0) {");
        self.w.line(format!("(void){}(core, (uint32_t)(-1 - header));", self.names.own("refuse")));
        self.w.line("return CARRICK_DROPPED;");
        self.w.close("}");
    }

    fn call_function(&mut self) {
        self.w.open(format!(
            "static int {}(struct carrick_core *opaque, uint32_t call, const struct carrick_request *request, uint64_t now) {{",
            self.names.own("call")
        ));
        let calls = self.p.interface.as_ref().map_or(&[][..], |i| &i.calls);
        if calls.is_empty() {
            self.w.line("(void)opaque, (void)call, (void)request, (void)now;");
            self.w.line("return CARRICK_BAD_ARG;");
            self.w.close("}");
            return self.w.blank();
        }
        let no_room = format!("core->waiting_count == {MOST_WAITING}");
        let full = if self.events_wait() { Some(no_room) } else { self.queue_full() };
        self.begin_input(full, false);
        self.w.line(format!("if (call >= {}u || request->token == 0)", calls.len()));
        self.w.line("    return CARRICK_BAD_ARG;");
        self.w.line("if (core->completions.open == core->completions.capacity)");
        self.w.line("    return CARRICK_AGAIN;");
        self.w.line("core->now = carrick_max64(core->now, now);");
        self.w.line("core->completions.open++;");
        self.w.open("switch (call) {");
        for (index, call) in calls.iter().enumerate() {
            self.w.open(format!("case {index}: {{ /* {} */", call.name));
            self.one_call(index, call);
            self.w.line("break;");
            self.w.close("}");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.end_with("return 0;");
    }

    fn one_call(&mut self, number: usize, call: &ir::InterfaceCall) {
        let event = &self.p.events[call.event.index()];
        self.w.line(format!("struct {} e = {{0}};", self.names.declared(&event.name)));
        self.initial_fields("e", &event.fields);
        self.w.line("e.token__ = request->token;");
        let mut at = 0;
        for field in &event.fields {
            let name = safe(&field.name);
            if field.ty == Ty::Addr {
                self.w.line(format!("e.{name} = request->data;"));
                self.w.line(format!("e.{name}.token = request->token;"));
                self.memory_note(&format!("e.{name}"));
            } else if field.ty.is_scalar() {
                let c = self.names.ctype(&field.ty);
                let conversion = if field.ty == Ty::Bool { " != 0" } else { "" };
                self.w.line(format!("e.{name} = ({c})(request->args[{at}]{conversion});"));
                at += 1;
            }
        }
        let context = self.p.chains[call.event.index()].as_ref().and_then(|chain| chain.context);
        if let (CallTarget::At { id, parts }, Some(_)) = (&call.target, context) {
            let parts: Vec<String> = parts.iter().map(|p| self.call_value(p, event, "e.")).collect();
            let id = self.names.id(*id);
            self.w.line(format!("e.flow__ = (struct {id}){{{}}};", parts.join(", ")));
        }
        match self.events_wait() {
            true => self.request_waits(number, call),
            false => self.run_request(call, "e", "request->handle"),
        }
    }

    /// Handles the event of a request, which is `e`; `handle` is what the request is for.
    pub(crate) fn run_request(&mut self, call: &ir::InterfaceCall, e: &str, handle: &str) {
        let own = self.names.own(&self.p.events[call.event.index()].name);
        let Some(chain) = &self.p.chains[call.event.index()] else {
            return self
                .w
                .line(format!("{}(core, {e}.token__, CARRICK_CLOSED, 0);", self.names.own("notify")));
        };
        let Some(ctx) = chain.context.map(|c| &self.p.contexts[c.index()]) else {
            return self.w.line(format!("{own}_run(core, &{e});"));
        };
        let (ty, ctx_own) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        if matches!(call.target, CallTarget::At { .. }) {
            return self.w.line(format!("{own}_run(core, {ctx_own}_find(core, &{e}.flow__), &{e});"));
        }
        self.w.line(format!("struct {ty} *c = {ctx_own}_by_handle(core, {handle});"));
        self.w.line("if (c)");
        self.w.line(format!("    {e}.flow__ = c->id__;"));
        self.w.line(format!("{own}_run(core, c, &{e});"));
    }

    fn advance_function(&mut self) {
        let core = self.names.own("core");
        self.fire_function();
        self.handle_waiting_function();
        self.w.open(format!(
            "static int {}(struct carrick_core *opaque, uint64_t now) {{",
            self.names.own("advance")
        ));
        self.w.line(format!("struct {core} *core = (struct {core} *)opaque;"));
        self.w.line("core->now = carrick_max64(core->now, now);");
        if self.events_wait() {
            self.w.line(format!("return {}(core);", self.names.own("handle_waiting")));
            self.w.close("}");
            return self.w.blank();
        }
        self.w.open("for (;;) {");
        if let Some(full) = self.queue_full() {
            self.w.open(format!("if ({full}) {{"));
            self.w.line("return carrick_wheel_peek(&core->wheel, core->now) ? CARRICK_AGAIN : 0;");
            self.w.close("}");
        }
        self.w.line("struct carrick_timer *t = carrick_wheel_due(&core->wheel, core->now);");
        self.w.line("if (!t)");
        self.w.line("    return 0;");
        self.w.line(format!("{}(core, t);", self.names.own("fire")));
        self.w.close("}");
        self.w.end();
    }

    /// The event of a timer that was due.
    fn fire_function(&mut self) {
        let core = self.core_param();
        self.w.open(format!(
            "CARRICK_UNUSED static inline void {}({core}, const struct carrick_timer *t) {{",
            self.names.own("fire")
        ));
        self.w.open("switch (t->type << 8 | t->number) {");
        for (index, ctx) in self.p.contexts.iter().enumerate() {
            for (number, timer) in ctx.timers.iter().enumerate() {
                if self.p.chains[timer.event.index()].is_none() {
                    continue;
                }
                self.timer_case(index << 8 | number, ctx, timer);
            }
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.end();
    }

    fn timer_case(&mut self, label: usize, ctx: &ir::ContextDef, timer: &ir::TimerDef) {
        let event = &self.p.events[timer.event.index()];
        let own = self.names.own(&event.name);
        self.w.open(format!("case {label}: {{ /* {}.{} */", ctx.name, timer.name));
        self.w.line(format!("struct {} e = {{0}};", self.names.declared(&event.name)));
        if event.id.is_some() {
            self.w.line(format!("e.flow__ = core->{}_slots[t->slot].id__;", ctx.name));
            self.w.line(format!("{own}_run(core, &core->{}_slots[t->slot], &e);", ctx.name));
        } else {
            self.w.line(format!("{own}_run(core, &e);"));
        }
        self.w.line("break;");
        self.w.close("}");
    }
}
