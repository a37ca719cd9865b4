// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints that were issued: the first of a frame leaves in it, the others wait in the queue.

use carrick_emit_c::Emitter;
use carrick_ir::fold::fold;
use carrick_ir::{BlueprintDef, CoalescingRule, EventKind};

use crate::{blocks, owners, writing};

/// Members of the core.
pub(crate) fn entry_members(e: &mut Emitter<'_>) {
    let entry = e.names.own("entry");
    e.w.line("bool vacant; /* no packet has the frame that is there */");
    e.w.line("bool roomy;  /* any packet has room in it */");
    e.w.line("bool alone;  /* one has: that of `entry`, which does not wait */");
    e.w.line("bool last;   /* of the entry that a packet was made of: no other follows */");
    e.w.line("uint64_t whole; /* bytes of its payload */");
    e.w.line(format!("struct {entry} entry;"));
    let brought = e.names.own("brought");
    e.w.line(format!("struct {brought} bringing; /* what the next one that is issued brings */"));
    e.w.line(format!("struct {brought} brought;  /* what one brought that is out */"));
    if gathers(e) {
        e.w.line("uint64_t arrived;      /* when the last packet came */");
        e.w.line("uint64_t burst_handle; /* the context that it was for */");
        e.w.line("uint32_t burst;        /* how many came for that, close together */");
        e.w.line("uint32_t skipped;      /* of these, since a header waits for the end of the burst */");
        e.w.line("bool gathers;          /* headers may wait for that */");
    }
    e.w.line("uint32_t sent;        /* which; 0: nothing */");
    e.w.line("uint64_t sent_handle; /* the context on which it was issued */");
}

/// Finding, taking and giving back entries of the queue.
pub(crate) fn entry_functions(e: &mut Emitter<'_>) {
    if !e.blocks {
        writing::include(e, "queue");
    }
    newest(e);
}

/// In a generate function: `e`, where the copy goes; it returns if there is no place.
pub(crate) fn place_entry(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    if e.blocks {
        reserve(e, "e", "payload.len");
    } else {
        place_or_frame(e, bp);
    }
    e.w.open("if (!e) {");
    no_place(e);
    e.w.close("}");
    blocks::chosen(e, "payload.len");
}

/// The same for a packet of frames: `there` is what `place_entry` makes, and `copy` lies elsewhere if that is NULL.
pub(crate) fn place_or_spare(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    let (ty, entry) = (e.names.declared(&bp.name), e.names.own("entry"));
    e.w.line("CARRICK_UNUSED const bool alone = false;");
    if gathers(e) {
        e.w.line("const bool gather = false;");
    }
    reserve(e, "there", "1");
    e.w.line("uint32_t only = 0;");
    e.w.line(format!("struct {entry} *e = there ? there : bpf_map_lookup_elem(&carrick_spare, &only);"));
    e.w.line("CARRICK_GIVEN(e);");
    e.w.line(format!("struct {ty} *copy = &e->bp.{}_;", bp.name));
    e.w.line("CARRICK_COPY(copy, bp);");
}

/// In a generate function: a place in the queue for what has so many bytes of payload, NULL if there is none.
pub(crate) fn reserve(e: &mut Emitter<'_>, name: &str, octets: &str) {
    let entry = e.names.own("entry");
    if e.blocks {
        let at = e.names.own("queued_entry");
        let reserve = owners::reserve_place(e, octets);
        e.w.line(format!("uint32_t place = {reserve};"));
        e.w.line(format!("struct {entry} *{name} = place ? {at}(place - 1) : NULL;"));
    } else {
        e.w.line("uint64_t place = 0;");
        e.w.line(format!("struct {entry} *{name} = {}(&place);", e.names.own("reserve")));
    }
}

/// In the same function, where there is none.
pub(crate) fn no_place(e: &mut Emitter<'_>) {
    e.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
    if e.blocks {
        e.w.line("carrick_release(&s->held);");
    }
    e.w.line("return 0;");
}

fn place_or_frame(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    let entry = e.names.own("entry");
    if rules_of(e, bp).next().is_some() {
        e.w.open("if (old) {");
        let_go_of_old(e);
        e.w.close("}");
    }
    e.w.line("uint64_t place = 0;");
    whether_it_gathers(e, bp);
    e.w.line(format!(
        "bool alone = {}{}{}(core) && (!payload.len || (core->roomy && (!payload.mss || payload.len <= payload.mss) &&",
        // What waits may take up a payload that is longer than a packet.
        if takes_up(e, bp) { "false && " } else { "" },
        if gathers(e) { "!gather && " } else { "" },
        e.names.own("fits")
    ));
    let headers = format!("{}{}", e.net_and("bp"), e.longest_header(bp));
    e.w.line(format!("    {headers} + payload.len <= core->mtu));"));
    e.w.line(format!("struct {entry} *e = alone ? &core->entry : {}(&place);", e.names.own("reserve")));
}

/// In a generate function: what comes when the entry is out.
pub(crate) fn brings(e: &mut Emitter<'_>, entry: &str) {
    if e.has_sent() {
        e.w.open("if (sent) {");
        e.w.line(format!("{entry}->sent = sent;"));
        e.w.line(format!("{entry}->brought = core->bringing;"));
        e.w.close("}");
    }
}

