// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick verify --peers`: what protocols promise holds whatever a channel does, faults that are put into them are found, and the search
//! leaves nothing out.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use carrick_driver::compile::compile_file;
use carrick_interp::{Config, FAILED_CLAIMS_KEPT};
use carrick_ir::{Function, Program};
use carrick_peers::{Bounds, DAY_NS, Faults, Outcome, Promise, Setup, Via, explore};
use carrick_sim::core::{Completion, Core, FailedClaim, Record, Refused, Request};
use carrick_sim::diff::{Pace, diff_cores};
use carrick_sim::interpreted::Interpreted;
use carrick_tests::build::{carrick, root};
use carrick_tests::capture::packets;
use carrick_tests::command;
use carrick_tests::document::tables;
use carrick_tests::mutants::{self, changed};
use carrick_tests::programs;
use carrick_tests::running::wait_until_it_catches;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// What is asked, before what of.
const PEERS: [&str; 4] = ["verify", "--peers", "--seconds", "1000"];

fn said(args: &[&str]) -> (Option<i32>, String, String) {
    command::said(&root(), &[&PEERS[..], args].concat())
}

fn json(args: &[&str]) -> (Option<i32>, Value) {
    let (code, out, err) = said(&[args, &["--format", "json"]].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {args:?}\n{out}{err}")))
}

fn program(file: &str) -> Arc<Program> {
    compile_file(&root().join(file)).expect("readable").program.expect("the program is right")
}

/// A core that is another one for each input, which knows of the one before only what was saved.
struct Forgetful {
    cores: [Interpreted; 2],
    /// which of them has the state
    at: usize,
    saved: Vec<u8>,
    /// of those before
    counters: Vec<u64>,
    failed_before: Vec<FailedClaim>,
    /// of all of them
    failed: Vec<FailedClaim>,
}

impl Forgetful {
    fn new(program: &Arc<Program>, config: &Config) -> Result<Forgetful, String> {
        let core = || Interpreted::new(program.clone(), config);
        let counters = vec![0; carrick_ir::COUNTERS.len()];
        Ok(Forgetful {
            cores: [core()?, core()?],
            at: 0,
            saved: Vec::new(),
            counters,
            failed_before: Vec::new(),
            failed: Vec::new(),
        })
    }

    /// Something happens to the core that knows nothing but what was saved.
    fn with<T>(&mut self, now: u64, act: impl FnOnce(&mut Interpreted) -> T) -> T {
        let result = act(self.next(now));
        self.failed.clone_from(&self.failed_before);
        self.failed.extend_from_slice(self.cores[self.at].failed_claims());
        self.failed.truncate(FAILED_CLAIMS_KEPT);
        result
    }

    fn next(&mut self, now: u64) -> &mut Interpreted {
        self.failed_before.clone_from(&self.failed);
        self.saved.clear();
        let before = &mut self.cores[self.at];
        before.save(&mut self.saved);
        self.counters.iter_mut().zip(before.counters()).for_each(|(all, n)| *all += n);
        let mut records = Vec::new();
        before.take_trace(&mut records);
        assert!(records.is_empty(), "they are taken after each input");
        self.at = 1 - self.at;
        let rest = self.cores[self.at].restore(&self.saved, now).expect("it was saved so");
        assert!(rest.is_empty());
        &mut self.cores[self.at]
    }
}

impl Core for Forgetful {
    fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.with(now, |core| core.rx(packet, now))
    }

    fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.with(now, |core| core.rx_on(interface, packet, now))
    }

    fn tx_interface(&self) -> u32 {
        self.cores[self.at].tx_interface()
    }

    fn call(&mut self, call: usize, request: Request<'_>, now: u64) -> Result<(), Refused> {
        self.with(now, |core| core.call(call, request, now))
    }

    fn advance(&mut self, now: u64) -> Result<(), Refused> {
        self.with(now, |core| core.advance(now))
    }

    fn tx(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        self.with(now, |core| core.tx(out, now))
    }

    fn next_deadline_before(&self, before: u64) -> Option<u64> {
        self.cores[self.at].next_deadline_before(before)
    }

    fn next_completion(&mut self) -> Option<Completion> {
        self.cores[self.at].next_completion()
    }

    fn take_trace(&mut self, to: &mut Vec<Record>) {
        self.cores[self.at].take_trace(to);
    }

    fn counters(&self) -> Vec<u64> {
        let now = self.cores[self.at].counters();
        self.counters.iter().zip(now).map(|(before, n)| before + n).collect()
    }

    fn failed_claims(&self) -> &[FailedClaim] {
        &self.failed
    }

    fn open_contexts(&self) -> usize {
        self.cores[self.at].open_contexts()
    }

    fn change(&mut self, change: &Function, handle: u64, now: u64) -> Result<Option<Record>, String> {
        self.cores[self.at].change(change, handle, now)
    }
}

