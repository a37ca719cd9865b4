// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is explored, and how far.

use std::sync::Arc;
use std::time::Duration;

use carrick_interp::Config;
use carrick_ir::{Program, uses};
use carrick_sim::app::{App, Place, Plan, Side};
use carrick_sim::core::RecordSet;
use carrick_sim::faults::LinkFaults;
use carrick_sim::interface::{Call, Interface, Shape};
use carrick_sim::interpreted::Interpreted;
use carrick_sim::link::LinkConfig;
use carrick_sim::scenario::{between_config, host_config};
use carrick_sim::{Scenario, goes_between};

use crate::action::{Faults, VIA, Way};
use crate::end::{At, End};
use crate::goal::Goal;

/// The number of the only connection of streams, as which their bytes begin: no two of the first eight are equal, so that each shows
/// where it belongs.
const STREAM: u64 = 0x0807_0605_0403_0201;
/// Where connections have numbers of their own, and messages too.
const FIRST: u64 = 1;
/// Instances of each context, beside those for what is sent: a state is small.
const INSTANCES: u32 = 16;

/// Requests that are open at an end at most.
const COMPLETIONS: u32 = 64;
/// A day of virtual time, in nanoseconds.
pub const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;

/// Two ends, and what their applications do.
#[derive(Debug, Clone)]
pub struct Setup {
    /// of the client and the server
    pub programs: [Arc<Program>; 2],
    /// a value for each parameter of each program; empty: the defaults
    pub params: [Vec<u64>; 2],
    /// what is between the ends, if there is something
    pub via: Option<Via>,
    /// bytes that the client sends, one in each call; of programs without streams: messages, RPCs or work requests
    pub bytes: u64,
    /// the same of the server, where it sends by itself
    pub answer: u64,
    /// bytes of each message, RPC or work request; at least 8, the numbers that it begins with
    pub message: u32,
    /// bytes of a packet
    pub mtu: u32,
    /// virtual nanoseconds that a packet can be on its way
    pub life_ns: u64,
    /// of the cores' random numbers
    pub seed: u64,
    /// what goes wrong at most
    pub faults: Faults,
    /// what is promised beside
    pub promise: Promise,
}

/// A program in the network, between client and server.
#[derive(Debug, Clone)]
pub struct Via {
    /// what runs there
    pub program: Arc<Program>,
    /// a value for each parameter; empty: the defaults
    pub params: Vec<u64>,
}

/// What is promised beyond what an interface promises by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Promise {
    /// no application is told an error
    pub no_errors: bool,
    /// messages whose `send` completed well arrive
    pub all: bool,
    /// no message arrives twice
    pub once: bool,
    /// no message arrives behind one that was sent later
    pub order: bool,
}

/// How far a search goes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// states
    pub states: u64,
    /// of the search
    pub time: Duration,
    /// virtual nanoseconds of a run
    pub virtual_ns: u64,
    /// threads
    pub jobs: usize,
    /// orders of which each gives the same are explored too: more states, and the same ends
    pub every_order: bool,
}

impl Setup {
    /// What the applications speak.
    ///
    /// # Errors
    /// A sentence, if they speak nothing that both programs do.
    pub fn shape(&self) -> Result<Shape, String> {
        if let Some(program) = self.programs.iter().find(|program| program.in_network.is_some()) {
            let file = program.file.raw();
            return Err(format!(
                "{file} runs in the network, between two ends: explore a program of these, `--via` this one"
            ));
        }
        let [shape, other] = [Shape::of(&self.programs[0])?, Shape::of(&self.programs[1])?];
        if shape != other {
            let [client, server] = [0, 1].map(|end| self.programs[end].file.raw());
            return Err(format!(
                "{client} and {server} have other interfaces: their applications cannot talk to each other"
            ));
        }
        let [layer, other] = [0, 1].map(|end| self.programs[end].net_header.layer);
        if layer != other {
            return Err(format!("one program runs over {}, the other over {}", layer.name(), other.name()));
        }
        self.via.as_ref().map_or(Ok(()), |via| goes_between(&via.program, &self.programs[0]))?;
        Ok(shape)
    }

    /// The program of a host, [`VIA`] among them.
    pub fn program(&self, host: usize) -> &Arc<Program> {
        self.via
            .as_ref()
            .filter(|_| host == VIA)
            .map_or_else(|| &self.programs[host.min(1)], |via| &via.program)
    }

    /// How many hosts there are.
    pub(crate) fn hosts(&self) -> usize {
        2 + usize::from(self.via.is_some())
    }

