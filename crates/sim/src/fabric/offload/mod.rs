// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offloads: applications at nodes, which take messages of others, and put others in their place or intercept them.

mod choice;
mod settings;

use std::borrow::Cow;
use std::collections::BTreeMap;

use carrick_ir::{Program, STATUS_NAMES};
use rustc_hash::FxHashSet;

use super::flows::Flows;
use super::host_apps::{Piece, Pieces, Place};
use super::setup::Setup;
use super::topology::Node;
use crate::app::pending_requests::PendingRequests;
use crate::app::{Ask, AskData};
use crate::calls::{self, Calls};
use crate::core::{Completion, Core};
use crate::interface::{Arg, Args, Call, Interface, args};
use crate::rng::Rng;
use crate::status::{BUSY, OK};
use choice::{Fate, Fates};
pub use settings::{Cache, Misdeeds, Offload, longest};

/// Before what was refused is tried again, in nanoseconds.
const AGAIN_AFTER: u64 = 10_000;
/// Bytes behind the end of the memory of an answer that goes beyond it.
const BEYOND: u64 = 1000;
/// The stream of random numbers for the offload of node 0; those of others follow.
const STREAM_OFFLOAD: u64 = 3 << 32;

/// What an offload did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OffloadCounters {
    /// messages, of which some were taken before
    pub taken: u64,
    pub again: u64,
    /// that were delivered or intercepted before: they were retransmitted without need
    pub spurious: u64,
    /// that went on, that were intercepted, and those of these whose keys the cache had
    pub put: u64,
    pub intercepted: u64,
    pub hits: u64,
    /// bytes that were taken, and that went on
    pub octets_in: u64,
    pub octets_out: u64,
    /// answers that the program refused
    pub refused: u64,
    /// messages that were never answered, on purpose
    pub unanswered: u64,
    /// nanoseconds in which a worker worked, of all together
    pub busy_ns: u64,
}

/// What a request is for: the worker, and the message in its hands.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    Open,
    Take(usize),
    Recv(usize, u64),
    Answer(usize, Fate, Option<Piece>),
    /// an answer that there should not be
    Needless,
}

/// What a worker does when it is woken.
#[derive(Debug, Clone)]
enum Job {
    Take,
    Answer { message: u64, octets: Vec<u8> },
}

/// An offload at work.
pub struct Application {
    settings: Offload,
    calls: Calls,
    opens: bool,
    pending: PendingRequests<Waiting>,
    asks: Vec<Ask>,
    pieces: Pieces,
    fates: Fates,
    rng: Rng,
    /// the handle of what was opened
    handle: u64,
    workers: Vec<Option<Job>>,
    seen: FxHashSet<Piece>,
    /// requests that should have succeeded, by call and status
    failed: BTreeMap<(&'static str, u8), u64>,
    pub counters: OffloadCounters,
}

impl Application {
    /// The offload of a program, if it has one.
    ///
    /// # Errors
    /// A sentence, if the program lacks calls, or the setup has settings that cannot be.
    pub fn of(program: &Program, setup: &Setup, node: Node) -> Result<Option<Application>, String> {
        let Some(interface) = Interface::of_offload(program) else { return Ok(None) };
        let mut own = setup.offloads.iter().filter(|offload| offload.node == node);
        let settings = own.next().cloned().unwrap_or_else(|| Offload::at(node));
        if own.next().is_some() {
            return Err(format!("{} has several offloads: describe one", setup.topology.name(node)));
        }
        settings.check()?;
        let has = |call| interface.has(call);
        for (call, name) in [(Call::Take, "take"), (Call::Recv, "recv"), (Call::Put, "put")] {
            if !has(call) {
                return Err(format!(
                    "{}: its interface `offload` lacks the call `{name}`",
                    program.file.raw()
                ));
            }
        }
        if !has(Call::Consume) && (settings.intercept_ppm > 0 || settings.cache.is_some()) {
            return Err(format!(
                "{}: its interface `offload` has no call `consume`, which intercepts a message",
                program.file.raw()
            ));
        }
        let longest = longest(setup.message, &setup.offloads);
        let place = Place {
            host: node,
            hosts: setup.topology.hosts,
            seed: setup.seed,
            message: setup.message,
            longest,
            outstanding: None,
            may_lose: false,
            keep: false,
        };
        Ok(Some(Application {
            opens: has(Call::Open),
            calls: Calls::new(interface),
            pending: PendingRequests::default(),
            asks: Vec::new(),
            pieces: Pieces::new(place),
            fates: Fates::new(&settings, setup.seed),
            rng: Rng::new(setup.seed, STREAM_OFFLOAD + u64::from(node)),
            handle: 0,
            workers: vec![None; settings.workers as usize],
            seen: FxHashSet::default(),
            failed: BTreeMap::new(),
            counters: OffloadCounters::default(),
            settings,
        }))
    }

