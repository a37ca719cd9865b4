// SPDX-License-Identifier: MIT OR Apache-2.0
//! Context tables, and the instructions on one context: specialised to its type.

use carrick_ir::{self as ir, ContextDef, Opcode, Ty};

use crate::Emitter;
use crate::names::{leaves, safe};

impl Emitter<'_> {
    pub(crate) fn context_functions(&mut self) {
        for id in 0..self.p.ids.len() {
            let id = ir::IdId(id as u32);
            self.id_equality(id);
            self.id_hash(id);
        }
        self.notify_function();
        for index in 0..self.p.structs.len() {
            let def = &self.p.structs[index];
            self.initial(&def.name, &def.fields);
        }
        for index in 0..self.p.contexts.len() {
            let ctx = &self.p.contexts[index];
            self.beside_functions(ctx);
            self.initial(&ctx.name, &ctx.fields);
            self.handle_functions(ctx, index);
            if ctx.global {
                self.begin_function(ctx, index);
            } else {
                self.find_function(ctx);
                self.slot_functions(ctx, index);
                self.instance_instructions(ctx, index);
                self.free_functions(ctx);
                self.reclaim_function(ctx, index);
            }
            self.timer_instructions(ctx);
            self.ring_functions(ctx);
        }
    }

    /// Whether two ids are the same.
    pub fn id_equality(&mut self, id: ir::IdId) {
        let def = &self.p.ids[id.index()];
        let (ty, name) = (self.names.id(id), self.names.own(&def.name));
        let parts = leaves(self.p, &def.parts);
        let equal: Vec<String> = parts.iter().map(|(part, _)| format!("a->{part} == b->{part}")).collect();
        self.w.open(format!(
            "CARRICK_INLINE bool {name}_equal(CARRICK_UNUSED const struct {ty} *a, CARRICK_UNUSED const struct {ty} *b) {{"
        ));
        let equal = if equal.is_empty() { "true".into() } else { equal.join(" && ") };
        self.w.end_with(format!("return {equal};"));
    }

    fn id_hash(&mut self, id: ir::IdId) {
        let def = &self.p.ids[id.index()];
        let (ty, name, core) = (self.names.id(id), self.names.own(&def.name), self.core_param());
        self.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {name}_hash({core}, CARRICK_UNUSED const struct {ty} *id) {{"
        ));
        self.w.line("uint64_t h = core->key.k0;");
        for word in words(&leaves(self.p, &def.parts)) {
            self.w.line(format!("h = carrick_mix(h, ({}) ^ core->key.k1);", word.join(" | ")));
        }
        self.w.end_with("return (uint32_t)(h ^ (h >> 32));");
    }

    fn claim_function(&mut self) {
        if self.p.claims.is_empty() {
            return;
        }
        let chain = self.names.own("chain");
        self.w.line("#ifdef CARRICK_CLAIMS");
        self.w.line("/* Reports a claim that does not hold, and on whose chain. */");
        self.open_on_core(
            "CARRICK_GLOBAL_FN int ",
            "claim_failed",
            &format!(", const struct {chain} *chain, uint32_t claim"),
        );
        self.w.line("CARRICK_GIVEN(core && chain);");
        self.w.line("core->counters[CARRICK_COUNT_CLAIMS_FAILED]++;");
        self.w.line("CARRICK_REPORT(core, CARRICK_TRACE_CLAIM, claim, chain->handle, chain->event);");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line("#endif");
        self.w.blank();
    }

    /// Counts a refusal; false, so that it can be returned.
    fn refuse_function(&mut self) {
        let core = self.core_param();
        let name = self.names.own("refuse");
        self.w.open(format!("CARRICK_INLINE bool {name}({core}, uint32_t counter) {{"));
        self.w.line("core->counters[carrick_at(counter, CARRICK_COUNTERS)]++;");
        self.tell("CARRICK_TRACE_DROP", "counter", &[]);
        self.w.end_with("return false;");
    }

    /// What says of a program how it goes, beside traces.
    pub fn telling_functions(&mut self) {
        self.claim_function();
        self.refuse_function();
    }

    fn notify_function(&mut self) {
        self.telling_functions();
        let (core, complete) = (self.core_param(), self.names.own("complete"));
        self.w.open(format!(
            "CARRICK_INLINE void {complete}({core}, uint64_t token, uint8_t status, uint64_t value) {{"
        ));
        self.memory_forget("token");
        self.w.line("if (!carrick_cq_put(&core->completions, token, status, value))");
        self.w.end_with("    core->counters[CARRICK_COUNT_COMPLETION_LOST]++;");
        self.notify_instruction();
        self.put_data_function();
    }

    /// `notify`, over the target's function that completes a request.
    pub fn notify_instruction(&mut self) {
        let (core, complete, name) =
            (self.core_param(), self.names.own("complete"), self.names.own("notify"));
        self.w.line("/* Completes a request; nothing for none. */");
        self.w.open(format!(
            "CARRICK_INLINE void {name}({core}, uint64_t token, uint8_t status, uint64_t value) {{"
        ));
        self.trace_instr(Opcode::Notify, &["token", "status", "value"]);
        self.w.line("if (token)");
        self.w.end_with(format!("    {complete}(core, token, status, value);"));
    }

    /// The function that makes the initial value of a record.
    pub fn initial(&mut self, declared: &str, fields: &[ir::FieldDef]) {
        let (ty, name) = (self.names.declared(declared), self.names.own(declared));
        let core = self.core_param();
        self.w.open(format!("CARRICK_INLINE void {name}_initial({core}, struct {ty} *v) {{"));
        self.w.line("CARRICK_ZERO(v);");
        self.initial_fields("v->", fields);
        self.w.end();
    }

    /// Sets those fields whose initial value is not zero, which stand behind `at`.
    pub fn initial_fields(&mut self, at: &str, fields: &[ir::FieldDef]) {
        for field in fields {
            let place = format!("{at}{}", safe(&field.name));
            if let Some(init) = &field.init {
                let text = format!("{place} = {};", self.value(init));
                self.w.line(text);
            } else {
                self.initial_parts(&place, &field.ty);
            }
        }
    }

    /// Sets what of a place's records does not start as zero; an array's elements one by one. The place is zero.
    pub(crate) fn initial_parts(&mut self, place: &str, ty: &ir::Ty) {
        if self.starts_as_zero(ty) {
            return;
        }
        if let Some(initialiser) = self.initialiser(ty) {
            self.w.line(format!("{initialiser}(core, &{place});"));
        } else if let ir::Ty::Array(of, n) = ty {
            let at = format!("i{}", place.matches('[').count());
            self.w.open(format!("for (uint32_t {at} = 0; {at} < {n}u; {at}++) {{"));
            self.initial_parts(&format!("{place}[{at}]"), of);
            self.w.close("}");
        }
    }

    /// Whether a value of the type without an initial value of its own is zero.
    fn starts_as_zero(&self, ty: &ir::Ty) -> bool {
        match ty {
            ir::Ty::Array(of, _) => self.starts_as_zero(of),
            ir::Ty::Struct(id) => {
                let fields = &self.p.structs[id.index()].fields;
                fields.iter().all(|field| field.init.is_none() && self.starts_as_zero(&field.ty))
            }
            ir::Ty::Context(_) | ir::Ty::Blueprint(_) => false,
            _ => true,
        }
    }

    /// From an instance to its handle, and to an instance from its slot or its handle.
    pub fn handle_functions(&mut self, ctx: &ContextDef, index: usize) {
        let (ty, name, core) = (self.names.declared(&ctx.name), self.names.own(&ctx.name), self.core_param());
        self.w.open(format!("CARRICK_INLINE uint64_t {name}_handle(const struct {ty} *c) {{"));
        self.w.line(format!(
            "return (uint64_t){} << 56 | (uint64_t)c->generation__ << 32 | c->slot__;",
            index + 1
        ));
        self.w.end();
        self.w.open(format!("CARRICK_INLINE struct {ty} *{name}_at({core}, uint32_t slot) {{"));
        let slot = format!("core, {}, {index}, slot", ctx.name);
        self.w.end_with(format!("return CARRICK_SLOT({slot});"));
        self.w.line("/* The instance with this handle, NULL if it is gone. */");
        self.w.open(format!("CARRICK_INLINE struct {ty} *{name}_by_handle({core}, uint64_t handle) {{"));
        self.w.line("uint32_t slot = (uint32_t)handle;");
        let there = format!("handle >> 56 == {} && CARRICK_SLOT_USED({slot})", index + 1);
        self.w.line(format!("bool there = {there};"));
        self.w.line(format!("struct {ty} *c = there ? {name}_at(core, slot) : NULL;"));
        self.w.end_with(format!("return c && c->live__ && {name}_handle(c) == handle ? c : NULL;"));
        if ctx.tx_capacity.is_some() {
            self.payload_function(&ty, &name, index);
        }
    }

    /// Bytes of an instance's TX unit as a payload.
    fn payload_function(&mut self, ty: &str, name: &str, index: usize) {
        let payload = format!("struct {}", self.names.own("payload"));
        self.w.line("/* Bytes of its TX unit: a payload with at most `mss` bytes a packet. */");
        self.w.open(format!(
            "CARRICK_INLINE {payload} {name}_payload(const struct {ty} *c, uint64_t offset, uint64_t len, uint64_t mss) {{"
        ));
        let fields =
            format!(".offset = offset, .len = len, .mss = mss, .slot = c->slot__, .type = {}", index + 1);
        self.w.end_with(format!("return ({payload}){{{fields}}};"));
    }

    fn find_function(&mut self, ctx: &ContextDef) {
        let (ty, name, field) = (self.names.declared(&ctx.name), self.names.own(&ctx.name), &ctx.name);
        let id = &self.p.ids[ctx.id.index()].name;
        let (id_ty, id_name) = (self.names.id(ctx.id), self.names.own(id));
        let core = self.core_param();
        self.w.line("/* The instance with this id, NULL if there is none. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline struct {ty} *{name}_find({core}, const struct {id_ty} *id) {{"
        ));
        self.w.line(format!("const struct carrick_table *t = &core->{field}_table;"));
        self.w.line(format!("uint32_t hash = {id_name}_hash(core, id);"));
        self.w.open("for (uint32_t at = hash & t->mask; t->entries[at].slot; at = (at + 1) & t->mask) {");
        self.w.open("if (t->entries[at].hash == hash) {");
        self.w.line(format!("struct {ty} *c = &core->{field}_slots[t->entries[at].slot - 1];"));
        self.w.line(format!("if ({id_name}_equal(&c->id__, id))"));
        self.w.line("    return c;");
        self.w.close("}");
        self.w.close("}");
        self.w.end_with("return NULL;");
    }

    /// The instructions that make an instance, delete it and give it another id, over what a target has for it: a
    /// vacant slot, and what finds a slot by its id.
    pub fn instance_instructions(&mut self, ctx: &ContextDef, index: usize) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let id = &self.p.ids[ctx.id.index()];
        let (id_ty, core) = (self.names.id(ctx.id), self.core_param());
        let parts = leaves(self.p, &id.parts);
        let parts: Vec<String> = parts.iter().map(|(part, _)| format!("(uint64_t)id.{part}")).collect();
        let (number, handle) = (format!("{index}u"), format!("{name}_handle(c)"));
        let words = |first: &[&str]| first.iter().map(|w| (*w).to_owned()).chain(parts.clone()).collect();
        self.retire_functions(ctx, index);
        self.w.line("/* new_ctx: the slot freed last, else one that was never used. */");
        self.w.open(format!(
            "CARRICK_INLINE void {name}_new({core}, struct {id_ty} id, const struct {ty} *values) {{"
        ));
        self.w.line(format!("struct {ty} *c = {name}_vacant(core);"));
        self.reclaims(ctx, &name);
        self.w.open(format!("if (c && !{name}_index(core, &id, c->slot__)) {{"));
        self.w.line(format!("{name}_free(core, c->slot__);"));
        self.w.line("c = NULL;");
        self.w.close("}");
        self.w.open("if (!c) {");
        self.w.line("core->counters[CARRICK_COUNT_CTX_REFUSED]++;");
        self.trace_words(Opcode::NewCtx, words(&[&number, "0"]));
        self.w.line("return;");
        self.w.close("}");
        self.w.line(format!("CARRICK_COPY_UNTIL(struct {ty}, id__, c, values);"));
        self.copy_beside(ctx);
        self.set_id(id);
        self.w.line(format!("{name}_begins(core, c);"));
        self.begin_flow(&name);
        self.w.line("c->live__ = 1;");
        self.trace_words(Opcode::NewCtx, words(&[&number, &handle]));
        self.traced(&format!("{name}_trace(core, {name}_handle(c), c);"));
        self.w.end();
        self.w.line("/* del_ctx: takes effect after the chain. */");
        self.w.open(format!(
            "CARRICK_INLINE void {name}_delete({core}, CARRICK_UNUSED struct {} *chain, CARRICK_UNUSED struct {ty} *c) {{",
            self.names.own("chain")
        ));
        self.trace_instr(Opcode::DelCtx, &[&handle]);
        self.w.end_with("chain->deleted = true;");
        if !ir::uses::instructions(self.p).contains("rebind_ctx") {
            return;
        }
        self.w.line("/* rebind_ctx: found by another id from now on. */");
        self.w
            .open(format!("CARRICK_INLINE void {name}_rebind({core}, struct {ty} *c, struct {id_ty} id) {{"));
        self.trace_words(Opcode::RebindCtx, words(&[&handle]));
        self.w.line(format!("if ({}_equal(&c->id__, &id))\n    return;", self.names.own(&id.name)));
        self.w.open(format!("if (!{name}_index(core, &id, c->slot__)) {{"));
        self.w.line("core->counters[CARRICK_COUNT_CTX_REFUSED]++;");
        self.w.line("return;");
        self.w.close("}");
        self.w.line(format!("{name}_unindex(core, &c->id__, c->slot__);"));
        self.set_id(id);
        self.w.end();
    }

    fn trace_words(&mut self, op: Opcode, words: Vec<String>) {
        self.trace_instr(op, &words.iter().map(|word| &**word).collect::<Vec<_>>());
    }

    /// Part by part: in the index what lies between them counts as well.
    fn set_id(&mut self, id: &ir::IdDef) {
        for part in &id.parts {
            self.w.line(format!("c->id__.{0} = id.{0};", safe(&part.name)));
        }
    }

    /// What the instructions on instances stand on.
    fn slot_functions(&mut self, ctx: &ContextDef, index: usize) {
        let (ty, name, field) = (self.names.declared(&ctx.name), self.names.own(&ctx.name), &ctx.name);
        let id = &self.p.ids[ctx.id.index()].name;
        let (id_ty, id_name, core) = (self.names.id(ctx.id), self.names.own(id), self.core_param());
        self.w.line("/* A slot that no instance has; NULL if there is none. */");
        self.w.open(format!("CARRICK_INLINE struct {ty} *{name}_vacant({core}) {{"));
        self.w.line(format!("uint32_t slot = core->{field}_free;"));
        self.w.line(format!("if (!slot && core->{field}_fresh == core->{field}_capacity)\n    return NULL;"));
        self.w.line(format!("slot = slot ? slot - 1 : core->{field}_fresh++;"));
        self.w.line(format!("struct {ty} *c = &core->{field}_slots[slot];"));
        self.w.line(format!("core->{field}_free = c->next_free__;"));
        self.w.line("c->next_free__ = 0;");
        self.w.line("if (!c->generation__)\n    c->generation__ = 1;");
        self.w.line("c->slot__ = slot;");
        self.beside_begins(ctx);
        self.w.end_with("return c;");
        self.w.line("/* What the program does not see of a new instance. */");
        self.w.open(format!("CARRICK_INLINE void {name}_begins({core}, CARRICK_UNUSED struct {ty} *c) {{"));
        self.begin_timers(ctx, index);
        self.w.end_with(format!("core->{field}_live++;"));
        self.w.line("/* The slot can be used again. */");
        self.w.open(format!("CARRICK_INLINE void {name}_free({core}, uint32_t slot) {{"));
        self.w.line(format!("core->{field}_slots[slot].next_free__ = core->{field}_free;"));
        self.w.end_with(format!("core->{field}_free = slot + 1;"));
        self.w.line("/* The slot is found by this id from now on; false if another one is. */");
        self.w.open(format!(
            "CARRICK_INLINE bool {name}_index({core}, const struct {id_ty} *id, uint32_t slot) {{"
        ));
        self.w.line(format!("if ({name}_find(core, id))\n    return false;"));
        self.w.line(format!("uint32_t hash = {id_name}_hash(core, id);"));
        self.w.line(format!("carrick_table_insert(&core->{field}_table, hash, slot);"));
        self.w.end_with("return true;");
        self.w.line("/* It is not found by this one any more. */");
        self.w.open(format!(
            "CARRICK_INLINE void {name}_unindex({core}, const struct {id_ty} *id, uint32_t slot) {{"
        ));
        self.w.line(format!("uint32_t hash = {id_name}_hash(core, id);"));
        self.w.end_with(format!("carrick_table_remove(&core->{field}_table, hash, slot);"));
    }

    /// In the function that makes an instance.
    fn begin_timers(&mut self, ctx: &ContextDef, index: usize) {
        self.each_timer(ctx, &|number| {
            vec![
                format!("c->timers__[{number}].slot = c->slot__;"),
                format!("c->timers__[{number}].type = {index};"),
                format!(
                    "c->timers__[{number}].number = {};",
                    if number == "at" { "(uint8_t)at" } else { number }
                ),
            ]
        });
    }

    /// The only instance of a global context.
    fn begin_function(&mut self, ctx: &ContextDef, index: usize) {
        let (ty, name, field) = (self.names.declared(&ctx.name), self.names.own(&ctx.name), &ctx.name);
        let core = self.core_param();
        self.w.line("/* A global context is there from the start on. */");
        self.w.open(format!("CARRICK_UNUSED static inline void {name}_begin({core}) {{"));
        self.w.line(format!("struct {ty} *c = core->{field}_slots;"));
        self.w.line(format!("{name}_initial(core, c);"));
        self.w.line("c->generation__ = 1;");
        self.w.line("c->live__ = true;");
        self.w.line(format!("core->{field}_fresh = 1;"));
        self.begin_timers(ctx, index);
        self.w.end();
    }

    fn free_functions(&mut self, ctx: &ContextDef) {
        let (ty, name, field) = (self.names.declared(&ctx.name), self.names.own(&ctx.name), &ctx.name);
        let core = self.core_param();
        self.w.line("/* What is found by the slot's handle is gone, and the slot can be used again. */");
        self.w.open(format!("CARRICK_INLINE void {name}_release({core}, struct {ty} *c) {{"));
        self.w.line("c->generation__ = c->generation__ == 0xffffff ? 1 : c->generation__ + 1;");
        self.w.end_with(format!("{name}_free(core, c->slot__);"));
        self.w.line("/* The instance is gone; its slot waits for packets that are still queued. */");
        self.w.open(format!("CARRICK_UNUSED static inline void {name}_remove({core}, struct {ty} *c) {{"));
        self.each_timer(ctx, &|number| {
            vec![format!("carrick_timer_stop(&core->wheel, &c->timers__[{number}]);")]
        });
        self.w.line(format!("{name}_unindex(core, &c->id__, c->slot__);"));
        self.w.line("c->live__ = false;");
        self.removed_is_kept(ctx);
        self.clear_beside(ctx);
        self.w.line(format!("core->{field}_live--;"));
        if ctx.rx_capacity.is_some() {
            self.w.line(format!("carrick_rx_close(&c->rx__, &core->{field}_rx_pool, c->slot__);"));
        }
        if ctx.tx_capacity.is_some() {
            self.w.line("c->tx__.open = false;");
            self.w.line("if (c->tx__.pending)\n    return;");
            self.w.line(format!("carrick_tx_vacate(&c->tx__, &core->{field}_tx_pool, c->slot__);"));
        }
        self.w.end_with(format!("{name}_release(core, c);"));
    }

    /// What instructions on a unit do with its bytes.
    fn ring_functions(&mut self, ctx: &ContextDef) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        let core = self.core_param();
        if ctx.tx_capacity.is_some() {
            let pool = format!("&core->{}_tx_pool", ctx.name);
            self.w.open(format!(
                "CARRICK_INLINE uint64_t {name}_tx_put({core}, struct {ty} *c, struct carrick_addr from, uint64_t len) {{"
            ));
            self.w.end_with(format!("from = carrick_memory_there(&core->memory, from);\nreturn carrick_tx_add(&c->tx__, {pool}, c->slot__, from, len);"));
            self.w.open(format!(
                "CARRICK_INLINE uint64_t {name}_tx_pass({core}, struct {ty} *c, uint64_t len) {{"
            ));
            self.w.end_with(format!("return carrick_tx_pass(&c->tx__, {pool}, c->slot__, len);"));
            self.sending_instructions(ctx);
        }
        if ctx.rx_capacity.is_some() {
            let pool = format!("&core->{}_rx_pool", ctx.name);
            self.w.open(format!(
                "CARRICK_INLINE enum carrick_rx_result {name}_rx_put({core}, struct {ty} *c, struct carrick_addr from, uint64_t len, uint64_t offset) {{"
            ));
            self.w.end_with(format!("from = carrick_memory_there(&core->memory, from);\nreturn carrick_rx_add(&c->rx__, {pool}, c->slot__, from, len, offset);"));
            self.w.open(format!(
                "CARRICK_INLINE uint64_t {name}_rx_take({core}, struct {ty} *c, uint64_t len, struct carrick_addr to) {{"
            ));
            self.w.line("len = to.ptr ? carrick_min64(len, to.len) : len;");
            self.w.line("to = carrick_memory_there(&core->memory, to);");
            self.w.end_with(format!("return carrick_rx_flush(&c->rx__, {pool}, c->slot__, len, to);"));
            self.w.open(format!(
                "CARRICK_INLINE void {name}_rx_begin({core}, struct {ty} *c, uint64_t size) {{"
            ));
            self.w.end_with(format!("carrick_rx_begin(&c->rx__, {pool}, c->slot__, size);"));
            self.w
                .open(format!("CARRICK_INLINE void {name}_rx_fit({core}, struct {ty} *c, uint64_t size) {{"));
            self.w.end_with(format!("carrick_rx_resize(&c->rx__, {pool}, c->slot__, size);"));
            self.receiving_instructions(ctx);
        }
    }
}

/// The parts of an id in as few 64-bit words as they fill in their order: C that makes each word, in pieces to be joined.
fn words(parts: &[(String, &Ty)]) -> Vec<Vec<String>> {
    let mut words = Vec::new();
    let mut used = 64;
    for (part, ty) in parts {
        let bits = match ty {
            Ty::Bool => 1,
            Ty::Int { bits, signed: false } => *bits,
            Ty::Seq32 => 32,
            _ => 64,
        };
        if used + bits > 64 {
            words.push(Vec::new());
            used = 0;
        }
        let shift = if used == 0 { String::new() } else { format!(" << {used}") };
        words.last_mut().expect("a word has begun").push(format!("(uint64_t)id->{part}{shift}"));
        used += bits;
    }
    words
}
