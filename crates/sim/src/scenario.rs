// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run is: a plain description, and what came of it.

use std::rc::Rc;
use std::sync::Arc;

use carrick_interp::Config;
use carrick_interp::debug::Hook;
use carrick_ir::{Program, STATUS_NAMES};

use crate::app::{End, Plan, Record, Side};
use crate::compiled::{Compiled, CompiledProgram};
use crate::core::{Core, RecordSet};
use crate::interpreted::Interpreted;
use crate::link::{LinkConfig, LinkCounters};
use crate::stop::Stop;

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const CLIENT: u32 = 0x0a00_0001;
pub(crate) const SERVER: u32 = 0x0a00_0002;

/// Where servers listen; more follow where one has too few connections. No well-known protocol is there, so that nobody who
/// reads a capture takes the bytes for one.
const PORT: u16 = 5001;
/// Where nobody listens.
pub(crate) const DEAF_PORT: u16 = 4999;

/// Who runs the program.
#[derive(Clone)]
pub enum Engine {
    /// the reference
    Interpreter,
    /// the same, with somebody who is told of every statement; the cores are numbered as the hosts
    Debugged(Hook),
    /// a shared library
    Compiled(Rc<CompiledProgram>),
    /// whatever makes cores
    Made(Make),
}

/// Makes a core of a program.
pub type Make = Rc<dyn Fn(&Arc<Program>, &Config) -> Result<Box<dyn Core>, String>>;

impl Engine {
    /// A core of a program; the number is that of its host.
    ///
    /// # Errors
    /// If the configuration allows no core, and what an engine says that makes none.
    pub fn core(
        &self,
        program: &Arc<Program>,
        config: &Config,
        number: usize,
    ) -> Result<Box<dyn Core>, String> {
        Ok(match self {
            Engine::Interpreter => Box::new(Interpreted::new(program.clone(), config)?),
            Engine::Debugged(hook) => {
                Box::new(Interpreted::debugged(program.clone(), config, number, hook.clone())?)
            }
            Engine::Compiled(compiled) => Box::new(Compiled::new(compiled.clone(), config)?),
            Engine::Made(make) => make(program, config)?,
        })
    }
}

/// A run: the same description gives the same run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub seed: u64,
    pub link: LinkConfig,
    pub mtu: u32,
    /// bytes of a message, however many packets that takes; without it, what fits into one
    pub message: Option<u32>,
    /// a value for each parameter of the program; empty: the defaults
    pub params: Vec<u64>,
    pub plans: Vec<Plan>,
    /// virtual nanoseconds at most
    pub limit: u64,
    /// virtual nanoseconds that pass after the applications are done
    pub drain: u64,
    pub stop: Stop,
}

fn side(to_send: u64) -> Side {
    Side { to_send, send_chunk: 65_536, recv_chunk: 65_536, pause_first: 0, pause: 0, abort_at: None }
}

pub(crate) fn plan(number: u64, client: Side, server: Side) -> Plan {
    Plan {
        number,
        connection: number,
        start: 0,
        port: PORT,
        client,
        server,
        turn: None,
        hold: false,
        outstanding: 1,
    }
}

impl Scenario {
    /// One connection that carries `octets` (at least 8) from client to server.
    pub fn bulk(seed: u64, link: LinkConfig, octets: u64) -> Scenario {
        Scenario {
            seed,
            link,
            mtu: 1500,
            message: None,
            params: Vec::new(),
            plans: vec![plan(1, side(octets.max(8)), side(0))],
            limit: 24 * 3600 * SECOND,
            drain: 0,
            stop: Stop::default(),
        }
    }

    /// `count` requests, each answered before the next; RPCs may be several at once ([`Plan::outstanding`]).
    pub fn request_response(seed: u64, link: LinkConfig, request: u64, answer: u64, count: u64) -> Scenario {
        let request = request.max(8);
        let answer = answer.max(1);
        let mut plan = plan(1, side(request * count), side(answer * count));
        plan.turn = Some((request, answer));
        Scenario { plans: vec![plan], ..Scenario::bulk(seed, link, 8) }
    }

