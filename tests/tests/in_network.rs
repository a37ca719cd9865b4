// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the network, between two ends that know nothing of them.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compiled;
use carrick_driver::{Failure, compile_file, compile_text};
use carrick_interp::{Config, Core};
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::{Via, diff_through};
use carrick_sim::ip::mend_checksum;
use carrick_sim::scenario::Engine;
use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use carrick_tests::net::skip;
use serde_json::Value;

#[track_caller]
fn simulated(dir: &Path, args: &[&str]) -> Value {
    let always = ["sim", "parcel/parcel.mtp", "--delay", "2ms", "--format", "json"];
    serde_json::from_str(&done(dir, &[&always[..], args].concat())).expect("JSON")
}

/// A folder with the two programs that `carrick new` begins with.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    let said = done(dir, &["new", "lane", "--template", "in-network"]);
    assert!(said.contains("--via lane/lane.mtp"), "{said}");
    folder
}

#[test]
fn a_shaper_of_ones_own_works_at_once() {
    let folder = begun();
    let dir = folder.path();
    let checked: Value =
        serde_json::from_str(&done(dir, &["check", "--format", "json", "lane/lane.mtp"])).expect("JSON");
    assert!(checked.to_string().contains("\"warnings\":0"), "{checked}");
    done(dir, &["fmt", "--check", "lane/lane.mtp"]);
    let shaped = ["--via", "lane/lane.mtp", "--bytes", "2MB"];
    let free = simulated(dir, &["--bytes", "2MB"]);
    let slow = simulated(dir, &shaped);
    let rate = |said: &Value| said["goodput_bps"].as_f64().expect("a rate");
    assert!(rate(&free) > 50e6, "{free}");
    assert!((9e6..10.2e6).contains(&rate(&slow)), "ten megabits are let through: {slow}");
    assert_eq!(slow["server"][0]["received_bytes"], 2_000_000, "{slow}");
    assert_eq!(slow["between"]["counters"]["store_full"], 0, "{slow}");
    let wider = simulated(dir, &[&shaped[..], &["--via-set", "limit=20Mbps"]].concat());
    assert!((18e6..20.4e6).contains(&rate(&wider)), "{wider}");
    let compiled = simulated(dir, &[&shaped[..], &["--compiled"]].concat());
    for what in ["completion_ns", "between", "packets", "client", "server"] {
        assert_eq!(slow[what], compiled[what], "{what}");
    }
}

#[test]
fn every_octet_arrives_through_a_bad_network() {
    let folder = begun();
    let bad = ["--loss", "2%", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "1%"];
    for seed in ["1", "2", "3"] {
        let through = ["--via", "lane/lane.mtp", "--bytes", "300KB", "--seed", seed];
        let said = simulated(folder.path(), &[&through[..], &bad].concat());
        assert_eq!(said["server"][0]["received_bytes"], 300_000, "{said}");
        assert_eq!(said["server"][0]["end"], "closed", "{said}");
    }
}

const BELL: &str = "dumbbell:2";

/// TCP from h0 to h2 over a topology of four hosts, with this on the command line.
#[track_caller]
fn over(topology: &str, args: &[&str]) -> Value {
    carried(topology, "300KB", args)
}

/// The same, of flows of so many bytes.
#[track_caller]
fn carried(topology: &str, bytes: &str, args: &[&str]) -> Value {
    let flows = ["--workload", "closed:1@h0:h2", "--flows", "3", "--bytes", bytes, "--format", "json"];
    let said = done(&root(), &[&["sim", TCP, "--topology", topology], &flows[..], args].concat());
    serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take()
}

