// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of a program in the kernel, and what the target's headers are told of it.

use carrick_emit_c::{Emitter, sums_payload};
use carrick_ir::{BlueprintDef, uses};

use crate::raised::following;
use crate::unsupported::sums_all;
use crate::{blocks, queue, reading, units};

/// The next packet of an entry, in `core->out`: its bytes behind the Ethernet header, 0 if there is none.
pub(crate) fn out_functions(e: &mut Emitter<'_>) {
    e.packet_functions();
    let entry = e.names.own("entry");
    e.open_on_core("CARRICK_GLOBAL_FN int ", "packet", &format!(", struct {entry} *e"));
    e.w.line("CARRICK_GIVEN(core && e);");
    for index in e.packets() {
        let bp = &e.p.blueprints[index];
        let (name, member) = (e.names.own(&bp.name), &bp.name);
        e.w.open(format!("if (e->kind == {index}) {{"));
        e.w.line(format!("int octets = {name}_packet(core, e);"));
        if bp.frames.is_some() {
            e.w.line(format!("if (core->last)\n    (void){name}_frames_sent(core, &e->bp.{member}_);"));
        }
        e.w.line("return octets;");
        e.w.close("}");
    }
    e.w.line("core->last = true;");
    e.w.end_with("return 0;");
}

/// Opens the function that queues a copy of a blueprint.
pub(crate) fn open_generate(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    let (ty, name) = (e.names.declared(&bp.name), e.names.own(&bp.name));
    let (core, chain) = (e.names.own("core"), e.names.own("chain"));
    e.w.open(format!(
        "CARRICK_GLOBAL_FN int {name}_generate(struct {core} *core, const struct {ty} *bp, uint64_t rules, uint32_t sent{}) {{",
        blocks::number_param(e)
    ));
    e.w.line("CARRICK_GIVEN(core && bp);");
    e.w.line("CARRICK_ALIGNED(core);");
    e.w.line("CARRICK_ALIGNED(bp);");
    e.w.line(format!("CARRICK_UNUSED const struct {chain} *chain = &core->chain;"));
    // An argument that nothing uses is one that the callers do not give.
    e.w.line("CARRICK_BARRIER_VAR(sent);");
    e.w.line("CARRICK_BARRIER_VAR(rules);");
}

/// Opens the function that makes a packet of an entry. What the device takes of a packet with one payload is known when
/// it is brought into a frame.
pub(crate) fn open_packet(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    let (core, entry, name) = (e.names.own("core"), e.names.own("entry"), e.names.own(&bp.name));
    e.w.open(format!("CARRICK_GLOBAL_FN int {name}_packet(struct {core} *core, struct {entry} *e) {{"));
    e.w.line("CARRICK_GIVEN(core && e);");
    e.w.line("CARRICK_ALIGNED(core);");
    e.w.line("CARRICK_ALIGNED(e);");
    let cap = if bp.frames.is_some() { "CARRICK_FRAME_MAX" } else { "UINT64_MAX" };
    e.w.line(format!("const uint64_t cap = {cap};"));
    e.w.line("uint8_t *out = core->out + CARRICK_ETHERNET;");
}

/// In a function that makes a frame: its header and its payload are put behind the frames before it.
pub(crate) fn frame_payload(e: &mut Emitter<'_>, index: usize, bp: &BlueprintDef) {
    e.w.line(format!("(void){}(core, header_len);", e.names.own("lay_header")));
    if bp.payload_name.is_some() {
        e.w.line("core->payload = bp->payload__;");
        part_of_payload(e, "e->frame_done");
        e.w.line(format!("if (payload_len)\n    (void){}(core);", e.names.own("lay_payload")));
        e.trace_payload("e->frame_done", index);
    }
}

/// In a function that makes a packet or a frame: how much of the payload comes now.
pub(crate) fn part_of_payload(e: &mut Emitter<'_>, done: &str) {
    e.w.line(format!("core->payload.offset += {done};"));
    e.w.line("core->payload.len = payload_len;");
}

/// Its sum, for the checksums.
pub(crate) fn sum_of_payload(e: &mut Emitter<'_>, bp: &BlueprintDef) {
    if sums_payload(bp) {
        let sum = match units::sends_payloads(e) {
            true => format!("payload_len ? {}(core) : 0", e.names.own("payload_sum")),
            false => "0".into(),
        };
        e.w.line(format!("uint64_t payload_sum = {sum};"));
    }
}

/// Whether it reads more of a frame than what is parsed first.
fn reads_frames(e: &Emitter<'_>) -> bool {
    sums_all(e.p) || reading::looks_further(e) || units::has_any_units(e) || uses::stores(e.p)
}

/// What the target's headers are told of the program.
pub(crate) fn what_it_is_like(e: &mut Emitter<'_>) {
    let parser = &e.p.functions[e.p.parser.index()].name;
    e.w.line(format!("#define CARRICK_PARSER fn_{parser}"));
    if let Some(parser) = e.p.report_parser {
        let parser = &e.p.functions[parser.index()].name;
        e.w.line(format!("#define CARRICK_REPORT_PARSER fn_{parser}"));
    }
    e.w.line(format!("#define CARRICK_PROTOCOL {}", e.p.net_header.protocol));
    e.w.line(format!("#define CARRICK_CHAINS {}u", following(e.p).chains));
    for (name, holds) in [
        ("WHOLE_SUM", sums_all(e.p)),
        ("READS_FRAMES", reads_frames(e)),
        ("LOOKS", reading::looks_further(e)),
        ("FRAMES", e.has_frames()),
        ("MAKES_FRAMES", e.makes_frames()),
        ("PAYLOADS", units::sends_payloads(e)),
        ("UNITS", units::has_any_units(e)),
        ("STORES", uses::stores(e.p)),
        ("GATHERS", queue::gathers(e)),
        ("CLAIMED", !e.p.claims.is_empty()),
    ] {
        e.w.line(format!("#define CARRICK_{name} {}", u8::from(holds)));
    }
}
