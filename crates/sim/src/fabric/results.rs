// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a run: each flow, and what they say together.

use std::fmt::Write as _;

use carrick_ir::{COUNTERS, STATUS_NAMES};

use super::cross::{CrossCounters, Source};
use super::flows::{Flow, MessageTimes, Outcome, Series};
use super::groups::{Foreign, Groups};
use super::network::Network;
use super::offload::OffloadCounters;
use super::port::PortCounters;
use super::routes::Routes;
use super::service::{Server, ServiceCounters};
use super::setup::Setup;
use super::station::{Placed, Station};
pub use super::tier::Tier;
use super::timed::CallResult;
use super::timeline::Timeline;
use super::topology::{Node, Topology, Wire};
use crate::faults::FOREVER;
use crate::judge;

/// What came of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowResult {
    pub flow: Flow,
    pub outcome: Outcome,
    /// nanoseconds that its bytes alone, without any header, take through the empty network
    pub ideal_ns: u64,
}

impl FlowResult {
    /// Nanoseconds from its beginning to its last byte.
    pub fn took_ns(&self) -> Option<u64> {
        Some(self.outcome.ended? - self.outcome.started?)
    }

    /// Bits per second that arrived of one that is over, whole or not.
    pub fn rate_bps(&self) -> Option<f64> {
        let Outcome { started, ended, over, received, .. } = self.outcome;
        let end = ended.or(over.map(|over| over.at)).filter(|_| self.is_well())?;
        Some(received as f64 * 8e9 / (end - started?).max(1) as f64)
    }

    /// Nothing wrong arrived, and no application was told an error.
    fn is_well(&self) -> bool {
        !self.outcome.wrong && self.outcome.failed.is_none()
    }

    /// Its word in tables.
    pub fn status(&self) -> &'static str {
        let Outcome { failed, ended, over, .. } = self.outcome;
        match failed {
            Some(status) => STATUS_NAMES.get(usize::from(status)).copied().unwrap_or("?"),
            None if ended.is_some() => "OK",
            None if over.is_some() => "LOST",
            None => "OPEN",
        }
    }

    /// When its last bytes arrived, if nothing more of it will.
    pub fn ended_at(&self) -> Option<u64> {
        self.outcome.ended.or(self.outcome.over.map(|over| over.at))
    }

    /// How many times as long as it should take.
    pub fn slowdown(&self) -> Option<f64> {
        self.took_ns().map(|took| took as f64 / self.ideal_ns.max(1) as f64)
    }
}

/// The ports of one tier together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierResult {
    pub tier: Tier,
    pub ports: usize,
    pub counters: PortCounters,
    /// bytes that waited on average, at the port where that was most
    pub mean_most: f64,
}

/// What came of a program in the network.
#[derive(Debug, Clone, PartialEq)]
pub struct StationResult {
    /// the name of the node
    pub node: String,
    /// its file
    pub program: String,
    /// the protocol number of its packets, and that of the ends'
    pub protocols: [u8; 2],
    /// by number
    pub counters: Vec<u64>,
    /// instances that were still open
    pub open_contexts: usize,
    pub offload: Option<OffloadResult>,
}

/// What came of the offload of a program in the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OffloadResult {
    pub counters: OffloadCounters,
    /// the share of the run in which its workers worked
    pub busy: f64,
}

/// What came of a link in one direction; of several between the same nodes, together.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkResult {
    /// `s0:s1`
    pub name: String,
    pub counters: PortCounters,
    /// bits per second, on average in the run
    pub rate_bps: u64,
    /// the share of the run in which it sent
    pub busy: f64,
}

/// What came of a source of cross traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossResult {
    /// `h2:h0`
    pub name: String,
    pub counters: CrossCounters,
    /// bits per second that were sent, and that were delivered, from its beginning to its end or that of the run
    pub sent_bps: f64,
    pub delivered_bps: f64,
}