/// A program in the network for each node of a dumbbell.
fn at(nodes: &[&str], program: &str) -> Vec<String> {
    nodes.iter().map(|node| format!("--at={node}={}", root().join(program).display())).collect()
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

#[test]
fn programs_at_nodes_that_let_everything_through_change_nothing() {
    let free = over(BELL, &["--loss", "1%"]);
    let chain = at(&["h0", "s0", "h2", "s0", "s1", "h2"], "tests/programs/in_network.mtp");
    let through = over(BELL, &[&["--loss", "1%"], &words(&chain)[..]].concat());
    for what in ["ended", "ended_at_ns", "packets", "hops", "slowdowns", "retransmitted_packets"] {
        assert_eq!(free[what], through[what], "{what}");
    }
    let programs = through["programs"].as_array().expect("a list");
    let nodes: Vec<_> = programs.iter().map(|program| program["at"].as_str().expect("a node")).collect();
    assert_eq!(nodes, ["h0", "s0", "h2", "s0", "s1", "h2"]);
    for program in programs {
        let counted = |name: &str| program["counters"][name].as_u64().expect("a number");
        assert!(counted("tx_forwarded") > 500 && counted("rx_packets") == 0, "{program}");
    }
    assert_eq!(programs[1]["counters"], programs[3]["counters"], "both of a chain see the same");
}

#[test]
fn a_proxy_at_a_host_keeps_strangers_from_it() {
    let proxy = at(&["h2"], PROXY);
    let interpreted = over(BELL, &words(&proxy));
    assert_eq!(interpreted["ended"], 3, "{interpreted}");
    let program = &interpreted["programs"][0];
    assert!(
        program["counters"]["tx_packets"].as_u64() >= Some(9),
        "each connection is opened twice: {program}"
    );
    let compiled = over(BELL, &[&words(&proxy)[..], &["--compiled"]].concat());
    for what in ["ended_at_ns", "packets", "hops", "programs"] {
        assert_eq!(interpreted[what], compiled[what], "{what}");
    }
    // Named by the file of a topology, beside it.
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("bell.toml");
    let links = "[[links]]\nends = [\"h0..h3\", \"s0\"]\nrate = \"100Mbps\"\ndelay = \"1ms\"\n";
    fs::copy(root().join(PROXY), dir.path().join("proxy.mtp")).expect("a copy");
    let programs = "[[programs]]\nat = \"h2\"\nfile = \"proxy.mtp\"\nset = [\"max_conns=16\"]\n";
    fs::write(&file, format!("hosts = 4\nswitches = 1\n{links}{programs}")).expect("a file");
    let named = over(&file.display().to_string(), &[]);
    assert_eq!((&named["ended"], &named["programs"][0]["at"]), (&3.into(), &"h2".into()), "{named}");
}

/// A program that sees TCP's packets, with this in the processor of each; `from` is the interface by which it came.
fn seeing(dir: &Path, name: &str, processor: &str) -> String {
    let text = format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 6; uint8 interface; }}
        pkt_bp ports over ipv4 {{ uint16 from; uint16 to; data_t rest; }}
        event seen : net_event {{ uint8 from; }}
        void parse(pkt_t p, ipv4 ip) {{
            ports h;
            p.extract(h);
            raise seen {{ from = ip.interface }};
        }}
        void see(seen e) {{ {processor} }}
        dispatch chains {{ seen -> {{ see }}; }}
        deploy {{ register_role(in_network, 4); register_ep_chains(chains); register_ev_parser(parse); }}"
    );
    let file = dir.join(name);
    fs::write(&file, text).expect("a file");
    file.display().to_string()
}

#[test]
fn a_switch_has_an_interface_for_each_of_its_links() {
    let dir = tempfile::tempdir().expect("a folder");
    let star = |args: &[&str]| carried("star:4", "40KB", &[&["--loss", "1%"], args].concat());
    let free = star(&[]);
    // By number, where the route leads as well.
    let table = seeing(dir.path(), "table.mtp", "forward(e.pkt, e.from == 0 ? 2 : 0);");
    let by_number = star(&["--at", &format!("s0={table}")]);
    for what in ["ended", "ended_at_ns", "packets", "hops", "slowdowns", "retransmitted_packets"] {
        assert_eq!(free[what], by_number[what], "{what}");
    }
    // What h0 sends is copied to h3, and sent on; a chain passes packets on by the route.
    let tap =
        seeing(dir.path(), "tap.mtp", "if (e.from == 0) { pkt_copy(e.pkt, 3); } forward(e.pkt, ROUTE);");
    let count = seeing(dir.path(), "count.mtp", "drop(e.pkt);");
    let pass = seeing(dir.path(), "pass.mtp", "");
    let at = [("s0", &pass), ("s0", &tap), ("h3", &count)].map(|(node, file)| format!("--at={node}={file}"));
    let tapped = star(&words(&at));
    assert_eq!(tapped["ended"], 3, "{tapped}");
    let counted =
        |which: usize, name: &str| tapped["programs"][which]["counters"][name].as_u64().expect("it");
    let copies = counted(1, "tx_forwarded") - counted(1, "rx_packets");
    assert_eq!(counted(0, "rx_packets"), counted(1, "rx_packets"), "a chain");
    assert!(counted(2, "rx_packets") > 80 && counted(2, "rx_packets") <= copies, "less those lost on a link");
    let compiled = star(&[&words(&at)[..], &["--compiled"]].concat());
    for what in ["ended_at_ns", "packets", "hops", "programs"] {
        assert_eq!(tapped[what], compiled[what], "{what}");
    }
}

