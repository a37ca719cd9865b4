// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows over the `message` interface: each a message, or several where one cannot hold it, between hosts that both open.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::outbox::Outbox;
use super::pieces::{Piece, Pieces};
use super::place::{Place, address};
use crate::app::pending_requests::PendingRequests;
use crate::app::{AskData, Refusal};
use crate::core::Completion;
use crate::fabric::flows::Flows;
use crate::interface::{Arg, Call, args};
use crate::status::{BUSY, OK};

/// Messages to one host that are under way at once, if nothing else is said.
const WINDOW: u32 = 8;
const PORT: u64 = 10_000;

#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    Open(usize),
    Send(usize, Piece),
    Recv(usize),
}

/// The way to another host and back.
#[derive(Debug)]
struct Way {
    host: u32,
    outbox: Outbox,
}

/// The application of a host.
pub struct HostApp {
    place: Place,
    pub(super) pending: PendingRequests<Waiting>,
    ways: Vec<Way>,
    by_host: FxHashMap<u32, usize>,
    pieces: Pieces,
}

impl HostApp {
    pub fn new(place: Place) -> HostApp {
        HostApp {
            place,
            pending: PendingRequests::default(),
            ways: Vec::new(),
            by_host: FxHashMap::default(),
            pieces: Pieces::new(place),
        }
    }

    /// Both ends of each way open it.
    pub fn start(&mut self, flows: &Flows) {
        let own = self.place.host;
        for flow in &flows.all {
            let other = match (flow.source == own, flow.destination == own) {
                (true, _) => flow.destination,
                (_, true) => flow.source,
                _ => continue,
            };
            if !self.by_host.contains_key(&other) {
                self.open(other);
            }
        }
    }

    fn open(&mut self, host: u32) {
        let way = self.ways.len();
        self.by_host.insert(host, way);
        self.ways.push(Way { host, outbox: Outbox::default() });
        // A port that is the same at both ends, and no other's at either.
        let port = PORT + u64::from((host + self.place.host) % self.place.hosts);
        let args = args(&[
            (Arg::LocalIp, u64::from(address(self.place.host))),
            (Arg::LocalPort, port),
            (Arg::RemoteIp, u64::from(address(host))),
            (Arg::RemotePort, port),
        ]);
        self.pending.ask(Call::Open, 0, args, AskData::None, Waiting::Open(way));
    }

    pub fn begin(&mut self, flow: u32, flows: &Flows) {
        let Some(&way) = self.by_host.get(&flows.all[flow as usize].destination) else { return };
        self.ways[way].outbox.extend(self.pieces.of(flow, flows));
        self.send(way, flows);
    }

    pub fn wake(&mut self, way: usize, flows: &Flows) {
        self.ways[way].outbox.wake();
        self.send(way, flows);
    }

    fn send(&mut self, way: usize, flows: &Flows) {
        let window = self.place.outstanding.unwrap_or(WINDOW) as usize;
        while let Some((handle, piece)) = self.ways[way].outbox.next(window) {
            let octets = self.pieces.octets(piece, flows);
            let args = args(&[(Arg::Len, octets.len() as u64)]);
            let data = AskData::Send(Cow::Owned(octets));
            self.pending.ask(Call::Send, handle, args, data, Waiting::Send(way, piece));
        }
    }

    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Open(way)) if done.status == OK => {
                self.ways[way].outbox.handle = Some(done.value);
                self.receive(way);
                self.send(way, flows);
            }
            Some(Waiting::Open(way)) => {
                // Nothing will ever go to that host or come from it.
                let other = self.ways[way].host;
                for number in 0..flows.all.len() {
                    let flow = flows.all[number];
                    if (flow.source, flow.destination) == (self.place.host, other) {
                        flows.failed(number as u32, done.status, now);
                    }
                }
            }
            Some(Waiting::Send(way, piece)) => self.sent(way, piece, done.status, flows, now),
            Some(Waiting::Recv(way)) if done.status == OK => {
                self.pieces.take(done.data.as_deref().unwrap_or_default(), flows, now);
                self.receive(way);
            }
            Some(Waiting::Recv(_)) | None => {}
        }
    }

    fn sent(&mut self, way: usize, piece: Piece, status: u8, flows: &mut Flows, now: u64) {
        let outbox = &mut self.ways[way].outbox;
        outbox.answered();
        let again = status == BUSY && outbox.refused(piece, now, way, &mut self.pending);
        if self.place.may_lose && !again {
            flows.sent(self.pieces.message(piece, flows), now);
        }
        match status {
            OK => outbox.taken(),
            BUSY if again => {}
            _ => {
                let len = self.pieces.len(piece, flows);
                flows.refused(piece.flow, Refusal { call: "send", len, status }, now);
            }
        }
        self.send(way, flows);
    }

    fn receive(&mut self, way: usize) {
        let Some(handle) = self.ways[way].outbox.handle else { return };
        let len = self.pieces.longest();
        self.pending.ask(
            Call::Recv,
            handle,
            args(&[(Arg::Len, len)]),
            AskData::Recv(len),
            Waiting::Recv(way),
        );
    }
}
