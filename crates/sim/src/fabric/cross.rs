// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cross traffic: packets of a model, which no program sends and none takes.

use std::sync::Arc;

use super::host_apps::address;
use super::packets;
use super::real::{exp, ln, unit};
use super::topology::{Node, Topology};
use crate::faults::FOREVER;
use crate::limits::{self, at_most};
use crate::rng::Rng;

/// Bytes of a packet at least: its header, and what tells whose it is.
pub const SHORTEST: u32 = 40;
/// Sources of a run at most.
const SOURCES: u64 = 65_536;
const SECOND: u128 = 1_000_000_000;

/// Packets from one host to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Cross {
    pub from: Node,
    pub to: Node,
    pub pattern: Pattern,
    /// nanoseconds between which they are sent
    pub begin: u64,
    pub end: u64,
}

/// When packets are sent, and how long they are.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    Rate {
        /// bits per second, headers of the network layer included, while it sends
        rate_bps: u64,
        /// bytes of a packet
        octets: u32,
        /// the times between packets are drawn from an exponential distribution; else they are equal
        poisson: bool,
        /// it sends now and then; else always
        bursts: Option<Bursts>,
    },
    /// packets with the times before them; they repeat
    Recorded(Arc<[Recorded]>),
}

/// Times in which a source sends and those between them, in nanoseconds: means of an exponential distribution, or of one of
/// Pareto with this shape (Willinger et al., IEEE/ACM Transactions on Networking 5(1), 1997).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bursts {
    pub on_ns: u64,
    pub off_ns: u64,
    pub shape: Option<f64>,
}

/// A packet of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// nanoseconds since the one before it
    pub gap_ns: u64,
    pub octets: u32,
}

impl Cross {
    /// Whether it can be sent in this topology, with packets of so many bytes at most.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    fn check(&self, topology: &Topology, mtu: u32) -> Result<(), String> {
        for host in [self.from, self.to] {
            if host >= topology.hosts {
                return Err(format!("cross traffic is between hosts, and {} is none", topology.name(host)));
            }
        }
        if self.from == self.to {
            return Err(format!("cross traffic from {0} to {0} stays there", topology.name(self.from)));
        }
        let fits = |octets: u32| match (SHORTEST..=mtu).contains(&octets) {
            true => Ok(()),
            false => Err(format!(
                "packets of cross traffic have {SHORTEST} to {mtu} bytes (the MTU), not {octets}"
            )),
        };
        match &self.pattern {
            Pattern::Rate { rate_bps: 0, .. } => Err("cross traffic of 0 bps: choose a rate".into()),
            Pattern::Rate { rate_bps, octets, .. }
                if u128::from(*rate_bps) > 8 * u128::from(*octets) * SECOND =>
            {
                Err(format!(
                    "cross traffic of {rate_bps} bps has more than one packet of {octets} bytes in a nanosecond: choose a lower rate"
                ))
            }
            Pattern::Rate { octets, bursts, .. } => {
                bursts.iter().try_for_each(Bursts::check)?;
                fits(*octets)
            }
            Pattern::Recorded(all) if all.iter().all(|it| it.gap_ns == 0) => {
                Err("a recording of cross traffic takes no time: one of its gaps is above 0".into())
            }
            Pattern::Recorded(all) => all.iter().try_for_each(|it| fits(it.octets)),
        }
    }
}

impl Bursts {
    fn check(&self) -> Result<(), String> {
        if self.on_ns == 0 {
            return Err("bursts of cross traffic that take no time: choose a longer one".into());
        }
        at_most("nanoseconds of a burst", self.on_ns.max(self.off_ns), limits::DELAY_NS)?;
        match self.shape {
            Some(shape) if !(1.01..=100.0).contains(&shape) => Err(format!(
                "the shape of a Pareto distribution is from 1.01 to 100, not {shape:?}: it has no mean up to 1"
            )),
            _ => Ok(()),
        }
    }

    fn draw(&self, mean_ns: u64, rng: &mut Rng) -> u64 {
        let rest = ln(1.0 - unit(rng));
        let drawn = match self.shape {
            None => -rest * mean_ns as f64,
            Some(shape) => mean_ns as f64 * (shape - 1.0) / shape * exp(-rest / shape),
        };
        drawn.min(FOREVER as f64 / 4.0) as u64
    }
}

/// What came of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrossCounters {
    /// packets that were to be sent, and their bytes
    pub sent: u64,
    pub sent_octets: u64,
    /// of them, those that found the queue of their host full
    pub dropped: u64,
    pub delivered: u64,
    pub delivered_octets: u64,
}

/// A source at work. Its clock stands still between bursts, so that no part of a packet's time is lost.
pub struct Source {
    pub of: Cross,
    pub counters: CrossCounters,
    rng: Rng,
    /// packets that were planned
    planned: u64,
    /// the time of the next packet, by the clock that stands still, in nanoseconds
    clock: u64,
    /// when the burst began, by both clocks, and how long it is
    burst: (u64, u64, u64),
}

