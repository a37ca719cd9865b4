// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one client can hold of a server: slots of connections that are over, places of connections that say nothing, and the
//! receive buffers of idle connections. Others are served meanwhile.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use carrick_driver::cc::Tracing;
use carrick_driver::compiled::shared_library;
use carrick_driver::{compile_file, params};
use carrick_ir::{Program, counter};
use carrick_sim::app::Plan;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::core::Record;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::{Nobody, Observer};
use carrick_sim::scenario::Engine;
use carrick_sim::{Report, Scenario, run};
use carrick_tests::build::{host, root};
use carrick_tests::in_kernel::run_in_kernel;
use carrick_tests::net::{DEVICE, End, Net, lacks, skip};
use carrick_tests::running::started;

const TCP: &str = "protocols/tcp/tcp.mtp";
const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn tcp() -> Arc<Program> {
    compile_file(&root().join(TCP)).expect("readable").program.expect("no errors")
}

fn simulated(program: &Arc<Program>, scenario: &Scenario, settings: &[&str]) -> Report {
    let library = shared_library(program, Tracing::Off).expect("the C compiles");
    let compiled = CompiledProgram::load(&library.path, program).expect("it loads");
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let scenario =
        Scenario { params: params::values(program, &settings).expect("settings"), ..scenario.clone() };
    let report = run(program, &Engine::Compiled(compiled), &scenario, &mut Nobody, false).expect("it runs");
    assert_eq!(report.failures, Vec::<String>::new());
    report
}

/// One after the other, from 1; each begins so many nanoseconds after the one before.
fn in_turn(scenario: &Scenario, count: u64, every: u64) -> Vec<Plan> {
    let plan = &scenario.plans[0];
    (0..count).map(|i| Plan { number: i + 1, connection: i + 1, start: i * every, ..plan.clone() }).collect()
}

/// The program has 1024 slots, and TIME-WAIT lasts a minute.
#[test]
fn connections_that_are_over_give_their_slots_to_new_ones() {
    let mut scenario = Scenario::request_response(3, LinkConfig::default(), 40, 300, 1);
    scenario.plans = in_turn(&scenario, 1500, 10 * MS);
    let report = simulated(&tcp(), &scenario, &[]);
    let of = |name: &str| report.counters.iter().map(|host| host[counter(name)]).sum::<u64>();
    assert!(of("ctx_reclaimed") >= 1500 - 1024, "{} were reclaimed", of("ctx_reclaimed"));
    assert_eq!(of("ctx_refused"), 0);
}

/// The last record of a context of each host.
struct Last {
    context: u32,
    words: [Vec<u64>; 2],
}

impl Observer for Last {
    fn record(&mut self, _: u64, host: usize, record: &Record) {
        const CONTEXT: u32 = 2;
        if record.kind == CONTEXT && record.number == self.context {
            self.words[host] = record.words[1..].to_vec();
        }
    }
}

/// Networks of all kinds: whatever ends a connection gives its slot back, once.
#[test]
fn no_slot_is_counted_of_a_connection_that_is_over() {
    let program = tcp();
    let context = program.contexts.iter().position(|ctx| ctx.name == "slots").expect("it counts slots");
    for seed in 1..=40 {
        let scenario = Scenario::random(seed);
        let mut last = Last { context: context as u32, words: [vec![], vec![]] };
        let report = run(&program, &Engine::Interpreter, &scenario, &mut last, true).expect("it runs");
        assert_eq!((report.failures, report.open_contexts), (vec![], [0, 1]), "seed {seed}");
        for words in last.words {
            assert!(!words.is_empty() && words.iter().all(|word| *word == 0), "seed {seed}: {words:?}");
        }
    }
}

/// Bits per second of a transfer that begins after 40 s, beside so many connections that had long windows and are idle. After
/// `idle` they give back a half of their buffers.
fn newcomer(beside: u64, idle: &str) -> f64 {
    const OCTETS: u64 = 20_000_000;
    let link = LinkConfig { delay_ns: 20 * MS, ..LinkConfig::default() };
    let mut scenario = Scenario::request_response(5, link.clone(), 3_000_000, 8, 2);
    let mut plans = in_turn(&scenario, beside, SECOND);
    for plan in &mut plans {
        // Between a request and the next one.
        plan.client.pause_first = 100 * SECOND;
    }
    let transfer = &Scenario::bulk(5, link, OCTETS).plans[0];
    plans.push(Plan { number: 100, connection: 100, start: 40 * SECOND, ..transfer.clone() });
    scenario.plans = plans;
    let report =
        simulated(&tcp(), &scenario, &["rcv_max=1MiB", "rcv_pool=4MiB", &format!("rcv_idle={idle}")]);
    let server = &report.connections[1];
    let record = server.iter().find(|record| record.number == 100).expect("it was accepted");
    let took = record.finished.expect("it ended") - 40 * SECOND;
    OCTETS as f64 * 8e9 / took as f64
}

#[test]
fn idle_connections_give_their_receive_buffers_to_a_newcomer() {
    let (alone, beside, held) = (newcomer(0, "1s"), newcomer(16, "1s"), newcomer(16, "1h"));
    assert!(beside >= alone * 0.8, "{beside:.0} bit/s beside idle connections, {alone:.0} alone");
    assert!(held < alone * 0.7, "{held:.0} bit/s where they give back nothing, {alone:.0} alone");
}

