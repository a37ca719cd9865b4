// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data that leaves at a rate: pacing spreads a window, and BBR (draft-cardwell-iccrg-bbr-congestion-control-00) finds what a path
//! carries and how long it is, whatever is lost on it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carrick_driver::cc::Tracing;
use carrick_driver::compile::compile_choice;
use carrick_driver::compiled::shared_library;
use carrick_driver::{Choice, Failure, compile_file, params};
use carrick_interp::{Config, Core, Data, Request};
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::{Scenario, run};
use carrick_tests::build::root;
use carrick_tests::command::done;
use carrick_tests::net::skip;
use carrick_tests::simulated::simulate;
use serde_json::Value;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
const BBR: &str = "congestion=bbr";
const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
/// Buffers that no window in these tests reaches.
const WIDE: [&str; 4] = ["--set", "snd_buf=8388608", "--set", "rcv_buf=8388608"];

fn program() -> PathBuf {
    root().join(PROGRAM)
}

/// What a run with these features reports; `None` where a C compiler is missing.
fn report(with: &str, args: &[&str]) -> Option<Value> {
    simulate(PROGRAM, &[&["--compiled", "--with", with, "--without", "rack"], args, &WIDE].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// When data left the client, by the port that it came from.
#[derive(Default)]
struct Departures(BTreeMap<u16, Vec<u64>>);

impl Observer for Departures {
    fn sent(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        if host == 0 && packet.len() > 100 {
            let port = u16::from_be_bytes([packet[20], packet[21]]);
            self.0.entry(port).or_default().push(now);
        }
    }
}

/// Runs so many bulk transfers at once, of so many bytes each.
fn departures(with: &str, link: LinkConfig, flows: u64, octets: u64) -> Option<Vec<Vec<u64>>> {
    let mut choice = Choice::default();
    with.split(',').for_each(|word| choice.add(word));
    choice.without.push("rack".to_owned());
    let program = compile_choice(&program(), &choice).expect("it can be read").program.expect("it is right");
    let library = match shared_library(&program, Tracing::Off) {
        Ok(library) => library,
        Err(Failure::Missing(what)) => {
            skip(&what);
            return None;
        }
        Err(failure) => panic!("{failure}"),
    };
    let compiled = CompiledProgram::load(&library.path, &program).expect("it loads");
    let mut scenario = Scenario::bulk(1, link, octets);
    let wide: Vec<String> = ["snd_buf=8388608", "rcv_buf=8388608"].map(String::from).into();
    scenario.params = params::values(&program, &wide).expect("parameters of it");
    for number in 2..=flows {
        let mut plan = scenario.plans[0].clone();
        plan.number = number;
        scenario.plans.push(plan);
    }
    let mut seen = Departures::default();
    let report = run(&program, &Engine::Compiled(compiled), &scenario, &mut seen, false).expect("it runs");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    Some(seen.0.into_values().collect())
}

/// Packets at most in any stretch of so many nanoseconds.
fn densest(times: &[u64], stretch: u64) -> usize {
    (0..times.len())
        .map(|i| times[i..].iter().take_while(|t| **t < times[i] + stretch).count())
        .max()
        .unwrap_or(0)
}

/// A window that fills no link goes out spread over its round trip, the first one too, and not in bursts.
#[test]
fn a_window_is_spread_over_its_round_trip() {
    let link = || LinkConfig {
        rate_bps: 10 * SECOND,
        delay_ns: 50 * MILLISECOND,
        queue_packets: 10_000,
        ..LinkConfig::default()
    };
    let Some(bursts) = departures("congestion=newreno", link(), 1, 2_000_000) else { return };
    let Some(paced) = departures("congestion=newreno,pacing", link(), 1, 2_000_000) else {
        return;
    };
    assert!(densest(&bursts[0], MILLISECOND) > 300, "without pacing a window is a burst");
    // The last window is 640 segments; at twice that for each round trip 13 in a millisecond, and what is made good of one.
    let most = densest(&paced[0], MILLISECOND);
    assert!((10..=28).contains(&most), "{most} packets in a millisecond");
    let first = &paced[0][..10];
    assert!(
        first.windows(2).all(|w| w[1] - w[0] > 4 * MILLISECOND),
        "ten segments in half a round trip: {first:?}"
    );
    let (fast, slow) = (bursts[0].last().expect("data"), paced[0].last().expect("data"));
    assert!(*slow < fast + 150 * MILLISECOND, "pacing costs a round trip at most: {fast} and {slow}");
}

/// Random losses say nothing about a path. At 1 % CUBIC's window is that of Reno, about 1.2/sqrt(p) segments (RFC 9438 §5.1), and
/// BBR's is as the path is; its queue is no longer than what the path holds.
#[test]
fn losses_do_not_slow_a_model_of_the_path() {
    for (rate, bits) in [("10Mbps", 10e6), ("50Mbps", 50e6)] {
        let link = [
            "--rate", rate, "--delay", "20ms", "--queue", "2000", "--bytes", "30MB", "--loss", "1%",
            "--seed", "3",
        ];
        let Some(bbr) = report(BBR, &link) else { return };
        let Some(cubic) = report("cubic", &link) else { return };
        assert!(number(&bbr["goodput_bps"]) > 0.85 * bits, "{rate}: {bbr}");
        assert!(number(&cubic["goodput_bps"]) < 0.45 * bits, "{rate}: {cubic}");
        // Two of the path's: what is under way, and as much again that may wait.
        assert!(
            number(&bbr["rtt_p50_ns"]) < 1.3 * 40e6 && number(&bbr["rtt_p99_ns"]) < 2.2 * 40e6,
            "{rate}: {bbr}"
        );
    }
}

/// Without losses CUBIC fills the queue; BBR fills the link only.
#[test]
fn a_long_queue_stays_empty() {
    let link = ["--rate", "20Mbps", "--delay", "20ms", "--queue", "2000", "--bytes", "40MB"];
    let Some(bbr) = report(BBR, &link) else { return };
    let Some(cubic) = report("cubic", &link) else { return };
    assert!(number(&bbr["goodput_bps"]) > 18.5e6, "{bbr}");
    assert!(number(&bbr["rtt_p50_ns"]) < 50e6, "{bbr}");
    assert!(number(&cubic["rtt_p50_ns"]) > 200e6, "{cubic}");
    assert_eq!(bbr["retransmitted_packets"], 0, "{bbr}");
}

/// What a field of the client's connection was, every 10 ms.
fn samples(link: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
    let shown = fields.join(",");
    let trace = ["trace", PROGRAM, "--with", BBR, "--without", "rack", "--sample", &shown, "--every", "10ms"];
    let lines = done(&root(), &[&trace[..], &["--host", "client", "--format", "json"], link, &WIDE].concat());
    let parsed = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object a line"));
    parsed.map(|line| fields.iter().map(|field| line["values"][*field].to_string()).collect()).collect()
}

/// §4.3: STARTUP until the pipe is full, DRAIN until the queue is gone, then PROBE_BW with its three gains; the model is right.
#[test]
fn the_states_follow_one_another_and_the_model_is_right() {
    let link = ["--rate", "20Mbps", "--delay", "20ms", "--queue", "2000", "--bytes", "10MB"];
    let seen = samples(&link, &["bbr", "pacing_gain", "btlbw[0].bw", "rtprop"]);
    let mut states: Vec<&str> = seen.iter().map(|row| row[0].trim_matches('"')).collect();
    states.dedup();
    assert_eq!(states, ["STARTUP", "DRAIN", "PROBE_BW"], "{seen:?}");
    let settled: Vec<_> = seen.iter().filter(|row| row[0].contains("PROBE_BW")).collect();
    for gain in ["0.75", "1.0", "1.25"] {
        assert!(settled.iter().any(|row| row[1] == gain), "no phase with {gain}");
    }
    // Of the 20 Mbit/s 1448 bytes in 1500 are data; a packet takes 0.6 ms onto the link.
    for row in &settled[settled.len() / 2..] {
        let (bw, rtprop): (f64, f64) = (row[2].parse().expect("a rate"), row[3].parse().expect("a time"));
        assert!((bw / (20e6 * 1448.0 / 1500.0) - 1.0).abs() < 0.02, "{row:?}");
        assert!((40.6e6..42.5e6).contains(&rtprop), "{row:?}");
    }
}

/// §4.3.5: flows that share a link keep a queue, so that after 10 s each of them sends next to nothing for 200 ms, to see how long the
/// path is without it. They share the link evenly.
#[test]
fn the_length_of_the_path_is_probed() {
    let link = LinkConfig {
        rate_bps: SECOND / 100,
        delay_ns: 20 * MILLISECOND,
        queue_packets: 1000,
        ..LinkConfig::default()
    };
    let Some(flows) = departures(BBR, link, 2, 18_000_000) else { return };
    let both_until = flows.iter().filter_map(|times| times.last()).min().copied().expect("data");
    assert!(both_until > 20 * SECOND, "{both_until}");
    let mut shares = Vec::new();
    for times in &flows {
        let quiet =
            |from: u64| times.iter().filter(|t| (from..from + 160 * MILLISECOND).contains(*t)).count();
        let probes: Vec<u64> =
            (5 * SECOND..20 * SECOND).step_by(40_000_000).filter(|from| quiet(*from) <= 18).collect();
        assert!(!probes.is_empty(), "no flow is quiet");
        let first = probes[0];
        assert!((9 * SECOND..14 * SECOND).contains(&first), "{first}");
        shares.push(times.iter().filter(|t| (5 * SECOND..20 * SECOND).contains(*t)).count() as f64);
    }
    let jain = (shares[0] + shares[1]).powi(2) / (2.0 * (shares[0].powi(2) + shares[1].powi(2)));
    assert!(jain > 0.9, "{shares:?}");
}

/// What an application asks for at once goes out in parts, of which the last waits for no acknowledgement (RFC 9293 §3.7.4 asks for
/// that of small requests). Silence between answers is not taken for a slow path (§4.3.4.4 and the draft of delivery rates, §3.4).
#[test]
fn answers_go_out_as_fast_as_the_path_carries() {
    let link = ["--app", "request-response", "--bytes", "2KB", "--answer", "300KB", "--count", "40"];
    let link = [&link[..], &["--rate", "20Mbps", "--delay", "20ms"]].concat();
    let Some(bbr) = report(BBR, &link) else { return };
    // 40 ms to ask and be answered, 125 for the answer with its headers; and the first ones, while the path is not known.
    let ideal = 40.0 * (40e6 + 300e3 * 8.0 / 20e6 * 1e9 * 1500.0 / 1448.0);
    let took = number(&bbr["completion_ns"]);
    assert!((ideal..ideal * 1.1).contains(&took), "{took}, ideally {ideal}: {bbr}");
}

/// Segment n leaves log2(n) round trips after the first, of 16,384 segments (XTRA, figure 5). Too early by what is below a
/// nanosecond, and below 2^-32 of a round trip: both are rounded down.
#[test]
fn exponential_pacing_keeps_its_schedule() {
    const SEGMENTS: usize = 16_384;
    const RTT: f64 = 100e6;
    let program = compile_file(&root().join("tests/programs/exponential.mtp")).expect("readable").program;
    let mut core = Core::new(program.expect("without errors"), &Config::default()).expect("it starts");
    let ask = |core: &mut Core, call: usize, request: Request<'_>| {
        core.call(call, &request, 0).expect("it is taken");
        core.next_completion().map_or(0, |done| done.value)
    };
    let handle = ask(&mut core, 0, Request { handle: 0, token: 1, args: &[1, 1, 2, 2], data: Data::None });
    let message = [0; SEGMENTS];
    ask(&mut core, 1, Request { handle, token: 2, args: &[SEGMENTS as u64], data: Data::Send(&message) });
    let (mut now, mut left, mut packet) = (0, Vec::new(), Vec::new());
    loop {
        while core.tx(&mut packet, now) {
            left.push(now);
        }
        let Some(due) = core.next_deadline() else { break };
        now = due;
        core.advance(now).expect("it has room");
    }
    assert_eq!(left.len(), SEGMENTS);
    for (n, at) in (1_u64..).zip(left) {
        let error = at as f64 - RTT * (n as f64).log2();
        assert!((-1.0 - RTT / 2_f64.powi(32)..=0.0).contains(&error), "segment {n} is {error} ns late");
    }
}