#[test]
fn a_program_in_the_network_has_a_trace_of_its_own() {
    let folder = begun();
    let dir = folder.path();
    let recorded = |file: &str, args: &[&str]| {
        let always =
            ["sim", "parcel/parcel.mtp", "--bytes", "20KB", "--trace-format", "json", "--trace", file];
        done(dir, &[&always[..], args].concat());
        let text = fs::read_to_string(dir.join(file)).expect("a trace");
        assert!(done(dir, &["repro", file]).contains("the same"), "{file}");
        done(dir, &["report", file, "-o", "page.html"]);
        let page = fs::read_to_string(dir.join("page.html")).expect("a page");
        assert!(page.contains("machine pace for flow c"), "it has the lines of the program");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<Value>>()
    };
    let held = |trace: &[Value]| trace.iter().filter(|line| line["detail"]["name"] == "pkt_store").count();
    let via = recorded("via.jsonl", &["--via", "lane/lane.mtp", "--trace-at", "via"]);
    assert_eq!((&via[0]["program"], &via[0]["at"]), (&"lane/lane.mtp".into(), &"via".into()));
    let flows = ["--workload", "closed:1@h0:h1", "--flows", "1", "--topology", "star:2"];
    let chain = ["--at", "s0=lane/lane.mtp", "--at", "s0=lane/lane.mtp", "--at-set", "s0.burst=3KB"];
    let [first, second] = ["s0.0", "s0.1"]
        .map(|at| recorded("node.jsonl", &[&flows[..], &chain, &["--trace-at", at]].concat()));
    assert!(held(&via) > 0 && held(&first) > 0, "above the rate");
    assert_eq!(held(&second), 0, "what the first lets through is at the rate");
    let refused = |at: &str, chain: &[&str], hint: &str| {
        let asked =
            [&["sim", "parcel/parcel.mtp", "--trace", "t", "--trace-at", at][..], &flows, chain].concat();
        let output = run(dir, &asked);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(hint), "{said}");
    };
    refused("s0", &chain, "s0.0 to s0.1");
    refused("h1", &chain, "--at h1=PROGRAM");
    refused("s3", &[], "h0 to h1 and s0");
}

