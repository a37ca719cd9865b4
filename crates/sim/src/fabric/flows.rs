// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is sent from whom to whom, and what became of it.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::app::Refusal;
use crate::limits::{self, at_most};

/// When a flow begins, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    At(u64),
    /// so long after another one has ended
    After {
        flow: u32,
        pause: u64,
    },
}

/// Bytes that go from one host to another: a connection's, or messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub source: u32,
    pub destination: u32,
    /// at least [`OCTETS_MIN`]
    pub octets: u64,
    pub start: Start,
    /// it goes on while others do, and is not measured
    pub background: bool,
}

/// Bytes of a flow at least: it carries its number.
pub const OCTETS_MIN: u64 = 8;

/// Nanoseconds from the end of sending until it is looked whether a flow is over.
pub const FIRST_LOOK: u64 = 100_000;

/// What became of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// when its bytes were given to the sender, and when the last of them was taken by the receiver
    pub started: Option<u64>,
    pub ended: Option<u64>,
    pub received: u64,
    /// a `status_t` that an application was told
    pub failed: Option<u8>,
    /// the request that it was told of, if that was about bytes of the flow
    pub refusal: Option<Refusal>,
    /// something arrived that was not sent so
    pub wrong: bool,
    /// when the last bytes arrived
    pub last: Option<u64>,
    /// nothing more will arrive, and the program does not promise that it does
    pub over: Option<Over>,
}

/// The end of a flow of which messages were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over {
    /// when its last message was delivered; if none was, when it was given up
    pub at: u64,
    /// messages
    pub lost: u32,
}

impl Outcome {
    /// Neither all of it has arrived, nor is it certain that something will not.
    pub fn is_open(&self) -> bool {
        self.ended.is_none() && self.failed.is_none() && self.over.is_none()
    }
}

/// All flows of a run.
#[derive(Debug, Default)]
pub struct Flows {
    pub all: Vec<Flow>,
    pub outcomes: Vec<Outcome>,
    /// by flow, those that begin when it has ended
    followers: Vec<Vec<(u32, u64)>>,
    /// those that are measured and have neither ended nor failed
    open: usize,
    /// when the last of those that are measured ended
    pub settled_at: u64,
    /// bytes of all flows that arrived
    pub arrived: u64,
    /// that may begin now, with their time
    due: Vec<(u64, u32)>,
    pub series: Option<Series>,
    /// of each flow of messages, a bit for each that was delivered, and one for each that was delivered or intercepted
    there: FxHashMap<u32, [Vec<u64>; 2]>,
    /// flow, number and bytes of messages that offloads made shorter or longer
    pub lengths: FxHashSet<(u32, u32, u64)>,
    pub messages: MessageTimes,
    /// of flows of programs that may lose messages, how many were sent
    sent: FxHashMap<u32, u32>,
    /// of those whose sender has finished, how many messages they have and since when
    finished: FxHashMap<u32, (u32, u64)>,
    /// those of them that were not looked at yet
    new_finished: Vec<u32>,
}

/// A message of a flow.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub flow: u32,
    pub number: u32,
    /// of what was sent
    pub octets: u64,
    /// messages of its flow
    pub count: u64,
}

/// What became of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageTimes {
    /// nanoseconds from the beginning of its flow until a message was delivered or intercepted
    pub took_ns: Vec<u64>,
    /// messages that an application got again
    pub again: u64,
}

impl MessageTimes {
    /// The times in which 50 %, 99 % and all of the messages arrived, in nanoseconds.
    pub fn percentiles(&self) -> Option<[u64; 3]> {
        let mut sorted = self.took_ns.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        Some([50, 99, 100].map(|percent| sorted[last * percent / 100]))
    }
}

/// Sets a bit; whether it was set before.
fn mark(bits: &mut Vec<u64>, message: Message) -> bool {
    bits.resize(message.count.div_ceil(64) as usize, 0);
    let (word, bit) = (message.number as usize / 64, 1 << (message.number % 64));
    let before = bits[word] & bit != 0;
    bits[word] |= bit;
    before
}

/// What arrived of each flow in each stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    /// nanoseconds of a stretch
    pub every: u64,
    /// by stretch and flow, bytes; where nothing arrived there is no entry
    pub octets: BTreeMap<(u64, u32), u64>,
}

