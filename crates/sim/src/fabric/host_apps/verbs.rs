// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows over the `verbs` interface: each is a SEND, or several where one cannot hold it, on a queue pair that is no other
//! flow's meanwhile. Queue pairs are there from the beginning, as connection management would have made them.

use std::borrow::Cow;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::outbox::Outbox;
use super::pieces::{Piece, Pieces};
use super::place::{Place, address};
use crate::app::AskData;
use crate::app::pending_requests::PendingRequests;
use crate::core::Completion;
use crate::fabric::flows::Flows;
use crate::interface::{Arg, Call, args};
use crate::status::{BUSY, OK};

/// Queue pairs from one host to another at most.
const LANES: usize = 8;
/// Work requests of a queue pair that wait for their completion at once, and receives that are posted.
const WINDOW: usize = 16;
const RECEIVES: usize = 32;
/// The first number of a queue pair between two hosts: the even ones are of flows to the higher host.
const QUEUE_PAIR: u64 = 16;
/// Of what a receive completes with, the bytes.
const OCTETS: u64 = (1 << 31) - 1;

#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    Open(usize),
    Send(usize, Piece),
    Recv(usize),
}

/// A queue pair, which carries flows one after another, in one direction.
#[derive(Debug)]
struct Lane {
    /// at its other end
    host: u32,
    /// it sends; else it receives
    sends: bool,
    /// what it was told when it broke
    broken: Option<u8>,
    flow: Option<u32>,
    outbox: Outbox,
}

/// What goes to a host.
#[derive(Debug, Default)]
struct Way {
    lanes: Vec<usize>,
    /// flows that wait for one of them
    waiting: VecDeque<u32>,
}

/// The application of a host.
pub struct HostApp {
    place: Place,
    pub(super) pending: PendingRequests<Waiting>,
    lanes: Vec<Lane>,
    by_host: FxHashMap<u32, Way>,
    pieces: Pieces,
}

impl HostApp {
    pub fn new(place: Place) -> HostApp {
        HostApp {
            place,
            pending: PendingRequests::default(),
            lanes: Vec::new(),
            by_host: FxHashMap::default(),
            pieces: Pieces::new(place),
        }
    }

    /// Both ends open the queue pairs of the flows between them: one for each flow, as long as there are not too many.
    pub fn start(&mut self, flows: &Flows) {
        let own = self.place.host;
        let most = if self.place.keep { 1 } else { LANES };
        let mut counts = FxHashMap::<(u32, bool), usize>::default();
        for flow in &flows.all {
            let (host, sends) = match (flow.source == own, flow.destination == own) {
                (true, _) => (flow.destination, true),
                (_, true) => (flow.source, false),
                _ => continue,
            };
            let count = counts.entry((host, sends)).or_default();
            if *count < most {
                self.open(host, sends, *count);
                *count += 1;
            }
        }
    }

