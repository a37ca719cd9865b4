// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults of one direction of a link: what they are at each time, and what they do to a packet. With them, a rate over time.
//!
//! All networks use this: the link between two hosts ([`crate::link`]) and the ports of a topology ([`crate::fabric`]).

use std::sync::Arc;

use crate::rate_trace::{RateState, RateTrace};
use crate::rng::Rng;

/// The time of what never ends, in nanoseconds.
pub const FOREVER: u64 = u64::MAX;

/// Loss in bursts (Gilbert, 1960; Elliott, 1963): a link is in a good or in a bad state. It is good at first. Each packet is lost or
/// not by the state that it finds; then the state may change. All shares are parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BurstLoss {
    /// of packets in the good state, those after which it is bad
    pub begin_ppm: u32,
    /// of packets in the bad state, those after which it is good again
    pub end_ppm: u32,
    /// of packets in the bad state, those that are lost
    pub bad_ppm: u32,
    /// of packets in the good state, those that are lost
    pub good_ppm: u32,
}

/// What goes wrong at one time. The shares are parts per million of packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkFaults {
    pub loss_ppm: u32,
    pub burst_loss: Option<BurstLoss>,
    /// delivered twice
    pub duplicate_ppm: u32,
    /// delivered out of order
    pub reorder_ppm: u32,
    /// delivered with one bit flipped
    pub corrupt_ppm: u32,
    /// the most that a packet is delayed beyond the propagation, in nanoseconds
    pub jitter_ns: u64,
    /// IP packets that can be marked (RFC 3168) are, while at least so many wait for the link
    pub ecn_threshold: Option<usize>,
    /// IP packets that are longer are dropped, as by a router before a link with this MTU
    pub path_mtu: Option<u32>,
    /// that router reports nothing
    pub silent: bool,
    /// every packet is lost
    pub down: bool,
}

/// The faults of a direction of a link over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultSchedule {
    /// each holds from its time on, in nanoseconds, until that of the next; the first begins at 0
    phases: Vec<(u64, LinkFaults)>,
    /// in place of the link's rate
    rate: Option<Arc<RateTrace>>,
}

impl Default for FaultSchedule {
    fn default() -> FaultSchedule {
        LinkFaults::default().into()
    }
}

impl From<LinkFaults> for FaultSchedule {
    fn from(always: LinkFaults) -> FaultSchedule {
        FaultSchedule { phases: vec![(0, always)], rate: None }
    }
}

impl FaultSchedule {
    /// Changes the faults from a time until just before another one, in nanoseconds.
    pub fn during(&mut self, from: u64, until: u64, change: impl Fn(&mut LinkFaults)) {
        let first = self.begin_phase(from);
        let end = if until == FOREVER { self.phases.len() } else { self.begin_phase(until) };
        self.phases.iter_mut().take(end).skip(first).for_each(|(_, faults)| change(faults));
    }

    /// Changes the faults at all times.
    pub fn always(&mut self, change: impl Fn(&mut LinkFaults)) {
        self.during(0, FOREVER, change);
    }

    /// Gives the link a rate over time, in place of its own, in the whole run.
    pub fn set_rate(&mut self, rate: Arc<RateTrace>) {
        self.rate = Some(rate);
    }

    /// The rate over time, if there is one.
    pub fn rate(&self) -> Option<&RateTrace> {
        self.rate.as_deref()
    }

    /// Whether this holds at some time.
    pub fn any(&self, holds: impl Fn(&LinkFaults) -> bool) -> bool {
        self.phases.iter().any(|(_, faults)| holds(faults))
    }

    /// Whether the link is down from some time on for ever.
    pub fn is_cut(&self) -> bool {
        self.phases.last().is_some_and(|(_, faults)| faults.down)
    }

    /// The place of the phase that begins at a time, which is made if there is none.
    fn begin_phase(&mut self, at: u64) -> usize {
        let place = self.phases.partition_point(|(from, _)| *from < at);
        if self.phases.get(place).is_none_or(|(from, _)| *from != at) {
            let before = self.phases[..place].last().map(|(_, faults)| *faults).unwrap_or_default();
            self.phases.insert(place, (at, before));
        }
        place
    }
}

/// How often each fault happened in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounters {
    /// all that were lost
    pub lost: u64,
    /// of these, those by [`BurstLoss`]
    pub lost_in_bursts: u64,
    /// of these, those while the link was down
    pub lost_down: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub corrupted: u64,
    pub too_long: u64,
}

