// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends what to whom, and when: from a name, a seed, and how long messages are.

use std::ops::RangeInclusive;

use super::flows::{Flow, OCTETS_MIN, Start};
use super::real::{ln, unit};
use super::sizes::Sizes;
use crate::limits::{self, at_most};
use crate::rng::Rng;

/// A pattern of flows.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// so many hosts send to host 0, at once
    Incast(u32),
    /// each host sends to one other, and each is sent to by one
    Permutation,
    /// each host sends to every other
    AllToAll,
    /// each host has so many flows under way to random others: a new one begins when one has ended
    Closed(u32),
    /// each host begins flows to random others, a Poisson process that asks for this share of its link, in parts per million;
    /// of the links of those who receive, if they are fewer than those who send
    Poisson(u32),
    /// these
    Given(Vec<Flow>),
}

/// The patterns that have a name, as they are written.
pub const KINDS: &str = "incast:N, permutation, all-to-all, closed:N, poisson:LOAD% (these three also @h1:h0, @h2..h9:h0) or trace:FILE";

/// Hosts that send, and hosts that receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    pub from: RangeInclusive<u32>,
    pub to: RangeInclusive<u32>,
}

/// What a network is to carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub kind: Kind,
    /// all hosts without it; of all-to-all, closed and Poisson
    pub between: Option<Between>,
    pub sizes: Sizes,
    /// flows of each sender one after another (incast, permutation, all-to-all: to each), or of all hosts together (closed,
    /// Poisson)
    pub count: u32,
}

/// The streams of random numbers: apart from those of links and applications.
const STREAM_WHO: u64 = 500;
const STREAM_SIZES: u64 = 501;
const STREAM_TIMES: u64 = 502;

impl Workload {
    /// Its flows among so many hosts, whose links have this rate; the same for the same seed.
    ///
    /// # Errors
    /// A sentence, if there are too few hosts, or not those that are named.
    pub fn flows(&self, hosts: u32, rate_bps: u64, seed: u64) -> Result<Vec<Flow>, String> {
        if hosts < 2 {
            return Err("flows need two hosts".into());
        }
        let between = self.among(hosts)?;
        at_most("flows", self.how_many(hosts, &between), limits::FLOWS)?;
        let links = between.from.clone().count().min(between.to.clone().count()) as u32;
        let mut makes = Maker {
            hosts,
            between,
            sizes: self.sizes,
            who: Rng::new(seed, STREAM_WHO),
            size: Rng::new(seed, STREAM_SIZES),
            flows: Vec::new(),
        };
        match &self.kind {
            Kind::Given(flows) => return Ok(flows.clone()),
            Kind::Incast(senders) if *senders >= hosts => {
                return Err(format!("{senders} hosts cannot send to one more: there are {hosts}"));
            }
            Kind::Incast(senders) => (1..=*senders).for_each(|source| makes.chain(source, 0, self.count)),
            Kind::Permutation => {
                let to = makes.derangement();
                (0..hosts).zip(to).for_each(|(source, to)| makes.chain(source, to, self.count));
            }
            Kind::AllToAll => makes.each_to_each(self.count),
            Kind::Closed(under_way) => makes.closed(*under_way, self.count),
            Kind::Poisson(load) => {
                let pause = self.sizes.mean() * 8e9 / (rate_bps as f64 * f64::from(*load) / 1e6);
                // All hosts together are one process that is as many times as fast, each flow of which is any host's.
                makes.poisson(pause / f64::from(links), self.count, &mut Rng::new(seed, STREAM_TIMES));
            }
        }
        Ok(makes.flows)
    }

    /// Flows that it has, or lanes of a closed loop, if those are more.
    fn how_many(&self, hosts: u32, between: &Between) -> u64 {
        let [senders, receivers] =
            [&between.from, &between.to].map(|of| u64::from(of.end() - of.start()) + 1);
        let count = u64::from(self.count);
        match &self.kind {
            Kind::Incast(senders) => count.saturating_mul(u64::from(*senders)),
            Kind::Permutation => count.saturating_mul(u64::from(hosts)),
            Kind::AllToAll => count.saturating_mul(senders * receivers),
            Kind::Closed(under_way) => count.max(u64::from(*under_way).saturating_mul(senders)),
            Kind::Poisson(_) => count,
            Kind::Given(flows) => flows.len() as u64,
        }
    }

