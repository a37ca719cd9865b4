// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a network of many hosts is, as the command line says it.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use carrick_driver::{Failure, quantity};
use carrick_sim::fabric::Setup;
use carrick_sim::fabric::service::Service;
use carrick_sim::fabric::sizes::Sizes;
use carrick_sim::fabric::switch::{Mark, Paths, Pause, Queueing, Shared, Trim};
use carrick_sim::fabric::topology::{Links, Node, Topology};
use carrick_sim::fabric::workload::{Between, KINDS, Kind, Workload, parse_trace};
use carrick_sim::stop::Stop;
use clap::Args;

use super::cross;
use super::file::{self, At};
use super::link_faults;
use super::offload::{self, service_time};
use super::runs::Shard;
use crate::commands::faults::{self, FaultArgs};
use crate::commands::scenario::{ScenarioArgs, transfer_size};

/// Bytes of a message where nobody says: what a program that carries messages of many packets should hold.
const MESSAGE: u32 = 65_536;
/// Flows of a workload that has no end of itself.
const FLOWS: u32 = 1000;
/// Hosts of one service at most: more than a topology has are refused by the first that is none.
const HOSTS: usize = 65_536;
const HOUR: u64 = 3_600_000_000_000;

#[derive(Debug, Args)]
#[command(next_help_heading = "Networks of many hosts")]
pub struct FabricArgs {
    /// Topology: pair, dumbbell:N, star:N, leaf-spine:LEAVES,SPINES,HOSTS_PER_LEAF, fat-tree:K, or a .toml file. Links to
    /// hosts have --rate
    #[arg(long)]
    pub topology: Option<String>,
    /// In-network program at a node, NODE=PROGRAM: s0=cache.mtp at a switch, h3=wrap.mtp between a host and its link. Several at
    /// one node form a chain
    #[arg(long, value_name = "NODE=PROGRAM", requires = "topology")]
    pub at: Vec<String>,
    /// Parameter of the programs at a node: NODE.name=value
    #[arg(long, value_name = "NODE.NAME=VALUE", requires = "topology")]
    pub at_set: Vec<String>,
    /// Another program at some hosts, HOSTS=PROGRAM: h0..h1=mine.mtp. Flows go between hosts that run the same program
    #[arg(long, value_name = "HOSTS=PROGRAM", requires = "topology")]
    pub host_program: Vec<String>,
    /// Features of the program at some hosts, HOSTS=FEATURES, in place of those of --with: h0..h1=reliable,inorder=hold
    #[arg(long, value_name = "HOSTS=FEATURES", requires = "topology")]
    pub host_with: Vec<String>,
    /// Parameter of the program at some hosts, HOSTS.name=value: h0..h1.window=64KiB
    #[arg(long, value_name = "HOSTS.NAME=VALUE", requires = "topology")]
    pub host_set: Vec<String>,
    /// Features of further runs, in place of those of --with. Repeat for several
    #[arg(long, value_name = "FEATURES", requires = "topology")]
    pub or_with: Vec<String>,
    /// Workload: incast:N, permutation, all-to-all, closed:N, poisson:LOAD%, or trace:FILE (lines
    /// `start_ns,source,destination,bytes`). With @SOURCES:DESTINATIONS only these hosts: closed:1@h1:h0, poisson:50%@h2..h9:h0
    #[arg(long, default_value = "permutation", requires = "topology")]
    pub workload: String,
    /// Flow size: 100KB, 1KB..1MB, or a distribution w1 to w5. Omit for --bytes
    #[arg(long, requires = "topology")]
    pub sizes: Option<String>,
    /// Number of flows that each sender starts, one after another; for closed and poisson the number of all flows (1000 if omitted)
    #[arg(long, requires = "topology", value_parser = clap::value_parser!(u32).range(1..))]
    pub flows: Option<u32>,
    /// Background workload; runs until the measured workload has ended, and is not measured
    #[arg(long, requires = "topology")]
    pub background: Option<String>,
    /// Flow size of the background workload. Omit for that of the measured workload
    #[arg(long, requires = "background")]
    pub background_sizes: Option<String>,
    /// Number of background flows, as in --flows; an error if they end before the measured workload
    #[arg(long, requires = "background", value_parser = clap::value_parser!(u32).range(1..))]
    pub background_flows: Option<u32>,
    /// Rate of links between switches. Omit for --rate
    #[arg(long, value_name = "RATE", requires = "topology")]
    pub core_rate: Option<String>,
    /// Queue limit of each priority of a port, in bytes. Omit for --queue packets
    #[arg(long, value_name = "BYTES", requires = "topology")]
    pub buffer: Option<String>,
    /// Buffer that all ports of a switch share; a queue may take --alpha times the free part
    #[arg(long, value_name = "BYTES", requires = "topology")]
    pub shared: Option<String>,
    /// Share of the free buffer that one queue may take
    #[arg(long, default_value_t = 1.0, requires = "shared")]
    pub alpha: f64,
    /// Number of strict priorities of a port, chosen by the first three bits of a packet's differentiated services field
    #[arg(long, default_value_t = 8, requires = "topology")]
    pub priorities: usize,
    /// Queue length from which packets are marked (ECN). With a range, 5KB..200KB, the share marked grows from 5KB on; all are marked from 200KB on
    #[arg(long, requires = "topology")]
    pub mark_at: Option<String>,
    /// Share of packets marked at the upper end of the range of --mark-at
    #[arg(long, value_name = "SHARE", default_value = "1%", requires = "mark_at")]
    pub mark_most: String,
    /// Size to which packets are trimmed when the queue is full; they get code point --trim-dscp
    #[arg(long, value_name = "BYTES", requires = "topology")]
    pub trim: Option<String>,
    /// Code point of trimmed packets
    #[arg(long, default_value_t = 56, requires = "trim")]
    pub trim_dscp: u8,
    /// Code point with which a trimmed packet returns to its sender when its queue is full as well
    #[arg(long, requires = "trim")]
    pub return_dscp: Option<u8>,
    /// Priority flow control: queued bytes of one priority from one link at which that link is paused
    #[arg(long, value_name = "BYTES", requires = "topology", conflicts_with = "trim")]
    pub pfc: Option<String>,
    /// Spread the packets of a flow over all shortest paths (default: one path for each flow)
    #[arg(long, requires = "topology")]
    pub spray: bool,
    /// Service time of hosts for each packet that arrives, HOSTS=TIME: h1=12us, h1..h3=exponential:12us,
    /// h0=bimodal:95%x6us,5%x120us
    #[arg(long, value_name = "HOSTS=TIME", requires = "topology")]
    pub service: Vec<String>,
    /// Number of packets that wait for the service of a host; more are dropped
    #[arg(long, value_name = "PACKETS", default_value_t = 1024, requires = "service")]
    pub service_queue: u32,
    /// Offload that takes the messages of an in-network program, NODE:SETTING,...: service=12us (or exponential:12us,
    /// bimodal:95%x6us,5%x120us), workers=1, buffer=64KiB, ratio=0.7..1.3, intercept=50%, hits=50%, keys=10000, zipf=0.99
    #[arg(long, value_name = "NODE:SETTINGS", requires = "topology")]
    pub offload: Vec<String>,
    /// Call of the program's interface at a host, beside those of the applications: 'h0: add_pathlet(0, 10.0.0.5) @ 1ms'
    #[arg(long, value_name = "HOST: CALL @ TIME", requires = "topology")]
    pub call: Vec<String>,
    /// File with such calls, one a line
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub calls: Option<PathBuf>,
    /// Faults of some links, LINKS: FAULTS @ FROM..TO, in place of those of all: 's0:s1: loss=1%,jitter=5us', 's4: corrupt=0.1%' at all
    /// links of s4, 'h0-s0: down @ 2s..3s' in both directions. A fault has the name of its option
    #[arg(long, value_name = "LINKS: FAULTS", requires = "topology")]
    pub link_fault: Vec<String>,
    /// Cross traffic of a model, HOSTS:HOST: SETTINGS @ FROM..TO, which no program sends: 'h2:h0: rate=20Mbps', with poisson for random
    /// gaps and size=200B for shorter packets; 'h2..h5:h0: rate=50Mbps,on=10ms,off=40ms' in bursts, whose times shape=1.5 makes those of
    /// Pareto; 'h2:h0: trace=FILE' from a table (CSV, `gap_ns,bytes`), which repeats
    #[arg(long, value_name = "HOSTS:HOST: SETTINGS", requires = "topology")]
    pub cross: Vec<String>,
    /// Link to report on, in the direction NODE:NODE, such as s0:s1
    #[arg(long, value_name = "NODE:NODE", requires = "topology")]
    pub link: Vec<String>,
    /// Reuse one connection for successive flows to the same host, where the program has connections
    #[arg(long, requires = "topology")]
    pub keep: bool,
    /// Table of flows (CSV)
    #[arg(long, requires = "topology")]
    pub csv: Option<PathBuf>,
    /// Table of bytes delivered (CSV): one line for each flow and each interval of --every
    #[arg(long, requires = "topology")]
    pub rates: Option<PathBuf>,
    /// Interval of --rates and --samples
    #[arg(long, default_value = "1ms", requires = "topology")]
    pub every: String,
    /// Table of a field of contexts over time (CSV): its value at the end of each interval of --every in which it changed
    #[arg(long, value_name = "FILE", requires = "sample")]
    pub samples: Option<PathBuf>,
    /// Field of --samples: `field`, or `context.field`
    #[arg(long, value_name = "FIELD", requires = "topology")]
    pub sample: Option<String>,
    /// Table over time (CSV, up to 4096 lines): goodput and queue lengths
    #[arg(long, requires = "topology")]
    pub timeline: Option<PathBuf>,
    /// Folder for drawings (SVG) of slowdowns, completion times, queues, goodput and utilisation
    #[arg(long, value_name = "DIR", requires = "topology")]
    pub plot: Option<PathBuf>,
    /// Number of runs; their seeds count up from --seed
    #[arg(long, default_value_t = 1, requires = "topology", value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Number of runs in parallel
    #[arg(long, default_value_t = 1, requires = "topology", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// Part of the runs to make on this machine: the I-th of N. `carrick merge` joins the results
    #[arg(long, value_name = "I/N", requires = "topology")]
    pub shard: Option<Shard>,
}

