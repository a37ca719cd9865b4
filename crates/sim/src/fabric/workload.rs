//! Who sends what to whom, and when: from a name, a seed, and how long messages are.

use super::flows::{Flow, OCTETS_MIN, Start};
use super::real::{ln, unit};
use super::sizes::Sizes;
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
    /// each host begins flows to random others, a Poisson process that asks for this share of its link, in parts per million
    Poisson(u32),
    /// these
    Given(Vec<Flow>),
}

/// The patterns that have a name, as they are written.
pub const KINDS: &str = "incast:N, permutation, all-to-all, closed:N, poisson:LOAD% or trace:FILE";

/// What a network is to carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub kind: Kind,
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
    /// A sentence, if there are too few hosts.
    pub fn flows(&self, hosts: u32, rate_bps: u64, seed: u64) -> Result<Vec<Flow>, String> {
        let mut makes = Maker {
            hosts,
            sizes: self.sizes,
            who: Rng::new(seed, STREAM_WHO),
            size: Rng::new(seed, STREAM_SIZES),
            flows: Vec::new(),
        };
        if hosts < 2 {
            return Err("flows need two hosts".into());
        }
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
            Kind::AllToAll => {
                for (source, step) in (0..hosts).flat_map(|s| (1..hosts).map(move |step| (s, step))) {
                    makes.chain(source, (source + step) % hosts, self.count);
                }
            }
            Kind::Closed(under_way) => makes.closed(*under_way, self.count),
            Kind::Poisson(load) => {
                let pause = self.sizes.mean() * 8e9 / (rate_bps as f64 * f64::from(*load) / 1e6);
                makes.poisson(pause, self.count, &mut Rng::new(seed, STREAM_TIMES));
            }
        }
        Ok(makes.flows)
    }
}

struct Maker {
    hosts: u32,
    sizes: Sizes,
    who: Rng,
    size: Rng,
    flows: Vec<Flow>,
}

impl Maker {
    fn flow(&mut self, source: u32, destination: u32, start: Start) -> u32 {
        let octets = self.sizes.sample(&mut self.size).max(OCTETS_MIN);
        self.flows.push(Flow { source, destination, octets, start });
        self.flows.len() as u32 - 1
    }

    fn chain(&mut self, source: u32, destination: u32, count: u32) {
        let mut start = Start::At(0);
        for _ in 0..count {
            start = Start::After { flow: self.flow(source, destination, start), pause: 0 };
        }
    }

    fn other(&mut self, than: u32) -> u32 {
        let other = self.who.below(u64::from(self.hosts) - 1) as u32;
        if other < than { other } else { other + 1 }
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
        let lanes = u64::from(self.hosts) * u64::from(under_way.max(1));
        let mut last = vec![Start::At(0); lanes as usize];
        for i in 0..count as usize {
            let lane = i % last.len();
            let source = (lane % self.hosts as usize) as u32;
            let destination = self.other(source);
            last[lane] = Start::After { flow: self.flow(source, destination, last[lane]), pause: 0 };
        }
    }

    fn poisson(&mut self, pause: f64, count: u32, times: &mut Rng) {
        // All hosts together are one process that is as many times as fast, each flow of which is any host's.
        let pause = pause / f64::from(self.hosts);
        let mut at = 0.0;
        for _ in 0..count {
            at += -ln(1.0 - unit(times)) * pause;
            let source = self.who.below(u64::from(self.hosts)) as u32;
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
            },
            _ => return Err(format!("line {}: `start_ns,source,destination,octets` is wanted", number + 1)),
        };
        Ok(flow)
    };
    text.lines().enumerate().filter(wanted).map(flow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(kind: Kind, count: u32) -> Vec<Flow> {
        let workload = Workload { kind, sizes: Sizes::Fixed(1_000_000), count };
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

    #[test]
    fn traces_are_read_line_by_line() {
        let read = parse_trace("# a comment\n5, 0,1,100\n\n7,1,2,3\n").expect("a trace");
        assert_eq!((read.len(), read[1].octets, read[0].start), (2, OCTETS_MIN, Start::At(5)));
        assert!(parse_trace("1,2,3").is_err_and(|e| e.starts_with("line 1")));
    }
}
