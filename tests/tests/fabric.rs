// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks of many hosts: flows arrive whole over every topology, interpreter and compiled core give the same results, and
//! nothing depends on how many runs go on at once.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use carrick_driver::cc::Tracing;
use carrick_driver::compile_file;
use carrick_driver::compiled::shared_library;
use carrick_ir::Program;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::fabric::port::PortCounters;
use carrick_sim::fabric::results::{Results, Tier};
use carrick_sim::fabric::sizes::Sizes;
use carrick_sim::fabric::switch::{Paths, Pause, Queueing, Trim};
use carrick_sim::fabric::topology::{Links, Topology};
use carrick_sim::fabric::workload::{Kind, Workload};
use carrick_sim::fabric::{Flow, Setup, Start, run};
use carrick_sim::scenario::Engine;
use carrick_sim::stop::Stop;
use carrick_tests::build::{carrick, root};
use carrick_tests::net::lacks;

const GBIT: u64 = 1_000_000_000;

fn program(path: &str) -> Arc<Program> {
    compile_file(&root().join(path)).expect("readable").program.expect("a program without errors")
}

fn stream() -> Arc<Program> {
    program("protocols/tcp/tcp.mtp")
}

fn messages() -> Arc<Program> {
    program("crates/cli/templates/receiver-driven/program.mtp")
}

/// An MTU that packets with 1024 bytes of payload fill: with a larger one, a flow's ideal is of larger packets.
const FITS: u32 = 1100;

fn verbs() -> Arc<Program> {
    program("protocols/rocev2/rocev2.mtp")
}

fn setup(shape: &str, kind: Kind, octets: u64) -> Setup {
    let links = Links { rate_bps: 10 * GBIT, core_rate_bps: 10 * GBIT, delay_ns: 1000 };
    Setup {
        topology: Topology::named(shape, &links).expect("a topology"),
        queueing: Queueing::default(),
        workload: Workload { kind, between: None, sizes: Sizes::Fixed(octets), count: 1 },
        background: None,
        seed: 7,
        mtu: 1500,
        message: 65_536,
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
        params: Vec::new(),
        limit: 60 * GBIT,
        stop: Stop::default(),
    }
}

fn interpreted(program: &Arc<Program>, setup: &Setup) -> Results {
    run(program, &Engine::Interpreter, setup, None).expect("a setup that can be simulated")
}

fn whole(results: &Results) {
    let failures = results.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let fast = results.ended().find(|f| f.slowdown().is_none_or(|s| s < 1.0));
    assert!(fast.is_none(), "faster than octets can be: {fast:?}");
}

#[test]
fn flows_arrive_whole_over_every_topology() {
    for shape in ["pair", "dumbbell:2", "star:5", "leaf-spine:2,2,2", "fat-tree:4"] {
        for program in [stream(), messages(), verbs()] {
            let mut setup = setup(shape, Kind::Permutation, 50_000);
            setup.workload.count = 2;
            let results = interpreted(&program, &setup);
            whole(&results);
            assert_eq!(results.flows.len() as u32, setup.topology.hosts * 2, "{shape}");
        }
    }
}

#[test]
fn flows_follow_each_other_on_connections_that_are_kept() {
    let setup = Setup { keep: true, ..setup("star:4", Kind::Closed(2), 9_000) };
    let setup = Setup { workload: Workload { count: 60, ..setup.workload.clone() }, ..setup };
    let (kept, apart) =
        (interpreted(&stream(), &setup), interpreted(&stream(), &Setup { keep: false, ..setup }));
    whole(&kept);
    whole(&apart);
    assert!(kept.packets < apart.packets, "connections were made for each flow");
}

