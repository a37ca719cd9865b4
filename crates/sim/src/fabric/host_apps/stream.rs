// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows over the `stream` interface: each on a connection of its own, or one after another on one to each host. Over
//! `multistream` each is a stream of its own, on one connection to each host.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::place::{Place, address, pattern};
use crate::app::AskData;
use crate::app::pending_requests::PendingRequests;
use crate::core::Completion;
use crate::fabric::flows::{Flows, OCTETS_MIN};
use crate::interface::{Arg, Args, Call, args};
use crate::status::{END_OF_STREAM, OK};

/// Where everybody listens, and the connections that may wait there.
const PORT: u64 = 5001;
const BACKLOG: u64 = 1024;
/// The first port of a connection, and how many there are.
const LOCAL_PORT: u64 = 10_000;
const LOCAL_PORTS: u64 = 50_000;
/// Bytes in one send, and in one recv.
const CHUNK: u64 = 65_536;

#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    Listen,
    Accept(u64),
    Connect(usize),
    /// the connection to this host, which carries streams
    Carrier(u32),
    /// a stream on the connection with this handle
    AcceptStream(u64),
    Send(usize),
    Recv(usize),
    Nothing,
}

/// What carries the streams to a host.
#[derive(Debug, Default)]
struct Carrier {
    handle: Option<u64>,
    /// those that wait for it
    waiting: Vec<usize>,
}

/// A connection, or a stream of one, at either end.
#[derive(Debug, Default)]
struct Conn {
    handle: u64,
    connected: bool,
    over: bool,
    /// what it is to send, and how much of the first is sent
    to_send: VecDeque<u32>,
    sent: u64,
    sending: bool,
    shut: bool,
    /// the flow that arrives, the bytes of its number until it is known, and what is there of it
    taking: Option<u32>,
    head: Vec<u8>,
    taken: u64,
}

/// The application of a host.
pub struct HostApp {
    place: Place,
    pub(super) pending: PendingRequests<Waiting>,
    conns: Vec<Conn>,
    /// places among them that are free
    free: Vec<usize>,
    opened: u64,
    kept: FxHashMap<u32, usize>,
    /// by the host that they lead to, where a connection has several streams
    carriers: Option<FxHashMap<u32, Carrier>>,
}

impl HostApp {
    /// `several`: a connection has several streams.
    pub fn new(place: Place, several: bool) -> HostApp {
        HostApp {
            carriers: several.then(FxHashMap::default),
            place,
            pending: PendingRequests::default(),
            conns: Vec::new(),
            free: Vec::new(),
            opened: 0,
            kept: FxHashMap::default(),
        }
    }

    pub fn start(&mut self) {
        let local = u64::from(address(self.place.host));
        let args = args(&[(Arg::LocalIp, local), (Arg::LocalPort, PORT), (Arg::Backlog, BACKLOG)]);
        self.pending.ask(Call::Listen, 0, args, AskData::None, Waiting::Listen);
    }

    fn conn(&mut self, conn: Conn) -> usize {
        if let Some(place) = self.free.pop() {
            self.conns[place] = conn;
            return place;
        }
        self.conns.push(conn);
        self.conns.len() - 1
    }

    pub fn begin(&mut self, flow: u32, flows: &mut Flows, now: u64) {
        let to = flows.all[flow as usize].destination;
        if self.carriers.is_some() {
            return self.begin_stream(flow, to);
        }
        if let Some(&conn) = self.kept.get(&to) {
            self.conns[conn].to_send.push_back(flow);
            return self.send(conn, flows, now);
        }
        let conn = self.conn(Conn { to_send: VecDeque::from([flow]), ..Conn::default() });
        if self.place.keep {
            self.kept.insert(to, conn);
        }
        self.connect(to, Waiting::Connect(conn));
    }

    /// A stream on the connection to a host, which is made for the first one.
    fn begin_stream(&mut self, flow: u32, to: u32) {
        let conn = self.conn(Conn { to_send: VecDeque::from([flow]), ..Conn::default() });
        let carriers = self.carriers.get_or_insert_default();
        let is_first = !carriers.contains_key(&to);
        let carrier = carriers.entry(to).or_default();
        match carrier.handle {
            Some(handle) => self.open_stream(handle, conn),
            None => carrier.waiting.push(conn),
        }
        if is_first {
            self.connect(to, Waiting::Carrier(to));
        }
    }

    fn open_stream(&mut self, carrier: u64, conn: usize) {
        self.pending.ask(Call::OpenStream, carrier, Args::default(), AskData::None, Waiting::Connect(conn));
    }

    /// The connection to a host is there, or is not: then the next flow to it tries again.
    fn carried(&mut self, to: u32, done: &Completion, flows: &mut Flows, now: u64) {
        let carriers = self.carriers.get_or_insert_default();
        let waiting = carriers.get_mut(&to).map(|c| std::mem::take(&mut c.waiting)).unwrap_or_default();
        if done.status != OK {
            carriers.remove(&to);
            return waiting.into_iter().for_each(|conn| self.fail(conn, done.status, flows, now));
        }
        carriers.insert(to, Carrier { handle: Some(done.value), waiting: Vec::new() });
        waiting.into_iter().for_each(|conn| self.open_stream(done.value, conn));
    }

