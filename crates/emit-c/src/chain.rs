// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: running their chains, and what comes in from outside.

use carrick_ir::{self as ir, CallTarget, Chain, EventKind, KeyPart, MOST_WAITING, NetLayer, Ty};

use crate::Emitter;
use crate::names::{leaves, safe};

impl Emitter<'_> {
    pub(crate) fn chains(&mut self) {
        let core = self.core_param();
        let (run, entry) = (self.names.own("run_raised"), self.names.own("raised"));
        let most_raised = self.most_raised();
        let count = if most_raised > 1 { ", uint32_t count" } else { "" };
        self.w.line(format!("CARRICK_UNUSED static void {run}({core}, struct {entry} *raised{count});"));
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
        self.run_events("run_raised", EventKind::Flow, most_raised);
        self.run_events("run_parsed", EventKind::Net, self.p.max_parsed);
    }

    /// How many events a chain raises at most.
    fn most_raised(&self) -> u32 {
        self.p.chains.iter().flatten().map(|chain| chain.max_raised).max().unwrap_or(0)
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
    pub fn second_key(&self, chain: &Chain, ctx: ir::CtxId, flow: &str) -> String {
        let id = self.p.contexts[ctx.index()].id;
        let parts = &self.p.ids[id.index()].parts;
        let made = chain.fallback.iter().zip(parts).map(|(made, part)| match made {
            KeyPart::Same(at) => format!(".{} = {flow}{}", safe(&part.name), safe(&parts[*at as usize].name)),
            // The only constant address is the unspecified one.
            KeyPart::Const(_) if part.ty == self.p.address_ty() && part.ty != Ty::U32 => {
                format!(".{} = {{0}}", safe(&part.name))
            }
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
        self.w.end();
    }

    /// Finds what the chain's context shares with other flows; it counts as absent if that is.
    fn find_shared(&mut self, chain: &Chain) {
        for shared in &chain.shared {
            let def = &self.p.contexts[shared.context.index()];
            self.w.line(format!(
                "struct {} *{} = c ? {}_find(core, &{}) : NULL;",
                self.names.declared(&def.name),
                self.instance(shared.context),
                self.names.own(&def.name),
                self.shared_id(chain, shared, "c->id__")
            ));
        }
        if !chain.shared.is_empty() {
            let missing: Vec<String> =
                chain.shared.iter().map(|s| format!("!{}", self.instance(s.context))).collect();
            self.w.line(format!("if ({})\n    c = NULL;", missing.join(" || ")));
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
        for global in &chain.globals {
            let (name, at) = (&self.p.contexts[global.index()].name, self.instance(*global));
            self.w.line(format!("struct {} *{at} = core->{name}_slots;", self.names.declared(name)));
        }
        let handle = self.handle_of_chain(chain);
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
        self.run_body(event, chain);
        if let Some(ctx) = context {
            let remove = format!("{}_remove(core, c);", self.names.own(&ctx.name));
            self.w.line(format!("if (c && chain->deleted)\n    {remove}"));
            self.chain_leaves_beside(ctx, "c", "else if (c)");
        }
        for shared in &chain.shared {
            let at = self.instance(shared.context);
            self.chain_leaves_beside(&self.p.contexts[shared.context.index()], &at, &format!("if ({at})"));
        }
        if chain.max_raised > 0 {
            let (run, count) = (self.names.own("run_raised"), given_count(self.most_raised()));
            self.w.line(format!("if (chain->raised_count)\n    {run}(core, raised{count});"));
        }
        self.w.end();
    }

    /// Runs what was raised, in order: net events by a parser, flow events by a chain. Where `most` is one it is there.
    fn run_events(&mut self, name: &str, kind: EventKind, most: u32) {
        let count = if most > 1 { ", CARRICK_UNUSED uint32_t count" } else { "" };
        self.open_on_core(
            "CARRICK_UNUSED static void ",
            name,
            &format!(", CARRICK_UNUSED struct {} *raised{count}", self.names.own("raised")),
        );
        let mut it = "raised->";
        if most > 1 {
            self.w.open("for (uint32_t i = 0; i < count; i++) {");
            it = "raised[i].";
        }
        self.w.open(format!("switch ({it}kind) {{"));
        for (index, event) in self.p.events.iter().enumerate().filter(|(_, e)| e.kind == kind) {
            if self.p.chains[index].is_none() {
                continue;
            }
            let member = format!("{it}event.{}_", event.name);
            self.w.open(format!("case {index}:"));
            self.run_event(index, &member);
            self.w.close_case("break;");
        }
        self.w.close_switch();
        if most > 1 {
            self.w.close("}");
        }
        self.w.end();
    }

    /// Runs the chain of an event, which is `e`, on the context that its flow id leads to.
    pub(crate) fn run_event(&mut self, index: usize, e: &str) {
        let own = self.names.own(&self.p.events[index].name);
        let context =
            self.found(index, &format!("&{e}.flow__")).map_or_else(String::new, |c| format!("{c}, "));
        self.w.line(format!("{own}_run(core, {context}&{e});"));
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
            self.w.line(format!("if ({})\n    return CARRICK_AGAIN;", refusals.join(" || ")));
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
        self.report_function();
        let in_network = self.p.in_network.is_some();
        let (name, interface) = if in_network { ("rx_on", "uint32_t interface, ") } else { ("rx", "") };
        self.open_own(
            "static int ",
            name,
            &format!(
                "struct carrick_core *opaque, {interface}const uint8_t *octets, uint32_t len, uint64_t now"
            ),
        );
        let most = self.p.max_parsed.max(1);
        let no_room =
            format!("{MOST_WAITING} - core->waiting_count < {most}u || core->held_count == {MOST_WAITING}");
        let full = if self.events_wait() { Some(no_room) } else { self.queue_full() };
        self.begin_input(full, in_network);
        self.w.line("core->now = carrick_max64(core->now, now);");
        let (begin, len) = match self.p.net_header.layer {
            NetLayer::Ipv4 | NetLayer::Ipv6 => {
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
        self.parse_packet(self.p.parser, begin, len, "");
        if in_network {
            self.rx_by_any();
        }
    }

    /// The rest of a function that takes a packet: a parser reads it, and the events that it raises are handled. `more`
    /// are arguments of the parser.
    pub(crate) fn parse_packet(&mut self, parser: ir::FuncId, begin: &str, len: &str, more: &str) {
        let (refuse, packet) = (self.names.own("refuse"), self.names.own("packet"));
        let in_network = self.p.in_network.is_some();
        let most = self.p.max_parsed.max(1);
        let net_len = if self.crc_over_net() { ", .net_len = (uint32_t)header" } else { "" };
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
        let parser = &self.p.functions[parser.index()];
        self.w.line(format!("fn_{}(core, chain, &packet, &ip{more});", parser.name));
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
            let (run, count) = (self.names.own("run_parsed"), given_count(self.p.max_parsed));
            let raised = if in_network { "if (chain->raised_count)\n    " } else { "" };
            self.w.line(format!("{raised}{run}(core, raised{count});"));
            if in_network {
                self.w.line("core->looked_at = NULL;");
                self.w.line("carrick_store_pass(&core->store, core->counters);");
            }
            self.w.line("return 0;");
        }
        self.w.end();
    }

    /// In the rx function: the packet is one that the network layer takes.
    fn check_ip(&mut self) {
        let ip = self.ip();
        self.w.line(format!("{} ip;", ip.header));
        let in_network = self.p.in_network.is_some();
        self.w.line(format!(
            "int header = {}(octets, len, {}, {}, &ip);",
            ip.parse,
            if in_network { format!("{}(octets, len)", ip.destination) } else { "core->address".into() },
            self.p.net_header.protocol
        ));
        self.look_at();
        self.take_report();
        self.w.open("if (header < 0) {");
        self.w.line(format!("(void){}(core, (uint32_t)(-1 - header));", self.names.own("refuse")));
        self.w.line("return CARRICK_DROPPED;");
        self.w.close("}");
    }

    fn call_function(&mut self) {
        self.open_own(
            "static int ",
            "call",
            "struct carrick_core *opaque, uint32_t call, const struct carrick_request *request, uint64_t now",
        );
        let calls = self.p.interface.as_ref().map_or(&[][..], |i| &i.calls);
        if calls.is_empty() {
            self.w.line("(void)opaque, (void)call, (void)request, (void)now;");
            self.w.line("return CARRICK_BAD_ARG;");
            return self.w.end();
        }
        self.w.line(format!("if (call >= {}u || request->token == 0)", calls.len()));
        self.w.line("    return CARRICK_BAD_ARG;");
        self.no_data_for_nothing();
        let no_room = format!("core->waiting_count == {MOST_WAITING}");
        let full = if self.events_wait() { Some(no_room) } else { self.queue_full() };
        self.begin_input(full, false);
        self.w.line("if (core->completions.open == core->completions.capacity)\n    return CARRICK_AGAIN;");
        self.w.line("core->now = carrick_max64(core->now, now);");
        self.w.line("core->completions.open++;");
        self.w.open("switch (call) {");
        for (index, call) in calls.iter().enumerate() {
            self.w.open(format!("case {index}: {{ /* {} */", call.name));
            self.one_call(index, call);
            self.w.line("break;");
            self.w.close("}");
        }
        self.w.close_switch();
        self.memory_keep();
        self.w.end_with("return 0;");
    }

    /// Refuses memory for calls whose events have no `addr_t`: nobody would ever know of it.
    fn no_data_for_nothing(&mut self) {
        let calls = self.p.interface.as_ref().map_or(&[][..], |i| &i.calls);
        let takes = |call: &ir::InterfaceCall| {
            self.p.events[call.event.index()].fields.iter().any(|field| field.ty == Ty::Addr)
        };
        let without = calls.iter().enumerate().filter(|(_, call)| !takes(call));
        let without: Vec<String> = without.map(|(number, _)| format!("call == {number}u")).collect();
        match without.len() {
            0 => return,
            n if n == calls.len() => self.w.line("if (request->data.ptr)"),
            1 => self.w.line(format!("if (request->data.ptr && {})", without[0])),
            _ => self.w.line(format!("if (request->data.ptr && ({}))", without.join(" || "))),
        }
        self.w.line("    return CARRICK_BAD_ARG;");
    }

    /// Fills in the event of a request, of which everything is zero; its members stand behind `e`.
    pub fn event_of_request(&mut self, call: &ir::InterfaceCall, e: &str) {
        let event = &self.p.events[call.event.index()];
        self.initial_fields(e, &event.fields);
        self.w.line(format!("{e}token__ = request->token;"));
        for field in event.fields.iter().filter(|f| f.ty == Ty::Addr) {
            self.dialect.request_data(self, &format!("{e}{}", safe(&field.name)));
        }
        let given: Vec<_> = event
            .fields
            .iter()
            .filter(|f| f.ty.is_scalar() || f.ty == self.p.address_ty())
            .cloned()
            .collect();
        for (at, (name, ty)) in leaves(self.p, &given).into_iter().enumerate() {
            let c = self.names.ctype(ty);
            let conversion = if *ty == Ty::Bool { " != 0" } else { "" };
            self.w.line(format!("{e}{name} = ({c})(request->args[{at}]{conversion});"));
        }
        let context = self.p.chains[call.event.index()].as_ref().and_then(|chain| chain.context);
        if let (CallTarget::At { id, parts }, Some(_)) = (&call.target, context) {
            for (part, value) in self.p.ids[id.index()].parts.iter().zip(parts) {
                let text = self.call_value(value, event, e);
                self.w.line(format!("{e}flow__.{} = {text};", safe(&part.name)));
            }
        }
    }

    fn one_call(&mut self, number: usize, call: &ir::InterfaceCall) {
        let event = &self.p.events[call.event.index()];
        self.w.line(format!("struct {} e = {{0}};", self.names.declared(&event.name)));
        self.event_of_request(call, "e.");
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
        self.open_own("static int ", "advance", "struct carrick_core *opaque, uint64_t now");
        self.w.line(format!("struct {core} *core = (struct {core} *)opaque;"));
        self.w.line("core->now = carrick_max64(core->now, now);");
        if self.events_wait() {
            self.w.line(format!("return {}(core);", self.names.own("handle_waiting")));
            return self.w.end();
        }
        self.w.open("for (;;) {");
        if let Some(full) = self.queue_full() {
            self.w.open(format!("if ({full}) {{"));
            self.w.line("return carrick_wheel_peek(&core->wheel, core->now) ? CARRICK_AGAIN : 0;");
            self.w.close("}");
        }
        self.w.line("struct carrick_timer *t = carrick_wheel_due(&core->wheel, core->now);");
        self.w.line("if (!t)\n    return 0;");
        self.w.line(format!("{}(core, t);", self.names.own("fire")));
        self.w.close("}");
        self.w.end();
    }

    /// The event of a timer that was due.
    fn fire_function(&mut self) {
        self.open_on_core("CARRICK_UNUSED static inline void ", "fire", ", const struct carrick_timer *t");
        self.w.open("switch (t->type << 8 | t->number) {");
        for (index, ctx) in self.p.contexts.iter().enumerate() {
            for (number, timer) in ctx.timer_rows() {
                if self.p.chains[timer.event.index()].is_some() {
                    self.timer_case(index << 8 | number, ctx, timer);
                }
            }
        }
        self.w.close_switch();
        self.w.end();
    }

    fn timer_case(&mut self, label: usize, ctx: &ir::ContextDef, timer: &ir::TimerDef) {
        let event = &self.p.events[timer.event.index()];
        let own = self.names.own(&event.name);
        let count = timer.count();
        let last = label as u32 + count - 1;
        let to = if count > 1 { format!(" ... {last}") } else { String::new() };
        self.w.open(format!("case {label}{to}: {{ /* {}.{} */", ctx.name, timer.base()));
        self.w.line(format!("struct {} e = {{0}};", self.names.declared(&event.name)));
        if event.id.is_some() || !timer.says.is_empty() {
            let ty = self.names.declared(&ctx.name);
            self.w.line(format!("struct {ty} *c = &core->{}_slots[t->slot];", ctx.name));
        }
        let which = match label & 0xff {
            0 => "t->number".to_owned(),
            first => format!("t->number - {first}"),
        };
        self.timer_says(ctx, timer, "e.", &which);
        if event.id.is_some() {
            self.w.line("e.flow__ = c->id__;");
            self.w.line(format!("{own}_run(core, c, &e);"));
        } else {
            self.w.line(format!("{own}_run(core, &e);"));
        }
        self.w.line("break;");
        self.w.close("}");
    }
}

/// How many events were raised, as an argument; none where at most one is.
fn given_count(most: u32) -> &'static str {
    if most > 1 { ", chain->raised_count" } else { "" }
}
