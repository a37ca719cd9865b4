// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random operations on two cores that exchange packets, some of them damaged, doubled or out of order: of any interface, and
//! where nobody asks for anything. Lengths, numbers and fields are often empty or at an edge. Each core is there twice, and after each operation both must have shown the same.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use carrick_interp::{Config, TraceKind};
use carrick_ir::{BpFieldKind, COUNTERS, Loc, NetLayer, Program};

use super::comparison::Comparison;
use crate::compiled::{Compiled, CompiledProgram};
use crate::core::{Completion, Core, Record, Refused, Request};
use crate::edges::Edges;
use crate::forge::{forge, make};
use crate::icmp;
use crate::interpreted::Interpreted;
use crate::ip::{checksum, header_len, mend_length, pseudo_header};
use crate::random_source::RandomSource;
use crate::status::OK;
use crate::trace::describe;

/// Bytes that one request sends or wants at most.
const MOST: u64 = 5000;
/// The same of some requests, which fill units of data at once.
const MANY: u64 = 40_000;
const MANY_ONE_IN: u64 = 16;
/// One call in so many has no token.
const NO_TOKEN_ONE_IN: u64 = 64;
/// Small, so that most messages are several packets; over IPv6 the least that there is.
const MTU: u32 = 600;
const MTU_V6: u32 = 1280;
const COMPLETIONS: u32 = 64;

/// The same core twice: interpreted and compiled.
struct Twins {
    cores: [Box<dyn Core>; 2],
    /// the trace records of each since the last comparison
    records: [Vec<Record>; 2],
    /// handles that completions gave
    handles: Vec<u64>,
    /// the calls of open requests by their tokens, and those of requests that completed with `OK`
    calls: HashMap<u64, usize>,
    answered: BTreeSet<usize>,
    compared: u64,
}

/// Whether it was taken; why a packet was dropped shows in the counters.
fn outcome(result: Result<(), Refused>) -> &'static str {
    match result {
        Ok(()) => "taken",
        Err(Refused::Again) => "again",
        Err(Refused::Dropped(_)) => "dropped",
        Err(Refused::BadArg) => "bad argument",
    }
}

fn same<T: PartialEq>(
    what: &str,
    [interpreted, compiled]: &[T; 2],
    show: impl Fn(&T) -> String,
) -> Result<(), String> {
    match interpreted == compiled {
        true => Ok(()),
        false => Err(format!("{what}\ninterpreter: {}\ncompiled:    {}", show(interpreted), show(compiled))),
    }
}

fn plain<T: std::fmt::Debug>(of: &T) -> String {
    format!("{of:?}")
}

impl Twins {
    fn new(program: &Arc<Program>, other: Box<dyn Core>, config: &Config) -> Result<Twins, String> {
        let interpreted = Box::new(Interpreted::new(program.clone(), config)?);
        Ok(Twins {
            cores: [interpreted, other],
            records: Default::default(),
            handles: vec![0],
            calls: HashMap::new(),
            answered: BTreeSet::new(),
            compared: 0,
        })
    }