    /// Who sends, and who receives.
    fn among(&self, hosts: u32) -> Result<Between, String> {
        let Some(between) = &self.between else {
            return Ok(Between { from: 0..=hosts - 1, to: 0..=hosts - 1 });
        };
        if !matches!(self.kind, Kind::AllToAll | Kind::Closed(_) | Kind::Poisson(_)) {
            return Err(
                "only the workloads all-to-all, closed and poisson accept senders and receivers".into()
            );
        }
        for named in [&between.from, &between.to] {
            if named.is_empty() || *named.end() >= hosts {
                let (first, last) = (named.start(), named.end());
                return Err(format!("h{first}..h{last} are not among {hosts} hosts"));
            }
        }
        let (first, last) = (*between.to.start(), *between.to.end());
        if first == last && between.from.contains(&first) {
            return Err(format!("h{first} would send to itself"));
        }
        Ok(between.clone())
    }
}

struct Maker {
    hosts: u32,
    between: Between,
    sizes: Sizes,
    who: Rng,
    size: Rng,
    flows: Vec<Flow>,
}

impl Maker {
    fn flow(&mut self, source: u32, destination: u32, start: Start) -> u32 {
        let octets = self.sizes.sample(&mut self.size).max(OCTETS_MIN);
        self.flows.push(Flow { source, destination, octets, start, background: false });
        self.flows.len() as u32 - 1
    }

    fn chain(&mut self, source: u32, destination: u32, count: u32) {
        let mut start = Start::At(0);
        for _ in 0..count {
            start = Start::After { flow: self.flow(source, destination, start), pause: 0 };
        }
    }

    fn sender(&mut self) -> u32 {
        let Between { from, .. } = &self.between;
        from.start() + self.who.below(u64::from(from.end() - from.start()) + 1) as u32
    }

    /// Any receiver, but for this host.
    fn other(&mut self, than: u32) -> u32 {
        let Between { to, .. } = &self.between;
        let itself = to.contains(&than);
        let receivers = u64::from(to.end() - to.start()) + 1;
        let other = to.start() + self.who.below(receivers - u64::from(itself)) as u32;
        if itself && other >= than { other + 1 } else { other }
    }

    fn each_to_each(&mut self, count: u32) {
        let Between { from, to } = self.between.clone();
        // Each begins with the host behind it, so that not all send to the same at first.
        for source in from {
            let (behind, before): (Vec<u32>, Vec<u32>) = to.clone().partition(|host| *host > source);
            for destination in behind.into_iter().chain(before).filter(|host| *host != source) {
                self.chain(source, destination, count);
            }
        }
    }

    /// A permutation that leaves nothing in its place (Sattolo: one cycle through all).
    fn derangement(&mut self) -> Vec<u32> {
        let mut to: Vec<u32> = (0..self.hosts).collect();
        for i in (1..to.len()).rev() {
            to.swap(i, self.who.below(i as u64) as usize);
        }
        to
    }

    fn closed(&mut self, under_way: u32, count: u32) {
        let from = self.between.from.clone();
        let senders = from.end() - from.start() + 1;
        let lanes = u64::from(senders) * u64::from(under_way.max(1));
        let mut last = vec![Start::At(0); lanes as usize];
        for i in 0..count as usize {
            let lane = i % last.len();
            let source = from.start() + (lane % senders as usize) as u32;
            let destination = self.other(source);
            last[lane] = Start::After { flow: self.flow(source, destination, last[lane]), pause: 0 };
        }
    }

    /// A process with this pause on average.
    fn poisson(&mut self, pause: f64, count: u32, times: &mut Rng) {
        let mut at = 0.0;
        for _ in 0..count {
            at += -ln(1.0 - unit(times)) * pause;
            let source = self.sender();
            let destination = self.other(source);
            self.flow(source, destination, Start::At(at as u64));
        }
    }
}

