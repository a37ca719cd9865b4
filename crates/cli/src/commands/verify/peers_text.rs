// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can happen between two ends, for people and for programs.

use carrick_ir::{FieldDef, Program};
use carrick_peers::{Action, Broken, Goal, NAMES, Outcome, Setup, Step, Way};
use carrick_sim::core::Record;
use carrick_sim::show;
use carrick_sim::trace::describe;
use serde_json::{Value, json};

use super::text::line;

/// Fields of an event that are shown at most.
const FIELDS: usize = 8;
/// Steps that are shown of a long way, and of one that was not explored to its end.
const MOST: usize = 60;
const LAST: usize = 12;

/// What was found, and the steps that lead there.
pub fn pretty(setup: &Setup, outcome: &Outcome, first: &[u64], steps: &[Step]) -> String {
    let mut out = String::new();
    if let Some(broken) = &outcome.broken {
        line(&mut out, format_args!("broken: {}", broken.what));
        line(&mut out, format_args!("  It must hold that {}. A way there:", broken.goal));
        way(&mut out, setup, first, steps, 1);
    } else {
        let word = if outcome.cut.is_none() { "proved" } else { "not broken so far" };
        for goal in setup.goals() {
            line(&mut out, format_args!("{word}: {goal}"));
        }
    }
    if let Some(packet) = setup.blind() {
        line(
            &mut out,
            format_args!(
                "Packets change, and `{packet}` has no checksum over its payload: nothing is promised of what arrives."
            ),
        );
    }
    if let Some(via) = setup.via.as_ref().filter(|_| outcome.idle) {
        line(&mut out, format_args!("{}", lets_all_through(&via.program, &setup.programs[0])));
    }
    if setup.faults.crash > 0 && outcome.broken.is_none() {
        let what = "Of a run in which somebody crashes only this counts: claims, whole data, no packets without end, and that it ends.";
        line(&mut out, format_args!("{what}"));
    }
    if setup.promises_nothing() && outcome.broken.is_none() {
        let what = "Of messages nothing is promised here but that they are whole: --expect all,once,order says more.";
        line(&mut out, format_args!("{what}"));
    }
    if let Some(why) = &outcome.cut {
        line(&mut out, format_args!("undecided: not everything was explored: {why}"));
    }
    if outcome.cut.is_some() && outcome.broken.is_none() && outcome.told_first.is_none() {
        line(&mut out, format_args!("  The last steps of a way that was not explored to its end:"));
        let from = steps.len().saturating_sub(LAST);
        way(&mut out, setup, first, &steps[from..], from + 1);
    }
    if let Some(told) = outcome.told_first.as_ref().filter(|_| outcome.broken.is_none()) {
        let (of, n) = (outcome.ends, outcome.told);
        line(
            &mut out,
            format_args!("In {n} of {of} ends an application got an error, which is no broken promise."),
        );
        line(&mut out, format_args!("  {}. A way there:", told.what));
        way(&mut out, setup, first, steps, 1);
    }
    let Outcome { states, actions, ends, depth, time, .. } = outcome;
    line(&mut out, format_args!("\n{}; {}", sends(setup), setup.faults));
    if *actions == 0 && outcome.broken.is_some() {
        return out + "A run without faults shows it: nothing else was explored.\n";
    }
    line(
        &mut out,
        format_args!(
            "{states} states, {actions} actions, {ends} ends, {depth} steps deep; {:.1} s, {:.0} states/s",
            time.as_secs_f64(),
            *states as f64 / time.as_secs_f64().max(1e-9)
        ),
    );
    out
}

/// Of a program in the network that handles no event.
fn lets_all_through(via: &Program, ends: &Program) -> String {
    let [its, theirs] = [via, ends].map(|program| program.net_header.protocol);
    let why = if its == theirs {
        "look at its ports and addresses (--via-set)".to_owned()
    } else {
        format!("its packets are of protocol {its}, and those of the ends of protocol {theirs}")
    };
    let file = via.file.raw();
    format!("{file} lets all packets through: without faults, no event of it happens; {why}.")
}

/// What the ends are given to do.
fn sends(setup: &Setup) -> String {
    let [client, server] = [0, 1].map(|host| setup.programs[host].file.raw());
    let both =
        if client == server { format!("two ends of {client}") } else { format!("{client} and {server}") };
    let via = setup.via.as_ref().map(|via| format!(", {} between them", via.program.file.raw()));
    let via = via.unwrap_or_default();
    let answer = if setup.answer == 0 { String::new() } else { format!(", the server {}", setup.answer) };
    format!("{both}{via}; the client sends {}{answer}", setup.bytes)
}

