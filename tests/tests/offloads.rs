// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offloads at nodes of a network: what they do to messages, and what becomes of offloads that do what none should.

use std::fs;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use serde_json::Value;

const ENDS: &str = "crates/cli/templates/message/program.mtp";
const FLOWS: [&str; 6] = ["--workload", "closed:2@h0:h2", "--flows", "200", "--bytes", "500B"];

fn always(topology: &str) -> Vec<&str> {
    // A file describes its links itself.
    let links = if topology.ends_with(".toml") { &[][..] } else { &["--rate", "1Gbps", "--delay", "5us"] };
    [&["sim", ENDS, "--topology", topology][..], &FLOWS, links, &["--format", "json"]].concat()
}

/// Messages from h0 to h2 through a switch with an offload.
#[track_caller]
fn through(settings: &str, args: &[&str]) -> Value {
    let described = format!("s0:{settings}");
    let offload = ["--at", "s0=tests/programs/offload.mtp", "--offload", &described];
    let said = done(&root(), &[&always("star:3")[..], &offload, args].concat());
    serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take()
}

fn of(run: &Value, name: &str) -> u64 {
    run["programs"][0]["offload"][name].as_u64().unwrap_or_else(|| panic!("{name}: {run}"))
}

#[test]
fn messages_pass_an_offload() {
    let run = through("workers=1", &[]);
    assert_eq!((&run["ended"], of(&run, "taken"), of(&run, "put")), (&200.into(), 200, 200), "{run}");
    assert_eq!((of(&run, "bytes_in"), of(&run, "bytes_out")), (100_000, 100_000));
    assert_eq!((of(&run, "busy_ns"), of(&run, "refused"), of(&run, "taken_again")), (0, 0, 0));
}

#[test]
fn a_worker_takes_time() {
    let run = through("service=bimodal:95%x6us,5%x120us", &["--seed", "3"]);
    let (took, busy) = (run["ended_at_ns"].as_u64().expect("a time"), of(&run, "busy_ns"));
    assert!((200 * 6_000..200 * 25_000).contains(&busy) && took > busy, "{run}");
    let share = run["programs"][0]["offload"]["busy"].as_f64().expect("a share");
    assert!((share - busy as f64 / took as f64).abs() < 1e-9, "{run}");
}

#[test]
fn interpreter_and_compiled_core_change_messages_alike() {
    let settings = "service=exponential:12us,ratio=0.5..2";
    let bad = ["--loss", "1%", "--seed", "5"];
    let interpreted = through(settings, &bad);
    assert_eq!(interpreted["ended"], 200, "{interpreted}");
    let grown = of(&interpreted, "bytes_out") as f64 / of(&interpreted, "bytes_in") as f64;
    assert!((1.15..1.35).contains(&grown), "sizes are 1.25 times as great, on average: {grown}");
    assert!(of(&interpreted, "taken_again") > 0, "behind the switch messages are lost: {interpreted}");
    let compiled = through(settings, &[&bad[..], &["--compiled"]].concat());
    for what in ["ended_at_ns", "packets", "hops", "programs"] {
        assert_eq!(interpreted[what], compiled[what], "{what}");
    }
    let other = through(settings, &["--loss", "1%", "--seed", "6"]);
    assert_ne!(interpreted["programs"], other["programs"], "another seed");
}

