// SPDX-License-Identifier: MIT OR Apache-2.0
//! The judge: whether what has happened is what must hold.

use carrick_sim::app::{End as AppEnd, Record, Side};
use carrick_sim::core::Core;
use carrick_sim::interface::Shape;
use carrick_sim::{Scenario, judge};

use crate::action::{Action, VIA};
use crate::end::End;
use crate::goal::Goal;
use crate::setup::{Promise, Setup};

/// The names of the hosts.
pub const NAMES: [&str; 3] = ["client", "server", "via"];

/// The number and the name of each end, without what is between them.
fn the_ends() -> impl Iterator<Item = (usize, &'static str)> {
    NAMES.into_iter().enumerate().take(VIA)
}

/// A goal that does not hold, and a way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// what does not hold
    pub goal: Goal,
    /// a sentence about it
    pub what: String,
    /// the actions that lead there from the beginning
    pub path: Vec<Action>,
}

/// There is one connection: its number says nothing.
fn unnumbered(what: String) -> String {
    what.split_once(": ").map_or(what.clone(), |(_, rest)| rest.to_owned())
}

/// The judge of ends and of states.
pub(crate) struct Judge<'s> {
    pub setup: &'s Setup,
    shape: Shape,
    scenario: Scenario,
    /// those that count
    goals: Vec<Goal>,
    /// contexts that are open at each host after a run without faults
    pub left: Option<Vec<usize>>,
}