/// One message at a time waits for its acknowledgement: a round trip each.
#[test]
fn as_many_messages_are_under_way_as_it_says() {
    let transport = program("protocols/message-transport/message-transport.mtp");
    let known = Setup { message: 1_000, ..setup("pair", Kind::Incast(1), 64_000) };
    let ended = |outstanding| {
        let results = interpreted(&transport, &Setup { outstanding, ..known.clone() });
        whole(&results);
        results.ended_at
    };
    let [one, two, eight, default] = [Some(1), Some(2), Some(8), None].map(ended);
    assert!(one > 64 * 2_000 && 2 * one > 3 * two && two > eight, "{one} {two} {eight}");
    assert_eq!(eight, default);
    let refused = run(&stream(), &Engine::Interpreter, &Setup { outstanding: Some(2), ..known }, None);
    assert!(refused.is_err_and(|e| e.contains("--outstanding")));
}

#[test]
fn queue_pairs_carry_one_flow_after_another() {
    let setup = Setup { mtu: FITS, ..setup("star:4", Kind::Closed(3), 9_000) };
    let setup = Setup { workload: Workload { count: 90, ..setup.workload.clone() }, ..setup };
    let kept = Setup { keep: true, ..setup.clone() };
    whole(&interpreted(&verbs(), &setup));
    whole(&interpreted(&verbs(), &kept));
    // Flows of several messages, and more flows to one host than there are queue pairs.
    let many = Setup { message: 4_096, ..self::setup("pair", Kind::AllToAll, 50_000) };
    let at_once = (0..40).map(|n| Flow {
        source: n % 2,
        destination: 1 - n % 2,
        octets: 50_000,
        start: Start::At(0),
        background: false,
    });
    whole(&interpreted(
        &verbs(),
        &Setup {
            workload: Workload { kind: Kind::Given(at_once.collect()), ..many.workload.clone() },
            ..many
        },
    ));
}

/// Too few queue pairs: what cannot be carried is told to have failed, and what can arrives.
#[test]
fn flows_without_a_queue_pair_fail() {
    let program = verbs();
    let defaults: Vec<u64> =
        program.params.iter().map(|p| if p.name == "max_pairs" { 2 } else { p.default }).collect();
    let setup = Setup { params: defaults, limit: GBIT, ..setup("star:5", Kind::Incast(4), 9_000) };
    let results = interpreted(&program, &setup);
    assert_eq!((results.ended().count(), results.failures().len()), (2, 2), "{:?}", results.failures());
}

/// Each asks the others for more than any has room for: none waits for one that waits for it.
#[test]
fn hosts_with_little_room_serve_each_other() {
    let program = program("protocols/homa/homa.mtp");
    let params = program.params.iter().map(|p| if p.name == "max_rpcs" { 4 } else { p.default }).collect();
    let setup = setup("star:4", Kind::Closed(20), 20_000);
    let workload = Workload { count: 160, ..setup.workload.clone() };
    whole(&interpreted(&program, &Setup { workload, params, message: 20_000, ..setup }));
}

#[test]
fn interpreter_and_compiled_core_give_the_same_results() {
    for program in [stream(), messages(), verbs()] {
        let library = shared_library(&program, Tracing::Off).expect("the C compiles");
        let mut incast = setup("star:6", Kind::Incast(5), 60_000);
        incast.queueing.octets = 30_000;
        let spray = Queueing { paths: Paths::Spray, ..Queueing::default() };
        let poisson = Setup { queueing: spray, ..setup("fat-tree:4", Kind::Poisson(300_000), 5_000) };
        let poisson = Setup { workload: Workload { count: 80, ..poisson.workload.clone() }, ..poisson };
        for setup in [incast, poisson] {
            let core = CompiledProgram::load(&library.path, &program).expect("it loads");
            let compiled = run(&program, &Engine::Compiled(core), &setup, None).expect("a run");
            let reference = interpreted(&program, &setup);
            whole(&reference);
            assert_eq!(reference, compiled);
        }
    }
}

