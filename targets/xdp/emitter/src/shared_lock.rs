// SPDX-License-Identifier: MIT OR Apache-2.0
//! What chains share is held until nothing is left of what they raised: an event and all that follows from it comes before
//! anything else. Other processors have other events of the same flow, and would come in between otherwise.

use carrick_emit_c::Emitter;
use carrick_ir::{Chain, CtxId, Program};

/// The context that chains share, if there is one alone: while a processor has an instance of it, it waits for no other.
fn shared_by_all(program: &Program) -> Option<CtxId> {
    let mut shared = program.chains.iter().flatten().flat_map(|chain| &chain.shared).map(|s| s.context);
    let first = shared.next()?;
    shared.all(|other| other == first).then_some(first)
}

pub(crate) fn is_kept(e: &Emitter<'_>, ctx: CtxId) -> bool {
    shared_by_all(e.p) == Some(ctx)
}

/// Whether a chain takes what it shares before its own: what is kept is waited for with nothing else in hand.
pub(crate) fn shares_kept(e: &Emitter<'_>, chain: &Chain) -> bool {
    chain.shared.iter().any(|shared| is_kept(e, shared.context))
}

/// A member of the core.
pub(crate) fn kept_member(e: &mut Emitter<'_>) {
    if shared_by_all(e.p).is_some() {
        e.w.line("uint32_t kept; /* the slot + 1 of what is held until nothing waits that was raised; 0: nothing */");
    }
}

/// What lets go of it.
pub(crate) fn kept_function(e: &mut Emitter<'_>) {
    let Some(ctx) = shared_by_all(e.p) else { return };
    e.w.line("/* Nothing waits any more that was raised, or the next event is of another flow. */");
    let ty = e.names.context(ctx);
    e.w.open(format!("CARRICK_INLINE void carrick_let_go(struct {} *core) {{", e.names.own("core")));
    e.w.line("uint32_t slot = core->kept - 1;");
    e.w.line("core->kept = 0;");
    e.w.line(format!("struct {ty} *c = bpf_map_lookup_elem(&slots_{}, &slot);", ctx.index()));
    e.w.end_with("if (c)\n    carrick_release(&c->held__);");
}

/// Nothing waits any more.
pub(crate) fn let_go(e: &mut Emitter<'_>) {
    if shared_by_all(e.p).is_some() {
        e.w.line("if (core->kept)\n    carrick_let_go(core);");
    }
}
