// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of a circuit in C++: where the parts of its ports lie, and what its statements issue.

use std::fmt::Write;

use carrick_ir::{EventId, Instr, Program, Ty};

use super::circuit::Ports;
use super::dslx::{Design, Input, Shapes, Site};

/// Where the parts of an event lie; where packets go in and out, also what a core needs.
pub fn header(program: &Program, design: &Design, ports: &Ports) -> String {
    let id_at = ports.event + ports.env;
    let names: Vec<String> = design.chains.iter().map(|(_, chain)| format!("\"{chain}\"")).collect();
    let mut text = format!(
        "// Where the parts of an event of {} lie in the bits of `in_data`. Made by carrick.\n\
         constexpr unsigned id_at = {id_at};\nconstexpr unsigned id_bits = {};\n\
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
    if design.packets.is_ok() {
        text.push_str(&results(program, design, ports));
        text.push_str(&around(program, design));
    }
    text
}

/// What the parts of a result are, for the core that carries out what is not on packets.
fn results(program: &Program, design: &Design, ports: &Ports) -> String {
    let shapes = Shapes::new(program);
    let slot = 8 + design.args;
    let drawn = if design.draws() { 8 } else { 0 };
    let chain = |event: EventId| design.chains.iter().position(|(of, _)| *of == event).unwrap_or(0);
    let context = &program.contexts[design.context.index()];
    let of_event = |event: EventId| {
        let named = program.events[event.index()].id == Some(context.id);
        format!("{{{}, {}, {named}}}", chain(event), shapes.width(&Ty::Event(event)))
    };
    let events: Vec<String> = design.chains.iter().map(|(event, _)| of_event(*event)).collect();
    let timers: Vec<String> = context.timers.iter().map(|timer| of_event(timer.event)).collect();
    let sites: Vec<String> = design.sites.iter().map(|site| does(site, &chain)).collect();
    let mut text = format!(
        "\n// The bits of `out_data`, and what the statements that issue instructions do beside packets.\n\
         constexpr unsigned event_bits = {};\nconstexpr unsigned env_bits = {};\nconstexpr unsigned context_bits = {};\n\
         constexpr unsigned slots = {};\nconstexpr unsigned args_bits = {};\nconstexpr unsigned slot_bits = {slot};\n\
         constexpr unsigned drawn_bits = {drawn};\nconstexpr unsigned drawn_at = {};\n\
         constexpr unsigned context_at = {};\nconstexpr unsigned full_at = {};\nconstexpr unsigned found_at = {};\n\
         enum class Does {{ nothing, make, end, start, restart, stop, raise }};\n\
         struct Site {{\n    Does does;\n    unsigned number;\n}};\n\
         struct OfEvent {{\n    unsigned chain, bits;\n    bool named;\n}};\n",
        ports.event,
        ports.env,
        ports.context,
        design.slots,
        design.args,
        design.slots * slot + 8,
        ports.issued,
        ports.output() - 2,
        ports.output() - 1,
    );
    for (ty, name, rows) in
        [("Site", "sites", sites), ("OfEvent", "of_events", events), ("OfEvent", "of_timers", timers)]
    {
        let count = rows.len();
        let _ = writeln!(text, "constexpr std::array<{ty}, {count}> {name} = {{{{{}}}}};", rows.join(", "));
    }
    text
}

fn does(site: &Site, chain: &dyn Fn(EventId) -> usize) -> String {
    match &site.instr {
        Instr::NewCtx { .. } => "{Does::make, 0}".into(),
        Instr::DelCtx { .. } => "{Does::end, 0}".into(),
        Instr::TimerStart { timer, .. } => format!("{{Does::start, {}}}", timer.0),
        Instr::TimerRestart { timer, .. } => format!("{{Does::restart, {}}}", timer.0),
        Instr::TimerStop { timer, .. } => format!("{{Does::stop, {}}}", timer.0),
        Instr::Raise { event } => match site.locals[event.index()].ty {
            Ty::Event(event) => format!("{{Does::raise, {}}}", chain(event)),
            _ => "{Does::nothing, 0}".into(),
        },
        _ => "{Does::nothing, 0}".into(),
    }
}

/// Where what is around a chain lies in the bits of `around`.
fn around(program: &Program, design: &Design) -> String {
    let shapes = Shapes::new(program);
    let used: u32 = design.inputs.iter().map(|input| shapes.width(&input.ty(program))).sum();
    let mut at = used;
    let rows = design.inputs.iter().map(|input| {
        let bits = shapes.width(&input.ty(program));
        at -= bits;
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
