//! Connections of several streams: what arrives, and that no stream waits for another.

use std::sync::Arc;

use carrick_driver::compile_file;
use carrick_interp::Completion;
use carrick_ir::Program;
use carrick_sim::app::End;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::{Nobody, Observer};
use carrick_sim::scenario::Engine;
use carrick_sim::{Report, Scenario, run};
use carrick_tests::build::root;

const STREAMS: &str = "protocols/quic-lite/quic-lite.mtp";
const ONE_STREAM: &str = "protocols/tcp/tcp.mtp";
const BIG: u64 = 1_000_000;
const SMALL: u64 = 8_000;
/// One big transfer and eight small ones.
const SIZES: [u64; 9] = [BIG, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL];

fn program(path: &str) -> Arc<Program> {
    compile_file(&root().join(path)).expect("readable").program.expect("no errors")
}

fn simulate(program: &Arc<Program>, scenario: &Scenario, observer: &mut dyn Observer) -> Report {
    let report = run(program, &Engine::Interpreter, scenario, observer, false).expect("it runs");
    assert_eq!(report.failures, Vec::<String>::new(), "seed {}", scenario.seed);
    report
}

#[test]
fn every_stream_arrives_whole_through_every_fault() {
    let program = program(STREAMS);
    for seed in 1..=30 {
        let link = LinkConfig {
            loss_ppm: 30_000,
            duplicate_ppm: 30_000,
            reorder_ppm: 30_000,
            corrupt_ppm: 20_000,
            delay_ns: 3_000_000,
            ..LinkConfig::default()
        };
        let sizes = [200_000, 8, 30_000, 1, 60_000];
        let report = simulate(&program, &Scenario::streams(seed, link, &sizes), &mut Nobody);
        assert_eq!(report.connections[0].len(), sizes.len());
        for (end, records) in ["client", "server"].iter().zip(&report.connections) {
            let all = records.iter().all(|r| r.end == End::Clean);
            assert!(all, "seed {seed}, {end}: {records:?}");
        }
        let came: u64 = report.connections[1].iter().map(|r| r.received).sum();
        assert_eq!(came, 200_000 + 8 + 30_000 + 8 + 60_000, "seed {seed}");
    }
}

/// As many streams as a program allows, and more that wait for their turn.
#[test]
fn streams_that_are_too_many_wait_until_others_have_ended() {
    let program = program(STREAMS);
    let report = simulate(&program, &Scenario::streams(1, lossy(), &[2_000; 120]), &mut Nobody);
    let came = report.connections[1].iter().filter(|r| r.received == 2_000 && r.end == End::Clean);
    assert_eq!(came.count(), 120);
}

/// When the server's application had how many octets.
#[derive(Default)]
struct Arrivals(Vec<(u64, u64)>);

impl Observer for Arrivals {
    fn completed(&mut self, now: u64, host: usize, done: &Completion) {
        if let Some(octets) = done.data.as_ref().filter(|_| host == 1) {
            let before = self.0.last().map_or(0, |(_, all)| *all);
            self.0.push((now, before + octets.len() as u64));
        }
    }
}

impl Arrivals {
    fn when(&self, octets: u64) -> u64 {
        self.0.iter().find(|(_, all)| *all >= octets).expect("all arrived").0
    }
}

fn lossy() -> LinkConfig {
    LinkConfig { loss_ppm: 20_000, delay_ns: 10_000_000, ..LinkConfig::default() }
}

fn mean(times: impl Iterator<Item = u64>) -> f64 {
    let all: Vec<u64> = times.collect();
    all.iter().sum::<u64>() as f64 / all.len() as f64 / 1e6
}

/// When the small streams were there, over many seeds: in ms, on average.
fn small_streams(seeds: std::ops::RangeInclusive<u64>) -> f64 {
    let program = program(STREAMS);
    mean(seeds.flat_map(|seed| {
        let report = simulate(&program, &Scenario::streams(seed, lossy(), &SIZES), &mut Nobody);
        let small = report.connections[1].iter().filter(|r| r.received == SMALL);
        let times: Vec<u64> = small.filter_map(|r| r.finished).collect();
        assert_eq!(times.len(), SIZES.len() - 1, "seed {seed}");
        times
    }))
}

/// When the octets were there at which the small transfers end, if one stream of octets carries all: likewise.
fn in_one_stream(seeds: std::ops::RangeInclusive<u64>, ends: &[u64]) -> f64 {
    let program = program(ONE_STREAM);
    mean(seeds.flat_map(|seed| {
        let mut arrivals = Arrivals::default();
        simulate(&program, &Scenario::bulk(seed, lossy(), SIZES.iter().sum()), &mut arrivals);
        ends.iter().map(|end| arrivals.when(*end)).collect::<Vec<u64>>()
    }))
}

/// As in figures 4b and 4c of the first paper: small transfers beside a big one.
#[test]
fn small_streams_do_not_wait_for_a_big_one() {
    let streams = small_streams(1..=12);
    // The big one was asked for first: whoever is behind it waits for all of it.
    let behind: Vec<u64> = (1..=8).map(|i| BIG + i * SMALL).collect();
    let one_stream = in_one_stream(1..=12, &behind);
    assert!(streams * 5.0 < one_stream, "streams: {streams:.1} ms, behind each other: {one_stream:.1} ms");
}

/// Even if the one stream has them in turns, a packet each: then a lost packet holds up what is behind it, of whatever transfer.
#[test]
fn a_lost_packet_holds_up_only_its_own_stream() {
    let streams = small_streams(1..=40);
    // In turns with the big one, all small ones end near the place where nine times a small one was sent.
    let places: Vec<u64> = (0..8).map(|i| 9 * SMALL - i * 1_400).collect();
    let in_turns = in_one_stream(1..=40, &places);
    assert!(streams * 1.1 < in_turns, "streams: {streams:.1} ms, in turns: {in_turns:.1} ms");
}