/// What came of the service of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceResult {
    /// the name of the host
    pub host: String,
    pub counters: ServiceCounters,
    /// the share of the run in which it served
    pub busy: f64,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    pub flows: Vec<FlowResult>,
    pub stations: Vec<StationResult>,
    pub services: Vec<ServiceResult>,
    pub cross: Vec<CrossResult>,
    /// calls beside those of the applications
    pub calls: Vec<CallResult>,
    /// claims of these programs that did not hold, and packets that they handed to each other for ever: sentences
    pub misdeeds: Vec<String>,
    pub tiers: Vec<TierResult>,
    /// those that were asked for
    pub links: Vec<LinkResult>,
    /// the link that was used most, in the direction in which it was
    pub bottleneck: LinkResult,
    /// by host, the features of its program; empty: all hosts run the same
    pub features: Vec<String>,
    /// which program is at which host, of so many hosts
    pub groups: Groups,
    pub hosts: u32,
    /// packets that the programs of hosts do not take, where there are several programs
    pub foreign: Vec<Foreign>,
    /// of flows of messages, in order of their arrival
    pub messages: MessageTimes,
    /// links duplicated packets, and no program promises that its messages arrive once
    pub may_repeat: bool,
    /// virtual nanoseconds
    pub ended_at: u64,
    /// that hosts made, and times that one went over a link
    pub packets: u64,
    pub hops: u64,
    /// over time
    pub timeline: Timeline,
    /// of all cores together, by number
    pub counters: Vec<u64>,
    /// bits per second of all hosts' links together
    pub capacity_bps: f64,
    /// where that was asked for
    pub series: Option<Series>,
}

/// Slowdowns of the flows up to a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// bytes of the longest
    pub upto: u64,
    pub flows: usize,
    pub p50: f64,
    pub p99: f64,
    pub most: f64,
}

