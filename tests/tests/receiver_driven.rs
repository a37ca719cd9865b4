// SPDX-License-Identifier: MIT OR Apache-2.0
//! NDP over switches that cut packets: the figures of its paper, on the compiled core, and what its ends do when packets are lost or come back.

use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compiled::shared_library;
use carrick_driver::{compile_file, params};
use carrick_ir::Program;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::fabric::results::{Results, Tier};
use carrick_sim::fabric::sizes::Sizes;
use carrick_sim::fabric::switch::{Paths, Queueing, Trim};
use carrick_sim::fabric::topology::{Links, Topology};
use carrick_sim::fabric::workload::{Kind, Workload};
use carrick_sim::fabric::{Setup, run};
use carrick_sim::scenario::Engine;
use carrick_sim::stop::Stop;
use carrick_tests::build::root;

/// Packets and queues of the paper: jumbo frames, eight of them.
const MTU: u32 = 9000;
const QUEUE: u64 = 8 * MTU as u64;

fn program() -> Arc<Program> {
    let compiled = compile_file(&root().join("protocols/ndp/ndp.mtp")).expect("readable");
    compiled.program.expect("a program without errors")
}

fn compiled(program: &Program) -> (Built, Rc<CompiledProgram>) {
    let library = shared_library(program, Tracing::Off).expect("the C compiles");
    let core = CompiledProgram::load(&library.path, program).expect("it loads");
    (library, core)
}

fn setup(program: &Program, shape: &str, kind: Kind, octets: u64) -> Setup {
    let rate_bps = 10_000_000_000;
    let links = Links { rate_bps, core_rate_bps: rate_bps, delay_ns: 1000 };
    let trim = Trim { octets: 64, dscp: 56, room: QUEUE, back: Some(57) };
    let longest = "longest=8MiB".to_owned();
    Setup {
        topology: Topology::named(shape, &links).expect("a topology"),
        queueing: Queueing { octets: QUEUE, trim: Some(trim), paths: Paths::Spray, ..Queueing::default() },
        workload: Workload { kind, between: None, sizes: Sizes::Fixed(octets), count: 1 },
        background: None,
        seed: 1,
        mtu: MTU,
        message: 8 << 20,
        fit_message: false,
        outstanding: None,
        keep: false,
        services: Vec::new(),
        cross: Vec::new(),
        features: Vec::new(),
        offloads: Vec::new(),
        calls: Vec::new(),
        links: Vec::new(),
        every: None,
        params: params::values(program, &[longest]).expect("a parameter of it"),
        limit: 10_000_000_000,
        stop: Stop::default(),
    }
}

fn simulate(program: &Arc<Program>, setup: &Setup) -> Results {
    let (_library, core) = compiled(program);
    let results = run(program, &Engine::Compiled(core), setup, None).expect("a run");
    let failures = results.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    results
}

fn to_hosts(results: &Results) -> (u64, u64, u64) {
    let tier = results.tiers.iter().find(|t| t.tier == Tier::ToHost).expect("ports to hosts");
    (tier.counters.dropped, tier.counters.trimmed, tier.counters.returned)
}

#[test]
fn a_hundred_senders_take_as_long_as_the_link() {
    let program = program();
    let results = simulate(&program, &setup(&program, "star:101", Kind::Incast(100), 450_000));
    // Without any header, at 10 Gbit/s.
    let ideal = 100 * 450_000 * 8 / 10;
    assert!(results.ended_at * 100 <= ideal * 105, "{} ns, ideally {ideal}", results.ended_at);
    assert!(results.fairness().is_some_and(|index| index > 0.99), "{:?}", results.fairness());
    let (dropped, trimmed, _) = to_hosts(&results);
    assert!(dropped == 0 && trimmed > 1000, "{dropped} dropped, {trimmed} cut");
}

#[test]
fn a_permutation_fills_a_fat_tree() {
    let program = program();
    let results = simulate(&program, &setup(&program, "fat-tree:4", Kind::Permutation, 5_000_000));
    assert!(results.utilisation() > 0.9, "{}", results.utilisation());
}

#[test]
fn the_first_window_is_blind() {
    let program = program();
    let results = simulate(&program, &setup(&program, "star:2", Kind::Permutation, 60_000));
    // One way and no more: what the bytes take, headers and what the receiver says; waiting for it once would be 1.2.
    let slowest = results.flows.iter().filter_map(|f| f.slowdown()).fold(0.0, f64::max);
    assert!((1.0..1.1).contains(&slowest), "{slowest}");
}

#[test]
fn headers_come_back_when_there_is_no_room() {
    let program = program();
    let mut setup = setup(&program, "star:41", Kind::Incast(40), 300_000);
    setup.queueing.trim = setup.queueing.trim.map(|trim| Trim { room: 640, ..trim });
    let results = simulate(&program, &setup);
    let (dropped, _, returned) = to_hosts(&results);
    assert!(dropped == 0 && returned > 100, "{dropped} dropped, {returned} returned");
    // Nobody waits for a timer of a millisecond.
    assert!(results.ended_at < 40 * 300_000 * 8 / 10 * 11 / 10, "{} ns", results.ended_at);
}

#[test]
fn what_is_lost_comes_again() {
    let program = program();
    let mut setup = setup(&program, "fat-tree:4", Kind::Permutation, 200_000);
    setup.workload.count = 3;
    setup.topology.faults_mut().for_each(|it| it.always(|faults| faults.loss_ppm = 10_000));
    let results = simulate(&program, &setup);
    let lost: u64 = results.tiers.iter().map(|t| t.counters.faults.lost).sum();
    assert!(lost > 100, "{lost}");
}