/// Whether an entry of this blueprint that waits may become another one, with a payload.
fn takes_up(e: &Emitter<'_>, bp: &BlueprintDef) -> bool {
    rules_of(e, bp).any(|rule| rule.takes.is_empty() && !rule.without_payload())
}

/// The coalescing rules of a blueprint.
fn rules_of<'a>(e: &'a Emitter<'_>, bp: &'a BlueprintDef) -> impl Iterator<Item = &'a CoalescingRule> {
    let rules = e.p.coalescing.iter();
    rules.filter(|rule| e.p.blueprints[rule.blueprint.index()].name == bp.name)
}

/// Whether headers of the program may wait for the end of a burst (carrick/bursts.h).
pub(crate) fn gathers(e: &Emitter<'_>) -> bool {
    !e.blocks && e.p.in_network.is_none() && e.p.blueprints.iter().any(|bp| gathered(e, bp))
}

/// In a generate function: whether the header waits.
fn whether_it_gathers(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    if gathers(e) && gathered(e, bp) {
        e.w.line(format!("bool gather = !payload.len && {}(core);", e.names.own("gathers")));
    } else if gathers(e) {
        e.w.line("const bool gather = false;");
    }
}

/// Whether those of a blueprint may.
fn gathered(e: &Emitter<'_>, bp: &BlueprintDef) -> bool {
    rules_of(e, bp).any(|rule| fold(e.p, &rule.when, &|_| None) != Some(0))
}

/// The newest entry of a context, for coalescing rules: in a block it is not held.
fn newest(e: &mut Emitter<'_>) {
    if !e.coalesces() {
        return;
    }
    e.newest_at();
    let [entry, queued] = ["entry", "queued_entry"].map(|name| e.names.own(name));
    let (or, at, frame) = match e.blocks {
        true => ("", "(uint32_t)at", "NULL"),
        false => (": that of the frame, or one that is held", "at", "core->alone ? &core->entry : NULL"),
    };
    e.w.line(format!("/* The newest entry of a context if it waits whole, and brings nothing{or}. */"));
    e.open_on_core(&format!("CARRICK_INLINE struct {entry} *"), "newest", ", uint64_t handle");
    e.w.line(format!("const uint64_t *newest = {}(core, handle);", e.names.own("newest_at")));
    e.w.line("uint64_t at = newest ? *newest : 0;");
    e.w.line(format!("struct {entry} *e = at ? {queued}({at} - 1) : {frame};"));
    if e.blocks {
        let waits = "e && e->waits && e->handle == handle && !e->done && !e->sent";
        return e.w.end_with(format!("return {waits} ? e : NULL;"));
    }
    e.w.line("if (e && handle && e->handle == handle && !e->done && !e->sent)\n    return e;");
    e.w.line("if (e && at)\n    carrick_release(&e->held);");
    e.w.end_with("return NULL;");
}

/// In a generate function: the entry with which another one coalesced can be taken by others.
pub(crate) fn let_go_of_old(e: &mut Emitter<'_>) {
    e.w.line(match e.blocks {
        true => "carrick_release(&s->held);",
        false => "if (old != &core->entry)\n    carrick_release(&old->held);",
    });
}

/// In the same function, when all of the entry is there.
pub(crate) fn entry_waits_now(e: &mut Emitter<'_>) {
    if e.blocks {
        return blocks::waits_in_blocks(e);
    }
    e.w.line("core->vacant = false;");
    e.w.line("if (alone)\n    core->alone = true;");
    if !gathers(e) {
        e.w.line("else\n    carrick_publish(&e->turn);");
        return;
    }
    e.w.open("else {");
    e.w.line("carrick_publish(&e->turn);");
    e.w.line(format!("{}(core, gather);", e.names.own("queued")));
    e.w.close("}");
}

/// The sent event of an entry that is out.
pub(crate) fn sent(e: &mut Emitter<'_>) {
    e.w.line("/* An entry is out: its sent event. */");
    e.open_on_core("CARRICK_GLOBAL_FN int ", "sent", "");
    e.w.line("CARRICK_GIVEN(core);");
    e.w.line("CARRICK_UNUSED uint32_t sent = core->sent;");
    e.w.line("core->sent = 0;");
    for (index, event) in e.p.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Sent) {
        let Some(chain) = &e.p.chains[index] else { continue };
        let ty = e.names.declared(&event.name);
        e.w.open(format!("if (sent == {}) {{", index + 1));
        e.w.line(format!("CARRICK_UNUSED struct {ty} *e = &core->brought.event.{}_;", event.name));
        if let Some(ctx) = chain.context {
            let def = &e.p.contexts[ctx.index()];
            let (ty, name) = (e.names.declared(&def.name), e.names.own(&def.name));
            e.w.line(format!("struct {ty} *c = {name}_by_handle(core, core->sent_handle);"));
            e.w.line("if (c)\n    e->flow__ = c->id__;");
            e.w.line("core->wanted = c ? core->sent_handle : UINT64_MAX;");
        }
        e.w.line(format!("core->due = {};", index + 1));
        e.w.close("}");
    }
    e.w.end_with("return 0;");
}
