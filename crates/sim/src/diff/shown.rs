// SPDX-License-Identifier: MIT OR Apache-2.0
//! What two runs show, and the first difference between them.

use std::collections::{BTreeSet, VecDeque};

use carrick_ir::{Loc, Program};

use super::comparison::Comparison;
use crate::core::{Completion, Record};
use crate::observe::Observer;
use crate::scenario::Report;
use crate::trace::describe;

/// Something that a run shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
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

#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub now: u64,
    pub place: Place,
    pub item: Item,
    /// the place in the text, which only the interpreter tells
    pub at: Loc,
}

impl PartialEq for Shown {
    fn eq(&self, other: &Shown) -> bool {
        (self.now, self.place, &self.item) == (other.now, other.place, &other.item)
    }
}

/// Where something shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Host(usize),
    /// the core between the hosts
    Between,
    /// what that core lets out by this interface
    Interface(usize),
}

/// What a run may show. Whoever shows more is stopped: nothing that these applications ask for takes as much.
pub(super) const MOST_SHOWN: usize = 2_000_000;

/// Takes what a run shows, one by one.
trait Take {
    fn take(&mut self, shown: Shown);

    /// Whether it takes no more.
    fn is_full(&self) -> bool;
}

impl<T: Take> Observer for T {
    fn enough(&self) -> bool {
        self.is_full()
    }

    fn sent(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        let item = Item::Packet(packet.to_vec());
        self.take(Shown { now, place: Place::Host(host), item, at: Loc::default() });
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.take(Shown { now, place: Place::Host(host), item: Item::record(record), at: record.at });
    }

    fn completed(&mut self, now: u64, host: usize, done: &Completion) {
        let item = Item::Completion(done.token, done.status, done.value);
        self.take(Shown { now, place: Place::Host(host), item, at: Loc::default() });
    }

    fn passed(&mut self, now: u64, interface: usize, packet: &[u8]) {
        let item = Item::Packet(packet.to_vec());
        self.take(Shown { now, place: Place::Interface(interface), item, at: Loc::default() });
    }

    fn record_at(&mut self, now: u64, _station: usize, record: &Record) {
        self.take(Shown { now, place: Place::Between, item: Item::record(record), at: record.at });
    }
}

/// Keeps everything.
#[derive(Debug, Default)]
pub(super) struct Recorder(pub Vec<Shown>);

impl Take for Recorder {
    fn take(&mut self, shown: Shown) {
        self.0.push(shown);
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MOST_SHOWN
    }
}

/// Compares with what a first run showed, as the second goes.
pub(super) struct Comparer {
    expected: VecDeque<Shown>,
    /// the first run was stopped; what would have come is not known
    stopped: bool,
    last_event: Option<Shown>,
    compared: u64,
    /// what was expected (if anything) and what came
    difference: Option<(Option<Shown>, Shown, Option<Shown>)>,
}

impl Comparer {
    /// With this first run.
    pub fn of(first: Recorder) -> Comparer {
        let stopped = first.is_full();
        Comparer { expected: first.0.into(), stopped, last_event: None, compared: 0, difference: None }
    }
}

impl Take for Comparer {
    fn take(&mut self, shown: Shown) {
        if self.difference.is_some() || self.is_full() {
            return;
        }
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

    fn is_full(&self) -> bool {
        self.stopped && self.expected.is_empty()
    }
}

/// What came of a comparison with a first run that this is the report of.
pub(super) fn finish(comparer: Comparer, programs: [&Program; 2], report: Report) -> Comparison {
    let mut failures = report.failures;
    if comparer.stopped {
        failures.push(format!(
            "after {:.3} s and {MOST_SHOWN} records, packets and completions there is still no end",
            report.ended_at as f64 / 1e9
        ));
    }
    let rest = comparer.expected.front();
    let difference = match (comparer.difference, rest) {
        (Some((expected, got, event)), _) => {
            Some(explain(programs, expected.as_ref(), Some(&got), event.as_ref()))
        }
        (None, Some(rest)) => Some(explain(programs, Some(rest), None, comparer.last_event.as_ref())),
        (None, None) => None,
    };
    Comparison {
        compared: comparer.compared,
        packets: report.packets,
        answered: BTreeSet::new(),
        difference,
        failures,
    }
}

/// The difference in words; the programs are that of the ends and that between them.
fn explain(
    programs: [&Program; 2],
    expected: Option<&Shown>,
    got: Option<&Shown>,
    event: Option<&Shown>,
) -> String {
    let say = |shown: Option<&Shown>| shown.map_or("nothing".into(), |s| words(programs, s));
    let mut text = format!("interpreter: {}\ncompiled:    {}", say(expected), say(got));
    if let Some(event) = event {
        text.push_str(&format!("\nin the event: {}", words(programs, event)));
    }
    text
}

fn words([ends, between]: [&Program; 2], shown: &Shown) -> String {
    let what = match &shown.item {
        Item::Record(record) => {
            let program = if shown.place == Place::Between { between } else { ends };
            let (what, detail) = describe(program, record);
            format!("{what} {detail}")
        }
        Item::Packet(octets) => {
            let hex: String = octets.iter().take(80).map(|o| format!("{o:02x}")).collect();
            format!("packet of {} bytes {hex}", octets.len())
        }
        Item::Completion(token, status, value) => {
            format!("completion of {token}: status {status}, value {value}")
        }
    };
    let place = match shown.place {
        Place::Host(host) => format!("host {host}"),
        Place::Between => "between the hosts".into(),
        Place::Interface(interface) => format!("between the hosts, leaving by interface {interface}"),
    };
    format!("at {} ns, {place}: {what}", shown.now)
}
