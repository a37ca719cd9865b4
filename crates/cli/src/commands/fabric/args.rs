//! What a network of many hosts is, as the command line says it.

use std::path::{Path, PathBuf};

use carrick_driver::{Failure, quantity};
use carrick_sim::fabric::Setup;
use carrick_sim::fabric::sizes::Sizes;
use carrick_sim::fabric::switch::{Mark, Paths, Pause, Queueing, Shared, Trim};
use carrick_sim::fabric::topology::{Links, Topology};
use carrick_sim::fabric::workload::{Between, KINDS, Kind, Workload, parse_trace};
use clap::Args;

use super::file;
use super::runs::Shard;
use crate::commands::scenario::ScenarioArgs;

/// Octets of a message where nobody says: what a program that carries messages of many packets should hold.
const MESSAGE: u32 = 65_536;
/// Flows of a workload that has no end of itself.
const FLOWS: u32 = 1000;
const HOUR: u64 = 3_600_000_000_000;

#[derive(Debug, Args)]
#[command(next_help_heading = "Networks of many hosts")]
pub struct FabricArgs {
    /// pair, dumbbell:N, star:N, leaf-spine:LEAVES,SPINES,HOSTS_PER_LEAF, fat-tree:K, or a .toml file; --rate is that of
    /// links to hosts
    #[arg(long)]
    pub topology: Option<String>,
    /// incast:N, permutation, all-to-all, closed:N, poisson:LOAD%, or trace:FILE (lines `start_ns,source,destination,octets`);
    /// closed:1@h1:h0 goes from host 1 to host 0, poisson:50%@h2..h9:h0 from some to it
    #[arg(long, default_value = "permutation", requires = "topology")]
    pub workload: String,
    /// octets of a flow: 100KB, 1KB..1MB, or w1 to w5; without it --bytes
    #[arg(long, requires = "topology")]
    pub sizes: Option<String>,
    /// flows, one after another of each sender (closed and poisson: of all together, 1000 without it)
    #[arg(long, requires = "topology")]
    pub flows: Option<u32>,
    /// a workload that goes on beside it until it has ended, and is not measured
    #[arg(long, requires = "topology")]
    pub background: Option<String>,
    /// octets of its flows; without it as those of --workload
    #[arg(long, requires = "background")]
    pub background_sizes: Option<String>,
    /// its flows, as --flows; too few are an error
    #[arg(long, requires = "background")]
    pub background_flows: Option<u32>,
    /// of links between switches; without it as --rate
    #[arg(long, requires = "topology")]
    pub core_rate: Option<String>,
    /// octets that wait before a port with one priority at most; without it --queue packets
    #[arg(long, requires = "topology")]
    pub buffer: Option<String>,
    /// octets that all ports of a switch share; a queue may have --alpha times what is free
    #[arg(long, requires = "topology")]
    pub shared: Option<String>,
    #[arg(long, default_value_t = 1.0, requires = "shared")]
    pub alpha: f64,
    /// strict priorities, by the first three bits of packets' differentiated services field
    #[arg(long, default_value_t = 8, requires = "topology")]
    pub priorities: usize,
    /// mark packets (ECN) that find so many octets of their priority waiting; 5KB..200KB: some from 5KB on, all from 200KB on
    #[arg(long, requires = "topology")]
    pub mark_at: Option<String>,
    /// of packets that find just less than all of that waiting, so many are marked; with fewer octets, accordingly less
    #[arg(long, default_value = "1%", requires = "mark_at")]
    pub mark_most: String,
    /// cut packets for which there is no room to so many octets, and give them code point --trim-dscp
    #[arg(long, requires = "topology")]
    pub trim: Option<String>,
    #[arg(long, default_value_t = 56, requires = "trim")]
    pub trim_dscp: u8,
    /// if there is no room for that either, send the header back with this code point
    #[arg(long, requires = "trim")]
    pub return_dscp: Option<u8>,
    /// priority flow control: a link pauses for a priority of which so many octets wait that came by it
    #[arg(long, requires = "topology", conflicts_with = "trim")]
    pub pfc: Option<String>,
    /// each packet by another of several shortest paths, not all of a flow by one
    #[arg(long, requires = "topology")]
    pub spray: bool,
    /// flows to one host follow each other on one connection, where a program has connections
    #[arg(long, requires = "topology")]
    pub keep: bool,
    /// a line for each flow
    #[arg(long, requires = "topology")]
    pub csv: Option<PathBuf>,
    /// a line for each stretch of --every and each flow: the octets that arrived
    #[arg(long, requires = "topology")]
    pub rates: Option<PathBuf>,
    #[arg(long, default_value = "1ms", requires = "topology")]
    pub every: String,
    /// a line for each of up to 4096 points in time: goodput, and what waits
    #[arg(long, requires = "topology")]
    pub timeline: Option<PathBuf>,
    /// drawings (SVG) into this folder: slowdowns, completion times, queues, goodput, utilisation
    #[arg(long, value_name = "DIR", requires = "topology")]
    pub plot: Option<PathBuf>,
    /// runs, with the seeds from --seed on
    #[arg(long, default_value_t = 1, requires = "topology")]
    pub seeds: u64,
    /// runs at once
    #[arg(long, default_value_t = 1, requires = "topology")]
    pub jobs: usize,
    /// only these of the runs, for several machines: the I-th of N parts; `carrick merge` puts their results together
    #[arg(long, value_name = "I/N", requires = "topology")]
    pub shard: Option<Shard>,
}

