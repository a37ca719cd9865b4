// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every program in the simulator: the compiled core against the interpreter, sweeps over random networks, many idle
//! connections. A failing seed prints the command that replays it.

use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compiled::shared_library;
use carrick_driver::{Choice, compile_choice, compile_file, params};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::app::Messages;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::diff;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Nobody;
use carrick_sim::scenario::Engine;
use carrick_sim::trace::{Form, Head, Writer};
use carrick_sim::{Faults, Report, Scenario, run};
use carrick_tests::build::root;
use carrick_tests::programs::protocols;
use carrick_tests::seeds::seeds;
use serde_json::Value;

const SECOND: u64 = 1_000_000_000;

/// Every program under `protocols/` that runs at an end, with its path below the root: the file that its folder is named for.
fn programs() -> Vec<(String, Arc<Program>)> {
    let files = protocols();
    assert!(!files.is_empty());
    files
        .into_iter()
        .map(|path| {
            let shown = path.strip_prefix(root()).expect("below the root").display().to_string();
            let compiled = compile_file(&path).expect("readable");
            (shown, compiled.program.expect("a program without errors"))
        })
        .filter(|(_, program)| program.in_network.is_none())
        .collect()
}

fn load(program: &Program, tracing: Tracing) -> (Built, Rc<CompiledProgram>) {
    let library = shared_library(program, tracing).expect("the C compiles");
    let compiled = CompiledProgram::load(&library.path, program).expect("it loads");
    (library, compiled)
}

fn simulate(program: &Arc<Program>, engine: &Engine, scenario: &Scenario) -> Report {
    run(program, engine, scenario, &mut Nobody, false).expect("a program with a stream interface")
}

#[test]
fn a_trace_tells_what_became_of_each_packet_and_which_line_acted() {
    let (_, program) = programs().swap_remove(0);
    let mut octets = Vec::new();
    let mut trace = Writer::new(Form::Json, &mut octets, &Head::new(&program, 4, "a test"));
    let link = LinkConfig {
        queue_packets: 8,
        faults: LinkFaults { loss_ppm: 50_000, duplicate_ppm: 50_000, ..LinkFaults::default() }.into(),
        ..LinkConfig::default()
    };
    run(&program, &Engine::Interpreter, &Scenario::bulk(4, link, 300_000), &mut trace, true)
        .expect("it runs");
    trace.finish().expect("memory takes all");
    let text = String::from_utf8(octets).expect("text");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |what: &'static str| lines.iter().filter(move |l| l["what"] == what);
    let mut planned = Vec::new();
    for line in of("forwarded") {
        let detail = &line["detail"];
        assert!(!detail["left"].is_null() || detail["arrival"].is_null(), "what never left never arrives");
        let moments = [&detail["arrival"], &detail["copy"]].into_iter().filter_map(Value::as_u64);
        planned.extend(moments.map(|at| (at, detail["packet"].as_u64())));
    }
    let end = of("arrived").filter_map(|l| l["t"].as_u64()).max().expect("something arrived");
    let mut arrived: Vec<_> =
        of("arrived").map(|l| (l["t"].as_u64().unwrap_or(0), l["detail"]["packet"].as_u64())).collect();
    planned.retain(|(at, _)| *at <= end);
    planned.sort_unstable();
    arrived.sort_unstable();
    assert_eq!(planned, arrived);
    assert_eq!(of("sent").count(), of("forwarded").count());
    for line in of("instruction").filter(|l| l["detail"]["name"] == "pkt_gen") {
        let at = line["detail"]["line"].as_u64().expect("the interpreter tells") as usize;
        let source =
            std::fs::read_to_string(line["detail"]["file"].as_str().expect("a file")).expect("readable");
        assert!(source.lines().nth(at - 1).expect("a line").contains("pkt_gen"), "line {at}");
    }
}

#[test]
fn interpreter_and_compiled_core_agree_event_by_event() {
    for (file, program) in programs() {
        let (_library, compiled) = load(&program, Tracing::On);
        for seed in 1..=40 {
            let result = diff(&program, &compiled, &Scenario::random(seed)).expect("it runs");
            let again = format!("carrick diff {file} --seed {seed} --seeds 1");
            assert_eq!(result.difference, None, "{again}");
            assert!(result.failures.is_empty(), "{again}: {:?}", result.failures);
            assert!(result.compared > 0, "{again} compared nothing");
        }
    }
}

const FAULTS: [(&str, Faults); 4] =
    [("drawn", Faults::Drawn), ("every", Faults::Every), ("queues", Faults::Queues), ("cut", Faults::Cut)];

