// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains: finding and holding their contexts, running their processors.

use carrick_ir::{self as ir, Chain, EventDef};

use super::raised::Source;
use crate::Emitter;

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
        for source in Source::ALL {
            self.run_from(source);
        }
    }

    fn run_head(&self, index: usize) -> String {
        let event = &self.p.events[index];
        format!(
            "CARRICK_GLOBAL_FN int {}_run(struct {} *core, struct {} *e)",
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
        let handle = self.handle_of_chain(chain);
        self.w.line(format!("chain->handle = {handle};"));
        self.owner_runs(event, chain);
        self.w.open("if (!chain->stopped) {");
        self.one_run(event, chain);
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
            for shared in &chain.shared {
                let def = &self.p.contexts[shared.context.index()];
                let text = format!(
                    "struct {} *{} = {}{}_take(core, &{});",
                    self.names.declared(&def.name),
                    self.instance(shared.context),
                    if shares_kept { "" } else { "!c ? NULL : " },
                    self.names.own(&def.name),
                    self.shared_id(chain, shared, "e->flow__")
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
        self.pointers_are_asked(chain);
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

    /// The compiler forgets how it found the contexts: it would keep which are there as a number, which the verifier does not
    /// connect with the pointers.
    fn pointers_are_asked(&mut self, chain: &Chain) {
        if !self.over_ipv6() || chain.context.is_none() {
            return;
        }
        self.w.line("CARRICK_BARRIER_VAR(c);");
        for shared in &chain.shared {
            let at = self.instance(shared.context);
            self.w.line(format!("CARRICK_BARRIER_VAR({at});"));
        }
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
            self.w.line("CARRICK_BARRIER_VAR(c);");
            self.w.line("if (c && chain->deleted)");
            self.w.line(format!("    {name}_remove(core, c);"));
            if !self.is_kept(own) {
                self.w.line("else if (c)\n    carrick_release(&c->held__);");
            }
        }
    }

    /// The run, with the contexts held.
    fn one_run(&mut self, event: &EventDef, chain: &Chain) {
        let globals: Vec<String> = chain.globals.iter().map(|g| self.instance(*g)).collect();
        if !globals.is_empty() {
            self.w.open(format!("if ({}) {{", globals.join(" && ")));
        }
        self.run_body(event, chain);
        if !globals.is_empty() {
            self.w.close("}");
        }
    }
}