impl FabricArgs {
    /// What all runs have in common: they differ in their seed and parameters. With it, the programs that a topology's file names.
    pub fn setup(
        &self,
        name: &str,
        common: &ScenarioArgs,
        faults: &FaultArgs,
    ) -> Result<(Setup, Vec<At>), Failure> {
        let message = common.message.as_deref().map(quantity::bytes).transpose()?;
        let message = message.map(|octets| {
            let known = u32::try_from(octets).ok().filter(|n| (64..=1 << 30).contains(n));
            known.ok_or_else(|| {
                Failure::Usage(format!("invalid message length of {octets} bytes: choose 64B to 1GiB"))
            })
        });
        let flow_sizes = match &self.sizes {
            Some(text) => sizes("sizes", text),
            None => sizes("bytes", &common.bytes),
        }?;
        let background = self.background.as_deref().map(|text| {
            let own = self.background_sizes.as_deref();
            let sizes = own.map_or(Ok(flow_sizes), |text| sizes("background-sizes", text))?;
            workload(text, sizes, self.background_flows)
        });
        let (mut topology, programs) = self.shape(name, common)?;
        link_faults::apply(faults, &self.link_fault, &mut topology, self.mark_at.is_some())?;
        let offloads = offload::all(&self.offload, &programs, &topology)?;
        let setup = Setup {
            links: self.link.iter().map(|text| link(text, &topology)).collect::<Result<_, _>>()?,
            calls: Vec::new(),
            cross: cross::all(&self.cross, &topology, common.mtu)?,
            topology,
            queueing: self.queueing(common)?,
            workload: workload(&self.workload, flow_sizes, self.flows)?,
            background: background.transpose()?,
            seed: common.seed,
            mtu: common.mtu,
            fit_message: message.is_none(),
            message: message.transpose()?.unwrap_or(MESSAGE),
            outstanding: common.outstanding,
            keep: self.keep,
            services: self.services()?,
            offloads,
            params: Vec::new(),
            features: Vec::new(),
            every: self.rates.as_ref().map(|_| self.interval()).transpose()?,
            limit: HOUR,
            stop: Stop::default(),
        };
        Ok((setup, programs))
    }

