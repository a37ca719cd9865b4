// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheduling blocks of a program, as the trees that they are.

use carrick_ir::{EventSchedule, Program, SchedInput, SchedInputs, Schedule, print};

use crate::html::{code, link};

/// Both schedules, if the program has any.
pub fn pictures(program: &Program) -> String {
    let mut html = String::new();
    if !program.schedule.blocks.is_empty() {
        let queue = |number: u32| format!("queue {number}");
        html.push_str("<h3>Packets</h3>\n");
        html.push_str(&tree(program, &program.schedule, &queue));
    }
    if let Some(events) = &program.event_schedule {
        let queue = |number: u32| waiting(program, events, number);
        html.push_str("<h3>Events</h3>\n");
        html.push_str(&tree(program, &events.schedule, &queue));
    }
    html
}

fn tree(program: &Program, schedule: &Schedule, queue: &dyn Fn(u32) -> String) -> String {
    format!("<ul>\n{}</ul>\n", block(program, schedule, (0, ""), queue))
}

/// A block, with its share of the one that it feeds, and its inputs with theirs.
fn block(
    program: &Program,
    schedule: &Schedule,
    (at, own): (usize, &str),
    queue: &dyn Fn(u32) -> String,
) -> String {
    let Some(def) = schedule.blocks.get(at) else { return String::new() };
    let share = |input: usize| {
        let share = def.policy.shares().get(input).map(|e| code(&print::expression(program, e, &[])));
        share.map_or_else(String::new, |share| format!(" <small>{share}</small>"))
    };
    let inputs: String = match &def.inputs {
        SchedInputs::PerFlow(number) => {
            format!("<li>{}, for each flow{}</li>\n", queue(*number), share(0))
        }
        SchedInputs::Each(inputs) => inputs
            .iter()
            .enumerate()
            .map(|(i, input)| match input {
                SchedInput::Queue(number) => format!("<li>{}{}</li>\n", queue(*number), share(i)),
                SchedInput::Block(child) => block(program, schedule, (*child as usize, &share(i)), queue),
            })
            .collect(),
    };
    format!("<li>{}{own}\n<ul>\n{inputs}</ul></li>\n", code(def.policy.name()))
}

/// The events that wait in a queue.
fn waiting(program: &Program, events: &EventSchedule, number: u32) -> String {
    let names = program.events.iter().zip(&events.queues).filter(|(_, queue)| **queue == Some(number));
    let mut all: Vec<String> = names.map(|(event, _)| link("event", &event.name)).collect();
    if events.timers == Some(number) {
        all.push("timers that are due".into());
    }
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}
