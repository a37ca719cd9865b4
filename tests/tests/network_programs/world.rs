// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts at one switch, and perhaps a program there. Every link has every fault.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use carrick_driver::Over;
use carrick_interp::Refused;
use carrick_ir::{NetLayer, ROUTE};
use carrick_sim::ip;
use carrick_sim::random_source::RandomSource;

use crate::host::{Ended, Host, program};
use crate::node::Node;

pub const MICROSECOND: u64 = 1_000;
pub const MILLISECOND: u64 = 1_000_000;

/// The address of a host.
pub fn address(host: usize) -> u32 {
    0x0a00_0001 + host as u32
}

/// One packet in so many is lost, duplicated, damaged; each takes up to `delay` more.
struct Faults {
    lose: u64,
    duplicate: u64,
    damage: u64,
    delay: u64,
}

const EVERY: Faults = Faults { lose: 20, duplicate: 15, damage: 40, delay: 300 * MICROSECOND };

/// What the applications of the hosts do.
pub trait Applications {
    /// The next request of a client, and its destination.
    fn next(&mut self, client: usize, now: u64) -> Option<(u32, Vec<u8>)>;
    /// A server's response.
    fn serve(&mut self, server: usize, request: &[u8]) -> Vec<u8>;
    fn ended(&mut self, client: usize, rpc: Ended);
}

/// Where a packet arrives next.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Switch { from: u32 },
    Host(usize),
}

/// When a packet arrives, its number, where, and its bytes.
type Flying = (u64, u64, Place, Vec<u8>);

pub struct World {
    pub hosts: Vec<Host>,
    pub node: Option<Node>,
    layer: NetLayer,
    random: RandomSource,
    flying: BinaryHeap<Reverse<Flying>>,
    count: u64,
    pub now: u64,
    /// RPCs that a client has open at once, at most
    pub parallel: usize,
}

impl World {
    /// Hosts with these settings, and what is at the switch.
    pub fn new(hosts: usize, settings: &[&str], node: Option<Node>, seed: u64) -> World {
        World::over(NetLayer::Ipv4, hosts, settings, node, seed)
    }

    /// The same over a version of the Internet Protocol.
    pub fn over(layer: NetLayer, hosts: usize, settings: &[&str], node: Option<Node>, seed: u64) -> World {
        let over = if layer == NetLayer::Ipv6 { Over::Ipv6 } else { Over::Ipv4 };
        let ends = program("protocols/udp-retry/udp-retry.mtp", over);
        World {
            layer,
            hosts: (0..hosts).map(|n| Host::new(&ends, address(n), seed, settings)).collect(),
            node,
            random: RandomSource::new(seed),
            flying: BinaryHeap::new(),
            count: 0,
            now: 0,
            parallel: 4,
        }
    }

    fn fly(&mut self, place: impl Fn() -> Place, octets: &[u8]) {
        let Faults { lose, duplicate, damage, delay } = EVERY;
        let copies =
            if self.random.one_in(lose) { 0 } else { 1 + usize::from(self.random.one_in(duplicate)) };
        for _ in 0..copies {
            let mut octets = octets.to_vec();
            // On the first of two links: bits that flip on both can leave the checksum as it was.
            if matches!(place(), Place::Switch { .. }) && self.random.one_in(damage) {
                let at = self.random.roll(octets.len() as u64) as usize;
                octets[at] ^= 1 << self.random.roll(8);
            }
            let at = self.now + 10 * MICROSECOND + self.random.roll(delay + 1);
            self.count += 1;
            self.flying.push(Reverse((at, self.count, place(), octets)));
        }
    }

    fn deliver(&mut self, octets: &[u8]) {
        let to = ip::destination(self.layer, octets).map_or(0, ip::host);
        if let Some(host) = self.hosts.iter().position(|host| host.address == to) {
            self.fly(|| Place::Host(host), octets);
        }
    }

    /// What the program at the switch has to send.
    fn drain(&mut self) {
        while let Some((interface, octets)) = self.node.as_mut().and_then(|node| node.send(self.now)) {
            match u64::from(interface) {
                ROUTE => self.deliver(&octets),
                host => self.fly(|| Place::Host(host as usize), &octets),
            }
        }
    }

    fn arrive(&mut self, place: &Place, octets: &[u8]) {
        match (place, self.node.as_mut()) {
            (Place::Switch { from }, Some(node)) => node.receive(*from, octets, self.now),
            (Place::Switch { .. }, None) => self.deliver(octets),
            (Place::Host(host), _) => {
                let taken = self.hosts[*host].receive_octets(octets);
                assert_ne!(taken, Err(Refused::Again), "all that it had to send is out");
            }
        }
    }

    /// One step: a packet that arrives, or timers. False when nothing will ever happen again.
    fn step(&mut self) -> bool {
        let node = self.node.as_mut().and_then(Node::deadline);
        let deadline = self.hosts.iter().filter_map(|host| host.deadline()).chain(node).min();
        let next = self.flying.peek().map(|Reverse((at, ..))| *at);
        let Some(at) = deadline.into_iter().chain(next).min() else { return false };
        self.now = self.now.max(at);
        self.hosts.iter_mut().for_each(|host| host.now = self.now);
        if next == Some(at) {
            let Some(Reverse((_, _, place, octets))) = self.flying.pop() else { return false };
            self.arrive(&place, &octets);
        } else {
            self.hosts.iter_mut().for_each(|host| host.advance());
            if let Some(node) = self.node.as_mut() {
                node.advance(self.now);
            }
        }
        true
    }

    /// The applications do what they can do now; what they send leaves.
    fn act(&mut self, applications: &mut impl Applications) -> bool {
        let mut idle = true;
        for n in 0..self.hosts.len() {
            let host = &mut self.hosts[n];
            host.serve(|request| applications.serve(n, request));
            for rpc in host.ended() {
                applications.ended(n, rpc);
            }
            while host.in_flight() < self.parallel {
                let Some((peer, request)) = applications.next(n, self.now) else { break };
                host.request(peer, &request);
            }
            idle &= host.in_flight() == 0;
            for (_, octets) in host.packets() {
                self.fly(|| Place::Switch { from: n as u32 }, &octets);
            }
        }
        self.drain();
        idle
    }

    /// Runs until no client has an RPC open, or wants one.
    pub fn run(&mut self, applications: &mut impl Applications) {
        while !self.act(applications) && self.step() {}
    }

    /// Lets everything that is still under way happen.
    pub fn settle(&mut self, applications: &mut impl Applications) {
        while self.step() {
            self.act(applications);
        }
    }
}
