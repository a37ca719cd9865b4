// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a core, and who is told when it stops.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use carrick_ir::{COUNTERS, Loc};

use crate::api::{Completion, Config, FAILED_CLAIMS_KEPT, FailedClaim, Record, RecordSet, TraceKind};
use crate::contexts::{Handle, Instances};
use crate::counters::{CLAIMS_FAILED, COMPLETION_LOST, Counters};
use crate::debug::Site;
use crate::event_queue::{Pending, Raised};
use crate::handover::Outside;
use crate::layout::TIMER_CELLS;
use crate::linked::Linked;
use crate::packet_store::Passing;
use crate::queue::Queue;
use crate::rand::{self, Pcg32};
use crate::requests::Requests;
use crate::sched::Sched;
use crate::timers::Timers;

/// The records of a core that keeps some.
#[derive(Debug)]
pub(crate) struct Trace {
    pub wanted: RecordSet,
    /// a context type and a cell of its instances, which are sampled
    pub sampled: Option<(usize, usize)>,
    pub records: Vec<Record>,
    /// the words of records that were taken, for later ones
    pub spare: Vec<Vec<u64>>,
}

/// Everything that a core holds.
#[derive(Debug)]
pub(crate) struct Machine {
    /// values of every kind: see [`Map`](crate::linked::Map); the contexts' cells come last
    pub mem: Vec<u64>,
    pub now: u64,
    pub address: u128,
    pub random: Pcg32,
    pub key: [u64; 2],
    pub counters: Counters,
    pub trace: Option<Trace>,
    pub instances: Vec<Instances>,
    pub timers: Timers,
    pub queue: Queue,
    /// events that wait, if the program schedules them
    pub pending: Option<Pending>,
    pub requests: Requests,
    pub raised: Vec<Raised>,
    pub raised_cells: Vec<u64>,
    /// handles of contexts that go when the chain is done
    pub doomed: Vec<u64>,
    /// handle of the context on which a chain runs, or 0
    pub current: u64,
    /// whose chain that is; `None`: the parser
    pub current_event: Option<u32>,
    /// the statement whose instruction is carried out
    pub issued_at: Loc,
    pub failed_claims: Vec<FailedClaim>,
    /// of a core that stops at statements
    pub debug: Option<Box<Debug>>,
    /// of a core whose chains run elsewhere
    pub outside: Option<Outside>,
    /// what follows the network header of the packet that is received
    pub packet: Vec<u8>,
    /// what of it no extract has taken yet
    pub packet_rest: std::ops::Range<usize>,
    /// that network header
    pub packet_net: Vec<u8>,
    /// its source and destination
    pub packet_ips: (u128, u128),
    /// counts packets, so that an address in an earlier one is known to be stale
    pub packet_number: u64,
    /// why the parser refused the packet
    pub refused: Option<usize>,
    /// of a core in the network
    pub passing: Passing,
    /// the next packet's identification
    pub identification: u16,
}

/// Somebody who is told of every statement before it runs.
pub trait Debugger {
    /// A statement is about to run.
    fn reached(&mut self, stop: &mut Stop<'_>);
}

/// One debugger may be told by several cores.
pub type Hook = Rc<RefCell<dyn Debugger>>;

/// What a core with a debugger knows beside its state.
pub(crate) struct Debug {
    pub hook: Hook,
    pub core: usize,
    pub sites: Arc<[Site]>,
    /// statements that run, each in the one before or called by it: its number, and where its frame lies
    pub running: Vec<(u32, usize)>,
}

impl fmt::Debug for Debug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debug")
            .field("core", &self.core)
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

/// A core that is about to run a statement.
pub struct Stop<'a> {
    pub(crate) linked: &'a Linked,
    pub(crate) machine: &'a mut Machine,
    pub(crate) debug: &'a Debug,
}

