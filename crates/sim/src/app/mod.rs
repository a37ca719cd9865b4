//! Applications: one kind for each shape of interface, driven by a plan for each connection.

mod carrier;
pub(crate) mod desk;
mod message;
mod rpc;
mod stream;
mod verbs;

use std::borrow::Cow;

pub use message::in_a_packet as message_in_a_packet;

use crate::core::{Completion, Data};
use crate::interface::{Args, Call, Shape};

/// What one end of a connection does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// octets to send, the number among them; 0 for the answering side means none
    pub to_send: u64,
    /// octets in one send, and in one recv
    pub send_chunk: u32,
    pub recv_chunk: u32,
    /// before the first recv, and between two, in nanoseconds
    pub pause_first: u64,
    pub pause: u64,
    /// reset the connection when so many octets were sent and received
    pub abort_at: Option<u64>,
}

/// What a connection is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub number: u64,
    /// where connections have several streams, those with the same one share a connection, if the port is the same too
    pub connection: u64,
    /// when the client opens it
    pub start: u64,
    pub port: u16,
    pub client: Side,
    pub server: Side,
    /// octets of a request and of its answer: each side waits for the other
    pub turn: Option<(u64, u64)>,
    /// open it and leave it open
    pub hold: bool,
    /// RPCs that are begun before the first of them is answered, at most; 0 counts as 1
    pub outstanding: u32,
}

/// How one end of a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// not at all
    Open,
    /// every octet was sent, the peer's end of stream arrived, and it was closed
    Clean,
    /// it was told an error (a `status_t`)
    Error(u8),
    /// it reset the connection itself
    Aborted,
}

/// What one end of a connection saw.
#[derive(Debug, Clone)]
pub struct Record {
    pub number: u64,
    pub sent: u64,
    pub received: u64,
    pub end: End,
    /// where the octets were wrong
    pub wrong_at: Option<u64>,
    pub started: u64,
    pub established: Option<u64>,
    pub finished: Option<u64>,
    pub end_of_stream: bool,
    /// where applications exchange messages
    pub messages: Messages,
}

/// How messages fared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Messages {
    /// whose `send` completed with `OK`
    pub sent: u64,
    /// each counted once
    pub received: u64,
    /// that came behind one that was sent later
    pub late: u64,
    /// that had come before
    pub again: u64,
    /// that nobody sent so
    pub damaged: u64,
    /// whose `send` completed with an error
    pub failed: u64,
}

impl Record {
    fn new(number: u64, now: u64) -> Record {
        Record {
            number,
            sent: 0,
            received: 0,
            end: End::Open,
            wrong_at: None,
            started: now,
            established: None,
            finished: None,
            end_of_stream: false,
            messages: Messages::default(),
        }
    }
}

/// What an application asks of its host.
pub enum Ask {
    /// a request under this token
    Call { call: Call, handle: u64, args: Args, token: u64, data: AskData },
    /// `wake` at this time
    Wake { at: u64, conn: usize },
}

/// What a request carries.
pub enum AskData {
    None,
    Send(Cow<'static, [u8]>),
    Recv(u64),
    /// memory that the program reads from and writes to
    Shared(Vec<u8>),
}

impl AskData {
    /// As the core takes it.
    pub fn as_data(&self) -> Data<'_> {
        match self {
            AskData::None => Data::None,
            AskData::Send(Cow::Borrowed(octets)) => Data::Lent(octets),
            AskData::Send(Cow::Owned(octets)) => Data::Send(octets),
            AskData::Recv(len) => Data::Recv(*len),
            AskData::Shared(octets) => Data::Shared(octets),
        }
    }
}

/// The application of one host.
pub enum App {
    Stream(stream::App),
    Message(message::App),
    Rpc(rpc::App),
    Verbs(verbs::App),
}

/// What an application knows of its surroundings.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// it opens connections, and answers on none
    pub is_client: bool,
    pub address: u32,
    pub peer: u32,
    pub seed: u64,
    /// octets of a message at most
    pub message: u32,
}

impl App {
    /// `plans` are those of all connections of the run; the client opens them towards its peer.
    pub fn new(shape: Shape, place: Place, plans: &[Plan]) -> App {
        match shape {
            Shape::Stream => App::Stream(stream::App::new(place, plans, false)),
            Shape::Multistream => App::Stream(stream::App::new(place, plans, true)),
            Shape::Message => App::Message(message::App::new(place, plans)),
            Shape::Rpc => App::Rpc(rpc::App::new(place, plans)),
            Shape::Verbs => App::Verbs(verbs::App::new(place, plans)),
        }
    }

    /// What each connection saw, in the order in which they were opened or accepted.
    pub fn records(&self) -> Vec<Record> {
        match self {
            App::Stream(app) => app.records().cloned().collect(),
            App::Message(app) => app.records().cloned().collect(),
            App::Rpc(app) => app.records().collect(),
            App::Verbs(app) => app.records().cloned().collect(),
        }
    }

    /// Nothing is left to do.
    pub fn done(&self) -> bool {
        match self {
            App::Stream(app) => app.done(),
            App::Message(app) => app.done(),
            App::Rpc(app) => app.done(),
            App::Verbs(app) => app.done(),
        }
    }

    /// Moves the requests since the last time to the end of `to`.
    pub fn take_asks(&mut self, to: &mut Vec<Ask>) {
        match self {
            App::Stream(app) => app.desk.take(to),
            App::Message(app) => app.desk.take(to),
            App::Rpc(app) => app.desk.take(to),
            App::Verbs(app) => app.desk.take(to),
        }
    }

    /// Called once, at the beginning.
    pub fn start(&mut self, now: u64) {
        match self {
            App::Stream(app) => app.start(now),
            App::Message(app) => app.start(now),
            App::Rpc(app) => app.start(now),
            App::Verbs(app) => app.start(now),
        }
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, conn: usize, now: u64) {
        match self {
            App::Stream(app) => app.wake(conn, now),
            App::Message(app) => app.wake(conn, now),
            App::Rpc(app) => app.wake(conn, now),
            App::Verbs(app) => app.wake(conn, now),
        }
    }

    /// A request completed.
    pub fn completed(&mut self, done: &Completion, now: u64) {
        match self {
            App::Stream(app) => app.completed(done, now),
            App::Message(app) => app.completed(done, now),
            App::Rpc(app) => app.completed(done, now),
            App::Verbs(app) => app.completed(done, now),
        }
    }
}