    /// A packet without a checksum over its payload, if packets may change: then nothing is promised of what arrives, nor of what is
    /// left.
    pub fn blind(&self) -> Option<&str> {
        let without = self.programs.iter().find_map(|program| uses::without_checksum(program));
        without.filter(|_| self.faults.corrupt > 0)
    }

    /// Whether messages may be lost, come twice and in any order, as far as anybody has said.
    pub fn promises_nothing(&self) -> bool {
        let Promise { all, once, order, .. } = self.promise;
        self.shape() == Ok(Shape::Message) && !(all || once || order)
    }

    /// The goals that hold for it, if it does what it promises.
    pub fn goals(&self) -> impl Iterator<Item = Goal> {
        let blind = self.blind().is_some();
        Goal::ALL.into_iter().filter(move |goal| !(blind && matches!(goal, Goal::Delivery | Goal::Released)))
    }

    /// As the simulator describes a run: what the judge of runs is told.
    pub(crate) fn scenario(&self, shape: Shape) -> Scenario {
        let side = |bytes: u64, of: u32| Side {
            to_send: bytes * u64::from(of),
            send_chunk: of,
            recv_chunk: 65_536,
            pause_first: 0,
            pause: 0,
            abort_at: None,
        };
        let streams = shape.carries_streams();
        let of = if streams { 1 } else { self.message };
        let turn = (shape == Shape::Rpc).then_some((u64::from(self.message), u64::from(self.message)));
        let answer = if shape == Shape::Rpc { self.bytes } else { self.answer };
        let plan = Plan {
            number: if streams { STREAM } else { FIRST },
            client: side(self.bytes, of),
            server: side(answer, of),
            turn,
            outstanding: 8,
            ..Scenario::bulk(self.seed, LinkConfig::default(), 8).plans.remove(0)
        };
        // The judge asks whether links corrupt packets.
        let corrupts =
            LinkFaults { corrupt_ppm: u32::from(self.faults.corrupt > 0), ..LinkFaults::default() };
        let link = LinkConfig { faults: corrupts.into(), ..LinkConfig::default() };
        Scenario {
            mtu: self.mtu,
            plans: vec![plan],
            message: Some(self.message),
            ..Scenario::bulk(self.seed, link, 8)
        }
    }

    /// All hosts before anything has happened: the client, the server, and what is between them.
    ///
    /// # Errors
    /// A sentence, if a program makes no core.
    pub(crate) fn ends(&self, tracing: bool) -> Result<Vec<End>, String> {
        (0..self.hosts()).map(|host| self.end(host, tracing)).collect()
    }

    fn end(&self, host: usize, tracing: bool) -> Result<End, String> {
        let shape = self.shape()?;
        let scenario = self.scenario(shape);
        let program = self.program(host);
        let config = self.config(&scenario, host, tracing);
        let core = Interpreted::new(program.clone(), &config)?;
        let layer = program.net_header.layer;
        let address = |host: usize| host_config(&scenario, host as u64, false).address as u32;
        if host == VIA {
            let app = App::in_network(program, u64::from(self.message));
            let interface = Interface::calls(program);
            return Ok(End::new(core, app, interface, layer, At::Via(address(0)), config.seed));
        }
        let interface = Interface::of(program)?;
        let [address, peer] = [host, 1 - host].map(address);
        let place = Place {
            is_client: host == 0,
            address,
            peer,
            seed: self.seed,
            message: self.message,
            listens: interface.has(Call::Listen),
            numbered: false,
        };
        let app = App::new(shape, place, &scenario.plans);
        let way = if host == 0 { Way::ToServer } else { Way::ToClient };
        Ok(End::new(core, app, interface, layer, At::End(way, peer), config.seed))
    }

    /// How the core of a host is made.
    fn config(&self, scenario: &Scenario, host: usize, tracing: bool) -> Config {
        let made = match self.via.as_ref().filter(|_| host == VIA) {
            Some(via) => between_config(&via.params, scenario, tracing),
            None => {
                Config { params: self.params[host].clone(), ..host_config(scenario, host as u64, tracing) }
            }
        };
        Config {
            instances: INSTANCES + 2 * (self.bytes + self.answer) as u32,
            completions: COMPLETIONS,
            records: if tracing { RecordSet::ALL } else { RecordSet::NONE },
            ..made
        }
    }

    /// How the cores of the ends are made, as a trace says it.
    ///
    /// # Errors
    /// As [`Setup::shape`].
    pub fn configs(&self) -> Result<[Config; 2], String> {
        let scenario = self.scenario(self.shape()?);
        Ok([0, 1].map(|host| self.config(&scenario, host, true)))
    }
}
