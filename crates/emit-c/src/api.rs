// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core's beginning, its program table, the public header and the Makefile.

use std::fmt::Write;

use carrick_ir::{ContextDef, Program, Ty, arith};

use crate::Emitter;
use crate::core_struct::QUEUE;
use crate::layout::folded;
use crate::names::{Names, safe};
use crate::text;

impl Emitter<'_> {
    /// `footprint`, `init` and what only reads.
    pub(crate) fn life(&mut self) {
        self.take_params();
        self.requirements();
        self.layout_function();
        self.footprint_and_init();
        self.readers();
        self.identity();
        self.bursts();
    }

    /// One walk over all arrays that serves both the footprint (base NULL) and the placing.
    fn layout_function(&mut self) {
        let core = self.names.own("core");
        self.w.line("/* Parameters and capacities from the configuration, arrays from base on; returns the octets, 0 if the");
        self.w.line(" * configuration is invalid. With base NULL nothing is placed. */");
        self.open_on_core("static size_t ", "layout", ", const struct carrick_config *config, uint8_t *base");
        self.w.line("uint32_t completions = config->completions ? config->completions : 1024;");
        let least = self.ip().least_mtu;
        self.w.line(format!(
            "if (config->mtu < {least} || config->mtu > 65535 || (completions & (completions - 1)))"
        ));
        self.w.line("    return 0;");
        if !self.p.params.is_empty() {
            self.w.line(format!("if (!{}(core, config))\n    return 0;", self.names.own("take_params")));
        }
        if !self.p.requirements.is_empty() {
            self.w.line(format!("if ({}(core))\n    return 0;", self.names.own("first_unmet")));
        }
        self.w.line("size_t at = 0;");
        self.w.line(format!("(void)carrick_place(base, &at, sizeof(struct {core}));"));
        self.w.line("core->completions.capacity = completions;");
        self.w.line("core->completions.ring = (struct carrick_completion *)(void *)carrick_place(base, &at, completions * sizeof(struct carrick_completion));");
        self.memory_layout();
        let entry = self.names.own("entry");
        self.w.line(format!(
            "core->queue = (struct {entry} *)(void *)carrick_place(base, &at, {QUEUE} * sizeof(struct {entry}));"
        ));
        for ctx in &self.p.contexts {
            self.context_layout(ctx);
        }
        self.waiting_layout();
        self.blocks_layout();
        self.store_layout();
        self.w.end_with("return at;");
    }

    /// Reads the parameters of the configuration; the function returns false if one is outside its range.
    fn take_params(&mut self) {
        if self.p.params.is_empty() {
            return;
        }
        self.open_own(
            "static bool ",
            "take_params",
            &format!("struct {} *core, const struct carrick_config *config", self.names.own("core")),
        );
        for (index, param) in self.p.params.iter().enumerate() {
            let name = safe(&param.name);
            let c = self.names.ctype(&param.ty);
            let default = self.literal(param.default, &param.ty);
            let conversion = if param.ty == Ty::Bool { " != 0" } else { "" };
            self.w.line(format!(
                "core->params.{name} = config->params ? ({c})(config->params[{index}]{conversion}) : {default};"
            ));
            let (bits, signed) = arith::shape(&param.ty);
            let mut wrong = Vec::new();
            if signed || param.lo > 0 {
                wrong.push(format!("core->params.{name} < {}", self.literal(param.lo, &param.ty)));
            }
            let top = if signed { i64::MAX as u64 >> (64 - bits) } else { u64::MAX >> (64 - bits) };
            if param.hi != top {
                wrong.push(format!("core->params.{name} > {}", self.literal(param.hi, &param.ty)));
            }
            if !wrong.is_empty() && param.ty != Ty::Bool {
                self.w.line(format!("if ({})\n    return false;", wrong.join(" || ")));
            }
        }
        self.w.end_with("return true;");
    }

    /// What the program requires of its parameters, of a core and for the program table.
    fn requirements(&mut self) {
        if self.p.requirements.is_empty() {
            return;
        }
        let (core, first) = (self.names.own("core"), self.names.own("first_unmet"));
        self.w.line("/* The first requirement that the parameters do not meet, NULL if they meet all. */");
        self.w.open(format!("static const char *{first}(const struct {core} *core) {{"));
        self.w.line("(void)core;");
        for required in &self.p.requirements {
            let (cond, text) = (self.expr(&required.cond), text::string(&required.text));
            self.w.line(format!("if (!{cond})\n    return {text};"));
        }
        self.w.end_with("return NULL;");
        self.open_own("static const char *", "unmet", "const struct carrick_config *config");
        self.w.line(format!("struct {core} core = {{0}};"));
        if self.p.params.is_empty() {
            self.w.line("(void)config;");
            self.w.line(format!("return {first}(&core);"));
        } else {
            let take = self.names.own("take_params");
            self.w.line(format!("return {take}(&core, config) ? {first}(&core) : NULL;"));
        }
        self.w.end();
    }

    fn context_layout(&mut self, ctx: &ContextDef) {
        let (field, ty) = (&ctx.name, self.names.declared(&ctx.name));
        let capacity = self.value(&ctx.capacity);
        self.w.line(format!("uint64_t {field}_capacity = {capacity};"));
        self.w.line(format!("if ({field}_capacity > 1u << 30)"));
        self.w.line("    return 0;");
        self.w.line(format!("core->{field}_capacity = (uint32_t){field}_capacity;"));
        self.w.line(format!(
            "core->{field}_slots = (struct {ty} *)(void *)carrick_place(base, &at, {field}_capacity * sizeof(struct {ty}));"
        ));
        self.beside_layout(ctx);
        self.w.line(format!(
            "core->{field}_table.mask = (uint32_t)carrick_pow2({field}_capacity * 2 + 2) - 1;"
        ));
        self.w.line(format!(
            "core->{field}_table.entries = (struct carrick_entry *)(void *)carrick_place(base, &at, (core->{field}_table.mask + (uint64_t)1) * sizeof(struct carrick_entry));"
        ));
        for size in ctx.unit_sizes() {
            let size = self.expr(size);
            self.w.line(format!("if ({size} > 1u << 30)"));
            self.w.line("    return 0;");
        }
        if let Some(size) = &ctx.tx_capacity {
            let size = self.expr(size);
            self.w.line(format!(
                "carrick_pool_layout(&core->{field}_tx_pool, base, &at, {field}_capacity, {size}, 0u, 0u);"
            ));
        }
        if let Some(least) = &ctx.rx_capacity {
            let growth =
                ctx.rx_growth.as_ref().map(|growth| (self.value(&growth.most), self.value(&growth.pool)));
            let (least, (most, pool)) = (self.value(least), growth.unwrap_or(("0u".into(), "0u".into())));
            self.w.line(format!(
                "carrick_pool_layout(&core->{field}_rx_pool, base, &at, {field}_capacity, {least}, {most}, {pool});"
            ));
            self.w.line(format!(
                "carrick_pool_layout_runs(&core->{field}_rx_pool, base, &at, {field}_capacity);"
            ));
        }
    }

    fn footprint_and_init(&mut self) {
        let (core, layout) = (self.names.own("core"), self.names.own("layout"));
        self.open_own("static size_t ", "footprint", "const struct carrick_config *config");
        self.w.line(format!("struct {core} core = {{0}};"));
        self.w.end_with(format!("return {layout}(&core, config, NULL);"));
        self.capacity_function();
        self.open_own(
            "static struct carrick_core *",
            "init",
            "void *memory, const struct carrick_config *config",
        );
        self.w.line(format!("struct {core} *core = memory;"));
        self.w.line(format!("if (!{layout}(core, config, memory))"));
        self.w.line("    return NULL;");
        self.w.line(format!("core->address = config->{};", self.ip().configured));
        self.w.line("core->mtu = config->mtu;");
        if self.has_checksums() {
            self.w.line("core->checksums_offloaded = config->checksums_offloaded;");
        }
        self.w.line("core->rng = carrick_pcg_make(config->seed, 54);");
        self.w.line("core->key = carrick_key_make(config->seed);");
        self.begin_blocks();
        for ctx in self.p.contexts.iter().filter(|c| c.global) {
            self.w.line(format!("{}_begin(core);", self.names.own(&ctx.name)));
        }
        self.w.line("core->records = !config->trace ? 0 : config->records ? config->records : UINT64_MAX;");
        self.w.line("core->sample = config->sample;");
        self.w.line("core->trace = config->trace;");
        self.w.line("core->trace_user = config->trace_user;");
        self.w.end_with("return (struct carrick_core *)core;");
    }

    fn capacity_function(&mut self) {
        let (core, layout) = (self.names.own("core"), self.names.own("layout"));
        self.open_own("static uint32_t ", "capacity", "const struct carrick_config *config");
        self.w.line(format!("struct {core} core = {{0}};"));
        self.w.line("uint64_t most = 0;");
        self.w.line(format!("if (!{layout}(&core, config, NULL))"));
        self.w.line("    return 0;");
        for ctx in self.p.served() {
            self.w.line(format!("most = carrick_max64(most, core.{}_capacity);", ctx.name));
        }
        self.w.end_with("return (uint32_t)most;");
    }

    fn readers(&mut self) {
        let core = self.names.own("core");
        self.next_deadline();
        self.wake_by();
        self.open_own(
            "static bool ",
            "next_completion",
            "struct carrick_core *opaque, struct carrick_completion *out",
        );
        self.w.line(format!("struct {core} *core = (struct {core} *)opaque;"));
        if self.events_wait() {
            self.w.line(format!("(void){}(core);", self.names.own("handle_waiting")));
        }
        self.w.end_with("return carrick_cq_take(&core->completions, out);");
        self.open_own("static const uint64_t *", "counters", "const struct carrick_core *opaque");
        self.w.end_with(format!("return ((const struct {core} *)opaque)->counters;"));
        self.open_own("static uint32_t ", "open_contexts", "const struct carrick_core *opaque");
        self.w.line(format!("const struct {core} *core = (const struct {core} *)opaque;"));
        let live: Vec<String> = self.p.contexts.iter().map(|c| format!("core->{}_live", c.name)).collect();
        let live = if live.is_empty() { "(void)core, 0".into() } else { live.join(" + ") };
        self.w.end_with(format!("return {live};"));
    }

    fn next_deadline(&mut self) {
        let core = self.names.own("core");
        self.open_own("static uint64_t ", "next_deadline", "struct carrick_core *opaque, uint64_t before");
        self.w.line(format!("struct {core} *core = (struct {core} *)opaque;"));
        if self.blocks {
            self.w.line("uint64_t packet = carrick_sched_wakes(&core->sched, 0);");
            self.w.line("if (packet > core->now && packet < before)");
            self.w.line("    return carrick_min64(carrick_wheel_deadline(&core->wheel, packet), packet);");
        }
        self.w.end_with("return carrick_wheel_deadline(&core->wheel, before);");
    }

    fn wake_by(&mut self) {
        let core = self.names.own("core");
        self.open_own("static uint64_t ", "wake_by", "const struct carrick_core *opaque");
        self.w.line(format!("const struct {core} *core = (const struct {core} *)opaque;"));
        if self.blocks {
            self.w.line("uint64_t timer = carrick_wheel_wake_by(&core->wheel), packet = carrick_sched_wakes(&core->sched, 0);");
            self.w.end_with("return packet > core->now ? carrick_min64(timer, packet) : timer;");
        } else {
            self.w.end_with("return carrick_wheel_wake_by(&core->wheel);");
        }
    }

    fn bursts(&mut self) {
        self.open_own("static uint32_t ", "rx_burst", "struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens, uint32_t count, uint64_t now");
        self.w.line("uint32_t taken = 0;");
        self.w.line(format!(
            "while (taken < count && {}(core, packets[taken], lens[taken], now) != CARRICK_AGAIN)",
            self.names.own("rx")
        ));
        self.w.line("    taken++;");
        self.w.end_with("return taken;");
        self.tx_burst();
    }

    fn tx_burst(&mut self) {
        let (tx, core, joined) = (self.names.own("tx"), self.names.own("core"), self.has_joined());
        self.open_own("static uint32_t ", "tx_burst", "struct carrick_core *opaque, uint8_t *const *buffers, uint32_t cap, uint32_t *lens, uint16_t *segments, uint32_t count, uint64_t now");
        if joined {
            self.w.line(format!("struct {core} *core = (struct {core} *)opaque;"));
            self.w.line("core->joins = segments ? cap : 0;");
        }
        self.w.line("uint32_t made = 0;");
        self.w.open("for (; made < count; made++) {");
        self.w.line(format!("lens[made] = {tx}(opaque, buffers[made], cap, now);"));
        self.w.line("if (lens[made] == 0)\n    break;");
        let segment = if joined { "core->segment" } else { "0" };
        self.w.line(format!("if (segments)\n    segments[made] = {segment};"));
        self.w.close("}");
        if joined {
            self.w.line("core->joins = 0;");
        }
        self.w.end_with("return made;");
    }

    /// What a host sees of the program.
    pub(crate) fn program_table(&mut self) {
        let p = self.p;
        let calls = p.interface.as_ref().map_or(&[][..], |i| &i.calls);
        for call in calls {
            let event = &p.events[call.event.index()];
            if event.fields.is_empty() {
                continue;
            }
            let fields: Vec<String> =
                event.fields.iter().map(|f| format!("{{\"{}\", {}}}", f.name, field_kind(&f.ty))).collect();
            self.w.line(format!(
                "static const struct carrick_field_info {}_fields[] = {{{}}};",
                self.names.own(&call.name),
                fields.join(", ")
            ));
        }
        if !calls.is_empty() {
            self.w.open(format!("static const struct carrick_call_info {}[] = {{", self.names.own("calls")));
            for call in calls {
                let n = p.events[call.event.index()].fields.len();
                let fields =
                    if n == 0 { "NULL".into() } else { format!("{}_fields", self.names.own(&call.name)) };
                let on = matches!(call.target, carrick_ir::CallTarget::On(_));
                self.w.line(format!("{{\"{}\", {fields}, {n}, {on}}},", call.name));
            }
            self.w.close("};");
        }
        if !p.params.is_empty() {
            self.w.open(format!(
                "static const struct carrick_param_info {}[] = {{",
                self.names.own("param_infos")
            ));
            for param in &p.params {
                let signed = arith::shape(&param.ty).1;
                let unit = match param.ty {
                    Ty::Duration | Ty::Time => "ns",
                    Ty::Bytes => "B",
                    Ty::Rate => "bps",
                    Ty::Bool => "bool",
                    _ => "",
                };
                self.w.line(format!(
                    "{{\"{}\", UINT64_C({}), UINT64_C({}), UINT64_C({}), {signed}, \"{unit}\"}},",
                    param.name, param.default, param.lo, param.hi
                ));
            }
            self.w.close("};");
        }
        if !p.claims.is_empty() {
            self.w.open(format!(
                "static const struct carrick_claim_info {}[] = {{",
                self.names.own("claim_infos")
            ));
            for claim in &p.claims {
                let (text, file) = (text::string(&claim.text), text::file_string(p.file_of(claim.loc)));
                self.w.line(format!("{{{text}, {file}, {}}},", claim.loc.line));
            }
            self.w.close("};");
        }
        self.w.line(format!(
            "static const char *const {}[CARRICK_COUNTERS] = {{CARRICK_COUNTER_NAMES}};",
            self.names.own("counter_names")
        ));
        self.w.blank();
        self.table(calls.len());
    }

    fn table(&mut self, calls: usize) {
        let p = self.p;
        let own = |name: &str| self.names.own(name);
        let interface = p.interface.as_ref().map_or_else(|| "NULL".into(), |i| format!("\"{}\"", i.name));
        let optional = |n: usize, name: &str| if n == 0 { "NULL".to_owned() } else { own(name) };
        let members = [
            ("abi", "CARRICK_ABI".to_owned()),
            ("name", format!("\"{}\"", p.name)),
            ("interface_name", interface),
            ("source_hash", format!("UINT64_C({})", p.source_hash)),
            ("network", self.ip().network.to_owned()),
            ("protocol", p.net_header.protocol.to_string()),
            ("traced", "CARRICK_TRACED".to_owned()),
            ("params", optional(p.params.len(), "param_infos")),
            ("param_count", p.params.len().to_string()),
            ("calls", optional(calls, "calls")),
            ("call_count", calls.to_string()),
            ("counter_names", own("counter_names")),
            ("counter_count", "CARRICK_COUNTERS".to_owned()),
            ("claims", optional(p.claims.len(), "claim_infos")),
            ("claim_count", p.claims.len().to_string()),
        ];
        let functions = [
            "footprint",
            "capacity",
            "init",
            "rx",
            "rx_burst",
            "tx",
            "tx_burst",
            "call",
            "advance",
            "next_deadline",
            "wake_by",
            "next_completion",
            "counters",
            "open_contexts",
            "identify",
        ];
        let network: &[&str] = if p.in_network.is_some() { &["rx_on", "tx_interface"] } else { &[] };
        let required: &[&str] = if p.requirements.is_empty() { &[] } else { &["unmet"] };
        let lines: Vec<String> = members
            .iter()
            .map(|(name, value)| format!(".{name} = {value},"))
            .chain(p.report_parser.map(|_| ".reports = true,".to_owned()))
            .chain(functions.iter().chain(network).chain(required).map(|f| format!(".{f} = {},", own(f))))
            .collect();
        self.w.open(format!("const struct carrick_program {}_program = {{", p.name));
        for line in lines {
            self.w.line(line);
        }
        self.w.end_type();
    }
}

