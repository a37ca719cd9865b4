// SPDX-License-Identifier: MIT OR Apache-2.0
//! What does not come by a packet: calls of applications, and timers that are due. Each is a request in a frame.

use carrick_ir::{CallTarget, ContextDef, CtxId, EventKind, InterfaceCall, Ty};

use crate::Emitter;
use crate::names::safe;

impl Emitter<'_> {
    fn calls(&self) -> &[InterfaceCall] {
        self.p.interface.as_ref().map_or(&[][..], |i| &i.calls)
    }

    /// Members of the core: the request, and its event.
    pub(super) fn asked_members(&mut self) {
        self.w.line("struct carrick_asked request;");
        self.w.line(
            "uint64_t wanted; /* the handle of the instance that the event is for; 0: any with its id */",
        );
        self.w.open("struct {");
        self.event_union(&[EventKind::App, EventKind::Timer]);
        self.w.close("} asked;");
    }

    /// In the function of a chain: the instance that it found may not be the one that was meant.
    pub(super) fn only_the_wanted(&mut self, ctx: CtxId, name: &str) {
        self.w.line("uint64_t wanted = core->wanted;");
        self.w.line("core->wanted = 0;");
        self.w.open(format!("if (c && wanted && {name}_handle(c) != wanted) {{"));
        if !self.is_kept(ctx) {
            self.w.line("carrick_release(&c->held__);");
        }
        self.w.line("c = NULL;");
        self.w.close("}");
    }

    pub(super) fn asked_functions(&mut self) {
        for (number, ctx) in self.p.contexts.iter().enumerate() {
            self.by_handle(ctx, number);
        }
        let core = self.names.own("core");
        self.w.line("/* A call of an application. */");
        self.w.open(format!("CARRICK_APART int {}(struct {core} *core) {{", self.names.own("call")));
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line("CARRICK_UNUSED const struct carrick_asked *request = &core->request;");
        for number in 0..self.calls().len() {
            self.one_call_in_kernel(number);
        }
        self.w.end_with("return 0;");
        self.w.line("/* A timer of which somebody says that it is due. */");
        self.w.open(format!("CARRICK_APART int {}(struct {core} *core) {{", self.names.own("fire")));
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line("CARRICK_UNUSED const struct carrick_asked *request = &core->request;");
        for (number, ctx) in self.p.contexts.iter().enumerate() {
            for at in 0..ctx.timers.len() {
                self.one_timer(number, ctx, at);
            }
        }
        self.w.end_with("return 0;");
    }

    /// The instance with a handle, not held; NULL if it is gone.
    fn by_handle(&mut self, ctx: &ContextDef, number: usize) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        self.w.open(format!("CARRICK_INLINE struct {ty} *{name}_by_handle(uint64_t handle) {{"));
        self.w.line("uint32_t slot = (uint32_t)handle;");
        self.w.line(format!("struct {ty} *c = bpf_map_lookup_elem(&slots_{number}, &slot);"));
        self.w.end_with(format!("return c && c->live__ && {name}_handle(c) == handle ? c : NULL;"));
    }

    fn one_call_in_kernel(&mut self, number: usize) {
        let call = self.calls()[number].clone();
        let event = &self.p.events[call.event.index()];
        self.w.open(format!("if (request->number == {number}) {{ /* {} */", call.name));
        let Some(chain) = &self.p.chains[call.event.index()] else {
            self.w.line(format!("{}(core, request->token, CARRICK_CLOSED, 0);", self.names.own("notify")));
            return self.w.close("}");
        };
        self.w.line(format!(
            "struct {} *e = &core->asked.event.{}_;",
            self.names.declared(&event.name),
            event.name
        ));
        self.w.line("CARRICK_ZERO(e);");
        self.initial_fields("(*e)", &event.fields);
        self.w.line("e->token__ = request->token;");
        for field in event.fields.iter().filter(|f| f.ty == Ty::Addr) {
            self.w.open("if (request->staged) {");
            let name = safe(&field.name);
            self.w.line(format!("e->{name}.ptr = CARRICK_TO_ADDR(CARRICK_STAGED_AT(request->staged));"));
            self.w.line(format!("e->{name}.len = carrick_min64(request->data_len, CARRICK_STAGED);"));
            self.w.line(format!("e->{name}.token = request->token;"));
            if self.has_any_units() {
                self.w.line("carrick_opened(request->token);");
            }
            self.w.close("}");
        }
        for (at, field) in event.fields.iter().filter(|f| f.ty.is_scalar()).enumerate() {
            let (name, c) = (safe(&field.name), self.names.ctype(&field.ty));
            let conversion = if field.ty == Ty::Bool { " != 0" } else { "" };
            self.w.line(format!("e->{name} = ({c})(request->args[{at}]{conversion});"));
        }
        match (&call.target, chain.context) {
            (CallTarget::At { id, parts }, Some(_)) => {
                let id = &self.p.ids[id.index()];
                for (part, value) in id.parts.iter().zip(parts) {
                    let text = self.call_value(value, event, "e->");
                    self.w.line(format!("e->flow__.{} = {text};", safe(&part.name)));
                }
            }
            (_, Some(ctx)) => {
                let def = &self.p.contexts[ctx.index()];
                let (ty, name) = (self.names.declared(&def.name), self.names.own(&def.name));
                self.w.line(format!("struct {ty} *c = {name}_by_handle(request->handle);"));
                self.w.line("if (c)\n    e->flow__ = c->id__;");
                self.w.line("core->wanted = request->handle ? request->handle : UINT64_MAX;");
            }
            (_, None) => {}
        }
        self.w.line(format!("core->due = {};", call.event.0 + 1));
        self.w.line("return 0;");
        self.w.close("}");
    }

    fn one_timer(&mut self, number: usize, ctx: &ContextDef, at: usize) {
        let timer = &ctx.timers[at];
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        self.w.open(format!(
            "if (request->number == {}) {{ /* {}.{} */",
            number << 8 | at,
            ctx.name,
            timer.name
        ));
        self.w.line(format!("struct {ty} *c = {name}_by_handle(request->handle);"));
        self.w.line(format!(
            "if (!c || c->timers__[{at}].deadline > core->now || !carrick_timer_end(&c->timers__[{at}]))"
        ));
        self.w.line("    return 0;");
        if self.p.chains[timer.event.index()].is_some() {
            let event = &self.p.events[timer.event.index()];
            let e = self.names.declared(&event.name);
            self.w.line(format!("struct {e} *e = &core->asked.event.{}_;", event.name));
            self.w.line("CARRICK_ZERO(e);");
            if event.id.is_some() {
                self.w.line("e->flow__ = c->id__;");
                self.w.line("core->wanted = request->handle;");
            }
            self.w.line(format!("core->due = {};", timer.event.0 + 1));
        }
        self.w.line("return 0;");
        self.w.close("}");
    }
}
