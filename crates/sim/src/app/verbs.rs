// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications over the `verbs` interface: both ends open a queue pair, register memory, and each sends to the other, writes
//! to its memory and reads from it, with and without immediates.
//!
//! Everything is promised here: each work request completes, in the order of posting, and each byte is where it belongs. Each
//! end says with its last message that there is nothing more.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::ask::AskData;
use super::pending_requests::PendingRequests;
use super::place::Place;
use super::plan::{Plan, Side};
use super::record::{End, Record};
use crate::core::Completion;
use crate::interface::{Arg, Args, Call, args};
use crate::pattern::Pattern;
use crate::status::{OK, TIMED_OUT};

/// Work requests that wait for their completion at once, and receives that are posted.
const WINDOW: usize = 8;
const RECEIVES: usize = 8;
/// Places in registered memory, each of a message.
const PLACES: u64 = 8;
/// The first number of a queue pair; each connection has one of its own, at both ends.
const QUEUE_PAIR: u64 = 16;
/// Where registered memory begins, as its keys have it.
const ADDRESS: u64 = 0x1_0000_0000;
/// In what a receive completes with, beside its bytes: there is an immediate, in the upper half.
const WITH_IMM: u64 = 1 << 31;
/// The immediate of the last message.
const LAST: u64 = 0xffff_ffff;
/// Before a queue pair is closed, so that the peer hears what was sent last, in nanoseconds.
const CLOSE_AFTER: u64 = 1_000_000_000;
/// After so much time without any completion, the peer is taken for dead, in nanoseconds.
const PATIENCE: u64 = 120_000_000_000;

/// What a work request is, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Send,
    Write,
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Waiting {
    Open(usize),
    /// memory that the peer reads from, or writes to
    Memory {
        conn: usize,
        written: bool,
    },
    Work {
        conn: usize,
        number: u64,
    },
    Receive {
        conn: usize,
        number: u64,
    },
    Rest,
}

