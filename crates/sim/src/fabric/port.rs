// SPDX-License-Identifier: MIT OR Apache-2.0
//! An end of a link: the queue in front of it, by priority, and when it is free.

use std::collections::VecDeque;

use crate::faults::{FaultCounters, FaultSchedule, FaultState};

/// Priorities of a queue at most.
pub const PRIORITIES: usize = 8;
/// Fractions of a nanosecond are kept, so that the rate is that of the link however short packets are.
const FRACTION_BITS: u32 = 20;

/// What became of the packets of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// that left, and their bytes
    pub packets: u64,
    pub octets: u64,
    /// for which there was no room
    pub dropped: u64,
    /// what faults of the link did
    pub faults: FaultCounters,
    /// of which the IPv4 header was damaged, so that the switch at the other end drops them (RFC 1812, section 5.2.2)
    pub bad_header: u64,
    /// that got a mark of congestion
    pub marked: u64,
    /// of which the header was left
    pub trimmed: u64,
    /// sent back to where they came from
    pub returned: u64,
    /// times that it was told to pause
    pub pauses: u64,
    /// bytes that waited at the most
    pub peak: u64,
    /// bytes that waited, times nanoseconds
    pub waited: u128,
}

impl PortCounters {
    /// Counts those of another port too; the peak is that of either.
    pub fn add(&mut self, other: &PortCounters) {
        self.packets += other.packets;
        self.octets += other.octets;
        self.dropped += other.dropped;
        self.faults.add(&other.faults);
        self.bad_header += other.bad_header;
        self.marked += other.marked;
        self.trimmed += other.trimmed;
        self.returned += other.returned;
        self.pauses += other.pauses;
        self.peak = self.peak.max(other.peak);
        self.waited += other.waited;
    }
}

/// A packet that waits: its place in the pool, its bytes, and the number of the port by whose link it came.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub packet: u32,
    pub octets: u32,
    pub from: u32,
}

/// One direction of a link, with its queue.
#[derive(Debug)]
pub struct Port {
    queues: [VecDeque<Waiting>; PRIORITIES],
    octets_of: [u64; PRIORITIES],
    /// a bit for each queue that is not empty, and for each that may not send
    busy: u8,
    paused: u8,
    octets: u64,
    /// when the bytes last changed
    changed_at: u64,
    /// nanoseconds of a byte, in fractions
    octet_time: u64,
    fraction: u64,
    /// when the packet that is on its way out has left
    pub free_at: u64,
    /// whether somebody will look when it is free
    pub awaited: bool,
    pub delay_ns: u64,
    pub faults: FaultState,
    pub counters: PortCounters,
}

impl Port {
    /// An idle one.
    pub fn new(rate_bps: u64, delay_ns: u64, faults: FaultSchedule) -> Port {
        Port {
            queues: Default::default(),
            octets_of: [0; PRIORITIES],
            busy: 0,
            paused: 0,
            octets: 0,
            changed_at: 0,
            octet_time: ((8_000_000_000_u128 << FRACTION_BITS) / u128::from(rate_bps.max(1))) as u64,
            fraction: 0,
            free_at: 0,
            awaited: false,
            delay_ns,
            faults: FaultState::new(faults),
            counters: PortCounters::default(),
        }
    }

    /// Nothing waits and nothing is on its way out.
    pub fn idle(&self, now: u64) -> bool {
        self.busy == 0 && self.free_at <= now
    }

    /// Something waits that may leave.
    pub fn has_more(&self) -> bool {
        self.busy & !self.paused != 0
    }

    /// Whether nothing of this priority may leave.
    pub fn is_paused(&self, priority: usize) -> bool {
        self.paused & 1 << priority != 0
    }

    /// Bytes that wait.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Bytes that wait with this priority.
    pub fn octets_of(&self, priority: usize) -> u64 {
        self.octets_of[priority]
    }

    /// Packets that wait, and the one on its way out.
    pub fn packets(&self, now: u64) -> usize {
        self.queues.iter().map(VecDeque::len).sum::<usize>() + usize::from(self.free_at > now)
    }

