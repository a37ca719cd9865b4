// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications over the `stream` interface, and over `multistream`, where what is a connection here is a stream of one.
//!
//! Bulk transfer, request and response, idle and random behaviour are plans. Each connection carries its
//! number in its first eight bytes, so that both ends can be held against each other at the end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ask::AskData;
use super::carrier::Carriers;
use super::pending_requests::PendingRequests;
use super::place::Place;
use super::plan::{Plan, Side};
use super::record::{End, Record};
use crate::core::Completion;
use crate::interface::{Arg, Args, Call, args};
use crate::pattern::Pattern;
use crate::status::{CLOSED, END_OF_STREAM, OK};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Waiting {
    Listen(u16),
    Accept(u64),
    Connect(usize),
    Send(usize),
    Recv(usize),
    /// the connection that carries streams
    Carrier(usize),
    /// a stream on the connection with this handle
    AcceptStream(u64),
    Nothing,
}

#[derive(Debug, Serialize, Deserialize)]
struct Conn {
    plan: Option<Plan>,
    handle: u64,
    record: Record,
    sending: bool,
    receiving: bool,
    shut: bool,
    over: bool,
    head: Vec<u8>,
}

/// The application of one host: it answers on ports, opens connections, or both.
#[derive(Serialize, Deserialize)]
pub struct App {
    is_client: bool,
    address: u32,
    peer: u32,
    seed: u64,
    numbered: bool,
    plans: BTreeMap<u64, Plan>,
    /// what carries streams, where connections have several
    carriers: Option<Carriers>,
    conns: Vec<Conn>,
    pub(super) pending: PendingRequests<Waiting>,
    /// connections for which nothing is left to do
    settled: usize,
}

impl App {
    /// `plans` are those of all connections of the run, or of all streams, if there may be several on a connection.
    pub fn new(place: Place, plans: &[Plan], several: bool) -> App {
        let Place { is_client, address, peer, seed, numbered, .. } = place;
        App {
            is_client,
            address,
            peer,
            seed,
            numbered,
            plans: plans.iter().map(|p| (p.number, p.clone())).collect(),
            carriers: several.then(|| Carriers::of(plans)),
            conns: Vec::new(),
            pending: PendingRequests::default(),
            settled: 0,
        }
    }