/// What a field of a call is: enum carrick_field_kind.
fn field_kind(ty: &Ty) -> &'static str {
    match ty {
        Ty::Addr => "true",
        Ty::Id(_) => "CARRICK_FIELD_IP6",
        _ => "false",
    }
}

/// A field's name as a parameter of a function of the header, which has names of its own.
fn parameter(name: &str) -> String {
    const OWN: [&str; 4] = ["handle", "token", "now", "request"];
    if OWN.contains(&name) { format!("{name}_") } else { safe(name) }
}

/// `NAME.h`.
pub fn header(p: &Program) -> String {
    let names = Names::new(p);
    let name = &p.name;
    let guard = format!("{}_H", name.to_uppercase());
    let mut text = String::new();
    let _ = writeln!(text, "/* SPDX-License-Identifier: MIT */\n{}", text::generated_from(&p.file));
    let _ = writeln!(text, "#ifndef {guard}\n#define {guard}\n\n#include \"carrick/program.h\"\n");
    let _ = writeln!(text, "/* The compiled program: see carrick/program.h for what its functions do. */");
    let _ = writeln!(text, "extern const struct carrick_program {name}_program;\n");
    let calls = p.interface.as_ref().map_or(&[][..], |i| &i.calls);
    for (index, call) in calls.iter().enumerate() {
        let event = &p.events[call.event.index()];
        let on = matches!(call.target, carrick_ir::CallTarget::On(_));
        let handle = if on { "uint64_t handle, " } else { "" };
        let fields: String = event
            .fields
            .iter()
            .map(|f| format!("{}, ", names.declaration(&f.ty, &parameter(&f.name))))
            .collect();
        if let Some(doc) = text::comment(if call.doc.is_empty() { &event.doc } else { &call.doc }) {
            let _ = writeln!(text, "{doc}");
        }
        let _ = writeln!(
            text,
            "static inline int {name}_{}(struct carrick_core *core, {handle}{fields}uint64_t token, uint64_t now) {{",
            call.name
        );
        let _ = writeln!(text, "    struct carrick_request request = {{.token = token}};");
        if on {
            let _ = writeln!(text, "    request.handle = handle;");
        }
        let mut at = 0;
        for field in &event.fields {
            if field.ty == Ty::Addr {
                let _ = writeln!(text, "    request.data = {};", parameter(&field.name));
            } else if field.ty.is_scalar() {
                let _ = writeln!(text, "    request.args[{at}] = (uint64_t){};", parameter(&field.name));
                at += 1;
            } else if field.ty == p.address_ty() {
                let name = parameter(&field.name);
                let _ = writeln!(text, "    request.args[{at}] = {name}.high;");
                let _ = writeln!(text, "    request.args[{}] = {name}.low;", at + 1);
                at += 2;
            }
        }
        let _ = writeln!(text, "    return {name}_program.call(core, {index}, &request, now);\n}}\n");
    }
    let _ = writeln!(text, "#endif");
    text.lines().flat_map(folded).map(|line| line + "\n").collect()
}

