// SPDX-License-Identifier: MIT OR Apache-2.0
//! What states are made of. A search sees millions of states of a few thousand states of hosts, and of fewer packets: each is kept once,
//! and states name it by its print.

use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex};

use foldhash::quality::FixedState;
use rustc_hash::FxHashMap;

use crate::channel::Packet;
use crate::visited::lock;

/// The bytes of one of the things that are kept.
pub(crate) type Bytes = Arc<[u8]>;

/// A host between two inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Host {
    pub print: u64,
    /// when something is due
    pub due: Option<u64>,
}

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    pub print: u64,
    len: u32,
}

impl Packet for Kept {
    fn bits(&self) -> u32 {
        self.len * 8
    }
}

/// What tells something from anything else: of two different things nearly none have the same.
fn print(of: &(impl Hash + ?Sized)) -> u64 {
    FixedState::default().hash_one(of)
}

/// Hosts and packets by their prints.
#[derive(Default)]
pub(crate) struct Store {
    hosts: Mutex<FxHashMap<u64, Bytes>>,
    packets: Mutex<FxHashMap<u64, Bytes>>,
}

/// Two different things with one print would be taken for each other.
fn put(kept: &Mutex<FxHashMap<u64, Bytes>>, bytes: &[u8]) -> Result<u64, String> {
    let print = print(bytes);
    match &**lock(kept).entry(print).or_insert_with(|| bytes.into()) {
        same if same == bytes => Ok(print),
        _ => Err("two states of an end have the same hash: this search says nothing".into()),
    }
}

fn get(kept: &Mutex<FxHashMap<u64, Bytes>>, print: u64) -> Result<Bytes, String> {
    lock(kept).get(&print).cloned().ok_or_else(|| "a state names what nobody has kept".to_owned())
}

impl Store {
    /// Keeps a host.
    ///
    /// # Errors
    /// If another one has its print.
    pub(crate) fn put_host(&self, bytes: &[u8], due: Option<u64>) -> Result<Host, String> {
        Ok(Host { print: put(&self.hosts, bytes)?, due })
    }

    /// What was kept.
    ///
    /// # Errors
    /// If it is not of this store.
    pub(crate) fn host(&self, host: Host) -> Result<Bytes, String> {
        get(&self.hosts, host.print)
    }

    /// Keeps a packet.
    ///
    /// # Errors
    /// If another one has its print.
    pub(crate) fn put_packet(&self, bytes: &[u8]) -> Result<Kept, String> {
        Ok(Kept { print: put(&self.packets, bytes)?, len: bytes.len() as u32 })
    }

    /// What was kept.
    ///
    /// # Errors
    /// If it is not of this store.
    pub(crate) fn packet(&self, packet: Kept) -> Result<Bytes, String> {
        get(&self.packets, packet.print)
    }
}
