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
pub enum Edge {
    Stream(stream::Edge),
    Message(message::Edge),
    Rpc(rpc::Edge),
    Verbs(verbs::Edge),
}

impl Edge {
    /// # Errors
    /// A sentence, if programs of this shape cannot carry flows.
    pub fn new(shape: Shape, place: Place) -> Result<Edge, String> {
        if place.outstanding.is_some() && !matches!(shape, Shape::Message) {
            return Err("with --topology, only programs that carry messages accept --outstanding".into());
        }
        match shape {
            Shape::Stream => Ok(Edge::Stream(stream::Edge::new(place, false))),
            Shape::Message => Ok(Edge::Message(message::Edge::new(place))),
            Shape::Rpc => Ok(Edge::Rpc(rpc::Edge::new(place))),
            Shape::Multistream => Ok(Edge::Stream(stream::Edge::new(place, true))),
            Shape::Verbs => Ok(Edge::Verbs(verbs::Edge::new(place))),
        }
    }

    /// Before anything happens: whoever is sent to is there.
    pub fn start(&mut self, flows: &Flows) {
        match self {
            Edge::Stream(edge) => edge.start(),
            Edge::Message(edge) => edge.start(flows),
            Edge::Rpc(edge) => edge.start(),
            Edge::Verbs(edge) => edge.start(flows),
        }
    }

    /// A flow of this host is to begin.
    pub fn begin(&mut self, flow: u32, flows: &mut Flows, now: u64) {
        flows.outcomes[flow as usize].started = Some(now);
        match self {
            Edge::Stream(edge) => edge.begin(flow, flows, now),
            Edge::Message(edge) => edge.begin(flow, flows),
            Edge::Rpc(edge) => edge.begin(flow, flows),
            Edge::Verbs(edge) => edge.begin(flow, flows, now),
        }
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, what: usize, flows: &Flows) {
        match self {
            Edge::Stream(_) => {}
            Edge::Message(edge) => edge.wake(what, flows),
            Edge::Rpc(edge) => edge.wake(flows),
            Edge::Verbs(edge) => edge.wake(what, flows),
        }
    }

    /// A request completed.
    pub fn completed(&mut self, done: &Completion, flows: &mut Flows, now: u64) {
        match self {
            Edge::Stream(edge) => edge.completed(done, flows, now),
            Edge::Message(edge) => edge.completed(done, flows, now),
            Edge::Rpc(edge) => edge.completed(done, flows, now),
            Edge::Verbs(edge) => edge.completed(done, flows, now),
        }
    }

    /// Moves the requests since the last time to the end of `to`.
    pub fn take_asks(&mut self, to: &mut Vec<Ask>) {
        match self {
            Edge::Stream(edge) => edge.desk.take(to),
            Edge::Message(edge) => edge.desk.take(to),
            Edge::Rpc(edge) => edge.desk.take(to),
            Edge::Verbs(edge) => edge.desk.take(to),
        }
    }
}
