// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run in the simulator is, as the command line says it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use carrick_driver::{Failure, params, quantity};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::diff::Via;
use carrick_sim::fabric::OCTETS_MIN;
use carrick_sim::faults::FaultSchedule;
use carrick_sim::interface::Shape;
use carrick_sim::interpreted::at_host;
use carrick_sim::limits::{self, at_most};
use carrick_sim::link::LinkConfig;
use carrick_sim::scenario::{Engine, between_config, host_config};
use carrick_sim::{Faults, Scenario, Way};
use clap::{Args, ValueEnum};

use super::faults::FaultArgs;
use crate::load::{Build, Builds, choice_between};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AppKind {
    /// One transfer from client to server
    Bulk,
    /// Requests, each answered before the next is sent; with RPCs, `--outstanding` at once
    RequestResponse,
    /// Connections that open and then stay idle
    Idle,
    /// Random applications on a random network, both drawn from the seed
    Random,
}

/// What goes wrong in a random network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FaultKind {
    /// Each fault in half of the networks, as the seed draws it
    Drawn,
    /// Every fault at once; corruption only where the program has a checksum over its payload
    Every,
    /// Queues of 1 to 12 packets that drop the rest, and no other fault
    Queues,
    /// As `every`, and from some time on all packets are lost
    Cut,
}

impl From<FaultKind> for Faults {
    fn from(kind: FaultKind) -> Faults {
        match kind {
            FaultKind::Drawn => Faults::Drawn,
            FaultKind::Every => Faults::Every,
            FaultKind::Queues => Faults::Queues,
            FaultKind::Cut => Faults::Cut,
        }
    }
}

#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// Link rate in each direction, for example 10Mbps or 1Gbps
    #[arg(long, default_value = "100Mbps")]
    pub rate: String,
    /// One-way propagation delay of the link, for example 10ms or 50us
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    pub delay: String,
    /// Queue limit of the link, in packets
    #[arg(long, value_name = "PACKETS", default_value_t = 250)]
    pub queue: usize,
    /// Maximum size of an IP packet, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500)]
    pub mtu: u32,
    /// Size of a message, 8B to 64KiB, for programs that carry messages. Omit for the size that fits into one packet
    #[arg(long, value_name = "BYTES")]
    pub message: Option<String>,
    /// Application at the two hosts
    #[arg(long, value_enum, default_value = "bulk")]
    pub app: AppKind,
    /// Faults of the random network of `--app random`
    #[arg(long, value_enum, default_value = "drawn")]
    pub faults: FaultKind,
    /// Size of the transfer (bulk), or of each request
    #[arg(long, default_value = "1MB")]
    pub bytes: String,
    /// Sizes of several transfers that run at once, in place of `--bytes`; each is a stream of one connection where the program has streams (1MB,8KB,8KB)
    #[arg(long, value_delimiter = ',', value_name = "BYTES")]
    pub streams: Vec<String>,
    /// Size of an answer
    #[arg(long, value_name = "BYTES", default_value = "1KB")]
    pub answer: String,
    /// Number of requests, or of idle connections
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,
    /// Number of requests that wait for their responses at once, for programs that carry RPCs (default 1); with --topology,
    /// number of messages on the way from one host to another, for programs that carry messages (default 8)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub outstanding: Option<u32>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What stands between client and server.
#[derive(Debug, Args)]
pub struct ViaArgs {
    /// In-network program between client and server; a second link, equal to the first, connects it to the server
    #[arg(long)]
    pub via: Option<PathBuf>,
    /// Parameter of the in-network program: name=value
    #[arg(long, requires = "via")]
    pub via_set: Vec<String>,
}

impl fmt::Display for ViaArgs {
    /// As it is said on the command line, behind something else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let via = self.via.iter().try_for_each(|file| write!(f, " --via {}", file.display()));
        via.and_then(|()| self.via_set.iter().try_for_each(|setting| write!(f, " --via-set {setting}")))
    }
}

/// A program in the network, and who runs it.
pub struct Between {
    build: Build,
    engine: Engine,
    params: Vec<u64>,
}

impl Between {
    pub fn program(&self) -> &Arc<Program> {
        &self.build.program
    }

    /// What a run goes through.
    pub fn way(&self) -> Way<'_> {
        Way { program: &self.build.program, engine: &self.engine, params: self.params.clone() }
    }

    /// What the runs of a comparison go through.
    pub fn via(&self) -> Via<'_> {
        Via { program: &self.build.program, engine: &self.engine, params: self.params.clone() }
    }
}

/// How the cores of two hosts are made, or that of the program between them.
pub fn configs(program: &Program, inside: Option<&Way<'_>>, scenario: &Scenario) -> Vec<Config> {
    match inside {
        Some(way) => vec![at_host(way.program, &between_config(&way.params, scenario, false))],
        None => [0, 1].map(|host| at_host(program, &host_config(scenario, host, false))).to_vec(),
    }
}

/// Why a program in the network let packets through and saw none of them, if that is so; `protocols` has the number of its
/// packets, and that of the ends'.
pub fn unseen(counters: &[u64], protocols: [u8; 2]) -> Option<String> {
    let counted = |name| counters[carrick_ir::counter(name)];
    let [its, ends] = protocols;
    let unseen = its != ends && counted("rx_packets") == 0 && counted("tx_forwarded") > 0;
    unseen.then(|| format!("it saw 0 packets: its protocol is {its}, that of the ends is {ends}"))
}

