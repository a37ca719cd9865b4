// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each processor has, the maps, and contexts.

use carrick_emit_c::{Emitter, QUEUE};
use carrick_ir::{ContextDef, CtxId, IdId, uses};

use crate::{
    framed, frames, host_request, keys, middlebox, owners, queue, raised, reading, shared_lock, units,
    writing,
};

/// How many next hops are known at once.
const NEXT_HOPS: u32 = 4096;

pub(crate) fn structs(e: &mut Emitter<'_>) {
    e.structs();
    units::memory_structs(e);
    frames::frame_structs(e);
    core_of_processor(e);
}

fn core_of_processor(e: &mut Emitter<'_>) {
    e.w.line("/* What each processor has of its own. */");
    e.w.open(format!("struct {} {{", e.names.own("core")));
    e.w.line("CARRICK_HEAD;");
    e.w.line(format!("struct {} params;", e.names.own("params")));
    e.w.line("uint64_t now, sum; /* sum: of all bytes behind the network header */");
    e.w.line(format!("{} ip;", e.ip().header));
    e.w.line("uint64_t zero; /* always; the verifier does not know it */");
    e.w.line("struct carrick_timers_begun timers;");
    report_members(e);
    e.w.line("bool told;     /* what the verifier forgets */");
    e.w.line("uint32_t room; /* bytes of the frame that is there */");
    e.w.line(format!("{} back; /* the address of whoever sent it; 0: nobody did */", e.ip().address));
    e.w.line("struct carrick_copy copy;");
    e.w.line("struct carrick_ahead ahead;");
    e.w.line("struct carrick_open_key open;");
    e.w.line(
        "uint32_t frame_len, begin; /* bytes of the frame that came, and where what follows its network header begins */",
    );
    e.w.line(format!("struct {} payload; /* of the packet that is made */", e.names.own("payload")));
    e.w.line(format!("struct {} packet;", e.names.own("packet")));
    if e.makes_frames() {
        e.put_members();
    }
    e.w.line("uint8_t in[CARRICK_SEEN + CARRICK_OPTION_MAX];");
    e.w.line("uint8_t out[CARRICK_BEGIN + CARRICK_HEADER_MAX + CARRICK_OPTION_MAX];");
    e.w.line("uint32_t at; /* of in or out: the next option, or the next field */");
    if reading::looks_further(e) {
        e.w.line("uint32_t looked; /* what follows the network header is in `in` from here on */");
    }
    e.w.line(format!("struct {} chain;", e.names.own("chain")));
    middlebox::between_members(e);
    raised::raised_members(e);
    shared_lock::kept_member(e);
    keys::key_member(e);
    for scratchpad in &e.p.scratchpads {
        e.w.line(format!("struct {} scratch_{};", e.names.declared(&scratchpad.name), scratchpad.name));
    }
    host_request::asked_members(e);
    owners::owner_of_chain(e);
    queue::entry_members(e);
    e.w.line("struct carrick_report report;");
    e.w.end_type();
}

/// What is reported.
fn report_members(e: &mut Emitter<'_>) {
    if e.p.report_parser.is_some() {
        e.w.line(format!("{} quoted;", e.ip().quoted));
        e.w.line("bool reported; /* what came is a report */");
    }
}

pub(crate) fn maps(e: &mut Emitter<'_>) {
    let core = format!("struct {}", e.names.own("core"));
    writing::map(e, "carrick_cores", "PERCPU_ARRAY", 1, Some(("uint32_t", &core)));
    writing::map(e, "carrick_shared", "ARRAY", 1, Some(("uint32_t", "struct carrick_shared")));
    let entry = format!("struct {}", e.names.own("entry"));
    writing::map(e, "carrick_queue", "ARRAY", u64::from(QUEUE), Some(("uint32_t", &entry)));
    writing::map(e, "carrick_reports", "RINGBUF", 1 << 20, None);
    writing::map(
        e,
        "carrick_next_hops",
        "LRU_HASH",
        u64::from(NEXT_HOPS),
        Some((e.ip().address, "struct carrick_next_hop")),
    );
    for (number, ctx) in e.p.contexts.iter().enumerate() {
        let capacity = writing::capacity(e, ctx);
        let ty = format!("struct {}", e.names.declared(&ctx.name));
        writing::map(e, &format!("slots_{number}"), "ARRAY", capacity, Some(("uint32_t", &ty)));
        if !ctx.global {
            let id = format!("struct {}", e.names.id(ctx.id));
            // While an instance gets another id, both are there.
            let ids = capacity + 64;
            writing::map(e, &format!("index_{number}"), "HASH", ids, Some((&id, "uint32_t")));
            writing::map(e, &format!("free_{number}"), "STACK", capacity, None);
            if e.retires(ctx) {
                let list = Some(("uint32_t", "struct carrick_retired"));
                writing::map(e, &format!("retired_{number}"), "ARRAY", 1, list);
            }
        }
    }
    units::memory_maps(e);
    framed::put_maps(e);
    raised::raised_map(e);
    frames::frames_map(e);
}