#[test]
fn switches_mark_and_cut_what_they_have_no_room_for() {
    let to_hosts = |results: &Results| {
        results.tiers.iter().find(|t| t.tier == Tier::ToHost).map(|t| t.counters).expect("ports to hosts")
    };
    let mut full = setup("star:6", Kind::Incast(5), 200_000);
    full.queueing.octets = 20_000;
    let dropped = to_hosts(&interpreted(&stream(), &full));
    assert!(dropped.dropped > 0 && dropped.peak <= 20_000, "{dropped:?}");
    // What is left of a packet has no right checksum of its own: the ends see it as lost, and still get everything.
    full.queueing.trim = Some(Trim { octets: 64, dscp: 56, room: 20_000, back: None });
    let results = interpreted(&stream(), &full);
    whole(&results);
    let cut = to_hosts(&results);
    assert!(cut.trimmed > 0 && cut.dropped == 0, "{cut:?}");
}

#[test]
fn nothing_is_dropped_where_links_pause() {
    let mut full = setup("leaf-spine:2,2,3", Kind::Incast(5), 300_000);
    full.queueing.octets = 600_000;
    full.queueing.pause = Some(Pause { octets: 20_000 });
    whole(&interpreted(&verbs(), &full));
    let results = interpreted(&stream(), &full);
    whole(&results);
    let all = |of: fn(&PortCounters) -> u64| results.tiers.iter().map(|t| of(&t.counters)).sum::<u64>();
    assert!(all(|c| c.pauses) > 0 && all(|c| c.dropped) == 0, "{:?}", results.tiers);
    // What pauses leaves its hosts later: at no switch does more wait than came before its links heard of it.
    let most = results.tiers.iter().filter(|t| t.tier != Tier::FromHost).map(|t| t.counters.peak).max();
    assert!(most.is_some_and(|octets| octets < 5 * 30_000), "{most:?}");
    full.queueing.pause = None;
    full.queueing.octets = 60_000;
    assert!(interpreted(&stream(), &full).tiers.iter().any(|t| t.counters.dropped > 0));
}

#[test]
fn more_gaps_than_can_be_told_apart_get_filled() {
    // Slow start into a queue that is full: every other packet of a window is dropped.
    let (program, setup) = (stream(), setup("fat-tree:4", Kind::Permutation, 2_000_000));
    let library = shared_library(&program, Tracing::Off).expect("the C compiles");
    let core = CompiledProgram::load(&library.path, &program).expect("it loads");
    whole(&run(&program, &Engine::Compiled(core), &setup, None).expect("a run"));
}

#[test]
fn losses_on_wires_are_made_good() {
    let mut setup = setup("dumbbell:2", Kind::Permutation, 300_000);
    setup.topology.faults_mut().for_each(|it| it.always(|faults| faults.loss_ppm = 10_000));
    setup.topology.wires.iter_mut().for_each(|wire| wire.delay_ns = [500, 20_000]);
    for program in [stream(), verbs()] {
        let results = interpreted(&program, &setup);
        whole(&results);
        assert!(results.tiers.iter().any(|t| t.counters.faults.lost > 0));
    }
}

#[test]
fn workloads_begin_when_and_with_whom_they_say() {
    let mut known = setup("star:4", Kind::Poisson(500_000), 0);
    known.workload = Workload { sizes: Sizes::known("w2").expect("W2"), count: 200, ..known.workload };
    for (program, mtu) in [(messages(), 1500), (verbs(), FITS)] {
        let results = interpreted(&program, &Setup { mtu, ..known.clone() });
        whole(&results);
        let buckets = results.slowdowns(10);
        assert_eq!(buckets.iter().map(|b| b.flows).sum::<usize>(), 200);
        assert!(buckets.iter().all(|b| b.p50 >= 1.0 && b.p50 <= b.p99 && b.p99 <= b.most), "{buckets:?}");
    }
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let engine = Engine::Interpreter;
    let few = setup("star:3", Kind::Incast(3), 100);
    assert!(run(&stream(), &engine, &few, None).is_err_and(|e| e.contains("3")));
    let frames = program("protocols/synproxy/synproxy.mtp");
    assert!(run(&frames, &engine, &setup("pair", Kind::Permutation, 100), None).is_err());
}