#[test]
fn a_core_that_is_saved_and_restored_goes_on_as_before() {
    let mut packets = 0;
    for path in programs::protocols().into_iter().chain(programs::of("tests/programs")) {
        let program = compile_file(&path).expect("readable").program.expect("the program is right");
        if program.interface.is_none() && program.in_network.is_none() {
            continue;
        }
        let made = program.clone();
        let mut make = move |config: &Config| Ok(Box::new(Forgetful::new(&made, config)?) as Box<dyn Core>);
        for seed in 1..=3 {
            let found = diff_cores(&program, &mut make, Pace::Asked, seed, 400);
            let found = found.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            assert_eq!(found.difference, None, "{}, seed {seed}", path.display());
            packets += found.packets;
        }
    }
    assert!(packets > 3000, "{packets} packets");
}

fn setup(file: &str, faults: Faults) -> Setup {
    let program = program(file);
    let params = Vec::new();
    Setup {
        programs: [program.clone(), program],
        params: [params.clone(), params],
        via: None,
        bytes: 2,
        answer: 1,
        message: 8,
        mtu: 1500,
        life_ns: 120_000_000_000,
        seed: 1,
        faults,
        promise: Promise::default(),
    }
}

fn explored(setup: &Setup, every_order: bool) -> Outcome {
    let bounds = Bounds {
        states: 5_000_000,
        time: Duration::from_secs(1000),
        virtual_ns: DAY_NS,
        jobs: 2,
        every_order,
    };
    explore(setup, &bounds, &AtomicBool::new(false), &|_| {}).expect("both ends can be made")
}

/// Of packets that do not depend on each other one order is explored: all that a run can come to is there all the same.
#[test]
fn orders_that_are_left_out_lead_nowhere_else() {
    for name in
        ["stop-and-wait", "small-tcp", "tcp", "homa", "ndp", "rocev2", "message-transport", "udp-retry"]
    {
        let file = format!("protocols/{name}/{name}.mtp");
        let faults = Faults { lose: 1, duplicate: 1, ..Faults::default() };
        let setup = setup(&file, faults);
        let (few, all) = (explored(&setup, false), explored(&setup, true));
        let says =
            |outcome: &Outcome| (outcome.ends, outcome.told, outcome.broken.clone(), outcome.cut.clone());
        assert_eq!(says(&few), says(&all), "{name}");
        assert!(few.states < all.states, "{name}: {} of {}", few.states, all.states);
    }
}