impl FabricArgs {
    /// What all runs have in common: they differ in their seed and parameters.
    pub fn setup(&self, name: &str, common: &ScenarioArgs) -> Result<Setup, Failure> {
        let message = common.message.as_deref().map(quantity::bytes).transpose()?;
        let message = message.map(|octets| {
            let known = u32::try_from(octets).ok().filter(|n| (64..=1 << 30).contains(n));
            known
                .ok_or_else(|| Failure::Usage(format!("{octets} is no length of a message: say 64B to 1GiB")))
        });
        let flow_sizes = sizes(self.sizes.as_deref().unwrap_or(&common.bytes))?;
        let background = self.background.as_deref().map(|text| {
            let sizes = self.background_sizes.as_deref().map_or(Ok(flow_sizes), sizes)?;
            workload(text, sizes, self.background_flows)
        });
        Ok(Setup {
            topology: self.shape(name, common)?,
            queueing: self.queueing(common)?,
            workload: workload(&self.workload, flow_sizes, self.flows)?,
            background: background.transpose()?,
            seed: common.seed,
            mtu: common.mtu,
            message: message.transpose()?.unwrap_or(MESSAGE),
            keep: self.keep,
            params: Vec::new(),
            every: self.rates.as_ref().map(|_| self.stretch()).transpose()?,
            limit: HOUR,
        })
    }

    /// Nanoseconds.
    fn stretch(&self) -> Result<u64, Failure> {
        match quantity::duration(&self.every)? {
            0 => Err(Failure::Usage("--every 0s: say 1ns or more".into())),
            every => Ok(every),
        }
    }

    fn shape(&self, name: &str, common: &ScenarioArgs) -> Result<Topology, Failure> {
        if name.ends_with(".toml") {
            return file::topology(Path::new(name));
        }
        let rate_bps = quantity::rate(&common.rate)?;
        let links = Links {
            rate_bps,
            core_rate_bps: self.core_rate.as_deref().map_or(Ok(rate_bps), quantity::rate)?,
            delay_ns: quantity::duration(&common.delay)?,
            loss_ppm: quantity::share(&common.loss)?,
        };
        Topology::named(name, &links).map_err(Failure::Usage)
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
                    .ok_or_else(|| Failure::Usage(format!("{left} octets are no header: say 20B to 64KB")))?,
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

/// `h1:h0`, or several: `h2..h9:h0..h1`.
fn between(text: &str) -> Option<Between> {
    let host = |text: &str| text.strip_prefix('h')?.parse().ok();
    let hosts = |text: &str| {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        Some(host(first)?..=host(last)?)
    };
    let (from, to) = text.split_once(':')?;
    Some(Between { from: hosts(from)?, to: hosts(to)? })
}

fn sizes(text: &str) -> Result<Sizes, Failure> {
    if let Some(known) = Sizes::known(text) {
        return Ok(known);
    }
    match text.split_once("..") {
        Some((lo, hi)) => Ok(Sizes::Uniform(quantity::bytes(lo)?, quantity::bytes(hi)?)),
        None => Ok(Sizes::Fixed(quantity::bytes(text)?)),
    }
}

fn trace(path: &Path) -> Result<Vec<carrick_sim::fabric::Flow>, Failure> {
    let text = file::read(path)?;
    parse_trace(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}