    /// Called once, at the beginning.
    pub fn start(&mut self) {
        if !self.opens {
            return (0..self.workers.len()).for_each(|worker| self.take(worker));
        }
        let args = args(&[(Arg::Buffer, self.settings.buffer)]);
        self.pending.ask(Call::Open, 0, args, AskData::None, Waiting::Open);
    }

    /// Makes its requests, and takes completions; workers to be woken go to `wake`, with the time. False: nothing happened.
    pub fn work(
        &mut self,
        core: &mut dyn Core,
        flows: &mut Flows,
        now: u64,
        wake: impl FnMut(u64, usize),
    ) -> bool {
        self.pending.take(&mut self.asks);
        let mut asks = std::mem::take(&mut self.asks);
        let mut any = self.calls.make(core, &mut asks, now, wake, |_| ());
        self.asks = asks;
        any |= calls::completions(core, |done| self.completed(done, flows, now));
        any
    }

    /// A worker has done its work, or may try again.
    pub fn wake(&mut self, worker: usize, flows: &mut Flows) {
        match self.workers[worker].take() {
            Some(Job::Take) => self.take(worker),
            Some(Job::Answer { message, octets }) => self.answer(worker, message, octets, flows),
            None => {}
        }
    }

    fn take(&mut self, worker: usize) {
        self.pending.ask(Call::Take, self.handle, Args::default(), AskData::None, Waiting::Take(worker));
    }

    fn later(&mut self, worker: usize, at: u64, job: Job) {
        self.workers[worker] = Some(job);
        self.pending.wake(at, worker);
    }

    fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        let Some(waiting) = self.pending.answered(done) else { return };
        match (waiting, done.status) {
            (Waiting::Open, OK) => {
                self.handle = done.value;
                (0..self.workers.len()).for_each(|worker| self.take(worker));
            }
            (Waiting::Open, status) => self.fail("open", status),
            (Waiting::Take(worker), OK) => {
                let len = self.pieces.longest();
                let args = args(&[(Arg::Len, len)]);
                let data = AskData::Recv(len);
                self.pending.ask(Call::Recv, done.value, args, data, Waiting::Recv(worker, done.value));
            }
            (Waiting::Take(worker), BUSY) => self.later(worker, now + AGAIN_AFTER, Job::Take),
            (Waiting::Take(_), status) => self.fail("take", status),
            (Waiting::Recv(worker, message), OK) => {
                let octets = done.data.clone().unwrap_or_default();
                self.serve(worker, message, octets, flows, now);
            }
            (Waiting::Recv(worker, _), status) => {
                self.fail("recv", status);
                self.take(worker);
            }
            (Waiting::Answer(worker, fate, piece), status) => {
                self.answered((fate, piece, status), flows, now);
                self.take(worker);
            }
            (Waiting::Needless, OK) => *self.failed.entry(("a second answer", OK)).or_default() += 1,
            (Waiting::Needless, _) => self.counters.refused += 1,
        }
    }

    fn fail(&mut self, call: &'static str, status: u8) {
        *self.failed.entry((call, status)).or_default() += 1;
    }

    /// A worker has a message in its hands.
    fn serve(&mut self, worker: usize, message: u64, octets: Vec<u8>, flows: &Flows, now: u64) {
        let piece = self.pieces.named(&octets, flows);
        let again = piece.is_some_and(|piece| !self.seen.insert(piece));
        let gone = piece.is_some_and(|piece| flows.is_gone(piece.flow, piece.number));
        self.counters.spurious += u64::from(again && gone);
        self.counters.taken += 1;
        self.counters.again += u64::from(again);
        self.counters.octets_in += octets.len() as u64;
        let takes = self.settings.time.draw(&mut self.rng);
        self.counters.busy_ns += takes;
        self.later(worker, now + takes, Job::Answer { message, octets });
    }

