// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints that were issued: the first of a frame leaves in it, the others wait in the queue.

use carrick_ir::{BlueprintDef, CoalescingRule, EventKind, fold::fold};

use crate::Emitter;

impl Emitter<'_> {
    /// Members of the core.
    pub(super) fn entry_members(&mut self) {
        let entry = self.names.own("entry");
        self.w.line("bool vacant; /* no packet has the frame that is there */");
        self.w.line("bool roomy;  /* any packet has room in it */");
        self.w.line("bool alone;  /* one has: that of `entry`, which does not wait */");
        self.w.line("bool last;   /* of the entry that a packet was made of: no other follows */");
        self.w.line("uint64_t whole; /* bytes of its payload */");
        self.w.line(format!("struct {entry} entry;"));
        let brought = self.names.own("brought");
        self.w.line(format!("struct {brought} bringing; /* what the next one that is issued brings */"));
        self.w.line(format!("struct {brought} brought;  /* what one brought that is out */"));
        if self.gathers() {
            self.w.line("uint64_t arrived;      /* when the last packet came */");
            self.w.line("uint64_t burst_handle; /* the context that it was for */");
            self.w.line("uint32_t burst;        /* how many came for that, close together */");
            self.w
                .line("uint32_t skipped;      /* of these, since a header waits for the end of the burst */");
            self.w.line("bool gathers;          /* headers may wait for that */");
        }
        self.w.line("uint32_t sent;        /* which; 0: nothing */");
        self.w.line("uint64_t sent_handle; /* the context on which it was issued */");
    }

    /// Finding, taking and giving back entries of the queue.
    pub(super) fn entry_functions(&mut self) {
        if !self.blocks {
            self.include("queue");
        }
        self.newest_in_kernel();
    }

    /// In a generate function: `e`, where the copy goes; it returns if there is no place.
    pub(super) fn place_entry(&mut self, bp: &BlueprintDef) {
        if self.blocks {
            self.reserve("e", "payload.len");
        } else {
            self.place_or_frame(bp);
        }
        self.w.open("if (!e) {");
        self.no_place();
        self.w.close("}");
        self.chosen("payload.len");
    }

    /// The same for a packet of frames: `there` is what `place_entry` makes, and `copy` lies elsewhere if that is NULL.
    pub(super) fn place_or_spare(&mut self, bp: &BlueprintDef) {
        let (ty, entry) = (self.names.declared(&bp.name), self.names.own("entry"));
        self.w.line("CARRICK_UNUSED const bool alone = false;");
        if self.gathers() {
            self.w.line("const bool gather = false;");
        }
        self.reserve("there", "1");
        self.w.line("uint32_t only = 0;");
        self.w
            .line(format!("struct {entry} *e = there ? there : bpf_map_lookup_elem(&carrick_spare, &only);"));
        self.w.line("CARRICK_GIVEN(e);");
        self.w.line(format!("struct {ty} *copy = &e->bp.{}_;", bp.name));
        self.w.line("CARRICK_COPY(copy, bp);");
    }

    /// In a generate function: a place in the queue for what has so many bytes of payload, NULL if there is none.
    pub(super) fn reserve(&mut self, name: &str, octets: &str) {
        let entry = self.names.own("entry");
        if self.blocks {
            let at = self.names.own("queued_entry");
            let reserve = self.reserve_place(octets);
            self.w.line(format!("uint32_t place = {reserve};"));
            self.w.line(format!("struct {entry} *{name} = place ? {at}(place - 1) : NULL;"));
        } else {
            self.w.line("uint64_t place = 0;");
            self.w.line(format!("struct {entry} *{name} = {}(&place);", self.names.own("reserve")));
        }
    }

    /// In the same function, where there is none.
    pub(super) fn no_place(&mut self) {
        self.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
        if self.blocks {
            self.w.line("carrick_release(&s->held);");
        }
        self.w.line("return 0;");
    }

    fn place_or_frame(&mut self, bp: &BlueprintDef) {
        let entry = self.names.own("entry");
        self.w.line("uint64_t place = 0;");
        self.whether_it_gathers(bp);
        self.w.line(format!(
            "bool alone = {}{}{}(core) && (!payload.len || (core->roomy && (!payload.mss || payload.len <= payload.mss) &&",
            // What waits may take up a payload that is longer than a packet.
            if self.takes_up(bp) { "false && " } else { "" },
            if self.gathers() { "!gather && " } else { "" },
            self.names.own("fits")
        ));
        let headers = format!("{}{}", self.net_and("bp"), self.longest_header(bp));
        self.w.line(format!("    {headers} + payload.len <= core->mtu));"));
        self.w.line(format!(
            "struct {entry} *e = alone ? &core->entry : {}(&place);",
            self.names.own("reserve")
        ));
    }

    /// In a generate function: what comes when the entry is out.
    pub(crate) fn brings(&mut self, entry: &str) {
        if self.has_sent() {
            self.w.open("if (sent) {");
            self.w.line(format!("{entry}->sent = sent;"));
            self.w.line(format!("{entry}->brought = core->bringing;"));
            self.w.close("}");
        }
    }

    /// Whether an entry of this blueprint that waits may become another one, with a payload.
    fn takes_up(&self, bp: &BlueprintDef) -> bool {
        self.rules_of(bp).any(|rule| rule.takes.is_empty() && !rule.without_payload())
    }

    /// The coalescing rules of a blueprint.
    fn rules_of<'a>(&'a self, bp: &'a BlueprintDef) -> impl Iterator<Item = &'a CoalescingRule> {
        let rules = self.p.coalescing.iter();
        rules.filter(|rule| self.p.blueprints[rule.blueprint.index()].name == bp.name)
    }

    /// Whether headers of the program may wait for the end of a burst (carrick/bursts.h).
    pub(super) fn gathers(&self) -> bool {
        !self.blocks && self.p.in_network.is_none() && self.p.blueprints.iter().any(|bp| self.gathered(bp))
    }

    /// In a generate function: whether the header waits.
    fn whether_it_gathers(&mut self, bp: &BlueprintDef) {
        if self.gathers() && self.gathered(bp) {
            self.w.line(format!("bool gather = !payload.len && {}(core);", self.names.own("gathers")));
        } else if self.gathers() {
            self.w.line("const bool gather = false;");
        }
    }

    /// Whether those of a blueprint may.
    fn gathered(&self, bp: &BlueprintDef) -> bool {
        self.rules_of(bp).any(|rule| fold(self.p, &rule.when, &|_| None) != Some(0))
    }

    /// The newest entry of a context, for coalescing rules: in a block it is not held.
    fn newest_in_kernel(&mut self) {
        if !self.coalesces() {
            return;
        }
        self.newest_at();
        let [entry, queued] = ["entry", "queued_entry"].map(|name| self.names.own(name));
        let (or, at, frame) = match self.blocks {
            true => ("", "(uint32_t)at", "NULL"),
            false => (": that of the frame, or one that is held", "at", "core->alone ? &core->entry : NULL"),
        };
        self.w
            .line(format!("/* The newest entry of a context if it waits whole, and brings nothing{or}. */"));
        self.open_on_core(&format!("CARRICK_INLINE struct {entry} *"), "newest", ", uint64_t handle");
        self.w.line(format!("const uint64_t *newest = {}(core, handle);", self.names.own("newest_at")));
        self.w.line("uint64_t at = newest ? *newest : 0;");
        self.w.line(format!("struct {entry} *e = at ? {queued}({at} - 1) : {frame};"));
        if self.blocks {
            let waits = "e && e->waits && e->handle == handle && !e->done && !e->sent";
            return self.w.end_with(format!("return {waits} ? e : NULL;"));
        }
        self.w.line("if (e && handle && e->handle == handle && !e->done && !e->sent)\n    return e;");
        self.w.line("if (e && at)\n    carrick_release(&e->held);");
        self.w.end_with("return NULL;");
    }

    /// In a generate function: the entry with which another one coalesced can be taken by others.
    pub(crate) fn let_go_of_old(&self) -> String {
        if self.blocks {
            return "carrick_release(&s->held);".into();
        }
        "if (old != &core->entry)\n    carrick_release(&old->held);".into()
    }

    /// In the same function, when all of the entry is there.
    pub(super) fn entry_waits_now(&mut self) {
        if self.blocks {
            return self.waits_in_blocks();
        }
        self.w.line("core->vacant = false;");
        self.w.line("if (alone)\n    core->alone = true;");
        if !self.gathers() {
            self.w.line("else\n    carrick_publish(&e->turn);");
            return;
        }
        self.w.open("else {");
        self.w.line("carrick_publish(&e->turn);");
        self.w.line(format!("{}(core, gather);", self.names.own("queued")));
        self.w.close("}");
    }

    /// The sent event of an entry that is out.
    pub(super) fn sent_in_kernel(&mut self) {
        self.w.line("/* An entry is out: its sent event. */");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "sent", "");
        self.w.line("CARRICK_GIVEN(core);");
        self.w.line("CARRICK_UNUSED uint32_t sent = core->sent;");
        self.w.line("core->sent = 0;");
        for (index, event) in self.p.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Sent) {
            let Some(chain) = &self.p.chains[index] else { continue };
            let ty = self.names.declared(&event.name);
            self.w.open(format!("if (sent == {}) {{", index + 1));
            self.w.line(format!("CARRICK_UNUSED struct {ty} *e = &core->brought.event.{}_;", event.name));
            if let Some(ctx) = chain.context {
                let def = &self.p.contexts[ctx.index()];
                let (ty, name) = (self.names.declared(&def.name), self.names.own(&def.name));
                self.w.line(format!("struct {ty} *c = {name}_by_handle(core, core->sent_handle);"));
                self.w.line("if (c)\n    e->flow__ = c->id__;");
                self.w.line("core->wanted = c ? core->sent_handle : UINT64_MAX;");
            }
            self.w.line(format!("core->due = {};", index + 1));
            self.w.close("}");
        }
        self.w.end_with("return 0;");
    }
}