/// The stream of random numbers for the first source; those of others follow.
const STREAM_CROSS: u64 = 1 << 33;

impl Source {
    /// All sources of a run.
    ///
    /// # Errors
    /// A sentence about one that can not be.
    pub fn all(all: &[Cross], topology: &Topology, mtu: u32, seed: u64) -> Result<Vec<Source>, String> {
        at_most("sources of cross traffic", all.len() as u64, SOURCES)?;
        let of = |(number, of): (u64, &Cross)| {
            of.check(topology, mtu)?;
            let mut source = Source {
                of: of.clone(),
                counters: CrossCounters::default(),
                rng: Rng::new(seed, STREAM_CROSS + number),
                planned: 0,
                clock: 0,
                burst: (of.begin, 0, FOREVER - of.begin),
            };
            if let Pattern::Rate { bursts: Some(bursts), .. } = &of.pattern {
                source.burst.2 = bursts.draw(bursts.on_ns, &mut source.rng);
            }
            Ok(source)
        };
        (0..).zip(all).map(of).collect()
    }

    /// When the next packet is sent, and its bytes. `None`: there is none.
    pub fn next_packet(&mut self) -> Option<(u64, u32)> {
        let number = self.planned;
        self.planned += 1;
        let octets = match &self.of.pattern {
            Pattern::Recorded(all) => {
                let next = all[(number % all.len() as u64) as usize];
                self.clock = self.clock.saturating_add(next.gap_ns);
                next.octets
            }
            Pattern::Rate { rate_bps, octets, poisson, .. } => {
                let packet = u128::from(*octets) * 8 * SECOND;
                self.clock = match poisson {
                    true if number == 0 => 0,
                    true => {
                        let mean = packet as f64 / *rate_bps as f64;
                        self.clock.saturating_add((-ln(1.0 - unit(&mut self.rng)) * mean) as u64)
                    }
                    false => u64::try_from(u128::from(number) * packet / u128::from(*rate_bps)).ok()?,
                };
                *octets
            }
        };
        let (mut begin, mut at, mut long) = self.burst;
        if let Pattern::Rate { bursts: Some(bursts), .. } = &self.of.pattern {
            while self.clock - at >= long && begin < self.of.end {
                at += long;
                begin = begin.saturating_add(long).saturating_add(bursts.draw(bursts.off_ns, &mut self.rng));
                long = bursts.draw(bursts.on_ns, &mut self.rng).max(1);
            }
        }
        self.burst = (begin, at, long);
        let time = begin.saturating_add(self.clock - at);
        (time < self.of.end).then_some((time, octets))
    }
}

/// Protocol number of its packets: for experiments (RFC 3692).
const PROTOCOL: u8 = 253;
/// Where in a packet its source's number is, and these bytes behind that.
const NUMBER: usize = 20;
const MARK: [u8; 8] = *b"carrickx";

/// Makes a packet of a source.
pub fn make(octets: &mut Vec<u8>, of: &Cross, (number, len): (u32, u32)) {
    octets.clear();
    octets.resize(len as usize, 0);
    octets[..12].copy_from_slice(&[0x45, 0, (len >> 8) as u8, len as u8, 0, 0, 0, 0, 64, PROTOCOL, 0, 0]);
    octets[12..16].copy_from_slice(&address(of.from).to_be_bytes());
    octets[16..20].copy_from_slice(&address(of.to).to_be_bytes());
    octets[NUMBER..NUMBER + 4].copy_from_slice(&number.to_be_bytes());
    octets[NUMBER + 4..NUMBER + 12].copy_from_slice(&MARK);
    packets::renew_checksum(octets);
}