    /// What each connection saw, in the order in which they were opened or accepted.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.conns.iter().map(|c| &c.record)
    }

    /// Nothing is left to do.
    pub fn done(&self) -> bool {
        self.conns.len() >= self.plans.len() && self.settled >= self.conns.len()
    }

    /// Called once, at the beginning.
    pub fn start(&mut self, now: u64) {
        if self.is_client {
            let plans: Vec<Plan> = self.plans.values().cloned().collect();
            for plan in plans {
                let conn = self.conns.len();
                self.conns.push(new_conn(Some(plan.clone()), 0, plan.start));
                if plan.start > now {
                    self.pending.wake(plan.start, conn);
                } else {
                    self.begin(conn);
                }
            }
            return;
        }
        let mut ports: Vec<u16> = self.plans.values().map(|p| p.port).collect();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            let args = args(&[
                (Arg::LocalIp, u64::from(self.address)),
                (Arg::LocalPort, u64::from(port)),
                (Arg::Backlog, 64),
            ]);
            self.pending.ask(Call::Listen, 0, args, AskData::None, Waiting::Listen(port));
        }
    }

    /// Opens the connection, or the stream.
    fn begin(&mut self, conn: usize) {
        let Some(plan) = &self.conns[conn].plan else { return };
        let port = plan.port;
        let Some(carriers) = &mut self.carriers else {
            return self.connect(conn, port, Waiting::Connect(conn));
        };
        let carrier = carriers.of_plan(plan);
        match carriers.want(carrier, conn) {
            Some(0) => self.connect(carrier, port, Waiting::Carrier(carrier)),
            Some(handle) => self.open_stream(handle, conn),
            None => {}
        }
    }

    fn connect(&mut self, number: usize, port: u16, waiting: Waiting) {
        // A port of its own for each, below those that a peer may listen on by accident.
        let local_port = 1024 + number as u64 % 60_000;
        let args = args(&[
            (Arg::LocalIp, u64::from(self.address)),
            (Arg::LocalPort, local_port),
            (Arg::RemoteIp, u64::from(self.peer)),
            (Arg::RemotePort, u64::from(port)),
        ]);
        self.pending.ask(Call::Connect, 0, args, AskData::None, waiting);
    }

    fn open_stream(&mut self, carrier: u64, conn: usize) {
        self.pending.ask(Call::OpenStream, carrier, Args::default(), AskData::None, Waiting::Connect(conn));
    }

    /// The connection that carries streams is there, or will not be.
    fn carried(&mut self, carrier: usize, done: &Completion, now: u64) {
        let Some(carriers) = &mut self.carriers else { return };
        let handle = if done.status == OK { Some(done.value) } else { None };
        for conn in carriers.connected(carrier, handle) {
            match handle {
                Some(handle) => self.open_stream(handle, conn),
                None => self.connected(conn, done, now),
            }
        }
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, conn: usize, now: u64) {
        if self.conns[conn].over {
            return;
        }
        let refused = self.carriers.as_ref().zip(self.conns[conn].plan.as_ref());
        if refused.is_some_and(|(carriers, plan)| carriers.refused(plan)) {
            self.lose(conn, CLOSED, now);
        } else if self.is_client && self.conns[conn].handle == 0 {
            self.begin(conn);
        } else {
            self.receive(conn);
        }
    }

    /// A request completed.
    pub fn completed(&mut self, done: &Completion, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Listen(_)) if done.status == OK => self.accept(done.value),
            Some(Waiting::Accept(listener)) if done.status == OK => {
                self.accept(listener);
                match self.carriers {
                    Some(_) => self.accept_stream(done.value),
                    None => self.accepted(done.value, now),
                }
            }
            Some(Waiting::AcceptStream(carrier)) if done.status == OK => {
                self.accept_stream(carrier);
                self.accepted(done.value, now);
            }
            Some(Waiting::Carrier(carrier)) => self.carried(carrier, done, now),
            Some(Waiting::Connect(conn)) => self.connected(conn, done, now),
            Some(Waiting::Send(conn)) => self.sent(conn, done, now),
            Some(Waiting::Recv(conn)) => self.received(conn, done, now),
            _ => {}
        }
    }

    fn accept(&mut self, listener: u64) {
        self.pending.ask(Call::Accept, listener, Args::default(), AskData::None, Waiting::Accept(listener));
    }

    fn accept_stream(&mut self, carrier: u64) {
        let waiting = Waiting::AcceptStream(carrier);
        self.pending.ask(Call::AcceptStream, carrier, Args::default(), AskData::None, waiting);
    }

    fn accepted(&mut self, handle: u64, now: u64) {
        let conn = self.conns.len();
        // Where bytes say no number, there is one connection.
        let plan = self.plans.values().next().filter(|_| !self.numbered).cloned();
        self.conns.push(new_conn(plan, handle, now));
        self.conns[conn].record.established = Some(now);
        if self.plans.first_key_value().is_some_and(|(_, p)| p.hold) {
            self.settled += 1;
            return;
        }
        self.receive(conn);
        if !self.numbered {
            self.send(conn, now);
        }
    }

    fn connected(&mut self, conn: usize, done: &Completion, now: u64) {
        if done.status != OK {
            // The handle, if any, was never told: the core forgets it by itself or never had it.
            return self.lose(conn, done.status, now);
        }
        let c = &mut self.conns[conn];
        c.handle = done.value;
        c.record.established = Some(now);
        if c.plan.as_ref().is_some_and(|p| p.hold) {
            self.settled += 1;
            return;
        }
        self.pause_then_receive(conn, true, now);
        self.send(conn, now);
    }

    fn side(&self, conn: usize) -> Option<&Side> {
        let plan = self.conns[conn].plan.as_ref()?;
        Some(if self.is_client { &plan.client } else { &plan.server })
    }

    /// How much may be sent by now: in turns, each side waits for the other.
    fn allowed(&self, conn: usize) -> u64 {
        let (Some(plan), Some(side)) = (&self.conns[conn].plan, self.side(conn)) else { return 0 };
        let received = self.conns[conn].record.received;
        match plan.turn {
            None => side.to_send,
            Some((request, answer)) if self.is_client => {
                side.to_send.min(request * (received / answer.max(1) + 1))
            }
            Some((request, answer)) => side.to_send.min(answer * (received / request.max(1))),
        }
    }

    fn send(&mut self, conn: usize, now: u64) {
        let allowed = self.allowed(conn);
        let Some(side) = self.side(conn).cloned() else { return };
        let c = &mut self.conns[conn];
        if c.over || c.sending || c.shut {
            return;
        }
        let sent = c.record.sent;
        if side.abort_at.is_some_and(|at| sent + c.record.received >= at) {
            return self.abort(conn, now);
        }
        if sent >= side.to_send {
            // Who opened the stream closes the connection when all have ended: not before everything is there.
            if self.carriers.is_some() && !self.is_client && !c.record.end_of_stream {
                return;
            }
            c.shut = true;
            let handle = c.handle;
            self.pending.ask(Call::Shutdown, handle, Args::default(), AskData::None, Waiting::Nothing);
            return;
        }
        let len = (allowed - sent.min(allowed)).min(u64::from(side.send_chunk));
        if len == 0 {
            return;
        }
        c.sending = true;
        let handle = c.handle;
        let pattern = Pattern { number: c.record.number, seed: self.seed ^ u64::from(self.is_client) };
        let octets = pattern.octets(sent, len as usize);
        self.pending.ask(
            Call::Send,
            handle,
            args(&[(Arg::Len, len)]),
            AskData::Send(octets),
            Waiting::Send(conn),
        );
    }

    fn abort(&mut self, conn: usize, now: u64) {
        let c = &mut self.conns[conn];
        c.over = true;
        c.record.end = End::Aborted;
        c.record.finished = Some(now);
        self.give_up(conn, Call::Abort);
    }

    /// Nothing is left to do for it. Of several streams on a connection each that has not ended well is reset; the
    /// connection is closed with the last.
    fn give_up(&mut self, conn: usize, call: Call) {
        self.settled += 1;
        let c = &self.conns[conn];
        let handle = c.handle;
        let Some(carriers) = &mut self.carriers else {
            return self.pending.ask(call, handle, Args::default(), AskData::None, Waiting::Nothing);
        };
        let last = c.plan.as_ref().filter(|_| self.is_client).and_then(|plan| carriers.ended(plan));
        if c.record.end != End::Clean && handle != 0 {
            self.pending.ask(Call::Reset, handle, Args::default(), AskData::None, Waiting::Nothing);
        }
        if let Some(carrier) = last {
            self.pending.ask(Call::Close, carrier, Args::default(), AskData::None, Waiting::Nothing);
        }
    }

    /// It never came to be.
    fn lose(&mut self, conn: usize, status: u8, now: u64) {
        let c = &mut self.conns[conn];
        c.record.end = End::Error(status);
        c.record.finished = Some(now);
        c.over = true;
        match self.carriers {
            Some(_) => self.give_up(conn, Call::Reset),
            None => self.settled += 1,
        }
    }

    fn sent(&mut self, conn: usize, done: &Completion, now: u64) {
        self.conns[conn].sending = false;
        if self.conns[conn].over {
            return;
        }
        if done.status != OK {
            return self.failed(conn, done.status, now);
        }
        self.conns[conn].record.sent += done.value;
        self.send(conn, now);
        if self.conns[conn].record.end_of_stream {
            self.maybe_close(conn, now);
        }
    }

    fn pause_then_receive(&mut self, conn: usize, first: bool, now: u64) {
        let pause = self.side(conn).map_or(0, |s| if first { s.pause_first } else { s.pause });
        if pause == 0 {
            self.receive(conn);
        } else {
            self.pending.wake(now + pause, conn);
        }
    }

    fn receive(&mut self, conn: usize) {
        let chunk = self.side(conn).map_or(8, |s| s.recv_chunk);
        let c = &mut self.conns[conn];
        if c.over || c.receiving || c.record.end_of_stream {
            return;
        }
        // The number comes first, and alone: only then is it known what this end is to do.
        let chunk = if c.plan.is_none() { 8 - c.head.len() as u32 } else { chunk };
        c.receiving = true;
        let handle = c.handle;
        let len = u64::from(chunk);
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
        if self.conns[conn].over {
            return;
        }
        match done.status {
            OK => self.take(conn, done.data.as_deref().unwrap_or_default(), now),
            END_OF_STREAM => {
                self.conns[conn].record.end_of_stream = true;
                self.maybe_close(conn, now);
            }
            status => self.failed(conn, status, now),
        }
    }

    fn take(&mut self, conn: usize, octets: &[u8], now: u64) {
        let c = &mut self.conns[conn];
        if c.plan.is_none() {
            c.head.extend_from_slice(octets);
            c.record.received += octets.len() as u64;
            if let Ok(number) = <[u8; 8]>::try_from(&c.head[..]) {
                c.record.number = u64::from_le_bytes(number);
                c.plan = self.plans.get(&c.record.number).cloned();
                if c.plan.is_none() {
                    c.record.wrong_at = Some(0);
                    return self.abort(conn, now);
                }
            }
        } else {
            let pattern = Pattern { number: c.record.number, seed: self.seed ^ u64::from(!self.is_client) };
            let wrong = pattern.first_difference(c.record.received, octets);
            c.record.wrong_at = c.record.wrong_at.or(wrong);
            c.record.received += octets.len() as u64;
        }
        self.send(conn, now);
        self.pause_then_receive(conn, false, now);
    }

    fn failed(&mut self, conn: usize, status: u8, now: u64) {
        let c = &mut self.conns[conn];
        c.over = true;
        c.record.end = End::Error(status);
        c.record.finished = Some(now);
        self.give_up(conn, Call::Close);
    }

    fn maybe_close(&mut self, conn: usize, now: u64) {
        self.send(conn, now);
        let c = &mut self.conns[conn];
        // Everything was received. What is left to send in turns will never be allowed.
        if c.over || c.sending || !c.record.end_of_stream {
            return;
        }
        if !c.shut && c.plan.as_ref().is_some_and(|p| p.turn.is_none()) {
            return;
        }
        c.over = true;
        c.record.end = End::Clean;
        c.record.finished = Some(now);
        self.give_up(conn, Call::Close);
    }
}

fn new_conn(plan: Option<Plan>, handle: u64, now: u64) -> Conn {
    let number = plan.as_ref().map_or(0, |p| p.number);
    Conn {
        plan,
        handle,
        record: Record::new(number, now),
        sending: false,
        receiving: false,
        shut: false,
        over: false,
        head: Vec::new(),
    }
}