impl ViaArgs {
    /// The program between these ends and who runs it, if one is wanted.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it has no such parameter, and those of [`Builds::get`].
    pub fn between(&self, ends: &Program, builds: &Builds) -> Result<Option<Between>, Failure> {
        let Some(file) = &self.via else { return Ok(None) };
        let build = builds.get(file, &choice_between(ends))?;
        let params = params::values(&build.program, &self.via_set)?;
        Ok(Some(Between { engine: build.engine()?, build, params }))
    }
}

impl ScenarioArgs {
    /// The run, of this program with these parameters (`name=value`), over a link with these faults.
    pub fn scenario(
        &self,
        program: &Program,
        link_faults: &FaultArgs,
        settings: &[String],
    ) -> Result<Scenario, Failure> {
        let mut faults = FaultSchedule::default();
        link_faults.all()?.iter().for_each(|(_, it)| it.apply(&mut faults));
        let link = LinkConfig {
            rate_bps: self.link_rate()?,
            delay_ns: quantity::duration(&self.delay)?,
            queue_packets: self.queue,
            faults,
        };
        let message = self.message.as_deref().map(message).transpose()?;
        self.carried_by(program)?;
        let bytes = transfer_size("bytes", &self.bytes)?;
        let answer = answer(program, &self.answer)?;
        let streams: Vec<u64> =
            self.streams.iter().map(|text| transfer_size("streams", text)).collect::<Result<_, _>>()?;
        self.within_limits(&link, bytes.max(answer), &streams).map_err(Failure::Usage)?;
        let mut scenario = match self.app {
            AppKind::Bulk if !streams.is_empty() => Scenario::streams(self.seed, link, &streams),
            AppKind::Bulk => Scenario::bulk(self.seed, link, bytes),
            AppKind::RequestResponse => {
                Scenario::request_response(self.seed, link, bytes, answer, self.count)
            }
            AppKind::Idle => Scenario::idle(self.seed, link, self.count),
            AppKind::Random => Scenario::with_faults(self.seed, self.faults.into(), program),
        };
        if self.app != AppKind::Random {
            scenario.mtu = self.mtu;
        }
        scenario.message = message;
        if self.app == AppKind::RequestResponse || self.app == AppKind::Bulk {
            scenario.plans.iter_mut().for_each(|plan| plan.outstanding = self.outstanding.unwrap_or(1));
        }
        if !settings.is_empty() {
            scenario.params = params::values(program, settings)?;
        }
        Ok(scenario)
    }

    /// Bits per second.
    fn link_rate(&self) -> Result<u64, Failure> {
        match quantity::rate(&self.rate)? {
            0 => Err(Failure::Usage(format!("--rate {}: a link has a rate of 1bps or more", self.rate))),
            rate => Ok(rate),
        }
    }

    /// Refuses what no machine can simulate; `octets` is the longer of a request and its answer.
    fn within_limits(&self, link: &LinkConfig, octets: u64, streams: &[u64]) -> Result<(), String> {
        at_most("nanoseconds of --delay", link.delay_ns, limits::DELAY_NS)?;
        let in_all = |octets: u64| octets.saturating_mul(self.count);
        match self.app {
            AppKind::Bulk => {
                let longest = streams.iter().copied().max().unwrap_or(octets);
                at_most("bytes of a transfer", longest, limits::BYTES)
            }
            AppKind::RequestResponse => at_most("bytes of all requests", in_all(octets), limits::BYTES),
            AppKind::Idle => at_most("idle connections", self.count, limits::CONNECTIONS),
            AppKind::Random => Ok(()),
        }
    }

    /// Refuses what the program does not use between two hosts.
    fn carried_by(&self, program: &Program) -> Result<(), Failure> {
        let Ok(shape) = Shape::of(program) else { return Ok(()) };
        let streams = shape.carries_streams();
        let requests = shape == Shape::Rpc && self.app == AppKind::RequestResponse;
        let (message, outstanding) = (self.message.is_some(), self.outstanding.is_some());
        let (option, why) = if streams && (message || outstanding) {
            let option = if message { "message" } else { "outstanding" };
            (option, "it carries streams of bytes; say --bytes or --streams")
        } else if requests && message {
            ("message", "its requests have the size of --bytes")
        } else if shape != Shape::Rpc && outstanding {
            ("outstanding", "between two hosts, only programs that carry RPCs use it")
        } else {
            return Ok(());
        };
        let file = program.file.raw();
        Err(Failure::Usage(format!("--{option} says nothing with {file}: {why}")))
    }
}

/// The bytes of a transfer or a request, as an option says them.
///
/// # Errors
/// [`Failure::Usage`] naming the option, if there are too few.
pub fn transfer_size(option: &str, text: &str) -> Result<u64, Failure> {
    match quantity::bytes(text)? {
        size if size >= OCTETS_MIN => Ok(size),
        _ => Err(Failure::Usage(format!(
            "--{option} {text}: say {OCTETS_MIN}B or more; the first {OCTETS_MIN} bytes hold the number of the transfer"
        ))),
    }
}

/// The bytes of an answer; that of an RPC begins with a number, too.
fn answer(program: &Program, text: &str) -> Result<u64, Failure> {
    if Shape::of(program) == Ok(Shape::Rpc) {
        return transfer_size("answer", text);
    }
    match quantity::bytes(text)? {
        0 => Err(Failure::Usage(format!("--answer {text}: say 1B or more"))),
        answer => Ok(answer),
    }
}

fn message(text: &str) -> Result<u32, Failure> {
    let octets = quantity::bytes(text)?;
    let known = u32::try_from(octets).ok().filter(|n| (8..=65_536).contains(n));
    known.ok_or_else(|| Failure::Usage(format!("`{text}` is no length of a message: say 8B to 64KiB")))
}