/// What no machine could simulate is refused before anything is made of it, with the limit.
#[test]
fn too_much_is_refused_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("writable");
    let shape = |hosts: &str, switches: &str, ends: &str| {
        format!(
            "hosts = {hosts}\nswitches = {switches}\n[[links]]\nends = {ends}\nrate = \"1Gbps\"\ndelay = \"1us\"\n"
        )
    };
    write("hosts.toml", &shape("4000000000", "1", "[\"h0..h3999999999\", \"s0\"]"));
    write("switches.toml", &shape("2", "4294967295", "[\"h0..h1\", \"s0..s4000000000\"]"));
    write("links.toml", &shape("60000", "60000", "[\"h0..h59999\", \"s0..s59999\"]"));
    write("flows.csv", &format!("0,0,1,{}\n", u64::MAX));
    for (args, limit) in [
        (&["--topology", "hosts.toml"][..], "65000"),
        (&["--topology", "switches.toml"], "65000"),
        (&["--topology", "links.toml"], "1000000"),
        (&["--topology", "leaf-spine:60000,60000,1"], "1000000"),
        (&["--topology", "pair", "--workload", "trace:flows.csv"], "17592186044416"),
        (&["--topology", "pair", "--bytes", "18446744073709551615B"], "17592186044416"),
        (&["--topology", "pair", "--delay", "18446744073s"], "3600000000000"),
        (&["--topology", "star:4", "--workload", "closed:4000000000"], "10000000"),
        (&["--bytes", "18446744073709551615B"], "17592186044416"),
        (&["--app", "idle", "--count", "4000000000"], "10000000"),
        (&["--app", "request-response", "--count", "4000000000000", "--bytes", "1GB"], "17592186044416"),
    ] {
        let (well, _, said) = sim(args, dir.path());
        assert!(!well && said.contains(limit) && !said.contains("panicked"), "{args:?}: {said}");
    }
}

