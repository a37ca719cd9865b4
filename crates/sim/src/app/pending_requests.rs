// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an application asks of its host, and what the answers are to.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};

use super::ask::{Ask, AskData};
use crate::core::Completion;
use crate::interface::{Args, Call};

/// Requests that wait for their answers, by token, and what is to be asked; `W` says what a request is for.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingRequests<W> {
    token: u64,
    #[serde(serialize_with = "by_token", bound(serialize = "W: Serialize"))]
    waiting: FxHashMap<u64, W>,
    asks: Vec<Ask>,
    /// completions of requests that do not wait, since they were complete before
    again: u64,
}

/// In the order of their tokens, so that equal requests are equal bytes.
fn by_token<W: Serialize, S: Serializer>(waiting: &FxHashMap<u64, W>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(waiting.iter().collect::<BTreeMap<_, _>>())
}

impl<W> Default for PendingRequests<W> {
    fn default() -> PendingRequests<W> {
        PendingRequests { token: 0, waiting: FxHashMap::default(), asks: Vec::new(), again: 0 }
    }
}

impl<W> PendingRequests<W> {
    /// Makes a request, under a token of its own.
    pub(crate) fn ask(&mut self, call: Call, handle: u64, args: Args, data: AskData, waiting: W) {
        self.token += 1;
        self.waiting.insert(self.token, waiting);
        self.asks.push(Ask::Call { call, handle, args, token: self.token, data });
    }

    /// Asks to be woken at this time.
    pub(crate) fn wake(&mut self, at: u64, conn: usize) {
        self.asks.push(Ask::Wake { at, conn });
    }

    /// What the request was for that this completes.
    pub(crate) fn answered(&mut self, done: &Completion) -> Option<W> {
        let waiting = self.waiting.remove(&done.token);
        self.again += u64::from(waiting.is_none());
        waiting
    }

    /// Returns how many completions were of requests that were complete before.
    pub(crate) fn again(&self) -> u64 {
        self.again
    }

    /// Moves what was asked since the last time to the end of `to`.
    pub(crate) fn take(&mut self, to: &mut Vec<Ask>) {
        to.append(&mut self.asks);
    }
}