    /// Does the same to both; what both answered.
    fn both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        mut done: impl FnMut(&mut dyn Core) -> T,
    ) -> Result<T, String> {
        let [interpreted, compiled] = &mut self.cores;
        let answers = [done(&mut **interpreted), done(&mut **compiled)];
        same(what, &answers, plain)?;
        let [answer, _] = answers;
        Ok(answer)
    }

    /// Compares all that can be seen without changing anything, and notes what contexts hold.
    fn compare(&mut self, program: &Program, edges: &mut Edges) -> Result<(), String> {
        for (core, records) in self.cores.iter_mut().zip(&mut self.records) {
            core.take_trace(records);
        }
        let [interpreted, compiled] = &mut self.records;
        for i in 0..interpreted.len().max(compiled.len()) {
            let records = [interpreted.get(i), compiled.get(i)];
            if let [Some(interpreted), Some(compiled)] = records
                && interpreted.tells_the_same(compiled)
            {
                continue;
            }
            let records =
                records.map(|record| record.map(|record| Record { at: Loc::default(), ..record.clone() }));
            let words = |record: &Option<Record>| match record {
                Some(record) => {
                    let (what, detail) = describe(program, record);
                    format!("{what} {detail}")
                }
                None => "nothing".into(),
            };
            same("trace record", &records, words)?;
        }
        self.compared += interpreted.len() as u64;
        let contexts = interpreted.iter().filter(|record| record.kind == TraceKind::Context as u32);
        contexts.for_each(|record| edges.see(&record.words));
        self.records.iter_mut().for_each(Vec::clear);
        self.both("failed claims", |core| core.failed_claims().to_vec())?;
        let counters = self.cores.each_ref().map(|core| core.counters());
        if counters[0] != counters[1] {
            for (i, name) in COUNTERS.iter().enumerate() {
                same(&format!("counter {name}"), &counters.each_ref().map(|all| all.get(i)), plain)?;
            }
        }
        self.both("deadline", |core| core.next_deadline())?;
        self.both("open contexts", |core| core.open_contexts())?;
        Ok(())
    }

    fn tx(&mut self, now: u64) -> Result<Option<Vec<u8>>, String> {
        let made = self.both("packet", |core| {
            let mut packet = Vec::new();
            core.tx(&mut packet, now).then(|| (packet, core.tx_interface()))
        })?;
        self.compared += u64::from(made.is_some());
        Ok(made.map(|(packet, _)| packet))
    }

    fn complete(&mut self) -> Result<(), String> {
        let [interpreted, compiled] = &mut self.cores;
        let mut done = [interpreted.next_completion(), compiled.next_completion()];
        // What of a request's room was not written to is not the core's to show.
        if let [Some(Completion { data: None, .. }), Some(compiled)] = &mut done {
            compiled.data = None;
        }
        let shown = done.map(|done| done.map(|c| (c.token, c.status, c.value, c.data)));
        same("completion", &shown, plain)?;
        let [Some((token, status, value, _)), _] = shown else { return Ok(()) };
        self.answered.extend(self.calls.remove(&token).filter(|_| status == OK));
        self.compared += 1;
        self.handles.extend(Some(value).filter(|value| value >> 56 != 0));
        Ok(())
    }
}

/// Two ends, and what is on its way to which of them.
struct World<'a> {
    program: &'a Program,
    ends: [Twins; 2],
    pace: Pace,
    flying: Vec<(usize, Vec<u8>)>,
    random: RandomSource,
    edges: Edges,
    habit: Habit,
    now: u64,
    token: u64,
    packets: u64,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    Send,
    Deliver,
    Advance,
    Complete,
}

impl Kind {
    /// Calls, packets that are sent and packets that arrive are the most.
    const ALL: [Kind; 12] = {
        use Kind::{Advance, Call, Complete, Deliver, Send};
        [Call, Call, Call, Call, Send, Send, Send, Deliver, Deliver, Deliver, Advance, Complete]
    };
}

/// What is so for a while: what nothing takes from gets full, what nothing adds to gets empty.
#[derive(Debug, Clone, Copy, Default)]
struct Habit {
    /// does not happen
    missing: Option<Kind>,
    /// the call that is made in place of half of the others
    call: Option<u64>,
}

/// Operations after which another habit begins.
const HABIT: u64 = 50;

