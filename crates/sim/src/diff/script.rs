// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run as another network can replay it: what the applications asked for, and when, and the faults of the links.
//!
//! A script is a sequence of words of 64 bits: each host's configuration, the link, each direction's faults, each host's
//! requests, and the time at which the run ends.

use crate::app::{Ask, AskData};
use crate::faults::Fate;
use crate::interface::Interface;
use crate::observe::Observer;
use crate::scenario::{Scenario, host_config};

/// What an application did when something reached it.
#[derive(Debug, Default)]
struct Requests {
    /// how often something reached the application
    times: u64,
    words: Vec<u64>,
}

/// Of a fault: the packet, how late it and its copy arrive, the MTU that is reported to its sender.
const FAULT_WORDS: u64 = 4;

/// The faults of one direction.
#[derive(Debug, Default)]
struct Faults {
    packets: u64,
    words: Vec<u64>,
}

/// Writes down what happens in a run.
pub struct Script {
    interface: Interface,
    delay_ns: u64,
    requests: [Requests; 2],
    faults: [Faults; 2],
    /// used again and again
    args: Vec<u64>,
}

/// What a request carries, as scripts number it.
fn data(data: &AskData) -> (u64, u64, &[u8]) {
    match data {
        AskData::None => (0, 0, &[]),
        AskData::Send(octets) => (1, octets.len() as u64, octets),
        AskData::Recv(len) => (2, *len, &[]),
        AskData::Shared(octets) => (3, octets.len() as u64, octets),
    }
}

impl Script {
    /// Of a run over this interface and links with this delay.
    pub fn new(interface: Interface, delay_ns: u64) -> Script {
        Script {
            interface,
            delay_ns,
            requests: Default::default(),
            faults: Default::default(),
            args: Vec::new(),
        }
    }

    fn ask(&mut self, host: usize, ask: &Ask) {
        let words = &mut self.requests[host].words;
        match ask {
            Ask::Wake { at, .. } => words.extend([1, *at]),
            Ask::Call { call, handle, args, token, data: carried } => {
                let Some(number) = self.interface.arguments(*call, args, &mut self.args) else {
                    return words.push(2);
                };
                let (kind, len, octets) = data(carried);
                words.extend([0, number as u64, *handle, *token, self.args.len() as u64]);
                words.extend(&self.args);
                words.extend([kind, len]);
                words.extend(octets.chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_ne_bytes(word)
                }));
            }
        }
    }

    /// The whole script of a run that ended at this time.
    pub fn octets(&self, scenario: &Scenario, ended_at: u64) -> Vec<u8> {
        let mut words = Vec::new();
        for host in 0..2 {
            let config = host_config(scenario, host, true);
            let of = [config.seed, config.address as u64, config.mtu.into(), config.completions.into()];
            words.extend(of.into_iter().chain([config.params.len() as u64]).chain(config.params));
        }
        words.extend([scenario.link.rate_bps, scenario.link.delay_ns, scenario.link.queue_packets as u64]);
        for faults in &self.faults {
            words.push(faults.words.len() as u64 / FAULT_WORDS);
            words.extend(&faults.words);
        }
        for requests in &self.requests {
            words.push(requests.times);
            words.extend(&requests.words);
        }
        words.push(ended_at);
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }
}

impl Observer for Script {
    fn forwarded(&mut self, _now: u64, host: usize, _number: u64, fate: &Fate) {
        let faults = &mut self.faults[host];
        let number = faults.packets;
        faults.packets += 1;
        let Some(left) = fate.left else { return };
        let after = |at: Option<u64>| at.map_or(u64::MAX, |at| at - left - self.delay_ns);
        let (late, copy) = (after(fate.arrival), after(fate.copy));
        if (late, copy) != (0, u64::MAX) {
            let mtu = fate.report.map_or(0, |(mtu, _)| mtu.into());
            faults.words.extend([number, late, copy, mtu]);
        }
    }

    fn asked(&mut self, host: usize, asks: &[Ask]) {
        self.requests[host].times += 1;
        self.requests[host].words.push(asks.len() as u64);
        asks.iter().for_each(|ask| self.ask(host, ask));
    }
}