impl Machine {
    pub(crate) fn new(p: &Linked, config: &Config, completions: usize) -> Machine {
        let mut instances = Vec::new();
        let mut end = p.map.end as usize;
        for (i, code) in p.contexts.iter().enumerate() {
            let size = p.layout.contexts[i].size as usize;
            let ids = p.program.words_of_id(p.program.contexts[i].id);
            instances.push(Instances::new(i, code, end, size, ids));
            end += size * code.capacity as usize;
        }
        let mut machine = Machine {
            mem: vec![0; end],
            now: 0,
            address: config.address,
            random: Pcg32::of_seed(config.seed),
            key: rand::secret_key(config.seed),
            counters: [0; COUNTERS.len()],
            trace: config.trace.then(|| Trace {
                wanted: match config.records.sampled() {
                    Some(_) => config.records.and(RecordSet::of(TraceKind::Sample)),
                    None => config.records,
                },
                sampled: p.sampled(config.records),
                records: Vec::new(),
                spare: Vec::new(),
            }),
            instances,
            timers: Timers::default(),
            queue: Queue::new(Sched::new(&p.program.schedule, &p.shares, p.flows as usize)),
            pending: p
                .program
                .event_schedule
                .as_ref()
                .map(|e| Pending::new(e, &p.event_shares, p.flows as usize)),
            requests: Requests::new(completions, carrick_ir::uses::memory(&p.program)),
            raised: Vec::new(),
            raised_cells: Vec::new(),
            doomed: Vec::new(),
            current: 0,
            current_event: None,
            issued_at: Loc::default(),
            failed_claims: Vec::new(),
            debug: None,
            outside: None,
            packet: Vec::new(),
            packet_rest: 0..0,
            packet_net: Vec::new(),
            packet_ips: (0, 0),
            packet_number: 0,
            refused: None,
            passing: Passing::default(),
            identification: 0,
        };
        machine.begin_globals(p);
        machine
    }

    /// Global contexts are there from the start on.
    fn begin_globals(&mut self, p: &Linked) {
        for (i, code) in p.contexts.iter().enumerate() {
            let Some(init) = &code.global else { continue };
            let at = self.instances[i].address(0);
            self.init(init, at, at);
            self.mem[at] = self.instances[i].begin_global();
        }
    }

    pub(crate) fn count(&mut self, counter: usize) {
        self.counters[counter] += 1;
    }

    /// Counts a packet's refusal, and says so in the trace.
    pub(crate) fn drop_packet(&mut self, counter: usize) {
        self.count(counter);
        self.record(TraceKind::Drop, counter, |_, _| {});
    }

    /// Counts a claim that does not hold; the first few are kept for who asks.
    pub(crate) fn claim_failed(&mut self, claim: u32) {
        self.count(CLAIMS_FAILED);
        let (context, event) = (self.current, self.current_event);
        if self.failed_claims.len() < FAILED_CLAIMS_KEPT {
            self.failed_claims.push(FailedClaim { claim, event, context, at: self.now });
        }
        let event = event.map_or(0, |e| u64::from(e) + 1);
        self.record(TraceKind::Claim, claim as usize, |_, words| words.extend([context, event]));
    }

    /// Adds a trace record if the core keeps one.
    pub(crate) fn record(
        &mut self,
        kind: TraceKind,
        number: usize,
        fill: impl FnOnce(&Machine, &mut Vec<u64>),
    ) {
        let Some(trace) = self.trace.as_mut().filter(|trace| trace.wanted.has(kind, number)) else { return };
        let mut words = trace.spare.pop().unwrap_or_default();
        words.clear();
        fill(self, &mut words);
        // What an instruction brings about is told without a place.
        let at = if kind == TraceKind::Instr { self.issued_at } else { Loc::default() };
        if let Some(trace) = &mut self.trace {
            trace.records.push(Record { kind: kind as u32, number: number as u32, words, at });
        }
    }

    /// Where the cells of the instance with this handle lie, if it lives.
    pub(crate) fn instance(&self, handle: u64) -> Option<usize> {
        let handle = Handle::of(handle)?;
        let instances = self.instances.get(handle.ctx)?;
        Some(instances.address(instances.live(handle)?))
    }

    /// Completes a request; `none` names none.
    pub(crate) fn complete(&mut self, token: u64, status: u64, value: u64, data: Option<Vec<u8>>) {
        if token == 0 {
            return;
        }
        let completion = Completion { token, status: status as u8, value, data };
        if !self.requests.complete(completion) {
            self.count(COMPLETION_LOST);
        }
    }

    /// Stops the timer whose cells lie there.
    pub(crate) fn stop_timer(&mut self, cell: usize) {
        let (deadline, order) = (self.mem[cell], self.mem[cell + 1]);
        if order != 0 {
            self.timers.stop(deadline, order);
            (self.mem[cell], self.mem[cell + 1]) = (0, 0);
        }
    }

    /// What `del_ctx` has announced in the chain that is done.
    pub(crate) fn delete_doomed(&mut self, p: &Linked) {
        while let Some(word) = self.doomed.pop() {
            self.end_instance(p, word);
        }
    }

    /// The instance with a handle is gone, if it lives.
    pub(crate) fn end_instance(&mut self, p: &Linked, word: u64) {
        let Some((at, handle)) = self.instance(word).zip(Handle::of(word)) else { return };
        let timers = at + p.layout.contexts[handle.ctx].end as usize;
        for timer in 0..p.program.contexts[handle.ctx].timers.len() {
            self.stop_timer(timers + timer * TIMER_CELLS as usize);
        }
        self.instances[handle.ctx].end(&self.mem, handle.slot);
    }
}
