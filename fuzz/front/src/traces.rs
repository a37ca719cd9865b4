// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces of runs that somebody else recorded, or that a disk damaged.

use std::collections::BTreeMap;
use std::sync::Arc;

use carrick_ir::Program;
use carrick_report::{Header, Reader};
use carrick_sim::Scenario;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::scenario::Engine;
use carrick_sim::trace::{Form, Head, Layouts, Line, Recaller, Writer};
use serde_json::Value;

use crate::json::mutate;
use crate::random::Random;

/// Lines of a trace: what is wrong with a long one is wrong with a short one.
const LINES: usize = 300;

/// Makes one broken trace after another, and reads them.
pub struct Traces {
    programs: BTreeMap<String, Arc<Program>>,
    right: Vec<Vec<String>>,
    random: Random,
}

impl Traces {
    /// Of runs of these programs: those that applications speak with.
    pub fn new(programs: &[Arc<Program>], random: Random) -> Traces {
        let right = programs.iter().filter_map(recorded).collect();
        let programs =
            programs.iter().map(|program| (program.file.raw().to_owned(), program.clone())).collect();
        Traces { programs, right, random }
    }

    pub fn next(&mut self) -> String {
        let random = &mut self.random;
        let Some(mut lines) = random.pick(&self.right).cloned() else { return String::new() };
        for _ in 0..=random.below(4) {
            let (at, other) = (1 + random.below(lines.len() - 1), random.below(lines.len()));
            match random.below(8) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[other].clone()),
                2 => lines.swap(at, other),
                3 => lines[at] = cut(&lines[at], random),
                _ => lines[at] = changed(&lines[at], random),
            }
            if lines.len() < 2 {
                break;
            }
        }
        lines.join("\n")
    }

    /// A trace is refused, or its page is drawn; and its records are refused, or are those of the program.
    pub fn judge(&self, text: &str) {
        let mut lines = text.lines();
        let Ok(header) = Header::read(lines.next().unwrap_or_default()) else { return };
        let Some(program) = self.programs.get(&header.program) else { return };
        recall(program, lines.clone());
        let Ok(mut reader) = Reader::new(&header, program, &[]) else { return };
        let mut takes =
            |line| serde_json::from_str::<Line>(line).is_ok_and(|line| reader.record(&line).is_ok());
        if lines.all(&mut takes) {
            carrick_report::page(&reader.finish(Vec::new()), "");
        }
    }
}

/// As `carrick trace` reads it.
fn recall<'t>(program: &Program, lines: impl Iterator<Item = &'t str>) {
    let layouts = Layouts::of(program);
    let mut recaller = Recaller::new(layouts.clone());
    for line in lines.filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        let _ = recaller.unchanged();
        if recaller.recall(&line).is_ok_and(|record| record.is_some_and(|record| !layouts.fits(&record))) {
            return;
        }
    }
}

/// The beginning of a trace with losses; `None`: no application of the simulator speaks with the program.
fn recorded(program: &Arc<Program>) -> Option<Vec<String>> {
    let mut octets = Vec::new();
    let mut trace = Writer::new(Form::Json, &mut octets, &Head::new(program, 3, "carrick sim"));
    let link = LinkConfig {
        faults: LinkFaults { loss_ppm: 100_000, ..LinkFaults::default() }.into(),
        ..LinkConfig::default()
    };
    let scenario = Scenario::bulk(3, link, 20_000);
    carrick_sim::run(program, &Engine::Interpreter, &scenario, &mut trace, true).ok()?;
    trace.finish().ok()?;
    let text = String::from_utf8(octets).ok()?;
    let lines: Vec<String> = text.lines().take(LINES).map(str::to_owned).collect();
    (lines.len() > 10).then_some(lines)
}

fn changed(line: &str, random: &mut Random) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    mutate(&mut value, random);
    value.to_string()
}

/// Without some bytes in the middle.
fn cut(line: &str, random: &mut Random) -> String {
    let (from, to) = (random.below(line.len()), random.below(line.len()));
    let (from, to) = (from.min(to), from.max(to));
    [&line.as_bytes()[..from], &line.as_bytes()[to..]]
        .concat()
        .iter()
        .map(|byte| char::from(byte & 0x7f))
        .collect()
}