    /// Files of rates over time that links of the topology have, and of cross traffic.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the topology's file cannot be read or is none.
    pub fn recordings(&self) -> Result<Vec<PathBuf>, Failure> {
        let file = self.topology.as_ref().filter(|name| name.ends_with(".toml"));
        let mut all = file.map_or(Ok(Vec::new()), |file| file::rate_traces(Path::new(file)))?;
        let faults = self.link_fault.iter().filter_map(|text| faults::of_links(text));
        all.extend(faults.flat_map(|(_, text)| faults::files(text)).map(PathBuf::from));
        all.extend(self.cross.iter().flat_map(|text| cross::files(text)).map(PathBuf::from));
        Ok(all)
    }

    fn services(&self) -> Result<Vec<Service>, Failure> {
        let mut all = Vec::new();
        for text in &self.service {
            let (named, time) = text.split_once('=').ok_or_else(|| no_service(text))?;
            let time = service_time(time).ok_or_else(|| no_service(text))?;
            let named = hosts(named).ok_or_else(|| no_service(text))?;
            let of = |host| Service { host, time: time.clone(), queue: self.service_queue };
            all.extend(named.take(HOSTS).map(of));
        }
        Ok(all)
    }

    /// Nanoseconds.
    pub fn interval(&self) -> Result<u64, Failure> {
        match quantity::duration(&self.every)? {
            0 => Err(Failure::Usage("--every 0s: say 1ns or more".into())),
            every => Ok(every),
        }
    }

