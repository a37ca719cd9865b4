// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a circuit's outermost module that has to do with timers.

use carrick_driver::targets::PipelineSpec;
use carrick_ir::Program;

use super::circuit::{Ports, bits};
use super::dslx::{Design, TIMER_BITS};

/// Bits of a moment.
pub const TIME_BITS: u32 = TIMER_BITS / 2;

/// Tables of the calendar: a moment has a row in each.
const TABLES: u64 = 4;

/// The pins for the clock, and for what the calendar says. They are there without timers, too.
pub const PINS: &str = "    input  logic [55:0] clock,\n    input  logic skip,\n    output logic idle,\n    \
    output logic woken_valid,\n    input  logic woken_ready,\n    output logic [ID-1:0] woken_id,\n    \
    output logic [7:0] woken_timer,\n    output logic [55:0] woken_at,\n    output logic set_valid,\n    output logic cleared_valid,\n    \
    output logic [55:0] set_moment,\n    output logic [55:0] set_wanted,\n    output logic [31:0] timers_dropped,\n";

/// Without timers, the calendar's side of the module.
const NONE: &str = "    assign settled = 1'b1;\n    assign idle = 1'b1;\n    assign woken_valid = 1'b0;\n    \
    assign woken_id = '0;\n    assign woken_timer = '0;\n    assign woken_at = '0;\n    assign set_valid = 1'b0;\n    \
    assign cleared_valid = 1'b0;\n    assign set_moment = '0;\n    assign set_wanted = '0;\n    \
    assign timers_dropped = '0;\n    logic unused;\n    assign unused = &{1'b0, clock, skip, woken_taken, TICK_BITS};\n";

/// The calendar between results and events, and where the events of its timers enter the circuit.
pub fn connected(program: &Program, design: &Design, settings: &PipelineSpec, ports: &Ports) -> String {
    entrance(program, design, ports) + &calendar(design, settings, ports)
}

/// The events of the host, before those of timers where packets go in and out of the circuit.
fn entrance(program: &Program, design: &Design, ports: &Ports) -> String {
    let input = ports.input() - 1;
    let mut text =
        format!("    logic host_valid, host_ready, woken_taken;\n    logic [{input}:0] host_data;\n");
    text.push_str("    assign in_ready = host_ready;\n");
    if design.packets.is_err() || design.timers == 0 {
        text.push_str(
            "    assign host_valid = in_valid;\n    assign host_data = in_data;\n    assign woken_taken = woken_ready;\n",
        );
    } else {
        let chain = chain_of_timer(program, design);
        text.push_str(&format!(
            "    assign host_valid = in_valid || (carries && woken_valid);\n    \
             assign host_data = in_valid ? in_data : {{{chain}, 1'b1, space, woken_id, {}'({{woken_at, woken_timer}}), around}};\n    \
             assign woken_taken = carries ? host_ready && !in_valid : woken_ready;\n",
            ports.event
        ));
    }
    if design.packets.is_err() {
        // Events of the host are all that there are.
        text.push_str(
            "    assign event_valid = host_valid;\n    assign event_data = host_data;\n    \
             assign host_ready = event_ready;\n    assign out_valid = result_valid;\n    \
             assign result_ready = out_ready;\n",
        );
    }
    text
}

/// The number of the chain that runs when a timer fires.
fn chain_of_timer(program: &Program, design: &Design) -> String {
    let chains = chains_of_timers(program, design);
    let last = chains.len() - 1;
    chains.iter().enumerate().fold(String::new(), |text, (n, chain)| match n == last {
        true => format!("{text}8'd{chain}"),
        false => format!("{text}woken_timer == 8'd{n} ? 8'd{chain} : "),
    })
}

/// Of each timer, the number of its chain.
pub fn chains_of_timers(program: &Program, design: &Design) -> Vec<usize> {
    let timers = program.contexts[design.context.index()].timers.iter();
    timers
        .map(|timer| design.chains.iter().position(|(event, _)| *event == timer.event).unwrap_or(255))
        .collect()
}

fn calendar(design: &Design, settings: &PipelineSpec, ports: &Ports) -> String {
    if design.timers == 0 {
        return NONE.to_owned();
    }
    let (timers, id) = (design.timers, ports.id);
    let below = design.instructions();
    let cancels = timers * TIME_BITS;
    format!(
        "    timers #(\n        .ID({id}),\n        .TIMERS({timers}),\n        .TICK_BITS(TICK_BITS),\n        \
         .ROW_BITS({}),\n        .CLEARS(CLEARS)\n    ) timers (\n        .result_valid(shell_valid),\n        \
         .result_leaves(result_valid && result_ready),\n        \
         .result_id(out_data[{} -: {id}]),\n        .result_starts(out_data[{} +: {timers}]),\n        \
         .result_stops(out_data[{} +: {timers}]),\n        \
         .result_timers(out_data[{} +: {}]),\n        .result_cancels(out_data[{below} +: {cancels}]),\n        \
         .woken_ready(woken_taken),\n        .*\n    );\n",
        bits(settings.timers.div_ceil(TABLES)),
        ports.output() - 3,
        below + cancels + timers,
        below + cancels,
        ports.issued,
        timers * TIMER_BITS,
    )
}