/// What a client sees of a server with so many slots; DIR in `app` is a folder with one small file. None: it does not serve.
fn seen(net: &Net, mut command: Command, app: &str, slots: u32, what: &str) -> Option<String> {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("a"), "hello\n").expect("writable");
    let app = app.replace("DIR", &dir.path().display().to_string());
    let (running, mut lines) = started(command.args(["--app", &app, "--set", &format!("max_conns={slots}")]));
    lines
        .find(|line| line.starts_with("listening on port") || line.starts_with("error"))
        .filter(|line| line.starts_with("listening"))?;
    let saw = client(net, what);
    running.end();
    Some(saw)
}

/// As [`seen`], of a native server; None: this machine lacks something.
fn seen_natively(settings: &[&str], app: &str, slots: u32, what: &str) -> Option<String> {
    if lacks("python3") {
        return None;
    }
    let net = Net::tun()?;
    let mut command = native(&net);
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    Some(seen(&net, command, app, slots, what).expect("it serves"))
}

/// As [`seen`], of a server in the kernel; None: this machine lacks something.
fn seen_in_the_kernel(settings: &[&str], app: &str, slots: u32, what: &str) -> Option<String> {
    if lacks("python3") {
        return None;
    }
    let net = Net::kernel_on_both()?;
    let mut command = run_in_kernel(&net, &root().join(TCP));
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    let seen = seen(&net, command, app, slots, what);
    if seen.is_none() {
        skip("programs in the kernel");
    }
    seen
}

fn native(net: &Net) -> Command {
    let mut command = net.command(End::Ours, &host(TCP).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS)]);
    command
}

/// What a client of ours saw.
fn client(net: &Net, what: &str) -> String {
    const OTHER: &str = "10.77.0.4";
    net.ip(End::Peer, &format!("addr replace {OTHER}/24 dev {DEVICE}")).expect("an address");
    let script = root().join("tests/tests/protection/holding.py");
    let words = [Net::OURS, what, OTHER];
    let done = net.command(End::Peer, "python3").arg(script).args(words).output().expect("it runs");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

#[test]
fn a_native_server_of_32_slots_answers_200_requests_one_after_the_other() {
    let Some(seen) = seen_natively(&[], "http:DIR", 32, "in_turn") else { return };
    assert_eq!(seen, "200 of 200");
}

#[test]
fn a_server_in_the_kernel_of_32_slots_answers_200_requests_one_after_the_other() {
    let Some(seen) = seen_in_the_kernel(&[], "http:DIR", 32, "in_turn") else { return };
    assert_eq!(seen, "200 of 200");
}

/// Half of them say nothing, and half a part of a request, byte by byte.
#[test]
fn clients_that_say_nothing_are_closed_and_others_served() {
    let Some(seen) = seen_natively(&["peer_share=0"], "http:DIR,idle=1s", 32, "silent") else { return };
    assert_eq!(seen, "refused, then 200 OK; 32 of 32 closed");
}

#[test]
fn silent_clients_of_an_echo_are_closed_where_that_is_wanted() {
    let Some(seen) = seen_natively(&[], "echo:7,idle=1s", 32, "idle") else { return };
    assert_eq!(seen, "8 of 8 closed");
}

#[test]
fn a_key_value_store_without_slots_closes_who_is_idle_for_longest() {
    let Some(seen) = seen_natively(&["peer_share=0"], "kv:80,full=1s", 32, "full") else { return };
    assert_eq!(seen, "refused, then served; the first closed, the last open");
}

/// Of 32 slots, the share of a client that is alone.
const HELD: &str = "29 held, then ConnectionRefusedError; 200 OK elsewhere";

#[test]
fn a_native_server_serves_another_client_beside_one_that_holds_what_it_can_get() {
    let Some(seen) = seen_natively(&[], "http:DIR", 32, "crowd") else { return };
    assert_eq!(seen, HELD);
}

#[test]
fn a_server_in_the_kernel_serves_another_client_beside_one_that_holds_what_it_can_get() {
    let Some(seen) = seen_in_the_kernel(&[], "http:DIR", 32, "crowd") else { return };
    assert_eq!(seen, HELD);
}

/// Receive buffers that begin with 8 KiB, have 256 KiB at most, and grow from a pool of 1 MiB. Nobody gives back what is idle.
const POOL: [(&str, &str); 4] =
    [("rcv_buf", "8192"), ("rcv_max", "262144"), ("rcv_pool", "1048576"), ("rcv_idle", "1h")];

/// The longest window of a client with 48 connections that have taken much, and that of another client after it.
fn windows(seen: &str) -> (u32, u32) {
    let (first, other) = seen.split_once(' ').expect("two numbers");
    (first.parse().expect("a number"), other.parse().expect("a number"))
}

/// Of an echo server, whose clients' connections grow their windows.
type Seen = fn(&[&str], &str, u32, &str) -> Option<String>;

fn leaves_receive_buffers_to_another_client(of: Seen) {
    let with_share = |share: &str| {
        let mut settings: Vec<String> = POOL.iter().map(|(name, value)| format!("{name}={value}")).collect();
        settings.push(format!("peer_share={share}"));
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        of(&settings, "echo:7", 64, "pool").map(|seen| windows(&seen))
    };
    let (Some((first, other)), Some((_, without))) = (with_share("8"), with_share("0")) else { return };
    // How far a window grows in a short transfer depends on how fast the machine is: each round trip it is doubled, if it cannot have
    // all that it could use at once.
    assert!(first >= 32_768, "as long as there is enough: {first}");
    assert!(other > 8192 && without <= 8192, "{other} with shares, {without} without");
}

#[test]
fn a_native_server_leaves_receive_buffers_to_another_client() {
    leaves_receive_buffers_to_another_client(seen_natively);
}

#[test]
fn a_server_in_the_kernel_leaves_receive_buffers_to_another_client() {
    leaves_receive_buffers_to_another_client(seen_in_the_kernel);
}
