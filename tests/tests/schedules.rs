// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks under a stream of bytes: the stream's program with each of them, on the interpreter and the
//! compiled core, and what flows get of a rate.

use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_driver::compile::compile_text;
use carrick_driver::compiled::shared_library;
use carrick_driver::params;
use carrick_ir::Program;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::diff;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::{Scenario, run};
use carrick_tests::build::{host, root};
use carrick_tests::net::skip;

const SECOND: u64 = 1_000_000_000;
/// What is measured: a second, once all have begun.
const MEASURED: std::ops::Range<u64> = SECOND / 5..SECOND / 5 + SECOND;

/// The text of the stream's program with a schedule.
fn text(schedule: &str) -> String {
    let path = root().join("crates/cli/templates/stream/program.mtp");
    let text = std::fs::read_to_string(path).expect("the template is there");
    text.replace("register_ep_chains(", &format!("{schedule};\n    register_ep_chains("))
}

fn stream(schedule: &str) -> Arc<Program> {
    compile_text("stream.mtp", text(schedule)).program.expect("the program is right")
}

/// Bytes that the first host sent while it was measured, by the port that they came from.
#[derive(Default)]
struct Meter(BTreeMap<u16, u64>);

impl Observer for Meter {
    fn sent(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        if host == 0 && MEASURED.contains(&now) {
            let port = u16::from_be_bytes([packet[20], packet[21]]);
            *self.0.entry(port).or_default() += packet.len() as u64;
        }
    }
}

/// What each of three flows that send all the time got.
fn shares(schedule: &str) -> Vec<u64> {
    let program = stream(schedule);
    let link = LinkConfig { rate_bps: 1_000_000_000, delay_ns: 1_000_000, ..LinkConfig::default() };
    let mut scenario = Scenario::bulk(1, link, 4_000_000);
    scenario.params = params::values(&program, &["window=16384".into()]).expect("a parameter of it");
    for number in 2..=3 {
        let mut plan = scenario.plans[0].clone();
        plan.number = number;
        scenario.plans.push(plan);
    }
    let mut meter = Meter::default();
    let report = run(&program, &Engine::Interpreter, &scenario, &mut meter, false).expect("it runs");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    meter.0.into_values().collect()
}

fn within_one_percent(octets: u64, wanted: u64) {
    assert!(octets.abs_diff(wanted) * 100 <= wanted, "{octets} octets, not {wanted}");
}

#[test]
fn each_flow_keeps_its_rate() {
    let flows = shares("register_pkt_sched(rate_limiter(PER_FLOW, 8Mbps))");
    assert_eq!(flows.len(), 3);
    flows.into_iter().for_each(|octets| within_one_percent(octets, 1_000_000));
}

#[test]
fn flows_share_a_rate_evenly_but_for_a_packet() {
    let flows = shares("register_pkt_sched(rate_limiter(drr(PER_FLOW, 1500B), 8Mbps))");
    within_one_percent(flows.iter().sum(), 1_000_000);
    let (least, most) = (flows.iter().min(), flows.iter().max());
    assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 2 * 1500), "{flows:?}");
}

#[test]
fn what_waits_loses_nothing_in_any_network() {
    let schedules = [
        "register_pkt_sched(rate_limiter(PER_FLOW, 2Mbps))",
        "register_pkt_sched(drr(PER_FLOW, 700B))",
        "register_pkt_sched(rate_limiter(strict_priority(PER_FLOW), 5Mbps))",
        "register_ev_sched(strict_priority(timer_event, drr(PER_FLOW, 2)))",
        "register_ev_sched(strict_priority(app_event, net_event))",
    ];
    for schedule in schedules {
        let program = stream(schedule);
        let library = match shared_library(&program, Tracing::On) {
            Ok(library) => library,
            Err(Failure::Missing(what)) => return skip(&what),
            Err(failure) => panic!("{failure}"),
        };
        let compiled: Rc<_> = CompiledProgram::load(&library.path, &program).expect("it loads");
        for seed in 1..=6 {
            let mut scenario = Scenario::random(seed);
            // Go-back-N that waits for less than its window takes would send nothing but repetitions.
            scenario.params =
                params::values(&program, &["resend_after=2s".into()]).expect("a parameter of it");
            let result = diff(&program, &compiled, &scenario).expect("it runs");
            assert_eq!(result.difference, None, "{schedule}, seed {seed}");
            assert!(result.failures.is_empty(), "{schedule}, seed {seed}: {:?}", result.failures);
        }
    }
}

#[test]
fn a_host_wakes_when_a_packet_may_go() {
    const OCTETS: u64 = 1_000_000;
    const RATE: u64 = 16_000_000;
    let dir = tempfile::tempdir().expect("a folder");
    let (program, served, got) =
        (dir.path().join("paced.mtp"), dir.path().join("data"), dir.path().join("got"));
    std::fs::write(&program, text("register_pkt_sched(rate_limiter(PER_FLOW, 16Mbps))")).expect("writable");
    let octets: Vec<u8> = (0..OCTETS).map(|n| ((n * n) >> 7) as u8).collect();
    std::fs::write(&served, &octets).expect("writable");
    let host = host(&program.to_string_lossy());
    let began = Instant::now();
    let ran = Command::new(host)
        .args(["--port", "loop", "--addr", "10.0.0.1/24", "--set", "linger_time=0s"])
        .args(["--app", &format!("http:{}", dir.path().display())])
        .args(["--app", &format!("get:http://10.0.0.1/data:{}", got.display())])
        .output()
        .expect("it starts");
    let took = began.elapsed();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(std::fs::read(&got).is_ok_and(|got| got == octets));
    // The rate says how long it takes at least; a host that slept past its moments would take far longer.
    let least = Duration::from_nanos(OCTETS * 8 * SECOND / RATE);
    assert!((least..least * 10).contains(&took), "{took:?}, not {least:?}");
}