#[test]
fn answers_that_there_should_not_be_are_refused() {
    let twice = through("service=2us,twice=10%", &[]);
    assert_eq!((&twice["ended"], of(&twice, "put")), (&200.into(), 200), "{twice}");
    assert!((10..40).contains(&of(&twice, "refused")), "{twice}");
    // A program that takes a second answer.
    let dir = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(root().join("tests/programs/offload.mtp")).expect("readable");
    let lax = text.replace("c.answered || ", "");
    assert_ne!(lax, text);
    let file = dir.path().join("lax.mtp");
    fs::write(&file, lax).expect("a file");
    let at = format!("s0={}", file.display());
    let args = ["--at", &at, "--offload", "s0:twice=100%"];
    let output = run(&root(), &[&always("star:3")[..], &args].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a second answer, completed with OK"), "{said}");
}

#[test]
fn a_topology_describes_an_offload() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::copy(root().join("tests/programs/offload.mtp"), dir.path().join("box.mtp")).expect("a copy");
    let file = dir.path().join("star.toml");
    let described = |settings: &str| {
        let links = "[[links]]\nends = [\"h0..h2\", \"s0\"]\nrate = \"1Gbps\"\ndelay = \"5us\"\n";
        let programs = format!("[[programs]]\nat = \"s0\"\nfile = \"box.mtp\"\noffload = \"{settings}\"\n");
        fs::write(&file, format!("hosts = 3\nswitches = 1\n{links}{programs}")).expect("a file");
        file.display().to_string()
    };
    let settings = "service=bimodal:95%x6us,5%x120us,ratio=2";
    let named = described(settings);
    let taken = |args: &[&str]| {
        let said = done(&root(), &[&always(&named)[..], args].concat());
        serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take()
    };
    let programs = |run: &Value| run["programs"][0]["offload"].clone();
    assert_eq!(programs(&taken(&[])), programs(&through(settings, &[])));
    assert_eq!(of(&taken(&["--offload", "s0:workers=1"]), "busy_ns"), 0, "the command line has priority");
    let refused = run(&root(), &always(&described("speed=4")));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("there are service, workers"), "{said}");
}