fn sim(args: &[&str], dir: &Path) -> (bool, Vec<u8>, String) {
    let mut command = Command::new(carrick());
    let program = root().join("protocols/tcp/tcp.mtp");
    let done = command.arg("sim").arg(program).args(args).current_dir(dir).output().expect("carrick runs");
    (done.status.success(), done.stdout, String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn the_same_comes_out_however_many_run_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = |jobs| {
        let common =
            "--topology leaf-spine:2,2,2 --workload poisson:40% --sizes 1KB..20KB --flows 40 --rate 1Gbps";
        let rest = format!("{common} --seeds 5 --csv out.csv --format json --jobs {jobs}");
        rest.split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    let outputs = [1, 3].map(|jobs| {
        let args = args(jobs);
        let (well, json, said) = sim(&args.iter().map(String::as_str).collect::<Vec<_>>(), dir.path());
        assert!(well, "{said}");
        (json, std::fs::read_to_string(dir.path().join("out.csv")).expect("a table"))
    });
    assert_eq!(outputs[0], outputs[1]);
    let (json, csv) = &outputs[0];
    let json: serde_json::Value = serde_json::from_slice(json).expect("JSON");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(5));
    assert!(
        csv.starts_with("# carrick ") && csv.contains("\n# program ") && csv.contains("\n# arguments sim ")
    );
    assert_eq!(csv.lines().filter(|l| !l.starts_with('#')).count(), 1 + 5 * 40);
}

#[test]
fn losses_behind_2_gib_are_made_good_without_a_timeout() {
    let dir = tempfile::tempdir().expect("a folder");
    // The first loss comes when serial numbers have gone half their way round since the last one. Without selective acknowledgements, how
    // far recovery goes is such a number.
    let options = "--topology pair --workload all-to-all@h0:h1 --rate 10Gbps --delay 10us --bytes 2300MB --without sack --compiled --fast --format json --link-fault";
    let mut args: Vec<&str> = options.split(' ').collect();
    args.push("h0:h1: loss=1% @ 1820ms..1821ms");
    let (well, out, said) = sim(&args, dir.path());
    assert!(well, "{said}");
    let out: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let run = &out["runs"][0];
    let lost = run["queues"]["from hosts"]["lost"].as_u64().expect("a count");
    // A timeout takes at least 200 ms.
    assert!(
        lost > 0 && run["ended_at_ns"].as_u64().is_some_and(|at| at < 1_930_000_000),
        "{lost} lost: {run}"
    );
}

/// Runs a command; prints the most memory in KiB that it had, or one that it ran.
const MEMORY: &str = "import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";

/// How many KiB a simulation of TCP takes, compiled.
fn memory_of(options: &str) -> u64 {
    let dir = tempfile::tempdir().expect("a folder");
    let run = || -> u64 {
        let mut command = Command::new("python3");
        command.args(["-c", MEMORY]).arg(carrick()).arg("sim").arg(root().join("protocols/tcp/tcp.mtp"));
        let done = command.arg("--compiled").args(options.split(' ')).current_dir(dir.path()).output();
        let done = done.expect("python3 runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().parse().expect("a number")
    };
    // The first run may have to compile the core, which takes memory too.
    run().min(run())
}

#[test]
fn flows_that_are_over_keep_no_bytes() {
    if lacks("python3") {
        return;
    }
    // Connections stay in TIME-WAIT until the run is over.
    let of_flows = |flows: u64| {
        let network = "--topology fat-tree:4 --rate 10Gbps --delay 1us --workload poisson:40% --sizes 50KB";
        memory_of(&format!("{network} --flows {flows}"))
    };
    let (few, many) = (of_flows(400), of_flows(3200));
    assert!(many.saturating_sub(few) < (3200 - 400) * 50 / 3, "{few} KiB, then {many} KiB");
}

#[test]
fn what_a_core_reserves_takes_no_memory_until_it_is_used() {
    if lacks("python3") {
        return;
    }
    let of_slots = |slots: u64| memory_of(&format!("--bytes 100KB --set max_conns={slots}"));
    let (few, many) = (of_slots(64), of_slots(20_000));
    // Each slot has room for 64 KiB at least, twice.
    assert!(many.saturating_sub(few) < 20_000 * 128 / 20, "{few} KiB, then {many} KiB");
}

#[test]
fn a_topology_comes_from_a_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let shape = "hosts = 3\nswitches = 1\n[[links]]\nends = [\"h0..h2\", \"s0\"]\nrate = \"1Gbps\"\ndelay = \"1us\"\nback = \"5us\"\n";
    std::fs::write(dir.path().join("three.toml"), shape).expect("writable");
    std::fs::write(dir.path().join("flows.csv"), "0,0,2,4000\n1000,1,2,4000\n").expect("writable");
    let (well, out, said) =
        sim(&["--topology", "three.toml", "--workload", "trace:flows.csv", "--format", "json"], dir.path());
    let out: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert!(well && out["runs"][0]["ended"] == 2, "{out} {said}");
    // Only packets from the switch are lost, or only those to it.
    for (loss, back, from_hosts, to_hosts) in [("0%", "20%", false, true), ("20%", "0%", true, false)] {
        let lossy = format!("{shape}loss = \"{loss}\"\nloss_back = \"{back}\"\n");
        std::fs::write(dir.path().join("lossy.toml"), lossy).expect("writable");
        let options = ["--topology", "lossy.toml", "--workload", "trace:flows.csv", "--format", "json"];
        let (well, out, said) = sim(&options, dir.path());
        let out: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        let lost = |tier: &str| out["runs"][0]["queues"][tier]["lost"].as_u64().expect("a number") > 0;
        assert!(well, "{said}");
        assert_eq!((lost("from hosts"), lost("to hosts")), (from_hosts, to_hosts), "{out}");
    }
    std::fs::write(dir.path().join("three.toml"), shape.replace("h0..h2", "h0..h7")).expect("writable");
    let (well, _, said) = sim(&["--topology", "three.toml"], dir.path());
    assert!(!well && said.contains("h0..h7"), "{said}");
}
