// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ends, and between them a network that computes: pathlets answer messages, or change them and their length, in another way each
//! time, delay and reorder them; and packets of every kind are lost, duplicated, damaged and delivered out of order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use carrick_sim::random_source::RandomSource;
use carrick_tests::seeds::seeds;

use crate::end::{End, HERE, MICROSECOND, MILLISECOND, MSS, PEER, program};
use crate::wire::{MSG_ACK, PRX, PTX, Packet, decode};

const FIRST: u32 = 0x0a00_0100;
const SECOND: u32 = 0x0a00_0200;
const MESSAGES: u32 = 24;

/// What arrives of a message after so many changes: its number, and bytes that no other message, and no other change, has.
fn octets(message: u32, changes: u8) -> Vec<u8> {
    let len = 8 + (message as usize * 397 + usize::from(changes) * 531) % 3000;
    let mut octets: Vec<u8> =
        (0..len).map(|n| (n as u32 * 31 + message * 7 + u32::from(changes) * 13) as u8).collect();
    octets[..4].copy_from_slice(&message.to_be_bytes());
    octets[4] = changes;
    octets
}

fn message_of(octets: &[u8]) -> (u32, u8) {
    let number = octets.first_chunk().map_or(u32::MAX, |n| u32::from_be_bytes(*n));
    (number, octets.get(4).copied().unwrap_or_default())
}

/// A pathlet keeps only what has arrived of messages.
#[derive(Default)]
struct Pathlet {
    partial: BTreeMap<(u32, u32), BTreeMap<u16, Packet>>,
    answered: Vec<u32>,
}

struct Network {
    random: RandomSource,
    flying: BinaryHeap<Reverse<(u64, u64, Vec<u8>)>>,
    pathlets: BTreeMap<u32, Pathlet>,
    count: u64,
}

impl Network {
    fn new(seed: u64) -> Network {
        let pathlets = [FIRST, FIRST + 1, SECOND].map(|address| (address, Pathlet::default()));
        Network {
            random: RandomSource::new(seed),
            flying: BinaryHeap::new(),
            pathlets: pathlets.into(),
            count: 0,
        }
    }

    fn send(&mut self, packet: &Packet, now: u64, delay: u64) {
        let copies = match self.random.roll(16) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let mut octets = packet.encode();
            if self.random.one_in(32) {
                let at = self.random.roll(octets.len() as u64) as usize;
                octets[at] ^= 1 << self.random.roll(8);
            }
            let at = now + delay + (20 + self.random.roll(60)) * MICROSECOND;
            self.count += 1;
            self.flying.push(Reverse((at, self.count, octets)));
        }
    }

    /// A packet arrives at a pathlet, whole.
    fn pass(&mut self, at: u32, packet: &Packet, now: u64) {
        let pathlet = self.pathlets.get_mut(&at).expect("a pathlet");
        let parts = pathlet.partial.entry((packet.msg_no, packet.msg_len)).or_default();
        parts.insert(packet.seg_no, packet.clone());
        if parts.len() < packet.msg_len.div_ceil(MSS) as usize {
            return;
        }
        let whole: Vec<u8> = parts.values().flat_map(|p| p.payload.clone()).collect();
        parts.clear();
        let (number, changes) = message_of(&whole);
        assert_eq!(whole, octets(number, changes), "what a sender sends is one message");
        let occupancy = self.random.roll(256) as u8;
        self.answer(packet, PRX, Some((at, occupancy)), now, 0);
        let delay = if self.random.one_in(8) { 6 * MILLISECOND } else { self.random.roll(300) * MICROSECOND };
        if at == SECOND && number.is_multiple_of(5) {
            self.pathlets.get_mut(&at).expect("a pathlet").answered.push(number);
            self.answer(packet, MSG_ACK, None, now, delay);
            return;
        }
        let changed = octets(number, changes + 1 + self.random.roll(3) as u8);
        let mut hops = packet.route.clone().expect("a route");
        let dst = hops.remove(0);
        for (seg_no, payload) in changed.chunks(MSS as usize).enumerate() {
            let (seg_no, payload, msg_len) = (seg_no as u16, payload.to_vec(), changed.len() as u32);
            let route = Some(hops.clone());
            self.send(&Packet { dst, route, seg_no, payload, msg_len, ..packet.clone() }, now, delay);
        }
        self.answer(packet, PTX, None, now, delay);
    }

    fn answer(&mut self, to: &Packet, acks: u8, feedback: Option<(u32, u8)>, now: u64, delay: u64) {
        let (msg_no, msg_len, vc) = (to.msg_no, to.msg_len, to.vc);
        let (src, dst, sport, dport) = (PEER, HERE, to.dport, to.sport);
        let answer =
            Packet { msg_no, msg_len, vc, src, dst, sport, dport, acks, feedback, ..Packet::default() };
        self.send(&answer, now, delay);
    }

    /// The next packet that arrives, if that is not after `until`.
    fn next(&mut self, until: u64) -> Option<(u64, Vec<u8>)> {
        self.flying.peek().filter(|Reverse((at, ..))| *at <= until)?;
        self.flying.pop().map(|Reverse((at, _, octets))| (at, octets))
    }
}

