// SPDX-License-Identifier: MIT OR Apache-2.0
//! What chains share is held until nothing is left of what they raised: an event and all that follows from it comes before
//! anything else. Other processors have other events of the same flow, and would come in between otherwise.

use carrick_ir::{Chain, CtxId, Program};

use crate::Emitter;

/// The context that chains share, if there is one alone: while a processor has an instance of it, it waits for no other.
fn shared_by_all(program: &Program) -> Option<CtxId> {
    let mut shared = program.chains.iter().flatten().flat_map(|chain| &chain.shared).map(|s| s.context);
    let first = shared.next()?;
    shared.all(|other| other == first).then_some(first)
}

impl Emitter<'_> {
    pub(super) fn is_kept(&self, ctx: CtxId) -> bool {
        shared_by_all(self.p) == Some(ctx)
    }

    /// Whether a chain takes what it shares before its own: what is kept is waited for with nothing else in hand.
    pub(super) fn shares_kept(&self, chain: &Chain) -> bool {
        chain.shared.iter().any(|shared| self.is_kept(shared.context))
    }

    /// A member of the core.
    pub(super) fn kept_member(&mut self) {
        if shared_by_all(self.p).is_some() {
            self.w.line("uint32_t kept; /* the slot + 1 of what is held until nothing waits that was raised; 0: nothing */");
        }
    }

    /// What lets go of it.
    pub(super) fn kept_function(&mut self) {
        let Some(ctx) = shared_by_all(self.p) else { return };
        self.w.line("/* Nothing waits any more that was raised, or the next event is of another flow. */");
        let ty = self.names.context(ctx);
        self.w
            .open(format!("CARRICK_INLINE void carrick_let_go(struct {} *core) {{", self.names.own("core")));
        self.w.line("uint32_t slot = core->kept - 1;");
        self.w.line("core->kept = 0;");
        self.w.line(format!("struct {ty} *c = bpf_map_lookup_elem(&slots_{}, &slot);", ctx.index()));
        self.w.end_with("if (c)\n    carrick_release(&c->held__);");
    }

    /// Nothing waits any more.
    pub(super) fn let_go(&mut self) {
        if shared_by_all(self.p).is_some() {
            self.w.line("if (core->kept)\n    carrick_let_go(core);");
        }
    }
}