/// The same where a program is between the ends.
#[test]
fn orders_that_are_left_out_lead_nowhere_else_through_a_program_in_the_network() {
    for (name, via) in [("small-tcp", "synproxy"), ("tcp", "snoop"), ("message-transport", "message-wrapper")]
    {
        let file = |name: &str| format!("protocols/{name}/{name}.mtp");
        let faults = Faults { lose: 1, duplicate: u8::from(name != "tcp"), ..Faults::default() };
        let via = Some(Via { program: program(&file(via)), params: Vec::new() });
        let setup = Setup { via, bytes: 1, ..setup(&file(name), faults) };
        let (few, all) = (explored(&setup, false), explored(&setup, true));
        let says = |outcome: &Outcome| {
            (outcome.ends, outcome.told, outcome.broken.clone(), outcome.cut.clone(), outcome.idle)
        };
        assert_eq!(says(&few), says(&all), "{name}");
        assert!(!few.idle && few.states < all.states, "{name}: {} of {}", few.states, all.states);
    }
}

/// The same whatever the threads do.
#[test]
fn a_search_by_two_threads_finds_what_one_finds() {
    let changed = changed("protocols/udp-retry/udp-retry.mtp", &[]);
    let file = changed.path().join("protocols/udp-retry/udp-retry.mtp");
    let args = [file.to_str().expect("UTF-8"), "--lose", "1", "--delay", "1", "--dup", "1", "--reorder", "1"];
    let found = |jobs: &str| {
        let (code, mut found) = json(&[&args[..], &["-j", jobs]].concat());
        assert_eq!(code, Some(1));
        // The level in which it is found is not always explored to its end.
        found["seconds"] = Value::Null;
        found
    };
    assert_eq!(found("1"), found("2"));
}

/// Each is found, and the protocol without it is not.
#[test]
fn each_mutant_of_a_protocol_breaks_a_promise() {
    let mut count = 0;
    let mut fine = BTreeSet::new();
    for mutant in mutants::all() {
        let Some(options) = &mutant.peers else { continue };
        let folder = mutant.made();
        let [changed, plain] = [folder.path(), &root()].map(|folder| mutant.between(folder));
        let with = mutant.with.iter().flat_map(|with| ["--with", with]);
        let options: Vec<&str> = with.chain(options.split_whitespace()).chain(["-j", "2"]).collect();
        let asked = |programs: &[String]| {
            let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
            said(&[&programs[..], &options[..]].concat())
        };
        let (code, out, err) = asked(&changed);
        assert_eq!(code, Some(1), "{}:\n{out}{err}", mutant.what);
        if fine.insert((plain.clone(), options.join(" "))) {
            let (code, out, err) = asked(&plain);
            assert_eq!(code, Some(0), "{plain:?} {options:?}:\n{out}{err}");
        }
        count += 1;
    }
    assert!(count >= 43, "{count}");
}

/// The table of the book: each line is explored to its end, and nothing is broken.
#[test]
fn what_the_book_says_is_proved() {
    let page = std::fs::read_to_string(root().join("docs/verification.md")).expect("readable");
    let section = page.split("<!-- compared by: tests/tests/peers.rs -->").nth(1).expect("a table");
    let mut rows = tables(section).remove(0);
    assert!(rows.len() > 20, "{} lines", rows.len());
    for row in rows.drain(1..) {
        let [name, options, states, ends] = &row[..] else { panic!("{row:?}") };
        let name = name.trim_matches('`');
        let file = format!("protocols/{name}/{name}.mtp");
        let args: Vec<&str> = [file.as_str(), "-j", "2"]
            .into_iter()
            .chain(options.trim_matches('`').split_whitespace())
            .collect();
        let (code, found) = json(&args);
        assert_eq!(code, Some(0), "{args:?}: {found:#}");
        let counts = [&found["states"], &found["ends"]].map(|n| n.to_string());
        assert_eq!(counts, [states.clone(), ends.clone()], "{args:?}");
    }
}