/// Both ends and the network, as far as the sender's last request has ended and nothing is in flight.
struct World {
    ends: [End; 2],
    network: Network,
    /// how often each message was delivered
    delivered: BTreeMap<u32, u32>,
}

impl World {
    fn new(seed: u64, features: &[&str]) -> World {
        let program = program(features);
        let mut ends = [HERE, PEER].map(|address| End::new(&program, address, seed));
        for (kind, address) in [(0, FIRST), (0, FIRST + 1), (1, SECOND)] {
            assert_eq!(ends[0].add_pathlet(kind, address), 0);
        }
        World { ends, network: Network::new(seed), delivered: BTreeMap::new() }
    }

    fn arrive(&mut self, octets: &[u8], now: u64) {
        // What is damaged goes to its end all the same: it has to see that.
        let dst = u32::from_be_bytes([octets[16], octets[17], octets[18], octets[19]]);
        match decode(octets) {
            Some(packet) if self.network.pathlets.contains_key(&dst) => self.network.pass(dst, &packet, now),
            _ => {
                for end in self.ends.iter_mut().filter(|end| end.address == dst) {
                    end.give_octets(octets);
                }
            }
        }
    }

    /// One step: packets that arrive, and timers. False when nothing will ever happen again.
    fn step(&mut self) -> bool {
        let deadline = self.ends.iter().filter_map(|end| end.deadline()).min();
        let Some((at, octets)) = self.network.next(deadline.unwrap_or(u64::MAX)) else {
            let Some(at) = deadline else { return false };
            self.ends.iter_mut().for_each(|end| end.now = end.now.max(at));
            self.ends.iter_mut().for_each(|end| end.advance());
            return true;
        };
        self.ends.iter_mut().for_each(|end| end.now = end.now.max(at));
        self.arrive(&octets, at);
        true
    }

    fn carry(&mut self) {
        for end in &mut self.ends {
            let now = end.now;
            end.sent().iter().for_each(|packet| self.network.send(packet, now, 0));
        }
    }

    /// The receiver takes what is ready, and asks for the next message.
    fn take(&mut self, handle: u64, token: &mut u64) {
        while let Some(done) = self.ends[1].outcome(*token) {
            let data = done.data.expect("a message");
            let (number, changes) = message_of(&data);
            assert_eq!(data, octets(number, changes), "a message is whole");
            *self.delivered.entry(number).or_default() += 1;
            *token = self.ends[1].receive(handle);
        }
    }

    /// Sends messages. Returns the status of each.
    fn run(&mut self) -> Vec<u8> {
        let handles = [self.ends[0].open(PEER), self.ends[1].open(HERE)];
        let mut receiving = self.ends[1].receive(handles[1]);
        let sends: Vec<u64> = (0..MESSAGES).map(|n| self.ends[0].send(handles[0], &octets(n, 0))).collect();
        loop {
            self.carry();
            if !self.step() {
                break;
            }
            self.take(handles[1], &mut receiving);
        }
        sends.iter().map(|token| self.ends[0].status(*token)).collect()
    }
}

fn exactly_once(seed: u64, features: &[&str]) -> usize {
    let mut world = World::new(seed, features);
    let statuses = world.run();
    let again = format!("seed {seed}, {features:?}");
    for (number, status) in (0..).zip(&statuses) {
        let delivered = world.delivered.get(&number).copied().unwrap_or_default();
        let answered = world.network.pathlets[&SECOND].answered.contains(&number);
        assert!(delivered + u32::from(answered) <= 1, "{again}: message {number} {delivered} times");
        if *status == 0 {
            assert!(delivered == 1 || answered, "{again}: message {number} is lost, and nobody was told");
        }
    }
    statuses.iter().filter(|status| **status == 0).count()
}

/// `CARRICK_SEEDS` is the number of seeds.
#[test]
fn each_message_is_delivered_or_answered_once_by_networks_that_compute() {
    let seeds = seeds(20);
    for features in [&[][..], &["-dual_rto"], &["congestion=links", "switching=rehash"]] {
        let completed: usize = (1..=seeds).map(|seed| exactly_once(seed, features)).sum();
        // Timeouts are for few: the sum tells of a transport that gives up.
        assert!(completed * 100 >= MESSAGES as usize * seeds as usize * 99, "{completed}, {features:?}");
    }
}
