// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of several streams: what arrives, and that no stream waits for another.

use std::fmt::Write;
use std::sync::Arc;

use carrick_driver::{Choice, compile_choice, compile_file};
use carrick_interp::Completion;
use carrick_ir::Program;
use carrick_sim::app::End;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::{Nobody, Observer};
use carrick_sim::scenario::Engine;
use carrick_sim::{Report, Scenario, run};
use carrick_tests::build::root;
use carrick_tests::command::done;

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
            delay_ns: 3_000_000,
            faults: LinkFaults {
                loss_ppm: 30_000,
                duplicate_ppm: 30_000,
                reorder_ppm: 30_000,
                corrupt_ppm: 20_000,
                ..LinkFaults::default()
            }
            .into(),
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

/// When the server's application had how many bytes.
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
    let faults = LinkFaults { loss_ppm: 20_000, ..LinkFaults::default() };
    LinkConfig { delay_ns: 10_000_000, faults: faults.into(), ..LinkConfig::default() }
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

/// When the bytes were there at which the small transfers end, if one stream of bytes carries all: likewise.
fn in_one_stream(seeds: std::ops::RangeInclusive<u64>, ends: &[u64]) -> f64 {
    // Its congestion control is that of the streams.
    let choice = Choice { without: vec!["cubic".into()], ..Choice::default() };
    let compiled = compile_choice(&root().join(ONE_STREAM), &choice).expect("readable");
    let program = compiled.program.expect("no errors");
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

/// If the one stream has them in turns, a packet each, a lost packet holds up what is behind it, of whatever transfer; but they also end
/// soon. Streams are not later, though the other program's slow start and loss recovery are those of a longer history.
#[test]
fn small_streams_are_as_early_as_packets_in_turns() {
    let streams = small_streams(1..=40);
    // In turns with the big one, all small ones end near the place where nine times a small one was sent.
    let places: Vec<u64> = (0..8).map(|i| 9 * SMALL - i * 1_400).collect();
    let in_turns = in_one_stream(1..=40, &places);
    assert!(streams < in_turns * 1.05, "streams: {streams:.1} ms, in turns: {in_turns:.1} ms");
}

/// Objects of 8 to 32 KB between those of 1 MB, all on one connection, asked for at fixed times: the slowdowns of the small ones.
fn slowdowns(program: &str) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, csv) = (folder.path().join("flows"), folder.path().join("csv"));
    let mut flows = String::new();
    for i in 0..20_u64 {
        let (big, small) = (i * 105_000_000, i * 105_000_000 + 10_000_000);
        let octets = [8_000, 16_000, 32_000][i as usize % 3];
        writeln!(flows, "{big},0,1,1000000\n{small},0,1,{octets}").expect("memory takes all");
    }
    std::fs::write(&trace, flows).expect("writable");
    let workload = format!("trace:{}", trace.display());
    let sim = ["sim", program, "--topology", "pair", "--keep", "--fast", "--workload", &workload];
    let link = ["--rate", "100Mbps", "--delay", "1ms", "--csv", csv.to_str().expect("UTF-8")];
    done(&root(), &[&sim[..], &link].concat());
    let text = std::fs::read_to_string(csv).expect("a table");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let columns = rows.map(|row| row.split(',').collect::<Vec<_>>());
    columns.filter(|c| c[4] != "1000000").map(|c| c[8].parse().expect("a slowdown")).collect()
}

/// Figures 4b and 4c of the first paper.
#[test]
fn small_objects_on_a_connection_with_big_ones() {
    let (streams, one_stream) = (slowdowns(STREAMS), slowdowns(ONE_STREAM));
    assert_eq!((streams.len(), one_stream.len()), (20, 20));
    // They share the link's queue with the big one, and wait for nothing else.
    assert!(streams.iter().all(|s| *s < 10.0), "{streams:?}");
    assert!(one_stream.iter().all(|s| *s > 20.0), "{one_stream:?}");
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (streams, one_stream) = (median(streams), median(one_stream));
    assert!(streams * 3.0 < one_stream, "{streams} against {one_stream}");
}
