// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose packets are, in a program that holds rates of users ([`carrick_ir::Schedule::limited`]): the host says it of the
//! instances that it calls for somebody, and what their chains issue waits in that owner's queues. Of programs whose
//! users have no rates there is nothing of this.

use carrick_emit_c::Emitter;
use carrick_ir::{CREDIT, Chain, EventDef, EventKind};

fn owners(e: &Emitter<'_>) -> u32 {
    e.p.schedule.owners
}

pub(crate) fn define_owners(e: &mut Emitter<'_>) {
    if owners(e) > 0 {
        e.w.line(format!("#define CARRICK_OWNERS {}u", owners(e)));
        e.w.line(format!("#define CARRICK_OWN_QUEUES {}u", e.p.schedule.own_queues()));
    }
}

pub(crate) fn blocks_header(e: &Emitter<'_>) -> &'static str {
    if owners(e) > 0 { "owners.h" } else { "blocks.h" }
}

/// Where a block begins.
pub(crate) fn block_credit(e: &mut Emitter<'_>, at: usize) {
    if e.p.schedule.held.contains(&(at as u32)) {
        e.w.line(format!("s->blocks[{at}].credit = {CREDIT};"));
    }
}

/// In the struct of an instance.
pub(crate) fn owner_of_instance(e: &mut Emitter<'_>) {
    if owners(e) > 0 {
        e.w.line("uint32_t owner__; /* whose it is */");
    }
}

/// In the structs of the core, a chain and an entry.
pub(crate) fn owner_of_chain(e: &mut Emitter<'_>) {
    if owners(e) > 0 {
        e.w.line("uint32_t owner; /* for whom: as in carrick_rates */");
    }
}

pub(crate) fn owner_is(e: &mut Emitter<'_>, what: &str, owner: &str) {
    if owners(e) > 0 {
        e.w.line(format!("{what} = {owner};"));
    }
}

/// In the function of a chain, once its context is there: who runs it. An instance belongs to whom it was called for last.
pub(crate) fn owner_runs(e: &mut Emitter<'_>, event: &EventDef, chain: &Chain) {
    if owners(e) == 0 {
        return;
    }
    if chain.context.is_none() {
        return e.w.line("chain->owner = core->owner;");
    }
    if event.kind == EventKind::App {
        e.w.line("if (c && core->owner)\n    c->owner__ = core->owner;");
    }
    e.w.line("chain->owner = c ? c->owner__ : core->owner;");
}

/// C for a place among the entries, + 1, of what has so many bytes of payload.
pub(crate) fn reserve_place(e: &Emitter<'_>, octets: &str) -> String {
    if owners(e) == 0 {
        return "carrick_sched_reserve(s)".into();
    }
    format!("carrick_owner_reserve(core->chain.owner, {octets} != 0)")
}

/// In a generate function, when its entry waits.
pub(crate) fn owner_waits(e: &mut Emitter<'_>) {
    if owners(e) > 0 {
        e.w.line("(void)carrick_owner_waits(core->chain.owner, queue, core->now);");
    }
}