impl FaultCounters {
    /// Counts those of another direction too.
    pub fn add(&mut self, other: &FaultCounters) {
        self.lost += other.lost;
        self.lost_in_bursts += other.lost_in_bursts;
        self.lost_down += other.lost_down;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.corrupted += other.corrupted;
        self.too_long += other.too_long;
    }
}

/// Random numbers: a stream for each fault, so that changing one moves no other.
#[derive(Debug)]
pub struct FaultRng {
    loss: Rng,
    duplicate: Rng,
    reorder: Rng,
    corrupt: Rng,
    burst: Rng,
    jitter: Rng,
}

impl FaultRng {
    /// The streams from this number on: there are [`FaultRng::STREAMS`].
    pub fn new(seed: u64, first: u64) -> FaultRng {
        let stream = |purpose| Rng::new(seed, first + purpose);
        FaultRng {
            loss: stream(0),
            duplicate: stream(1),
            reorder: stream(2),
            corrupt: stream(3),
            burst: stream(4),
            jitter: stream(5),
        }
    }

    /// Numbers of streams from one to the next, with some to spare.
    pub const STREAMS: u64 = 8;
}

/// A packet on its way out.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing {
    /// its bytes
    pub octets: usize,
    pub now: u64,
    /// when its last byte is on the wire
    pub left: u64,
    /// nanoseconds from its first byte to its last
    pub serialisation: u64,
    /// propagation, in nanoseconds
    pub delay_ns: u64,
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

impl Fate {
    /// Whether nothing happens to it but that it arrives.
    pub fn is_plain(&self) -> bool {
        self.arrival.is_some() && self.copy.is_none() && self.flipped_bit.is_none()
    }
}

/// The faults of one direction of a link at work.
#[derive(Debug)]
pub struct FaultState {
    schedule: FaultSchedule,
    /// those that hold now, and the place of their phase
    faults: LinkFaults,
    place: usize,
    /// until then
    until: u64,
    has_faults: bool,
    /// the state of [`BurstLoss`]
    is_bad: bool,
    /// when the last packet arrives that was delayed by jitter
    latest: u64,
    rate: Option<RateState>,
}

impl FaultState {
    /// At the beginning of a run.
    pub fn new(schedule: FaultSchedule) -> FaultState {
        let faults = LinkFaults::default();
        let rate = schedule.rate.clone().map(RateState::new);
        FaultState { schedule, faults, place: 0, until: 0, has_faults: false, is_bad: false, latest: 0, rate }
    }

    /// Goes on to the phase of a time.
    fn turn_to(&mut self, now: u64) {
        let phases = &self.schedule.phases;
        let from = |place: usize| phases.get(place).map_or(FOREVER, |(from, _)| *from);
        while from(self.place + 1) <= now && self.place + 1 < phases.len() {
            self.place += 1;
        }
        self.until = from(self.place + 1);
        self.faults = phases[self.place].1;
        self.has_faults = self.faults != LinkFaults::default();
        if self.faults.burst_loss.is_none() {
            self.is_bad = false;
        }
    }

    /// When the last byte of a packet that can begin at a time has left, by a rate over time; `None` where the link has a rate of its
    /// own.
    #[inline]
    pub fn leaves(&mut self, begin: u64, octets: usize) -> Option<u64> {
        self.rate.as_mut().map(|rate| rate.send(begin, octets))
    }

    /// Whether the link has a rate over time.
    pub fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// The number of waiting packets from which packets are marked now.
    pub fn ecn_threshold(&mut self, now: u64) -> Option<usize> {
        if now >= self.until {
            self.turn_to(now);
        }
        self.faults.ecn_threshold
    }

    /// What happens to a packet.
    #[inline]
    pub fn fate(&mut self, rng: &mut FaultRng, counters: &mut FaultCounters, packet: Outgoing) -> Fate {
        if packet.now >= self.until {
            self.turn_to(packet.now);
        }
        let arrival = (packet.left + packet.delay_ns).max(self.latest);
        let fate = Fate { left: Some(packet.left), arrival: Some(arrival), ..Fate::default() };
        if self.has_faults { self.suffered(fate, arrival, rng, counters, packet) } else { fate }
    }