/// What a protocol for messages promises, in its folder; other interfaces promise the same for all programs.
fn delivers_exactly_once(file: &str) -> bool {
    let requirements = root().join(file).with_file_name("requirements.toml");
    let Ok(text) = std::fs::read_to_string(requirements) else { return false };
    let table: toml::Table = text.parse().expect("well-formed TOML");
    match table.get("promise").and_then(|promise| promise.as_str()) {
        Some("exactly once") => true,
        Some(other) => panic!("{file}: {other:?} is no promise that is known here"),
        None => false,
    }
}

/// Each message whose `send` completed arrived, once; one whose `send` failed may have.
fn not_once(report: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    for (from, to, name) in [(0, 1, "server"), (1, 0, "client")] {
        for sender in &report.connections[from] {
            let (n, Messages { sent, failed, .. }) = (sender.number, sender.messages);
            let peer = report.connections[to].iter().find(|record| record.number == n);
            let Messages { received, again, .. } = peer.map(|record| record.messages).unwrap_or_default();
            if again > 0 || !(sent..=sent + failed).contains(&received) {
                wrong.push(format!(
                    "connection {n}: the {name} received {received} messages of {sent}, {again} again"
                ));
            }
        }
    }
    wrong
}

/// Streams and verbs: every byte once, or an error. RPCs: no request executed twice, each completed. Messages: as the protocol says.
/// `CARRICK_SEEDS` is how many seeds there are of each kind of faults.
#[test]
fn in_hundreds_of_bad_networks_promises_are_kept_or_an_error_is_told() {
    let seeds = seeds(200);
    let mut wrong = Vec::new();
    for (file, program) in programs() {
        let once = delivers_exactly_once(&file);
        let (_library, compiled) = load(&program, Tracing::Off);
        let engine = Engine::Compiled(compiled);
        for ((name, faults), seed) in FAULTS.iter().flat_map(|of| (1..=seeds).map(move |seed| (of, seed))) {
            let scenario = Scenario::with_faults(seed, *faults, &program);
            let mut report = simulate(&program, &engine, &scenario);
            if once && report.damage.is_empty() {
                report.failures.append(&mut not_once(&report));
            }
            let again = format!("carrick sim {file} --app random --faults {name} --seed {seed}");
            wrong.extend(report.failures.iter().map(|failure| format!("{again}: {failure}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The command, the interpreter and the compiled core agree on which parameters a program accepts.
#[test]
fn requirements_hold_on_every_engine() {
    let path = root().join("tests/programs/required.mtp");
    let program = compile_file(&path).expect("readable").program.expect("no errors");
    let (_library, compiled) = load(&program, Tracing::Off);
    let mut refused = 0;
    for (low, high, slack, strict) in [
        (5, 10, 0, 1),
        (10, 5, 0, 1),
        (10, 5, 0, 0),
        (5, 10, 6, 1),
        (5, 10, 5, 1),
        (7, 7, 0, 1),
        (7, 7, 0, 0),
    ] {
        let settings = [
            format!("low={low}ms"),
            format!("high={high}ms"),
            format!("slack={slack}ms"),
            format!("strict={}", strict == 1),
        ];
        let met = strict == 0 || (low < high && low + slack <= high);
        let command = params::values(&program, &settings);
        let config = Config {
            params: [low, high, slack].map(|n| n * 1_000_000).into_iter().chain([strict]).collect(),
            ..Config::default()
        };
        let interpreted = carrick_interp::Core::new(program.clone(), &config).map(drop);
        let what = format!("{settings:?}: {command:?}, {interpreted:?}");
        assert_eq!(command.is_ok(), met, "{what}");
        assert_eq!(interpreted.is_ok(), met, "{what}");
        assert_eq!(compiled.footprint(&config) > 0, met, "{what}");
        refused += usize::from(!met);
    }
    assert_eq!(refused, 3);
}

/// Also where an acknowledgement with all that it could tell is longer than a packet.
#[test]
fn losses_are_repaired_whatever_the_mtu_is() {
    let link = LinkConfig {
        faults: LinkFaults { loss_ppm: 30_000, reorder_ppm: 30_000, ..LinkFaults::default() }.into(),
        ..LinkConfig::default()
    };
    for (name, mtus) in
        [("tcp", &[68, 72, 76, 80, 100, 296, 576, 1500][..]), ("quic-lite", &[200, 300, 576, 1280])]
    {
        let path = root().join(format!("protocols/{name}/{name}.mtp"));
        let program = compile_file(&path).expect("readable").program.expect("no errors");
        for &mtu in mtus {
            for seed in 1..=2 {
                let mut scenario = Scenario::request_response(seed, link.clone(), 20_000, 20_000, 2);
                scenario.mtu = mtu;
                let report = simulate(&program, &Engine::Interpreter, &scenario);
                assert_eq!(report.failures, Vec::<String>::new(), "{name}, MTU {mtu}, seed {seed}");
                let too_long =
                    report.counters.each_ref().map(|host| host[carrick_ir::counter("tx_too_long")]);
                assert_eq!(too_long, [0, 0], "{name}, MTU {mtu}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_hundred_thousand_connections_stay_open() {
    const COUNT: u64 = 100_000;
    let settings = |program: &Program, conns: u64| {
        let small = ["snd_buf=4096", "rcv_buf=4096", "rcv_max=4096", "peer_share=0"].map(str::to_owned);
        let all = [&[format!("max_conns={conns}")][..], &small].concat();
        params::values(program, &all).expect("parameters of the program")
    };
    // What is kept of each segment that is out takes most of it, and the plain RFC 9293 keeps nothing.
    let built = |without: &str, most: u64| {
        let without = without.split_whitespace().map(str::to_owned).collect();
        let choice = Choice { without, ..Choice::default() };
        let path = root().join("protocols/tcp/tcp.mtp");
        let program = compile_choice(&path, &choice).expect("readable").program.expect("no errors");
        let (library, compiled) = load(&program, Tracing::Off);
        let footprint = |conns| {
            let params = settings(&program, conns);
            compiled.footprint(&Config { params, ..Config::default() }) as u64
        };
        let each = (footprint(COUNT) - footprint(COUNT / 2)) / (COUNT / 2) - 2 * 4096;
        assert!(each <= most, "an idle connection costs {each} octets beside its buffers");
        (library, program, compiled)
    };
    built("", 8 * 1024);
    let (_library, program, compiled) = built("sack ecn cubic path_mtu", 1536);

    let link = LinkConfig { rate_bps: 10_000_000_000, delay_ns: 100_000, ..LinkConfig::default() };
    let mut scenario = Scenario::idle(1, link, COUNT);
    scenario.params = settings(&program, COUNT);
    scenario.drain = 600 * SECOND;
    let report = simulate(&program, &Engine::Compiled(compiled), &scenario);
    assert!(report.failures.is_empty(), "{:?}", &report.failures[..report.failures.len().min(3)]);
    assert!(report.open_contexts.iter().all(|n| *n as u64 >= COUNT), "{:?}", report.open_contexts);
}

#[test]
fn transfers_take_the_time_that_they_should() {
    let (_, program) = programs().into_iter().find(|(f, _)| f.ends_with("tcp/tcp.mtp")).expect("tcp");
    let completion = |loss_ppm, octets, seed| {
        let link = LinkConfig {
            delay_ns: 10_000_000,
            faults: LinkFaults { loss_ppm, ..LinkFaults::default() }.into(),
            ..LinkConfig::default()
        };
        let report = simulate(&program, &Engine::Interpreter, &Scenario::bulk(seed, link, octets));
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        report.completion_ns().expect("it completed") / 1_000_000
    };
    // 10 MB at 100 Mbit/s take 0.8 s on the wire; slow start and a window of 256 KiB over 20 ms add little.
    let clean = completion(0, 10_000_000, 1);
    assert!((800..1200).contains(&clean), "without loss: {clean} ms");
    // Mathis: MSS/RTT * 1.22/sqrt(0.01) is 0.9 MB/s, so 2.2 s. CUBIC with selective acknowledgements is well ahead of it, and slow start is over
    // late: its losses are those of this seed.
    let lossy = completion(10_000, 2_000_000, 1);
    assert!((400..1_500).contains(&lossy), "with 1 % loss: {lossy} ms");
}

/// The path takes less than the devices do: reports cost little, and silence some retransmission timeouts.
#[test]
fn segments_fit_a_narrow_path() {
    for (features, silent, most_ms) in
        [("path_mtu", false, 400), ("path_mtu", true, 4_000), ("path_mtu=searched", false, 4_000)]
    {
        let mut choice = Choice::default();
        choice.add(features);
        let compiled = compile_choice(&root().join("protocols/tcp/tcp.mtp"), &choice).expect("readable");
        let program = compiled.program.expect("a program without errors");
        for path_mtu in [1400, 1000, 576] {
            let link = LinkConfig {
                delay_ns: 10_000_000,
                faults: LinkFaults { path_mtu: Some(path_mtu), silent, ..LinkFaults::default() }.into(),
                ..LinkConfig::default()
            };
            let report = simulate(&program, &Engine::Interpreter, &Scenario::bulk(1, link, 300_000));
            let what = format!("{features}, {path_mtu} bytes, silent: {silent}");
            assert!(report.failures.is_empty(), "{what}: {:?}", report.failures);
            let took = report.completion_ns().expect("it completed") / 1_000_000;
            assert!(took < most_ms, "{what}: {took} ms");
            let too_long = report.links[0].faults.too_long;
            assert!((1..30).contains(&too_long), "{what}: {too_long} packets were too long");
        }
    }
}