impl World<'_> {
    fn step(&mut self) -> Result<(), String> {
        if self.random.one_in(3) {
            let range = self.random.roll(32) + 1;
            self.now += self.random.roll(1 << range);
        }
        if self.random.one_in(HABIT) {
            let missing = self.random.one_in(2).then(|| self.any_kind());
            let call = self.random.one_in(2).then(|| self.random.number());
            self.habit = Habit { missing, call };
        }
        let (end, now) = (self.random.roll(2) as usize, self.now);
        match self.kind() {
            Kind::Call => self.call(end)?,
            Kind::Send => {
                let packet = self.ends[end].tx(now)?;
                self.packets += u64::from(packet.is_some());
                self.flying.extend(packet.map(|packet| (1 - end, packet)));
            }
            Kind::Deliver => self.deliver()?,
            Kind::Advance => _ = self.ends[end].both("advance", |core| outcome(core.advance(now)))?,
            Kind::Complete => self.ends[end].complete()?,
        }
        if self.pace == Pace::AtOnce {
            self.drain()?;
        }
        let (program, edges) = (self.program, &mut self.edges);
        self.ends.iter_mut().try_for_each(|end| end.compare(program, edges))
    }

    fn any_kind(&mut self) -> Kind {
        Kind::ALL[self.random.roll(Kind::ALL.len() as u64) as usize]
    }

    /// What happens next, of what the habit lets happen.
    fn kind(&mut self) -> Kind {
        loop {
            let kind = self.any_kind();
            if self.habit.missing != Some(kind) {
                return kind;
            }
        }
    }

    /// Takes out all packets.
    fn drain(&mut self) -> Result<(), String> {
        for end in 0..self.ends.len() {
            while let Some(packet) = self.ends[end].tx(self.now)? {
                self.packets += 1;
                self.flying.push((1 - end, packet));
            }
        }
        Ok(())
    }

    fn call(&mut self, end: usize) -> Result<(), String> {
        let calls = self.program.interface.as_ref().map_or(&[][..], |i| &i.calls);
        // Where nobody asks for packets, nobody makes any.
        let passing = self.program.in_network.is_some();
        if calls.is_empty() || (passing && self.random.one_in(2)) {
            self.stray();
            return Ok(());
        }
        let any = self.random.roll(calls.len() as u64);
        let favourite = self.habit.call.filter(|_| self.random.one_in(2));
        let number = favourite.map_or(any, |call| call % calls.len() as u64) as usize;
        let most = if self.random.one_in(MANY_ONE_IN) { MANY } else { MOST };
        let drawn = self.random.request(self.program, &self.edges, &calls[number], end, most);
        self.token += 1;
        let token = if self.random.one_in(NO_TOKEN_ONE_IN) { 0 } else { self.token };
        let (handle, now) = (self.handle(end), self.now);
        self.ends[end].calls.insert(token, number);
        self.ends[end].both("call", |core| {
            let request = Request { handle, token, args: &drawn.args, data: drawn.data() };
            outcome(core.call(number, request, now))
        })?;
        Ok(())
    }

    /// A packet of the program's protocol that nobody here made.
    fn stray(&mut self) {
        let made =
            if self.random.one_in(2) { make(self.program, &self.edges, &mut self.random) } else { None };
        let packet = made.unwrap_or_else(|| self.scrawl());
        self.flying.push((self.random.roll(2) as usize, packet));
    }

    /// Such a packet whose bytes are few, so that some of them are those of packets before.
    fn scrawl(&mut self) -> Vec<u8> {
        let (layer, protocol) = (self.program.net_header.layer, self.program.net_header.protocol);
        let net = header_len(layer);
        let len = net + 20 + self.random.roll(24) as usize;
        let mut packet: Vec<u8> = (0..len)
            .map(|_| match self.random.roll(6) {
                0..=3 => self.random.roll(3) as u8,
                4 => 0x50,
                _ => self.random.roll(256) as u8,
            })
            .collect();
        match layer {
            NetLayer::Ipv6 => packet[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, 0, protocol, 64]),
            NetLayer::Ipv4 | NetLayer::Link => {
                packet[..12].copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0]);
            }
        }
        let sums = self.program.blueprints.iter().flat_map(|bp| &bp.fields);
        let sum =
            sums.filter_map(|f| matches!(f.kind, BpFieldKind::Checksum { .. }).then_some(f.bit_offset / 8));
        let place = sum.map(|at| net + at as usize).find(|at| at + 2 <= len);
        if let Some(at) = place {
            packet[at..at + 2].fill(0);
            let right = checksum(&[&pseudo_header(layer, &packet), &packet[net..]]);
            packet[at..at + 2].copy_from_slice(&right.to_be_bytes());
        }
        mend_length(layer, &mut packet);
        packet
    }

    /// The calls that completed with `OK`, by name.
    fn answered(&self) -> BTreeSet<String> {
        let calls = self.program.interface.as_ref().map_or(&[][..], |interface| &interface.calls);
        let answered = self.ends.iter().flat_map(|end| &end.answered);
        answered.filter_map(|call| calls.get(*call)).map(|call| call.name.clone()).collect()
    }

    /// One that a completion gave, or a guess.
    fn handle(&mut self, end: usize) -> u64 {
        let given = &self.ends[end].handles;
        match self.random.roll(3) {
            0 => (1 + self.random.roll(2)) << 56 | (1 + self.random.roll(4)) << 32 | self.random.roll(3),
            _ => given[self.random.roll(given.len() as u64) as usize],
        }
    }

    /// What a router might say about a packet.
    fn reported(&mut self, packet: Vec<u8>) -> Vec<u8> {
        if self.program.net_header.layer == NetLayer::Ipv6 {
            return self.reported_v6(packet);
        }
        let kind = [
            (3, 4),
            (3, 4),
            (3, self.random.roll(17) as u8),
            (11, self.random.roll(3) as u8),
            (12, 0),
            (8, 0),
        ];
        let kind = kind[self.random.roll(6) as usize];
        let more = if self.random.one_in(4) {
            self.edges.number(&mut self.random) as u32
        } else {
            self.random.roll(1600) as u32
        };
        icmp::report(kind, more, icmp::ROUTER, &packet).unwrap_or(packet)
    }

    /// The same over IPv6, where a report quotes as much as fits, or is cut.
    fn reported_v6(&mut self, packet: Vec<u8>) -> Vec<u8> {
        let code = self.random.roll(8) as u8;
        let kind = [icmp::TOO_BIG_V6, icmp::TOO_BIG_V6, (1, code), (3, code % 3), (4, code % 4), (128, 0)];
        let kind = kind[self.random.roll(6) as usize];
        let more = if self.random.one_in(4) {
            self.edges.number(&mut self.random) as u32
        } else {
            1200 + self.random.roll(400) as u32
        };
        let quoted = if self.random.one_in(4) { self.random.roll(64) as usize } else { packet.len() };
        let report = icmp::report_v6(kind, more, &packet[..packet.len().min(quoted)]);
        report.unwrap_or(packet)
    }

    fn deliver(&mut self) -> Result<(), String> {
        if self.flying.is_empty() {
            return Ok(());
        }
        let late =
            if self.random.one_in(4) { self.random.roll(self.flying.len() as u64) as usize } else { 0 };
        let doubled = self.random.one_in(8);
        let (mut to, mut packet) = if doubled { self.flying[late].clone() } else { self.flying.remove(late) };
        if self.program.report_parser.is_some() && self.random.one_in(8) {
            (to, packet) = (1 - to, self.reported(packet));
        }
        match self.random.roll(6) {
            0 => self.random.damage(self.program.net_header.layer, &mut packet),
            1 | 2 => forge(self.program, &self.edges, &mut self.random, &mut packet),
            3 if self.program.net_header.layer == NetLayer::Ipv6 => self.random.extend(&mut packet),
            _ => {}
        }
        let interface = if self.program.in_network.is_some() { self.random.roll(3) as u32 } else { 0 };
        let now = self.now;
        // Of exactly its size, so that a sanitizer sees one byte too many.
        let packet = packet.into_boxed_slice();
        self.ends[to].both("rx", |core| outcome(core.rx_on(interface, &packet, now)))?;
        Ok(())
    }
}