    /// The fate of a packet while there are faults; `arrival` is that without them.
    fn suffered(
        &mut self,
        mut fate: Fate,
        mut arrival: u64,
        rng: &mut FaultRng,
        counters: &mut FaultCounters,
        packet: Outgoing,
    ) -> Fate {
        let faults = self.faults;
        if let Some(mtu) = faults.path_mtu.filter(|mtu| packet.octets > *mtu as usize) {
            counters.too_long += 1;
            // The router is half-way.
            fate.report = Some((mtu, arrival)).filter(|_| !faults.silent);
            fate.arrival = None;
            return fate;
        }
        if faults.jitter_ns > 0 {
            let delayed = packet.left + packet.delay_ns + rng.jitter.between(0, faults.jitter_ns);
            // Jitter keeps the order: `reorder_ppm` is there to change it.
            self.latest = self.latest.max(delayed);
            arrival = self.latest;
        }
        let is_lost = self.is_lost(rng, counters);
        fate.arrival = (!is_lost).then_some(arrival);
        if rng.duplicate.chance(faults.duplicate_ppm) && !faults.down {
            counters.duplicated += 1;
            fate.copy = Some(arrival + packet.serialisation);
        }
        if rng.reorder.chance(faults.reorder_ppm) {
            counters.reordered += 1;
            // Long enough that several packets of this size overtake it.
            let extra = packet.serialisation * rng.reorder.between(2, 8) + packet.delay_ns / 4 + 1;
            fate.arrival = fate.arrival.map(|at| at + extra);
        }
        if rng.corrupt.chance(faults.corrupt_ppm) {
            counters.corrupted += 1;
            fate.flipped_bit = Some(rng.corrupt.below(packet.octets as u64 * 8));
        }
        fate
    }

