// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sends and takes the flows at the edge of the network: an application for each shape of interface.

mod message;
mod outbox;
mod pieces;
mod place;
mod rpc;
mod stream;
mod verbs;

pub(super) use pieces::{HEAD, Piece, Pieces};
pub use place::{Place, address, host_at};

use super::flows::Flows;
use crate::app::Ask;
use crate::core::Completion;
use crate::interface::Shape;

/// The application of a host.
pub enum HostApp {
    Stream(stream::HostApp),
    Message(message::HostApp),
    Rpc(rpc::HostApp),
    Verbs(verbs::HostApp),
}

impl HostApp {
    /// That of a program of this shape.
    pub fn new(shape: Shape, place: Place) -> HostApp {
        match shape {
            Shape::Stream => HostApp::Stream(stream::HostApp::new(place, false)),
            Shape::Message => HostApp::Message(message::HostApp::new(place)),
            Shape::Rpc => HostApp::Rpc(rpc::HostApp::new(place)),
            Shape::Multistream => HostApp::Stream(stream::HostApp::new(place, true)),
            Shape::Verbs => HostApp::Verbs(verbs::HostApp::new(place)),
        }
    }

    /// Before anything happens: whoever is sent to is there.
    pub fn start(&mut self, flows: &Flows) {
        match self {
            HostApp::Stream(app) => app.start(),
            HostApp::Message(app) => app.start(flows),
            HostApp::Rpc(app) => app.start(),
            HostApp::Verbs(app) => app.start(flows),
        }
    }

    /// A flow of this host is to begin.
    pub fn begin(&mut self, flow: u32, flows: &mut Flows, now: u64) {
        flows.outcomes[flow as usize].started = Some(now);
        match self {
            HostApp::Stream(app) => app.begin(flow, flows, now),
            HostApp::Message(app) => app.begin(flow, flows),
            HostApp::Rpc(app) => app.begin(flow, flows),
            HostApp::Verbs(app) => app.begin(flow, flows, now),
        }
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, what: usize, flows: &Flows) {
        match self {
            HostApp::Stream(_) => {}
            HostApp::Message(app) => app.wake(what, flows),
            HostApp::Rpc(app) => app.wake(flows),
            HostApp::Verbs(app) => app.wake(what, flows),
        }
    }

    /// A request completed.
    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self {
            HostApp::Stream(app) => app.completed(done, flows, now),
            HostApp::Message(app) => app.completed(done, flows, now),
            HostApp::Rpc(app) => app.completed(done, flows, now),
            HostApp::Verbs(app) => app.completed(done, flows, now),
        }
    }

    /// Moves the requests since the last time to the end of `to`.
    pub fn take_asks(&mut self, to: &mut Vec<Ask>) {
        match self {
            HostApp::Stream(app) => app.pending.take(to),
            HostApp::Message(app) => app.pending.take(to),
            HostApp::Rpc(app) => app.pending.take(to),
            HostApp::Verbs(app) => app.pending.take(to),
        }
    }
}
