// SPDX-License-Identifier: MIT OR Apache-2.0
//! What does not come by a packet: calls of applications, and timers that are due. Each is a request in a frame.

use carrick_ir::{CallTarget, ContextDef, CtxId, EventKind, InterfaceCall, TimerDef, Ty};

use crate::Emitter;
use crate::timers::plus;

impl Emitter<'_> {
    fn calls(&self) -> &[InterfaceCall] {
        self.p.interface.as_ref().map_or(&[][..], |i| &i.calls)
    }

    /// Members of the core: the request, and its event.
    pub(super) fn asked_members(&mut self) {
        self.w.line("struct carrick_host_request request;");
        self.w.line(
            "uint64_t wanted; /* the handle of the instance that the event is for; 0: any with its id */",
        );
        self.w.open("struct {");
        self.event_union(&[EventKind::App, EventKind::Timer]);
        self.w.close("} host_request;");
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
        self.w.line("/* A call of an application. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "call", "");
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line("CARRICK_UNUSED const struct carrick_host_request *request = &core->request;");
        for number in 0..self.calls().len() {
            self.one_call_in_kernel(number);
        }
        self.w.end_with("return 0;");
        self.w.line("/* A timer of which somebody says that it is due. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "fire", "");
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line("CARRICK_UNUSED const struct carrick_host_request *request = &core->request;");
        for (number, ctx) in self.p.contexts.iter().enumerate() {
            for (first, timer) in ctx.timer_rows() {
                self.one_timer(number, ctx, first, timer);
            }
        }
        self.w.end_with("return 0;");
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
            "struct {} *e = &core->host_request.event.{}_;",
            self.names.declared(&event.name),
            event.name
        ));
        self.w.line("CARRICK_ZERO(e);");
        self.event_of_request(&call, "e->");
        let found_by_id = matches!(call.target, CallTarget::At { .. });
        if let Some(ctx) = chain.context.filter(|_| !found_by_id) {
            let def = &self.p.contexts[ctx.index()];
            let (ty, name) = (self.names.declared(&def.name), self.names.own(&def.name));
            self.w.line(format!("struct {ty} *c = {name}_by_handle(core, request->handle);"));
            self.w.line("if (c)\n    e->flow__ = c->id__;");
            self.w.line("core->wanted = request->handle ? request->handle : UINT64_MAX;");
            if def.rx_capacity.is_some() && event.fields.iter().any(|f| f.ty == Ty::Addr) {
                self.w.line("if (request->staged && request->flags & CARRICK_REQUEST_WRITABLE)");
                self.w
                    .line(format!("    (void){name}_rx_ahead(core, c, CARRICK_STAGED_AT(request->staged),"));
                self.w.line("                     carrick_min64(request->data_len, CARRICK_STAGED));");
            }
        }
        self.w.line(format!("core->due = {};", call.event.0 + 1));
        self.w.line("return 0;");
        self.w.close("}");
    }

    fn one_timer(&mut self, number: usize, ctx: &ContextDef, first: usize, timer: &TimerDef) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let label = (number << 8 | first) as u32;
        let count = timer.count();
        let which = self.bounded("which".into(), count);
        let (is, at) = if timer.element.is_some() {
            (format!("request->number - {label}u < {count}u"), plus(first, &which))
        } else {
            (format!("request->number == {label}"), first.to_string())
        };
        self.w.open(format!("if ({is}) {{ /* {}.{} */", ctx.name, timer.base()));
        if timer.element.is_some() {
            self.w.line(format!("uint32_t which = request->number - {label}u;"));
        }
        self.w.line(format!("struct {ty} *c = {name}_by_handle(core, request->handle);"));
        self.w.line(format!(
            "if (!c || c->timers__[{at}].deadline > core->now || !carrick_timer_end(&c->timers__[{at}]))"
        ));
        self.w.line("    return 0;");
        if self.p.chains[timer.event.index()].is_some() {
            let event = &self.p.events[timer.event.index()];
            let e = self.names.declared(&event.name);
            self.w.line(format!("struct {e} *e = &core->host_request.event.{}_;", event.name));
            self.w.line("CARRICK_ZERO(e);");
            self.timer_says(ctx, timer, "e->", &which);
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
