// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers of a circuit: their part of the outermost module, and the tables that list them.

use std::fmt::Write;

use carrick_ir::{COUNTERS, Program, Ty, counter};

use super::circuit::Ports;
use super::dslx::{Design, PartTy, Shapes, TIMER_BITS, parts};
use super::snapshots;

/// The pins of the bus.
pub const PINS: &str = "    input  logic s_axil_awvalid,\n    output logic s_axil_awready,\n    \
    input  logic [11:0] s_axil_awaddr,\n    input  logic [2:0] s_axil_awprot,\n    input  logic s_axil_wvalid,\n    \
    output logic s_axil_wready,\n    input  logic [31:0] s_axil_wdata,\n    input  logic [3:0] s_axil_wstrb,\n    \
    output logic s_axil_bvalid,\n    input  logic s_axil_bready,\n    output logic [1:0] s_axil_bresp,\n    \
    input  logic s_axil_arvalid,\n    output logic s_axil_arready,\n    input  logic [11:0] s_axil_araddr,\n    \
    input  logic [2:0] s_axil_arprot,\n    output logic s_axil_rvalid,\n    input  logic s_axil_rready,\n    \
    output logic [31:0] s_axil_rdata,\n    output logic [1:0] s_axil_rresp,\n";

/// Registers that every circuit has, as `registers.sv` has them: offset, name, access, contents.
const REGISTERS: [(u32, &str, &str, &str); 24] = [
    (0x000, "IDENTIFICATION", "read", "0x4341524b"),
    (0x004, "VERSION", "read", "version of this table: 1.1 in the upper and the lower half"),
    (0x008, "CONTEXT_BITS", "read", "bits of a context"),
    (0x00c, "SLOTS", "read", "slots of the session table"),
    (0x010, "FLOWS", "read", "contexts in the session table"),
    (0x014, "EVENTS_IN", "read", "events that arrived, dropped ones included"),
    (0x018, "EVENTS_OUT", "read", "events whose chain has ended"),
    (0x01c, "EVENTS_DROPPED", "read", "events dropped at a full queue"),
    (0x020, "CONTEXTS_DROPPED", "read", "new contexts dropped because the session table had no row"),
    (0x024, "TIMERS_DROPPED", "read", "timers dropped because the calendar had no row"),
    (0x028, "PACKETS_IN", "read", "packets that the parser has read"),
    (0x02c, "PACKETS_OUT", "read", "packets sent"),
    (0x030, "PACKETS_LONG", "read", "packets dropped that fill half of the store or more"),
    (TX_TOO_LONG, "TX_TOO_LONG", "read", "packets not sent: longer than the MTU"),
    (TX_BAD_FIELD, "TX_BAD_FIELD", "read", "packets not sent: a field is out of its range"),
    (PACKET_GONE, "PACKET_GONE", "read", "instructions on a packet for which an earlier one decided"),
    (
        0x040,
        "COMMAND",
        "write",
        "1: read the context in SLOT; 2: read the context of ID; 3: change the context of ID",
    ),
    (0x044, "STATUS", "read", "bit 0: a command is carried out; bit 1: the last one found a context"),
    (
        0x048,
        "SLOT",
        "read, write",
        "a slot of the session table: the one to read, then the one that was found",
    ),
    (0x04c, "MASK", "read, write", "the bits that a write to CONTEXT writes; all after a reset"),
    (
        SNAPSHOT,
        "SNAPSHOT",
        "read, write",
        "snapshots of 0: no event; 1: events of all flows; 2: events of the flow that ID names when this is written",
    ),
    (
        0x054,
        "SNAPSHOT_EVERY",
        "read, write",
        "*n*: a snapshot of each *n*-th of these events; 1 after a reset",
    ),
    (0x058, "SNAPSHOTS_SENT", "read", "snapshots sent"),
    (0x05c, "SNAPSHOTS_DROPPED", "read", "snapshots dropped because the queue of 4 was full"),
];

/// The last reason for which a parser refuses a packet; reasons are the first counters.
const LAST_REASON: &str = "unparsed";
const TX_TOO_LONG: u32 = 0x034;
const TX_BAD_FIELD: u32 = 0x038;
const PACKET_GONE: u32 = 0x03c;
const SNAPSHOT: u32 = 0x050;
const REFUSED: u32 = 0x080;
const ID: u32 = 0x100;
const CONTEXT: u32 = 0x200;

/// All registers: offset, name, access, contents.
fn registers(ports: &Ports) -> Vec<(u32, String, &'static str, String)> {
    let fixed = REGISTERS.iter();
    let mut all: Vec<_> = fixed
        .map(|(offset, name, access, what)| (*offset, (*name).into(), *access, (*what).into()))
        .collect();
    for (offset, name) in (REFUSED..).step_by(4).zip(&COUNTERS[..=counter(LAST_REASON)]) {
        let what = format!("packets refused by the parser: `{name}`");
        all.push((offset, format!("REFUSED_{}", name.to_uppercase()), "read", what));
    }
    for (name, at, bits) in [("ID", ID, ports.id), ("CONTEXT", CONTEXT, ports.row())] {
        all.extend((0..bits.div_ceil(32)).map(|n| {
            let what = format!("bits {} to {}", (32 * n + 31).min(bits - 1), 32 * n);
            (at + 4 * n, format!("{name}_{n}"), "read, write", what)
        }));
    }
    all
}

