// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data units: what lies in the map of a context's memory, and the instructions on it.

use carrick_emit_c::{Emitter, Unit};
use carrick_ir::{self as ir, ContextDef, Expr, fold};

use crate::writing;

/// Of which direction a ring is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Tx,
    Rx,
}

/// How the RX units of a context grow, in bytes: what a block has, and what the largest unit is.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    block: u64,
    most: u64,
}

impl Blocks {
    /// Entries of a table: two blocks of a unit never share one.
    fn table(self) -> u64 {
        2 * self.most / self.block
    }
}

/// Blocks, if the RX units of a context grow, with the parameters as they are by default.
fn blocks(e: &Emitter<'_>, ctx: &ContextDef) -> Option<Blocks> {
    let default = |id: ir::ParamId| e.p.params.get(id.index()).map(|p| p.default);
    let (block, most) = ir::units::blocks(e.p, ctx, &default)?;
    Some(Blocks { block, most })
}

/// Bytes of a ring, with the parameters as they are by default; 0: there is none.
fn ring_octets(e: &Emitter<'_>, ctx: &ContextDef, way: Way) -> u64 {
    let capacity: &Option<Expr> = if way == Way::Tx { &ctx.tx_capacity } else { &ctx.rx_capacity };
    let default = |id: ir::ParamId| e.p.params.get(id.index()).map(|p| p.default);
    let octets = capacity.as_ref().map(|octets| fold::fold(e.p, octets, &default).unwrap_or(1));
    octets.map_or(0, |octets| octets.max(1).next_power_of_two())
}

/// Whether packets carry bytes of units.
pub(crate) fn sends_units(e: &Emitter<'_>) -> bool {
    e.p.contexts.iter().any(|c| c.tx_capacity.is_some())
}

/// Whether packets have payloads.
pub(crate) fn sends_payloads(e: &Emitter<'_>) -> bool {
    sends_units(e) || e.makes_frames()
}

/// What says of a payload that it is bytes that were put together: the number after those of all contexts.
pub(crate) fn put_together(e: &Emitter<'_>) -> usize {
    e.p.contexts.len() + 1
}

pub(crate) fn has_any_units(e: &Emitter<'_>) -> bool {
    e.p.contexts.iter().any(ContextDef::holds_data)
}

/// How bytes come out of the frame or a request.
pub(crate) fn fetching(e: &mut Emitter<'_>) {
    if has_any_units(e) {
        writing::include(e, "fetch");
    }
}

pub(crate) fn memory_name(e: &Emitter<'_>, number: usize) -> String {
    e.names.own(&format!("memory_{number}"))
}

/// The structs of all contexts' memory.
pub(crate) fn memory_structs(e: &mut Emitter<'_>) {
    for (number, ctx) in e.p.contexts.iter().enumerate().filter(|(_, c)| c.holds_data()) {
        let [tx, rx] = [Way::Tx, Way::Rx].map(|way| ring_octets(e, ctx, way));
        let blocks = blocks(e, ctx);
        e.w.line(match blocks {
            None => format!("/* What `{}` sends and receives: a ring for each. */", ctx.name),
            Some(_) => {
                format!("/* What `{}` sends: a ring. What it receives: blocks, each + 1. */", ctx.name)
            }
        });
        e.w.open(format!("struct {} {{", memory_name(e, number)));
        if let Some(blocks) = blocks {
            e.w.line(format!("uint32_t blocks[{}];", blocks.table()));
        }
        let rx = if blocks.is_some() { 0 } else { rx };
        e.w.line(format!("uint8_t octets[{tx}u + {rx}u + CARRICK_PIECE];"));
        e.w.end_type();
        if let Some(blocks) = blocks {
            e.w.open(format!("struct {}_block {{", e.names.own(&ctx.name)));
            e.w.line(format!("uint8_t octets[{}u + CARRICK_PIECE];", blocks.block));
            e.w.end_type();
        }
    }
}

pub(crate) fn memory_maps(e: &mut Emitter<'_>) {
    if has_any_units(e) {
        writing::map(e, "carrick_requests", "ARRAY", 64, Some(("uint32_t", "struct carrick_staged")));
    }
    for (number, ctx) in e.p.contexts.iter().enumerate().filter(|(_, c)| c.holds_data()) {
        let (memory, capacity) = (format!("struct {}", memory_name(e, number)), writing::capacity(e, ctx));
        writing::map(e, &format!("memory_{number}"), "ARRAY", capacity, Some(("uint32_t", &memory)));
        if blocks(e, ctx).is_some() {
            let block = format!("struct {}_block", e.names.own(&ctx.name));
            writing::map(e, &format!("blocks_{number}"), "ARRAY", capacity, Some(("uint32_t", &block)));
            writing::map(e, &format!("unused_{number}"), "STACK", capacity, None);
            writing::map(e, &format!("grown_{number}"), "ARRAY", 1, Some(("uint32_t", "uint64_t")));
        }
    }
}