    fn shape(&self, name: &str, common: &ScenarioArgs) -> Result<(Topology, Vec<At>), Failure> {
        if name.ends_with(".toml") {
            return file::topology(Path::new(name));
        }
        let rate_bps = quantity::rate(&common.rate)?;
        let links = Links {
            rate_bps,
            core_rate_bps: self.core_rate.as_deref().map_or(Ok(rate_bps), quantity::rate)?,
            delay_ns: quantity::duration(&common.delay)?,
        };
        let topology = Topology::named(name, &links).map_err(Failure::Usage)?;
        Ok((topology, Vec::new()))
    }

    fn queueing(&self, common: &ScenarioArgs) -> Result<Queueing, Failure> {
        let bytes = |text: &Option<String>| text.as_deref().map(quantity::bytes).transpose();
        let of_packets = common.queue as u64 * u64::from(common.mtu);
        let octets = bytes(&self.buffer)?.unwrap_or(of_packets);
        let code_point = |dscp: u8| {
            if dscp < 64 {
                Ok(dscp)
            } else {
                Err(Failure::Usage(format!("{dscp} is no code point: say 0 to 63")))
            }
        };
        let trim = match bytes(&self.trim)? {
            Some(left) => Some(Trim {
                octets: u32::try_from(left)
                    .ok()
                    .filter(|n| (20..=u32::from(u16::MAX)).contains(n))
                    .ok_or_else(|| {
                        Failure::Usage(format!("invalid header length of {left} bytes: choose 20B to 64KB"))
                    })?,
                dscp: code_point(self.trim_dscp)?,
                room: octets,
                back: self.return_dscp.map(code_point).transpose()?,
            }),
            None => None,
        };
        if !(1..=8).contains(&self.priorities) {
            return Err(Failure::Usage(format!("{} priorities: say 1 to 8", self.priorities)));
        }
        Ok(Queueing {
            octets,
            priorities: self.priorities,
            mark: self.mark()?,
            shared: bytes(&self.shared)?.map(|octets| Shared { octets, alpha: self.alpha }),
            trim,
            pause: bytes(&self.pfc)?.map(|octets| Pause { octets }),
            paths: if self.spray { Paths::Spray } else { Paths::Flow },
        })
    }

