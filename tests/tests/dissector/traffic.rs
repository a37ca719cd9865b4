// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets, and what the interpreter made of each when it arrived.

use std::sync::Arc;

use carrick_interp::{Config, Core, Record, Request, TraceKind};
use carrick_ir::{COUNTERS, EventKind, NetLayer, Program, counter};
use carrick_sim::edges::Edges;
use carrick_sim::ip::mend_checksum;
use carrick_sim::observe::Observer;
use carrick_sim::random_source::RandomSource;

/// Bytes that one request sends or wants at most.
const MOST: u64 = 3000;
/// Bytes of the IPv4 headers that cores make.
pub const HEADER: usize = 20;

/// A packet that arrived.
#[derive(Debug, Default)]
pub struct Arrival {
    pub packet: Vec<u8>,
    /// the events that the parser raised: their numbers, their fields as words
    pub events: Vec<(usize, Vec<u64>)>,
    /// the name of the counter of why it was refused
    pub refused: Option<&'static str>,
    /// nothing happened to it on its way
    pub as_sent: bool,
    /// its network header is not one for this host: the parser has not seen it
    pub not_ours: bool,
}

impl Arrival {
    fn note(&mut self, program: &Program, record: &Record) {
        let number = record.number as usize;
        if record.kind == TraceKind::Event as u32 && program.events[number].kind == EventKind::Net {
            self.events.push((number, record.words[1..].to_vec()));
        }
        if record.kind == TraceKind::Drop as u32 {
            self.not_ours |= number < counter("short");
            // Once it is an event it has been parsed: what does not fit then is what a processor reads again.
            let parsed = !self.events.is_empty();
            if !parsed && (counter("short")..=counter("unparsed")).contains(&number) {
                self.refused = Some(COUNTERS[number]);
            }
        }
    }
}

/// What arrives at one host of a simulation.
pub struct AtHost {
    program: Arc<Program>,
    host: usize,
    pub arrivals: Vec<Arrival>,
}

impl AtHost {
    pub fn new(program: &Arc<Program>, host: usize) -> AtHost {
        AtHost { program: program.clone(), host, arrivals: Vec::new() }
    }
}

impl Observer for AtHost {
    fn arrived(&mut self, _now: u64, host: usize, _number: u64, packet: &[u8]) {
        if host == self.host {
            self.arrivals.push(Arrival { packet: packet.to_vec(), ..Arrival::default() });
        }
    }

    fn record(&mut self, _now: u64, host: usize, record: &Record) {
        if let (true, Some(last)) = (host == self.host, self.arrivals.last_mut()) {
            last.note(&self.program, record);
        }
    }
}

/// Two ends that are asked random things, and what is on its way to which of them.
pub struct World<'p> {
    program: &'p Arc<Program>,
    ends: [Core; 2],
    handles: [Vec<u64>; 2],
    flying: Vec<(usize, Vec<u8>)>,
    random: RandomSource,
    edges: Edges,
    now: u64,
    token: u64,
    pub arrivals: Vec<Arrival>,
}

impl<'p> World<'p> {
    pub fn new(program: &'p Arc<Program>, seed: u64) -> World<'p> {
        let end = |address| {
            let config =
                Config { seed, address, mtu: 600, completions: 64, trace: true, ..Config::default() };
            Core::new(program.clone(), &config).expect("the defaults are valid")
        };
        World {
            program,
            ends: [end(1), end(2)],
            handles: [vec![0], vec![0]],
            flying: Vec::new(),
            random: RandomSource::new(seed),
            edges: Edges::of(program),
            now: 0,
            token: 0,
            arrivals: Vec::new(),
        }
    }

    /// Makes so many steps, of which most lead to packets.
    pub fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            let range = self.random.roll(30) + 1;
            self.now += self.random.roll(1 << range);
            let end = self.random.roll(2) as usize;
            match self.random.roll(12) {
                0..=3 => self.call(end),
                4..=6 => {
                    let mut packet = Vec::new();
                    if self.ends[end].tx(&mut packet, self.now) {
                        self.flying.push((1 - end, packet));
                    }
                }
                7..=9 => self.deliver(),
                10 => _ = self.ends[end].advance(self.now),
                _ => self.complete(end),
            }
        }
    }

    /// Packets with the right network header, and anything behind it.
    pub fn noise(&mut self, count: usize) {
        for _ in 0..count {
            // Small numbers lead further: most first bytes say what the others are.
            let most = if self.random.one_in(2) { 8 } else { 256 };
            let len = self.random.roll(80);
            let octets: Vec<u8> = (0..len).map(|_| self.random.roll(most) as u8).collect();
            self.give(&octets);
        }
    }

    /// Packets of numbers that are small, large, and at the edges.
    pub fn numbers(&mut self, packets: usize, of_each: usize) {
        for _ in 0..packets {
            let octets: Vec<u8> = (0..of_each).flat_map(|_| self.random.number().to_be_bytes()).collect();
            self.give(&octets);
        }
    }

    /// A packet with these bytes behind its network header arrives at the first end.
    pub fn give(&mut self, octets: &[u8]) {
        let mut packet = vec![0; HEADER];
        packet[0] = 0x45;
        packet[8..10].copy_from_slice(&[64, self.program.net_header.protocol]);
        packet[15] = 2;
        packet[19] = 1;
        packet.extend_from_slice(octets);
        let total = packet.len() as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        mend_checksum(&mut packet);
        self.arrive(0, packet, false);
    }

    fn complete(&mut self, end: usize) {
        while let Some(completion) = self.ends[end].next_completion() {
            if completion.value >> 56 != 0 {
                self.handles[end].push(completion.value);
            }
        }
    }

    fn call(&mut self, end: usize) {
        let program = self.program;
        let Some(interface) = &program.interface else { return };
        let number = self.random.roll(interface.calls.len() as u64) as usize;
        let drawn = self.random.request(program, &self.edges, &interface.calls[number], end, MOST);
        self.token += 1;
        let given = &self.handles[end];
        let handle = given[self.random.roll(given.len() as u64) as usize];
        let request = Request { handle, token: self.token, args: &drawn.args, data: drawn.data() };
        // What is refused leads to no packet.
        let _ = self.ends[end].call(number, &request, self.now);
    }

    fn deliver(&mut self) {
        if self.flying.is_empty() {
            return;
        }
        let which = self.random.roll(self.flying.len() as u64) as usize;
        let (to, mut packet) = self.flying.remove(which);
        let damaged = self.random.one_in(4);
        if damaged {
            self.random.damage(NetLayer::Ipv4, &mut packet);
        }
        self.arrive(to, packet, !damaged);
    }

    fn arrive(&mut self, to: usize, packet: Vec<u8>, as_sent: bool) {
        self.ends[to].take_trace();
        let taken = self.ends[to].rx(&packet, self.now);
        if matches!(taken, Err(carrick_interp::Refused::Again)) {
            return;
        }
        let mut arrival = Arrival { packet, as_sent, ..Arrival::default() };
        for record in self.ends[to].take_trace() {
            arrival.note(self.program, &record);
        }
        self.arrivals.push(arrival);
    }
}
