// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose packets are, in a program that holds rates of users ([`carrick_ir::Schedule::limited`]): the host says it of the
//! instances that it calls for somebody, and what their chains issue waits in that owner's queues. Of programs whose
//! users have no rates there is nothing of this.

use carrick_ir::{CREDIT, Chain, EventDef, EventKind};

use crate::Emitter;

impl Emitter<'_> {
    fn owners(&self) -> u32 {
        self.p.schedule.owners
    }

    pub(super) fn define_owners(&mut self) {
        if self.owners() > 0 {
            self.w.line(format!("#define CARRICK_OWNERS {}u", self.owners()));
        }
    }

    pub(super) fn blocks_header(&self) -> &'static str {
        if self.owners() > 0 { "owners.h" } else { "blocks.h" }
    }

    /// Where a block begins.
    pub(super) fn block_credit(&mut self, at: usize) {
        if self.p.schedule.held.contains(&(at as u32)) {
            self.w.line(format!("s->blocks[{at}].credit = {CREDIT};"));
        }
    }

    /// In the struct of an instance.
    pub(super) fn owner_of_instance(&mut self) {
        if self.owners() > 0 {
            self.w.line("uint32_t owner__; /* whose it is */");
        }
    }

    /// In the structs of the core, a chain and an entry.
    pub(super) fn owner_of_chain(&mut self) {
        if self.owners() > 0 {
            self.w.line("uint32_t owner; /* for whom: as in carrick_rates */");
        }
    }

    pub(super) fn owner_is(&mut self, what: &str, owner: &str) {
        if self.owners() > 0 {
            self.w.line(format!("{what} = {owner};"));
        }
    }

    /// In the function of a chain, once its context is there: who runs it. An instance belongs to whom it was called for last.
    pub(super) fn owner_runs(&mut self, event: &EventDef, chain: &Chain) {
        if self.owners() == 0 {
            return;
        }
        if chain.context.is_none() {
            return self.w.line("chain->owner = core->owner;");
        }
        if event.kind == EventKind::App {
            self.w.line("if (c && core->owner)\n    c->owner__ = core->owner;");
        }
        self.w.line("chain->owner = c ? c->owner__ : core->owner;");
    }

    /// C for what is added to a number of the program's queues.
    pub(super) fn queues_before(&self) -> String {
        if self.owners() == 0 {
            return String::new();
        }
        format!(" + core->chain.owner * {}u", self.p.schedule.own_queues())
    }

    /// In the functions that set something of a queue.
    pub(crate) fn number_of_owner(&mut self) {
        let before = self.queues_before();
        if !before.is_empty() {
            self.w.line(format!("number = number{before};"));
        }
    }

    /// C for a place among the entries, + 1, of what has so many bytes of payload.
    pub(super) fn reserve_place(&self, octets: &str) -> String {
        if self.owners() == 0 {
            return "carrick_sched_reserve(s)".into();
        }
        format!("carrick_owner_reserve(core->chain.owner, {octets} != 0)")
    }

    /// In a generate function, when its entry waits.
    pub(super) fn owner_waits(&mut self) {
        if self.owners() > 0 {
            self.w.line("(void)carrick_owner_waits(core->chain.owner, queue, core->now);");
        }
    }
}