pub(crate) fn context_functions(e: &mut Emitter<'_>) {
    for id in 0..e.p.ids.len() {
        e.id_equality(IdId(id as u32));
    }
    e.telling_functions();
    e.notify_instruction();
    for def in &e.p.structs {
        e.initial(&def.name, &def.fields);
    }
    for def in &e.p.scratchpads {
        e.initial(&def.name, &def.fields);
    }
    for (number, ctx) in e.p.contexts.iter().enumerate() {
        e.initial(&ctx.name, &ctx.fields);
        if shared_lock::is_kept(e, CtxId(number as u32)) {
            shared_lock::kept_function(e);
        }
        e.handle_functions(ctx, number);
        find_in_map(e, ctx, number);
        if !ctx.global {
            slots_in_maps(e, ctx, number);
            e.instance_instructions(ctx, number);
            remove_from_map(e, ctx, number);
            e.reclaim_function(ctx, number);
        }
        if uses_timers(e) {
            e.timer_instructions(ctx);
        }
        units::unit_functions(e, ctx, number);
    }
}

fn found_not_held(e: &mut Emitter<'_>, ctx: &ContextDef, number: usize) {
    let (ty, name) = (e.names.declared(&ctx.name), e.names.own(&ctx.name));
    let (id, equal) = (e.names.id(ctx.id), e.names.own(&e.p.ids[ctx.id.index()].name));
    let core = e.core_param();
    e.w.line("/* The instance with this id, held by whoever holds it; NULL if there is none. */");
    e.w.open(format!("CARRICK_INLINE struct {ty} *{name}_find({core}, const struct {id} *id) {{"));
    let key = keys::key(e, ctx);
    e.w.line(format!("uint32_t *slot = bpf_map_lookup_elem(&index_{number}, {key});"));
    e.w.line("uint32_t at = slot ? *slot : 0;");
    e.w.line(format!("struct {ty} *c = slot ? bpf_map_lookup_elem(&slots_{number}, &at) : NULL;"));
    e.w.end_with(format!("return c && c->live__ == 1 && {equal}_equal(&c->id__, id) ? c : NULL;"));
}

fn find_in_map(e: &mut Emitter<'_>, ctx: &ContextDef, number: usize) {
    let (ty, name) = (e.names.declared(&ctx.name), e.names.own(&ctx.name));
    let id = e.names.id(ctx.id);
    if !ctx.global {
        found_not_held(e, ctx, number);
    }
    e.w.line("/* The instance with this id, held by this processor; NULL if there is none, or if another one holds it too long. */");
    e.w.open(format!(
        "CARRICK_INLINE struct {ty} *{name}_take(struct {} *core, CARRICK_UNUSED const struct {id} *id) {{",
        e.names.own("core")
    ));
    if ctx.global {
        e.w.line("uint32_t at = 0;");
    } else {
        let key = keys::key(e, ctx);
        e.w.line(format!("uint32_t *slot = bpf_map_lookup_elem(&index_{number}, {key});"));
        e.w.line("if (!slot)\n    return NULL;");
        e.w.line("uint32_t at = *slot;");
    }
    e.w.line(format!("struct {ty} *c = bpf_map_lookup_elem(&slots_{number}, &at);"));
    e.w.line("if (!c)\n    return NULL;");
    let kept = shared_lock::is_kept(e, CtxId(number as u32));
    if kept {
        e.w.line("if (core->kept && core->kept != at + 1)\n    carrick_let_go(core);");
    }
    e.w.open(format!("if ({}!carrick_hold(&c->held__)) {{", if kept { "!core->kept && " } else { "" }));
    e.w.line("core->busy++;");
    e.w.line("core->chain.stopped = true;");
    e.w.line("return NULL;");
    e.w.close("}");
    if kept {
        e.w.line("core->kept = at + 1;");
    }
    if !ctx.global {
        let equal = e.names.own(&e.p.ids[ctx.id.index()].name);
        e.w.line("/* It may have gone, or be another one, since it was found. */");
        e.w.open(format!("if (c->live__ != 1 || !{equal}_equal(&c->id__, id)) {{"));
        if !kept {
            e.w.line("carrick_release(&c->held__);");
        }
        e.w.line("return NULL;");
        e.w.close("}");
    }
    if ctx.global {
        e.w.line("/* It is there from the start on. */");
        e.w.open("if (!c->live__) {");
        e.initial_fields("c->", &ctx.fields);
        e.w.line("c->generation__ = c->live__ = 1;");
        e.w.close("}");
    }
    e.w.end_with("return c;");
}

