// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of open requests, staged where programs in the kernel reach it.

use std::collections::HashMap;

use carrick_sim::core::Data;

use crate::layout::PIECE;
use crate::load_error::failed;
use crate::maps::{Mapped, fd};
use crate::object::Object;

/// Where the memory of a request is.
struct Held {
    element: u32,
    receives: bool,
    len: usize,
}

/// Elements of `carrick_requests`: those that are free, and whose the others are.
pub(crate) struct Requests {
    memory: Option<Mapped>,
    /// of an element
    octets: usize,
    free: Vec<u32>,
    held: HashMap<u64, Held>,
}

impl Requests {
    /// None is taken; a program may have no use for any.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn new(object: &Object) -> Result<Requests, String> {
        let mut requests = Requests { memory: None, octets: 0, free: Vec::new(), held: HashMap::new() };
        if let Ok(map) = object.map("carrick_requests") {
            let info = map.info().map_err(|e| e.to_string())?;
            let elements = info.max_entries();
            requests.octets = info.value_size() as usize;
            let mapped = Mapped::new(fd(map), elements as usize * requests.octets);
            requests.memory = Some(mapped.map_err(failed("map the memory of requests"))?);
            requests.free = (0..elements).rev().collect();
        }
        Ok(requests)
    }

    /// Puts what a request brings where the program finds it: 1 + where that is, and how many bytes. `None`: there is no room.
    pub(crate) fn stage(&mut self, token: u64, data: Data<'_>) -> Option<(u32, u64)> {
        let (octets, len, receives): (&[u8], usize, bool) = match data {
            Data::None => return Some((0, 0)),
            Data::Send(octets) => (octets, octets.len(), false),
            Data::Lent(octets) => (octets, octets.len(), false),
            Data::Shared(octets) => (octets, octets.len(), true),
            Data::Recv(room) => (&[], usize::try_from(room).unwrap_or(usize::MAX), true),
        };
        let Some(memory) = &self.memory else { return Some((1, len as u64)) };
        if len + PIECE > self.octets {
            return None;
        }
        let element = self.free.pop()?;
        memory.put(element as usize * self.octets, octets);
        self.held.insert(token, Held { element, receives, len });
        Some((1 + element, len as u64))
    }

    /// The request is complete, with so many bytes: those, if it receives any; its memory is free.
    pub(crate) fn complete(&mut self, token: u64, octets: Option<u64>) -> Option<Vec<u8>> {
        let Held { element, receives, len: room } = self.held.remove(&token)?;
        self.free.push(element);
        let len = usize::try_from(octets?).unwrap_or(usize::MAX).min(room);
        let memory = self.memory.as_ref().filter(|_| receives)?;
        Some(memory.get(element as usize * self.octets, len))
    }
}