    /// Each stream gives its number whether the packet is lost already or not.
    fn is_lost(&mut self, rng: &mut FaultRng, counters: &mut FaultCounters) -> bool {
        let faults = self.faults;
        let by_chance = rng.loss.chance(faults.loss_ppm);
        let mut in_burst = false;
        if let Some(burst) = faults.burst_loss {
            let (lost_ppm, changes_ppm) = match self.is_bad {
                true => (burst.bad_ppm, burst.end_ppm),
                false => (burst.good_ppm, burst.begin_ppm),
            };
            in_burst = rng.burst.chance(lost_ppm);
            self.is_bad ^= rng.burst.chance(changes_ppm);
        }
        let is_lost = by_chance || in_burst || faults.down;
        counters.lost += u64::from(is_lost);
        counters.lost_down += u64::from(faults.down);
        counters.lost_in_bursts += u64::from(in_burst && !by_chance && !faults.down);
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// The fates of so many packets of 100 bytes, a microsecond apart, over a link of 1 ms; and the counts.
    fn fates(schedule: FaultSchedule, packets: u64) -> (Vec<Fate>, FaultCounters) {
        let (mut state, mut rng) = (FaultState::new(schedule), FaultRng::new(7, 0));
        let mut counters = FaultCounters::default();
        let fates = (0..packets).map(|number| {
            let now = number * 1_000;
            let packet =
                Outgoing { octets: 100, now, left: now + 800, serialisation: 800, delay_ns: 1_000_000 };
            state.fate(&mut rng, &mut counters, packet)
        });
        (fates.collect(), counters)
    }

    #[test]
    fn faults_come_as_often_as_asked() {
        let faults = LinkFaults {
            loss_ppm: 10_000,
            duplicate_ppm: 20_000,
            reorder_ppm: 30_000,
            corrupt_ppm: 40_000,
            ..LinkFaults::default()
        };
        let (fates, c) = fates(faults.into(), 100_000);
        for (found, wanted) in
            [(c.lost, 1000), (c.duplicated, 2000), (c.reordered, 3000), (c.corrupted, 4000)]
        {
            assert!(found.abs_diff(wanted) < wanted / 5, "{found} is far from {wanted}");
        }
        let count = |is: fn(&Fate) -> bool| fates.iter().filter(|fate| is(fate)).count() as u64;
        assert_eq!(count(|fate| fate.arrival.is_none()), c.lost);
        assert_eq!(count(|fate| fate.copy.is_some()), c.duplicated);
        assert_eq!(count(|fate| fate.flipped_bit.is_some()), c.corrupted);
    }

    #[test]
    fn one_fault_moves_no_other() {
        let lossy = LinkFaults { loss_ppm: 100_000, ..LinkFaults::default() };
        let burst_loss = BurstLoss { begin_ppm: 9_000, end_ppm: 90_000, bad_ppm: 0, good_ppm: 0 };
        let all = LinkFaults {
            duplicate_ppm: 500_000,
            corrupt_ppm: 500_000,
            jitter_ns: 5_000,
            burst_loss: Some(burst_loss),
            ..lossy
        };
        let lost = |faults: LinkFaults| {
            fates(faults.into(), 1000).0.iter().map(|fate| fate.arrival.is_none()).collect::<Vec<_>>()
        };
        assert_eq!(lost(lossy), lost(all));
    }

    /// The stationary distribution of the two states (Gilbert, 1960): bad with p / (p + r), and bad for 1 / r packets on average.
    #[test]
    fn bursts_are_as_long_and_as_frequent_as_the_formula_says() {
        for [begin_ppm, end_ppm, bad_ppm, good_ppm] in [
            [10_000, 250_000, 1_000_000, 0],
            [2_000, 50_000, 1_000_000, 0],
            [10_000, 100_000, 600_000, 5_000],
        ] {
            let burst = BurstLoss { begin_ppm, end_ppm, bad_ppm, good_ppm };
            let faults = LinkFaults { burst_loss: Some(burst), ..LinkFaults::default() };
            let (fates, counters) = fates(faults.into(), 2_000_000);
            let [p, r, bad, good] = [begin_ppm, end_ppm, bad_ppm, good_ppm].map(|ppm| f64::from(ppm) / 1e6);
            let rate = (p * bad + r * good) / (p + r);
            let found = counters.lost as f64 / fates.len() as f64;
            assert!((found / rate - 1.0).abs() < 0.03, "{burst:?}: loss of {found}, not {rate}");
            assert_eq!(counters.lost_in_bursts, counters.lost);
            if (bad_ppm, good_ppm) == (1_000_000, 0) {
                let lost: Vec<bool> = fates.iter().map(|fate| fate.arrival.is_none()).collect();
                let bursts = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
                let mean = counters.lost as f64 / bursts as f64;
                assert!((mean * r - 1.0).abs() < 0.03, "{burst:?}: bursts of {mean}, not {}", 1.0 / r);
            }
        }
    }

    #[test]
    fn jitter_delays_evenly_and_keeps_the_order() {
        let faults = LinkFaults { jitter_ns: 600, ..LinkFaults::default() };
        let (evenly, _) = fates(faults.into(), 10_000);
        // Packets are further apart than the jitter, so none waits for another.
        let late: Vec<u64> =
            (0..).zip(&evenly).map(|(n, fate)| fate.arrival.unwrap_or(0) - (n * 1_000 + 1_000_800)).collect();
        let mean = late.iter().sum::<u64>() as f64 / late.len() as f64;
        assert!((280.0..320.0).contains(&mean), "{mean}");
        assert_eq!((late.iter().min(), late.iter().max()), (Some(&0), Some(&600)));
        let wide = LinkFaults { jitter_ns: 5_000_000, ..LinkFaults::default() };
        let mut until_then = FaultSchedule::default();
        until_then.during(0, 2_000_000, |faults| *faults = wide);
        let arrivals: Vec<_> = fates(until_then, 10_000).0.iter().map(|fate| fate.arrival).collect();
        assert!(arrivals.is_sorted(), "no packet overtakes another, also after the end of the jitter");
        assert!(arrivals[0] < arrivals[1999]);
    }

    #[test]
    fn faults_hold_at_their_times() {
        let mut schedule = FaultSchedule::default();
        schedule.during(2_000_000, 3_000_000, |faults| faults.down = true);
        schedule.during(2_500_000, FOREVER, |faults| faults.corrupt_ppm = 1_000_000);
        assert!(!schedule.is_cut() && schedule.any(|faults| faults.down));
        let (fates, counters) = fates(schedule, 4000);
        let down = |n: usize| (2000..3000).contains(&n);
        for (n, fate) in fates.iter().enumerate() {
            let found = (fate.arrival.is_none(), fate.flipped_bit.is_some());
            assert_eq!(found, (down(n), n >= 2500), "packet {n}");
        }
        assert_eq!((counters.lost, counters.lost_down, counters.corrupted), (1000, 1000, 1500));
    }

    #[test]
    fn later_changes_leave_what_they_do_not_name() {
        let mut schedule = FaultSchedule::from(LinkFaults { loss_ppm: 5, ..LinkFaults::default() });
        schedule.during(SECOND, 2 * SECOND, |faults| faults.reorder_ppm = 7);
        schedule.during(SECOND / 2, 3 * SECOND / 2, |faults| faults.loss_ppm = 9);
        schedule.always(|faults| faults.duplicate_ppm = 1);
        let found: Vec<_> = schedule.phases.iter().map(|(at, f)| (*at, f.loss_ppm, f.reorder_ppm)).collect();
        let half = SECOND / 2;
        let wanted = [(0, 5, 0), (half, 9, 0), (SECOND, 9, 7), (3 * half, 5, 7), (2 * SECOND, 5, 0)];
        assert_eq!(found, wanted);
        assert!(schedule.phases.iter().all(|(_, faults)| faults.duplicate_ppm == 1));
        schedule.during(4 * SECOND, FOREVER, |faults| faults.down = true);
        assert!(schedule.is_cut());
    }
}
