// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that wait to be sent by one handle.

use std::collections::VecDeque;

use super::pieces::Piece;
use crate::app::patience::Patience;
use crate::app::pending_requests::PendingRequests;

/// Before what was refused is tried again, in nanoseconds.
const AGAIN_AFTER: u64 = 10_000;

/// What is to go by a handle: so many messages are under way at once, and what was refused goes first a little later.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// where it goes, once that is there
    pub handle: Option<u64>,
    to_send: VecDeque<Piece>,
    under_way: usize,
    waits: bool,
    patience: Patience,
}

impl Outbox {
    pub fn extend(&mut self, pieces: impl Iterator<Item = Piece>) {
        self.to_send.extend(pieces);
    }

    /// Nothing of it is sent any more.
    pub fn clear(&mut self) {
        self.to_send.clear();
    }

    /// Everything has been sent, and answered.
    pub fn is_done(&self) -> bool {
        self.under_way == 0 && self.to_send.is_empty()
    }

    /// The handle, and a message that may go now if `window` may be under way at once: it is from now on.
    pub fn next(&mut self, window: usize) -> Option<(u64, Piece)> {
        let handle = self.handle.filter(|_| !self.waits && self.under_way < window)?;
        let piece = self.to_send.pop_front()?;
        self.under_way += 1;
        Some((handle, piece))
    }

    /// A message is not under way any more.
    pub fn answered(&mut self) {
        self.under_way -= 1;
    }

    /// A message was taken.
    pub fn taken(&mut self) {
        self.patience.taken();
    }

    /// A message was refused for want of space: the application is woken, and told this number, when it may be tried again. False: it was
    /// refused for so long that it is not tried again.
    #[must_use]
    pub fn refused<W>(
        &mut self,
        piece: Piece,
        now: u64,
        number: usize,
        pending: &mut PendingRequests<W>,
    ) -> bool {
        if !self.waits {
            let Some(at) = self.patience.refused(now, AGAIN_AFTER) else { return false };
            self.waits = true;
            pending.wake(at, number);
        }
        self.to_send.push_front(piece);
        true
    }

    /// It may.
    pub fn wake(&mut self) {
        self.waits = false;
    }
}
