//! Flows over the `rpc` interface: each is a request, or several where one cannot hold it; a host answers what it has taken
//! with a few octets.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::pieces::{Piece, Pieces};
use super::{Place, address};
use crate::app::AskData;
use crate::app::desk::Desk;
use crate::core::Completion;
use crate::fabric::flows::Flows;
use crate::interface::{Arg, Args, Call, args};
use crate::status::{BUSY, NO_ROOM, OK};

/// Before what was refused for want of room is tried again, in nanoseconds.
const AGAIN_AFTER: u64 = 10_000;
const PORT: u64 = 10_000;
/// A response: that the request was taken.
const TAKEN: [u8; 8] = *b"received";

#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    Open,
    Request(Piece),
    Response(Piece),
    Accept,
    /// the octets of the request with this handle
    Taken(u64),
    Nothing,
}

/// The application of a host: a client of the hosts to which its flows go, and a server.
pub struct Edge {
    place: Place,
    pub(super) desk: Desk<Waiting>,
    pieces: Pieces,
    endpoint: u64,
    to_send: VecDeque<Piece>,
    /// a request is asked for: whether there is room for the next one shows when it is answered
    asked: bool,
    waits: bool,
}

impl Edge {
    pub fn new(place: Place) -> Edge {
        Edge {
            place,
            desk: Desk::default(),
            pieces: Pieces::new(place),
            endpoint: 0,
            to_send: VecDeque::new(),
            asked: false,
            waits: false,
        }
    }

    pub fn start(&mut self) {
        let args = args(&[(Arg::LocalIp, u64::from(address(self.place.host))), (Arg::LocalPort, PORT)]);
        self.desk.ask(Call::Open, 0, args, AskData::None, Waiting::Open);
    }

    pub fn begin(&mut self, flow: u32, flows: &Flows) {
        self.to_send.extend(self.pieces.of(flow, flows));
        self.request(flows);
    }

    pub fn wake(&mut self, flows: &Flows) {
        self.waits = false;
        self.request(flows);
    }

    /// As many as there is room for: the transport knows best which of all requests goes first.
    fn request(&mut self, flows: &Flows) {
        if self.endpoint == 0 || self.waits || self.asked {
            return;
        }
        let Some(piece) = self.to_send.pop_front() else { return };
        let octets = self.pieces.octets(piece, flows);
        let args = args(&[
            (Arg::RemoteIp, u64::from(address(flows.all[piece.flow as usize].destination))),
            (Arg::RemotePort, PORT),
            (Arg::Len, octets.len() as u64),
        ]);
        let data = AskData::Send(Cow::Owned(octets));
        self.asked = true;
        self.desk.ask(Call::Request, self.endpoint, args, data, Waiting::Request(piece));
    }

    fn receive(&mut self, call: Call, handle: u64, len: u64, waiting: Waiting) {
        self.desk.ask(call, handle, args(&[(Arg::Len, len)]), AskData::Recv(len), waiting);
    }

    fn accept(&mut self) {
        self.desk.ask(Call::Accept, self.endpoint, Args::default(), AskData::None, Waiting::Accept);
    }

    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self.desk.answered(done) {
            Some(Waiting::Open) if done.status == OK => {
                self.endpoint = done.value;
                self.accept();
                self.request(flows);
            }
            Some(Waiting::Request(piece)) => self.requested(piece, done, flows, now),
            Some(Waiting::Response(piece)) if done.status != OK => flows.failed(piece.flow, done.status, now),
            Some(Waiting::Accept) if done.status == OK => {
                let longest = self.pieces.longest();
                self.receive(Call::RecvRequest, done.value, longest, Waiting::Taken(done.value));
                self.accept();
            }
            Some(Waiting::Taken(rpc)) if done.status == OK => {
                self.pieces.take(done.data.as_deref().unwrap_or_default(), flows, now);
                let args = args(&[(Arg::Len, TAKEN.len() as u64)]);
                let data = AskData::Send(Cow::Borrowed(&TAKEN));
                self.desk.ask(Call::Respond, rpc, args, data, Waiting::Nothing);
            }
            _ => {}
        }
    }

    fn requested(&mut self, piece: Piece, done: &Completion, flows: &mut Flows, now: u64) {
        self.asked = false;
        match done.status {
            OK => {
                let len = TAKEN.len() as u64;
                self.receive(Call::RecvResponse, done.value, len, Waiting::Response(piece));
            }
            BUSY | NO_ROOM => {
                self.to_send.push_front(piece);
                if !self.waits {
                    self.waits = true;
                    self.desk.wake(now + AGAIN_AFTER, 0);
                }
            }
            status => flows.failed(piece.flow, status, now),
        }
        self.request(flows);
    }
}
