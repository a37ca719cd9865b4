// SPDX-License-Identifier: MIT OR Apache-2.0
//! What does not come by a packet: calls of applications, and timers that are due. Each is a request in a frame.

use carrick_emit_c::{Emitter, plus};
use carrick_ir::{CallTarget, ContextDef, CtxId, EventKind, InterfaceCall, TimerDef, Ty};

use crate::shared_lock;

fn calls<'p>(e: &Emitter<'p>) -> &'p [InterfaceCall] {
    e.p.interface.as_ref().map_or(&[][..], |i| &i.calls)
}

/// Members of the core: the request, and its event.
pub(crate) fn asked_members(e: &mut Emitter<'_>) {
    e.w.line("struct carrick_host_request request;");
    e.w.line("uint64_t wanted; /* the handle of the instance that the event is for; 0: any with its id */");
    e.w.open("struct {");
    e.event_union(&[EventKind::App, EventKind::Timer]);
    e.w.close("} host_request;");
}

/// In the function of a chain: the instance that it found may not be the one that was meant.
pub(crate) fn only_the_wanted(e: &mut Emitter<'_>, ctx: CtxId, name: &str) {
    e.w.line("uint64_t wanted = core->wanted;");
    e.w.line("core->wanted = 0;");
    e.w.open(format!("if (c && wanted && {name}_handle(c) != wanted) {{"));
    if !shared_lock::is_kept(e, ctx) {
        e.w.line("carrick_release(&c->held__);");
    }
    e.w.line("c = NULL;");
    e.w.close("}");
}

pub(crate) fn asked_functions(e: &mut Emitter<'_>) {
    e.w.line("/* A call of an application. */");
    e.open_on_core("CARRICK_GLOBAL_FN int ", "call", "");
    e.w.line("CARRICK_GIVEN(core);");
    e.w.line("CARRICK_UNUSED const struct carrick_host_request *request = &core->request;");
    for number in 0..calls(e).len() {
        one_call(e, number);
    }
    e.w.end_with("return 0;");
    e.w.line("/* A timer of which somebody says that it is due. */");
    e.open_on_core("CARRICK_GLOBAL_FN int ", "fire", "");
    e.w.line("CARRICK_GIVEN(core);");
    e.w.line("CARRICK_UNUSED const struct carrick_host_request *request = &core->request;");
    for (number, ctx) in e.p.contexts.iter().enumerate() {
        for (first, timer) in ctx.timer_rows() {
            one_timer(e, number, ctx, first, timer);
        }
    }
    e.w.end_with("return 0;");
}

fn one_call(e: &mut Emitter<'_>, number: usize) {
    let call = calls(e)[number].clone();
    let event = &e.p.events[call.event.index()];
    e.w.open(format!("if (request->number == {number}) {{ /* {} */", call.name));
    let Some(chain) = &e.p.chains[call.event.index()] else {
        e.w.line(format!("{}(core, request->token, CARRICK_CLOSED, 0);", e.names.own("notify")));
        return e.w.close("}");
    };
    e.w.line(format!(
        "struct {} *e = &core->host_request.event.{}_;",
        e.names.declared(&event.name),
        event.name
    ));
    e.w.line("CARRICK_ZERO(e);");
    e.event_of_request(&call, "e->");
    let found_by_id = matches!(call.target, CallTarget::At { .. });
    if let Some(ctx) = chain.context.filter(|_| !found_by_id) {
        let def = &e.p.contexts[ctx.index()];
        let (ty, name) = (e.names.declared(&def.name), e.names.own(&def.name));
        e.w.line(format!("struct {ty} *c = {name}_by_handle(core, request->handle);"));
        e.w.line("if (c)\n    e->flow__ = c->id__;");
        e.w.line("core->wanted = request->handle ? request->handle : UINT64_MAX;");
        if def.rx_capacity.is_some() && event.fields.iter().any(|f| f.ty == Ty::Addr) {
            e.w.line("if (request->staged && request->flags & CARRICK_REQUEST_WRITABLE)");
            e.w.line(format!("    (void){name}_rx_ahead(core, c, CARRICK_STAGED_AT(request->staged),"));
            e.w.line("                     carrick_min64(request->data_len, CARRICK_STAGED));");
        }
    }
    e.w.line(format!("core->due = {};", call.event.0 + 1));
    e.w.line("return 0;");
    e.w.close("}");
}

fn one_timer(e: &mut Emitter<'_>, number: usize, ctx: &ContextDef, first: usize, timer: &TimerDef) {
    let (ty, name) = (e.names.declared(&ctx.name), e.names.own(&ctx.name));
    let label = (number << 8 | first) as u32;
    let count = timer.count();
    let which = e.bounded("which".into(), count);
    let (is, at) = if timer.element.is_some() {
        (format!("request->number - {label}u < {count}u"), plus(first, &which))
    } else {
        (format!("request->number == {label}"), first.to_string())
    };
    e.w.open(format!("if ({is}) {{ /* {}.{} */", ctx.name, timer.base()));
    if timer.element.is_some() {
        e.w.line(format!("uint32_t which = request->number - {label}u;"));
    }
    e.w.line(format!("struct {ty} *c = {name}_by_handle(core, request->handle);"));
    e.w.line(format!(
        "if (!c || c->timers__[{at}].deadline > core->now || !carrick_timer_end(&c->timers__[{at}]))"
    ));
    e.w.line("    return 0;");
    if e.p.chains[timer.event.index()].is_some() {
        let event = &e.p.events[timer.event.index()];
        let ty = e.names.declared(&event.name);
        e.w.line(format!("struct {ty} *e = &core->host_request.event.{}_;", event.name));
        e.w.line("CARRICK_ZERO(e);");
        e.timer_says(ctx, timer, "e->", &which);
        if event.id.is_some() {
            e.w.line("e->flow__ = c->id__;");
            e.w.line("core->wanted = request->handle;");
        }
        e.w.line(format!("core->due = {};", timer.event.0 + 1));
    }
    e.w.line("return 0;");
    e.w.close("}");
}