/// When packets leave that were issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// when they are asked for
    Asked,
    /// before anything else happens
    AtOnce,
}

/// Makes the core that the interpreter is compared with.
pub type Make<'a> = &'a mut dyn FnMut(&Config) -> Result<Box<dyn Core>, String>;

/// As [`diff_operations`], with cores that `make` makes in place of compiled ones.
///
/// # Errors
/// If the program's configuration allows no core with its defaults, and what `make` says.
pub fn diff_cores(
    program: &Arc<Program>,
    make: Make<'_>,
    pace: Pace,
    seed: u64,
    operations: u64,
) -> Result<Comparison, String> {
    let mtu = if program.net_header.layer == NetLayer::Ipv6 { MTU_V6 } else { MTU };
    let mut end = |address| {
        let config =
            Config { seed, address, mtu, completions: COMPLETIONS, trace: true, ..Config::default() };
        Twins::new(program, make(&config)?, &config)
    };
    let (random, ends) = (RandomSource::new(seed), [end(1)?, end(2)?]);
    let mut world = World {
        program,
        ends,
        pace,
        flying: Vec::new(),
        random,
        edges: Edges::of(program),
        habit: Habit::default(),
        now: 0,
        token: 0,
        packets: 0,
    };
    let wrong = (1..=operations).find_map(|operation| {
        let what = world.step().err()?;
        Some(format!("at {} ns, operation {operation}: {what}", world.now))
    });
    Ok(Comparison {
        compared: world.ends.iter().map(|end| end.compared).sum(),
        packets: world.packets,
        answered: world.answered(),
        difference: wrong,
        failures: Vec::new(),
    })
}

/// Makes so many random operations on both and compares what can be seen after each.
///
/// # Errors
/// If the program's configuration allows no core with its defaults.
pub fn diff_operations(
    program: &Arc<Program>,
    compiled: &Rc<CompiledProgram>,
    seed: u64,
    operations: u64,
) -> Result<Comparison, String> {
    let mut make = |config: &Config| {
        let core: Box<dyn Core> = Box::new(Compiled::new(compiled.clone(), config)?);
        Ok(core)
    };
    diff_cores(program, &mut make, Pace::Asked, seed, operations)
}
