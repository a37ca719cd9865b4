// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications over the `message` interface: both ends open a connection, and each sends messages to the other. A server that only
//! receives listens instead, if the program has that.
//!
//! Nothing is promised here of what arrives; but what does is one of the messages that were sent, whole. Each begins with the
//! number of its connection and its own, so that what is lost, late or there again is seen.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::ask::AskData;
use super::patience::Patience;
use super::pending_requests::PendingRequests;
use super::place::Place;
use super::plan::{Plan, Side};
use super::record::{End, Record, Refusal};
use crate::core::Completion;
use crate::interface::{Arg, Args, Call, args};
use crate::pattern::Pattern;
use crate::status::{BUSY, OK};

/// The numbers that a message begins with.
const HEAD: usize = 8;
/// The longest message where one is a packet, and what a packet may need beside it.
const LONGEST: u32 = 1000;
const AROUND: u32 = 100;
/// Messages that are on their way at once.
const WINDOW: usize = 8;
/// Before what was refused is tried again, in nanoseconds.
const AGAIN_AFTER: u64 = 1_000_000;
/// The first port; each connection has one of its own, at both ends.
const PORT: u64 = 1024;
/// Before a connection is closed on which nothing comes, in nanoseconds.
const CLOSE_AFTER: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Waiting {
    Open(usize),
    Listen(usize),
    Send { conn: usize, message: u64 },
    Recv(usize),
    Close(usize),
}

#[derive(Debug, Serialize, Deserialize)]
struct Conn {
    plan: Plan,
    handle: u64,
    record: Record,
    /// the next message that has never been given to `send`, and those to be given again
    next: u64,
    refused: VecDeque<u64>,
    in_flight: usize,
    waits: bool,
    patience: Patience,
    receiving: bool,
    seen: BTreeSet<u64>,
    over: bool,
}

/// That of a message among the first 64.
fn bit(message: u64) -> u64 {
    1_u64.checked_shl(u32::try_from(message).unwrap_or(u32::MAX)).unwrap_or(0)
}

/// Bytes of a message that is to fit a packet of `mtu` bytes.
pub fn in_a_packet(mtu: u32) -> u32 {
    LONGEST.min(mtu.saturating_sub(AROUND))
}

/// The application of one host.
#[derive(Serialize, Deserialize)]
pub struct App {
    place: Place,
    conns: Vec<Conn>,
    pub(super) pending: PendingRequests<Waiting>,
    settled: usize,
}

