// SPDX-License-Identifier: MIT OR Apache-2.0
//! One direction of a link: rate, delay, a drop-tail queue that may mark, and faults.

use std::collections::VecDeque;

use crate::fabric::packets;
use crate::faults::{Fate, FaultCounters, FaultRng, FaultSchedule, FaultState, Outgoing};

/// What a link is like; the same in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// bits per second, unless `faults` have a rate over time; 0: no limit
    pub rate_bps: u64,
    /// propagation, nanoseconds
    pub delay_ns: u64,
    /// packets that wait at most
    pub queue_packets: usize,
    pub faults: FaultSchedule,
}

impl Default for LinkConfig {
    fn default() -> LinkConfig {
        LinkConfig {
            rate_bps: 100_000_000,
            delay_ns: 1_000_000,
            queue_packets: 250,
            faults: FaultSchedule::default(),
        }
    }
}

/// What became of the packets of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounters {
    pub sent: u64,
    pub queue_full: u64,
    pub marked: u64,
    pub faults: FaultCounters,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    rate_bps: u64,
    delay_ns: u64,
    queue_packets: usize,
    /// when the last packet that was accepted has left
    busy_until: u64,
    /// when those that wait will have left
    waiting: VecDeque<u64>,
    faults: FaultState,
    rng: FaultRng,
    pub counters: LinkCounters,
}

/// The first stream of random numbers for faults.
const STREAM_FAULTS: u64 = 1000;

impl Link {
    /// `number` tells the directions of a run apart.
    pub fn new(config: LinkConfig, seed: u64, number: u64) -> Link {
        let LinkConfig { rate_bps, delay_ns, queue_packets, faults } = config;
        Link {
            rate_bps,
            delay_ns,
            queue_packets,
            busy_until: 0,
            waiting: VecDeque::new(),
            faults: FaultState::new(faults),
            rng: FaultRng::new(seed, STREAM_FAULTS + number * FaultRng::STREAMS),
            counters: LinkCounters::default(),
        }
    }

    /// Takes a packet, which may be marked.
    pub fn send(&mut self, packet: &mut [u8], now: u64) -> Fate {
        let octets = packet.len();
        while self.waiting.front().is_some_and(|left| *left <= now) {
            self.waiting.pop_front();
        }
        self.counters.sent += 1;
        if self.waiting.len() >= self.queue_packets {
            self.counters.queue_full += 1;
            return Fate::default();
        }
        let threshold = self.faults.ecn_threshold(now);
        if threshold.is_some_and(|most| self.waiting.len() >= most) && packets::mark(packet) {
            self.counters.marked += 1;
        }
        let begin = self.busy_until.max(now);
        let left = self.faults.leaves(begin, octets).unwrap_or_else(|| begin + self.serialisation(octets));
        let serialisation = left - begin;
        self.busy_until = left;
        self.waiting.push_back(left);
        let packet = Outgoing { octets, now, left, serialisation, delay_ns: self.delay_ns };
        self.faults.fate(&mut self.rng, &mut self.counters.faults, packet)
    }

    fn serialisation(&self, octets: usize) -> u64 {
        match self.rate_bps {
            0 => 0,
            rate => (octets as u128 * 8_000_000_000 / u128::from(rate)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::LinkFaults;

    fn link(config: LinkConfig) -> Link {
        Link::new(config, 7, 0)
    }

    #[test]
    fn packets_leave_one_after_the_other() {
        let mut l = link(LinkConfig { rate_bps: 8_000_000, delay_ns: 500, ..LinkConfig::default() });
        assert_eq!(l.send(&mut [0; 1000], 0).arrival, Some(1_000_500));
        assert_eq!(l.send(&mut [0; 1000], 0).arrival, Some(2_000_500));
        assert_eq!(l.send(&mut [0; 1000], 5_000_000).arrival, Some(6_000_500));
    }

    #[test]
    fn a_full_queue_drops() {
        let mut l = link(LinkConfig { rate_bps: 8_000_000, queue_packets: 2, ..LinkConfig::default() });
        let arrived = (0..5).filter(|_| l.send(&mut [0; 1000], 0).arrival.is_some()).count();
        assert_eq!((arrived, l.counters.queue_full), (2, 3));
        assert!(l.send(&mut [0; 1000], 1_000_000).arrival.is_some());
    }

    #[test]
    fn what_is_too_long_for_the_path_is_reported_unless_it_is_silent() {
        for silent in [false, true] {
            let faults = LinkFaults { path_mtu: Some(576), silent, ..LinkFaults::default() };
            let mut l = link(LinkConfig { faults: faults.into(), ..LinkConfig::default() });
            let (fits, long) = (l.send(&mut [0; 576], 0), l.send(&mut [0; 577], 0));
            assert!(fits.arrival.is_some() && fits.report.is_none());
            assert_eq!((long.arrival, long.report.is_none(), l.counters.faults.too_long), (None, silent, 1));
        }
    }

    #[test]
    fn a_long_queue_marks() {
        let faults = LinkFaults { ecn_threshold: Some(2), ..LinkFaults::default() };
        let mut l = link(LinkConfig { rate_bps: 8_000_000, faults: faults.into(), ..LinkConfig::default() });
        let mut packet = [0; 1000];
        packet[..12].copy_from_slice(&[0x45, 2, 3, 0xe8, 0, 0, 0, 0, 64, 17, 0, 0]);
        let marked: Vec<bool> = (0..4)
            .map(|_| {
                let mut sent = packet;
                l.send(&mut sent, 0);
                sent[1] == 3
            })
            .collect();
        assert_eq!((marked, l.counters.marked), (vec![false, false, true, true], 2));
    }
}
