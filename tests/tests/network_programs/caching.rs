// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cache in the network. Clients read and write keys by Zipf; a store counts the versions of each. What the clients see is compared
//! with the order of real time: once somebody has seen a version, nobody sees an older one.

use std::collections::BTreeMap;

use carrick_sim::random_source::RandomSource;
use carrick_tests::pattern::fill;
use carrick_tests::seeds::seeds;

use crate::host::Ended;
use crate::node::InNetwork;
use crate::world::{Applications, MILLISECOND, World, address};

const CACHE: &str = "protocols/netcache/netcache.mtp";
const CLIENTS: usize = 3;
const SERVER: usize = 3;
const KEYS: usize = 200;
const OPERATIONS: u32 = 500;
const GET: u8 = 1;
const SET: u8 = 2;
const VALUE: u8 = 3;
const STORED: u8 = 4;

fn message(operation: u8, key: u64, version: u32, value: &[u8]) -> Vec<u8> {
    [&[operation, 0, 0, 0][..], &key.to_be_bytes(), &version.to_be_bytes(), value].concat()
}

/// Operation, key, version and value.
fn read(octets: &[u8]) -> (u8, u64, u32, &[u8]) {
    let key = u64::from_be_bytes(octets[4..12].try_into().expect("eight bytes"));
    let version = u32::from_be_bytes(octets[12..16].try_into().expect("four bytes"));
    (octets[0], key, version, &octets[16..])
}

/// A value that no other write has. Many are longer than a packet.
fn value(key: u64, write: u32) -> Vec<u8> {
    let len = 4 + (key as usize * 613 + write as usize * 97) % 5000;
    let mut octets = vec![0; len];
    fill(key << 32 | u64::from(write), 0, &mut octets);
    octets[..4].copy_from_slice(&write.to_be_bytes());
    octets
}

/// What has been seen of a key: the highest version whose operation has ended, and the value of each version.
#[derive(Default)]
struct Seen {
    newest: u32,
    values: BTreeMap<u32, Vec<u8>>,
}

struct Store {
    random: RandomSource,
    zipf: Vec<f64>,
    begun: [u32; CLIENTS],
    writes: u32,
    /// of each open operation: the newest version of its key when it began
    open: Vec<(usize, Vec<u8>, u32)>,
    kept: BTreeMap<u64, (u32, Vec<u8>)>,
    seen: BTreeMap<u64, Seen>,
    gets: u32,
    served: u32,
    failed: u32,
    /// one in so many operations is a SET
    sets: u64,
}

impl Store {
    fn new(seed: u64, sets: u64) -> Store {
        let weights: Vec<f64> = (1..=KEYS).map(|rank| 1.0 / (rank as f64).powf(0.99)).collect();
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let zipf = weights.iter().map(|weight| {
            sum += weight / total;
            sum
        });
        Store {
            random: RandomSource::new(seed),
            zipf: zipf.collect(),
            begun: [0; CLIENTS],
            writes: 0,
            open: Vec::new(),
            kept: BTreeMap::new(),
            seen: BTreeMap::new(),
            gets: 0,
            served: 0,
            failed: 0,
            sets,
        }
    }

    fn key(&mut self) -> u64 {
        let at = self.random.roll(1 << 32) as f64 / f64::from(u32::MAX);
        self.zipf.partition_point(|sum| *sum < at).min(KEYS - 1) as u64
    }
}

impl Applications for Store {
    fn next(&mut self, client: usize, _now: u64) -> Option<(u32, Vec<u8>)> {
        let begun = self.begun.get_mut(client).filter(|begun| **begun < OPERATIONS)?;
        *begun += 1;
        let key = self.key();
        let request = if self.random.one_in(self.sets) {
            self.writes += 1;
            message(SET, key, 0, &value(key, self.writes))
        } else {
            self.gets += 1;
            // Nothing reads its number, which tells it from others.
            message(GET, key, 0, &self.gets.to_be_bytes())
        };
        let newest = self.seen.entry(key).or_default().newest;
        self.open.push((client, request.clone(), newest));
        Some((address(SERVER), request))
    }

    fn serve(&mut self, _server: usize, request: &[u8]) -> Vec<u8> {
        let (operation, key, _, new) = read(request);
        let kept = self.kept.entry(key).or_insert_with(|| (1, value(key, 0)));
        if operation == SET {
            *kept = (kept.0 + 1, new.to_vec());
            return message(STORED, key, kept.0, &[]);
        }
        self.served += 1;
        message(VALUE, key, kept.0, &kept.1)
    }

    fn ended(&mut self, client: usize, rpc: Ended) {
        let at = self.open.iter().position(|(who, request, _)| *who == client && *request == rpc.request);
        let (_, _, before) = self.open.remove(at.expect("it was begun"));
        let Ok(response) = rpc.response else {
            self.failed += 1;
            return;
        };
        let (operation, key, version, found) = read(&response);
        let (asked, asked_key, _, new) = read(&rpc.request);
        assert_eq!((operation, key), (if asked == SET { STORED } else { VALUE }, asked_key));
        let seen = self.seen.entry(key).or_default();
        let is_new = version > before || (asked == GET && version == before);
        assert!(is_new, "key {key}: version {version} after version {before} was seen");
        seen.newest = seen.newest.max(version);
        let octets = if asked == SET { new } else { found };
        let value = seen.values.entry(version).or_insert_with(|| octets.to_vec());
        assert!(value == octets, "key {key}: two values of version {version}");
    }
}

fn run(cache: &InNetwork, seed: u64, sets: u64, node: &[&str]) -> (Store, World) {
    let ends = ["rto=1ms", "retries_max=20", "remember=30ms"];
    let mut world = World::new(CLIENTS + 1, &ends, Some(cache.start(node, seed)), seed);
    let mut store = Store::new(seed, sets);
    world.run(&mut store);
    let done = u64::from(store.begun.iter().sum::<u32>());
    assert_eq!(done, CLIENTS as u64 * u64::from(OPERATIONS));
    assert!(u64::from(store.failed) * 100 <= done, "seed {seed}: {} failed", store.failed);
    (store, world)
}

const SETTINGS: [&str; 4] = ["hot=4", "interval=200ms", "settle=30ms", "gap=1ms"];

/// `CARRICK_SEEDS` is the number of seeds.
#[test]
fn nobody_sees_an_old_value() {
    let seeds = seeds(6);
    let cache = InNetwork::new(CACHE);
    let (mut gets, mut served) = (0, 0);
    for seed in 1..=seeds {
        let (store, _) = run(&cache, seed, 10, &SETTINGS);
        gets += store.gets;
        served += store.served;
    }
    assert!(served * 10 < gets * 8, "the server sees {served} of {gets} GETs");
}

/// Every key is hot, and nobody writes.
#[test]
fn hits_are_answered_by_the_node() {
    let cache = InNetwork::new(CACHE);
    let (store, world) = run(&cache, 1, u64::MAX, &["hot=1", "interval=1h", "settle=0us", "max_keys=1024"]);
    assert!(store.served * 2 < store.gets, "the server sees {} of {} GETs", store.served, store.gets);
    assert!(world.now < 1000 * MILLISECOND);
    let without = {
        let (store, _) = run(&cache, 1, u64::MAX, &["hot=1000000"]);
        (store.served, store.gets)
    };
    assert!(without.0 * 10 > without.1 * 9, "without hot keys it sees them all: {without:?}");
}
