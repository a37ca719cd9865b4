// SPDX-License-Identifier: MIT OR Apache-2.0
//! State machines as pictures: the states in a column, and at the right of each the ways that lead out of it.

use carrick_ir::{Machine, Program};

use crate::html::{code, cut, escape, escaped, inline, link, place, prose, table, written};

const LEFT: u32 = 24;
const BOX_WIDTH: u32 = 170;
/// between the ways out of a state
const PITCH: u32 = 22;
const GAP: u32 = 26;
/// where the upright lines begin
const LANES: u32 = 440;
const LANE: u32 = 14;
/// letters over a way
const LETTERS: usize = 36;

/// A way from a state: the events that lead there, each with whether there is a condition.
struct Way {
    /// by number; behind the last state: any state
    from: usize,
    /// `None`: the end of the context
    to: Option<usize>,
    events: Vec<(String, bool)>,
}

/// Each machine of the program.
pub fn pictures(program: &Program) -> String {
    if program.machines.is_empty() {
        return String::new();
    }
    let intro = "<p>Each way says which events lead along it, with a <code>?</code> where that depends on a condition. A dot at the left marks where contexts begin.</p>\n";
    intro.to_owned() + &program.machines.iter().map(|machine| one(program, machine)).collect::<String>()
}

fn one(program: &Program, machine: &Machine) -> String {
    let of = &program.contexts[machine.context.index()].name;
    let name = escape(&machine.name);
    format!(
        "<h3 id=\"machine-{name}\"><code>{name}</code> <small>of {}</small></h3>\n{}{}{}",
        link("context", of),
        prose(&machine.doc),
        picture(&machine.name, machine, &ways(program, machine)),
        reactions(program, machine)
    )
}

/// What leads from the same state to the same state is one way.
fn ways(program: &Program, machine: &Machine) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for transition in &machine.transitions {
        let from = transition.from.map_or(machine.states.len(), |from| from as usize);
        let event = (program.events[transition.event.index()].name.clone(), transition.guard.is_some());
        let targets = transition.to.iter().map(|to| Some(*to as usize));
        for to in targets.chain(transition.ends.then_some(None)) {
            match ways.iter_mut().find(|w| w.from == from && w.to == to) {
                Some(way) if way.events.contains(&event) => {}
                Some(way) => way.events.push(event.clone()),
                None => ways.push(Way { from, to, events: vec![event.clone()] }),
            }
        }
    }
    ways
}

/// Where a state stands.
struct Place {
    top: u32,
    height: u32,
}

impl Place {
    /// Where ways come in.
    fn entry(&self) -> u32 {
        self.top + 12
    }

    fn exit(&self, number: usize) -> u32 {
        self.entry() + PITCH * (number as u32 + 1)
    }
}

fn picture(name: &str, machine: &Machine, ways: &[Way]) -> String {
    let anywhere = ways.iter().any(|w| w.from == machine.states.len());
    let count = machine.states.len() + usize::from(anywhere);
    let mut top = 10;
    let places: Vec<Place> = (0..count)
        .map(|state| {
            let out = ways.iter().filter(|w| w.from == state).count() as u32;
            let place = Place { top, height: 34.max(12 + PITCH * out + 12) };
            top += place.height + GAP;
            place
        })
        .collect();
    let mut svg = String::new();
    for (at, place) in places.iter().enumerate() {
        svg.push_str(&state(machine, at, place));
    }
    for entry in machine.entries.iter().filter_map(|entry| places.get(*entry as usize)) {
        let y = entry.entry();
        svg.push_str(&format!("<circle class=\"begin\" cx=\"8\" cy=\"{y}\" r=\"4\"/>"));
        svg.push_str(&arrow(&format!("M12 {y}H{LEFT}"), true));
    }
    let mut lanes: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut left = vec![0; count];
    for way in ways {
        let y = places[way.from].exit(left[way.from]);
        left[way.from] += 1;
        let entry = way.to.map(|to| places[to].entry());
        let lane = entry.map(|entry| free_lane(&mut lanes, (y.min(entry), y.max(entry))));
        svg.push_str(&drawn(way, y, entry.zip(lane)));
    }
    let width = LANES + LANE * lanes.len() as u32 + 10;
    format!(
        "<svg class=\"machine\" role=\"img\" aria-label=\"the states of {}\" viewBox=\"0 0 {width} {top}\" width=\"{width}\">{svg}</svg>\n",
        escape(name)
    )
}

