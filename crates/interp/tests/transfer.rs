// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two cores talk to each other, without loss and with it.

mod common;

use carrick_interp::{Completion, Config, Core, Data, TraceKind};
use common::*;

const COURIER: &str = include_str!("programs/courier.mtp");
const MEGABYTE: usize = 1 << 20;
/// What a packet travels.
const DELAY: u64 = 1_000_000;
/// No transfer takes as long.
const LONG: u64 = 100_000_000_000;

fn open(core: &mut Core, local: u32, remote: u32) -> u64 {
    call(core, "open", 0, 1, &[local.into(), 7, remote.into(), 7], Data::None).unwrap();
    core.next_completion().unwrap().value
}

fn text(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Two ends, the packets on their way, and an application on each.
struct World {
    ends: [Core; 2],
    handles: [u64; 2],
    now: u64,
    /// when it arrives, where, what
    flying: std::collections::VecDeque<(u64, usize, Vec<u8>)>,
    /// how many of 256 packets are lost
    lose: u32,
    chance: u32,
}

impl World {
    fn new(lose: u32, trace: bool) -> World {
        let program = compile(COURIER);
        let make = |address| Core::new(program.clone(), &Config { trace, ..config(address) }).unwrap();
        let mut ends = [make(A), make(B)];
        let handles = [open(&mut ends[0], A, B), open(&mut ends[1], B, A)];
        World { ends, handles, now: 0, flying: Default::default(), lose, chance: 1 }
    }

    /// Moves packets and time on; false if nothing is left to happen.
    fn step(&mut self) -> bool {
        for end in 0..2 {
            for packet in drain(&mut self.ends[end], self.now) {
                self.chance = self.chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if self.chance >> 24 >= self.lose {
                    self.flying.push_back((self.now + DELAY, 1 - end, packet));
                }
            }
        }
        let deadline = self.ends.iter().filter_map(Core::next_deadline).min();
        let arrival = self.flying.front().map(|f| f.0);
        assert!(self.now < LONG, "it does not come to an end");
        let Some(next) = deadline.into_iter().chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        if arrival.is_some_and(|at| at <= next) {
            let Some((_, to, packet)) = self.flying.pop_front() else { return false };
            self.ends[to].rx(&packet, self.now).unwrap();
        } else {
            self.ends.iter_mut().for_each(|end| end.advance(next).unwrap());
        }
        true
    }

    fn completion(&mut self, end: usize) -> Completion {
        loop {
            if let Some(done) = self.ends[end].next_completion() {
                return done;
            }
            assert!(self.step(), "nothing more happens");
        }
    }

    /// Sends all of `octets` from end 0 and closes; returns what end 1 got until the stream ended.
    fn transfer(&mut self, octets: &[u8]) -> Vec<u8> {
        let (mut sent, mut got, mut ended) = (0, Vec::new(), false);
        self.recv();
        self.send(octets);
        while !ended {
            while let Some(done) = self.ends[0].next_completion() {
                sent += done.value as usize;
                match sent < octets.len() {
                    true => self.send(&octets[sent..]),
                    false => call(&mut self.ends[0], "close", self.handles[0], 3, &[], Data::None).unwrap(),
                }
            }
            while let Some(done) = self.ends[1].next_completion() {
                ended = done.status == 1;
                got.extend(done.data.unwrap_or_default());
                if !ended {
                    self.recv();
                }
            }
            assert!(ended || self.step(), "nothing more happens");
        }
        got
    }

    fn send(&mut self, octets: &[u8]) {
        let chunk = &octets[..octets.len().min(10_000)];
        let len = chunk.len() as u64;
        call(&mut self.ends[0], "send", self.handles[0], 2, &[len], Data::Send(chunk)).unwrap();
    }

    fn recv(&mut self) {
        call(&mut self.ends[1], "recv", self.handles[1], 2, &[4096], Data::Recv(4096)).unwrap();
    }

    fn close(&mut self) {
        call(&mut self.ends[1], "close", self.handles[1], 4, &[], Data::None).unwrap();
        assert_eq!((self.completion(1).token, self.completion(0).token), (4, 3));
    }
}

#[test]
fn a_megabyte_arrives_and_both_ends_close() {
    let mut world = World::new(0, false);
    let octets = text(MEGABYTE);
    assert!(world.transfer(&octets) == octets);
    world.close();
    assert_eq!(world.ends.each_ref().map(Core::open_contexts), [0, 0]);
    let refused = |core: &Core| core.counters()[..carrick_ir::REFUSALS].iter().sum::<u64>();
    assert_eq!(world.ends.each_ref().map(refused), [0, 0]);
}

#[test]
fn what_is_lost_is_sent_again() {
    let mut world = World::new(9, false);
    let octets = text(MEGABYTE / 4);
    assert!(world.transfer(&octets) == octets);
    assert!(world.now > 200_000_000, "the timer fired");
}

#[test]
fn two_runs_are_the_same_record_by_record() {
    let run = || {
        let mut world = World::new(17, true);
        world.transfer(&text(60_000));
        world.ends.map(|mut end| end.take_trace())
    };
    let (first, second) = (run(), run());
    assert!(first[0].iter().any(|r| r.kind == TraceKind::Segment as u32));
    assert!(first == second);
}