impl Results {
    /// Of a network that has run, with these programs in it and these at hosts.
    pub(super) fn of(
        mut network: Network<'_>,
        setup: &Setup,
        placed: &[Placed<'_>],
        groups: Groups,
    ) -> Results {
        let routes = Routes::of(&setup.topology);
        let ended_at = network.ended_at();
        let ideal = |flow: &Flow| ideal_ns(&setup.topology, &routes, flow, u64::from(setup.mtu));
        let all = network.flows.all.iter().zip(&network.flows.outcomes);
        let flows = all
            .map(|(flow, outcome)| FlowResult { flow: *flow, outcome: *outcome, ideal_ns: ideal(flow) })
            .collect();
        let mut counters = vec![0; COUNTERS.len()];
        for host in &network.hosts {
            counters.iter_mut().zip(host.core.counters()).for_each(|(sum, n)| *sum += n);
        }
        let (stations, misdeeds) = stations(&network, setup, (placed, &groups));
        let hosts = setup.topology.hosts;
        let links = setup.topology.wires.iter().filter(|w| w.ends.iter().any(|end| *end < hosts));
        Results {
            flows,
            stations,
            services: services(&network, setup),
            cross: cross(&network, setup),
            calls: network.timed.results(),
            misdeeds,
            links: setup.links.iter().map(|ends| link(&network, setup, *ends)).collect(),
            bottleneck: bottleneck(&network, setup),
            features: setup.features.clone(),
            groups,
            hosts,
            foreign: foreign(&network),
            messages: std::mem::take(&mut network.flows.messages),
            may_repeat: false,
            tiers: tiers(&mut network, &setup.topology),
            ended_at,
            packets: network.made,
            hops: network.hops,
            timeline: std::mem::take(&mut network.timeline),
            counters,
            // Of a link whose directions differ, the faster one.
            capacity_bps: links
                .map(|w| [0, 1].map(|to| w.mean_bps(to, ended_at)))
                .map(|[a, b]| a.max(b) as f64)
                .sum(),
            series: network.flows.series.take(),
        }
    }

    /// Flows that are measured.
    pub fn measured(&self) -> impl Iterator<Item = &FlowResult> {
        self.flows.iter().filter(|f| !f.flow.background)
    }

    /// Those of them that ended, whole and right.
    pub fn ended(&self) -> impl Iterator<Item = &FlowResult> {
        self.measured().filter(|f| f.outcome.ended.is_some() && f.is_well())
    }

    /// Those of which messages were lost, and messages that were.
    pub fn with_losses(&self) -> (usize, u64) {
        let overs = self.measured().filter_map(|f| f.outcome.over);
        overs.fold((0, 0), |(flows, lost), over| (flows + 1, lost + u64::from(over.lost)))
    }

    /// Sentences about what should not have happened.
    pub fn failures(&self) -> Vec<String> {
        let damage =
            if self.corrupted() { ": links corrupt packets, and no checksum found that" } else { "" };
        let sentence = |(number, f): (usize, &FlowResult)| {
            let (from, to) = (f.flow.source, f.flow.destination);
            let what = match (f.outcome.wrong, f.outcome.failed, f.outcome.ended) {
                (true, _, _) => format!("bytes arrived that were not sent{damage}"),
                (_, Some(status), _) => {
                    let name = STATUS_NAMES.get(usize::from(status)).copied().unwrap_or("?");
                    let from = f.outcome.refusal.map_or_else(String::new, |refusal| format!(" ({refusal})"));
                    format!("the application got {name}{from}")
                }
                (_, _, None) if f.flow.background || f.outcome.over.is_some() => return None,
                (_, _, None) => format!("{} of {} bytes arrived", f.outcome.received, f.flow.octets),
                _ => return None,
            };
            Some(format!("flow {number} from host {from} to host {to}: {what}"))
        };
        let over = "the background was over before the flows that it is for: give it more".to_owned();
        let all = self.flows.iter().enumerate();
        let ends = all.filter_map(sentence).chain(self.outlasted().then_some(over));
        let calls = self.calls.iter().filter_map(CallResult::failure);
        let again = if self.may_repeat { 0 } else { self.messages.again };
        let again = (again > 0).then(|| format!("{again} messages were delivered again"));
        ends.chain(calls).chain(again).chain(self.misdeeds.iter().cloned()).collect()
    }

    /// Links corrupted packets.
    fn corrupted(&self) -> bool {
        self.tiers.iter().any(|tier| tier.counters.faults.corrupted > 0)
    }

    /// Measured flows went on when there was no background any more.
    fn outlasted(&self) -> bool {
        let mut background = self.flows.iter().filter(|f| f.flow.background).peekable();
        background.peek().is_some()
            && background.all(|f| f.outcome.ended.is_some_and(|at| at < self.ended_at))
    }

    /// Bytes of flows that arrived, in bits per second of the whole run, which ends with the last of them.
    pub fn goodput_bps(&self) -> f64 {
        self.goodput_of_bps(|_| true)
    }

    /// Bytes of the flows that these hosts sent that arrived, in bits per second of the whole run.
    pub fn goodput_of_bps(&self, sends: impl Fn(Node) -> bool) -> f64 {
        let sent = self.flows.iter().filter(|f| sends(f.flow.source));
        let octets: u64 = sent.map(|f| f.outcome.received).sum();
        if self.ended_at == 0 { 0.0 } else { octets as f64 * 8e9 / self.ended_at as f64 }
    }

    /// Jain's index of the rates of all flows that are over.
    pub fn fairness(&self) -> Option<f64> {
        jain(&self.measured().filter_map(FlowResult::rate_bps).collect::<Vec<_>>())
    }

    /// Slowdowns by length, in so many buckets of equally many flows.
    pub fn slowdowns(&self, buckets: usize) -> Vec<Bucket> {
        let mut all: Vec<(u64, f64)> =
            self.ended().filter_map(|f| Some((f.flow.octets, f.slowdown()?))).collect();
        all.sort_by_key(|(octets, _)| *octets);
        let lengths = all.chunk_by(|a, b| a.0 == b.0).count();
        let each = all.len().div_ceil(buckets.clamp(1, lengths.max(1))).max(1);
        all.chunks_mut(each).map(bucket).collect()
    }

    /// The goodput as a share of what all hosts' links carry together, in one direction.
    pub fn utilisation(&self) -> f64 {
        self.goodput_bps() / self.capacity_bps
    }

    /// A line for each stretch of time and each flow of which something arrived in it, behind one that names what is in it.
    pub fn rates_csv(&self) -> String {
        let mut text = format!("from_ns,to_ns,flow,bytes{}\n", self.host_columns());
        let series = self.series.iter().flat_map(|s| s.octets.iter().map(|entry| (s.every, entry)));
        for (every, ((stretch, flow), octets)) in series {
            let _ = write!(text, "{},{},{flow},{octets}", stretch * every, (stretch + 1) * every);
            self.about_host(self.flows[*flow as usize].flow.source, &mut text);
        }
        text
    }

    /// A line for each of up to 4096 points in time, behind one that names what is in it.
    pub fn timeline_csv(&self) -> String {
        let bottleneck = format!("{} ({:.1} % used)", self.bottleneck.name, self.bottleneck.busy * 100.0);
        self.timeline.csv(self.capacity_bps, &bottleneck)
    }

    /// A line for each flow, behind one that names what is in it.
    pub fn csv(&self) -> String {
        let mut text = format!(
            "flow,source,destination,bytes,start_ns,end_ns,ideal_ns,slowdown,background,status{}\n",
            self.host_columns()
        );
        for (number, f) in self.flows.iter().enumerate() {
            let ns = |at: Option<u64>| at.map_or(String::new(), |at| at.to_string());
            let slowdown = f.slowdown().map_or(String::new(), |s| format!("{s:.4}"));
            let _ = write!(
                text,
                "{number},{},{},{},{},{},{},{slowdown},{},{}",
                f.flow.source,
                f.flow.destination,
                f.flow.octets,
                ns(f.outcome.started),
                ns(f.ended_at()),
                f.ideal_ns,
                u8::from(f.flow.background),
                f.status(),
            );
            self.about_host(f.flow.source, &mut text);
        }
        text
    }

    /// The columns of tables with the program and the features of a host, where these differ.
    pub fn host_columns(&self) -> &'static str {
        match (self.groups.several(), self.features.is_empty()) {
            (false, true) => "",
            (false, false) => ",features",
            (true, true) => ",program",
            (true, false) => ",program,features",
        }
    }