/// What the instructions on instances stand on: a stack of slots, and a map from ids to them.
fn slots_in_maps(e: &mut Emitter<'_>, ctx: &ContextDef, number: usize) {
    let (ty, name, id) = (e.names.declared(&ctx.name), e.names.own(&ctx.name), e.names.id(ctx.id));
    let core = e.core_param();
    e.w.line("/* A slot that no instance has; NULL if there is none. */");
    e.w.open(format!("CARRICK_INLINE struct {ty} *{name}_vacant({core}) {{"));
    e.w.line("uint32_t slot = 0;");
    e.w.line(format!("bool room = bpf_map_pop_elem(&free_{number}, &slot) == 0;"));
    e.w.line(format!("struct {ty} *c = room ? bpf_map_lookup_elem(&slots_{number}, &slot) : NULL;"));
    e.w.line("if (c)\n    c->slot__ = slot;");
    e.w.line("if (c && !c->generation__)\n    c->generation__ = 1;");
    e.w.end_with("return c;");
    e.w.line("/* What the program does not see of a new instance. */");
    e.w.open(format!("CARRICK_INLINE void {name}_begins({core}, CARRICK_UNUSED struct {ty} *c) {{"));
    owners::owner_is(e, "c->owner__", "core->chain.owner");
    e.each_timer(ctx, &|at| vec![format!("CARRICK_TIMER_STOP(core, &c->timers__[{at}]);")]);
    e.w.end();
    e.w.line("/* The slot can be used again. */");
    e.w.open(format!("CARRICK_INLINE void {name}_free({core}, uint32_t slot) {{"));
    e.w.end_with(format!("(void)bpf_map_push_elem(&free_{number}, &slot, 0);"));
    e.w.line("/* The slot is found by this id from now on; false if another one is. */");
    e.w.open(format!("CARRICK_INLINE bool {name}_index({core}, const struct {id} *id, uint32_t slot) {{"));
    let key = keys::key(e, ctx);
    e.w.end_with(format!(
        "return bpf_map_update_elem(&index_{number}, {key}, &slot, CARRICK_BPF_NOEXIST) == 0;"
    ));
    e.w.line("/* It is not found by this one any more. */");
    e.w.open(format!(
        "CARRICK_INLINE void {name}_unindex({core}, const struct {id} *id, CARRICK_UNUSED uint32_t slot) {{"
    ));
    let key = keys::key(e, ctx);
    e.w.end_with(format!("(void)bpf_map_delete_elem(&index_{number}, {key});"));
}

fn remove_from_map(e: &mut Emitter<'_>, ctx: &ContextDef, number: usize) {
    let (ty, name, param) = (e.names.declared(&ctx.name), e.names.own(&ctx.name), e.core_param());
    e.w.line("/* What is found by the slot's handle is gone. */");
    e.w.open(format!("CARRICK_INLINE void {name}_vacate(struct {ty} *c) {{"));
    e.w.line("c->generation__ = c->generation__ == 0xffffff ? 1 : c->generation__ + 1;");
    e.w.end_with("c->live__ = 0;");
    if ctx.rx_capacity.is_some() {
        e.w.line(format!("CARRICK_INLINE void {name}_rx_close(struct {ty} *c);"));
    }
    e.w.line("/* The instance is gone; its slot waits for packets of its unit. */");
    e.w.open(format!("CARRICK_INLINE void {name}_remove({param}, struct {ty} *c) {{"));
    e.w.line("uint32_t slot = c->slot__;");
    e.each_timer(ctx, &|number| vec![format!("c->timers__[{number}].armed = 0;")]);
    e.w.line(format!("{name}_unindex(core, &c->id__, slot);"));
    e.removed_is_kept(ctx);
    if shared_lock::is_kept(e, CtxId(number as u32)) {
        e.w.line("core->kept = 0;");
    }
    units::units_end(e, ctx);
    e.w.line("if (!waits)");
    e.w.line(format!("    {name}_vacate(c);"));
    e.w.line("carrick_release(&c->held__);");
    e.w.line("if (!waits)");
    e.w.end_with(format!("    {name}_free(core, slot);"));
}

fn uses_timers(e: &Emitter<'_>) -> bool {
    let used = uses::instructions(e.p);
    ["timer_start", "timer_restart", "timer_stop"].iter().any(|timer| used.contains(timer))
}