fn state(machine: &Machine, at: usize, place: &Place) -> String {
    let known = machine.states.get(at);
    let (name, doc) = known.map_or(("any state", String::new()), |(name, doc)| (name.as_str(), escaped(doc)));
    let class = if at < machine.states.len() { "state" } else { "state optional" };
    format!(
        "<g><title>{} {}</title><rect class=\"{class}\" x=\"{LEFT}\" y=\"{}\" width=\"{BOX_WIDTH}\" height=\"{}\" rx=\"12\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
        escape(name),
        doc,
        place.top,
        place.height,
        LEFT + 12,
        place.top + place.height / 2 + 4,
        escape(&cut(name, 22)),
    )
}

/// The first upright line that nobody uses between two heights.
fn free_lane(lanes: &mut Vec<Vec<(u32, u32)>>, wanted: (u32, u32)) -> u32 {
    let apart = |taken: &(u32, u32)| wanted.1 < taken.0 || taken.1 < wanted.0;
    let lane = lanes.iter().position(|taken| taken.iter().all(apart)).unwrap_or(lanes.len());
    if lane == lanes.len() {
        lanes.push(Vec::new());
    }
    lanes[lane].push(wanted);
    lane as u32
}

/// From the state's side to a line at the right, along it, and back into the state where it leads.
fn drawn(way: &Way, y: u32, target: Option<(u32, u32)>) -> String {
    let from = LEFT + BOX_WIDTH;
    let events: Vec<String> = way
        .events
        .iter()
        .map(|(event, guarded)| format!("{event}{}", if *guarded { "?" } else { "" }))
        .collect();
    let label = events.join(", ");
    let line = match target {
        Some((entry, lane)) => {
            let x = LANES + LANE * lane;
            arrow(&format!("M{from} {y}H{x}V{entry}H{from}"), false)
        }
        None => {
            let x = LANES - 30;
            format!(
                "{}<circle class=\"end\" cx=\"{}\" cy=\"{y}\" r=\"6\"/><circle class=\"begin\" cx=\"{}\" cy=\"{y}\" r=\"3\"/>",
                arrow(&format!("M{from} {y}H{x}"), true),
                x + 7,
                x + 7
            )
        }
    };
    format!(
        "<g><title>{0}</title>{line}<text class=\"small\" x=\"{1}\" y=\"{2}\">{3}</text></g>",
        escape(&label),
        from + 14,
        y - 4,
        escape(&cut(&label, LETTERS)),
    )
}

fn arrow(path: &str, right: bool) -> String {
    let head = if right { "m-5 -4l5 4l-5 4" } else { "m5 -4l-5 4l5 4" };
    format!("<path class=\"arrow\" d=\"{path}{head}\"/>")
}

/// Each reaction with its condition and where it leads.
fn reactions(program: &Program, machine: &Machine) -> String {
    let state = |number: u32| machine.states[number as usize].0.as_str();
    let documented = machine.states.iter().filter(|(_, doc)| !doc.is_empty());
    let states = documented.map(|(name, doc)| vec![code(name), inline(doc)]);
    let rows = machine.transitions.iter().map(|t| {
        let mut leads: Vec<String> = t.to.iter().map(|to| code(state(*to))).collect();
        if t.ends {
            leads.push("the end of the context".to_owned());
        }
        vec![
            t.from.map_or_else(|| "any state".to_owned(), |from| code(state(from))),
            link("event", &program.events[t.event.index()].name),
            t.guard.as_ref().map(written).unwrap_or_default(),
            if leads.is_empty() { "stays".to_owned() } else { leads.join(" or ") },
            place(program, t.loc),
        ]
    });
    table(&["state", ""], states) + &table(&["in", "on", "if", "leads to", "at"], rows)
}
