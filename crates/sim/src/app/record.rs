// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one end of a connection saw.

use std::fmt;

use carrick_ir::STATUS_NAMES;
use serde::{Deserialize, Serialize};

use crate::status::{BUSY, NO_ROOM};

/// How one end of a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// not at all
    Open,
    /// every byte was sent, the peer's end of stream arrived, and it was closed
    Clean,
    /// it was told an error (a `status_t`)
    Error(u8),
    /// it reset the connection itself
    Aborted,
}

/// What one end of a connection saw. What it says of times, and the first refusal, is not kept where states are compared: nothing that an
/// application does depends on them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub number: u64,
    pub sent: u64,
    pub received: u64,
    pub end: End,
    /// where the bytes were wrong
    pub wrong_at: Option<u64>,
    #[serde(skip)]
    pub started: u64,
    #[serde(skip)]
    pub established: Option<u64>,
    #[serde(skip)]
    pub finished: Option<u64>,
    pub end_of_stream: bool,
    /// where applications exchange messages
    pub messages: Messages,
    /// the first request that ended in an error; while there is none, one that was refused for want of space and not taken since
    #[serde(skip)]
    pub refusal: Option<Refusal>,
}

/// A request that the program did not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// the call of the interface
    pub call: &'static str,
    /// bytes that it was to carry
    pub len: u64,
    /// a `status_t`
    pub status: u8,
}

impl Refusal {
    /// Whether there was only no space at that time.
    fn is_for_now(&self) -> bool {
        [BUSY, NO_ROOM].contains(&self.status)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = STATUS_NAMES.get(usize::from(self.status)).copied().unwrap_or("?");
        write!(f, "`{}` of {} bytes got {status}", self.call, self.len)
    }
}

/// How messages fared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// of the first 64 messages, one bit for each: those whose `send` completed with `OK`, and those that came
    pub sent_first: u64,
    pub received_first: u64,
}

impl Record {
    /// A request was refused.
    pub(super) fn refused(&mut self, refusal: Refusal) {
        if self.refusal.is_none_or(|before| before.is_for_now()) {
            self.refusal = Some(refusal);
        }
    }

    /// A request was taken: there was space for it.
    pub(super) fn taken(&mut self) {
        self.refusal = self.refusal.filter(|before| !before.is_for_now());
    }

    pub(super) fn new(number: u64, now: u64) -> Record {
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
            refusal: None,
        }
    }
}