impl Flows {
    /// `all` in any order; those that begin at a time are told of in [`Flows::by_start`].
    ///
    /// # Errors
    /// A sentence, if a flow has an end that is no host, goes to its own host, is too long, or follows one that is not there.
    pub fn new(all: Vec<Flow>, hosts: u32) -> Result<Flows, String> {
        let mut followers = vec![Vec::new(); all.len()];
        for (number, flow) in (0_u32..).zip(&all) {
            if flow.source == flow.destination || flow.source.max(flow.destination) >= hosts {
                return Err(format!(
                    "flow {number} is from host {} to host {}: expected two different ones of {hosts} hosts",
                    flow.source, flow.destination
                ));
            }
            at_most("bytes of a flow", flow.octets, limits::BYTES)?;
            if let Start::After { flow, pause } = flow.start {
                let of = followers.get_mut(flow as usize).filter(|_| flow < number);
                of.ok_or_else(|| format!("flow {number} follows one that is not before it"))?
                    .push((number, pause));
            }
        }
        let outcomes = vec![Outcome::default(); all.len()];
        let open = all.iter().filter(|flow| !flow.background).count();
        Ok(Flows { all, outcomes, followers, open, ..Flows::default() })
    }

    /// Those that begin at a time, in that order.
    pub fn by_start(&self) -> Vec<(u64, u32)> {
        let at = |(number, flow): (u32, &Flow)| match flow.start {
            Start::At(at) => Some((at, number)),
            Start::After { .. } => None,
        };
        let mut starts: Vec<(u64, u32)> = (0..).zip(&self.all).filter_map(at).collect();
        starts.sort_unstable();
        starts
    }

    /// Bytes of the longest message, where messages have so many at most.
    pub fn longest_message(&self, most: u32) -> u64 {
        let longest = |flow: &Flow| flow.octets.div_ceil(flow.octets.div_ceil(most.max(1).into()).max(1));
        self.all.iter().map(longest).max().unwrap_or(0)
    }

    /// Every one that is measured has ended or failed.
    pub fn done(&self) -> bool {
        self.open == 0
    }

    /// Bytes of a flow arrived.
    pub fn received(&mut self, flow: u32, octets: u64, right: bool, now: u64) {
        let outcome = &mut self.outcomes[flow as usize];
        outcome.wrong |= !right;
        outcome.received += octets;
        outcome.last = Some(now);
        self.arrived += octets;
        if let Some(series) = &mut self.series {
            *series.octets.entry((now / series.every.max(1), flow)).or_default() += octets;
        }
        if let Some(over) = &mut outcome.over {
            // It was given up too early.
            *over = Over { at: now, lost: over.lost.saturating_sub(1) };
        } else if outcome.received >= self.all[flow as usize].octets && outcome.ended.is_none() {
            outcome.ended = Some(now);
            if outcome.failed.is_none() {
                self.settle(flow, now, now);
            }
        }
    }

    /// A message of a program that may lose it was sent.
    pub fn sent(&mut self, message: Message, now: u64) {
        let sent = self.sent.entry(message.flow).or_default();
        *sent += 1;
        if u64::from(*sent) == message.count {
            self.finished.insert(message.flow, (*sent, now));
            self.new_finished.push(message.flow);
        }
    }

    /// One whose sender has finished, once.
    pub fn next_finished(&mut self) -> Option<u32> {
        self.new_finished.pop()
    }

    /// Since when nothing has happened to a flow whose sender has finished.
    pub fn quiet_since(&self, flow: u32) -> u64 {
        let finished = self.finished.get(&flow).map_or(0, |(_, at)| *at);
        self.outcomes[flow as usize].last.map_or(finished, |last| last.max(finished))
    }

    /// What has not arrived of a flow whose sender has finished never will.
    pub fn give_up(&mut self, flow: u32, now: u64) {
        let Some((count, _)) = self.finished.remove(&flow) else { return };
        let there =
            self.there.get(&flow).map_or(0, |[_, gone]| gone.iter().map(|word| word.count_ones()).sum());
        let outcome = &mut self.outcomes[flow as usize];
        let at = outcome.last.unwrap_or(now);
        outcome.over = Some(Over { at, lost: count - there });
        self.settle(flow, at, now);
    }

    /// A message reached its receiver.
    pub fn delivered(&mut self, message: Message, right: bool, now: u64) {
        let [delivered, gone] = self.there.entry(message.flow).or_default();
        self.messages.again += u64::from(mark(delivered, message));
        let before = mark(gone, message);
        self.gone((message, before), right, now);
    }

