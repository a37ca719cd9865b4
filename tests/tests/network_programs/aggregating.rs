// SPDX-License-Identifier: MIT OR Apache-2.0
//! An aggregator in the network: the server hears of each round once, and what it hears is the sum of what its workers gave.

use std::collections::BTreeMap;

use crate::host::Ended;
use crate::node::InNetwork;
use crate::world::{Applications, MILLISECOND, World, address};
use carrick_tests::seeds::seeds;

const WORKERS: usize = 4;
const SERVER: usize = 4;
const ROUNDS: u32 = 30;
const NUMBERS: u32 = 60;
/// A round that the last worker begins late, and by how much.
const SLOW: u32 = 17;
const LATE: u64 = 15 * MILLISECOND;

fn message(round: u32, worker: u16, members: u32, numbers: &[u32]) -> Vec<u8> {
    let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
    [&round.to_be_bytes()[..], &[0, 1], &worker.to_be_bytes(), &members.to_be_bytes(), &numbers].concat()
}

/// Round, members and numbers.
fn read(octets: &[u8]) -> (u32, u32, Vec<u32>) {
    let word = |octets: &[u8]| u32::from_be_bytes(octets.try_into().expect("four bytes"));
    (word(&octets[..4]), word(&octets[8..12]), octets[12..].chunks(4).map(word).collect())
}

/// The numbers that a worker gives, and those of several together.
fn given(round: u32, worker: u32) -> Vec<u32> {
    (0..NUMBERS).map(|n| (round << 16 ^ n << 8 ^ worker).wrapping_mul(2_654_435_761)).collect()
}

fn sum(round: u32, members: u32) -> Vec<u32> {
    let of = (0..WORKERS as u32).filter(|worker| members >> worker & 1 == 1);
    of.fold(vec![0; NUMBERS as usize], |sums, worker| {
        sums.iter().zip(given(round, worker)).map(|(sum, n)| sum.wrapping_add(n)).collect()
    })
}

/// What a server makes of the sums, so that a response is not what was asked.
fn applied(sums: &[u32]) -> Vec<u32> {
    sums.iter().map(|n| n.wrapping_mul(3)).collect()
}

#[derive(Default)]
struct Training {
    /// the round of each worker
    at: [u32; WORKERS],
    began: u64,
    /// workers in the sums that the server got, by round
    rounds: BTreeMap<u32, u32>,
    answered: u32,
}

impl Applications for Training {
    fn next(&mut self, client: usize, now: u64) -> Option<(u32, Vec<u8>)> {
        let at = *self.at.get(client)?;
        if at == SLOW && client != WORKERS - 1 && self.began == 0 {
            self.began = now;
        }
        let slow = at == SLOW && client == WORKERS - 1 && (self.began == 0 || now < self.began + LATE);
        if at >= ROUNDS || slow {
            return None;
        }
        self.at[client] += 1;
        Some((address(SERVER), message(at, client as u16, 0, &given(at, client as u32))))
    }

    fn serve(&mut self, server: usize, request: &[u8]) -> Vec<u8> {
        let (round, members, numbers) = read(request);
        assert_eq!(server, SERVER);
        assert_eq!(numbers, sum(round, members), "round {round}: each worker's numbers, once");
        assert_eq!(self.rounds.insert(round, members), None, "round {round}: the server hears of it once");
        message(round, 0, members, &applied(&numbers))
    }

    fn ended(&mut self, client: usize, rpc: Ended) {
        let (round, members, numbers) = read(&rpc.response.expect("each worker gets an answer"));
        assert_eq!(round, read(&rpc.request).0, "worker {client}");
        assert_eq!(Some(&members), self.rounds.get(&round), "round {round}: all hear of the same members");
        assert_eq!(numbers, applied(&sum(round, members)), "round {round}");
        self.answered += 1;
    }
}

/// `CARRICK_SEEDS` is the number of seeds.
#[test]
fn n_messages_become_one_and_a_straggler_is_not_waited_for() {
    let seeds = seeds(15);
    let aggregator = InNetwork::new("protocols/aggregator/aggregator.mtp");
    let ends = ["rto=1ms", "retries_max=80", "remember=100ms"];
    let all = (1 << WORKERS) - 1;
    let (mut rounds, mut without) = (0, 0);
    for seed in 1..=seeds {
        let node: [&str; 3] = ["patience=8ms", "keep=200ms", "workers=4"];
        let mut world = World::new(WORKERS + 1, &ends, Some(aggregator.start(&node, seed)), seed);
        world.parallel = 1;
        let mut training = Training::default();
        world.run(&mut training);
        assert_eq!(training.answered, ROUNDS * WORKERS as u32, "seed {seed}");
        assert_eq!(training.rounds.len() as u32, ROUNDS, "seed {seed}");
        let slow = training.rounds[&SLOW];
        assert_eq!(slow, all >> 1, "seed {seed}: the round went on without the last worker");
        rounds += training.rounds.len();
        without += training.rounds.values().filter(|members| **members != all).count();
    }
    // Networks that lose packets make others late, too.
    assert!(without * 4 < rounds, "{without} of {rounds} rounds without a worker");
}