impl App {
    /// `plans` are those of all connections of the run.
    pub fn new(place: Place, plans: &[Plan]) -> App {
        let conn = |plan: &Plan| Conn {
            plan: plan.clone(),
            handle: 0,
            record: Record::new(plan.number, plan.start),
            next: 0,
            refused: VecDeque::new(),
            in_flight: 0,
            waits: false,
            patience: Patience::default(),
            receiving: false,
            seen: BTreeSet::new(),
            over: false,
        };
        let conns = plans.iter().map(conn).collect();
        App { place, conns, pending: PendingRequests::default(), settled: 0 }
    }

    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.conns.iter().map(|c| &c.record)
    }

    pub fn done(&self) -> bool {
        self.settled >= self.conns.len()
    }

    /// Whoever answers is there before anybody asks.
    pub fn start(&mut self, now: u64) {
        for conn in 0..self.conns.len() {
            let start = self.conns[conn].plan.start;
            if self.place.is_client && start > now {
                self.pending.wake(start, conn);
            } else {
                self.open(conn);
            }
        }
    }

    fn open(&mut self, conn: usize) {
        let side = self.side(conn);
        let listens = self.place.listens && !self.place.is_client && side.to_send == 0;
        let port = PORT + self.conns[conn].plan.number - 1;
        let args = args(&[
            (Arg::LocalIp, u64::from(self.place.address)),
            (Arg::LocalPort, port),
            (Arg::RemoteIp, u64::from(self.place.peer)),
            (Arg::RemotePort, port),
            (Arg::Backlog, 1),
        ]);
        if listens {
            self.pending.ask(Call::Listen, 0, args, AskData::None, Waiting::Listen(conn));
            return;
        }
        self.pending.ask(Call::Open, 0, args, AskData::None, Waiting::Open(conn));
    }

    fn side(&self, conn: usize) -> &Side {
        let plan = &self.conns[conn].plan;
        if self.place.is_client { &plan.client } else { &plan.server }
    }

    /// What the other end does.
    fn other_side(&self, conn: usize) -> &Side {
        let plan = &self.conns[conn].plan;
        if self.place.is_client { &plan.server } else { &plan.client }
    }

    fn nothing_comes(&self, conn: usize) -> bool {
        self.other_side(conn).to_send == 0
    }

    /// Bytes in each message that an end sends, and how many it sends.
    fn messages(&self, side: &Side) -> (u32, u64) {
        let len = side.send_chunk.clamp(HEAD as u32, self.place.message.max(HEAD as u32));
        (len, side.to_send.div_ceil(u64::from(len)))
    }

    pub fn wake(&mut self, conn: usize, now: u64) {
        let nothing_comes = self.nothing_comes(conn);
        let c = &mut self.conns[conn];
        if c.handle == 0 && !c.over {
            self.open(conn);
        } else if c.over && nothing_comes {
            let handle = c.handle;
            self.pending.ask(Call::Close, handle, Args::default(), AskData::None, Waiting::Close(conn));
        } else {
            c.waits = false;
            self.send(conn, now);
            self.receive(conn);
        }
    }

    pub fn completed(&mut self, done: &Completion, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Open(conn)) if done.status == OK => {
                let c = &mut self.conns[conn];
                c.handle = done.value;
                c.record.established = Some(now);
                self.receive(conn);
                self.send(conn, now);
            }
            // It is done as far as it is concerned: whether the other end says anything is not known.
            Some(Waiting::Listen(conn)) if done.status == OK => {
                let (listener, args) = (done.value, Args::default());
                self.pending.ask(Call::Accept, listener, args, AskData::None, Waiting::Open(conn));
                self.settle(conn, End::Clean, now);
            }
            Some(Waiting::Open(conn)) if self.conns[conn].over => {}
            Some(Waiting::Open(conn) | Waiting::Listen(conn)) => {
                self.settle(conn, End::Error(done.status), now);
            }
            Some(Waiting::Send { conn, message }) => self.sent(conn, message, done.status, now),
            Some(Waiting::Recv(conn)) => self.received(conn, done, now),
            Some(Waiting::Close(_)) | None => {}
        }
    }

    fn pattern(&self, conn: usize, by_client: bool) -> Pattern {
        Pattern { number: self.conns[conn].record.number, seed: self.place.seed ^ u64::from(by_client) }
    }

    /// The bytes of a message: its numbers, and what no other message has.
    fn octets(&self, conn: usize, message: u64, len: u32, by_client: bool) -> Vec<u8> {
        let mut octets = Vec::new();
        self.pattern(conn, by_client).fill(HEAD as u64 + message * u64::from(len), len as usize, &mut octets);
        octets[..4].copy_from_slice(&(self.conns[conn].record.number as u32).to_le_bytes());
        octets[4..HEAD].copy_from_slice(&(message as u32).to_le_bytes());
        octets
    }

    fn send(&mut self, conn: usize, now: u64) {
        let (len, mut count) = self.messages(self.side(conn));
        if self.conns[conn].plan.hold {
            count = 0;
        }
        while !self.conns[conn].over && !self.conns[conn].waits && self.conns[conn].in_flight < WINDOW {
            let c = &mut self.conns[conn];
            let message = match c.refused.pop_front() {
                Some(message) => message,
                None if c.next < count => {
                    c.next += 1;
                    c.next - 1
                }
                None if c.in_flight == 0 => return self.settle(conn, End::Clean, now),
                None => return,
            };
            c.in_flight += 1;
            let handle = c.handle;
            let octets = AskData::Send(Cow::Owned(self.octets(conn, message, len, self.place.is_client)));
            let args = args(&[(Arg::Len, u64::from(len))]);
            self.pending.ask(Call::Send, handle, args, octets, Waiting::Send { conn, message });
        }
    }

    fn sent(&mut self, conn: usize, message: u64, status: u8, now: u64) {
        let (len, _) = self.messages(self.side(conn));
        let c = &mut self.conns[conn];
        c.in_flight -= 1;
        match status {
            OK => {
                c.record.messages.sent += 1;
                c.record.messages.sent_first |= bit(message);
                c.record.sent += u64::from(len);
                c.record.taken();
                c.patience.taken();
            }
            BUSY if c.over => return,
            BUSY => {
                c.record.refused(Refusal { call: "send", len: len.into(), status });
                c.refused.push_back(message);
                if !c.waits {
                    match c.patience.refused(now, AGAIN_AFTER) {
                        Some(at) => {
                            c.waits = true;
                            self.pending.wake(at, conn);
                        }
                        None => self.settle(conn, End::Error(status), now),
                    }
                }
                return;
            }
            _ => {
                c.record.refused(Refusal { call: "send", len: len.into(), status });
                c.record.messages.failed += 1;
            }
        }
        self.send(conn, now);
    }

    fn receive(&mut self, conn: usize) {
        let c = &mut self.conns[conn];
        if c.receiving {
            return;
        }
        c.receiving = true;
        let (handle, len) = (c.handle, u64::from(self.place.message.max(LONGEST)));
        self.pending.ask(
            Call::Recv,
            handle,
            args(&[(Arg::Len, len)]),
            AskData::Recv(len),
            Waiting::Recv(conn),
        );
    }

    fn received(&mut self, conn: usize, done: &Completion, now: u64) {
        self.conns[conn].receiving = false;
        if done.status != OK {
            return;
        }
        self.look_at(conn, done.data.as_deref().unwrap_or_default());
        let pause = self.side(conn).pause;
        if pause == 0 {
            self.receive(conn);
        } else {
            self.pending.wake(now + pause, conn);
        }
    }

    /// Holds a message against those that the other end sends.
    fn look_at(&mut self, conn: usize, octets: &[u8]) {
        let (len, count) = self.messages(self.other_side(conn));
        let message =
            octets.get(4..HEAD).map_or(u64::MAX, |n| u64::from(u32::from_le_bytes([n[0], n[1], n[2], n[3]])));
        let right = message < count && self.octets(conn, message, len, !self.place.is_client) == octets;
        let record = &mut self.conns[conn].record;
        if !right {
            record.wrong_at = record.wrong_at.or(Some(record.received));
            record.messages.damaged += 1;
            return;
        }
        record.received += octets.len() as u64;
        let Conn { seen, record, .. } = &mut self.conns[conn];
        let late = seen.last().is_some_and(|last| message < *last);
        let messages = &mut record.messages;
        if !seen.insert(message) {
            messages.again += 1;
        } else {
            messages.received += 1;
            messages.received_first |= bit(message);
            messages.late += u64::from(late);
        }
    }

    fn settle(&mut self, conn: usize, end: End, now: u64) {
        let nothing_comes = self.nothing_comes(conn);
        let c = &mut self.conns[conn];
        c.over = true;
        c.record.end = end;
        c.record.finished = Some(now);
        self.settled += 1;
        if nothing_comes && c.handle != 0 {
            self.pending.wake(now + CLOSE_AFTER, conn);
        }
    }
}
