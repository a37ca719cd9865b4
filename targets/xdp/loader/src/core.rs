// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core whose program is in the kernel, for those who compare cores.

use std::collections::VecDeque;
use std::sync::Arc;

use carrick_interp::{Config, FAILED_CLAIMS_KEPT, TraceKind};
use carrick_ir::{Function, Loc, Program, Ty, counter};
use carrick_sim::core::{Completion, Core, Data, FailedClaim, Record, Refused, Request};
use carrick_sim::diff::Pace;

use crate::layout::{Asked, COMPLETION, ETHERNET, HOLD, QUEUE, REQUEST_TYPE, ethertype, kind};
use crate::recycled::Lent;
use crate::requests::Requests;
use crate::timers::Timers;
use crate::{LoadError, Objects};

/// The frame goes back by the device that it came from.
const XDP_TX: u32 = 3;
/// A trace record that says that a claim does not hold.
const CLAIM: u32 = TraceKind::Claim as u32;

/// An interface that no node has.
const NO_INTERFACE: u8 = 254;

/// More frames than one event's packets take.
const MOST_FRAMES: u32 = 1 << 20;

/// A packet that has left the kernel.
struct Out {
    octets: Vec<u8>,
    /// by which it leaves
    interface: u32,
    /// it came from elsewhere; it counts as forwarded once it is taken
    forwarded: bool,
}

/// A program in the kernel that is fed frame by frame (`BPF_PROG_TEST_RUN`): packets leave when they are issued.
pub struct KernelCore {
    object: Lent,
    program: Arc<Program>,
    out: VecDeque<Out>,
    /// that of the last one that was taken
    left_by: u32,
    records: Vec<Record>,
    failed: Vec<FailedClaim>,
    completions: VecDeque<Completion>,
    /// completions for which there was no space, as other hosts have it
    lost: u64,
    requests: Requests,
    timers: Timers,
    pace: Pace,
    /// requests that were called and whose completion nobody has taken
    open: usize,
    /// the most of them
    most_open: usize,
    now: u64,
}

impl KernelCore {
    /// A core of one of the objects that were made of this program.
    ///
    /// # Errors
    /// Why it is not in the kernel.
    pub fn new(
        objects: &Objects,
        program: Arc<Program>,
        config: &Config,
        pace: Pace,
    ) -> Result<KernelCore, LoadError> {
        let object = objects.lend(&program, config)?;
        object.stay_awake().map_err(LoadError::Failed)?;
        if pace == Pace::Asked {
            object.pace().map_err(LoadError::Failed)?;
        }
        let timers = Timers::new(&object, &program).map_err(LoadError::Failed)?;
        let requests = Requests::new(&object).map_err(LoadError::Failed)?;
        Ok(KernelCore {
            object,
            program,
            out: VecDeque::new(),
            left_by: 0,
            records: Vec::new(),
            failed: Vec::new(),
            completions: VecDeque::new(),
            lost: 0,
            requests,
            timers,
            pace,
            open: 0,
            most_open: if config.completions == 0 { 1024 } else { config.completions as usize },
            now: 0,
        })
    }

    /// One packet that comes by an interface, at this time: whether something was made of it.
    fn packet(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<bool, String> {
        let (before, _) = self.object.taken_and_busy()?;
        // An interface is said by the last byte of a frame's source.
        let interface = u8::try_from(interface).unwrap_or(NO_INTERFACE);
        let ethertype = ethertype(self.program.net_header.layer);
        self.frame("ingress", [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, interface], ethertype, packet, now)?;
        let taken = self.object.taken_and_busy()?.0 > before;
        self.let_out()?;
        Ok(taken)
    }

    /// A request of an application, or a timer that is due.
    fn ask(&mut self, asked: &Asked<'_>) -> Result<(), String> {
        self.frame("egress", [0; 12], REQUEST_TYPE, &asked.octets(), self.now)
    }

    /// Lets what waits leave, each in a frame of its own, unless that is asked for.
    fn let_out(&mut self) -> Result<(), String> {
        let mut frames = 0;
        if self.pace == Pace::Asked {
            return Ok(());
        }
        while self.leaves()? {
            if frames == MOST_FRAMES {
                return Err("packets wait, and do not leave".into());
            }
            frames += 1;
            self.ask(&Asked { kind: kind::PACKET, ..Asked::default() })?;
        }
        Ok(())
    }

    /// Whether a packet can leave by now.
    fn leaves(&self) -> Result<bool, String> {
        Ok(self.object.leaves()?.is_some_and(|due| due <= self.now))
    }

    /// Whether an event could find too little room for its blueprints.
    fn full(&self) -> Result<bool, String> {
        let most = u64::from(self.program.max_blueprints);
        Ok(most > 0 && self.object.waiting()? + most > QUEUE)
    }

    /// Gives a frame with these hardware addresses to a program, at this time.
    fn frame(
        &mut self,
        program: &str,
        ends: [u8; 12],
        ethertype: u16,
        octets: &[u8],
        now: u64,
    ) -> Result<(), String> {
        self.now = self.now.max(now);
        self.object.set_clock(self.now)?;
        let mut frame = ends.to_vec();
        frame.extend(ethertype.to_be_bytes());
        frame.extend(octets);
        let before = self.forwarded()?;
        let (verdict, left) = self.object.run(program, &frame)?;
        if verdict == XDP_TX {
            let between = self.program.in_network.is_some();
            assert!(between || (left[..6] == ends[6..] && left[6..12] == ends[..6]), "it goes back");
            let (octets, forwarded) = (left[ETHERNET..].to_vec(), self.forwarded()? > before);
            self.out.push_back(Out { octets, interface: left[5].into(), forwarded });
        }
        let (records, failed) = (&mut self.records, &mut self.failed);
        let (completions, at) = (&mut self.completions, self.now);
        let (lost, most) = (&mut self.lost, self.most_open);
        self.object.reports().take(|kind, number, words| match (kind, &*words) {
            (COMPLETION, _) if completions.len() >= most => *lost += 1,
            (COMPLETION, [token, status, value]) => {
                completions.push_back(Completion {
                    token: *token,
                    status: *status as u8,
                    value: *value,
                    data: None,
                });
            }
            _ => {
                if let (CLAIM, [context, event]) = (kind, &*words)
                    && failed.len() < FAILED_CLAIMS_KEPT
                {
                    let event = event.checked_sub(1).map(|event| event as u32);
                    failed.push(FailedClaim { claim: number, event, context: *context, at });
                }
                records.push(Record { kind, number, words, at: Loc::default() });
            }
        });
        Ok(())
    }

    /// How many packets left as they came, or with another header.
    fn forwarded(&self) -> Result<u64, String> {
        if self.program.in_network.is_none() {
            return Ok(0);
        }
        Ok(self.object.counters()?[counter("tx_forwarded")])
    }

    /// Whether this program has such a call, with such arguments.
    fn takes(&self, call: usize, request: &Request<'_>) -> bool {
        let calls = self.program.interface.as_ref().map_or(&[][..], |i| &i.calls);
        calls.get(call).is_some_and(|call| {
            let fields = &self.program.events[call.event.index()].fields;
            let words = |ty: &Ty| match ty {
                Ty::Id(id) => self.program.words_of_id(*id),
                ty => usize::from(ty.is_scalar()),
            };
            let data = fields.iter().any(|f| words(&f.ty) == 0) || request.data == Data::None;
            request.token != 0
                && request.args.len() == fields.iter().map(|f| words(&f.ty)).sum::<usize>()
                && data
        })
    }
}

/// The kernel does what it did before: if not, no comparison means anything.
fn sure<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|e| panic!("a program that was loaded: {e}"))
}