    /// By host, how many flows it sends, those of the background among them.
    pub fn sends(&self) -> Vec<u32> {
        let mut all = vec![0; self.hosts as usize];
        self.flows.iter().for_each(|f| all[f.flow.source as usize] += 1);
        all
    }

    /// Ends a line about a host.
    pub fn about_host(&self, host: Node, line: &mut String) {
        let features = self.features.get(host as usize).map(String::as_str);
        self.groups.name(host).into_iter().chain(features).for_each(|cell| line.extend([",", cell]));
        line.push('\n');
    }
}

/// Jain's index of rates: 1 where they are alike (Jain, Chiu and Hawe, 1984).
pub(super) fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|r| r * r).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

fn foreign(network: &Network<'_>) -> Vec<Foreign> {
    let of = |((host, protocol), packets): (&(Node, u8), &u64)| Foreign {
        host: *host,
        protocol: *protocol,
        packets: *packets,
    };
    network.foreign.iter().map(of).collect()
}

fn bucket(flows: &mut [(u64, f64)]) -> Bucket {
    let upto = flows.last().map_or(0, |(octets, _)| *octets);
    flows.sort_by(|a, b| a.1.total_cmp(&b.1));
    let at = |percent: usize| flows[(flows.len() - 1) * percent / 100].1;
    Bucket { upto, flows: flows.len(), p50: at(50), p99: at(99), most: at(100) }
}

fn services(network: &Network<'_>, setup: &Setup) -> Vec<ServiceResult> {
    let run = network.now().max(1) as f64;
    let of = |(host, server): (Node, &Server)| ServiceResult {
        host: setup.topology.name(host),
        counters: server.counters,
        busy: (server.counters.busy_ns as f64 / run).min(1.0),
    };
    let hosts = (0..).zip(&network.hosts);
    hosts.filter_map(|(host, it)| it.server.as_ref().map(|server| of((host, server)))).collect()
}