    /// As many transfers from client to server at once as there are sizes (each at least 8 bytes): the streams of one
    /// connection, where connections have several.
    pub fn streams(seed: u64, link: LinkConfig, sizes: &[u64]) -> Scenario {
        let stream = |(number, octets): (u64, &u64)| Plan {
            connection: 1,
            ..plan(number, side((*octets).max(8)), side(0))
        };
        Scenario { plans: (1..).zip(sizes).map(stream).collect(), ..Scenario::bulk(seed, link, 8) }
    }

    /// `count` connections that are opened and stay.
    pub fn idle(seed: u64, link: LinkConfig, count: u64) -> Scenario {
        let plans = (0..count)
            .map(|i| Plan {
                start: i * 10_000,
                port: PORT + (i / 60_000) as u16,
                hold: true,
                ..plan(i + 1, side(8), side(0))
            })
            .collect();
        Scenario { plans, ..Scenario::bulk(seed, link, 8) }
    }
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// virtual nanoseconds when it ended
    pub ended_at: u64,
    /// of the client and the server, in the order of opening
    pub connections: [Vec<Record>; 2],
    pub links: [LinkCounters; 2],
    /// by number, of each host's core
    pub counters: [Vec<u64>; 2],
    /// where the first claim stands that failed at each host
    pub first_claims: [Option<String>; 2],
    /// instances that were still open
    pub open_contexts: [usize; 2],
    pub packets: u64,
    /// of what is between them, if there is something
    pub between: Option<BetweenReport>,
    /// sentences about what should not have happened
    pub failures: Vec<String>,
    /// sentences about damaged data that applications were given: the program has no checksum that would tell
    pub damage: Vec<String>,
    /// sentences about transfers that are short or ended in an error, which no promise excludes
    pub unfinished: Vec<String>,
}

/// What came of the core between client and server.
#[derive(Debug, Clone)]
pub struct BetweenReport {
    /// the protocol number of its packets, and that of the ends'
    pub protocols: [u8; 2],
    /// by number
    pub counters: Vec<u64>,
    /// instances that were still open
    pub open_contexts: usize,
    /// to the client and to the server
    pub links: [LinkCounters; 2],
}

impl Report {
    /// Bytes that arrived at both ends together.
    pub fn received(&self) -> u64 {
        self.connections.iter().flatten().map(|r| r.received).sum()
    }

    /// From the first connection's beginning to the last one's end, in nanoseconds.
    pub fn completion_ns(&self) -> Option<u64> {
        let all = || self.connections.iter().flatten();
        let start = all().map(|r| r.started).min()?;
        all().map(|r| r.finished).collect::<Option<Vec<u64>>>()?.into_iter().max().map(|end| end - start)
    }
}

/// How the core of a host is made: 0 is the client, 1 the server.
pub fn host_config(scenario: &Scenario, host: u64, trace: bool) -> Config {
    Config {
        seed: scenario.seed.wrapping_mul(2).wrapping_add(host),
        address: if host == 0 { CLIENT } else { SERVER }.into(),
        mtu: scenario.mtu,
        completions: (scenario.plans.len() as u32 * 4).next_power_of_two().max(1024),
        params: scenario.params.clone(),
        instances: 0,
        trace,
        records: RecordSet::ALL,
    }
}

/// A program in the network, and who runs it.
pub struct Way<'a> {
    pub program: &'a Arc<Program>,
    pub engine: &'a Engine,
    /// a value for each parameter of the program; empty: the defaults
    pub params: Vec<u64>,
}

/// How the core between client and server is made, of a program whose parameters have these values.
pub fn between_config(params: &[u64], scenario: &Scenario, trace: bool) -> Config {
    let seed = scenario.seed.wrapping_mul(2).wrapping_add(0x6265_7477_6565_6e00);
    Config { seed, params: params.to_vec(), ..host_config(scenario, 0, trace) }
}

/// A word for how a connection ended.
pub fn end_name(end: End) -> String {
    match end {
        End::Open => "open".into(),
        End::Clean => "closed".into(),
        End::Aborted => "aborted".into(),
        End::Error(status) => STATUS_NAMES.get(usize::from(status)).map_or("?".into(), |s| s.to_lowercase()),
    }
}