/// Flows from lines `start_ns,source,destination,octets`; empty ones and those that begin with `#` are skipped.
///
/// # Errors
/// A sentence with the number of the line that is wrong.
pub fn parse_trace(text: &str) -> Result<Vec<Flow>, String> {
    let wanted = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.starts_with('#');
    let flow = |(number, line): (usize, &str)| {
        let parts: Option<Vec<u64>> = line.split(',').map(|part| part.trim().parse().ok()).collect();
        let flow = match parts.as_deref() {
            Some([at, source, destination, octets]) if (*source).max(*destination) < 1 << 32 => Flow {
                source: *source as u32,
                destination: *destination as u32,
                octets: (*octets).max(OCTETS_MIN),
                start: Start::At(*at),
                background: false,
            },
            _ => return Err(format!("line {}: `start_ns,source,destination,bytes` is wanted", number + 1)),
        };
        Ok(flow)
    };
    text.lines().enumerate().filter(wanted).map(flow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(kind: Kind, count: u32) -> Vec<Flow> {
        let workload = Workload { kind, between: None, sizes: Sizes::Fixed(1_000_000), count };
        workload.flows(16, 10_000_000_000, 4).expect("hosts enough")
    }

    #[test]
    fn a_permutation_has_each_host_once_at_either_end() {
        let flows = flows(Kind::Permutation, 1);
        let mut to: Vec<u32> = flows.iter().map(|f| f.destination).collect();
        assert!(flows.iter().all(|f| f.source != f.destination));
        to.sort_unstable();
        assert_eq!(to, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn flows_are_not_more_than_fit() {
        for (kind, count) in [
            (Kind::Closed(u32::MAX), 1),
            (Kind::Closed(1), u32::MAX),
            (Kind::Poisson(1), u32::MAX),
            (Kind::Permutation, u32::MAX),
            (Kind::AllToAll, 1_000_000),
            (Kind::Incast(15), 1_000_000),
        ] {
            let workload = Workload { kind, between: None, sizes: Sizes::Fixed(8), count };
            assert!(workload.flows(16, 1_000_000, 4).is_err_and(|e| e.contains("limit of 10000000")));
        }
    }

    #[test]
    fn a_poisson_process_asks_for_its_load() {
        let flows = flows(Kind::Poisson(500_000), 20_000);
        let Some(Start::At(last)) = flows.last().map(|f| f.start) else { panic!("flows at a time") };
        let octets: u64 = flows.iter().map(|f| f.octets).sum();
        let load = octets as f64 * 8e9 / last as f64 / 16.0 / 1e10;
        assert!((load - 0.5).abs() < 0.02, "{load}");
    }

    #[test]
    fn a_closed_loop_keeps_as_many_under_way_as_it_should() {
        let flows = flows(Kind::Closed(2), 100);
        assert_eq!(flows.iter().filter(|f| f.start == Start::At(0)).count(), 32);
        assert_eq!(flows[32].start, Start::After { flow: 0, pause: 0 });
    }

    fn some(kind: Kind, from: RangeInclusive<u32>, to: RangeInclusive<u32>) -> Result<Vec<Flow>, String> {
        let between = Some(Between { from, to });
        let workload = Workload { kind, between, sizes: Sizes::Fixed(1_000_000), count: 2000 };
        workload.flows(16, 10_000_000_000, 4)
    }

    #[test]
    fn only_those_who_are_named_send_and_receive() {
        for kind in [Kind::Closed(3), Kind::Poisson(500_000), Kind::AllToAll] {
            let flows = some(kind, 2..=5, 4..=7).expect("hosts enough");
            let right = |f: &Flow| (2..=5).contains(&f.source) && (4..=7).contains(&f.destination);
            assert!(flows.iter().all(|f| right(f) && f.source != f.destination));
            assert!((2..=5).all(|host| flows.iter().any(|f| f.source == host)));
            assert!((4..=7).all(|host| flows.iter().any(|f| f.destination == host)));
        }
        assert!(some(Kind::Permutation, 0..=1, 2..=3).is_err());
        assert!(some(Kind::Closed(1), 0..=1, 15..=16).is_err_and(|e| e.contains("16 hosts")));
        assert!(some(Kind::Closed(1), 0..=3, 2..=2).is_err_and(|e| e.contains("itself")));
    }

    #[test]
    fn many_ask_for_the_load_of_the_links_of_few() {
        for (from, to) in [(1..=8, 0..=0), (0..=0, 1..=8)] {
            let flows = some(Kind::Poisson(500_000), from, to).expect("hosts enough");
            let Some(Start::At(last)) = flows.last().map(|f| f.start) else { panic!("flows at a time") };
            let load = flows.len() as f64 * 8e6 / last as f64 * 1e9 / 1e10;
            assert!((load - 0.5).abs() < 0.04, "{load}");
        }
    }

    #[test]
    fn traces_are_read_line_by_line() {
        let read = parse_trace("# a comment\n5, 0,1,100\n\n7,1,2,3\n").expect("a trace");
        assert_eq!((read.len(), read[1].octets, read[0].start), (2, OCTETS_MIN, Start::At(5)));
        assert!(parse_trace("1,2,3").is_err_and(|e| e.starts_with("line 1")));
    }
}