/// The registers between the bus and the shell.
pub fn connected(design: &Design, ports: &Ports, row_bits: u32) -> String {
    let packets = match design.packets {
        Ok(_) => ["looked_valid", "looked_why", "m_valid && m_ready && m_last", "looked_long", "unsent"],
        Err(_) => ["1'b0", "8'd0", "1'b0", "1'b0", "3'd0"],
    };
    let (id, row, timers, slot) = (ports.id, ports.row(), ports.timers, row_bits + 2);
    format!(
        "    logic access_valid, access_by_slot, access_change, access_seen, access_found, access_done;\n    \
         logic [{}:0] access_slot, access_found_slot;\n    logic [{slot}:0] flows_now;\n    \
         logic [{}:0] access_id;\n    logic [{}:0] access_context, access_found_context;\n\n    \
         registers #(\n        .ID({id}),\n        .CTX({row}),\n        .FRESH({timers}),\n        \
         .ROW_BITS({row_bits}),\n        .REASONS({})\n    ) registers (\n        \
         .event_in(event_valid && event_ready),\n        .event_out(result_valid && result_ready),\n        \
         .packet_in({}),\n        .packet_why({}),\n        .packet_out({}),\n        .packet_long({}),\n        \
         .unsent({}),\n        .flows(flows_now),\n        \
         .*\n    );\n",
        slot - 1,
        id - 1,
        row - 1,
        counter(LAST_REASON) + 1,
        packets[0],
        packets[1],
        packets[2],
        packets[3],
        packets[4],
    )
}

/// The registers for C++: their offsets and names.
pub fn header(ports: &Ports) -> String {
    let all = registers(ports);
    let rows: Vec<String> =
        all.iter().map(|(at, name, ..)| format!("    {{{at:#05x}, \"{name}\"}},\n")).collect();
    format!(
        "\n// The registers, the first counter of refused packets, what says of which events there are snapshots, and the counters of packets that are not sent.\n\
         constexpr unsigned refused_at = {REFUSED:#05x}, snapshot_at = {SNAPSHOT:#05x};\n\
         constexpr std::array<unsigned, 3> unsent_at = {{{TX_TOO_LONG:#05x}, {TX_BAD_FIELD:#05x}, {PACKET_GONE:#05x}}};\n\
         struct Register {{\n    unsigned offset;\n    const char *name;\n}};\n\
         constexpr std::array<Register, {}> registers = {{{{\n{}}}}};\n",
        all.len(),
        rows.concat()
    )
}

/// The page that lists the registers, and what the bits of an id and of a context are.
pub fn page(program: &Program, design: &Design, ports: &Ports) -> String {
    let mut text = format!(
        "# Registers of {}\n\nAn AXI4-Lite bus with 32 bits of data and 12 bits of address. Counters wrap. Made by carrick.\n\n\
         | offset | name | access | contents |\n| --- | --- | --- | --- |\n",
        program.name
    );
    for (offset, name, access, what) in registers(ports) {
        let _ = writeln!(text, "| {offset:#05x} | {name} | {access} | {what} |");
    }
    let context = &program.contexts[design.context.index()];
    text.push_str("\n## Bits of ID\n\n");
    text.push_str(&fields(program, &Ty::Id(context.id), ID, ports.id, &[]));
    let timers =
        (0..).zip(&context.timers).map(|(n, timer)| (format!("timer {}", timer.name), n * TIMER_BITS));
    let timers: Vec<(String, u32)> = timers.collect();
    let _ = write!(text, "\n## Bits of CONTEXT\n\nA change leaves `id` and timers as they are.\n\n");
    text.push_str(&fields(program, &Ty::Context(design.context), CONTEXT, ports.row(), &timers));
    let _ = write!(text, "\n## Snapshots\n\n{}{}", snapshots::FRAME, snapshots::page(design, ports));
    text
}

/// A table of the fields of a value, the most significant first, and of the timers below them.
fn fields(program: &Program, ty: &Ty, offset: u32, bits: u32, timers: &[(String, u32)]) -> String {
    let shapes = Shapes::new(program);
    let mut text = String::from("| bits | registers | field |\n| --- | --- | --- |\n");
    let mut row = |name: &str, low: u32, width: u32| {
        let high = low + width - 1;
        let (first, last) = (offset + low / 32 * 4, offset + high / 32 * 4);
        let at = if first == last { format!("{first:#05x}") } else { format!("{first:#05x} to {last:#05x}") };
        let _ = writeln!(text, "| {high}:{low} | {at} | `{name}` |");
    };
    let mut left = bits;
    for part in parts(program, ty).unwrap_or_default() {
        if let PartTy::Is(ty) = &part.ty
            && shapes.width(ty) > 0
        {
            left -= shapes.width(ty);
            row(&part.name, left, shapes.width(ty));
        }
    }
    for (name, low) in timers.iter().rev() {
        row(name, *low, TIMER_BITS);
    }
    text
}
