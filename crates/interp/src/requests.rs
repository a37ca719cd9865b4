// SPDX-License-Identifier: MIT OR Apache-2.0
//! Open requests with the bytes they brought, and finished ones.

use std::borrow::Cow;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::api::{Completion, Data};

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Open {
    token: u64,
    /// its memory: what it sends, or, where the program puts bytes into it, what it receives
    octets: Cow<'static, [u8]>,
    /// room for so many bytes; `None`: the request sends
    room: Option<u64>,
}

/// Open requests, free slots, finished requests, and how many are outstanding.
pub(crate) type SavedRequests = (Vec<Open>, Vec<u32>, VecDeque<Completion>, usize);

/// The requests of a core's applications.
#[derive(Debug)]
pub(crate) struct Requests {
    /// those that brought data, by slot
    open: Vec<Open>,
    free: Vec<u32>,
    by_token: FxHashMap<u64, u32>,
    finished: VecDeque<Completion>,
    limit: usize,
    /// the program works on the memory of requests by address
    memory: bool,
    /// accepted, and their completions not yet taken out
    outstanding: usize,
}

impl Requests {
    pub(crate) fn new(limit: usize, memory: bool) -> Requests {
        Requests {
            open: Vec::new(),
            free: Vec::new(),
            by_token: FxHashMap::default(),
            finished: VecDeque::new(),
            limit,
            memory,
            outstanding: 0,
        }
    }

    /// What is open and what is finished, to be kept.
    pub(crate) fn saved(&self) -> impl Serialize {
        (&self.open, &self.free, &self.finished, self.outstanding)
    }

    /// Goes back to what was kept.
    pub(crate) fn restore(&mut self, saved: SavedRequests) {
        (self.open, self.free, self.finished, self.outstanding) = saved;
        self.by_token.clear();
        let open = self.open.iter().zip(0..).filter(|(open, _)| open.token != 0);
        self.by_token.extend(open.map(|(open, slot)| (open.token, slot)));
    }

    pub(crate) fn full(&self) -> bool {
        self.outstanding >= self.limit
    }

    /// Notes a request and what it brings; returns the slot of its data and how many bytes that is.
    pub(crate) fn accept(&mut self, token: u64, data: Data<'_>) -> Option<(u32, u64)> {
        self.outstanding += 1;
        let (octets, room) = match data {
            Data::None => return None,
            Data::Send(octets) => (Cow::Owned(octets.to_vec()), None),
            Data::Lent(octets) => (Cow::Borrowed(octets), None),
            Data::Recv(room) if self.memory => {
                (Cow::Owned(vec![0; usize::try_from(room).unwrap_or_default()]), Some(room))
            }
            Data::Recv(room) => (Cow::Borrowed(&[][..]), Some(room)),
            Data::Shared(octets) => (Cow::Owned(octets.to_vec()), Some(octets.len() as u64)),
        };
        let len = room.unwrap_or(octets.len() as u64);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(Open::default());
            self.open.len() as u32 - 1
        });
        let open = &mut self.open[slot as usize];
        *open = Open { token, octets, room };
        self.by_token.insert(token, slot);
        Some((slot, len))
    }

    /// The bytes from `offset` that a request sends, nothing once it is complete.
    pub(crate) fn sent(&self, slot: u64, token: u64, offset: u64, len: u64) -> &[u8] {
        let open = self.open.get(slot as usize).filter(|open| open.token == token);
        let octets = open.map_or(&[][..], |open| &open.octets);
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(octets.len());
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(octets.len() - from);
        &octets[from..from + len]
    }

    /// Whether a request is not complete, so that its memory is there.
    pub(crate) fn holds(&self, slot: u64, token: u64) -> bool {
        self.open.get(slot as usize).is_some_and(|open| open.token == token)
    }

    /// Puts bytes into the memory of a request that receives; returns how many.
    pub(crate) fn put(&mut self, slot: u64, token: u64, offset: u64, from: &[u8]) -> u64 {
        let Some(open) = self.open.get_mut(slot as usize).filter(|open| open.token == token) else {
            return 0;
        };
        if open.room.is_none() {
            return 0;
        }
        let memory = open.octets.to_mut();
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(memory.len());
        let len = from.len().min(memory.len() - at);
        memory[at..at + len].copy_from_slice(&from[..len]);
        len as u64
    }

    /// Whether bytes can be delivered to this request.
    pub(crate) fn receives(&self, slot: u64, token: u64) -> bool {
        self.open.get(slot as usize).is_some_and(|open| open.token == token && open.room.is_some())
    }

    /// Completes a request; false if there is no room for its completion.
    pub(crate) fn complete(&mut self, mut completion: Completion) -> bool {
        if let Some(slot) = self.by_token.remove(&completion.token) {
            let open = &mut self.open[slot as usize];
            open.token = 0;
            let octets = std::mem::take(&mut open.octets);
            let receives = self.memory && open.room.is_some();
            if completion.status == 0 && completion.data.is_none() && receives {
                let mut octets = octets.into_owned();
                octets.truncate(usize::try_from(completion.value).unwrap_or(usize::MAX));
                completion.data = Some(octets);
            }
            self.free.push(slot);
        }
        let room = self.finished.len() < self.limit;
        if room {
            self.finished.push_back(completion);
        }
        room
    }

    pub(crate) fn next(&mut self) -> Option<Completion> {
        let next = self.finished.pop_front()?;
        self.outstanding = self.outstanding.saturating_sub(1);
        Some(next)
    }
}
