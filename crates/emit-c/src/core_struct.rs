// SPDX-License-Identifier: MIT OR Apache-2.0
//! The structs that only generated code knows: payloads, blueprints, contexts, the queue, the core.

use carrick_ir::{self as ir, BlueprintDef, ContextDef, EventKind};

use crate::Emitter;
use crate::emitter::Record;
use crate::names::safe;
use crate::text;

/// Entries of the blueprint queue, a power of two; part of the execution model.
pub const QUEUE: u32 = 1024;

impl Emitter<'_> {
    /// All structs but those of the core.
    pub fn structs(&mut self) {
        self.payload_struct();
        for list in 0..self.p.opt_lists.len() {
            self.option_list_struct(list);
        }
        self.blueprint_structs();
        for context in &self.p.contexts {
            self.instance_struct(context);
        }
        self.chain_structs();
        self.entry_struct();
        self.params_struct();
    }

    pub(crate) fn core_structs(&mut self) {
        self.structs();
        self.waiting_struct();
        self.core_struct();
    }

    fn payload_struct(&mut self) {
        self.w.line("/* What a packet carries: received bytes at ptr, or those of a TX unit. */");
        self.w.open(format!("struct {} {{", self.names.own("payload")));
        self.w.line("const uint8_t *ptr;");
        self.w.line("uint64_t offset, len, mss;");
        if self.has_memory() {
            self.w.line("uint64_t token, room; /* of memory: whose, and how much there is */");
        }
        self.w.line("uint32_t slot; /* of the unit's context */");
        self.w.line("uint16_t type; /* of the unit's context + 1; 0: no unit */");
        self.w.line("uint16_t round; /* once it is queued: of those of the unit, carrick_tx_queued */");
        self.w.end_type();
        self.w.line("/* A packet that is being parsed: what follows the network header. */");
        self.w.open(format!("struct {} {{", self.names.own("packet")));
        self.dialect.members(self, Record::Packet);
        self.w.line("uint32_t len;");
        self.w.line(format!("const {} *ip;", self.ip().header));
        if self.crc_over_net() {
            self.w.line("uint32_t net_len; /* of the network header, before ptr */");
        }
        if self.has_frames() {
            self.w.line("CARRICK_REST(rest); /* begin and end of what no extract has taken */");
        }
        self.w.end_type();
    }

    fn option_list_struct(&mut self, list: usize) {
        let def = &self.p.opt_lists[list];
        self.w.open(format!("struct {} {{", self.names.declared(&def.name)));
        for member in &def.members {
            self.w.line(format!("bool has_{};", self.p.opts[member.index()].name));
        }
        for member in &def.members {
            let opt = &self.p.opts[member.index()];
            if opt.all_fields().next().is_none() {
                continue;
            }
            self.w.open("struct {");
            for (field, ty) in opt.all_fields() {
                self.w.line(format!("{};", self.names.declaration(&ty, &safe(field))));
            }
            self.w.close(format!("}} {};", safe(&opt.name)));
        }
        self.w.end_type();
    }

    /// Packets hold the frames that they are made of.
    fn blueprint_structs(&mut self) {
        for with_frames in [false, true] {
            for bp in 0..self.p.blueprints.len() {
                if self.p.blueprints[bp].frames.is_some() == with_frames {
                    self.blueprint_struct(bp);
                }
            }
        }
    }

    fn blueprint_struct(&mut self, index: usize) {
        let bp = &self.p.blueprints[index];
        if let Some(doc) = text::comment(&bp.doc) {
            self.w.line(doc);
        }
        self.w.open(format!("struct {} {{", self.names.declared(&bp.name)));
        for field in bp.fields.iter().filter(|f| !f.is_padding()) {
            self.w.line(format!("{};", self.names.declaration(&field.ty, &safe(&field.name))));
        }
        if let Some(list) = bp.options {
            let list = &self.p.opt_lists[list.index()].name;
            self.w.line(format!("struct {} opts__;", self.names.declared(list)));
        }
        if let Some(frames) = &bp.frames {
            self.frames_member(frames);
        }
        if self.has_net() {
            self.w.line(format!("{} net__;", self.ip().header));
        }
        self.w.line(format!("struct {} payload__;", self.names.own("payload")));
        self.w.end_type();
    }

    fn instance_struct(&mut self, ctx: &ContextDef) {
        self.beside_struct(ctx);
        if let Some(doc) = text::comment(&ctx.doc) {
            self.w.line(doc);
        }
        self.w.open(format!("struct {} {{", self.names.declared(&ctx.name)));
        self.fields_inside(ctx);
        self.w.line("/* what the program does not see; new_ctx copies what is above */");
        self.w.line(format!("struct {} id__;", self.names.id(ctx.id)));
        self.beside_member(ctx);
        if ctx.tx_capacity.is_some() {
            self.w.line("struct carrick_tx tx__;");
        }
        if ctx.rx_capacity.is_some() {
            self.w.line("struct carrick_rx rx__;");
        }
        // The loader finds the words of the slot at the end of an instance, and its timers after them.
        if self.coalesces() {
            self.w.line(
                "uint64_t newest__; /* where the newest of its blueprints stands in the queue, or stood */",
            );
        }
        self.retired_members(ctx);
        self.dialect.members(self, Record::Instance(ctx));
        if !ctx.timers.is_empty() {
            self.w.line(format!("struct carrick_timer timers__[{}];", ctx.timers.len()));
        }
        self.w.end_type();
    }

    /// A union of the events of these kinds, each under its name.
    pub fn event_union(&mut self, kinds: &[EventKind]) {
        self.w.open("union {");
        self.w.line("uint8_t nothing;");
        for (index, event) in self.p.events.iter().enumerate() {
            if kinds.contains(&event.kind) {
                let ty = self.names.event(ir::EventId(index as u32));
                self.w.line(format!("struct {ty} {}_;", event.name));
            }
        }
        self.w.close("} event;");
    }

    fn chain_structs(&mut self) {
        self.w.line("/* An event that waits for the chain that raised it to end. */");
        self.w.open(format!("struct {} {{", self.names.own("raised")));
        self.w.line("uint32_t kind;");
        self.event_union(&[EventKind::Net, EventKind::Flow]);
        self.w.end_type();
        self.w.line("/* One run of a chain, or of the parser. */");
        self.w.open(format!("struct {} {{", self.names.own("chain")));
        self.w.line("uint64_t handle; /* of its context; 0: none */");
        self.dialect.members(self, Record::Chain);
        self.w.line("uint32_t raised_count;");
        if !self.p.claims.is_empty() {
            self.w.line("uint32_t event; /* its number + 1; 0: the parser */");
        }
        self.w.line("bool stopped, deleted, dropped;");
        self.w.end_type();
    }

    fn entry_struct(&mut self) {
        self.w.line("/* What the last packet of an entry brings. */");
        self.w.open(format!("struct {} {{", self.names.own("brought")));
        self.event_union(&[EventKind::Sent]);
        self.w.end_type();
        self.w
            .line("/* A queued blueprint: packets are made of it one by one, each after the one before. */");
        self.w.open(format!("struct {} {{", self.names.own("entry")));
        self.dialect.members(self, Record::Entry);
        self.w.line("uint32_t kind;   /* which blueprint */");
        self.w.line("uint32_t sent;   /* the sent event's number + 1; 0: none */");
        self.w.line("uint64_t rules;  /* a bit for each segmentation rule */");
        self.w.line("uint64_t done;   /* bytes of the payload that are out */");
        self.w.line("uint64_t handle; /* the context on which it was issued */");
        self.blueprint_union("bp", "what was issued", |bp| !bp.frame);
        if !self.p.seg_rules.is_empty() {
            self.blueprint_union("cut", "of a payload in several packets: the last one made", |bp| !bp.frame);
        }
        self.entry_frames();
        self.w.line(format!("struct {} brought;", self.names.own("brought")));
        self.w.end_type();
    }

    /// A union of the blueprints of some sort, each under its name.
    pub fn blueprint_union(&mut self, name: &str, what: &str, of: impl Fn(&BlueprintDef) -> bool) {
        self.w.open(format!("union {{ /* {what} */"));
        self.w.line("uint8_t nothing;");
        for bp in self.p.blueprints.iter().filter(|bp| of(bp)) {
            self.w.line(format!("struct {} {}_;", self.names.declared(&bp.name), bp.name));
        }
        self.w.close(format!("}} {name};"));
    }

    /// Parameters in words, so that a loader can write them without knowing their types.
    fn params_struct(&mut self) {
        self.w.open(format!("struct {} {{", self.names.own("params")));
        for param in &self.p.params {
            let text = self.names.declaration(&param.ty, &safe(&param.name));
            self.w.line(format!("{text} __attribute__((aligned(8)));"));
        }
        self.w.line("uint64_t nothing__;");
        self.w.end_type();
    }

    fn core_struct(&mut self) {
        self.w.open(format!("struct {} {{", self.names.own("core")));
        self.w.line("uint64_t now;");
        match self.ip().address {
            "uint32_t" => self.w.line("uint32_t address, mtu;"),
            address => self.w.line(format!("{address} address;\nuint32_t mtu;")),
        }
        self.w.line(format!("struct {} *queue; /* {QUEUE} of them */", self.names.own("entry")));
        self.queue_members();
        self.w.line("bool last; /* of the entry that a packet was made of: no other follows */");
        if self.has_joined() {
            self.w.line(
                "uint32_t joins; /* bytes of a packet that the host's engine cuts; 0: there is none */",
            );
            self.w.line("uint16_t segment; /* payload of each packet that it makes of the last one; 0: that is one itself */");
        }
        if self.has_checksums() {
            self.w.line("bool checksums_offloaded; /* they are left 0, and not checked */");
        }
        if self.makes_frames() {
            self.w.line("uint8_t *frames; /* where those of a packet are put together */");
            self.put_members();
        }
        self.waiting_members();
        self.w.line("uint16_t identification;");
        self.w.line(format!("struct {} params;", self.names.own("params")));
        for ctx in &self.p.contexts {
            let name = &ctx.name;
            self.w.line(format!("struct {} *{name}_slots;", self.names.declared(name)));
            self.beside_members(ctx);
            self.w.line(format!("struct carrick_table {name}_table;"));
            self.w.line(format!("uint32_t {name}_capacity, {name}_fresh, {name}_free, {name}_live;"));
            if self.retires(ctx) {
                self.w.line(format!("struct carrick_retired {name}_retired;"));
            }
            if ctx.tx_capacity.is_some() {
                self.w.line(format!("struct carrick_pool {name}_tx_pool;"));
            }
            if ctx.rx_capacity.is_some() {
                self.w.line(format!("struct carrick_pool {name}_rx_pool;"));
            }
        }
        self.w.line("struct carrick_cq completions;");
        if self.has_addresses() {
            self.w.line("struct carrick_memory memory;");
        }
        self.w.line("struct carrick_pcg rng;");
        self.w.line("struct carrick_key key;");
        self.w.line("struct carrick_wheel wheel;");
        if self.p.in_network.is_some() {
            self.w.line("struct carrick_store store;");
            self.w.line(format!(
                "struct {} *looked_at; /* while a packet's events run */",
                self.names.own("packet")
            ));
        }
        self.w.line("uint64_t counters[CARRICK_COUNTERS];");
        self.w.line("uint64_t records; /* those that the host reads */");
        self.w.line("uint64_t sample;");
        self.w.line("carrick_trace_fn trace;");
        self.w.line("void *trace_user;");
        self.w.end_type();
    }
}
