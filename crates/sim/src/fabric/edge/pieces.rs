// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages that a flow is cut to, each of which is known wherever it comes.

use rustc_hash::FxHashMap;

use super::place::{Place, pattern};
use crate::fabric::flows::Flows;

/// A message begins with the number of its flow and its own in it.
pub(super) const HEAD: usize = 8;

/// A message of a flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub flow: u32,
    pub number: u32,
}

/// Cuts flows to messages, and holds those that come against what was sent.
pub(super) struct Pieces {
    place: Place,
    /// of flows of several messages, a bit for each that is there
    there: FxHashMap<u32, Vec<u64>>,
}

impl Pieces {
    pub fn new(place: Place) -> Pieces {
        let place = Place { message: place.message.max(2 * HEAD as u32), ..place };
        Pieces { place, there: FxHashMap::default() }
    }

    /// Octets of a message at most.
    pub fn longest(&self) -> u64 {
        u64::from(self.place.message)
    }

    /// Octets of a message of a flow, and how many messages it has.
    fn piece(&self, piece: Piece, flows: &Flows) -> (u64, u64) {
        let octets = flows.all[piece.flow as usize].octets;
        let count = octets.div_ceil(u64::from(self.place.message));
        (octets / count + u64::from(u64::from(piece.number) < octets % count), count)
    }

    /// All messages of a flow.
    pub fn of(&self, flow: u32, flows: &Flows) -> impl Iterator<Item = Piece> + use<> {
        let (_, count) = self.piece(Piece { flow, number: 0 }, flows);
        (0..count as u32).map(move |number| Piece { flow, number })
    }

    /// The octets of a message: its numbers, and what no other message has.
    pub fn octets(&self, piece: Piece, flows: &Flows) -> Vec<u8> {
        let (len, _) = self.piece(piece, flows);
        let offset = HEAD as u64 + len * u64::from(piece.number);
        let mut octets = Vec::new();
        pattern(piece.flow, self.place.seed).fill(offset, len as usize, &mut octets);
        let head = u64::from(piece.flow) | u64::from(piece.number) << 32;
        octets[..HEAD].copy_from_slice(&head.to_le_bytes());
        octets
    }

    /// Holds a message against what was sent.
    pub fn take(&mut self, octets: &[u8], flows: &mut Flows, now: u64) {
        let Some(head) = octets.first_chunk::<HEAD>() else { return };
        let head = u64::from_le_bytes(*head);
        let piece = Piece { flow: head as u32, number: (head >> 32) as u32 };
        if flows.all.get(piece.flow as usize).is_none_or(|flow| flow.destination != self.place.host) {
            return;
        }
        let (len, count) = self.piece(piece, flows);
        if u64::from(piece.number) >= count || self.came_before(piece, count) {
            return;
        }
        let offset = HEAD as u64 + len * u64::from(piece.number);
        let rest = pattern(piece.flow, self.place.seed);
        let right = octets.len() as u64 == len
            && rest.first_difference(offset + HEAD as u64, &octets[HEAD..]).is_none();
        flows.received(piece.flow, len, right, now);
    }

    /// Whether the message came before; it is known from now on.
    fn came_before(&mut self, piece: Piece, count: u64) -> bool {
        let bits = self.there.entry(piece.flow).or_insert_with(|| vec![0; count.div_ceil(64) as usize]);
        let (word, bit) = (piece.number as usize / 64, 1 << (piece.number % 64));
        let before = bits[word] & bit != 0;
        bits[word] |= bit;
        before
    }
}