/// The number of the source that a packet is of.
pub fn source_of(octets: &[u8]) -> Option<usize> {
    let number = octets.get(NUMBER..NUMBER + 4)?;
    let marked = octets.get(NUMBER + 4..NUMBER + 12)? == MARK && octets[9] == PROTOCOL && octets[0] == 0x45;
    marked.then(|| number.iter().fold(0, |all, octet| all << 8 | usize::from(*octet)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const SEC: u64 = 1000 * MS;

    fn source(pattern: Pattern, begin: u64, end: u64) -> Source {
        let links = super::super::topology::Links { rate_bps: 1, core_rate_bps: 1, delay_ns: 1 };
        let topology = Topology::named("star:3", &links).expect("a topology");
        let of = Cross { from: 1, to: 2, pattern, begin, end };
        Source::all(&[of], &topology, 1500, 7).expect("it can be").remove(0)
    }

    fn times(mut source: Source) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| source.next_packet()).collect()
    }

    fn rate(rate_bps: u64, poisson: bool, bursts: Option<Bursts>) -> Pattern {
        Pattern::Rate { rate_bps, octets: 1000, poisson, bursts }
    }

    #[test]
    fn packets_at_a_rate_have_equal_gaps_without_an_error_that_grows() {
        // 3 Mbit/s of 1000 bytes: a packet each 2.666... ms.
        let times = times(source(rate(3_000_000, false, None), SEC, 3 * SEC));
        assert_eq!(times.len(), 750);
        for (n, (at, octets)) in (0..).zip(&times) {
            assert_eq!((*at, *octets), (SEC + n * 8000 * MS / 3000, 1000));
        }
    }

    /// The mean of the gaps, and that their deviation is as large, as it is of an exponential distribution.
    #[test]
    fn gaps_of_poisson_are_exponential() {
        let times = times(source(rate(8_000_000, true, None), 0, 100 * SEC));
        let gaps: Vec<f64> = times.windows(2).map(|two| (two[1].0 - two[0].0) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 1.0).abs() < 0.01, "{mean} {deviation}");
    }

    /// A burst begins where a gap is longer than that of the rate.
    fn bursts_of(bursts: Bursts, seconds: u64) -> (f64, Vec<f64>) {
        let times = times(source(rate(80_000_000, false, Some(bursts)), 0, seconds * SEC));
        let mean_bps = times.len() as f64 * 8000.0 / seconds as f64;
        let mut lengths = Vec::new();
        let mut begin = times[0].0;
        for two in times.windows(2) {
            if two[1].0 - two[0].0 > 101_000 {
                lengths.push((two[0].0 - begin) as f64 / 1e6);
                begin = two[1].0;
            }
        }
        (mean_bps, lengths)
    }

    #[test]
    fn bursts_have_their_share_of_the_time() {
        let exponential = Bursts { on_ns: 20 * MS, off_ns: 60 * MS, shape: None };
        let (mean_bps, lengths) = bursts_of(exponential, 800);
        assert!((mean_bps / 20e6 - 1.0).abs() < 0.03, "{mean_bps}");
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        assert!((mean / 20.0 - 1.0).abs() < 0.05, "{mean}");
    }

    /// Of Pareto's distribution, the share of bursts above x is (scale / x) ^ shape.
    #[test]
    fn bursts_of_pareto_have_its_tail() {
        let pareto = Bursts { on_ns: 20 * MS, off_ns: 60 * MS, shape: Some(1.5) };
        let (_, lengths) = bursts_of(pareto, 1600);
        let scale = 20.0 * 0.5 / 1.5;
        for above in [10.0, 20.0, 40.0, 80.0_f64] {
            let share = lengths.iter().filter(|it| **it > above).count() as f64 / lengths.len() as f64;
            let wanted = (scale / above).powf(1.5);
            assert!((share / wanted - 1.0).abs() < 0.12, "{above}: {share} {wanted}");
        }
    }

    #[test]
    fn a_recording_repeats() {
        let all = [(0, 100), (5, 200), (10, 300)].map(|(gap_ns, octets)| Recorded { gap_ns, octets });
        let times = times(source(Pattern::Recorded(all.into()), 100, 146));
        let wanted = [(100, 100), (105, 200), (115, 300), (115, 100), (120, 200), (130, 300)];
        assert_eq!(times[..6], wanted);
        assert_eq!((times.len(), times.last()), (10, Some(&(145, 100))));
    }

    #[test]
    fn a_packet_says_whose_it_is() {
        let mut octets = vec![9; 3];
        make(&mut octets, &source(rate(1, false, None), 0, 1).of, (77, 64));
        assert_eq!((octets.len(), source_of(&octets)), (64, Some(77)));
        let label = packets::Label::of(&octets);
        assert_eq!([label.source, label.destination], [1, 2].map(address));
        octets[9] = 6;
        assert_eq!(source_of(&octets), None);
        assert_eq!(source_of(&octets[..30]), None);
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        let links = super::super::topology::Links { rate_bps: 1, core_rate_bps: 1, delay_ns: 1 };
        let topology = Topology::named("star:3", &links).expect("a topology");
        let said = |from, to, pattern| {
            let of = Cross { from, to, pattern, begin: 0, end: 1 };
            Source::all(&[of], &topology, 1500, 7).err().expect("it cannot be")
        };
        let burst = |on_ns, shape| Some(Bursts { on_ns, off_ns: 1, shape });
        let none = Pattern::Recorded([Recorded { gap_ns: 0, octets: 100 }].into());
        let long = Pattern::Recorded([Recorded { gap_ns: 1, octets: 1501 }].into());
        for (said, wanted) in [
            (said(1, 3, rate(1, false, None)), "s0 is none"),
            (said(1, 1, rate(1, false, None)), "stays there"),
            (said(1, 2, rate(0, false, None)), "choose a rate"),
            (said(1, 2, rate(1, false, burst(0, None))), "take no time"),
            (said(1, 2, rate(1, false, burst(1, Some(1.0)))), "from 1.01 to 100, not 1"),
            (said(1, 2, none), "takes no time"),
            (said(1, 2, long), "40 to 1500 bytes (the MTU), not 1501"),
        ] {
            assert!(said.contains(wanted), "{said}");
        }
    }
}