impl Core for KernelCore {
    fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.rx_on(0, packet, now)
    }

    fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        // Every packet that goes on is taken before the next one comes.
        let goes_on = self.out.iter().any(|packet| packet.forwarded) || sure(self.object.leaving()) > 0;
        if goes_on || sure(self.full()) {
            return Err(Refused::Again);
        }
        let taken = sure(self.packet(interface, packet, now));
        let unparsed = counter("unparsed");
        if taken { Ok(()) } else { Err(Refused::Dropped(unparsed)) }
    }

    fn tx_interface(&self) -> u32 {
        self.left_by
    }

    fn call(&mut self, call: usize, request: Request<'_>, now: u64) -> Result<(), Refused> {
        if !self.takes(call, &request) {
            return Err(Refused::BadArg);
        }
        if self.open == self.most_open || sure(self.full()) {
            return Err(Refused::Again);
        }
        let Some(staged) = self.requests.stage(request.token, request.data) else {
            return Err(Refused::Again);
        };
        self.now = self.now.max(now);
        self.open += 1;
        let asked = Asked {
            kind: kind::CALL,
            number: call as u32,
            handle: request.handle,
            token: request.token,
            staged,
            args: request.args,
            ..Asked::default()
        };
        sure(self.ask(&asked));
        sure(self.let_out());
        Ok(())
    }

    fn advance(&mut self, now: u64) -> Result<(), Refused> {
        self.now = self.now.max(now);
        while let Some(timer) = self.timers.first().filter(|timer| timer.deadline <= self.now) {
            if sure(self.full()) {
                return Err(Refused::Again);
            }
            let (number, handle) = (timer.number, timer.handle);
            sure(self.ask(&Asked { kind: kind::TIMER, flags: HOLD, number, handle, ..Asked::default() }));
        }
        sure(self.let_out());
        Ok(())
    }

    fn tx(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        out.clear();
        self.now = self.now.max(now);
        while self.out.is_empty() && sure(self.leaves()) {
            sure(self.ask(&Asked { kind: kind::PACKET, ..Asked::default() }));
        }
        self.out.pop_front().is_some_and(|packet| {
            self.left_by = packet.interface;
            out.extend(packet.octets);
            true
        })
    }

    fn next_deadline_before(&self, before: u64) -> Option<u64> {
        let timer = self.timers.first().map(|timer| timer.deadline);
        let packet = sure(self.object.leaves()).filter(|due| *due > self.now);
        timer.into_iter().chain(packet).min().filter(|at| *at < before)
    }

    fn next_completion(&mut self) -> Option<Completion> {
        let mut done = self.completions.pop_front()?;
        done.data = self.requests.complete(done.token, (done.status == 0).then_some(done.value));
        self.open = self.open.saturating_sub(1);
        Some(done)
    }

    fn take_trace(&mut self, to: &mut Vec<Record>) {
        to.append(&mut self.records);
    }

    fn counters(&self) -> Vec<u64> {
        let mut counters = sure(self.object.counters());
        counters[counter("completion_lost")] += self.lost;
        let waiting = self.out.iter().filter(|packet| packet.forwarded).count();
        counters[counter("tx_forwarded")] -= waiting as u64;
        counters
    }

    fn failed_claims(&self) -> &[FailedClaim] {
        &self.failed
    }

    fn open_contexts(&self) -> usize {
        sure(self.object.open_contexts(&self.program))
    }

    fn change(&mut self, _change: &Function, _handle: u64, _now: u64) -> Result<Option<Record>, String> {
        Err("what is in the kernel is not changed from outside".into())
    }
}