#[derive(Debug, Serialize, Deserialize)]
struct Conn {
    plan: Plan,
    handle: u64,
    record: Record,
    /// the next work request, those that wait for their completion
    next: u64,
    posted: VecDeque<u64>,
    /// receives that were posted, and are to be posted; the next to complete
    receives: u64,
    owed: usize,
    next_receive: u64,
    /// the peer's next work request that a receive tells of; it has said its last
    heard: u64,
    heard_all: bool,
    /// it may post: the peer is there
    may_post: bool,
    memory_asked: bool,
    active_at: u64,
    over: bool,
    closing: bool,
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
            posted: VecDeque::new(),
            receives: 0,
            owed: 0,
            next_receive: 0,
            heard: 0,
            heard_all: false,
            may_post: place.is_client,
            memory_asked: false,
            active_at: plan.start,
            over: false,
            closing: false,
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
                self.open(conn, now);
            }
        }
    }

    fn side(&self, conn: usize, by_client: bool) -> &Side {
        let plan = &self.conns[conn].plan;
        if by_client { &plan.client } else { &plan.server }
    }

    /// Bytes in each message that an end sends, and how many of them; one without bytes follows.
    fn messages(&self, conn: usize, by_client: bool) -> (u64, u64) {
        let side = self.side(conn, by_client);
        let len = u64::from(side.send_chunk.clamp(1, self.place.message.max(1)));
        let hold = self.conns[conn].plan.hold;
        (len, if hold { 0 } else { side.to_send.div_ceil(len) })
    }

    /// What the work request with this number is, and its immediate.
    fn kind(number: u64, count: u64) -> (Kind, Option<u64>) {
        match number % 5 {
            _ if number == count => (Kind::Send, Some(LAST)),
            0 => (Kind::Send, None),
            1 => (Kind::Write, None),
            2 => (Kind::Read, None),
            3 => (Kind::Write, Some(number)),
            _ => (Kind::Send, Some(number)),
        }
    }

    fn pattern(&self, conn: usize, by_client: bool, read: bool) -> Pattern {
        let salt = u64::from(by_client) | u64::from(read) << 1;
        Pattern { number: self.conns[conn].record.number, seed: self.place.seed ^ salt }
    }

    /// The bytes of a message, or those that stand in memory for it to be read.
    fn octets(&self, conn: usize, by_client: bool, read: bool, number: u64, len: u64) -> Vec<u8> {
        let mut octets = Vec::new();
        self.pattern(conn, by_client, read).fill(8 + number * len, len as usize, &mut octets);
        octets
    }

    /// The key of the memory of one end; what the peer reads from and what it writes to have two.
    fn key(&self, conn: usize, written: bool) -> u64 {
        self.conns[conn].record.number << 8 | u64::from(written)
    }

    fn open(&mut self, conn: usize, now: u64) {
        let me = self.place.is_client;
        self.conns[conn].active_at = now;
        for written in [false, true] {
            // As long as the peer's messages, for whom it is.
            let (len, _) = self.messages(conn, !me);
            let octets = if written {
                vec![0; (PLACES * len) as usize]
            } else {
                (0..PLACES).flat_map(|place| self.octets(conn, me, true, place, len)).collect()
            };
            let args = args(&[
                (Arg::Len, PLACES * len),
                (Arg::Key, self.key(conn, written)),
                (Arg::Addr, ADDRESS),
                (Arg::MayRead, u64::from(!written)),
                (Arg::MayWrite, u64::from(written)),
            ]);
            self.pending.ask(
                Call::Register,
                0,
                args,
                AskData::Shared(octets),
                Waiting::Memory { conn, written },
            );
        }
        let number = self.conns[conn].record.number;
        let psn = |by_client: bool| {
            (self.place.seed ^ number ^ u64::from(by_client)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
        };
        let args = args(&[
            (Arg::LocalQp, QUEUE_PAIR + number),
            (Arg::RemoteIp, u64::from(self.place.peer)),
            (Arg::RemoteQp, QUEUE_PAIR + number),
            (Arg::SendPsn, psn(me)),
            (Arg::RecvPsn, psn(!me)),
        ]);
        self.pending.ask(Call::Open, 0, args, AskData::None, Waiting::Open(conn));
    }

    pub fn wake(&mut self, conn: usize, now: u64) {
        let c = &mut self.conns[conn];
        if c.handle == 0 && !c.over && !c.memory_asked && c.receives == 0 && c.record.established.is_none() {
            self.open(conn, now);
        } else if c.over {
            self.close(conn);
        } else if now >= c.active_at + PATIENCE {
            self.settle(conn, End::Error(TIMED_OUT), now);
        } else {
            self.pending.wake(now + PATIENCE, conn);
            self.receive(conn);
        }
    }

    fn close(&mut self, conn: usize) {
        let c = &mut self.conns[conn];
        if !c.closing && c.handle != 0 {
            c.closing = true;
            let handle = c.handle;
            self.pending.ask(Call::Close, handle, Args::default(), AskData::None, Waiting::Rest);
            self.give_back(conn);
        }
    }

    pub fn completed(&mut self, done: &Completion, now: u64) {
        let waiting = self.pending.answered(done);
        if let Some(Waiting::Open(conn) | Waiting::Work { conn, .. } | Waiting::Receive { conn, .. }) =
            waiting
        {
            self.conns[conn].active_at = now;
        }
        match waiting {
            Some(Waiting::Open(conn)) if done.status == OK => {
                let c = &mut self.conns[conn];
                c.handle = done.value;
                c.record.established = Some(now);
                c.owed = RECEIVES;
                self.pending.wake(now + PATIENCE, conn);
                self.receive(conn);
                self.post(conn);
            }
            Some(Waiting::Open(conn)) => self.settle(conn, End::Error(done.status), now),
            Some(Waiting::Work { conn, number }) => self.worked(conn, number, done, now),
            Some(Waiting::Receive { conn, number }) => self.received(conn, number, done, now),
            Some(Waiting::Memory { conn, written }) => self.given_back(conn, written, done, now),
            Some(Waiting::Rest) | None => {}
        }
    }

    /// Posts what receives there should be.
    fn receive(&mut self, conn: usize) {
        let (len, _) = self.messages(conn, !self.place.is_client);
        while self.conns[conn].owed > 0 && self.conns[conn].handle != 0 && !self.conns[conn].over {
            let c = &mut self.conns[conn];
            c.owed -= 1;
            c.receives += 1;
            let (handle, number) = (c.handle, c.receives - 1);
            let args = args(&[(Arg::Len, len)]);
            self.pending.ask(
                Call::PostRecv,
                handle,
                args,
                AskData::Recv(len),
                Waiting::Receive { conn, number },
            );
        }
    }

    /// Posts work requests, as many as may wait.
    fn post(&mut self, conn: usize) {
        let me = self.place.is_client;
        let (len, count) = self.messages(conn, me);
        while self.conns[conn].may_post && !self.conns[conn].over && self.conns[conn].posted.len() < WINDOW {
            let number = self.conns[conn].next;
            if number > count || (number == count && self.reads(conn, count)) {
                return;
            }
            let c = &mut self.conns[conn];
            c.next += 1;
            c.posted.push_back(number);
            let handle = c.handle;
            let (kind, imm) = App::kind(number, count);
            let len = if number == count { 0 } else { len };
            let args = args(&[
                (Arg::Len, len),
                (Arg::Key, self.key(conn, kind == Kind::Write)),
                (Arg::Addr, ADDRESS + number % PLACES * len),
                (Arg::WithImm, u64::from(imm.is_some())),
                (Arg::Imm, imm.unwrap_or(0)),
            ]);
            let sent = AskData::Send(Cow::Owned(self.octets(conn, me, false, number, len)));
            let (call, data) = match kind {
                Kind::Send => (Call::PostSend, sent),
                Kind::Write => (Call::PostWrite, sent),
                Kind::Read => (Call::PostRead, AskData::Recv(len)),
            };
            self.pending.ask(call, handle, args, data, Waiting::Work { conn, number });
        }
    }

    /// A READ is not complete. The peer may take its memory back once it has the last message, so that message waits: an answer
    /// that is lost is read again (a fence, as verbs have it).
    fn reads(&self, conn: usize, count: u64) -> bool {
        self.conns[conn].posted.iter().any(|number| App::kind(*number, count).0 == Kind::Read)
    }

    /// A work request is complete: the oldest one, or something is wrong.
    fn worked(&mut self, conn: usize, number: u64, done: &Completion, now: u64) {
        let me = self.place.is_client;
        let (len, count) = self.messages(conn, me);
        let late = self.conns[conn].posted.pop_front() != Some(number);
        let kind = App::kind(number, count).0;
        let wanted = if number == count { 0 } else { len };
        let right = match kind {
            Kind::Read => done.data.as_deref() == Some(&self.octets(conn, !me, true, number % PLACES, len)),
            _ => true,
        };
        let record = &mut self.conns[conn].record;
        if done.status != OK {
            record.messages.failed += 1;
            return self.settle(conn, End::Error(done.status), now);
        }
        record.messages.late += u64::from(late);
        record.messages.sent += 1;
        if kind == Kind::Read {
            record.received += wanted;
        } else {
            record.sent += wanted;
        }
        self.must(conn, right && done.value == wanted && !late);
        self.post(conn);
        self.perhaps_over(conn);
    }

    /// What should be, and is noted where it is not.
    fn must(&mut self, conn: usize, right: bool) {
        let record = &mut self.conns[conn].record;
        if !right {
            record.wrong_at = record.wrong_at.or(Some(record.received));
            record.messages.damaged += 1;
        }
    }

    fn received(&mut self, conn: usize, number: u64, done: &Completion, now: u64) {
        if done.status != OK {
            if !self.conns[conn].over {
                self.settle(conn, End::Error(done.status), now);
            }
            return;
        }
        let late = self.conns[conn].next_receive != number;
        self.conns[conn].next_receive = number + 1;
        let right = self.as_sent(conn, done);
        self.must(conn, right && !late);
        let record = &mut self.conns[conn].record;
        record.messages.late += u64::from(late);
        record.messages.received += 1;
        let c = &mut self.conns[conn];
        c.owed += 1;
        c.may_post = true;
        let pause = self.side(conn, self.place.is_client).pause;
        if pause == 0 {
            self.receive(conn);
        } else {
            self.pending.wake(now + pause, conn);
        }
        self.post(conn);
        self.perhaps_over(conn);
    }

    /// Whether a receive tells of what the peer has sent next.
    fn as_sent(&mut self, conn: usize, done: &Completion) -> bool {
        let peer = !self.place.is_client;
        let (len, count) = self.messages(conn, peer);
        let mut number = self.conns[conn].heard;
        let told = |number: u64| !matches!(App::kind(number, count), (Kind::Read, _) | (Kind::Write, None));
        while number < count && !told(number) {
            number += 1;
        }
        let (kind, imm) = App::kind(number, count);
        let octets = done.value & (WITH_IMM - 1);
        let wanted = if kind == Kind::Write || number == count { 0 } else { len };
        let c = &mut self.conns[conn];
        c.heard = number + 1;
        c.heard_all |= number >= count;
        c.record.received += octets;
        let with = imm.map_or(0, |imm| WITH_IMM | imm << 32);
        if number > count || done.value != (wanted | with) {
            return false;
        }
        let given = done.data.as_deref().unwrap_or_default();
        given.get(..octets as usize) == Some(&self.octets(conn, peer, false, number, wanted)[..])
    }

    /// When nothing is left to do or to hear, the memory comes back, to be looked at.
    fn perhaps_over(&mut self, conn: usize) {
        let (_, count) = self.messages(conn, self.place.is_client);
        let c = &self.conns[conn];
        if c.heard_all && c.next > count && c.posted.is_empty() {
            self.give_back(conn);
        }
    }

    fn give_back(&mut self, conn: usize) {
        if !self.conns[conn].memory_asked {
            self.conns[conn].memory_asked = true;
            for written in [false, true] {
                let args = args(&[(Arg::Key, self.key(conn, written))]);
                self.pending.ask(Call::Deregister, 0, args, AskData::None, Waiting::Rest);
            }
        }
    }

    /// Memory is the application's again: what the peer has written there is all that has changed.
    fn given_back(&mut self, conn: usize, written: bool, done: &Completion, now: u64) {
        if done.status != OK {
            return self.settle(conn, End::Error(done.status), now);
        }
        if self.conns[conn].over {
            return;
        }
        let peer = !self.place.is_client;
        let (len, count) = self.messages(conn, peer);
        let mut wanted = Vec::new();
        for place in 0..PLACES {
            let writes = |n: &u64| n % PLACES == place && App::kind(*n, count).0 == Kind::Write;
            wanted.extend(match (written, (0..count).rev().take(200).find(writes)) {
                (false, _) => self.octets(conn, self.place.is_client, true, place, len),
                (true, Some(number)) => self.octets(conn, peer, false, number, len),
                (true, None) => vec![0; len as usize],
            });
        }
        self.must(conn, done.data.as_deref() == Some(&wanted));
        if written {
            self.settle(conn, End::Clean, now);
        }
    }

    fn settle(&mut self, conn: usize, end: End, now: u64) {
        let c = &mut self.conns[conn];
        if c.over {
            return;
        }
        c.over = true;
        c.record.end = end;
        c.record.finished = Some(now);
        self.settled += 1;
        self.pending.wake(now + CLOSE_AFTER, conn);
    }
}