#[test]
fn what_is_no_offload_is_refused() {
    let refused = |args: &[&str], words: &[&str]| {
        let output = run(&root(), &[&["sim", ENDS], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: {said}"));
    };
    let with = |settings: &str, words: &[&str]| {
        let at = ["--topology", "star:3", "--at", "s0=tests/programs/offload.mtp", "--offload", settings];
        refused(&at, words);
    };
    with("s0", &["s0:service=12us,workers=2"]);
    with("s4:workers=1", &["\"s4\"", "h0 to h2 and s0"]);
    with("h1:workers=1", &["h1", "--at h1=PROGRAM"]);
    with("s0:workers=0", &["without workers"]);
    with("s0:workers=x", &["workers=x", "a whole number"]);
    with("s0:ratio=2..1", &["the lesser one first"]);
    with("s0:ratio=1..17", &["at most 16"]);
    with("s0:service=soon", &["exponential:12us"]);
    with("s0:service=bimodal:95%x6us,4%x120us", &["100 %", "99 %"]);
    with("s0:hits=50%,keys=0", &["one key or more"]);
    with("s0:hits=50%,zipf=11", &["an exponent from 0 to 10"]);
    with("s0:intercept=101%", &["101%"]);
    refused(&["--via", "tests/programs/offload.mtp"], &["--topology", "--at NODE=PROGRAM"]);
}

const TRANSPORT: &str = "protocols/message-transport/message-transport.mtp";

/// Messages of 8 KB from h0 to h2 of a dumbbell, with a wrapper at the first switch.
#[track_caller]
fn wrapped(settings: &str, args: &[&str]) -> Value {
    let flows = ["--workload", "closed:2@h0:h2", "--flows", "200", "--bytes", "8KB", "--format", "json"];
    let network = ["--topology", "dumbbell:2", "--rate", "10Gbps", "--delay", "1us"];
    let described = format!("s0:{settings}");
    let at = ["--at", "s0=protocols/message-wrapper/message-wrapper.mtp", "--offload", &described];
    let said = done(&root(), &[&["sim", TRANSPORT][..], &network, &flows, &at, args].concat());
    serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take()
}

#[test]
fn a_wrapper_makes_an_application_a_pathlet() {
    let settings = "service=exponential:12us,workers=2,ratio=0.7..1.3,intercept=40%";
    let run = wrapped(settings, &[]);
    assert_eq!((&run["ended"], &run["retransmitted_packets"]), (&200.into(), &0.into()), "{run}");
    assert_eq!((of(&run, "taken"), of(&run, "taken_again")), (200, 0), "{run}");
    assert_eq!(of(&run, "put") + of(&run, "intercepted"), 200, "{run}");
    assert!((60..100).contains(&of(&run, "intercepted")), "{run}");
    assert_eq!(run["programs"][0]["open_contexts"], 0, "{run}");
    let bad = ["--loss", "1%", "--seed", "2"];
    let interpreted = wrapped(settings, &bad);
    assert_eq!(interpreted["ended"], 200, "{interpreted}");
    assert!(of(&interpreted, "taken_again") > 0, "{interpreted}");
    let compiled = wrapped(settings, &[&bad[..], &["--compiled"]].concat());
    for what in ["ended_at_ns", "packets", "hops", "programs"] {
        assert_eq!(interpreted[what], compiled[what], "{what}");
    }
}

/// The space of each of them is free again: there is only space for two messages.
#[test]
fn messages_that_are_not_answered_well_are_retransmitted() {
    let run = |settings: &str| {
        let run = wrapped(
            &format!("buffer=16KB,{settings}"),
            &["--at-set", "s0.answer_within=1ms", "--at-set", "s0.longest=16KiB"],
        );
        assert_eq!((&run["ended"], &run["programs"][0]["open_contexts"]), (&200.into(), &0.into()), "{run}");
        run
    };
    let never = run("never=5%");
    let count = of(&never, "never_answered");
    assert!(count > 3 && of(&never, "taken_again") == count, "{never}");
    let state = &never["programs"][0]["state"]["box"];
    assert_eq!((&state["unanswered"], &state["held"]), (&count.into(), &0.into()), "{never}");
    let beyond = run("beyond=5%");
    let count = of(&beyond, "refused");
    assert!(count > 3 && of(&beyond, "taken_again") == count, "{beyond}");
    let twice = run("twice=10%");
    assert!(of(&twice, "refused") > 5 && of(&twice, "taken_again") == 0, "{twice}");
}

/// Two pathlets do all that pathlets may do, and what they may not, and the links lose packets.
#[test]
fn every_message_is_delivered_or_intercepted_once() {
    let flows =
        ["--workload", "closed:4@h0..h1:h2..h3", "--flows", "40", "--sizes", "1KB..30KB", "--format", "json"];
    let network = ["--topology", "dumbbell:2", "--rate", "10Gbps", "--delay", "1us", "--loss", "2%"];
    let first =
        "s0:service=exponential:12us,workers=2,ratio=0.7..1.3,intercept=20%,twice=5%,never=2%,beyond=2%";
    let second = "s1:service=bimodal:95%x6us,5%x120us,workers=3,ratio=0.8..1.5,hits=20%,never=1%";
    let [s0, s1] = ["s0", "s1"].map(|node| format!("{node}=protocols/message-wrapper/message-wrapper.mtp"));
    let at = ["--at", &s0, "--at", &s1, "--at-set", "s1.pathlet=2", "--offload", first, "--offload", second];
    let set =
        ["--at-set", "s0.answer_within=1ms", "--at-set", "s1.answer_within=1ms", "--set", "fabric_rto=300us"];
    let runs = ["--set", "pathlet_rto=2ms", "--set", "retries_max=40", "--seeds", "10", "--fast"];
    let said = done(&root(), &[&["sim", TRANSPORT][..], &network, &flows, &at, &set, &runs].concat());
    let said: Value = serde_json::from_str(&said).expect("JSON");
    let runs = said["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 10);
    let count = |what: &str| runs.iter().map(|run| of(run, what)).sum::<u64>();
    for run in runs {
        assert_eq!((&run["ended"], &run["messages"]["delivered_again"]), (&40.into(), &0.into()), "{run}");
    }
    let all = ["taken_again", "spurious", "intercepted", "refused", "never_answered"];
    all.into_iter().for_each(|what| assert!(count(what) > 0, "{what}"));
}

/// Half full is 128: from there on, windows become smaller (appendix C).
#[test]
fn a_pathlet_reports_how_full_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace.jsonl").display().to_string();
    let traced = ["--trace-format", "json", "--trace", &trace];
    let args = [&["--mtu", "5000", "--set", "channels=2"][..], &traced].concat();
    wrapped("service=1ms,buffer=16KB", &args);
    let text = fs::read_to_string(trace).expect("a trace");
    let felt = text.lines().filter(|line| line.contains("\"felt\"")).map(|line| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        record["detail"]["fields"]["occupancy"].as_u64()
    });
    assert_eq!(felt.take(2).collect::<Vec<_>>(), [Some(128), Some(255)], "one message of 8 KB, then two");
}

/// In place of the occupancy: above it, messages leave with a mark, which their receiver reflects.
#[test]
fn a_pathlet_marks_messages_when_it_is_full() {
    let marks = |above: &str, channels: &str| {
        let dir = tempfile::tempdir().expect("a folder");
        let trace = dir.path().join("trace.jsonl").display().to_string();
        let set = format!("s0.mark_above={above}");
        wrapped(
            "service=20us,buffer=16KB",
            &[
                "--mtu",
                "9000",
                "--at-set",
                &set,
                "--set",
                channels,
                "--trace-format",
                "json",
                "--trace",
                &trace,
            ],
        );
        let text = fs::read_to_string(trace).expect("a trace");
        let count = |name: &str| text.lines().filter(|line| line.contains(name)).count();
        (count(r#""name":"felt""#), count(r#""name":"marked""#))
    };
    let (none, marked) = marks("100", "channels=2");
    assert!(none == 0 && marked >= 100, "{none} reports, {marked} marks");
    assert_eq!(marks("130", "channels=1"), (0, 0), "one message of 8 KB is half of the buffer");
}

#[test]
fn a_message_that_finds_no_space_is_sent_later() {
    let greedy = ["--without", "congestion,switching"];
    let run = wrapped("service=50us,buffer=8KB", &greedy);
    assert_eq!(run["ended"], 200, "{run}");
    assert!(run["retransmitted_packets"].as_u64() > Some(0), "{run}");
    let args = [
        "--topology",
        "star:2",
        "--bytes",
        "9KB",
        "--at",
        "s0=protocols/message-wrapper/message-wrapper.mtp",
    ];
    let output = run_transport(&[&args[..], &["--offload", "s0:buffer=8KB"]].concat());
    assert!(output.contains("a buffer of 8000 bytes") && output.contains("buffer=9000B or more"), "{output}");
}

/// What it says when it refuses that.
fn run_transport(args: &[&str]) -> String {
    let output = run(&root(), &[&["sim", TRANSPORT], args].concat());
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn calls_beside_those_of_applications_are_made() {
    let dir = tempfile::tempdir().expect("a folder");
    let calls = dir.path().join("pathlets.txt");
    fs::write(&calls, "# a route\nh0..h1: add_pathlet(0, 10.0.0.4) # of one hop\n\n").expect("a file");
    let (calls, table) = (calls.display().to_string(), dir.path().join("t.csv").display().to_string());
    let flows = ["--workload", "closed:2@h0:h2", "--flows", "50", "--bytes", "8KB", "--format", "json"];
    let links = ["--rate", "10Gbps", "--delay", "1us"];
    let at = ["--at", "h3=protocols/message-wrapper/message-wrapper.mtp", "--at-set", "h3.pathlet=10.0.0.4"];
    let late = "h1: add_pathlet(1, 167772164) @ 5us";
    let through = |args: &[&str]| {
        let said = done(
            &root(),
            &[&["sim", TRANSPORT, "--topology", "star:4"][..], &links[..], &at, &flows, args].concat(),
        );
        serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take()
    };
    let run = through(&["--call", late, "--calls", &calls, "--csv", &table]);
    assert_eq!((&run["ended"], of(&run, "put")), (&50.into(), 50), "off the path, and all pass it: {run}");
    let made = run["calls"].as_array().expect("a list");
    let made: Vec<_> = made.iter().map(|call| (call["call"].as_str(), call["status"].as_str())).collect();
    let ok = |text| (Some(text), Some("OK"));
    assert_eq!(made, [ok(late), ok("h0: add_pathlet(0, 10.0.0.4)"), ok("h1: add_pathlet(0, 10.0.0.4)")]);
    assert!(done(&root(), &["repro", "--outside", &table]).contains("the same"));
    assert_eq!(through(&[])["programs"][0]["offload"]["taken"], 0, "no message without a route goes there");

    let refused = |call: &str, words: &[&str]| {
        let said = run_transport(&["--topology", "star:4", "--call", call]);
        words.iter().for_each(|word| assert!(said.contains(word), "{call}: {said}"));
    };
    let signature = "add_pathlet(uint32 kind, uint32 address)";
    refused(
        "h0: add_pathlets(0, 10.0.0.4)",
        &["`message` has no call", "did you mean add_pathlet?", signature],
    );
    refused("h0: add_pathlet(0)", &["1 arguments", signature]);
    refused("h0: add_pathlet(0, 10.0.0.256)", &["\"10.0.0.256\" is no `uint32` for `address`", signature]);
    refused("h0: add_pathlet(0, 8589934592)", &["is no `uint32`"]);
    refused("h0: close()", &["`close`", "the handle of a `conn`"]);
    refused("h0: add_pathlet", &["is no call", "@ 1ms"]);
    refused("h0: add_pathlet(0, 1) @ 5", &["is not a duration"]);
    refused("h7: add_pathlet(0, 1)", &["\"h7\"", "h0 to h3"]);
    refused("s0: add_pathlet(0, 1)", &["at hosts, h0 to h3"]);
    refused("add_pathlet(0, 1)", &["is no call", "h0: add(0, 10.0.0.5)"]);
}

#[test]
fn a_call_that_fails_is_reported() {
    let fails = |call: &str, why: &str| {
        let run = run(&root(), &["sim", TRANSPORT, "--topology", "star:2", "--bytes", "1KB", "--call", call]);
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains(why), "{said}");
    };
    fails("h1: add_pathlet(4, 10.0.0.4)", "FAILED: h1: add_pathlet(4, 10.0.0.4): completed with INVALID");
    fails("h1: add_pathlet(0, 10.0.0.4) @ 10s", "did not complete before the end of the run");
}

/// With a timeout that is shorter than the service, a message is retransmitted while the offload has it, or after it was delivered.
#[test]
fn retransmissions_without_need_are_seen_at_the_node() {
    let counted = |rto: &str| {
        let run = wrapped("service=200us", &["--without", "dual_rto", "--set", &format!("fabric_rto={rto}")]);
        assert_eq!((&run["ended"], &run["messages"]["delivered_again"]), (&200.into(), &0.into()), "{run}");
        of(&run, "spurious") + run["programs"][0]["state"]["box"]["spurious"].as_u64().expect("a number")
    };
    assert_eq!(counted("5ms"), 0);
    assert!(counted("100us") > 100);
}

/// A host and the program before it share its link: what the program sends first does not make the host forget what it has to send.
#[test]
fn a_host_goes_on_when_its_program_has_sent() {
    let flows =
        ["--workload", "closed:6@h0:h1", "--flows", "300", "--bytes", "1000B", "--keep", "--format", "json"];
    let network = ["--topology", "star:2", "--rate", "100Mbps", "--delay", "10us"];
    let at = ["--at", "h1=protocols/message-wrapper/message-wrapper.mtp", "--at-set", "h1.gap=10ms"];
    let offload = ["--offload", "h1:service=exponential:60us,buffer=1MiB"];
    let said = done(&root(), &[&["sim", TRANSPORT][..], &network, &flows, &at, &offload].concat());
    let run = serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take();
    assert_eq!((&run["ended"], &run["retransmitted_packets"]), (&300.into(), &0.into()), "{run}");
    assert!(of(&run, "busy_ns") * 2 > run["ended_at_ns"].as_u64().expect("a time"), "{run}");
}

#[test]
fn a_link_and_messages_are_measured() {
    let link = ["--link", "s0:s1", "--link", "s1:s0"];
    let run = wrapped("service=1us,intercept=50%,workers=4", &link);
    let seen = |at: usize, what: &str| run["links"][at][what].as_f64().expect("a number");
    let consumed = of(&run, "intercepted") as f64;
    let (bytes, ended) = (seen(0, "bytes"), run["ended_at_ns"].as_f64().expect("a time"));
    assert!((bytes - (200.0 - consumed) * 8000.0) / bytes < 0.1, "payload, and little else: {run}");
    assert!((seen(0, "utilisation") - bytes * 8.0 / (ended * 10.0)).abs() < 1e-6, "of 10 Gbit/s: {run}");
    assert!(seen(1, "utilisation") < seen(0, "utilisation"), "acknowledgements: {run}");
    let messages = &run["messages"];
    let ns = |what: &str| messages[what].as_u64().expect("a time");
    assert_eq!((&messages["count"], &messages["delivered_again"]), (&200.into(), &0.into()));
    assert!(0 < ns("p50_ns") && ns("p50_ns") <= ns("p99_ns") && ns("p99_ns") <= ns("max_ns"), "{run}");
    let said = run_transport(&["--topology", "dumbbell:2", "--link", "s0:h3"]);
    assert!(said.contains("no such link; s0 has links to h0, h1, s1"), "{said}");
    assert!(run_transport(&["--topology", "pair", "--link", "h0"]).contains("two nodes, such as s0:s1"));
}
