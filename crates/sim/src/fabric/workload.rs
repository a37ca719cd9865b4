// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends what to whom, and when: from a name, a seed, and how long messages are.

use std::ops::RangeInclusive;

use super::flows::{Flow, OCTETS_MIN, Start};
use super::groups::Groups;
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

/// The senders and the receivers of one program, in ascending order, and how many flows each sender has, or all of them.
struct Ends {
    from: Vec<u32>,
    to: Vec<u32>,
    count: u32,
}

impl Workload {
    /// Its flows among so many hosts, whose links have this rate; the same for the same seed. It is drawn for the hosts of each program
    /// by themselves.
    ///
    /// # Errors
    /// A sentence, if there are too few hosts, not those that are named, or they run different programs.
    pub fn flows(
        &self,
        (hosts, groups): (u32, &Groups),
        rate_bps: u64,
        seed: u64,
    ) -> Result<Vec<Flow>, String> {
        if hosts < 2 {
            return Err("flows need two hosts".into());
        }
        if let Kind::Given(flows) = &self.kind {
            at_most("flows", flows.len() as u64, limits::FLOWS)?;
            return between_equals(flows, groups).map(|()| flows.clone());
        }
        let all = self.ends(hosts, groups)?;
        let mut makes = Maker {
            ends: Ends { from: Vec::new(), to: Vec::new(), count: 0 },
            sizes: self.sizes,
            who: Rng::new(seed, STREAM_WHO),
            size: Rng::new(seed, STREAM_SIZES),
            flows: Vec::new(),
        };
        let mut times = Rng::new(seed, STREAM_TIMES);
        for ends in all {
            makes.ends = ends;
            self.make(&mut makes, rate_bps, &mut times);
        }
        Ok(makes.flows)
    }

    /// Makes the flows of one program.
    fn make(&self, makes: &mut Maker, rate_bps: u64, times: &mut Rng) {
        match &self.kind {
            Kind::Given(_) => {}
            Kind::Incast(senders) => makes.incast(*senders as usize),
            Kind::Permutation => makes.permutation(),
            Kind::AllToAll => makes.each_to_each(),
            Kind::Closed(under_way) => makes.closed(*under_way),
            Kind::Poisson(load) => {
                let links = makes.ends.from.len().min(makes.ends.to.len()) as u32;
                let pause = self.sizes.mean() * 8e9 / (rate_bps as f64 * f64::from(*load) / 1e6);
                // All hosts together are one process that is as many times as fast, each flow of which is any host's.
                makes.poisson(pause / f64::from(links), times);
            }
        }
    }

    /// Who sends and who receives, by program.
    fn ends(&self, hosts: u32, groups: &Groups) -> Result<Vec<Ends>, String> {
        let between = self.among(hosts)?;
        let mut all = Vec::new();
        for members in groups.members(hosts).into_iter().filter(|members| !members.is_empty()) {
            all.extend(self.ends_among(&members, between.as_ref(), groups)?);
        }
        if matches!(self.kind, Kind::Closed(_) | Kind::Poisson(_)) {
            share(self.count, &mut all)?;
        }
        let together = all.iter().map(|ends| self.how_many(ends)).fold(0, u64::saturating_add);
        at_most("flows", together, limits::FLOWS)?;
        Ok(all)
    }

    /// Those of the hosts of one program; `None` if none of them is to send or receive.
    fn ends_among(
        &self,
        members: &[u32],
        between: Option<&Between>,
        groups: &Groups,
    ) -> Result<Option<Ends>, String> {
        let count = self.count;
        let Some(Between { from, to }) = between else {
            if let [alone] = members {
                let program = groups.name(*alone).unwrap_or_default();
                return Err(format!(
                    "h{alone} is the only host that runs {program}: a flow goes between two"
                ));
            }
            if let Kind::Incast(senders) = self.kind
                && senders as usize >= members.len()
            {
                let (hosts, program) = (members.len(), groups.name(members[0]));
                let of = program.map_or_else(String::new, |name| format!(" that run {name}"));
                return Err(format!("{senders} hosts cannot send to one more: there are {hosts}{of}"));
            }
            return Ok(Some(Ends { from: members.to_vec(), to: members.to_vec(), count }));
        };
        let those = |range: &RangeInclusive<u32>| {
            members.iter().copied().filter(|host| range.contains(host)).collect()
        };
        let (sends, takes): (Vec<u32>, Vec<u32>) = (those(from), those(to));
        match (&sends[..], &takes[..]) {
            ([], []) => Ok(None),
            ([first, ..], []) => Err(groups.apart(*first, *to.start())),
            ([], [first, ..]) => Err(groups.apart(*from.start(), *first)),
            (_, [only]) if sends.contains(only) => Err(format!("h{only} would send to itself")),
            _ => Ok(Some(Ends { from: sends, to: takes, count })),
        }
    }

