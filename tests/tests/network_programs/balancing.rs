// SPDX-License-Identifier: MIT OR Apache-2.0
//! A load balancer in the network: clients ask one address, servers get longer requests, and of all of them one executes each.

use std::collections::BTreeMap;

use crate::host::{Ended, PORT};
use crate::node::InNetwork;
use crate::world::{Applications, World, address};
use carrick_driver::Over;
use carrick_ir::NetLayer;
use carrick_sim::ip;
use carrick_tests::pattern::fill;
use carrick_tests::seeds::seeds;

const BALANCER: &str = "protocols/load-balancer/load-balancer.mtp";
const CLIENTS: usize = 3;
const SERVERS: usize = 3;
const REQUESTS: u32 = 60;
const SERVICE: u32 = 0x0a00_00fe;
/// Ports and numbers of the added header.
const NUMBERS: usize = 4;

/// Bytes that no other message has; many are longer than a packet.
fn octets(client: usize, number: u32) -> Vec<u8> {
    let len = 8 + (number as usize * 397 + client * 131) % 5000;
    let mut octets = vec![0; len];
    fill(u64::from(number), 0, &mut octets);
    octets[..4].copy_from_slice(&number.to_be_bytes());
    octets[4] = client as u8;
    octets
}

/// The response of a server: the request, turned round, and the server.
fn response(server: usize, request: &[u8]) -> Vec<u8> {
    request.iter().rev().copied().chain([server as u8]).collect()
}

struct Balanced {
    layer: NetLayer,
    begun: [u32; CLIENTS],
    /// who has executed each request
    executed: BTreeMap<Vec<u8>, usize>,
    answered: u32,
    failed: u32,
}

impl Balanced {
    fn new(layer: NetLayer) -> Balanced {
        let (begun, executed) = ([0; CLIENTS], BTreeMap::new());
        Balanced { layer, begun, executed, answered: 0, failed: 0 }
    }

    /// The bytes of a host's address.
    fn octets_of(&self, host: u32) -> Vec<u8> {
        let octets = ip::address(self.layer, host).to_be_bytes();
        octets[if self.layer == NetLayer::Ipv6 { 0 } else { 12 }..].to_vec()
    }

    fn served(&self, server: usize) -> usize {
        self.executed.values().filter(|by| **by == server).count()
    }
}

impl Applications for Balanced {
    fn next(&mut self, client: usize, _now: u64) -> Option<(u32, Vec<u8>)> {
        let begun = self.begun.get_mut(client).filter(|begun| **begun < REQUESTS)?;
        *begun += 1;
        Some((SERVICE, octets(client, *begun)))
    }

    fn serve(&mut self, host: usize, longer: &[u8]) -> Vec<u8> {
        let added = 2 * self.octets_of(SERVICE).len() + NUMBERS;
        let (header, request) = longer.split_at(added);
        let (client, server) = (usize::from(request[4]), host - CLIENTS);
        let expected = [
            &self.octets_of(SERVICE)[..],
            &self.octets_of(address(client)),
            &PORT.to_be_bytes(),
            &(server as u16).to_be_bytes(),
        ];
        assert_eq!(header, expected.concat(), "for whom it is");
        let by = self.executed.insert(request.to_vec(), server);
        assert_eq!(by, None, "one server executes it, once");
        response(server, request)
    }

    fn ended(&mut self, client: usize, rpc: Ended) {
        let Ok(found) = rpc.response else {
            self.failed += 1;
            return;
        };
        let server = self.executed[&rpc.request];
        assert!(found == response(server, &rpc.request), "client {client}: it is the response to this");
        self.answered += 1;
    }
}

fn run(balancer: &InNetwork, seed: u64, servers: &str) -> Balanced {
    let first = format!("first_server={}", address(CLIENTS));
    let service = format!("service={SERVICE}");
    let node = [first.as_str(), service.as_str(), servers, "remember=10ms"];
    let ends = ["rto=1ms", "retries_max=40", "remember=80ms"];
    let layer = balancer.layer();
    let mut world = World::over(layer, CLIENTS + SERVERS, &ends, Some(balancer.start(&node, seed)), seed);
    let mut balanced = Balanced::new(layer);
    world.run(&mut balanced);
    world.settle(&mut balanced);
    assert_eq!(balanced.answered + balanced.failed, REQUESTS * CLIENTS as u32, "seed {seed}");
    let node = world.node.as_mut().expect("the balancer");
    assert_eq!(node.open_contexts(), 0, "seed {seed}: all is forgotten");
    balanced
}

/// `CARRICK_SEEDS` is the number of seeds.
#[test]
fn one_server_of_all_executes_each_request() {
    share_is_kept(&InNetwork::new(BALANCER), seeds(12));
}

#[test]
fn so_it_is_over_ipv6() {
    share_is_kept(&InNetwork::over(BALANCER, Over::Ipv6), seeds(4));
}

fn share_is_kept(balancer: &InNetwork, seeds: u64) {
    let mut failed = 0;
    for seed in 1..=seeds {
        let balanced = run(balancer, seed, "servers=3");
        for server in 0..SERVERS {
            let share = balanced.served(server) * SERVERS * 100 / balanced.executed.len();
            assert!((60..150).contains(&share), "seed {seed}: server {server} has {share} % of its share");
        }
        failed += balanced.failed;
    }
    assert!(u64::from(failed) * 100 <= seeds * u64::from(REQUESTS), "{failed} failed");
}

/// Of four servers the last is not there. By lot it would get a quarter.
#[test]
fn a_server_that_does_not_answer_gets_few_requests() {
    let balancer = InNetwork::new(BALANCER);
    let balanced = run(&balancer, 1, "servers=4");
    let all = REQUESTS * CLIENTS as u32;
    assert!((1..all / 8).contains(&balanced.failed), "{} of {all} requests failed", balanced.failed);
}