fn cross(network: &Network<'_>, setup: &Setup) -> Vec<CrossResult> {
    let of = |source: &Source| {
        let Source { of, counters, .. } = source;
        let lasted = of.end.min(network.now()).saturating_sub(of.begin).max(1);
        let bps = |octets: u64| octets as f64 * 8e9 / lasted as f64;
        CrossResult {
            name: [of.from, of.to].map(|host| setup.topology.name(host)).join(":"),
            counters: *counters,
            sent_bps: bps(counters.sent_octets),
            delivered_bps: bps(counters.delivered_octets),
        }
    };
    network.cross.iter().map(of).collect()
}

fn stations(
    network: &Network<'_>,
    setup: &Setup,
    (placed, groups): (&[Placed<'_>], &Groups),
) -> (Vec<StationResult>, Vec<String>) {
    let (mut results, mut misdeeds) = (Vec::new(), Vec::new());
    for (station, Placed { node, way }) in network.stations.all.iter().zip(placed) {
        let name = setup.topology.name(*node);
        misdeeds.extend(judge::claims(way.program, &name, station.core.failed_claims()));
        misdeeds.extend(astray(station, &name, *node < setup.topology.hosts));
        results.push(StationResult {
            node: name,
            program: way.program.file.raw().to_owned(),
            protocols: protocols(way.program.net_header.protocol, groups),
            counters: station.core.counters(),
            open_contexts: station.core.open_contexts(),
            offload: station.offload.as_ref().map(|offload| OffloadResult {
                counters: offload.counters,
                busy: offload.busy(network.now()),
            }),
        });
        misdeeds
            .extend(station.offload.iter().flat_map(|offload| offload.misdeeds(&setup.topology.name(*node))));
    }
    misdeeds.extend(lost_packets(network));
    (results, misdeeds)
}

/// The protocol of a program in the network, and that of hosts: the same, if it is that of any of their programs.
fn protocols(its: u8, groups: &Groups) -> [u8; 2] {
    let mut ends = groups.all.iter().map(|group| group.protocol);
    [its, ends.clone().find(|end| *end == its).or(ends.next()).unwrap_or(its)]
}

/// That a program sent packets by interfaces that its node does not have.
fn astray(station: &Station, node: &str, is_host: bool) -> Option<String> {
    let has = match station.links.len() {
        _ if is_host => "interface 0, its link, and interface 1, the host".to_owned(),
        1 => "interface 0".to_owned(),
        links => format!("the interfaces 0 to {}", links - 1),
    };
    let count = station.astray;
    (count > 0).then(|| {
        format!(
            "{node}: {count} packets were sent by interfaces that it does not have: it has {has}; \
             `ROUTE` sends a packet where its destination leads"
        )
    })
}

/// Sentences about packets that programs sent nowhere.
fn lost_packets(network: &Network<'_>) -> Vec<String> {
    let (looped, unroutable) = (network.stations.looped, network.unroutable);
    let looped = (looped > 0)
        .then(|| format!("{looped} packets went to and fro between programs at one node, and were dropped"));
    // A link that damages packets may damage the destination of one over IPv6, which no router can see.
    let damages = network.ports.iter().any(|port| port.counters.faults.corrupted > 0);
    let unroutable = (unroutable > 0 && !damages && !network.stations.all.is_empty()).then(|| {
        format!("{unroutable} packets had a destination that is no host's, and were dropped at a switch")
    });
    looped.into_iter().chain(unroutable).collect()
}

fn link(network: &Network<'_>, setup: &Setup, ends: [Node; 2]) -> LinkResult {
    let name = ends.map(|node| setup.topology.name(node)).join(":");
    let both = setup.topology.wires.iter().flat_map(|wire| directions(wire, network.ended_at()));
    let (mut counters, mut rate_bps) = (PortCounters::default(), 0);
    for ((_, rate), port) in both.zip(&network.ports).filter(|((of, _), _)| *of == ends) {
        counters.add(&port.counters);
        rate_bps += rate;
    }
    LinkResult { name, ..used(network, counters, rate_bps) }
}

/// Both directions of a wire: their ends, and bits per second on average until a time.
fn directions(wire: &Wire, until: u64) -> [([Node; 2], u64); 2] {
    let [forth, back] = wire.directions();
    [(forth, wire.mean_bps(0, until)), (back, wire.mean_bps(1, until))]
}

/// The link that was used most; of several, the one with the longest queue, then the first.
fn bottleneck(network: &Network<'_>, setup: &Setup) -> LinkResult {
    let topology = &setup.topology;
    let both = topology.wires.iter().flat_map(|wire| directions(wire, network.ended_at()));
    let links = both.zip(&network.ports);
    let links = links.map(|((ends, rate), port)| (ends, used(network, port.counters, rate)));
    let rank = |(_, it): &([Node; 2], LinkResult)| (it.busy, it.counters.peak);
    let most = links.reduce(|best, it| if rank(&it) > rank(&best) { it } else { best });
    most.map_or_else(
        || used(network, PortCounters::default(), 0),
        |(ends, it)| LinkResult { name: ends.map(|node| topology.name(node)).join(":"), ..it },
    )
}

/// A link without a name that carried this much.
fn used(network: &Network<'_>, counters: PortCounters, rate_bps: u64) -> LinkResult {
    let most = rate_bps as f64 * network.ended_at().max(1) as f64 / 8e9;
    let busy = (counters.octets as f64 / most.max(1.0)).min(1.0);
    LinkResult { name: String::new(), counters, rate_bps, busy }
}

fn tiers(network: &mut Network<'_>, topology: &Topology) -> Vec<TierResult> {
    let now = network.now();
    let mut tiers: Vec<TierResult> = Vec::new();
    let both = topology.wires.iter().flat_map(|w| [w.ends, [w.ends[1], w.ends[0]]]);
    for ([from, to], port) in both.zip(&mut network.ports) {
        let tier = Tier::of(from, to, topology.hosts);
        let place = tiers.iter().position(|t| t.tier == tier).unwrap_or_else(|| {
            tiers.push(TierResult { tier, ports: 0, counters: PortCounters::default(), mean_most: 0.0 });
            tiers.len() - 1
        });
        let t = &mut tiers[place];
        t.ports += 1;
        t.mean_most = t.mean_most.max(port.mean(now));
        t.counters.add(&port.counters);
    }
    tiers.sort_by_key(|t| t.tier);
    tiers
}

/// What the bytes of a flow take without any header: all of them over the slowest link of the way, its first packet over
/// the links before that, its last one over those behind it.
fn ideal_ns(topology: &Topology, routes: &Routes, flow: &Flow, mtu: u64) -> u64 {
    let way = way(topology, routes, flow);
    let Some(slowest) = way.iter().map(|(rate, _)| *rate).min() else { return 0 };
    let mut behind = false;
    let first = flow.octets.min(mtu);
    let last = (flow.octets - 1) % mtu + 1;
    let time = |octets: u64, rate: u64| (u128::from(octets) * 8_000_000_000 / u128::from(rate)) as u64;
    let hop = |(rate, delay): &(u64, u64)| {
        let octets = match (behind, *rate == slowest) {
            (true, _) => last,
            (false, true) => {
                behind = true;
                flow.octets
            }
            (false, false) => first,
        };
        delay + time(octets, *rate)
    };
    way.iter().map(hop).sum()
}

/// Rate and delay of each link on a shortest way.
fn way(topology: &Topology, routes: &Routes, flow: &Flow) -> Vec<(u64, u64)> {
    let mut way = Vec::new();
    let uplink = topology.wires.iter().position(|w| w.ends.contains(&flow.source));
    let Some(wire) = uplink else { return way };
    let mut port = wire * 2 + usize::from(topology.wires[wire].ends[1] == flow.source);
    // No way is longer than there are nodes.
    for _ in 0..=topology.switches {
        let wire = &topology.wires[port / 2];
        way.push((wire.mean_bps(port % 2, FOREVER).max(1), wire.delay_ns[port % 2]));
        let Some(switch) = wire.ends[1 - port % 2].checked_sub(topology.hosts) else { break };
        match routes.ports(switch as usize, flow.destination as usize).first() {
            Some(next) => port = *next as usize,
            None => break,
        }
    }
    way
}
