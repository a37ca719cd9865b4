// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which processors run for which event, as a picture, and what they can do.

use std::collections::BTreeSet;

use carrick_ir::uses::{self, event_kind_name};
use carrick_ir::{EventDef, EventId, EventKind, FuncId, Program};

use crate::html::{cut, escape, link, table};
use crate::reach::Reach;

const EVENT_WIDTH: u32 = 170;
const BOX_WIDTH: u32 = 168;
const BOX_HEIGHT: u32 = 44;
const GAP: u32 = 22;
const PER_ROW: u32 = 4;
/// letters that fit into a box
const LETTERS: usize = 23;
const SMALL_LETTERS: usize = 25;

struct Canvas {
    svg: String,
    y: u32,
}

/// Each event with the processors that run for it, in their order.
pub fn picture(program: &Program, reach: &[Reach]) -> String {
    let mut canvas = Canvas { svg: String::new(), y: 4 };
    let order = [EventKind::App, EventKind::Net, EventKind::Flow, EventKind::Timer, EventKind::Sent];
    for kind in order {
        for (number, event) in program.events.iter().enumerate().filter(|(_, e)| e.kind == kind) {
            if let Some(chain) = program.chains.get(number).and_then(Option::as_ref) {
                canvas.row(program, reach, event, &chain.present, None);
                if let Some(absent) = &chain.absent {
                    canvas.row(program, reach, event, absent, Some("no context"));
                }
            }
        }
    }
    let width = EVENT_WIDTH + PER_ROW * (BOX_WIDTH + GAP) + 8;
    format!(
        "<p>An event, and the processors that run for it, each with the instructions that it may issue. A processor with a bar at its right may end the chain.</p>\n<svg class=\"chains\" role=\"img\" aria-label=\"events and their processors\" viewBox=\"0 0 {width} {}\" width=\"{width}\">{}</svg>\n",
        canvas.y, canvas.svg
    )
}

impl Canvas {
    fn row(
        &mut self,
        program: &Program,
        reach: &[Reach],
        event: &EventDef,
        chain: &[FuncId],
        why: Option<&str>,
    ) {
        let name = escape(&event.name);
        let kind = event_kind_name(event.kind);
        let below = why.unwrap_or(kind);
        self.svg.push_str(&format!("<a href=\"#event-{name}\">"));
        self.place(kind, (2, EVENT_WIDTH - GAP), &event.name, below);
        self.svg.push_str("</a>");
        for (n, func) in (0..).zip(chain) {
            let column = n % PER_ROW;
            if n > 0 && column == 0 {
                self.y += BOX_HEIGHT + 10;
            }
            let x = EVENT_WIDTH + column * (BOX_WIDTH + GAP);
            self.arrow(x - GAP + 2, x - 2);
            let function = &program.functions[func.index()];
            let can = &reach[func.index()];
            let issued: Vec<&str> = can.instructions.iter().copied().collect();
            self.svg.push_str(&format!("<a href=\"#function-{}\">", escape(&function.name)));
            self.place("processor", (x, BOX_WIDTH), &function.name, &issued.join(" "));
            if can.stops {
                let edge = x + BOX_WIDTH;
                self.svg.push_str(&format!("<path class=\"stops\" d=\"M{edge} {}v{BOX_HEIGHT}\"/>", self.y));
            }
            self.svg.push_str("</a>");
        }
        self.y += BOX_HEIGHT + 16;
    }

    fn place(&mut self, class: &str, (x, width): (u32, u32), name: &str, below: &str) {
        let y = self.y;
        self.svg.push_str(&format!(
            "<g><title>{} {}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{}</text><text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g>",
            escape(name),
            escape(below),
            x + 8,
            y + 18,
            escape(&cut(name, LETTERS)),
            x + 8,
            y + 35,
            escape(&cut(below, SMALL_LETTERS)),
        ));
    }

    fn arrow(&mut self, from: u32, to: u32) {
        let y = self.y + BOX_HEIGHT / 2;
        self.svg.push_str(&format!("<path class=\"arrow\" d=\"M{from} {y}H{to}m-5 -4l5 4l-5 4\"/>"));
    }
}

/// Which instructions each event's chain may issue.
pub fn instructions(program: &Program, reach: &[Reach]) -> String {
    let all: BTreeSet<&str> = uses::instructions(program);
    let head: Vec<String> =
        [String::new()].into_iter().chain(all.iter().map(|i| format!("<code>{i}</code>"))).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let dispatched = program
        .events
        .iter()
        .enumerate()
        .filter(|(n, _)| program.chains.get(*n).is_some_and(Option::is_some));
    let rows = dispatched.map(|(number, event)| {
        let can = Reach::of_event(program, reach, EventId(number as u32));
        let marks = all.iter().map(|i| if can.instructions.contains(i) { "●" } else { "" }.to_owned());
        [link("event", &event.name)].into_iter().chain(marks).collect()
    });
    table(&head, rows).replacen("<table>", "<table class=\"matrix\">", 1)
}