#[test]
fn new_protocols_hold_what_they_promise() {
    let folder = tempfile::tempdir().expect("a folder");
    for (template, expected) in [
        ("stream", &[][..]),
        ("message", &["--expect", "all,once,order"]),
        ("receiver-driven", &["--expect", "all,once"]),
    ] {
        let place = folder.path().join(template);
        let made = Command::new(carrick()).arg("new").arg(&place).args(["--template", template]).output();
        assert!(made.expect("it starts").status.success());
        let file = place.join(template).with_extension("mtp");
        let (code, found) = json(&[&[file.to_str().expect("UTF-8")], expected].concat());
        assert_eq!(code, Some(0), "{template}: {found:#}");
    }
    // As its page says.
    let (place, ends) = (folder.path().join("shaper"), folder.path().join("stream/stream.mtp"));
    let made = Command::new(carrick()).arg("new").arg(&place).args(["--template", "in-network"]).output();
    assert!(made.expect("it starts").status.success());
    let via = place.join("shaper.mtp");
    let [ends, via] = [&ends, &via].map(|path| path.to_str().expect("UTF-8"));
    let (code, found) = json(&[ends, "--via", via, "--reorder", "0"]);
    assert_eq!((code, &found["via_lets_all_through"]), (Some(0), &Value::from(false)), "{found:#}");
}

