// SPDX-License-Identifier: MIT OR Apache-2.0
//! One direction of a link: rate, delay, a drop-tail queue that may mark, and faults.

use std::collections::VecDeque;

use crate::fabric::packets;
use crate::rng::Rng;

/// What a link is like; the same in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// bits per second; 0: no limit
    pub rate_bps: u64,
    /// propagation, nanoseconds
    pub delay_ns: u64,
    /// packets that wait at most
    pub queue_packets: usize,
    /// IPv4 packets that can be marked (RFC 3168) are, while at least so many wait
    pub ecn_threshold: Option<usize>,
    /// parts per million of packets that are lost
    pub loss_ppm: u32,
    /// that are duplicated
    pub duplicate_ppm: u32,
    /// that are delivered out of order
    pub reorder_ppm: u32,
    /// with one bit flipped
    pub corrupt_ppm: u32,
    /// from this virtual time on, in nanoseconds, every packet is lost: who is at the other end is dead, it seems
    pub cut_at_ns: Option<u64>,
    /// IP packets that are longer are dropped, as by a router before a link with this MTU
    pub path_mtu: Option<u32>,
    /// that router reports nothing
    pub silent: bool,
}

impl Default for LinkConfig {
    fn default() -> LinkConfig {
        LinkConfig {
            rate_bps: 100_000_000,
            delay_ns: 1_000_000,
            queue_packets: 250,
            ecn_threshold: None,
            loss_ppm: 0,
            duplicate_ppm: 0,
            reorder_ppm: 0,
            corrupt_ppm: 0,
            cut_at_ns: None,
            path_mtu: None,
            silent: false,
        }
    }
}

/// What became of the packets of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounters {
    pub sent: u64,
    pub lost: u64,
    pub queue_full: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub corrupted: u64,
    pub marked: u64,
    pub too_long: u64,
}

/// What happens to one packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fate {
    /// when its last byte is on the wire; `None`: the queue was full
    pub left: Option<u64>,
    /// when it arrives; `None`: never
    pub arrival: Option<u64>,
    /// when a copy arrives
    pub copy: Option<u64>,
    /// the bit that is flipped
    pub flipped_bit: Option<u64>,
    /// the MTU that a router reports to the sender, and when that arrives
    pub report: Option<(u32, u64)>,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    config: LinkConfig,
    /// when the last packet that was accepted has left
    busy_until: u64,
    /// when those that wait will have left
    waiting: VecDeque<u64>,
    loss: Rng,
    duplicate: Rng,
    reorder: Rng,
    corrupt: Rng,
    pub counters: LinkCounters,
}

impl Link {
    /// `number` tells the directions of a run apart.
    pub fn new(config: LinkConfig, seed: u64, number: u64) -> Link {
        let stream = |purpose| Rng::new(seed, 1000 + number * 8 + purpose);
        Link {
            config,
            busy_until: 0,
            waiting: VecDeque::new(),
            loss: stream(0),
            duplicate: stream(1),
            reorder: stream(2),
            corrupt: stream(3),
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
        if self.waiting.len() >= self.config.queue_packets {
            self.counters.queue_full += 1;
            return Fate::default();
        }
        if self.config.ecn_threshold.is_some_and(|most| self.waiting.len() >= most) && packets::mark(packet) {
            self.counters.marked += 1;
        }
        let left = self.busy_until.max(now) + self.serialisation(octets);
        self.busy_until = left;
        self.waiting.push_back(left);
        let arrival = Some(left + self.config.delay_ns);
        let mut fate = Fate { left: Some(left), arrival, ..Fate::default() };
        if let Some(mtu) = self.config.path_mtu.filter(|mtu| octets > *mtu as usize) {
            self.counters.too_long += 1;
            // The router is half-way.
            fate.report = arrival.map(|at| (mtu, at)).filter(|_| !self.config.silent);
            fate.arrival = None;
            return fate;
        }
        let cut = self.config.cut_at_ns.is_some_and(|at| now >= at);
        if self.loss.chance(self.config.loss_ppm) || cut {
            self.counters.lost += 1;
            fate.arrival = None;
        }
        if self.duplicate.chance(self.config.duplicate_ppm) && !cut {
            self.counters.duplicated += 1;
            fate.copy = Some(left + self.config.delay_ns + self.serialisation(octets));
        }
        if self.reorder.chance(self.config.reorder_ppm) {
            self.counters.reordered += 1;
            // Long enough that several packets of this size overtake it.
            let extra =
                self.serialisation(octets) * self.reorder.between(2, 8) + self.config.delay_ns / 4 + 1;
            fate.arrival = fate.arrival.map(|a| a + extra);
        }
        if self.corrupt.chance(self.config.corrupt_ppm) {
            self.counters.corrupted += 1;
            fate.flipped_bit = Some(self.corrupt.below(octets as u64 * 8));
        }
        fate
    }

    fn serialisation(&self, octets: usize) -> u64 {
        match self.config.rate_bps {
            0 => 0,
            rate => (octets as u128 * 8_000_000_000 / u128::from(rate)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn faults_come_as_often_as_asked() {
        let config = LinkConfig {
            loss_ppm: 10_000,
            duplicate_ppm: 20_000,
            reorder_ppm: 30_000,
            corrupt_ppm: 40_000,
            rate_bps: 0,
            queue_packets: usize::MAX,
            ..LinkConfig::default()
        };
        let mut l = link(config);
        for now in 0..100_000 {
            l.send(&mut [0; 100], now);
        }
        let c = l.counters;
        for (found, wanted) in
            [(c.lost, 1000), (c.duplicated, 2000), (c.reordered, 3000), (c.corrupted, 4000)]
        {
            assert!(found.abs_diff(wanted) < wanted / 5, "{found} is far from {wanted}");
        }
    }

    #[test]
    fn what_is_too_long_for_the_path_is_reported_unless_it_is_silent() {
        for silent in [false, true] {
            let mut l = link(LinkConfig { path_mtu: Some(576), silent, ..LinkConfig::default() });
            let (fits, long) = (l.send(&mut [0; 576], 0), l.send(&mut [0; 577], 0));
            assert!(fits.arrival.is_some() && fits.report.is_none());
            assert_eq!((long.arrival, long.report.is_none(), l.counters.too_long), (None, silent, 1));
        }
    }

    #[test]
    fn a_long_queue_marks() {
        let mut l = link(LinkConfig { rate_bps: 8_000_000, ecn_threshold: Some(2), ..LinkConfig::default() });
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