    fn connect(&mut self, to: u32, waiting: Waiting) {
        let args = args(&[
            (Arg::LocalIp, u64::from(address(self.place.host))),
            (Arg::LocalPort, LOCAL_PORT + self.opened % LOCAL_PORTS),
            (Arg::RemoteIp, u64::from(address(to))),
            (Arg::RemotePort, PORT),
        ]);
        self.opened += 1;
        self.pending.ask(Call::Connect, 0, args, AskData::None, waiting);
    }

    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Listen) if done.status == OK => self.accept(done.value),
            Some(Waiting::Accept(listener)) if done.status == OK => {
                self.accept(listener);
                match self.carriers {
                    Some(_) => self.accept_stream(done.value),
                    None => self.accepted(done.value, flows),
                }
            }
            Some(Waiting::AcceptStream(carrier)) if done.status == OK => {
                self.accept_stream(carrier);
                self.accepted(done.value, flows);
            }
            Some(Waiting::Carrier(to)) => self.carried(to, done, flows, now),
            Some(Waiting::Connect(conn)) => {
                if done.status != OK {
                    return self.fail(conn, done.status, flows, now);
                }
                self.conns[conn].handle = done.value;
                self.conns[conn].connected = true;
                self.receive(conn, flows);
                self.send(conn, flows, now);
            }
            Some(Waiting::Send(conn)) => self.sent(conn, done, flows, now),
            Some(Waiting::Recv(conn)) => self.received(conn, done, flows, now),
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

    fn accepted(&mut self, handle: u64, flows: &Flows) {
        let conn = self.conn(Conn { handle, connected: true, ..Conn::default() });
        self.receive(conn, flows);
    }

    fn send(&mut self, conn: usize, flows: &mut Flows, now: u64) {
        let c = &mut self.conns[conn];
        if c.over && !c.to_send.is_empty() {
            return self.fail(conn, OK + 1, flows, now);
        }
        if !c.connected || c.sending || c.shut {
            return;
        }
        let handle = c.handle;
        let Some(&flow) = c.to_send.front() else {
            if self.carriers.is_some() || !self.place.keep {
                c.shut = true;
                self.pending.ask(Call::Shutdown, handle, Args::default(), AskData::None, Waiting::Nothing);
            }
            return;
        };
        let len = (flows.all[flow as usize].octets - c.sent).min(CHUNK);
        c.sending = true;
        let octets = pattern(flow, self.place.seed).octets(c.sent, len as usize);
        let args = args(&[(Arg::Len, len)]);
        self.pending.ask(Call::Send, handle, args, AskData::Send(octets), Waiting::Send(conn));
    }

    fn sent(&mut self, conn: usize, done: &Completion, flows: &mut Flows, now: u64) {
        let c = &mut self.conns[conn];
        c.sending = false;
        if c.over {
            return self.release(conn);
        }
        if done.status != OK {
            return self.fail(conn, done.status, flows, now);
        }
        c.sent += done.value;
        if c.to_send.front().is_some_and(|flow| c.sent >= flows.all[*flow as usize].octets) {
            c.to_send.pop_front();
            c.sent = 0;
        }
        self.send(conn, flows, now);
    }

    fn receive(&mut self, conn: usize, flows: &Flows) {
        let c = &self.conns[conn];
        let len = match c.taking {
            Some(flow) => (flows.all[flow as usize].octets - c.taken).min(CHUNK),
            // The number comes first, and alone: only then is it known how much there is.
            None => OCTETS_MIN - c.head.len() as u64,
        };
        let args = args(&[(Arg::Len, len)]);
        self.pending.ask(Call::Recv, c.handle, args, AskData::Recv(len), Waiting::Recv(conn));
    }

    fn received(&mut self, conn: usize, done: &Completion, flows: &mut Flows, now: u64) {
        if self.conns[conn].over {
            return self.release(conn);
        }
        if done.status != OK {
            // The end of the stream, or an error: what has not arrived by now never will.
            return self.fail(conn, done.status, flows, now);
        }
        self.take(conn, done.data.as_deref().unwrap_or_default(), flows, now);
        self.receive(conn, flows);
    }

    fn take(&mut self, conn: usize, octets: &[u8], flows: &mut Flows, now: u64) {
        let seed = self.place.seed;
        let c = &mut self.conns[conn];
        let Some(flow) = c.taking else {
            c.head.extend_from_slice(octets);
            if let Ok(number) = <[u8; OCTETS_MIN as usize]>::try_from(&c.head[..]) {
                let flow = u64::from_le_bytes(number);
                c.head.clear();
                if flow < flows.all.len() as u64 && flows.all[flow as usize].destination == self.place.host {
                    c.taken = OCTETS_MIN;
                    flows.received(flow as u32, OCTETS_MIN, true, now);
                    c.taking = Some(flow as u32).filter(|f| flows.all[*f as usize].octets > OCTETS_MIN);
                }
            }
            return;
        };
        let right = pattern(flow, seed).first_difference(c.taken, octets).is_none();
        c.taken += octets.len() as u64;
        flows.received(flow, octets.len() as u64, right, now);
        if c.taken >= flows.all[flow as usize].octets {
            c.taking = None;
        }
    }

    /// The connection is over, well or not.
    fn fail(&mut self, conn: usize, status: u8, flows: &mut Flows, now: u64) {
        let c = &mut self.conns[conn];
        for flow in c.to_send.drain(..).chain(c.taking.take()) {
            flows.failed(flow, status, now);
        }
        if !c.over {
            c.over = true;
            let handle = c.handle;
            let end = match self.carriers {
                None => Call::Close,
                Some(_) if status == END_OF_STREAM => Call::Shutdown,
                Some(_) => Call::Reset,
            };
            // A stream that has ended in both directions is not there any more.
            let gone = self.carriers.is_some() && c.shut && status == END_OF_STREAM;
            if c.connected && !gone {
                self.pending.ask(end, handle, Args::default(), AskData::None, Waiting::Nothing);
            }
        }
        self.release(conn);
    }

    /// Its place is free once nothing of it is under way.
    fn release(&mut self, conn: usize) {
        let keep = self.place.keep && self.carriers.is_none();
        if self.conns[conn].over && !self.conns[conn].sending && !keep {
            self.free.push(conn);
        }
    }
}
