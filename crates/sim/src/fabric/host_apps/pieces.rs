// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages that a flow is cut to, each of which is known wherever it comes.

use super::place::{Place, pattern};
use crate::fabric::flows::{Flows, Message};

/// A message begins with the number of its flow and its own in it.
pub const HEAD: usize = 8;

/// A message of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    pub flow: u32,
    pub number: u32,
}

/// Cuts flows to messages, and holds those that come against what was sent.
pub struct Pieces {
    place: Place,
}

impl Pieces {
    pub fn new(place: Place) -> Pieces {
        Pieces { place: Place { message: place.message.max(2 * HEAD as u32), ..place } }
    }

    /// Bytes of a message at most, when it arrives.
    pub fn longest(&self) -> u64 {
        u64::from(self.place.longest.max(self.place.message))
    }

    /// Bytes of a message of a flow, and how many messages it has.
    fn piece(&self, piece: Piece, flows: &Flows) -> (u64, u64) {
        let octets = flows.all[piece.flow as usize].octets;
        let count = octets.div_ceil(u64::from(self.place.message));
        (octets / count + u64::from(u64::from(piece.number) < octets % count), count)
    }

    /// Bytes of a message of a flow.
    pub fn len(&self, piece: Piece, flows: &Flows) -> u64 {
        self.piece(piece, flows).0
    }

    /// All messages of a flow.
    pub fn of(&self, flow: u32, flows: &Flows) -> impl Iterator<Item = Piece> + use<> {
        let (_, count) = self.piece(Piece { flow, number: 0 }, flows);
        (0..count as u32).map(move |number| Piece { flow, number })
    }

    /// The bytes of a message: its numbers, and what no other message has.
    pub fn octets(&self, piece: Piece, flows: &Flows) -> Vec<u8> {
        let (len, _) = self.piece(piece, flows);
        self.octets_of(piece, len, flows)
    }

    /// The bytes of a message that an offload has made so long: it goes on as it begins.
    pub fn octets_of(&self, piece: Piece, wanted: u64, flows: &Flows) -> Vec<u8> {
        let (len, _) = self.piece(piece, flows);
        let offset = HEAD as u64 + len * u64::from(piece.number);
        let mut octets = Vec::new();
        pattern(piece.flow, self.place.seed).fill(offset, wanted as usize, &mut octets);
        let head = u64::from(piece.flow) | u64::from(piece.number) << 32;
        octets[..HEAD].copy_from_slice(&head.to_le_bytes());
        octets
    }

    /// Which message this is, if it is one of a flow.
    pub fn named(&self, octets: &[u8], flows: &Flows) -> Option<Piece> {
        let head = u64::from_le_bytes(*octets.first_chunk::<HEAD>()?);
        let piece = Piece { flow: head as u32, number: (head >> 32) as u32 };
        flows.all.get(piece.flow as usize)?;
        let (_, count) = self.piece(piece, flows);
        (u64::from(piece.number) < count).then_some(piece)
    }

    /// The message, as the flows count it.
    pub fn message(&self, piece: Piece, flows: &Flows) -> Message {
        let (octets, count) = self.piece(piece, flows);
        Message { flow: piece.flow, number: piece.number, octets, count }
    }

    /// Holds a message against what was sent.
    pub fn take(&self, octets: &[u8], flows: &mut Flows, now: u64) {
        let Some(piece) = self.named(octets, flows) else { return };
        if flows.all[piece.flow as usize].destination != self.place.host {
            return;
        }
        let message = self.message(piece, flows);
        let offset = HEAD as u64 + message.octets * u64::from(piece.number);
        let rest = pattern(piece.flow, self.place.seed);
        let len = octets.len() as u64;
        let right = (len == message.octets || flows.lengths.contains(&(piece.flow, piece.number, len)))
            && rest.first_difference(offset + HEAD as u64, &octets[HEAD..]).is_none();
        flows.delivered(message, right, now);
    }

    /// An offload has intercepted a message: its way ends there.
    pub fn intercepted(&self, piece: Piece, flows: &mut Flows, now: u64) {
        flows.intercepted(self.message(piece, flows), now);
    }
}