#[test]
fn what_is_sent_nowhere_is_reported() {
    let dir = tempfile::tempdir().expect("a folder");
    let fails = |args: &[&str], words: &[&str]| {
        let output = run(&root(), &[&["sim", TCP, "--bytes", "10KB"], args].concat());
        let said =
            [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: {said}"));
    };
    let far = seeing(dir.path(), "far.mtp", "pkt_copy(e.pkt, 9); forward(e.pkt, ROUTE);");
    let at = |node| format!("{node}={far}");
    let star = ["--topology", "star:2", "--at"];
    fails(&[&star[..], &[&at("s0")]].concat(), &["s0: ", "the interfaces 0 to 1; `ROUTE`"]);
    fails(&[&star[..], &[&at("h1")]].concat(), &["h1: ", "interface 1, the host"]);
    fails(&["--via", &far], &["other than 0, 1 and `ROUTE`"]);
    let astray = "ports h; e.pkt.extract(h); h.net.dst_ip = 0x0a630000; pkt_copy(e.pkt, ROUTE, h);";
    let astray = format!("s0={}", seeing(dir.path(), "astray.mtp", astray));
    fails(&[&star[..], &[&astray]].concat(), &["a destination that is no host's"]);
}

#[test]
fn what_cannot_stand_at_a_node_is_refused() {
    let refused = |args: &[&str], words: &[&str]| {
        let always = ["sim", TCP, "--topology", "star:3"];
        let output = run(&root(), &[&always[..], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: {said}"));
    };
    let proxy = format!("s0={PROXY}");
    refused(&["--at", &format!("s1={PROXY}")], &["\"s1\"", "h0 to h2 and s0"]);
    refused(&["--at", "s0"], &["--at s0", "s0=cache.mtp"]);
    refused(&["--at", "s0=nothing.mtp"], &["nothing.mtp", "no such file"]);
    refused(&["--at", &format!("s0={TCP}")], &["runs at an end", "register_role"]);
    refused(&["--at", &proxy, "--at-set", "s0.max_conn=4"], &["max_conns?"]);
    refused(&["--at", &proxy, "--at-set", "h0.max_conns=4"], &["no program stands at h0"]);
    refused(&["--at", &proxy, "--at-set", "s0"], &["s0.keys=64"]);
    refused(&["--via", PROXY], &["--at s0=PROGRAM"]);
}

#[test]
fn who_sees_no_packet_is_told_why() {
    let program = "tests/programs/in_network.mtp";
    let why = "it saw 0 packets: its protocol is 210, that of the ends is 6";
    let at = format!("s0={program}");
    assert!(done(&root(), &["sim", TCP, "--topology", "star:2", "--at", &at]).contains(why));
    assert!(done(&root(), &["sim", TCP, "--via", program]).contains(why));
}

#[test]
fn a_comparison_is_of_what_is_between_too() {
    let ends = compiled_to(&root().join(TCP));
    let proxy = compiled_to(&root().join(PROXY));
    let (Some((program, ends, _ends)), Some((between, made, _proxy))) = (ends, proxy) else { return };
    let (engine, made) = (Engine::Compiled(ends), Engine::Compiled(made));
    let agree = |via: Option<&Via<'_>>| {
        let found = diff_through(&program, &engine, via, &Scenario::random(3)).expect("it runs");
        assert_eq!((found.difference, found.failures), (None, vec![]));
        found.compared
    };
    let via = |program| Via { program, engine: &made, params: Vec::new() };
    let (alone, through) = (agree(None), agree(Some(&via(&between))));
    assert!(through > alone, "{through} records, packets and completions, {alone} without what is between");

    let text = fs::read_to_string(root().join(PROXY)).expect("readable");
    let other = text.replace("own_mss = 1460", "own_mss = 1400");
    assert_ne!(other, text);
    let other = compile_text(PROXY, &other).program.expect("right");
    let found = diff_through(&program, &engine, Some(&via(&other)), &Scenario::random(3)).expect("it runs");
    let difference = found.difference.expect("what is between differs");
    assert!(difference.contains("between the hosts"), "{difference}");
}

/// A program, itself compiled, and the library that must stay; `None` if there is no C compiler.
fn compiled_to(path: &Path) -> Option<(Arc<Program>, Rc<CompiledProgram>, Built)> {
    let program = compile_file(path).expect("readable").program.expect("right");
    match compiled::shared_library(&program, Tracing::On) {
        Ok(library) => {
            let compiled = CompiledProgram::load(&library.path, &program).expect("it loads");
            Some((program, compiled, library))
        }
        Err(Failure::Missing(what)) => {
            skip(&what);
            None
        }
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn traces_and_comparisons_go_through_it_as_runs_do() {
    let folder = begun();
    let dir = folder.path();
    let through = ["parcel/parcel.mtp", "--via", "lane/lane.mtp", "--via-set", "limit=1Mbps"];
    let asked = ["--list", "--show", "snd_una", "--bytes", "100KB"];
    let ended = |more: &[&str]| {
        let said = done(dir, &[&["trace"], more, &asked].concat());
        let seconds = said.split_whitespace().next().and_then(|clock| clock.parse::<f64>().ok());
        seconds.unwrap_or_else(|| panic!("no time: {said}"))
    };
    assert!(ended(&through[..1]) < 0.1);
    assert!((0.6..1.0).contains(&ended(&through)), "800 kbit at one Mbit/s, less a burst");
    // Its own contexts, as those of a host.
    let inside = |more: &[&str]| {
        done(dir, &[&["trace"], &through[..], &["--host", "via", "--bytes", "100KB"], more].concat())
    };
    let said = inside(&["--list", "--show", "flow.first"]);
    assert!(said.contains("via flow#1") && said.contains("via 2 contexts"), "{said}");
    let said = inside(&["--when", "flow.sizes.len() > 20", "--show", "flow.number"]);
    assert!(said.contains("via when flow.sizes.len() > 20 flow#0"), "{said}");
    let changed = inside(&["--at", "20ms", "--set", "flow.tokens = 5B", "--when", "flow.number == 2"]);
    assert!(changed.contains("tokens=5 (was "), "{changed}");
    let output = run(dir, &["trace", "parcel/parcel.mtp", "--host", "via", "--list"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("--via PROGRAM"), "{said}");
    let said = done(dir, &[&["diff", "--seeds", "3"][..], &through].concat());
    assert!(said.contains(" 0 differences"), "{said}");
    let output = run(dir, &["diff", "lane/lane.mtp", "--via", "parcel/parcel.mtp"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("in the network"), "{said}");
}

#[test]
fn each_role_has_its_place() {
    let folder = begun();
    let dir = folder.path();
    let refused = |args: &[&str]| {
        let output = run(dir, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["sim", "lane/lane.mtp"]).contains("in the network"));
    let said = refused(&["sim", "parcel/parcel.mtp", "--via", "parcel/parcel.mtp"]);
    assert!(said.contains("says no `register_role`"), "{said}");
    let frames = root().join("protocols/netblocks/netblocks.mtp").display().to_string();
    let said = refused(&["sim", &frames, "--via", "lane/lane.mtp"]);
    assert!(said.contains("whole frames"), "{said}");
    let output = run(dir, &["build", "lane/lane.mtp", "--target", "ns3", "-o", "out"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("does not run programs in the role `in_network`"),
        "{said}"
    );
}

const TCP: &str = "protocols/tcp/tcp.mtp";
const PROXY: &str = "protocols/synproxy/synproxy.mtp";

/// Every fault of a link.
const BAD: [&str; 8] = ["--loss", "2%", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "1%"];

/// A connection through this program carries so many bytes, interpreted and compiled alike.
fn carries_all(between: &str, bytes: u64, seed: &str, faults: &[&str]) {
    let size = format!("{bytes}B");
    let through = ["sim", TCP, "--via", between, "--bytes", &size, "--seed", seed, "--format", "json"];
    let said = |more: &[&str]| -> Value {
        serde_json::from_str(&done(&root(), &[&through[..], faults, more].concat())).expect("JSON")
    };
    let interpreted = said(&[]);
    assert_eq!(interpreted["server"][0]["received_bytes"], bytes, "{interpreted}");
    assert_eq!(interpreted["server"][0]["end"], "closed", "{interpreted}");
    let compiled = said(&["--compiled"]);
    for what in ["completion_ns", "between", "packets"] {
        assert_eq!(interpreted[what], compiled[what], "{what}, seed {seed}");
    }
}

#[test]
fn a_connection_through_the_syn_proxy_carries_every_octet() {
    for (seed, faults) in [("1", &[][..]), ("2", &BAD), ("3", &BAD), ("4", &BAD)] {
        carries_all(PROXY, 200_000, seed, faults);
    }
}

#[test]
fn a_host_that_takes_time_for_packets_is_the_bottleneck() {
    let fast = ["sim", TCP, "--topology", "star:2", "--rate", "10Gbps", "--delay", "1us", "--format", "json"];
    let flows = ["--workload", "closed:1@h0:h1", "--flows", "1", "--bytes", "300KB"];
    let with = |service: &[&str]| {
        let said = done(&root(), &[&fast[..], &flows, service].concat());
        serde_json::from_str::<Value>(&said).expect("JSON")["runs"][0].take()
    };
    let ten = with(&["--service", "h1=10us"]);
    let [rate, busy] =
        [&ten["goodput_bps"], &ten["services"][0]["busy"]].map(|n| n.as_f64().expect("a number"));
    // 1460 bytes in 10 us; without a service, eight times as much passes.
    assert!((1.0e9..1.17e9).contains(&rate) && busy > 0.97, "{ten}");
    assert!(with(&[])["goodput_bps"].as_f64() > Some(2.0 * rate));
    let drawn = ["--service", "h0..h1=bimodal:95%x6us,5%x120us", "--service-queue", "8"];
    let short = with(&drawn);
    let (served, dropped) = (&short["services"][1]["served"], &short["services"][1]["dropped"]);
    assert!(short["ended"] == 1 && served.as_u64() > Some(200) && dropped.as_u64() > Some(0), "{short}");
    assert_eq!(short["services"][1]["longest"], 8, "{short}");
    let again = with(&drawn);
    assert_eq!((&short["services"], &short["ended_at_ns"]), (&again["services"], &again["ended_at_ns"]));
    for (service, hint) in [
        ("h1=10", "h1=12us"),
        ("h1", "h1=12us"),
        ("s0=10us", "h1=12us"),
        ("h1=normal:10us", "exponential:12us"),
        ("h4=10us", "2 hosts"),
        ("h0=bimodal:90%x1us,5%x2us", "not 95 %"),
    ] {
        let output = run(&root(), &[&fast[..], &["--service", service]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(hint), "{service}: {said}");
    }
}

const SNOOP: &str = "protocols/snoop/snoop.mtp";

#[test]
fn a_snooping_agent_repairs_losses_before_the_sender_sees_them() {
    let runs = |args: &[&str]| {
        let over = ["sim", TCP, "--topology", "protocols/snoop/lossy.toml", "--workload", "closed:1@h0:h1"];
        let flows = ["--flows", "1", "--bytes", "1MB", "--seeds", "4", "--format", "json"];
        let said = done(&root(), &[&over[..], &flows, args].concat());
        let runs = serde_json::from_str::<Value>(&said).expect("JSON")["runs"].take();
        let sum = |what: &str| -> u64 {
            runs.as_array().expect("runs").iter().map(|run| run[what].as_u64().expect("a number")).sum()
        };
        assert_eq!(sum("ended"), 4, "{runs}");
        [sum("ended_at_ns"), sum("retransmitted_packets")]
    };
    let agent = format!("--at=s0={SNOOP}");
    let without_sack = ["--without", "sack"];
    let [slow, resent] = runs(&without_sack);
    let [fast, hidden] = runs(&[&without_sack[..], &[&agent]].concat());
    assert!(resent >= 20 && hidden <= 2, "{resent} retransmissions, {hidden} with the agent");
    assert!(slow > 2 * fast, "{slow} ns, {fast} ns with the agent");
    let ([slow, resent], [fast, some]) = (runs(&[]), runs(&[&agent]));
    assert!(resent >= 15 && some <= 2, "{resent} retransmissions with SACK, {some} with the agent");
    assert!(slow > 2 * fast, "{slow} ns with SACK, {fast} ns with the agent");
}

#[test]
fn a_connection_past_a_snooping_agent_carries_every_octet() {
    for seed in ["1", "2"] {
        carries_all(SNOOP, 100_000, seed, &BAD);
    }
}

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// A TCP segment without options and payload.
fn segment(from: [u8; 4], flags: u8, seq: u32, ack: u32) -> Vec<u8> {
    let mut packet = vec![0; 40];
    (packet[0], packet[3], packet[8], packet[9]) = (0x45, 40, 64, 6);
    let outward = from == CLIENT;
    packet[12..16].copy_from_slice(&from);
    packet[16..20].copy_from_slice(if outward { &SERVER } else { &CLIENT });
    let ports: [u16; 2] = if outward { [4000, 80] } else { [80, 4000] };
    packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
    packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
    packet[24..28].copy_from_slice(&seq.to_be_bytes());
    packet[28..32].copy_from_slice(&ack.to_be_bytes());
    (packet[32], packet[33], packet[34]) = (5 << 4, flags, 100);
    let words = packet[12..].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let mut sum = words.sum::<u32>() + 6 + 20;
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    packet[36..38].copy_from_slice(&(!sum as u16).to_be_bytes());
    mend_checksum(&mut packet);
    packet
}

/// A segment that left: by which interface, its flags, its number, what it acknowledges, its window.
type Left = (u32, u8, u32, u32, u16);

struct Proxy(Core);

impl Proxy {
    fn start() -> Proxy {
        let program = compile_file(&root().join(PROXY)).expect("readable").program.expect("right");
        Proxy(Core::new(program, &Config { seed: 5, ..Config::default() }).expect("valid"))
    }

    fn rx(&mut self, interface: u32, packet: &[u8], now: u64) -> Vec<Left> {
        self.0.rx_on(interface, packet, now).expect("it is taken");
        self.left(now)
    }

    fn advance(&mut self, now: u64) -> Vec<Left> {
        self.0.advance(now).expect("there is room");
        self.left(now)
    }

    fn left(&mut self, now: u64) -> Vec<Left> {
        let (mut left, mut packet) = (Vec::new(), Vec::new());
        while self.0.tx(&mut packet, now) {
            let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().expect("four octets"));
            let window = u16::from_be_bytes([packet[34], packet[35]]);
            left.push((self.0.tx_interface(), packet[33], word(24), word(28), window));
        }
        left
    }
}

#[test]
fn a_server_hears_only_of_clients_that_are_there() {
    let mut proxy = Proxy::start();
    let asked = proxy.rx(0, &segment(CLIENT, SYN, 1000, 0), 0);
    let [(0, flags, own, 1001, 0)] = asked[..] else { panic!("{asked:?}") };
    assert_eq!(flags, SYN | ACK);
    assert_eq!(proxy.rx(0, &segment(CLIENT, ACK, 1001, own), 1), [], "an acknowledgement of something else");
    let connects = proxy.rx(0, &segment(CLIENT, ACK, 1001, own.wrapping_add(1)), 2);
    assert_eq!(connects, [(1, SYN, 1000, 0, 100 << 8)]);
    let opened = proxy.rx(1, &segment(SERVER, SYN | ACK, 7_000_000, 1001), 3);
    let window = 100 << 8;
    let client = (0, ACK, own.wrapping_add(1), 1001, window);
    assert_eq!(opened, [(1, ACK, 1001, 7_000_001, window), client]);
    // From now on numbers are shifted, there and back.
    let shifted = proxy.rx(1, &segment(SERVER, ACK, 7_000_051, 1001), 4);
    assert_eq!(shifted, [(0, ACK, own.wrapping_add(51), 1001, window)]);
    let back = proxy.rx(0, &segment(CLIENT, ACK, 1001, own.wrapping_add(51)), 5);
    assert_eq!(back, [(1, ACK, 1001, 7_000_051, window)]);
}

#[test]
fn who_does_not_answer_is_forgotten_and_who_is_refused_is_told() {
    let mut proxy = Proxy::start();
    let second = 1_000_000_000;
    let asked = proxy.rx(0, &segment(CLIENT, SYN, 1000, 0), 0);
    assert_eq!(proxy.0.open_contexts(), 1);
    assert_eq!(proxy.advance(4 * second), []);
    assert_eq!(proxy.0.open_contexts(), 0);
    assert_eq!(asked.len(), 1);
    let asked = proxy.rx(0, &segment(CLIENT, SYN, 1000, 0), 5 * second);
    let own = asked[0].2.wrapping_add(1);
    assert_eq!(proxy.rx(0, &segment(CLIENT, ACK, 1001, own), 5 * second).len(), 1);
    let refused = proxy.rx(1, &segment(SERVER, RST | ACK, 0, 1001), 5 * second);
    assert_eq!(refused, [(0, RST | ACK, own, 1001, 0)]);
    assert_eq!(proxy.0.open_contexts(), 0);
}
