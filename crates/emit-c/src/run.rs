// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a chain, once its contexts are found: its processors, what is claimed and told of what they leave.

use carrick_ir::{self as ir, Chain, EventDef, EventKind, FuncId, Ty};

use crate::Emitter;
use crate::names::safe;

impl Emitter<'_> {
    /// The run, over `c` and the instances that the chain shares, each of which may be missing.
    pub fn run_body(&mut self, event: &EventDef, chain: &Chain) {
        self.traced(&format!("{}_trace(core, chain->handle, e);", self.names.own(&event.name)));
        if chain.context.is_some() {
            let missing: String =
                chain.shared.iter().map(|s| format!(" || !{}", self.instance(s.context))).collect();
            self.w.open(format!("if (!c{missing}) {{"));
            match &chain.absent {
                Some(absent) => self.processed(absent, chain, false),
                None => self.no_context(event),
            }
            self.w.close("} else {");
            self.w.open_again();
        }
        self.processed(&chain.present, chain, true);
        if chain.context.is_some() {
            self.w.close("}");
        }
    }

    /// The local that holds the instance of a context that is not the chain's own.
    pub fn instance(&self, ctx: ir::CtxId) -> String {
        format!("{}__", self.p.contexts[ctx.index()].name)
    }

    /// C for the handle of what the chain runs on.
    pub fn handle_of_chain(&self, chain: &Chain) -> String {
        let own = chain.context.map(|c| self.names.own(&self.p.contexts[c.index()].name));
        own.map_or_else(|| "0".into(), |own| format!("c ? {own}_handle(c) : 0"))
    }

    /// C that makes the id of a context that the chain shares, of the parts of its own, which is at `id`.
    pub fn shared_id(&self, chain: &Chain, shared: &ir::Shared, id: &str) -> String {
        let def = &self.p.contexts[shared.context.index()];
        let own = chain.context.map(|own| &self.p.ids[self.p.contexts[own.index()].id.index()]);
        let own = own.map_or(&[][..], |own| &own.parts);
        let parts = self.p.ids[def.id.index()].parts.iter().zip(&shared.parts);
        let parts =
            parts.map(|(part, of)| format!(".{} = {id}.{}", safe(&part.name), safe(&own[*of as usize].name)));
        format!("(const struct {}){{{}}}", self.names.id(def.id), parts.collect::<Vec<_>>().join(", "))
    }

    fn processed(&mut self, functions: &[FuncId], chain: &Chain, present: bool) {
        self.w.line("core->counters[CARRICK_COUNT_EVENTS]++;");
        self.processors(functions, chain);
        if let Some(own) = chain.context.filter(|_| present) {
            self.invariants(own, "c");
        }
        let shared = chain.shared.iter().filter(|_| present).map(|s| s.context);
        let others: Vec<ir::CtxId> = shared.chain(chain.globals.iter().copied()).collect();
        for ctx in &others {
            self.invariants(*ctx, &self.instance(*ctx));
        }
        let of = |ctx: ir::CtxId, at: &str| {
            let own = self.names.own(&self.p.contexts[ctx.index()].name);
            format!("{own}_trace(core, {own}_handle({at}), {at});")
        };
        let own = chain.context.filter(|_| present);
        let own = own.map(|own| format!("if (!chain->deleted)\n    {}", of(own, "c")));
        let told: Vec<String> =
            own.into_iter().chain(others.iter().map(|ctx| of(*ctx, &self.instance(*ctx)))).collect();
        if !told.is_empty() {
            self.traced(&told.join("\n"));
        }
    }

    fn processors(&mut self, functions: &[FuncId], chain: &Chain) {
        let takes = |function: &FuncId, ty: &Ty| {
            let def = &self.p.functions[function.index()];
            def.locals[..def.params as usize].iter().any(|local| local.ty == *ty)
        };
        let used = chain.scratchpads.iter().filter(|s| functions.iter().any(|f| takes(f, &Ty::Scratch(**s))));
        for scratch in used {
            let name = &self.p.scratchpads[scratch.index()].name;
            self.w.line(format!(
                "CARRICK_SCRATCH(core, struct {}, scratch_{name});",
                self.names.declared(name)
            ));
            self.w.line(format!("{}_initial(core, scratch_{name});", self.names.own(name)));
        }
        let mut open = 0;
        for (at, func) in functions.iter().enumerate() {
            let call = self.processor_call(*func, chain);
            self.w.line(call);
            if self.p.functions[func.index()].may_stop && at + 1 < functions.len() {
                self.w.open("if (!chain->stopped) {");
                open += 1;
            }
        }
        (0..open).for_each(|_| self.w.close("}"));
    }

    /// The arguments of a processor, by the types of its parameters.
    fn processor_call(&self, func: FuncId, chain: &Chain) -> String {
        let def = &self.p.functions[func.index()];
        let args = def.locals[..def.params as usize].iter().map(|local| match &local.ty {
            Ty::Event(_) => ", e".to_owned(),
            Ty::Context(c) if chain.context == Some(*c) => ", c".to_owned(),
            Ty::Context(c) => format!(", {}", self.instance(*c)),
            Ty::Scratch(s) => format!(", scratch_{}", self.p.scratchpads[s.index()].name),
            _ => String::new(),
        });
        format!("fn_{}(core{}{});", def.name, self.chain_arg(), args.collect::<String>())
    }

    /// The invariants of a context of a chain; `c` may be deleted.
    fn invariants(&mut self, ctx: ir::CtxId, at: &str) {
        let (guard, chain) = ("if (!chain->deleted) ", self.chain_arg());
        let guard = if at == "c" { guard } else { "" };
        let names: Vec<String> = self
            .p
            .invariants
            .iter()
            .map(|f| &self.p.functions[f.index()])
            .filter(|f| f.locals[0].ty == Ty::Context(ctx))
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
}
