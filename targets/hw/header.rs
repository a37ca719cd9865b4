// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of a circuit in C++: where the parts of its ports lie, and what its statements issue.

use std::fmt::Write;

use carrick_ir::{EventId, Instr, Program, Ty};

use super::calendar;
use super::circuit::Ports;
use super::dslx::{Design, Input, Shapes, Site};
use super::registers;
use super::snapshots;

/// Where the parts of an event lie; where packets go in and out, also what a core needs.
pub fn header(program: &Program, design: &Design, ports: &Ports) -> String {
    let id_at = ports.event + ports.env;
    let names: Vec<String> = design.chains.iter().map(|(_, chain)| format!("\"{chain}\"")).collect();
    let mut text = format!(
        "// Where the parts of an event of {} lie in the bits of `in_data`. Made by carrick.\n\
         #pragma once\n\n#include <array>\n\nconstexpr unsigned id_at = {id_at};\nconstexpr unsigned id_bits = {};\n\
         constexpr unsigned named_at = {};\nconstexpr unsigned chain_at = {};\n\
         constexpr unsigned chains = {};\n\
         constexpr const char *chain_names[] = {{{}}};\n",
        program.name,
        ports.id,
        id_at + ports.id + 1,
        id_at + ports.id + 2,
        names.len(),
        names.join(", "),
    );
    text.push_str(&timers(program, design, ports));
    text.push_str(&registers::header(ports));
    if design.packets.is_ok() {
        text.push_str(&snapshots::header(program, design, ports));
        text.push_str(&results(program, design, ports));
        text.push_str(&around(program, design));
    }
    text
}

/// What a process needs to know of the circuit's timers.
fn timers(program: &Program, design: &Design, ports: &Ports) -> String {
    let chains: Vec<String> =
        calendar::chains_of_timers(program, design).iter().map(ToString::to_string).collect();
    let now = inputs(program, design).into_iter().find(|(input, ..)| *input == Input::Now);
    format!(
        "\n// Where the event, the time and whether a chain ran lie; and of each timer, the number of its chain.\n\
         constexpr unsigned event_at = {};\nconstexpr unsigned now_at = {};\nconstexpr unsigned ran_at = {};\n\
         constexpr std::array<unsigned, {}> timer_chains = {{{}}};\n",
        ports.env,
        now.map_or(0, |(_, at, _)| at),
        snapshots::ran_at(design),
        design.timers,
        chains.join(", "),
    )
}

/// What is around a chain, from which bit on, how many.
fn inputs(program: &Program, design: &Design) -> Vec<(Input, u32, u32)> {
    let shapes = Shapes::new(program);
    let mut at = 0;
    let mut all: Vec<_> = design
        .inputs
        .iter()
        .rev()
        .map(|input| {
            let bits = input.bits(program, &shapes);
            at += bits;
            (input.clone(), at - bits, bits)
        })
        .collect();
    all.reverse();
    all
}

/// What the parts of a result are, for the core that carries out what is not on packets.
fn results(program: &Program, design: &Design, ports: &Ports) -> String {
    let shapes = Shapes::new(program);
    let slot = design.slot();
    let drawn = if design.draws() { 8 } else { 0 };
    let chain = |event: EventId| design.chains.iter().position(|(of, _)| *of == event).unwrap_or(0);
    let context = &program.contexts[design.context.index()];
    let of_event = |event: EventId| {
        let named = program.events[event.index()].id == Some(context.id);
        format!("{{{}, {}, {named}}}", chain(event), shapes.width(&Ty::Event(event)))
    };
    let events: Vec<String> = design.chains.iter().map(|(event, _)| of_event(*event)).collect();
    let sites: Vec<String> = design.sites.iter().map(|site| does(site, &chain)).collect();
    let mut text = format!(
        "\n// The bits of `out_data`, and what the statements that issue instructions do beside packets.\n\
         constexpr unsigned event_bits = {};\nconstexpr unsigned env_bits = {};\n\
         constexpr unsigned slots = {};\nconstexpr unsigned args_bits = {};\nconstexpr unsigned slot_bits = {slot};\n\
         constexpr unsigned wide_bits = {};\nconstexpr unsigned wide_at = {};\n\
         constexpr unsigned drawn_bits = {drawn};\nconstexpr unsigned drawn_at = {};\n\
         constexpr unsigned full_at = {};\nconstexpr unsigned found_at = {};\n\
         enum class Does {{ nothing, make, end, raise }};\n\
         struct Site {{\n    Does does;\n    unsigned number;\n    bool wide;\n}};\n\
         struct OfEvent {{\n    unsigned chain, bits;\n    bool named;\n}};\n",
        ports.event,
        ports.env,
        design.slots,
        design.args,
        design.wide,
        design.slots * slot,
        design.instructions() + design.scheduled(),
        ports.output() - 2,
        ports.output() - 1,
    );
    for (ty, name, rows) in [("Site", "sites", sites), ("OfEvent", "of_events", events)] {
        let count = rows.len();
        let _ = writeln!(text, "constexpr std::array<{ty}, {count}> {name} = {{{{{}}}}};", rows.join(", "));
    }
    text
}

fn does(site: &Site, chain: &dyn Fn(EventId) -> usize) -> String {
    match &site.instr {
        Instr::NewCtx { .. } => "{Does::make, 0, false}".into(),
        Instr::DelCtx { .. } => "{Does::end, 0, false}".into(),
        Instr::Raise { event } => match site.locals[event.index()].ty {
            Ty::Event(event) => format!("{{Does::raise, {}, {}}}", chain(event), site.wide),
            _ => "{Does::nothing, 0, false}".into(),
        },
        _ => "{Does::nothing, 0, false}".into(),
    }
}

/// Where what is around a chain lies in the bits of `around`.
fn around(program: &Program, design: &Design) -> String {
    let rows = inputs(program, design).into_iter().map(|(input, at, bits)| {
        let (kind, number) = match input {
            Input::Now => ("now", 0),
            Input::Mtu => ("mtu", 0),
            Input::LocalIp => ("local_ip", 0),
            Input::Random(_) => ("random", 0),
            Input::Param(id) => ("param", id.0),
            _ => ("other", 0),
        };
        format!("{{Around::{kind}, {at}, {bits}, {number}}}")
    });
    let rows: Vec<String> = rows.collect();
    format!(
        "\n// The bits of `around`.\nenum class Around {{ now, mtu, local_ip, param, random, other }};\n\
         struct Input {{\n    Around kind;\n    unsigned at, bits, number;\n}};\n\
         constexpr std::array<Input, {}> inputs = {{{{{}}}}};\n",
        rows.len(),
        rows.join(", ")
    )
}