/// The steps, each in a line, with their numbers from `from` on.
fn way(out: &mut String, setup: &Setup, first: &[u64], steps: &[Step], from: usize) {
    if from == 1 {
        line(out, format_args!("    0  both applications begin{}", then(first)));
    }
    let mut before = 0;
    let numbered = steps.iter().zip(from..);
    // A conversation without end has no last step that says more than the others.
    for (step, number) in numbered.clone().take(MOST) {
        let program = setup.program(step.host);
        let what = match step.action {
            Action::Deliver(..) => "arrives",
            Action::Lose(_) => "is lost",
            Action::Duplicate(..) => "arrives, and a copy follows",
            Action::Corrupt(..) => "arrives with a changed bit",
            Action::Time(_) | Action::Crash(_) => "",
        };
        let overtakes = if step.action.overtakes() { "overtakes others, and " } else { "" };
        // What follows from the first one is in the trace.
        let event = step.events.first().map(|event| format!(": {}", shown(program, event)));
        let head = match (step.packet, Way::of(step.action)) {
            (Some(packet), Some(way)) => {
                format!("{} -> {}  packet {packet} {overtakes}{what}", NAMES[way.from()], NAMES[step.host])
            }
            _ if matches!(step.action, Action::Crash(_)) => {
                format!("{}  forgets everything, and begins anew", NAMES[step.host])
            }
            _ if step.now == before => format!("{}  something is due at the same moment", NAMES[step.host]),
            _ => format!("{}  time passes, to {}", NAMES[step.host], show::clock(step.now)),
        };
        before = step.now;
        line(out, format_args!("  {number:3}  {head}{}{}", event.unwrap_or_default(), then(&step.sent)));
    }
    if numbered.count() > MOST {
        line(out, format_args!("       ... and so on; --trace and --pcap write all {} steps", steps.len()));
    }
}

/// What is sent then.
fn then(sent: &[u64]) -> String {
    match sent {
        [] => String::new(),
        [one] => format!(" => packet {one}"),
        [from, .., to] => format!(" => packets {from} to {to}"),
    }
}

/// An event, with those fields that say something.
fn shown(program: &Program, event: &Record) -> String {
    let Some(def) = program.events.get(event.number as usize) else { return String::new() };
    let mut words = event.words.iter().copied().skip(1);
    let field = |field: &FieldDef| {
        let value = show::value(program, &field.ty, &mut words);
        let says = !["0", "none", "false", "0 s", "[]"].contains(&value.as_str());
        says.then(|| format!("{}={value}", field.name))
    };
    let fields: Vec<String> = def.fields.iter().filter_map(field).take(FIELDS).collect();
    if fields.is_empty() { def.name.clone() } else { format!("{} {}", def.name, fields.join(" ")) }
}

/// The same for programs.
pub fn as_json(setup: &Setup, outcome: &Outcome, first: &[u64], steps: &[Step]) -> Value {
    let faults = &setup.faults;
    json!({
        "programs": setup.programs.each_ref().map(|program| program.file.raw()),
        "via": setup.via.as_ref().map(|via| via.program.file.raw()),
        "bytes": setup.bytes,
        "answer": setup.answer,
        "message": setup.message,
        "life_ns": setup.life_ns,
        "goals": setup.goals().map(Goal::word).collect::<Vec<_>>(),
        "expect": {
            "no_errors": setup.promise.no_errors,
            "all": setup.promise.all,
            "once": setup.promise.once,
            "order": setup.promise.order,
        },
        "faults": {
            "lose": faults.lose,
            "dup": faults.duplicate,
            "reorder": faults.reorder,
            "corrupt": faults.corrupt,
            "delay": faults.delay,
            "crash": faults.crash,
        },
        "states": outcome.states,
        "actions": outcome.actions,
        "ends": outcome.ends,
        "depth": outcome.depth,
        "seconds": outcome.time.as_secs_f64(),
        "undecided": outcome.cut,
        "via_lets_all_through": outcome.idle,
        "broken": outcome.broken.as_ref().map(broken),
        "told_an_error": { "ends": outcome.told, "first": outcome.told_first.as_ref().map(broken) },
        "sent_first": first,
        "steps": steps.iter().map(|step| step_json(setup, step)).collect::<Vec<_>>(),
    })
}

fn broken(broken: &Broken) -> Value {
    json!({ "goal": broken.goal.word(), "what": broken.what })
}

fn step_json(setup: &Setup, step: &Step) -> Value {
    let (what, bit) = match step.action {
        Action::Deliver(_, 0) => ("arrives", None),
        Action::Deliver(..) => ("overtakes", None),
        Action::Lose(_) => ("lost", None),
        Action::Duplicate(..) => ("duplicated", None),
        Action::Corrupt(.., bit) => ("corrupted", Some(bit)),
        Action::Time(_) => ("time", None),
        Action::Crash(_) => ("crash", None),
    };
    let events = step.events.iter().map(|event| describe(setup.program(step.host), event).1);
    json!({
        "what": what,
        "bit": bit,
        "at_ns": step.now,
        "host": NAMES[step.host],
        "from": Way::of(step.action).map(|way| NAMES[way.from()]),
        "overtakes": step.action.overtakes(),
        "packet": step.packet,
        "events": events.collect::<Vec<_>>(),
        "sent": step.sent,
    })
}