    /// Nanoseconds from the first byte of the packet that was let out at a time to its last.
    pub fn serialisation(&self, octets: u32, begin: u64) -> u64 {
        if self.faults.has_rate() {
            return self.free_at - begin;
        }
        (u64::from(octets) * self.octet_time) >> FRACTION_BITS
    }

    fn account(&mut self, now: u64) {
        self.counters.waited += u128::from(self.octets) * u128::from(now - self.changed_at);
        self.changed_at = now;
    }

    /// Puts a packet at the end of its queue; 7 is the first priority.
    pub fn put(&mut self, priority: usize, packet: Waiting, now: u64) {
        self.account(now);
        self.queues[priority].push_back(packet);
        self.busy |= 1 << priority;
        self.octets_of[priority] += u64::from(packet.octets);
        self.octets += u64::from(packet.octets);
        self.counters.peak = self.counters.peak.max(self.octets);
    }

    /// Says whether packets of a priority may leave.
    pub fn pause(&mut self, priority: usize, on: bool) {
        self.counters.pauses += u64::from(on);
        self.paused = self.paused & !(1 << priority) | u8::from(on) << priority;
    }

    /// Takes the packet that goes next out of its queue, with its priority.
    pub fn take(&mut self, now: u64) -> Option<(usize, Waiting)> {
        let priority = (self.busy & !self.paused).checked_ilog2()? as usize;
        let packet = self.queues[priority].pop_front()?;
        self.left(priority, packet, now);
        Some((priority, packet))
    }

    /// Takes the packet out that came last with this priority.
    pub fn take_last(&mut self, priority: usize, now: u64) -> Option<Waiting> {
        let packet = self.queues[priority].pop_back()?;
        self.left(priority, packet, now);
        Some(packet)
    }

    fn left(&mut self, priority: usize, packet: Waiting, now: u64) {
        self.account(now);
        if self.queues[priority].is_empty() {
            self.busy &= !(1 << priority);
        }
        self.octets_of[priority] -= u64::from(packet.octets);
        self.octets -= u64::from(packet.octets);
    }

    /// Lets a packet out; when its last byte has left.
    pub fn send(&mut self, octets: u32, now: u64) -> u64 {
        if self.free_at < now {
            self.free_at = now;
            self.fraction = 0;
        }
        if let Some(left) = self.faults.leaves(self.free_at, octets as usize) {
            self.free_at = left;
        } else {
            let time = u64::from(octets) * self.octet_time + self.fraction;
            self.fraction = time & ((1 << FRACTION_BITS) - 1);
            self.free_at += time >> FRACTION_BITS;
        }
        self.counters.packets += 1;
        self.counters.octets += u64::from(octets);
        self.free_at
    }

    /// Bytes that waited on average until a time.
    pub fn mean(&mut self, until: u64) -> f64 {
        self.account(until.max(self.changed_at));
        if until == 0 { 0.0 } else { self.counters.waited as f64 / until as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_priority_goes_first_and_each_in_order() {
        let mut port = Port::new(8_000_000_000, 0, FaultSchedule::default());
        for (packet, priority) in [(1, 0), (2, 7), (3, 0), (4, 7), (5, 3)] {
            port.put(priority, Waiting { packet, octets: 100, from: 0 }, 0);
        }
        let order: Vec<u32> = std::iter::from_fn(|| port.take(10)).map(|(_, p)| p.packet).collect();
        assert_eq!(order, [2, 4, 5, 1, 3]);
        assert_eq!((port.octets(), port.counters.peak), (0, 500));
        assert!((port.mean(20) - 250.0).abs() < 1e-9);
    }

    #[test]
    fn short_packets_take_as_long_as_the_rate_says() {
        let mut port = Port::new(100_000_000_000, 0, FaultSchedule::default());
        let left = (0..1000).map(|_| port.send(64, 0)).last();
        assert_eq!(left, Some(5119));
    }
}
