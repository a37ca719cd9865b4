// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains: finding and holding their contexts, running their processors.

use carrick_ir::{self as ir, Chain, EventDef, EventKind, FuncId, Ty};

use crate::Emitter;
use crate::names::safe;

impl Emitter<'_> {
    /// A function for each event; those whose events others raise come before them.
    pub(super) fn run_functions(&mut self) {
        for index in 0..self.p.events.len() {
            self.run_declaration(index);
        }
        self.w.blank();
        for index in 0..self.p.events.len() {
            if let Some(chain) = &self.p.chains[index] {
                self.run_in_kernel(index, chain);
            }
        }
        self.run_raised();
    }

    fn run_head(&self, index: usize) -> String {
        let event = &self.p.events[index];
        format!(
            "CARRICK_APART int {}_run(struct {} *core, struct {} *e)",
            self.names.own(&event.name),
            self.names.own("core"),
            self.names.declared(&event.name)
        )
    }

    fn run_declaration(&mut self, index: usize) {
        if self.p.chains[index].is_some() {
            let head = self.run_head(index);
            self.w.line(format!("{head};"));
        }
    }

    /// Where a chain finds a context that it takes.
    fn instance(&self, ctx: ir::CtxId) -> String {
        format!("{}__", self.p.contexts[ctx.index()].name)
    }

    fn run_in_kernel(&mut self, index: usize, chain: &Chain) {
        let event = &self.p.events[index];
        let head = self.run_head(index);
        self.w.open(format!("{head} {{"));
        self.w.line("CARRICK_GIVEN(core && e);");
        self.w.line(format!("struct {} *chain = &core->chain;", self.names.own("chain")));
        self.w.line("chain->stopped = chain->deleted = false;");
        self.w.line("chain->raised_count = 0;");
        if !self.p.claims.is_empty() {
            self.w.line(format!("chain->event = {};", index + 1));
        }
        let taken = self.take_contexts(chain);
        let handle = chain.context.map_or_else(
            || "0".into(),
            |c| format!("c ? {}_handle(c) : 0", self.names.own(&self.p.contexts[c.index()].name)),
        );
        self.w.line(format!("chain->handle = {handle};"));
        self.owner_runs(event, chain);
        self.w.open("if (!chain->stopped) {");
        self.one_run(index, event, chain);
        self.w.close("}");
        self.release_contexts(chain, &taken);
        self.w.end_with("return 0;");
    }

    /// Takes the chain's contexts in the one order that there is: what is kept, its own, those that it shares, the global
    /// ones. It counts as stopped if one is held too long.
    fn take_contexts(&mut self, chain: &Chain) -> Vec<ir::CtxId> {
        let mut taken = Vec::new();
        if let Some(own) = chain.context {
            let (ty, name) = (self.names.context(own), self.names.own(&self.p.contexts[own.index()].name));
            let shares_kept = self.shares_kept(chain);
            let first = match chain.shared.first() {
                Some(kept) if shares_kept => format!("!{} ? NULL : ", self.instance(kept.context)),
                _ => String::new(),
            };
            let take = format!("struct {ty} *c = {first}{name}_take(core, &e->flow__);");
            if !shares_kept {
                self.w.line(&take);
                if !chain.fallback.is_empty() {
                    let key = self.second_key(chain, own, "e->flow__.");
                    self.w.line(format!("if (!c)\n    c = {name}_take(core, &{key});"));
                }
                self.only_the_wanted(own, &name);
            }
            let own_id = &self.p.ids[self.p.contexts[own.index()].id.index()];
            for shared in &chain.shared {
                let def = &self.p.contexts[shared.context.index()];
                let id = &self.p.ids[def.id.index()];
                let parts = id.parts.iter().zip(&shared.parts).map(|(part, of)| {
                    format!(".{} = e->flow__.{}", safe(&part.name), safe(&own_id.parts[*of as usize].name))
                });
                let parts: Vec<String> = parts.collect();
                let text = format!(
                    "struct {} *{} = {}{}_take(core, &(const struct {}){{{}}});",
                    self.names.declared(&def.name),
                    self.instance(shared.context),
                    if shares_kept { "" } else { "!c ? NULL : " },
                    self.names.own(&def.name),
                    self.names.id(def.id),
                    parts.join(", ")
                );
                self.w.line(text);
                if !shares_kept {
                    taken.push(shared.context);
                }
            }
            if shares_kept {
                self.w.line(&take);
                self.only_the_wanted(own, &name);
            }
            for shared in chain.shared.iter().filter(|_| !shares_kept) {
                self.w.line("/* Without what it shares it is not there either. */");
                self.w.open(format!("if (c && !{}) {{", self.instance(shared.context)));
                self.w.line("carrick_release(&c->held__);");
                self.w.line("c = NULL;");
                self.w.close("}");
            }
        }
        for global in &chain.globals {
            let def = &self.p.contexts[global.index()];
            let (ty, at) = (self.names.declared(&def.name), self.instance(*global));
            let id = self.names.id(def.id);
            let name = self.names.own(&def.name);
            self.w.line(format!("struct {ty} *{at} = {name}_take(core, (const struct {id} *)NULL);"));
            taken.push(*global);
        }
        taken
    }

    fn release_contexts(&mut self, chain: &Chain, taken: &[ir::CtxId]) {
        for ctx in taken.iter().rev() {
            let at = self.instance(*ctx);
            self.w.line(format!("if ({at})"));
            self.w.line(format!("    carrick_release(&{at}->held__);"));
        }
        if let Some(own) = chain.context {
            let name = self.names.own(&self.p.contexts[own.index()].name);
            // Else the compiler keeps what it found of it long ago, which the verifier does not connect with the pointer.
            self.w.line("CARRICK_OPAQUE(c);");
            self.w.line("if (c && chain->deleted)");
            self.w.line(format!("    {name}_remove(core, c);"));
            if !self.is_kept(own) {
                self.w.line("else if (c)");
                self.w.line("    carrick_release(&c->held__);");
            }
        }
    }

    /// The processors, with the contexts held.
    fn one_run(&mut self, index: usize, event: &EventDef, chain: &Chain) {
        self.traced(&format!("{}_trace(core, chain->handle, e);", self.names.own(&event.name)));
        let globals: Vec<String> = chain.globals.iter().map(|g| self.instance(*g)).collect();
        if !globals.is_empty() {
            self.w.open(format!("if ({}) {{", globals.join(" && ")));
        }
        if chain.context.is_some() {
            let missing: String =
                chain.shared.iter().map(|s| format!(" || !{}", self.instance(s.context))).collect();
            self.w.open(format!("if (!c{missing}) {{"));
            match &chain.absent {
                Some(absent) => {
                    self.w.line("core->counters[CARRICK_COUNT_EVENTS]++;");
                    self.processors_in_kernel(absent, chain);
                    self.claims_of_instances(chain, false);
                    self.trace_instances(chain, false);
                }
                None => self.no_instance(index, event),
            }
            self.w.close("} else {");
            self.w.open_again();
        }
        self.w.line("core->counters[CARRICK_COUNT_EVENTS]++;");
        self.processors_in_kernel(&chain.present, chain);
        self.claims_of_instances(chain, true);
        self.trace_instances(chain, true);
        if chain.context.is_some() {
            self.w.close("}");
        }
        if !globals.is_empty() {
            self.w.close("}");
        }
    }

    fn no_instance(&mut self, _index: usize, event: &EventDef) {
        self.w.line(format!("(void){}(core, CARRICK_COUNT_NO_CONTEXT);", self.names.own("refuse")));
        if event.kind == EventKind::App {
            self.w.line(format!("{}(core, e->token__, CARRICK_CLOSED, 0);", self.names.own("notify")));
        }
    }

    fn processors_in_kernel(&mut self, functions: &[FuncId], chain: &Chain) {
        for scratch in &chain.scratchpads {
            let def = &self.p.scratchpads[scratch.index()];
            let line = format!("{}_initial(core, &core->scratch_{});", self.names.own(&def.name), def.name);
            self.w.line(line);
        }
        let mut open = 0;
        for (at, func) in functions.iter().enumerate() {
            let call = self.call_in_kernel(*func, chain);
            self.w.line(call);
            if self.p.functions[func.index()].may_stop && at + 1 < functions.len() {
                self.w.open("if (!chain->stopped) {");
                open += 1;
            }
        }
        (0..open).for_each(|_| self.w.close("}"));
    }

    fn call_in_kernel(&self, func: FuncId, chain: &Chain) -> String {
        let def = &self.p.functions[func.index()];
        let args = def.locals[..def.params as usize].iter().map(|l| match &l.ty {
            Ty::Event(_) => ", e".to_owned(),
            Ty::Context(c) if chain.context == Some(*c) => ", c".to_owned(),
            Ty::Context(c) => format!(", {}", self.instance(*c)),
            Ty::Scratch(s) => format!(", &core->scratch_{}", self.p.scratchpads[s.index()].name),
            _ => String::new(),
        });
        format!("(void)fn_{}(core{});", def.name, args.collect::<String>())
    }

    /// The invariants of what a chain worked on; `present`: also of its own context and those that it shares.
    fn claims_of_instances(&mut self, chain: &Chain, present: bool) {
        if present {
            self.invariants(chain.context, "c");
            for shared in &chain.shared {
                self.invariants(Some(shared.context), &self.instance(shared.context));
            }
        }
        for global in &chain.globals {
            self.invariants(Some(*global), &self.instance(*global));
        }
    }

    /// Tells the states that the chain leaves; `present`: also of its own context and those that it shares.
    fn trace_instances(&mut self, chain: &Chain, present: bool) {
        let of = |ctx: ir::CtxId, at: String| {
            let own = self.names.own(&self.p.contexts[ctx.index()].name);
            format!("{own}_trace(core, {own}_handle({at}), {at});")
        };
        let mut lines = Vec::new();
        if let Some(own) = chain.context.filter(|_| present) {
            lines.push(format!("if (!chain->deleted)\n    {}", of(own, "c".into())));
            lines.extend(chain.shared.iter().map(|s| of(s.context, self.instance(s.context))));
        }
        lines.extend(chain.globals.iter().map(|g| of(*g, self.instance(*g))));
        if lines.is_empty() {
            return;
        }
        self.traced(&lines.join("\n"));
    }
}
