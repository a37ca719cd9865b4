// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications over the `rpc` interface: clients make requests, several at once if their plan says so, and servers
//! answer each with a response of a length of its own.
//!
//! A request and its response begin with the numbers of their connection and of the RPC, so that a request that is
//! executed again, a response to another request, and a wrong byte are seen. A client's RPC ends with the response or
//! with an error.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::ask::AskData;
use super::patience::Patience;
use super::pending_requests::PendingRequests;
use super::place::Place;
use super::plan::Plan;
use super::record::{End, Record, Refusal};
use crate::core::Completion;
use crate::interface::{Arg, Args, Call, args};
use crate::pattern::Pattern;
use crate::status::{BUSY, NO_ROOM, OK};

/// The numbers that a request and a response begin with.
const HEAD: usize = 8;
/// Before what was refused for want of room is tried again, in nanoseconds.
const AGAIN_AFTER: u64 = 1_000_000;
/// The first port of clients; those below are for servers.
const CLIENT_PORT: u64 = 0x8000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Waiting {
    /// of a client's endpoint, or of the server's at a port
    Open(usize),
    Listen,
    Request {
        conn: usize,
        rpc: u64,
    },
    Response {
        conn: usize,
        rpc: u64,
    },
    Accept(u64),
    /// the bytes of the request with this handle
    Taken(u64),
    /// a connection's response
    Respond(usize),
    Nothing,
}

/// What the RPCs of a plan are like, in bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Sizes {
    request: u64,
    response: u64,
    count: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Conn {
    plan: Plan,
    sizes: Sizes,
    handle: u64,
    record: Record,
    /// the next RPC that was never begun, and those to be begun again
    next: u64,
    refused: VecDeque<u64>,
    in_flight: usize,
    waits: bool,
    patience: Patience,
    over: bool,
    /// of the server: the requests that came
    seen: BTreeSet<u64>,
    /// of the server: responses that were given and not taken yet
    owed: usize,
}

/// The application of one host.
#[derive(Serialize, Deserialize)]
pub struct App {
    place: Place,
    conns: Vec<Conn>,
    pub(super) pending: PendingRequests<Waiting>,
    settled: usize,
    /// requests that were accepted, whose bytes have not come
    half_taken: usize,
}

fn sizes(plan: &Plan, longest: u64) -> Sizes {
    if let Some((request, response)) = plan.turn {
        let (request, response) = (request.max(HEAD as u64), response.max(HEAD as u64));
        return Sizes { request, response, count: plan.client.to_send / request };
    }
    let request = u64::from(plan.client.send_chunk).min(plan.client.to_send).min(longest).max(HEAD as u64);
    let count = if plan.hold { 0 } else { plan.client.to_send.div_ceil(request) };
    let response = (plan.server.to_send / count.max(1)).min(longest).max(HEAD as u64);
    Sizes { request, response, count }
}

impl App {
    /// `plans` are those of all connections of the run.
    pub fn new(place: Place, plans: &[Plan]) -> App {
        let conn = |plan: &Plan| Conn {
            plan: plan.clone(),
            sizes: sizes(plan, u64::from(place.message)),
            handle: 0,
            record: Record::new(plan.number, plan.start),
            next: 0,
            refused: VecDeque::new(),
            in_flight: 0,
            waits: false,
            patience: Patience::default(),
            over: false,
            seen: BTreeSet::new(),
            owed: 0,
        };
        App {
            place,
            conns: plans.iter().map(conn).collect(),
            pending: PendingRequests::default(),
            settled: 0,
            half_taken: 0,
        }
    }

