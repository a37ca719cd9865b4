//! What a run in the simulator is, as the command line says it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use carrick_driver::cc::{self, SharedLibrary, Tracing};
use carrick_driver::{Choice, Failure, params, quantity};
use carrick_ir::Program;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::link::LinkConfig;
use carrick_sim::scenario::Engine;
use carrick_sim::{Scenario, Way};
use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AppKind {
    /// one transfer from client to server
    Bulk,
    /// requests, each answered before the next; RPCs may be `--outstanding`
    RequestResponse,
    /// connections that are opened and stay
    Idle,
    /// random applications on a random network, from the seed alone
    Random,
}

#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// of the link, in each direction: 10Mbps, 1Gbps
    #[arg(long, default_value = "100Mbps")]
    pub rate: String,
    /// one way: 10ms, 50us
    #[arg(long, default_value = "1ms")]
    pub delay: String,
    /// packets that wait for the link at most
    #[arg(long, default_value_t = 250)]
    pub queue: usize,
    /// packets that wait before the link marks (ECN, RFC 3168) those that can be marked; without it none is
    #[arg(long, value_name = "PACKETS")]
    pub ecn_threshold: Option<usize>,
    /// share of packets that are lost
    #[arg(long, default_value = "0%")]
    pub loss: String,
    /// that arrive twice
    #[arg(long, default_value = "0%")]
    pub duplicate: String,
    /// that are overtaken
    #[arg(long, default_value = "0%")]
    pub reorder: String,
    /// with a flipped bit
    #[arg(long, default_value = "0%")]
    pub corrupt: String,
    /// from this time on all packets are lost, as where the peer has died: 20ms
    #[arg(long, value_name = "TIME")]
    pub cut: Option<String>,
    /// octets of an IP packet
    #[arg(long, default_value_t = 1500)]
    pub mtu: u32,
    /// octets of a message (8B to 64KiB), where a program carries messages; without it, what a packet holds
    #[arg(long)]
    pub message: Option<String>,
    #[arg(long, value_enum, default_value = "bulk")]
    pub app: AppKind,
    /// to transfer (bulk), or in a request
    #[arg(long, default_value = "1MB")]
    pub bytes: String,
    /// instead: transfers at once, of so many octets each, as streams of one connection where a program has such (1MB,8KB,8KB)
    #[arg(long, value_delimiter = ',', value_name = "BYTES")]
    pub streams: Vec<String>,
    /// octets in an answer
    #[arg(long, default_value = "1KB")]
    pub answer: String,
    /// requests, or idle connections
    #[arg(long, default_value_t = 100)]
    pub count: u64,
    /// requests that wait for their responses at once, where a program carries RPCs
    #[arg(long, default_value_t = 1)]
    pub outstanding: u32,
    /// of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What stands between client and server.
#[derive(Debug, Args)]
pub struct ViaArgs {
    /// a program in the network, between client and server, on a second link like the first
    #[arg(long)]
    pub via: Option<PathBuf>,
    /// a parameter of that program: name=value
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

/// A program in the network, and who runs it; the library must stay as long as its compiled core is used.
pub struct Between {
    program: Arc<Program>,
    engine: Engine,
    params: Vec<u64>,
    _library: Option<SharedLibrary>,
}

impl Between {
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What a run goes through.
    pub fn way(&self) -> Way<'_> {
        Way { program: &self.program, engine: &self.engine, params: self.params.clone() }
    }
}

/// A program, and a value for each of its parameters.
type WithParams = (Arc<Program>, Vec<u64>);

impl ViaArgs {
    /// The program, if one is wanted, and a value for each of its parameters.
    pub fn program(&self) -> Result<Option<WithParams>, Failure> {
        let Some(file) = &self.via else { return Ok(None) };
        let program = super::load_choice(file, &Choice::default())?;
        let params = params::values(&program, &self.via_set)?;
        Ok(Some((program, params)))
    }

    /// The program and who runs it, if one is wanted.
    pub fn between(&self, compiled: bool, tracing: Tracing) -> Result<Option<Between>, Failure> {
        let Some((program, params)) = self.program()? else { return Ok(None) };
        let (engine, library) = engine(&program, compiled, tracing)?;
        Ok(Some(Between { program, engine, params, _library: library }))
    }
}

impl ScenarioArgs {
    /// The run, of this program with these parameters (`name=value`).
    pub fn scenario(&self, program: &Program, settings: &[String]) -> Result<Scenario, Failure> {
        let link = LinkConfig {
            rate_bps: quantity::rate(&self.rate)?,
            delay_ns: quantity::duration(&self.delay)?,
            queue_packets: self.queue,
            ecn_threshold: self.ecn_threshold,
            loss_ppm: quantity::share(&self.loss)?,
            duplicate_ppm: quantity::share(&self.duplicate)?,
            reorder_ppm: quantity::share(&self.reorder)?,
            corrupt_ppm: quantity::share(&self.corrupt)?,
            cut_at_ns: self.cut.as_deref().map(quantity::duration).transpose()?,
        };
        let message = self.message.as_deref().map(message).transpose()?;
        let octets = quantity::bytes(&self.bytes)?;
        let answer = quantity::bytes(&self.answer)?;
        let streams: Vec<u64> =
            self.streams.iter().map(|text| quantity::bytes(text)).collect::<Result<_, _>>()?;
        let mut scenario = match self.app {
            AppKind::Bulk if !streams.is_empty() => Scenario::streams(self.seed, link, &streams),
            AppKind::Bulk => Scenario::bulk(self.seed, link, octets),
            AppKind::RequestResponse => {
                Scenario::request_response(self.seed, link, octets, answer, self.count)
            }
            AppKind::Idle => Scenario::idle(self.seed, link, self.count),
            AppKind::Random => Scenario::random(self.seed),
        };
        if self.app != AppKind::Random {
            scenario.mtu = self.mtu;
        }
        scenario.message = message;
        if self.app == AppKind::RequestResponse || self.app == AppKind::Bulk {
            scenario.plans.iter_mut().for_each(|plan| plan.outstanding = self.outstanding);
        }
        if !settings.is_empty() {
            scenario.params = params::values(program, settings)?;
        }
        Ok(scenario)
    }
}

fn message(text: &str) -> Result<u32, Failure> {
    let octets = quantity::bytes(text)?;
    let known = u32::try_from(octets).ok().filter(|n| (8..=65_536).contains(n));
    known.ok_or_else(|| Failure::Usage(format!("`{text}` is no length of a message: say 8B to 64KiB")))
}

/// Who runs the program; the library must stay as long as a compiled core is used.
pub fn engine(
    program: &Arc<Program>,
    compiled: bool,
    tracing: Tracing,
) -> Result<(Engine, Option<SharedLibrary>), Failure> {
    if !compiled {
        return Ok((Engine::Interpreter, None));
    }
    let library = cc::shared_library(program, tracing)?;
    let core = CompiledProgram::load(&library.path, program).map_err(Failure::Failed)?;
    Ok((Engine::Compiled(core), Some(library)))
}
