// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each processor has, the maps, and contexts.

use carrick_ir::{self as ir, ContextDef, CtxId, IdId, fold, uses};

use crate::Emitter;
use crate::core_struct::QUEUE;

/// How many next hops are known at once.
const NEXT_HOPS: u32 = 4096;

impl Emitter<'_> {
    pub(super) fn structs_in_kernel(&mut self) {
        self.structs();
        self.memory_structs();
        self.frame_structs();
        self.core_of_processor();
    }

    fn core_of_processor(&mut self) {
        self.w.line("/* What each processor has of its own. */");
        self.w.open(format!("struct {} {{", self.names.own("core")));
        self.w.line("CARRICK_HEAD;");
        self.w.line(format!("struct {} params;", self.names.own("params")));
        self.w.line("uint64_t now, sum; /* sum: of all bytes behind the network header */");
        self.w.line(format!("{} ip;", self.ip().header));
        self.w.line("uint64_t zero; /* always; the verifier does not know it */");
        self.w.line("struct carrick_timers_begun timers;");
        self.report_members();
        self.w.line("bool told;     /* what the verifier forgets */");
        self.w.line("uint32_t room; /* bytes of the frame that is there */");
        self.w
            .line(format!("{} back; /* the address of whoever sent it; 0: nobody did */", self.ip().address));
        self.w.line("struct carrick_copy copy;");
        self.w.line("struct carrick_ahead ahead;");
        self.w.line(
            "uint32_t frame_len, begin; /* bytes of the frame that came, and where what follows its network header begins */",
        );
        self.w
            .line(format!("struct {} payload; /* of the packet that is made */", self.names.own("payload")));
        self.w.line(format!("struct {} packet;", self.names.own("packet")));
        if self.makes_frames() {
            self.put_members();
        }
        self.w.line("uint8_t in[CARRICK_SEEN + CARRICK_OPTION_MAX];");
        self.w.line("uint8_t out[CARRICK_BEGIN + CARRICK_HEADER_MAX + CARRICK_OPTION_MAX];");
        self.w.line("uint32_t at; /* of in or out: the next option, or the next field */");
        if self.looks_further() {
            self.w.line("uint32_t looked; /* what follows the network header is in `in` from here on */");
        }
        self.w.line(format!("struct {} chain;", self.names.own("chain")));
        self.between_members();
        self.raised_members();
        self.kept_member();
        self.key_member();
        for scratchpad in &self.p.scratchpads {
            self.w.line(format!(
                "struct {} scratch_{};",
                self.names.declared(&scratchpad.name),
                scratchpad.name
            ));
        }
        self.asked_members();
        self.owner_of_chain();
        self.entry_members();
        self.w.line("struct carrick_report report;");
        self.w.end_type();
    }

    pub(super) fn maps(&mut self) {
        let core = format!("struct {}", self.names.own("core"));
        self.map("carrick_cores", "PERCPU_ARRAY", 1, Some(("uint32_t", &core)));
        self.map("carrick_shared", "ARRAY", 1, Some(("uint32_t", "struct carrick_shared")));
        let entry = format!("struct {}", self.names.own("entry"));
        self.map("carrick_queue", "ARRAY", u64::from(QUEUE), Some(("uint32_t", &entry)));
        self.map("carrick_reports", "RINGBUF", 1 << 20, None);
        self.map(
            "carrick_next_hops",
            "LRU_HASH",
            u64::from(NEXT_HOPS),
            Some((self.ip().address, "struct carrick_next_hop")),
        );
        for (number, ctx) in self.p.contexts.iter().enumerate() {
            let capacity = self.capacity(ctx);
            let ty = format!("struct {}", self.names.declared(&ctx.name));
            self.map(&format!("slots_{number}"), "ARRAY", capacity, Some(("uint32_t", &ty)));
            if !ctx.global {
                let id = format!("struct {}", self.names.id(ctx.id));
                // While an instance gets another id, both are there.
                let ids = capacity + 64;
                self.map(&format!("index_{number}"), "HASH", ids, Some((&id, "uint32_t")));
                self.map(&format!("free_{number}"), "STACK", capacity, None);
            }
        }
        self.memory_maps();
        self.put_maps();
        self.raised_map();
        self.frames_map();
    }

    pub(super) fn map(&mut self, name: &str, kind: &str, entries: u64, types: Option<(&str, &str)>) {
        self.w.open("struct {");
        self.w.line(format!("CARRICK_UINT(type, CARRICK_MAP_{kind});"));
        self.w.line(format!("CARRICK_UINT(max_entries, {entries});"));
        if kind == "ARRAY" {
            self.w.line("CARRICK_UINT(map_flags, CARRICK_MMAPABLE);");
        }
        match types {
            Some((key, value)) => {
                self.w.line(format!("CARRICK_TYPE(key, {key});"));
                self.w.line(format!("CARRICK_TYPE(value, {value});"));
            }
            None if kind == "STACK" => self.w.line("CARRICK_UINT(value_size, 4);"),
            None => {}
        }
        self.w.close(format!("}} {name} CARRICK_SECTION(\".maps\");"));
        self.w.blank();
    }

    /// How many instances there can be, with the parameters as they are by default.
    pub(super) fn capacity(&self, ctx: &ContextDef) -> u64 {
        if ctx.global {
            return 1;
        }
        let default = |id: ir::ParamId| self.p.params.get(id.index()).map(|p| p.default);
        fold::fold(self.p, &ctx.capacity, &default).unwrap_or(1).max(1)
    }

    pub(super) fn context_functions_in_kernel(&mut self) {
        for id in 0..self.p.ids.len() {
            self.id_equality(IdId(id as u32));
        }
        self.telling_functions();
        self.notify_instruction();
        for def in &self.p.structs {
            self.initial(&def.name, &def.fields);
        }
        for def in &self.p.scratchpads {
            self.initial(&def.name, &def.fields);
        }
        for (number, ctx) in self.p.contexts.iter().enumerate() {
            self.initial(&ctx.name, &ctx.fields);
            if self.is_kept(CtxId(number as u32)) {
                self.kept_function();
            }
            self.handle_functions(ctx, number);
            self.find_in_map(ctx, number);
            if !ctx.global {
                self.slots_in_maps(ctx, number);
                self.instance_instructions(ctx, number);
                self.remove_from_map(ctx, number);
            }
            if self.uses_timers() {
                self.timer_instructions(ctx);
            }
            self.unit_functions(ctx, number);
        }
    }

    fn found_not_held(&mut self, ctx: &ContextDef, number: usize) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let (id, equal) = (self.names.id(ctx.id), self.names.own(&self.p.ids[ctx.id.index()].name));
        let core = self.core_param();
        self.w.line("/* The instance with this id, held by whoever holds it; NULL if there is none. */");
        self.w.open(format!("CARRICK_INLINE struct {ty} *{name}_find({core}, const struct {id} *id) {{"));
        let key = self.key(ctx);
        self.w.line(format!("uint32_t *slot = bpf_map_lookup_elem(&index_{number}, {key});"));
        self.w.line("uint32_t at = slot ? *slot : 0;");
        self.w.line(format!("struct {ty} *c = slot ? bpf_map_lookup_elem(&slots_{number}, &at) : NULL;"));
        self.w.end_with(format!("return c && c->live__ == 1 && {equal}_equal(&c->id__, id) ? c : NULL;"));
    }

    fn find_in_map(&mut self, ctx: &ContextDef, number: usize) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let id = self.names.id(ctx.id);
        if !ctx.global {
            self.found_not_held(ctx, number);
        }
        self.w.line("/* The instance with this id, held by this processor; NULL if there is none, or if another one holds it too long. */");
        self.w.open(format!(
            "CARRICK_INLINE struct {ty} *{name}_take(struct {} *core, CARRICK_UNUSED const struct {id} *id) {{",
            self.names.own("core")
        ));
        if ctx.global {
            self.w.line("uint32_t at = 0;");
        } else {
            let key = self.key(ctx);
            self.w.line(format!("uint32_t *slot = bpf_map_lookup_elem(&index_{number}, {key});"));
            self.w.line("if (!slot)\n    return NULL;");
            self.w.line("uint32_t at = *slot;");
        }
        self.w.line(format!("struct {ty} *c = bpf_map_lookup_elem(&slots_{number}, &at);"));
        self.w.line("if (!c)\n    return NULL;");
        let kept = self.is_kept(CtxId(number as u32));
        if kept {
            self.w.line("if (core->kept && core->kept != at + 1)\n    carrick_let_go(core);");
        }
        self.w
            .open(format!("if ({}!carrick_hold(&c->held__)) {{", if kept { "!core->kept && " } else { "" }));
        self.w.line("core->busy++;");
        self.w.line("core->chain.stopped = true;");
        self.w.line("return NULL;");
        self.w.close("}");
        if kept {
            self.w.line("core->kept = at + 1;");
        }
        if !ctx.global {
            let equal = self.names.own(&self.p.ids[ctx.id.index()].name);
            self.w.line("/* It may have gone, or be another one, since it was found. */");
            self.w.open(format!("if (c->live__ != 1 || !{equal}_equal(&c->id__, id)) {{"));
            if !kept {
                self.w.line("carrick_release(&c->held__);");
            }
            self.w.line("return NULL;");
            self.w.close("}");
        }
        if ctx.global {
            self.w.line("/* It is there from the start on. */");
            self.w.open("if (!c->live__) {");
            self.initial_fields("c->", &ctx.fields);
            self.w.line("c->generation__ = c->live__ = 1;");
            self.w.close("}");
        }
        self.w.end_with("return c;");
    }

    /// What the instructions on instances stand on: a stack of slots, and a map from ids to them.
    fn slots_in_maps(&mut self, ctx: &ContextDef, number: usize) {
        let (ty, name, id) =
            (self.names.declared(&ctx.name), self.names.own(&ctx.name), self.names.id(ctx.id));
        let core = self.core_param();
        self.w.line("/* A slot that no instance has; NULL if there is none. */");
        self.w.open(format!("CARRICK_INLINE struct {ty} *{name}_vacant({core}) {{"));
        self.w.line("uint32_t slot = 0;");
        self.w.line(format!("bool room = bpf_map_pop_elem(&free_{number}, &slot) == 0;"));
        self.w.line(format!("struct {ty} *c = room ? bpf_map_lookup_elem(&slots_{number}, &slot) : NULL;"));
        self.w.line("if (c)\n    c->slot__ = slot;");
        self.w.line("if (c && !c->generation__)\n    c->generation__ = 1;");
        self.w.end_with("return c;");
        self.w.line("/* The slot can be used again. */");
        self.w.open(format!("CARRICK_INLINE void {name}_free({core}, uint32_t slot) {{"));
        self.w.end_with(format!("(void)bpf_map_push_elem(&free_{number}, &slot, 0);"));
        self.w.line("/* The slot is found by this id from now on; false if another one is. */");
        self.w.open(format!(
            "CARRICK_INLINE bool {name}_index({core}, const struct {id} *id, uint32_t slot) {{"
        ));
        let key = self.key(ctx);
        self.w.end_with(format!(
            "return bpf_map_update_elem(&index_{number}, {key}, &slot, CARRICK_BPF_NOEXIST) == 0;"
        ));
        self.w.line("/* It is not found by this one any more. */");
        self.w.open(format!(
            "CARRICK_INLINE void {name}_unindex({core}, const struct {id} *id, CARRICK_UNUSED uint32_t slot) {{"
        ));
        let key = self.key(ctx);
        self.w.end_with(format!("(void)bpf_map_delete_elem(&index_{number}, {key});"));
    }

    fn remove_from_map(&mut self, ctx: &ContextDef, number: usize) {
        let (ty, name, param) =
            (self.names.declared(&ctx.name), self.names.own(&ctx.name), self.core_param());
        self.w.line("/* What is found by the slot's handle is gone. */");
        self.w.open(format!("CARRICK_INLINE void {name}_vacate(struct {ty} *c) {{"));
        self.w.line("c->generation__ = c->generation__ == 0xffffff ? 1 : c->generation__ + 1;");
        self.w.end_with("c->live__ = 0;");
        if ctx.rx_capacity.is_some() {
            self.w.line(format!("CARRICK_INLINE void {name}_rx_close(struct {ty} *c);"));
        }
        self.w.line("/* The instance is gone; its slot waits for packets of its unit. */");
        self.w.open(format!("CARRICK_INLINE void {name}_remove({param}, struct {ty} *c) {{"));
        self.w.line("uint32_t slot = c->slot__;");
        self.each_timer(ctx, &|number| vec![format!("c->timers__[{number}].armed = 0;")]);
        self.w.line(format!("{name}_unindex(core, &c->id__, slot);"));
        if self.is_kept(CtxId(number as u32)) {
            self.w.line("core->kept = 0;");
        }
        self.units_end(ctx);
        self.w.line("if (!waits)");
        self.w.line(format!("    {name}_vacate(c);"));
        self.w.line("carrick_release(&c->held__);");
        self.w.line("if (!waits)");
        self.w.end_with(format!("    {name}_free(core, slot);"));
    }

    fn uses_timers(&self) -> bool {
        let used = uses::instructions(self.p);
        ["timer_start", "timer_restart", "timer_stop"].iter().any(|timer| used.contains(timer))
    }
}
