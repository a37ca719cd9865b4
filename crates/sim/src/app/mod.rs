// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications: one kind for each shape of interface, driven by a plan for each connection.

mod ask;
mod carrier;
mod message;
mod offload;
pub(crate) mod patience;
pub(crate) mod pending_requests;
mod place;
mod plan;
mod record;
mod rpc;
mod stream;
mod verbs;

pub use ask::{Ask, AskData};
pub use message::in_a_packet as message_in_a_packet;
pub use place::Place;
pub use plan::{Plan, Side};
pub use record::{End, Messages, Record, Refusal};

use carrick_ir::Program;
use serde::{Deserialize, Serialize};

use crate::core::Completion;
use crate::interface::{Call, Interface, Shape};

/// The application of one host.
#[derive(Serialize, Deserialize)]
pub enum App {
    Stream(stream::App),
    Message(message::App),
    Rpc(rpc::App),
    Verbs(verbs::App),
    Offload(offload::App),
    /// of a program in the network without an interface
    Nobody,
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

    /// That of a program in the network: an offload with space for messages of so many bytes, which passes each on as it is, if the
    /// program has the interface of one.
    pub fn in_network(program: &Program, longest: u64) -> App {
        match Interface::of_offload(program) {
            Some(interface) => App::Offload(offload::App::new(longest, interface.has(Call::Open))),
            None => App::Nobody,
        }
    }

    /// What each connection saw, in the order in which they were opened or accepted.
    pub fn records(&self) -> Vec<Record> {
        match self {
            App::Stream(app) => app.records().cloned().collect(),
            App::Message(app) => app.records().cloned().collect(),
            App::Rpc(app) => app.records().collect(),
            App::Verbs(app) => app.records().cloned().collect(),
            App::Offload(_) | App::Nobody => Vec::new(),
        }
    }

    /// Returns how many completions were of requests that were complete before.
    pub fn completed_again(&self) -> u64 {
        match self {
            App::Stream(app) => app.pending.again(),
            App::Message(app) => app.pending.again(),
            App::Rpc(app) => app.pending.again(),
            App::Verbs(app) => app.pending.again(),
            App::Offload(app) => app.pending.again(),
            App::Nobody => 0,
        }
    }

    /// Nothing is left to do.
    pub fn done(&self) -> bool {
        match self {
            App::Stream(app) => app.done(),
            App::Message(app) => app.done(),
            App::Rpc(app) => app.done(),
            App::Verbs(app) => app.done(),
            App::Offload(_) | App::Nobody => true,
        }
    }

    /// Moves the requests since the last time to the end of `to`.
    pub fn take_asks(&mut self, to: &mut Vec<Ask>) {
        match self {
            App::Stream(app) => app.pending.take(to),
            App::Message(app) => app.pending.take(to),
            App::Rpc(app) => app.pending.take(to),
            App::Verbs(app) => app.pending.take(to),
            App::Offload(app) => app.pending.take(to),
            App::Nobody => {}
        }
    }

    /// Called once, at the beginning.
    pub fn start(&mut self, now: u64) {
        match self {
            App::Stream(app) => app.start(now),
            App::Message(app) => app.start(now),
            App::Rpc(app) => app.start(now),
            App::Verbs(app) => app.start(now),
            App::Offload(app) => app.start(),
            App::Nobody => {}
        }
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, conn: usize, now: u64) {
        match self {
            App::Stream(app) => app.wake(conn, now),
            App::Message(app) => app.wake(conn, now),
            App::Rpc(app) => app.wake(conn, now),
            App::Verbs(app) => app.wake(conn, now),
            App::Offload(app) => app.take(),
            App::Nobody => {}
        }
    }

    /// A request completed.
    pub fn completed(&mut self, done: &Completion, now: u64) {
        match self {
            App::Stream(app) => app.completed(done, now),
            App::Message(app) => app.completed(done, now),
            App::Rpc(app) => app.completed(done, now),
            App::Verbs(app) => app.completed(done, now),
            App::Offload(app) => app.completed(done, now),
            App::Nobody => {}
        }
    }
}