    fn answer(&mut self, worker: usize, message: u64, octets: Vec<u8>, flows: &mut Flows) {
        let misdeeds = self.settings.misdeeds;
        if self.rng.chance(misdeeds.never_ppm) {
            self.counters.unanswered += 1;
            return self.take(worker);
        }
        let piece = self.pieces.named(&octets, flows);
        let there = octets.len() as u64;
        let fate = piece.map_or(Fate::Through(there), |piece| self.fates.of(piece, there));
        let waiting = Waiting::Answer(worker, fate, piece);
        let Fate::Through(wanted) = fate else {
            self.pending.ask(Call::Consume, message, Args::default(), AskData::None, waiting);
            return self.needless(message);
        };
        let octets = match piece {
            Some(piece) if wanted != there => {
                flows.lengths.insert((piece.flow, piece.number, wanted));
                self.pieces.octets_of(piece, wanted, flows)
            }
            _ => octets,
        };
        let beyond = if self.rng.chance(misdeeds.beyond_ppm) { BEYOND } else { 0 };
        let args = args(&[(Arg::Len, wanted + beyond)]);
        self.pending.ask(Call::Put, message, args, AskData::Send(Cow::Owned(octets)), waiting);
        self.needless(message);
    }

    /// Answers again, where that is wanted.
    fn needless(&mut self, message: u64) {
        if self.rng.chance(self.settings.misdeeds.twice_ppm) {
            let octets = vec![0; super::host_apps::HEAD];
            let args = args(&[(Arg::Len, octets.len() as u64)]);
            self.pending.ask(Call::Put, message, args, AskData::Send(Cow::Owned(octets)), Waiting::Needless);
        }
    }

    fn answered(&mut self, (fate, piece, status): (Fate, Option<Piece>, u8), flows: &mut Flows, now: u64) {
        let counters = &mut self.counters;
        match (fate, status) {
            (Fate::Through(octets), OK) => {
                counters.put += 1;
                counters.octets_out += octets;
            }
            (Fate::Intercepted | Fate::Hit, OK) => {
                counters.intercepted += 1;
                counters.hits += u64::from(fate == Fate::Hit);
                piece.into_iter().for_each(|piece| self.pieces.intercepted(piece, flows, now));
            }
            (_, _) => counters.refused += 1,
        }
    }

    /// The share of this time, in nanoseconds, in which its workers worked.
    pub fn busy(&self, run: u64) -> f64 {
        let whole = run.max(1) as f64 * self.workers.len() as f64;
        (self.counters.busy_ns as f64 / whole).min(1.0)
    }

    /// Sentences about what its program should not have done.
    pub fn misdeeds(&self, node: &str) -> Vec<String> {
        let sentence = |((call, status), count): (&(&str, u8), &u64)| {
            let status = STATUS_NAMES.get(usize::from(*status)).copied().unwrap_or("?");
            format!("{node}: {count} requests of its offload, {call}, completed with {status}")
        };
        let again = self.pending.again();
        let twice =
            (again > 0).then(|| format!("{node}: {again} completions of requests that were complete before"));
        self.failed.iter().map(sentence).chain(twice).collect()
    }
}

/// Whether each offload stands where a program is that has one, and whether those at work have space for messages of so many
/// bytes.
///
/// # Errors
/// A sentence that names the node.
pub fn check<'a>(
    setup: &Setup,
    working: impl Iterator<Item = &'a Application> + Clone,
    longest: u64,
) -> Result<(), String> {
    let has_none = |offload: &&Offload| !working.clone().any(|it| it.settings.node == offload.node);
    if let Some(offload) = setup.offloads.iter().find(has_none) {
        let node = setup.topology.name(offload.node);
        return Err(format!(
            "an offload is described for {node}, and no program with the interface `offload` is there: \
             place one with --at {node}=PROGRAM"
        ));
    }
    match working.clone().find(|it| it.opens && it.settings.buffer < longest) {
        Some(it) => Err(format!(
            "the offload at {} has a buffer of {} bytes, and messages have up to {longest}: give it buffer={longest}B or more",
            setup.topology.name(it.settings.node),
            it.settings.buffer
        )),
        None => Ok(()),
    }
}
