//! The interpreter against the compiled core: the same scenario, compared event by event; and random operations.

mod operations;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use carrick_ir::{Loc, Program};

use crate::compiled::CompiledProgram;
use crate::core::{Completion, Record};
use crate::observe::Observer;
use crate::scenario::{Engine, Scenario, run};
use crate::trace::describe;

pub use operations::diff_operations;

/// Something that a run shows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Record(Record),
    Packet(Vec<u8>),
    Completion(u64, u8, u64),
}

impl Item {
    /// A record without the place in the text, which only the interpreter tells.
    fn record(record: &Record) -> Item {
        Item::Record(Record { at: Loc::default(), ..record.clone() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    now: u64,
    host: usize,
    item: Item,
}

/// What a run may show. Whoever shows more is stopped: nothing that these applications ask for takes as much.
const MOST_SHOWN: usize = 2_000_000;

/// Keeps everything.
#[derive(Debug, Default)]
struct Recorder(Vec<Shown>);

impl Recorder {
    fn is_full(&self) -> bool {
        self.0.len() >= MOST_SHOWN
    }
}

impl Observer for Recorder {
    fn enough(&self) -> bool {
        self.is_full()
    }

    fn sent(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        self.0.push(Shown { now, host, item: Item::Packet(packet.to_vec()) });
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.0.push(Shown { now, host, item: Item::record(record) });
    }

    fn completed(&mut self, now: u64, host: usize, done: &Completion) {
        self.0.push(Shown { now, host, item: Item::Completion(done.token, done.status, done.value) });
    }
}

/// Compares with what a first run showed, as the second goes.
struct Comparer {
    expected: VecDeque<Shown>,
    /// the first run was stopped; what would have come is not known
    stopped: bool,
    last_event: Option<Shown>,
    compared: u64,
    /// what was expected (if anything) and what came
    difference: Option<(Option<Shown>, Shown, Option<Shown>)>,
}

impl Comparer {
    fn compare(&mut self, now: u64, host: usize, item: Item) {
        if self.difference.is_some() || self.enough() {
            return;
        }
        let shown = Shown { now, host, item };
        let expected = self.expected.pop_front();
        if expected.as_ref() != Some(&shown) {
            self.difference = Some((expected, shown, self.last_event.take()));
            return;
        }
        self.compared += 1;
        if matches!(&shown.item, Item::Record(r) if r.kind == 0) {
            self.last_event = Some(shown);
        }
    }
}

impl Observer for Comparer {
    fn enough(&self) -> bool {
        self.stopped && self.expected.is_empty()
    }

    fn sent(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        self.compare(now, host, Item::Packet(packet.to_vec()));
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.compare(now, host, Item::record(record));
    }

    fn completed(&mut self, now: u64, host: usize, done: &Completion) {
        self.compare(now, host, Item::Completion(done.token, done.status, done.value));
    }
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// records, packets and completions that agree
    pub compared: u64,
    /// packets that were made
    pub packets: u64,
    /// what the first disagreement is, in words
    pub difference: Option<String>,
    /// what the run itself did wrong
    pub failures: Vec<String>,
}

/// Runs a scenario on both and compares.
///
/// # Errors
/// As [`run`].
pub fn diff(
    program: &Arc<Program>,
    compiled: &Rc<CompiledProgram>,
    scenario: &Scenario,
) -> Result<Comparison, String> {
    let mut recorder = Recorder::default();
    let report = run(program, &Engine::Interpreter, scenario, &mut recorder, true)?;
    let mut failures = report.failures;
    let stopped = recorder.is_full();
    if stopped {
        failures.push(format!(
            "after {:.3} s and {MOST_SHOWN} records, packets and completions there is still no end",
            report.ended_at as f64 / 1e9
        ));
    }
    let mut comparer =
        Comparer { expected: recorder.0.into(), stopped, last_event: None, compared: 0, difference: None };
    run(program, &Engine::Compiled(compiled.clone()), scenario, &mut comparer, true)?;
    let rest = comparer.expected.front();
    let difference = match (comparer.difference, rest) {
        (Some((expected, got, event)), _) => {
            Some(explain(program, expected.as_ref(), Some(&got), event.as_ref()))
        }
        (None, Some(rest)) => Some(explain(program, Some(rest), None, comparer.last_event.as_ref())),
        (None, None) => None,
    };
    Ok(Comparison { compared: comparer.compared, packets: report.packets, difference, failures })
}

fn explain(
    program: &Program,
    expected: Option<&Shown>,
    got: Option<&Shown>,
    event: Option<&Shown>,
) -> String {
    let say = |shown: Option<&Shown>| shown.map_or("nothing".into(), |s| words(program, s));
    let mut text = format!("interpreter: {}\ncompiled:    {}", say(expected), say(got));
    if let Some(event) = event {
        text.push_str(&format!("\nin the event: {}", words(program, event)));
    }
    text
}

fn words(program: &Program, shown: &Shown) -> String {
    let what = match &shown.item {
        Item::Record(record) => {
            let (what, detail) = describe(program, record);
            format!("{what} {detail}")
        }
        Item::Packet(octets) => {
            let hex: String = octets.iter().take(80).map(|o| format!("{o:02x}")).collect();
            format!("packet of {} octets {hex}", octets.len())
        }
        Item::Completion(token, status, value) => {
            format!("completion of {token}: status {status}, value {value}")
        }
    };
    format!("at {} ns, host {}: {what}", shown.now, shown.host)
}
