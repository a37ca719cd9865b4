// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the maps of a program hold: what it begins with, and what of it is looked at from outside.

use aya::maps::MapData;
use carrick_interp::{random_start, secret_key};
use carrick_ir::{COUNTERS, Program};

use crate::layout::{self, AWAKE, DUE, LEAVING, QUEUE_HEAD, head, word};
use crate::load_error::{failed, told};
use crate::maps::{self, fd};
use crate::object::Object;

fn put(octets: &mut [u8], at: usize, value: &[u8]) {
    octets[at..at + value.len()].copy_from_slice(value);
}

fn size(map: &MapData) -> Result<usize, String> {
    Ok(map.info().map_err(|e| told(&e))?.value_size() as usize)
}

fn capacity(map: &MapData) -> Result<u32, String> {
    Ok(map.info().map_err(|e| told(&e))?.max_entries())
}

/// Instances of a context: how many there are, and how many there can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instances {
    /// instances now
    pub open: usize,
    /// places for them
    pub capacity: usize,
}

impl Object {
    pub(crate) fn begin(
        &self,
        program: &Program,
        seed: u64,
        address: u128,
        mtu: u32,
        params: &[u64],
    ) -> Result<(), String> {
        let mut shared = vec![0_u8; size(self.map("carrick_shared")?)?];
        for (at, word) in random_start(seed).iter().enumerate() {
            put(&mut shared, at * 8, &word.to_ne_bytes());
        }
        let zero = 0_u32.to_ne_bytes();
        maps::update(fd(self.map("carrick_shared")?), Some(&zero), &shared)
            .map_err(failed("write what is shared"))?;
        let address = layout::address(program.net_header.layer, address);
        let defaults: Vec<u64> = program.params.iter().map(|p| p.default).collect();
        let params = if params.is_empty() { &defaults } else { params };
        self.each_core(|core| {
            for (at, word) in secret_key(seed).iter().enumerate() {
                put(core, head::KEY + at * 8, &word.to_ne_bytes());
            }
            put(core, head::ADDRESS, &address);
            put(core, head::MTU, &mtu.to_ne_bytes());
            for (at, value) in params.iter().enumerate() {
                put(core, head::COUNTERS + (COUNTERS.len() + at) * 8, &value.to_ne_bytes());
            }
        })?;
        self.free_slots(program)
    }

    /// All slots and blocks are free; the one that was put there last is the first.
    fn free_slots(&self, program: &Program) -> Result<(), String> {
        for number in (0..program.contexts.len()).filter(|n| !program.contexts[*n].global) {
            Self::fill(self.map(&format!("free_{number}"))?)?;
            if let Ok(blocks) = self.map(&format!("unused_{number}")) {
                Self::fill(blocks)?;
            }
        }
        Ok(())
    }

    fn fill(free: &MapData) -> Result<(), String> {
        for number in (0..capacity(free)?).rev() {
            maps::update(fd(free), None, &number.to_ne_bytes()).map_err(failed("fill a map"))?;
        }
        Ok(())
    }

    /// What all processors have, one behind the other.
    fn cores(&self) -> Result<Vec<u8>, String> {
        let mut all = vec![0_u8; self.core_octets * self.processors];
        let found = maps::lookup(fd(self.map("carrick_cores")?), &0_u32.to_ne_bytes(), &mut all);
        found.map_err(failed("read what processors have"))?;
        Ok(all)
    }

    fn each_core(&self, change: impl Fn(&mut [u8])) -> Result<(), String> {
        let mut all = self.cores()?;
        all.chunks_exact_mut(self.core_octets).for_each(change);
        maps::update(fd(self.map("carrick_cores")?), Some(&0_u32.to_ne_bytes()), &all)
            .map_err(failed("write what processors have"))
    }