    fn open(&mut self, host: u32, sends: bool, number: usize) {
        let place = self.lanes.len();
        self.lanes.push(Lane { host, sends, broken: None, flow: None, outbox: Outbox::default() });
        if sends {
            self.by_host.entry(host).or_default().lanes.push(place);
        }
        let upwards = sends == (self.place.host < host);
        let pair = QUEUE_PAIR + 2 * number as u64 + u64::from(!upwards);
        // Where numbers begin is known at both ends, and differs between queue pairs.
        let psn = |upwards: bool| {
            let (low, high) = (self.place.host.min(host), self.place.host.max(host));
            let salt = u64::from(low) << 40 | u64::from(high) << 16 | pair << 1 | u64::from(upwards);
            (self.place.seed ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
        };
        let args = args(&[
            (Arg::LocalQp, pair),
            (Arg::RemoteIp, u64::from(address(host))),
            (Arg::RemoteQp, pair),
            (Arg::SendPsn, psn(self.place.host < host)),
            (Arg::RecvPsn, psn(self.place.host > host)),
        ]);
        self.pending.ask(Call::Open, 0, args, AskData::None, Waiting::Open(place));
    }

    pub fn begin(&mut self, flow: u32, flows: &mut Flows, now: u64) {
        let host = flows.all[flow as usize].destination;
        self.by_host.entry(host).or_default().waiting.push_back(flow);
        self.serve(host, flows, now);
    }

    /// Gives flows to queue pairs that have none.
    fn serve(&mut self, host: u32, flows: &mut Flows, now: u64) {
        let way = self.by_host.entry(host).or_default();
        for &place in &way.lanes {
            let lane = &mut self.lanes[place];
            if lane.flow.is_some() || lane.broken.is_some() {
                continue;
            }
            let Some(flow) = way.waiting.pop_front() else { break };
            lane.flow = Some(flow);
            lane.outbox.extend(self.pieces.of(flow, flows));
        }
        let broken = way.lanes.iter().map(|&place| self.lanes[place].broken);
        // If all of them are, nothing will ever go there.
        if let Some(Some(status)) = broken.reduce(Option::and) {
            way.waiting.drain(..).for_each(|flow| flows.failed(flow, status, now));
        }
        for place in way.lanes.clone() {
            self.send(place, flows);
        }
    }

    pub fn wake(&mut self, place: usize, flows: &Flows) {
        self.lanes[place].outbox.wake();
        self.send(place, flows);
    }

    fn send(&mut self, place: usize, flows: &Flows) {
        while let Some((handle, piece)) = self.lanes[place].outbox.next(WINDOW) {
            let octets = self.pieces.octets(piece, flows);
            let args = args(&[(Arg::Len, octets.len() as u64)]);
            let data = AskData::Send(Cow::Owned(octets));
            self.pending.ask(Call::PostSend, handle, args, data, Waiting::Send(place, piece));
        }
    }

    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Open(place)) if done.status == OK => {
                self.lanes[place].outbox.handle = Some(done.value);
                if self.lanes[place].sends {
                    self.send(place, flows);
                } else {
                    (0..RECEIVES).for_each(|_| self.receive(place));
                }
            }
            Some(Waiting::Open(place)) => self.breaks(place, done.status, flows, now),
            Some(Waiting::Send(place, piece)) => self.sent(place, piece, done.status, flows, now),
            Some(Waiting::Recv(place)) if done.status == OK => {
                let octets = done.data.as_deref().unwrap_or_default();
                let there = octets.len().min((done.value & OCTETS) as usize);
                self.pieces.take(&octets[..there], flows, now);
                self.receive(place);
            }
            Some(Waiting::Recv(_)) | None => {}
        }
    }

    fn sent(&mut self, place: usize, piece: Piece, status: u8, flows: &mut Flows, now: u64) {
        let lane = &mut self.lanes[place];
        lane.outbox.answered();
        match status {
            OK if lane.outbox.is_done() => {
                lane.outbox.taken();
                lane.flow = None;
                let host = lane.host;
                self.serve(host, flows, now);
            }
            OK => {
                lane.outbox.taken();
                self.send(place, flows);
            }
            BUSY if lane.broken.is_none() && lane.outbox.refused(piece, now, place, &mut self.pending) => {}
            status => self.breaks(place, status, flows, now),
        }
    }

    /// After an error nothing goes by this queue pair any more.
    fn breaks(&mut self, place: usize, status: u8, flows: &mut Flows, now: u64) {
        let lane = &mut self.lanes[place];
        if lane.broken.is_some() {
            return;
        }
        lane.broken = Some(status);
        lane.outbox.clear();
        let (host, sends) = (lane.host, lane.sends);
        if let Some(flow) = lane.flow.take() {
            flows.failed(flow, status, now);
        }
        if sends {
            self.serve(host, flows, now);
        }
    }

    fn receive(&mut self, place: usize) {
        let Some(handle) = self.lanes[place].outbox.handle else { return };
        let len = self.pieces.longest();
        self.pending.ask(
            Call::PostRecv,
            handle,
            args(&[(Arg::Len, len)]),
            AskData::Recv(len),
            Waiting::Recv(place),
        );
    }
}
