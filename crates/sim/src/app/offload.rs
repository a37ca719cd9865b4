// SPDX-License-Identifier: MIT OR Apache-2.0
//! An application at a program in the network, which takes messages, one after another, and puts each back as it is.

use serde::{Deserialize, Serialize};

use super::ask::AskData;
use super::pending_requests::PendingRequests;
use crate::core::Completion;
use crate::interface::{Arg, Args, Call, args};
use crate::status::{BUSY, OK};

/// Before what was refused is tried again, in nanoseconds.
const AGAIN_AFTER: u64 = 10_000;

/// What a request is for.
#[derive(Serialize, Deserialize)]
pub(super) enum Waiting {
    Open,
    Take,
    /// the message with this handle
    Recv(u64),
    Put,
}

/// The application.
#[derive(Default, Serialize, Deserialize)]
pub struct App {
    pub(super) pending: PendingRequests<Waiting>,
    /// bytes of a message, at most
    longest: u64,
    opens: bool,
    /// of what was opened
    handle: u64,
}

impl App {
    /// `opens`: the program wants to know that somebody is there.
    pub(super) fn new(longest: u64, opens: bool) -> App {
        App { longest, opens, ..App::default() }
    }

    pub(super) fn start(&mut self) {
        if self.opens {
            let buffer = args(&[(Arg::Buffer, self.longest)]);
            self.pending.ask(Call::Open, 0, buffer, AskData::None, Waiting::Open);
        } else {
            self.take();
        }
    }

    pub(super) fn take(&mut self) {
        self.pending.ask(Call::Take, self.handle, Args::default(), AskData::None, Waiting::Take);
    }

    pub(super) fn completed(&mut self, done: &Completion, now: u64) {
        match (self.pending.answered(done), done.status) {
            (Some(Waiting::Open), OK) => {
                self.handle = done.value;
                self.take();
            }
            (Some(Waiting::Take), OK) => {
                let (len, message) = (args(&[(Arg::Len, self.longest)]), done.value);
                let room = AskData::Recv(self.longest);
                self.pending.ask(Call::Recv, message, len, room, Waiting::Recv(message));
            }
            (Some(Waiting::Take), BUSY) => self.pending.wake(now + AGAIN_AFTER, 0),
            (Some(Waiting::Recv(message)), OK) => {
                let octets = done.data.clone().unwrap_or_default();
                let len = args(&[(Arg::Len, octets.len() as u64)]);
                self.pending.ask(Call::Put, message, len, AskData::Send(octets.into()), Waiting::Put);
            }
            // What it holds may be gone before it has answered.
            (Some(Waiting::Recv(_) | Waiting::Put), _) => self.take(),
            (Some(Waiting::Open | Waiting::Take) | None, _) => {}
        }
    }
}