impl<'s> Judge<'s> {
    /// # Errors
    /// As [`Setup::shape`].
    pub(crate) fn new(setup: &'s Setup) -> Result<Judge<'s>, String> {
        let shape = setup.shape()?;
        Ok(Judge {
            setup,
            shape,
            scenario: setup.scenario(shape),
            goals: setup.goals().collect(),
            left: None,
        })
    }

    /// What is wrong at an end to which something has just happened. Once an end has begun anew, its application says again what it
    /// said before.
    pub(crate) fn end(&self, host: usize, end: &End, crashed: bool) -> Option<(Goal, String)> {
        let without_end = || {
            let what = end.restless?;
            Some((Goal::Calm, format!("the {}'s {what}, and no time passes", NAMES[host])))
        };
        let astray = || {
            let interface = end.astray?;
            let what = format!(
                "the program in the network sent a packet by interface {interface}: there are 0, 1 and `ROUTE`"
            );
            Some((Goal::Delivery, what))
        };
        let wrong = self.claims(host, end).or_else(without_end).or_else(astray);
        wrong.or_else(|| self.counted(self.delivery(host, end, crashed)))
    }

    /// What does not hold, if it counts.
    fn counted(&self, wrong: Option<(Goal, String)>) -> Option<(Goal, String)> {
        wrong.filter(|(goal, _)| self.goals.contains(goal))
    }

    /// What client and server do.
    fn sides(&self) -> [&Side; 2] {
        let plan = &self.scenario.plans[0];
        [&plan.client, &plan.server]
    }

    fn claims(&self, host: usize, end: &End) -> Option<(Goal, String)> {
        let failed = end.core.failed_claims();
        let all = judge::claims(self.setup.program(host), NAMES[host], failed);
        Some((Goal::Claims, all.into_iter().next()?))
    }

    fn delivery(&self, host: usize, end: &End, crashed: bool) -> Option<(Goal, String)> {
        let name = NAMES[host];
        if end.app.completed_again() > 0 {
            return Some((Goal::Delivery, format!("the {name}'s program completed a request a second time")));
        }
        if host == VIA {
            return None;
        }
        let Promise { once, order, .. } = if crashed { Promise::default() } else { self.setup.promise };
        let once = once || self.shape == Shape::Rpc && !crashed;
        let due = self.sides()[1 - host].to_send;
        for record in end.app.records() {
            if record.end_of_stream && record.received < due {
                let received = record.received;
                return Some((
                    Goal::Delivery,
                    format!("the {name} saw the end after {received} bytes of {due}"),
                ));
            }
            if let Some(at) = record.wrong_at {
                let what = format!("the {name} received something else than was sent, behind {at} bytes");
                return Some((Goal::Delivery, what));
            }
            if record.messages.again > 0 && once {
                let what = if self.shape == Shape::Rpc { "request" } else { "message" };
                return Some((Goal::Delivery, format!("the {name} was given a {what} a second time")));
            }
            if record.messages.late > 0 && order {
                let what = format!("the {name} was given a message behind one that was sent later");
                return Some((Goal::Delivery, what));
            }
        }
        None
    }

    /// What is wrong where a run is over, or has gone on for as long as it may. Second: an application was told an error.
    pub(crate) fn over(
        &self,
        ends: &[End],
        quiet: bool,
        crashed: bool,
    ) -> (Option<(Goal, String)>, Option<String>) {
        let records = [0, 1].map(|host| ends[host].app.records());
        if crashed {
            return (self.counted(self.after_crash(&records)), None);
        }
        let verdict = judge::records(&self.setup.programs[0], self.shape, &records, &self.scenario);
        if let Some(what) = verdict.failures.into_iter().next().map(unnumbered) {
            let open = records.iter().flatten().any(|record| record.end == AppEnd::Open);
            let goal = if open { Goal::Ends } else { Goal::Delivery };
            return (self.counted(Some((goal, what))), None);
        }
        if let Some(what) = self.lacks(&records) {
            return (self.counted(Some((Goal::Delivery, what))), None);
        }
        let told = judge::unfinished(self.shape, &records, &self.scenario).into_iter().next().map(unnumbered);
        if let Some(what) = told.as_ref().filter(|_| self.setup.promise.no_errors) {
            return (self.counted(Some((Goal::Delivery, what.clone()))), None);
        }
        let more = |host: usize| {
            let (left, usual) = (ends[host].core.open_contexts(), self.left.as_ref()?[host]);
            let name = NAMES[host];
            let what = format!(
                "contexts that are left at the {name}: {left}, and {usual} after a run without faults"
            );
            (left > usual).then_some((Goal::Released, what))
        };
        let released = (0..ends.len()).filter(|_| quiet).find_map(more);
        (self.counted(released), told)
    }

    /// What is wrong at the end of a run without faults: there everything arrives once and in order, and nobody is told an error.
    pub(crate) fn without_faults(&self, ends: &[End]) -> Option<String> {
        let records = [0, 1].map(|host| ends[host].app.records());
        if let Some(what) =
            judge::unfinished(self.shape, &records, &self.scenario).into_iter().next().map(unnumbered)
        {
            return Some(format!("without any fault, {what}"));
        }
        let counts =
            |record: &Record| (record.messages.received, record.messages.again, record.messages.late);
        for (host, name) in the_ends().filter(|_| self.shape == Shape::Message) {
            let wanted = self.sides()[1 - host].to_send / u64::from(self.setup.message);
            let found =
                records[host].iter().map(counts).fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
            if found != (wanted, 0, 0) {
                let (came, again, late) = found;
                return Some(format!(
                    "without any fault, the {name} was given {came} messages of {wanted}, {again} a second time and {late} late"
                ));
            }
        }
        None
    }

    /// Who has lost its peer hears of it, if it asks for anything: without keep-alives, an end of a stream that has sent everything
    /// waits for ever.
    fn after_crash(&self, records: &[Vec<Record>; 2]) -> Option<(Goal, String)> {
        for (host, name) in the_ends() {
            let to_send = self.sides()[host].to_send;
            let waits = |record: &&Record| {
                record.end == AppEnd::Open && !(self.shape.carries_streams() && record.sent >= to_send)
            };
            if let Some(record) = records[host].iter().find(waits) {
                let (sent, received) = (record.sent, record.received);
                let what = format!("the {name} never finished ({sent} bytes sent, {received} received)");
                return Some((Goal::Ends, what));
            }
        }
        None
    }

    /// Messages that were sent well and have not arrived, where all are to.
    fn lacks(&self, records: &[Vec<Record>; 2]) -> Option<String> {
        let all =
            |host: usize, of: fn(&Record) -> u64| records[host].iter().map(of).fold(0, |all, one| all | one);
        let lacks = |from: usize| {
            let (sent, came) =
                (all(from, |r| r.messages.sent_first), all(1 - from, |r| r.messages.received_first));
            let (lacks, sent) = ((sent & !came).count_ones(), sent.count_ones());
            (lacks > 0).then(|| {
                format!("the {} lacks {lacks} messages of {sent} that were sent well", NAMES[1 - from])
            })
        };
        [0, 1].into_iter().filter(|_| self.setup.promise.all).find_map(lacks)
    }
}