    /// What each connection saw. A server's has come to an end when nothing that it was asked for is still to be done.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.conns.iter().map(|c| {
            let mut record = c.record.clone();
            if !self.place.is_client && c.owed == 0 && self.half_taken == 0 {
                record.end = End::Clean;
            }
            record
        })
    }

    /// Servers wait for as long as clients ask.
    pub fn done(&self) -> bool {
        !self.place.is_client || self.settled >= self.conns.len()
    }

    /// Opens what is to be there at the beginning.
    pub fn start(&mut self, now: u64) {
        if !self.place.is_client {
            let ports: BTreeSet<u16> = self.conns.iter().map(|c| c.plan.port).collect();
            for port in ports {
                self.open(u64::from(port), Waiting::Listen);
            }
            return;
        }
        for conn in 0..self.conns.len() {
            let start = self.conns[conn].plan.start;
            if start > now {
                self.pending.wake(start, conn);
            } else {
                self.open(CLIENT_PORT + conn as u64, Waiting::Open(conn));
            }
        }
    }

    fn open(&mut self, port: u64, waiting: Waiting) {
        let args = args(&[(Arg::LocalIp, u64::from(self.place.address)), (Arg::LocalPort, port)]);
        self.pending.ask(Call::Open, 0, args, AskData::None, waiting);
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, conn: usize, now: u64) {
        let c = &mut self.conns[conn];
        c.waits = false;
        if c.handle == 0 && !c.over {
            self.open(CLIENT_PORT + conn as u64, Waiting::Open(conn));
        } else {
            self.request(conn, now);
        }
    }

    pub fn completed(&mut self, done: &Completion, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Open(conn)) if done.status == OK => {
                self.conns[conn].handle = done.value;
                self.conns[conn].record.established = Some(now);
                self.request(conn, now);
            }
            Some(Waiting::Open(conn)) => self.settle(conn, End::Error(done.status), now),
            Some(Waiting::Listen) if done.status == OK => self.accept(done.value),
            Some(Waiting::Request { conn, rpc }) => self.requested(conn, rpc, done, now),
            Some(Waiting::Response { conn, rpc }) => self.answered(conn, rpc, done, now),
            Some(Waiting::Accept(endpoint)) if done.status == OK => {
                self.half_taken += 1;
                self.receive(Call::RecvRequest, done.value, Waiting::Taken(done.value));
                self.accept(endpoint);
            }
            Some(Waiting::Taken(rpc)) => self.taken(rpc, done),
            Some(Waiting::Respond(conn)) => self.responded(conn, done.status, now),
            Some(Waiting::Listen | Waiting::Accept(_) | Waiting::Nothing) | None => {}
        }
    }

    /// The bytes of a request or a response: its numbers, and what no other has.
    fn octets(&self, conn: usize, rpc: u64, by_client: bool) -> Vec<u8> {
        let Conn { record, sizes, .. } = &self.conns[conn];
        let len = if by_client { sizes.request } else { sizes.response };
        let pattern = Pattern { number: record.number, seed: self.place.seed ^ u64::from(by_client) };
        let mut octets = Vec::new();
        pattern.fill(HEAD as u64 + rpc.wrapping_mul(len), len as usize, &mut octets);
        octets[..4].copy_from_slice(&(record.number as u32).to_le_bytes());
        octets[4..HEAD].copy_from_slice(&(rpc as u32).to_le_bytes());
        octets
    }

    /// One byte more than the longest of those that may come, so that a longer one is seen.
    fn receive(&mut self, call: Call, handle: u64, waiting: Waiting) {
        let longest = self.conns.iter().map(|c| match call {
            Call::RecvRequest => c.sizes.request,
            _ => c.sizes.response,
        });
        let len = longest.max().unwrap_or_default() + 1;
        self.pending.ask(call, handle, args(&[(Arg::Len, len)]), AskData::Recv(len), waiting);
    }

    // ---- the client

    /// Makes requests until as many are open as may be; the connection ends with the last.
    fn request(&mut self, conn: usize, now: u64) {
        loop {
            let c = &mut self.conns[conn];
            if c.over || c.waits || c.in_flight as u64 >= u64::from(c.plan.outstanding.max(1)) {
                return;
            }
            let rpc = match c.refused.pop_front() {
                Some(rpc) => rpc,
                None if c.next < c.sizes.count => {
                    c.next += 1;
                    c.next - 1
                }
                None if c.in_flight == 0 => {
                    let end = if c.record.end == End::Open { End::Clean } else { c.record.end };
                    return self.settle(conn, end, now);
                }
                None => return,
            };
            c.in_flight += 1;
            let (handle, port) = (c.handle, u64::from(c.plan.port));
            let octets = self.octets(conn, rpc, true);
            let args = args(&[
                (Arg::RemoteIp, u64::from(self.place.peer)),
                (Arg::RemotePort, port),
                (Arg::Len, octets.len() as u64),
            ]);
            let data = AskData::Send(Cow::Owned(octets));
            self.pending.ask(Call::Request, handle, args, data, Waiting::Request { conn, rpc });
        }
    }

    fn requested(&mut self, conn: usize, rpc: u64, done: &Completion, now: u64) {
        let c = &mut self.conns[conn];
        match done.status {
            OK => {
                c.record.messages.sent += 1;
                c.record.sent += c.sizes.request;
                c.record.taken();
                c.patience.taken();
                let weary = c.plan.client.abort_at.is_some_and(|at| c.record.sent + c.record.received >= at);
                if weary && !c.over {
                    self.pending.ask(
                        Call::Cancel,
                        done.value,
                        Args::default(),
                        AskData::None,
                        Waiting::Nothing,
                    );
                    return self.settle(conn, End::Aborted, now);
                }
                self.receive(Call::RecvResponse, done.value, Waiting::Response { conn, rpc });
            }
            BUSY | NO_ROOM if !c.over => self.refused(conn, rpc, done.status, now),
            status => {
                c.record.refused(Refusal { call: "request", len: c.sizes.request, status });
                self.failed(conn, status, now);
            }
        }
    }

    /// There is no space for a request now.
    fn refused(&mut self, conn: usize, rpc: u64, status: u8, now: u64) {
        let c = &mut self.conns[conn];
        c.record.refused(Refusal { call: "request", len: c.sizes.request, status });
        if !c.waits {
            let Some(at) = c.patience.refused(now, AGAIN_AFTER) else {
                // None of those that are left will be taken either.
                c.next = c.sizes.count;
                c.refused.clear();
                return self.failed(conn, status, now);
            };
            c.waits = true;
            self.pending.wake(at, conn);
        }
        c.in_flight -= 1;
        c.refused.push_back(rpc);
    }

    fn failed(&mut self, conn: usize, status: u8, now: u64) {
        let c = &mut self.conns[conn];
        c.in_flight -= 1;
        c.record.messages.failed += 1;
        if c.record.end == End::Open {
            c.record.end = End::Error(status);
        }
        self.request(conn, now);
    }

    fn answered(&mut self, conn: usize, rpc: u64, done: &Completion, now: u64) {
        if done.status != OK {
            return self.failed(conn, done.status, now);
        }
        let right = self.octets(conn, rpc, false) == done.data.as_deref().unwrap_or_default();
        let c = &mut self.conns[conn];
        c.in_flight -= 1;
        if right {
            c.record.received += c.sizes.response;
            c.record.messages.received += 1;
        } else {
            c.record.wrong_at = c.record.wrong_at.or(Some(c.record.received));
            c.record.messages.damaged += 1;
        }
        self.request(conn, now);
    }

    fn settle(&mut self, conn: usize, end: End, now: u64) {
        let c = &mut self.conns[conn];
        c.over = true;
        c.record.end = end;
        c.record.finished = Some(now);
        self.settled += 1;
        let handle = c.handle;
        if handle != 0 {
            self.pending.ask(Call::Close, handle, Args::default(), AskData::None, Waiting::Nothing);
        }
    }

    // ---- the server

    fn accept(&mut self, endpoint: u64) {
        self.pending.ask(Call::Accept, endpoint, Args::default(), AskData::None, Waiting::Accept(endpoint));
    }

    fn taken(&mut self, handle: u64, done: &Completion) {
        self.half_taken -= 1;
        if done.status != OK {
            return;
        }
        let octets = done.data.as_deref().unwrap_or_default();
        let word = |at: usize| octets.get(at..at + 4).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]));
        let number = word(0).map(u64::from);
        let known = self.conns.iter().position(|c| Some(c.record.number) == number);
        let rpc = u64::from(word(4).unwrap_or_default());
        let Some(conn) = known.filter(|conn| self.octets(*conn, rpc, true) == octets) else {
            return self.damaged(handle, known);
        };
        let Conn { seen, record, sizes, owed, .. } = &mut self.conns[conn];
        record.received += sizes.request;
        let late = seen.last().is_some_and(|last| rpc < *last);
        if seen.insert(rpc) {
            record.messages.received += 1;
            record.messages.late += u64::from(late);
        } else {
            record.messages.again += 1;
        }
        *owed += 1;
        let octets = self.octets(conn, rpc, false);
        let args = args(&[(Arg::Len, octets.len() as u64)]);
        self.pending.ask(
            Call::Respond,
            handle,
            args,
            AskData::Send(Cow::Owned(octets)),
            Waiting::Respond(conn),
        );
    }

    /// What nobody asked for is not answered.
    fn damaged(&mut self, handle: u64, known: Option<usize>) {
        if let Some(c) = self.conns.get_mut(known.unwrap_or_default()) {
            c.record.wrong_at = c.record.wrong_at.or(Some(c.record.received));
            c.record.messages.damaged += 1;
        }
        self.pending.ask(Call::Cancel, handle, Args::default(), AskData::None, Waiting::Nothing);
    }

    fn responded(&mut self, conn: usize, status: u8, now: u64) {
        let c = &mut self.conns[conn];
        c.owed -= 1;
        c.record.finished = Some(now);
        if status == OK {
            c.record.sent += c.sizes.response;
            c.record.messages.sent += 1;
        } else {
            c.record.messages.failed += 1;
        }
    }
}