    fn mark(&self) -> Result<Option<Mark>, Failure> {
        let Some(text) = &self.mark_at else { return Ok(None) };
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let mark = Mark {
            from: quantity::bytes(from)?,
            to: quantity::bytes(to)?,
            most_ppm: quantity::share(&self.mark_most)?,
        };
        if mark.from > mark.to {
            return Err(Failure::Usage(format!("--mark-at {text}: the lesser one comes first")));
        }
        Ok(Some(mark))
    }
}

/// `s0:s1`
fn link(text: &str, topology: &Topology) -> Result<[Node; 2], Failure> {
    let (from, to) = text
        .split_once(':')
        .ok_or_else(|| Failure::Usage(format!("--link {text}: say two nodes, such as s0:s1")))?;
    let node = |name: &str| topology.node(name).ok_or_else(|| file::no_node(name, topology));
    let ends = [node(from)?, node(to)?];
    if topology.wires.iter().any(|wire| wire.directions().contains(&ends)) {
        return Ok(ends);
    }
    let neighbours = file::neighbours(ends[0], topology);
    Err(Failure::Usage(format!("--link {text}: there is no such link; {from} has links to {neighbours}")))
}

/// A workload from its name, of so many flows.
fn workload(text: &str, sizes: Sizes, flows: Option<u32>) -> Result<Workload, Failure> {
    let wrong = || Failure::Usage(format!("{text:?} is no workload: say {KINDS}"));
    let (name, number) = text.split_once(':').unwrap_or((text, ""));
    if name == "trace" {
        let kind = Kind::Given(trace(Path::new(number))?);
        return Ok(Workload { kind, between: None, sizes, count: 1 });
    }
    let (pattern, who) = text.split_once('@').map_or((text, None), |(pattern, who)| (pattern, Some(who)));
    let (name, number) = pattern.split_once(':').unwrap_or((pattern, ""));
    let count = |text: &str| text.parse().ok().filter(|n: &u32| *n > 0).ok_or_else(wrong);
    let kind = match (name, number) {
        ("incast", n) => Kind::Incast(count(n)?),
        ("permutation", "") => Kind::Permutation,
        ("all-to-all", "") => Kind::AllToAll,
        ("closed", n) => Kind::Closed(count(n)?),
        ("poisson", load) => match quantity::share(load)? {
            0 => return Err(wrong()),
            load => Kind::Poisson(load),
        },
        _ => return Err(wrong()),
    };
    let endless = matches!(kind, Kind::Closed(_) | Kind::Poisson(_));
    let between = who.map(|who| between(who).ok_or_else(wrong)).transpose()?;
    Ok(Workload { kind, between, sizes, count: flows.unwrap_or(if endless { FLOWS } else { 1 }) })
}

/// `h1`, or several: `h2..h9`.
fn hosts(text: &str) -> Option<RangeInclusive<u32>> {
    let host = |text: &str| text.strip_prefix('h')?.parse().ok();
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (host(first)?, host(last)?);
    (first <= last).then_some(first..=last)
}

fn no_service(text: &str) -> Failure {
    Failure::Usage(format!(
        "--service {text}: say hosts and a time, such as h1=12us, h1..h3=exponential:12us or h0=bimodal:95%x6us,5%x120us"
    ))
}

/// `h1:h0`, or several: `h2..h9:h0..h1`.
fn between(text: &str) -> Option<Between> {
    let (from, to) = text.split_once(':')?;
    Some(Between { from: hosts(from)?, to: hosts(to)? })
}

fn sizes(option: &str, text: &str) -> Result<Sizes, Failure> {
    if let Some(known) = Sizes::known(text) {
        return Ok(known);
    }
    match text.split_once("..") {
        Some((lo, hi)) => Ok(Sizes::Uniform(transfer_size(option, lo)?, transfer_size(option, hi)?)),
        None => Ok(Sizes::Fixed(transfer_size(option, text)?)),
    }
}

fn trace(path: &Path) -> Result<Vec<carrick_sim::fabric::Flow>, Failure> {
    let text = file::read(path)?;
    parse_trace(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}
