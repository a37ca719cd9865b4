// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows over the `rpc` interface: each is a request, or several where one cannot hold it; a host answers what it has taken
//! with a few bytes.

use std::borrow::Cow;

use super::outbox::Outbox;
use super::pieces::{Piece, Pieces};
use super::place::{Place, address};
use crate::app::pending_requests::PendingRequests;
use crate::app::{AskData, Refusal};
use crate::core::Completion;
use crate::fabric::flows::Flows;
use crate::interface::{Arg, Args, Call, args};
use crate::status::{BUSY, NO_ROOM, OK};

/// Requests that are asked for at once: whether there is room for the next one shows when one is answered.
const WINDOW: usize = 1;
const PORT: u64 = 10_000;
/// A response: that the request was taken.
const TAKEN: [u8; 8] = *b"received";

#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    Open,
    Request(Piece),
    Response(Piece),
    /// with this handle
    Accept(u64),
    /// the bytes of the request with this handle
    Taken(u64),
    Nothing,
}

/// The application of a host: a client of the hosts to which its flows go, and a server.
pub struct HostApp {
    place: Place,
    pub(super) pending: PendingRequests<Waiting>,
    pieces: Pieces,
    outbox: Outbox,
}

impl HostApp {
    pub fn new(place: Place) -> HostApp {
        HostApp {
            place,
            pending: PendingRequests::default(),
            pieces: Pieces::new(place),
            outbox: Outbox::default(),
        }
    }

    pub fn start(&mut self) {
        let args = args(&[(Arg::LocalIp, u64::from(address(self.place.host))), (Arg::LocalPort, PORT)]);
        self.pending.ask(Call::Open, 0, args, AskData::None, Waiting::Open);
    }

    pub fn begin(&mut self, flow: u32, flows: &Flows) {
        self.outbox.extend(self.pieces.of(flow, flows));
        self.request(flows);
    }

    pub fn wake(&mut self, flows: &Flows) {
        self.outbox.wake();
        self.request(flows);
    }

    /// As many as there is room for: the transport knows best which of all requests goes first.
    fn request(&mut self, flows: &Flows) {
        let Some((endpoint, piece)) = self.outbox.next(WINDOW) else { return };
        let octets = self.pieces.octets(piece, flows);
        let args = args(&[
            (Arg::RemoteIp, u64::from(address(flows.all[piece.flow as usize].destination))),
            (Arg::RemotePort, PORT),
            (Arg::Len, octets.len() as u64),
        ]);
        let data = AskData::Send(Cow::Owned(octets));
        self.pending.ask(Call::Request, endpoint, args, data, Waiting::Request(piece));
    }

    fn receive(&mut self, call: Call, handle: u64, len: u64, waiting: Waiting) {
        self.pending.ask(call, handle, args(&[(Arg::Len, len)]), AskData::Recv(len), waiting);
    }

    fn accept(&mut self, endpoint: u64) {
        self.pending.ask(Call::Accept, endpoint, Args::default(), AskData::None, Waiting::Accept(endpoint));
    }

    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self.pending.answered(done) {
            Some(Waiting::Open) if done.status == OK => {
                self.outbox.handle = Some(done.value);
                self.accept(done.value);
                self.request(flows);
            }
            Some(Waiting::Request(piece)) => self.requested(piece, done, flows, now),
            Some(Waiting::Response(piece)) if done.status != OK => flows.failed(piece.flow, done.status, now),
            Some(Waiting::Accept(endpoint)) if done.status == OK => {
                let longest = self.pieces.longest();
                self.receive(Call::RecvRequest, done.value, longest, Waiting::Taken(done.value));
                self.accept(endpoint);
            }
            Some(Waiting::Taken(rpc)) if done.status == OK => {
                self.pieces.take(done.data.as_deref().unwrap_or_default(), flows, now);
                let args = args(&[(Arg::Len, TAKEN.len() as u64)]);
                let data = AskData::Send(Cow::Borrowed(&TAKEN));
                self.pending.ask(Call::Respond, rpc, args, data, Waiting::Nothing);
            }
            _ => {}
        }
    }

    fn requested(&mut self, piece: Piece, done: &Completion, flows: &mut Flows, now: u64) {
        self.outbox.answered();
        match done.status {
            OK => {
                self.outbox.taken();
                let len = TAKEN.len() as u64;
                self.receive(Call::RecvResponse, done.value, len, Waiting::Response(piece));
            }
            BUSY | NO_ROOM if self.outbox.refused(piece, now, 0, &mut self.pending) => {}
            status => {
                let len = self.pieces.len(piece, flows);
                flows.refused(piece.flow, Refusal { call: "request", len, status }, now);
            }
        }
        self.request(flows);
    }
}