/// What is left out of a protocol is missed by somebody.
#[test]
fn a_fault_is_found_with_a_way_there() {
    // The fault that this search has found: an end answers what is ahead of what it has received.
    let folder = changed(
        "protocols/small-tcp/small-tcp.mtp",
        &[
            ("return e.seq < c.rcv_nxt || at > free;", "return e.seq != c.rcv_nxt;"),
            ("if (now() < c.answer_next) return;", "{ }"),
        ],
    );
    let file = folder.path().join("protocols/small-tcp/small-tcp.mtp");
    let file = file.to_str().expect("UTF-8");
    let [trace, pcap, page] = ["run.trace", "run.pcapng", "run.html"].map(|name| folder.path().join(name));
    let [trace, pcap, page] = [&trace, &pcap, &page].map(|path| path.to_str().expect("UTF-8"));
    let options = ["--lose", "3", "--delay", "1", "--dup", "0", "--reorder", "0"];
    let (code, found) = json(&[&[file, "--trace", trace, "--pcap", pcap], &options[..]].concat());
    assert_eq!((code, &found["broken"]["goal"]), (Some(1), &Value::from("calm")), "{found:#}");
    let steps = found["steps"].as_array().expect("steps");
    let lost = steps.iter().filter(|step| step["what"] == "lost").count();
    let passes = steps.iter().filter(|step| step["what"] == "time").count();
    assert!(lost <= 3 && passes >= 1 && steps.len() > 1000, "{lost} lost, {} steps", steps.len());
    assert!(
        steps
            .iter()
            .all(|step| step["what"] == "lost" || !step["events"].as_array().expect("events").is_empty())
    );

    // What was written is what other commands read.
    let done = Command::new(carrick()).args(["report", trace, "-o", page]).output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let packets = packets(&std::fs::read(pcap).expect("readable"));
    let of_client = |step: &&Value| step["host"] == "client" && !step["packet"].is_null();
    let arrived = steps.iter().filter(of_client).filter(|step| step["what"] != "lost").count();
    assert!(packets.len() > arrived && arrived > 400, "{} of {arrived}", packets.len());

    let (code, out, _) = said(&[&[file], &options[..]].concat());
    assert_eq!(code, Some(1));
    for part in [
        "broken: 1000 packets arrive, each because of the one before, and no time passes\n",
        "    0  both applications begin => packet 1\n    1  client -> server  packet 1 arrives: segment ",
        " is lost: segment ",
        "... and so on; --trace and --pcap write all ",
        "at most 3 lost, 1 held back\n",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

/// Timers of both ends that are due at one moment fire in either order, and what one of them sends may arrive before the other.
#[test]
fn either_end_may_be_the_first_at_a_moment() {
    let claim = "assert(!(c.resends == 0 && c.out.len() > 0 && uint64(now()) >= 50000000));";
    let behind = "    if (e.len == 0) stop;\n";
    let folder =
        changed("protocols/stop-and-wait/stop-and-wait.mtp", &[(behind, &format!("{behind}    {claim}\n"))]);
    let file = folder.path().join("protocols/stop-and-wait/stop-and-wait.mtp");
    let (file, plain) = (file.to_str().expect("UTF-8"), "protocols/stop-and-wait/stop-and-wait.mtp");
    let options = ["--bytes", "1", "--answer", "1", "--lose", "3"];
    for both in [[file, "--server", plain], [plain, "--server", file]] {
        let (code, found) = json(&[&both[..], &options[..]].concat());
        assert_eq!(
            (code, &found["broken"]["goal"]),
            (Some(1), &Value::from("claims")),
            "{both:?}: {found:#}"
        );
    }
}

/// A run that goes on for ever is not proved to end.
#[test]
fn what_goes_on_for_ever_is_undecided() {
    let folder = changed(
        "protocols/udp-retry/udp-retry.mtp",
        &[(
            "    if (c.at != ASKING) {\n        del_ctx(c);",
            "    if (c.at != ASKING) {\n        timer_start(c.quiet, remember);",
        )],
    );
    let file = folder.path().join("protocols/udp-retry/udp-retry.mtp");
    let (code, found) =
        json(&[file.to_str().expect("UTF-8"), "--bytes", "1", "--lose", "0", "--dup", "0", "--reorder", "0"]);
    assert_eq!(code, Some(4), "{found:#}");
    assert!(
        found["undecided"].as_str().is_some_and(|why| why.contains("a day") || why.contains("1 day")),
        "{found:#}"
    );
}

/// What stands between the ends is seen in the steps, and if it lets all through, that is said.
#[test]
fn a_program_in_the_network_stands_between_the_ends() {
    let via = "protocols/message-wrapper/message-wrapper.mtp";
    let file = "protocols/message-transport/message-transport.mtp";
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("run.trace");
    let trace = trace.to_str().expect("UTF-8");
    let few = ["--lose", "0", "--dup", "0", "--reorder", "0", "--states", "10"];
    let (code, found) = json(&[&[file, "--via", via, "--trace", trace], &few[..]].concat());
    assert_eq!((code, &found["via"]), (Some(4), &Value::from(via)), "{found:#}");
    let steps = found["steps"].as_array().expect("steps");
    let hosts: BTreeSet<&str> = steps.iter().filter_map(|step| step["host"].as_str()).collect();
    assert_eq!(hosts, BTreeSet::from(["client", "server", "via"]), "{found:#}");
    // As of a simulation, its trace is that of the ends.
    let page = folder.path().join("run.html");
    let page = page.to_str().expect("UTF-8");
    let done = Command::new(carrick()).args(["report", trace, "-o", page]).current_dir(root()).output();
    let done = done.expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let lets_through = "protocols/snoop/snoop.mtp lets all packets through";
    let (code, out, _) = said(&[&[file, "--via", "protocols/snoop/snoop.mtp"], &few[..]].concat());
    assert!(code == Some(4) && out.contains(lets_through), "{out}");
}

/// A program in the network that keeps the first bytes of the three messages that it sees first, and does this then.
fn looker(folder: &Path, then: &str) -> String {
    let text = format!(
        "net_header inet {{ ip_t src_ip; ip_t dst_ip; uint8 protocol = 17; uint16 payload_len; uint8 interface; }}
         pkt_bp udp over inet {{ uint16 src_port; uint16 dst_port; uint16 length; uint16 checksum; uint64 number; data_t payload; }}
         event packet : net_event {{ uint64 number; }}
         global context totals {{ uint64 seen; uint64 numbers[3]; }}
         void parse(pkt_t p, inet ip) {{ udp h; p.extract(h); raise packet {{ number = h.number }}; }}
         void on(packet e, totals t) {{
             if (t.seen < 3) {{ t.numbers[t.seen] = e.number; }}
             t.seen++;
             {then}
         }}
         dispatch chains {{ packet -> {{ on }}; }}
         deploy {{ register_role(in_network, 16); register_ep_chains(chains); register_ev_parser(parse); }}"
    );
    let file = folder.join("looker.mtp");
    std::fs::write(&file, text).expect("writable");
    file.to_str().expect("UTF-8").to_owned()
}

/// Of two messages, one of which is duplicated, each order arrives.
#[test]
fn every_order_of_packets_and_copies_arrives() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "protocols/plain-udp/plain-udp.mtp";
    let options = ["--bytes", "2", "--lose", "0", "--dup", "1", "--reorder", "2"];
    for order in [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0]] {
        let is = |at: usize, other: usize| {
            let relation = if order[at] == order[other] { "==" } else { "!=" };
            format!("t.numbers[{at}] {relation} t.numbers[{other}]")
        };
        // The first message has the lesser number.
        let other = if order[1] == order[0] { 2 } else { 1 };
        let first = if order[0] == 0 { "<" } else { ">" };
        let condition = format!("{} && {} && t.numbers[0] {first} t.numbers[{other}]", is(0, 1), is(0, 2));
        let via = looker(folder.path(), &format!("assert(!(t.seen == 3 && {condition}));"));
        let (code, found) = json(&[&[file, "--via", &via], &options[..]].concat());
        assert_eq!(
            (code, &found["broken"]["goal"]),
            (Some(1), &Value::from("claims")),
            "{order:?}: {found:#}"
        );
    }
}