    /// Whether a message was delivered or intercepted.
    pub fn is_gone(&self, flow: u32, number: u32) -> bool {
        let word = self.there.get(&flow).and_then(|[_, gone]| gone.get(number as usize / 64));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// A message was intercepted on its way.
    pub fn intercepted(&mut self, message: Message, now: u64) {
        let before = mark(&mut self.there.entry(message.flow).or_default()[1], message);
        self.gone((message, before), true, now);
    }

    fn gone(&mut self, (message, before): (Message, bool), right: bool, now: u64) {
        if before {
            return;
        }
        let flow = message.flow as usize;
        if !self.all[flow].background {
            self.messages.took_ns.push(now - self.outcomes[flow].started.unwrap_or(now));
        }
        self.received(message.flow, message.octets, right, now);
    }

    /// An application was told an error.
    pub fn failed(&mut self, flow: u32, status: u8, now: u64) {
        let outcome = &mut self.outcomes[flow as usize];
        if outcome.is_open() {
            outcome.failed = Some(status);
            self.settle(flow, now, now);
        }
    }

    /// A request with bytes of the flow was refused.
    pub fn refused(&mut self, flow: u32, refusal: Refusal, now: u64) {
        self.outcomes[flow as usize].refusal.get_or_insert(refusal);
        self.failed(flow, refusal.status, now);
    }

    /// A flow is over since a time, which is known now.
    fn settle(&mut self, flow: u32, since: u64, now: u64) {
        if !self.all[flow as usize].background {
            self.open -= 1;
            self.settled_at = self.settled_at.max(since);
        }
        self.due
            .extend(self.followers[flow as usize].iter().map(|(follower, pause)| (now + pause, *follower)));
    }

    /// One that may begin now, and when.
    pub fn next_due(&mut self) -> Option<(u64, u32)> {
        self.due.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_follows_begins_when_the_other_has_ended() {
        let flow = |start| Flow { source: 0, destination: 1, octets: 10, start, background: false };
        let all = vec![flow(Start::At(5)), flow(Start::After { flow: 0, pause: 3 })];
        let mut flows = Flows::new(all, 2).expect("two flows");
        assert_eq!(flows.by_start(), [(5, 0)]);
        flows.received(0, 9, true, 7);
        assert_eq!(flows.next_due(), None);
        flows.received(0, 1, true, 8);
        assert_eq!(flows.next_due(), Some((11, 1)));
        flows.failed(1, 4, 12);
        assert!(flows.done());
    }

    #[test]
    fn nobody_waits_for_the_background() {
        let flow =
            |background| Flow { source: 0, destination: 1, octets: 10, start: Start::At(0), background };
        let mut flows = Flows::new(vec![flow(true), flow(false), flow(true)], 2).expect("three flows");
        flows.received(0, 10, true, 5);
        assert!(!flows.done());
        flows.received(1, 10, true, 7);
        assert!(flows.done());
    }

    #[test]
    fn one_of_which_messages_were_lost_ends_with_the_last_delivery() {
        let flow = |start| Flow { source: 0, destination: 1, octets: 30, start, background: false };
        let all = vec![flow(Start::At(0)), flow(Start::After { flow: 0, pause: 0 })];
        let mut flows = Flows::new(all, 2).expect("two flows");
        let message = |number| Message { flow: 0, number, octets: 10, count: 3 };
        (0..3).for_each(|number| flows.sent(message(number), 5));
        assert_eq!((flows.next_finished(), flows.next_finished()), (Some(0), None));
        flows.delivered(message(1), true, 7);
        assert_eq!(flows.quiet_since(0), 7);
        flows.give_up(0, 100);
        assert_eq!(flows.outcomes[0].over, Some(Over { at: 7, lost: 2 }));
        assert_eq!((flows.settled_at, flows.next_due()), (7, Some((100, 1))));
        // It was on its way after all.
        flows.delivered(message(0), true, 200);
        assert_eq!(flows.outcomes[0].over, Some(Over { at: 200, lost: 1 }));
        assert!(!flows.done(), "the other one is not over");
    }

    #[test]
    fn flows_that_lead_nowhere_are_refused() {
        let flow =
            |source, destination, start| Flow { source, destination, octets: 10, start, background: false };
        assert!(Flows::new(vec![flow(0, 0, Start::At(0))], 2).is_err());
        assert!(Flows::new(vec![flow(0, 2, Start::At(0))], 2).is_err());
        assert!(Flows::new(vec![flow(0, 1, Start::After { flow: 0, pause: 0 })], 2).is_err());
    }
}