    /// Flows that it has, or lanes of a closed loop, if those are more.
    fn how_many(&self, ends: &Ends) -> u64 {
        let [senders, receivers] = [&ends.from, &ends.to].map(|of| of.len() as u64);
        let count = u64::from(ends.count);
        match &self.kind {
            Kind::Incast(senders) => count.saturating_mul(u64::from(*senders)),
            Kind::Permutation => count.saturating_mul(senders),
            Kind::AllToAll => count.saturating_mul(senders * receivers),
            Kind::Closed(under_way) => count.max(u64::from(*under_way).saturating_mul(senders)),
            Kind::Poisson(_) => count,
            Kind::Given(flows) => flows.len() as u64,
        }
    }

    /// Who is named to send, and to receive; `None`: all hosts.
    fn among(&self, hosts: u32) -> Result<Option<Between>, String> {
        let Some(between) = &self.between else { return Ok(None) };
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
        Ok(Some(between.clone()))
    }
}

/// Whether each flow goes between hosts of the same program.
fn between_equals(flows: &[Flow], groups: &Groups) -> Result<(), String> {
    let apart = |flow: &&Flow| !groups.together(flow.source, flow.destination);
    match (0..).zip(flows).find(|(_, flow)| apart(flow)) {
        Some((number, Flow { source, destination, .. })) => {
            let number: u32 = number;
            Err(format!("flow {number}: {}", groups.apart(*source, *destination)))
        }
        None => Ok(()),
    }
}

/// Shares flows among programs: each has as large a part of them as of the senders.
fn share(count: u32, all: &mut [Ends]) -> Result<(), String> {
    let senders: u64 = all.iter().map(|ends| ends.from.len() as u64).sum();
    let (mut before, mut given) = (0, 0);
    for ends in &mut *all {
        before += ends.from.len() as u64;
        let until = u64::from(count) * before / senders;
        ends.count = (until - given) as u32;
        given = until;
    }
    match all.iter().find(|ends| ends.count == 0) {
        Some(_) if count > 0 => {
            Err(format!("{count} flows are not one for each of {} programs: say more --flows", all.len()))
        }
        _ => Ok(()),
    }
}

struct Maker {
    ends: Ends,
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

    fn chain(&mut self, source: u32, destination: u32) {
        let mut start = Start::At(0);
        for _ in 0..self.ends.count {
            start = Start::After { flow: self.flow(source, destination, start), pause: 0 };
        }
    }

    fn sender(&mut self) -> u32 {
        let from = &self.ends.from;
        from[self.who.below(from.len() as u64) as usize]
    }

    /// Any receiver, but for this host.
    fn other(&mut self, than: u32) -> u32 {
        let to = &self.ends.to;
        let itself = to.binary_search(&than).ok();
        let place = self.who.below((to.len() - usize::from(itself.is_some())) as u64) as usize;
        to[place + usize::from(itself.is_some_and(|itself| place >= itself))]
    }

    /// So many hosts behind the first one send to it.
    fn incast(&mut self, senders: usize) {
        let hosts = self.ends.from.clone();
        hosts[1..=senders].iter().for_each(|source| self.chain(*source, hosts[0]));
    }

    fn each_to_each(&mut self) {
        let (from, to) = (self.ends.from.clone(), self.ends.to.clone());
        // Each begins with the host behind it, so that not all send to the same at first.
        for source in from {
            let (behind, before): (Vec<u32>, Vec<u32>) = to.iter().partition(|host| **host > source);
            for destination in behind.into_iter().chain(before).filter(|host| *host != source) {
                self.chain(source, destination);
            }
        }
    }

    /// A permutation that leaves nothing in its place (Sattolo: one cycle through all).
    fn permutation(&mut self) {
        let from = self.ends.from.clone();
        let mut to = from.clone();
        for i in (1..to.len()).rev() {
            to.swap(i, self.who.below(i as u64) as usize);
        }
        from.into_iter().zip(to).for_each(|(source, to)| self.chain(source, to));
    }

    fn closed(&mut self, under_way: u32) {
        let from = self.ends.from.clone();
        let lanes = from.len() as u64 * u64::from(under_way.max(1));
        let mut last = vec![Start::At(0); lanes as usize];
        for i in 0..self.ends.count as usize {
            let lane = i % last.len();
            let source = from[lane % from.len()];
            let destination = self.other(source);
            last[lane] = Start::After { flow: self.flow(source, destination, last[lane]), pause: 0 };
        }
    }

    /// A process with this pause on average.
    fn poisson(&mut self, pause: f64, times: &mut Rng) {
        let mut at = 0.0;
        for _ in 0..self.ends.count {
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
        workload.flows((16, &Groups::default()), 10_000_000_000, 4).expect("hosts enough")
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
            assert!(
                workload
                    .flows((16, &Groups::default()), 1_000_000, 4)
                    .is_err_and(|e| e.contains("limit of 10000000"))
            );
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
        workload.flows((16, &Groups::default()), 10_000_000_000, 4)
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