#[test]
fn a_program_in_the_network_sends_by_the_interfaces_that_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let via = looker(folder.path(), "if (t.seen == 3) forward(e.pkt, 7);");
    let options = ["--lose", "0", "--dup", "0", "--reorder", "0"];
    let (code, found) = json(&[&["protocols/plain-udp/plain-udp.mtp", "--via", &via], &options[..]].concat());
    let what = found["broken"]["what"].as_str().unwrap_or_default();
    assert!(code == Some(1) && what.contains("sent a packet by interface 7"), "{found:#}");
}

/// What a run without faults shows is said, also if the search does not come so far.
#[test]
fn a_claim_that_fails_without_faults_is_found_in_any_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let via = looker(folder.path(), "assert(t.seen < 20);");
    let args = ["protocols/plain-udp/plain-udp.mtp", "--via", &via, "--bytes", "30", "--states", "50"];
    let (code, found) = json(&args);
    assert_eq!((code, &found["broken"]["goal"]), (Some(1), &Value::from("claims")), "{found:#}");
}

/// Two versions that do not speak to each other.
#[test]
fn the_server_may_run_another_version() {
    let folder = changed("protocols/stop-and-wait/stop-and-wait.mtp", &[]);
    let same = folder.path().join("protocols/stop-and-wait/stop-and-wait.mtp");
    let same = same.to_str().expect("UTF-8");
    let (code, both) = json(&["protocols/stop-and-wait/stop-and-wait.mtp", "--server", same]);
    let (_, one) = json(&["protocols/stop-and-wait/stop-and-wait.mtp"]);
    assert_eq!((code, &both["states"]), (Some(0), &one["states"]));
    // One of them numbers what it says from another number on.
    let (code, found) = json(&["protocols/small-tcp/small-tcp.mtp", "--server", "protocols/tcp/tcp.mtp"]);
    assert_eq!(code, Some(0), "both speak TCP: {found:#}");
    let trace = folder.path().join("run.trace");
    let trace = trace.to_str().expect("UTF-8");
    let both = ["protocols/small-tcp/small-tcp.mtp", "--server", "protocols/tcp/tcp.mtp", "--states", "9"];
    let (code, ..) = said(&[&both[..], &["--trace", trace]].concat());
    let page =
        Command::new(carrick()).args(["report", trace, "-o", "/dev/null"]).output().expect("it starts");
    let said_of_page = String::from_utf8_lossy(&page.stderr);
    assert!(code == Some(4) && said_of_page.contains("its hosts run different programs"), "{said_of_page}");
    let (code, out, err) = said(&["protocols/tcp/tcp.mtp", "--server", "protocols/homa/homa.mtp"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("have other interfaces"), "{err}");
}

#[test]
fn what_messages_promise_is_said_by_who_asks() {
    let file = "protocols/netblocks/netblocks.mtp";
    for (promise, what) in [
        ("once", "the server was given a message a second time"),
        ("order", "the server was given a message behind one that was sent later"),
        ("all", "that were sent well"),
    ] {
        let (code, found) = json(&[file, "--expect", promise]);
        let said = found["broken"]["what"].as_str().unwrap_or_default();
        assert!(code == Some(1) && said.contains(what), "{promise}: {found:#}");
    }
    // Without a checksum, nothing is promised of what a bad channel makes of a message.
    let (code, out, _) = said(&[file, "--corrupt", "1"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains(" has no checksum over its payload: nothing is promised of what arrives."), "{out}");
    assert!(!out.contains("proved: what arrives is what was sent"), "{out}");
}

#[test]
fn what_cannot_be_explored_is_said_in_one_sentence() {
    let file = "protocols/tcp/tcp.mtp";
    for (args, part) in [
        (&["protocols/synproxy/synproxy.mtp"][..], "runs in the network, between two ends"),
        (&["examples/credits.mtp"], "has no interface `stream`, `multistream`, `message`, `rpc` or `verbs`"),
        (&[file, "--expect", "once"], "are for programs of messages"),
        (&[file, "--delay", "1", "--life", "5"], "5"),
        (&[file, "--pcap", "/proc/none"], "/proc/none"),
        (&[file, "--set", "gone=1"], "has no parameter \"gone\""),
        (&[file, "--via", file], "runs at an end, not in the network"),
        (&[file, "--via", "protocols/none.mtp"], "protocols/none.mtp"),
        (&[file, "--via", "protocols/snoop/snoop.mtp", "--via-set", "gone=1"], "has no parameter \"gone\""),
        (
            &["protocols/netblocks/netblocks.mtp", "--via", "protocols/snoop/snoop.mtp"],
            "these ends send whole frames",
        ),
    ] {
        let (code, out, err) = said(args);
        assert_eq!((code, out.as_str(), err.lines().count()), (Some(2), "", 1), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
    for args in [
        &[file, "--bytes", "65"][..],
        &[file, "--lose", "256"],
        &[file, "--life", "5s"],
        &[file, "--k", "2"],
        &[file, "--against", file],
        &[file, "--expect", "some"],
    ] {
        let (code, _, err) = said(args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
    }
    let without = Command::new(carrick()).args(["verify", file, "--lose", "1"]).current_dir(root()).output();
    assert_eq!(without.expect("it starts").status.code(), Some(2), "it is for --peers");
}

/// What is not explored to its end is not proved, and what was seen is said.
#[test]
fn a_search_that_ends_early_says_so() {
    let (code, out, _) = said(&["protocols/tcp/tcp.mtp", "--states", "500"]);
    assert_eq!(code, Some(4), "{out}");
    for part in [
        "not broken so far: no claim of the program fails\n",
        "undecided: not everything was explored: 500 states were seen\n",
        "  The last steps of a way that was not explored to its end:\n",
    ] {
        assert!(out.contains(part), "{out}");
    }
    let mut command = Command::new(carrick());
    command.args(PEERS).args(["protocols/tcp/tcp.mtp", "--lose", "9", "--delay", "9", "--crash", "9"]);
    command.current_dir(root());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let pid = Pid::from_raw(child.id() as i32).expect("a process");
    wait_until_it_catches(child.id(), Signal::INT);
    kill_process(pid, Signal::INT).expect("it runs");
    let done = child.wait_with_output().expect("it ends");
    let out = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(4), "{out}");
    assert!(out.contains("undecided: not everything was explored: it was interrupted\n"), "{out}");
}