    /// Makes it this time for the programs, nanoseconds, until the next such call.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_clock(&self, now: u64) -> Result<(), String> {
        self.each_core(|core| put(core, head::CLOCK, &(now + 1).to_ne_bytes()))
    }

    /// Sets the number of the device that sends packets, other than answers to the sender of a frame. The host process reads
    /// it when it starts.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_device(&self, index: u32) -> Result<(), String> {
        self.each_core(|core| put(core, head::DEVICE, &index.to_ne_bytes()))
    }

    /// Frames for another hardware address are not the program's, nor packets from the broadcast address of its network
    /// (0: it has none). Of a program in the network they are as others.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_link(&self, mac: [u8; 6], broadcast: u32) -> Result<(), String> {
        let (device, only) = (self.map("carrick_own_device")?, 0_u32.to_ne_bytes());
        let mac = mac.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
        let attached = 1_u32.to_ne_bytes();
        let value = [&mac.to_ne_bytes()[..], &broadcast.to_ne_bytes(), &attached].concat();
        maps::update(fd(device), Some(&only), &value).map_err(failed("write what its device is"))
    }

    /// Reports are looked at anyway: nobody is woken for them.
    pub(crate) fn stay_awake(&self) -> Result<(), String> {
        let (shared, only) = (self.map("carrick_shared")?, 0_u32.to_ne_bytes());
        let mut value = self.shared()?;
        put(&mut value, AWAKE, &1_u64.to_ne_bytes());
        maps::update(fd(shared), Some(&only), &value).map_err(failed("write what is shared"))
    }

    /// From now on packets wait, until an empty frame asks for each.
    pub(crate) fn pace(&self) -> Result<(), String> {
        self.each_core(|core| put(core, head::PACED, &1_u32.to_ne_bytes()))
    }

    /// The counters of all processors, by number: [`carrick_ir::COUNTERS`].
    ///
    /// # Errors
    /// What the kernel says.
    pub fn counters(&self) -> Result<Vec<u64>, String> {
        let all = self.cores()?;
        let sum = |at: usize| all.chunks_exact(self.core_octets).map(|core| word(core, at)).sum();
        Ok((0..COUNTERS.len()).map(|n| sum(head::COUNTERS + n * 8)).collect())
    }

    /// Packets of which an event was made; packets that were dropped since another processor held what they need.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn taken_and_busy(&self) -> Result<(u64, u64), String> {
        let all = self.cores()?;
        let sum = |at: usize| all.chunks_exact(self.core_octets).map(|core| word(core, at)).sum();
        Ok((sum(head::TAKEN), sum(head::BUSY)))
    }

    /// How many blueprints wait for a frame.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn waiting(&self) -> Result<u64, String> {
        let value = self.shared()?;
        Ok(word(&value, QUEUE_HEAD + 8).wrapping_sub(word(&value, QUEUE_HEAD)))
    }

    /// How many packets that were stored or copied wait for a frame.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn leaving(&self) -> Result<u64, String> {
        Ok(word(&self.shared()?, LEAVING))
    }

    /// From when on a packet that waits can leave, nanoseconds; `None` if none does before something happens.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn leaves(&self) -> Result<Option<u64>, String> {
        let value = self.shared()?;
        let waits = word(&value, QUEUE_HEAD + 8) != word(&value, QUEUE_HEAD);
        if word(&value, LEAVING) > 0 {
            return Ok(Some(0));
        }
        Ok(Some(word(&value, DUE)).filter(|due| waits && *due != u64::MAX))
    }

    /// What all processors share.
    fn shared(&self) -> Result<Vec<u8>, String> {
        let shared = self.map("carrick_shared")?;
        let mut value = vec![0_u8; size(shared)?];
        maps::lookup(fd(shared), &0_u32.to_ne_bytes(), &mut value).map_err(failed("read what is shared"))?;
        Ok(value)
    }

    /// The instances of each context, by its number; `None` for a global one.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn instances(&self, program: &Program) -> Result<Vec<Option<Instances>>, String> {
        let contexts = program.contexts.iter().enumerate();
        contexts.map(|(number, ctx)| (!ctx.global).then(|| self.instances_of(number)).transpose()).collect()
    }

    fn instances_of(&self, context: usize) -> Result<Instances, String> {
        let index = self.map(&format!("index_{context}"))?;
        let info = index.info().map_err(|e| told(&e))?;
        let capacity = capacity(self.map(&format!("slots_{context}"))?)? as usize;
        let found = maps::count(fd(index), info.key_size() as usize, info.max_entries() as usize);
        Ok(Instances { open: found.map_err(failed("count instances"))?, capacity })
    }

    /// Instances of all contexts.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open_contexts(&self, program: &Program) -> Result<usize, String> {
        Ok(self.instances(program)?.iter().flatten().map(|instances| instances.open).sum())
    }
}

impl Object {
    /// Of each owner of instances (`struct carrick_owner`): packets that left, their bytes, what a rate held back, what found no
    /// place. Nothing of a program that holds no rates.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn owned(&self) -> Result<Vec<[u64; 4]>, String> {
        let Ok(map) = self.map("carrick_rates") else { return Ok(Vec::new()) };
        let mut value = vec![0_u8; size(map)?];
        (0..capacity(map)?)
            .map(|owner| {
                maps::lookup(fd(map), &owner.to_ne_bytes(), &mut value).map_err(failed("read rates"))?;
                Ok([0, 8, 16, 24].map(|at| word(&value, at)))
            })
            .collect()
    }
}