/// The Makefile: `make lib`, and `make host` where the host's sources are in `host/`.
pub fn makefile(p: &Program) -> String {
    let name = &p.name;
    format!(
        r#"# SPDX-License-Identifier: MIT
# Generated by carrick. Do not edit.
#
#   make lib    lib{name}.a and lib{name}.so
#   make host   {name}-host: the stack as a program of its own (needs host/)

CARRICK_RUNTIME ?= runtime/include
CFLAGS ?= -O2 -g
# One object is for both libraries. The prefix map: a build gives the same bytes in every folder. The shell that compiles
# knows the folder, whatever its name is.
CARRICK_FLAGS = -fPIC -std=gnu11 -Wall -Wextra -Wconversion -Werror -ffile-prefix-map="$$PWD"=. -I$(CARRICK_RUNTIME) -I.
HEADERS = {name}.h $(wildcard $(CARRICK_RUNTIME)/carrick/*.h)

lib: lib{name}.a lib{name}.so

{name}.o: {name}.c $(HEADERS)
	$(CC) $(CARRICK_FLAGS) $(CFLAGS) -c -o $@ $<

lib{name}.a: {name}.o
	$(AR) rcs $@ $<

lib{name}.so: {name}.o
	$(CC) $(CFLAGS) -shared -o $@ $<

host: lib{name}.a
	$(MAKE) -C host PROGRAM={name} PROGRAM_DIR=..
	install host/{name}-host .

clean:
	rm -f {name}.o lib{name}.a lib{name}.so {name}-host

.PHONY: lib host clean
"#
    )
}