/// All that is done with the units of a context.
pub(crate) fn unit_functions(e: &mut Emitter<'_>, ctx: &ContextDef, number: usize) {
    for way in [Way::Tx, Way::Rx] {
        if ring_octets(e, ctx, way) == 0 {
            continue;
        }
        let begin = if way == Way::Tx { 0 } else { ring_octets(e, ctx, Way::Tx) };
        e.w.line(format!("#define CARRICK_CONTEXT(name) {}_##name", e.names.own(&ctx.name)));
        e.w.line(format!("#define CARRICK_INSTANCE struct {}", e.names.declared(&ctx.name)));
        e.w.line(format!("#define CARRICK_INSTANCES slots_{number}"));
        e.w.line(format!("#define CARRICK_MEMORY struct {}", memory_name(e, number)));
        e.w.line(format!("#define CARRICK_MEMORIES memory_{number}"));
        e.w.line(format!("#define CARRICK_RING {}u", ring_octets(e, ctx, way)));
        e.w.line(format!("#define CARRICK_RING_BEGIN {begin}u"));
        match way {
            Way::Tx => {
                writing::include(e, "sending");
                e.sending_instructions(ctx);
            }
            Way::Rx => {
                blocks_named(e, ctx, number);
                writing::include(e, "receiving");
                room_functions(e, ctx);
                e.receiving_instructions(ctx);
            }
        }
    }
}

/// What the header of receiving has to know of a unit that grows.
fn blocks_named(e: &mut Emitter<'_>, ctx: &ContextDef, number: usize) {
    let Some(blocks) = blocks(e, ctx) else { return };
    e.w.line(format!("#define CARRICK_BLOCK {}u", blocks.block));
    e.w.line(format!("#define CARRICK_TABLE {}u", blocks.table()));
    e.w.line(format!("#define CARRICK_MOST {}u", blocks.most));
    e.w.line(format!("#define CARRICK_BLOCKS_OF blocks_{number}"));
    e.w.line(format!("#define CARRICK_BLOCKS_FREE unused_{number}"));
    e.w.line(format!("#define CARRICK_GROWN grown_{number}"));
}

fn room_functions(e: &mut Emitter<'_>, ctx: &ContextDef) {
    let (ty, name) = (e.names.declared(&ctx.name), e.names.own(&ctx.name));
    let core = e.core_param();
    e.w.open(format!("CARRICK_INLINE void {name}_rx_begin({core}, struct {ty} *c, uint64_t size) {{"));
    e.w.end_with(format!("{name}_rx_start(c, size);"));
    e.w.open(format!("CARRICK_INLINE void {name}_rx_fit({core}, struct {ty} *c, uint64_t size) {{"));
    let pool = ctx.rx_growth.as_ref().map_or("0u".into(), |growth| e.value(&growth.pool));
    e.w.end_with(format!("{name}_rx_room(c, size, {pool});"));
}

/// What an instance that goes leaves of its units: it keeps its slot while packets of them wait.
pub(crate) fn units_end(e: &mut Emitter<'_>, ctx: &ContextDef) {
    if ctx.rx_capacity.is_some() {
        e.w.line(format!("{}_rx_close(c);", e.names.own(&ctx.name)));
    }
    if ctx.tx_capacity.is_some() {
        e.w.line("c->tx__.open = false;");
        e.w.line("(void)__sync_lock_test_and_set(&c->live__, 2);");
        e.w.line("bool waits = CARRICK_READ(c->tx__.pending) != 0;");
    } else {
        e.w.line("const bool waits = false;");
    }
}

/// Functions on the payload of the packet that was made, in `core->payload`: its sum, and putting it into the frame
/// after `begin` bytes.
pub(crate) fn unit_payload_functions(e: &mut Emitter<'_>) {
    if !sends_payloads(e) {
        return;
    }
    let core = e.names.own("core");
    e.open_on_core("CARRICK_GLOBAL_FN uint64_t ", "payload_sum", "");
    e.w.line("CARRICK_GIVEN(core);");
    if_put_together(e, "carrick_laid_sum(assembly_buffer, core->payload.len)");
    each_unit(e, |name| format!("return {name}_tx_sum(m, core->payload.offset, core->payload.len);"));
    e.w.end_with("return 0;");
    let show = e.names.own("payload_show");
    e.w.open(format!(
        "CARRICK_GLOBAL_FN int {show}(struct xdp_md *ctx, struct {core} *core, uint32_t begin) {{"
    ));
    e.w.line("(void)ctx;\n(void)begin;");
    e.w.line("CARRICK_GIVEN(core);");
    if_put_together(e, "carrick_laid_show(ctx, assembly_buffer, begin, core->payload.len)");
    each_unit(e, |name| {
        format!("return {name}_tx_show(ctx, m, core->payload.offset, begin, core->payload.len);")
    });
    e.w.end_with("return 0;");
}

/// The same, where the payload was put together.
fn if_put_together(e: &mut Emitter<'_>, done: &str) {
    if e.makes_frames() {
        e.w.open(format!("if (core->payload.type == {}) {{", put_together(e)));
        e.w.line("struct carrick_laid *assembly_buffer = carrick_laid_here();");
        e.w.line(format!("return assembly_buffer ? {done} : 0;"));
        e.w.close("}");
    }
}

/// For each context whose unit `core->payload` may be of: what is done with `m`, the memory.
pub(crate) fn each_unit(e: &mut Emitter<'_>, done: impl Fn(&str) -> String) {
    for Unit { number, index, name, .. } in e.units_sent() {
        e.w.open(format!("if (core->payload.type == {number}) {{"));
        e.w.line("uint32_t slot = core->payload.slot;");
        let memory = memory_name(e, index);
        e.w.line(format!("struct {memory} *m = bpf_map_lookup_elem(&memory_{index}, &slot);"));
        e.w.line("CARRICK_GIVEN(m);");
        e.w.line(done(&name));
        e.w.close("}");
    }
}
