// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults of links: each does what it says on every topology, only on the links and at the times that are named, and the same in
//! each run.

use std::path::Path;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use serde_json::Value;

const TCP: &str = "protocols/tcp/tcp.mtp";
const MESSAGES: &str = "tests/tests/beside/datagram.mtp";
const TOPOLOGIES: [&str; 5] = ["pair", "dumbbell:2", "star:4", "leaf-spine:2,2,2", "fat-tree:4"];
const EVERY: &str =
    "--loss 1% --duplicate 1% --reorder 2% --corrupt 0.5% --jitter 20us --burst-loss 0.1%/25%";
/// Counts of faults in results, but for packets that are too long and those of links that are down.
const COUNTS: [&str; 5] = ["lost", "lost_in_bursts", "duplicated", "reordered", "corrupted"];

fn words<'a>(program: &'a str, more: &'a str) -> Vec<&'a str> {
    ["sim", program, "--format", "json"].into_iter().chain(more.split(' ')).collect()
}

/// The results of a run in which nothing failed.
#[track_caller]
fn simulated(program: &str, more: &str) -> Value {
    result(&done(&root(), &words(program, more)))
}

/// The results as JSON, without the command line.
#[track_caller]
fn result(text: &str) -> Value {
    let mut all: Value = serde_json::from_str(text).expect("JSON");
    let one = all["runs"][0].take();
    assert!(one.is_object(), "{text}");
    one
}

/// A count of all links together, or of one.
fn count(of: &Value, name: &str) -> u64 {
    let number = |of: &Value| of[name].as_u64().unwrap_or_else(|| panic!("{name} in {of}"));
    match of.get("queues").and_then(Value::as_object) {
        Some(tiers) => tiers.values().map(number).sum(),
        None => number(of),
    }
}

/// What a wrong command line is told.
fn refused(more: &str) -> String {
    let refused = run(&root(), &words(TCP, more));
    assert_eq!(refused.status.code(), Some(2), "{more}");
    String::from_utf8_lossy(&refused.stderr).into_owned()
}

#[test]
fn every_topology_has_every_fault_and_each_run_is_the_same() {
    for topology in TOPOLOGIES {
        let more = format!("--topology {topology} --bytes 200KB --rate 100Mbps --delay 50us {EVERY}");
        let first = simulated(TCP, &more);
        assert_eq!(first, simulated(TCP, &format!("{more} --compiled")), "{topology}");
        assert_ne!(first, simulated(TCP, &format!("{more} --seed 2")), "{topology}");
        for name in COUNTS {
            assert!(count(&first, name) > 0, "{topology}, {name}: {first}");
        }
        assert_eq!(first["flows"], first["ended"]);
        // Routers look at the header's checksum, hosts at all others.
        let bad = count(&first, "bad_header");
        match topology {
            "pair" => assert_eq!(bad, 0, "{first}"),
            "fat-tree:4" => assert!((1..count(&first, "corrupted")).contains(&bad), "{first}"),
            _ => {}
        }
    }
}

#[test]
fn faults_are_as_frequent_as_their_shares() {
    let more = "--topology dumbbell:2 --bytes 4MB --compiled --fast --loss 0.5% --duplicate 1% --reorder 2% --corrupt 0.25%";
    let run = simulated(TCP, more);
    let packets = count(&run, "packets") as f64;
    for (name, share) in [("lost", 0.005), ("duplicated", 0.01), ("reordered", 0.02), ("corrupted", 0.0025)] {
        let found = count(&run, name) as f64 / packets;
        // Five standard deviations of a binomial count.
        let bound = 5.0 * (share * (1.0 - share) / packets).sqrt();
        assert!((found - share).abs() < bound, "{name}: {found} of {packets}");
    }
}

/// The formula of the stationary distribution: p / (p + r) of packets find the link in the bad state.
#[test]
fn bursts_lose_what_the_formula_says() {
    let run = simulated(
        MESSAGES,
        "--topology pair --workload incast:1 --bytes 40MB --message 1000B --rate 1Gbps --compiled --fast --burst-loss 2%/20%",
    );
    let packets = count(&run, "packets") as f64;
    let (found, wanted) = (count(&run, "lost_in_bursts") as f64 / packets, 0.02 / (0.02 + 0.2));
    // Some 800 bursts: four standard deviations of their number and lengths.
    assert!((found / wanted - 1.0).abs() < 0.2, "{found}, not {wanted}, of {packets}");
    assert_eq!(count(&run, "lost_in_bursts"), count(&run, "lost"));
}

#[test]
fn only_the_links_that_are_named_have_faults() {
    let more = "--topology leaf-spine:2,2,2 --spray --bytes 1MB --rate 100Mbps --compiled";
    let spine = format!("{more} --link s0:s2 --link s2:s1 --link s0:s3 --link h0:s0");
    let run = result(&done(
        &root(),
        &[&words(TCP, &spine)[..], &["--link-fault", "s2: corrupt=2%", "--link-fault", "s0:s2: loss=1%"]]
            .concat(),
    ));
    let links = run["links"].as_array().expect("the links that are reported");
    let of = |name: &str| links.iter().map(|link| count(link, name)).collect::<Vec<_>>();
    let (corrupted, lost) = (of("corrupted"), of("lost"));
    assert!(corrupted[0] > 0 && corrupted[1] > 0 && lost[0] > 0, "{run}");
    assert_eq!((&corrupted[2..], &lost[1..]), (&[0, 0][..], &[0, 0, 0][..]), "{run}");
}

/// A link that names a fault of its own does not have that of all links.
#[test]
fn a_link_of_its_own_has_other_faults_than_all() {
    let more = words(TCP, "--topology star:2 --bytes 1MB --compiled --loss 2% --link h0:s0 --link s0:h1");
    let run = result(&done(&root(), &[&more[..], &["--link-fault", "h0:s0: loss=0%"]].concat()));
    let links = run["links"].as_array().expect("the links that are reported");
    assert_eq!(count(&links[0], "lost"), 0, "{run}");
    assert!(count(&links[1], "lost") > 0, "{run}");
}

#[test]
fn a_link_goes_down_and_comes_back() {
    let more = "--topology dumbbell:1 --workload incast:1 --bytes 4MB --rate 10Mbps --compiled --rates RATES --every 100ms";
    let folder = tempfile::tempdir().expect("a folder");
    let rates = folder.path().join("rates.csv");
    let more = more.replace("RATES", rates.to_str().expect("a plain path"));
    let simulate = |fault: &str| {
        let run = result(&done(&root(), &[&words(TCP, &more)[..], &["--link-fault", fault]].concat()));
        let table = std::fs::read_to_string(&rates).expect("a table");
        let rows = table.lines().skip_while(|line| line.starts_with('#')).skip(1);
        // Tables of runs begin with the seed.
        let from = rows.map(|row| row.split(',').nth(1).and_then(|ns| ns.parse().ok()).expect("a time"));
        (run, from.collect::<Vec<u64>>())
    };
    let (run, arrived) = simulate("s0-s1: down @ 1s..2s");
    assert_eq!(run["ended"], 1, "{run}");
    assert!(count(&run, "lost_down") > 0 && count(&run, "lost_down") == count(&run, "lost"), "{run}");
    let within = |from: u64, to: u64| arrived.iter().any(|at| (from..to).contains(&(at / 100_000_000)));
    assert!(within(0, 10) && !within(11, 20) && within(20, 100), "{arrived:?}");
    // A link of which only the way back is down loses acknowledgements and nothing else.
    let (back, _) = simulate("s1:s0: down @ 1s..2s");
    assert_eq!(back["ended"], 1, "{back}");
    assert!(count(&back["queues"]["between switches"], "lost_down") > 0, "{back}");
}

#[test]
fn a_path_has_a_smaller_mtu_behind_a_switch() {
    let run = |features: &str, fault: &str| {
        let more = format!("--topology dumbbell:1 --bytes 300KB --compiled {features} {fault}");
        run(&root(), &words(TCP, &more))
    };
    let fault = "--link-fault s0-s1:path-mtu=1000";
    for over in ["--over ipv4", "--over ipv6"] {
        let fault = fault.replace("1000", "1300");
        let reported = run(over, &fault);
        assert!(reported.status.success(), "{}", String::from_utf8_lossy(&reported.stdout));
        let reported = result(&String::from_utf8_lossy(&reported.stdout));
        assert!((1..50).contains(&count(&reported, "too_long")), "{reported}");
    }
    // A sender that searches gets through without reports; one that only waits for them does not.
    let black_hole = format!("{fault},black-hole");
    let searched = run("--with path_mtu=searched", &black_hole);
    assert!(searched.status.success(), "{}", String::from_utf8_lossy(&searched.stdout));
    let silent = run("--without path_mtu", &black_hole);
    let result = result(&String::from_utf8_lossy(&silent.stdout));
    assert_eq!((silent.status.code(), &result["ended"]), (Some(1), &Value::from(0)), "{result}");
}

/// Reports of routers are for all programs: they are no packets of a foreign protocol.
#[test]
fn reports_reach_the_program_that_they_are_about() {
    let more =
        format!("--topology dumbbell:2 --host-program h2..h3={MESSAGES} --bytes 200KB --path-mtu 1200");
    let run = simulated(TCP, &more);
    assert!(count(&run, "too_long") > 0, "{run}");
    assert_eq!(run["foreign_packets"], Value::Array(Vec::new()), "{run}");
}

#[test]
fn a_file_has_faults_for_its_links_beside_those_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("net.toml");
    let write = |faults: &str| {
        let link = |ends: &str, more: &str| {
            format!("[[links]]\nends = [{ends}]\nrate = \"100Mbps\"\ndelay = \"1ms\"\n{more}\n")
        };
        let links = link("\"h0\", \"s0\"", &format!("faults = [{faults}]")) + &link("\"h1\", \"s0\"", "");
        std::fs::write(&file, format!("hosts = 2\nswitches = 1\n{links}")).expect("writable");
    };
    let more = format!("--topology {} --bytes 500KB --compiled --reorder 2%", file.display());
    write("\"corrupt=1%, duplicate=1%\", \"down @ 10ms..20ms\"");
    let run = simulated(TCP, &format!("{more} --link h0:s0 --link s0:h0 --link h1:s0"));
    for (name, wanted) in [
        ("reordered", [true, true, true]),
        ("corrupted", [true, true, false]),
        ("duplicated", [true, true, false]),
        ("lost_down", [true, true, false]),
    ] {
        let links = run["links"].as_array().expect("the links that are reported");
        let found: Vec<bool> = links.iter().map(|link| count(link, name) > 0).collect();
        assert_eq!(found, wanted, "{name}: {run}");
    }
    write("\"corupt=1%\"");
    let said = refused(&more);
    assert!(said.contains("net.toml: faults \"corupt=1%\": `corupt` is not a fault of a link"), "{said}");
}

#[test]
fn switches_mark_by_packets() {
    let more = "--topology star:4 --workload incast:3 --bytes 1MB --rate 100Mbps --compiled --with dctcp";
    let all = simulated(TCP, &format!("{more} --ecn-threshold 10"));
    let (marked, dropped) = (count(&all, "marked"), count(&all, "dropped"));
    assert!(marked > 0 && dropped == 0, "{all}");
    let none = simulated(TCP, more);
    assert_eq!(count(&none, "marked"), 0, "{none}");
    let peak = |run: &Value| run["bottleneck"]["peak_bytes"].as_u64().expect("a number");
    assert!(peak(&all) < peak(&none), "{all}\n{none}");
}

/// A program that promises no delivery hands on what the network delivers twice; one that does is held to its promise.
#[test]
fn duplicates_of_unreliable_messages_are_no_failure() {
    let more = "--topology star:2 --bytes 200KB --message 1000B --duplicate 10%";
    let run = simulated(MESSAGES, more);
    assert!(count(&run["messages"], "delivered_again") > 0, "{run}");
}

#[test]
fn jitter_delays_and_keeps_the_order() {
    let more = "--topology pair --bytes 200KB --rate 100Mbps --delay 1ms --compiled";
    let (plain, jittered) = (simulated(TCP, more), simulated(TCP, &format!("{more} --jitter 2ms")));
    let ended = |run: &Value| run["ended_at_ns"].as_u64().expect("a number");
    assert!(ended(&jittered) > ended(&plain) + 1_000_000, "{jittered}");
    assert_eq!(jittered["retransmitted_packets"], 0, "{jittered}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    for (more, wanted) in [
        ("--link-fault s0:loss=1%", "--topology"),
        ("--topology star:2 --link-fault s0", "--link-fault s0: write links, a colon and faults"),
        (
            "--topology star:2 --link-fault s7:loss=1%",
            "\"s7\" is no node of this topology: it has h0 to h1 and s0",
        ),
        ("--topology star:2 --link-fault h0:h1:down", "there is no such link; h0 has links to s0"),
        ("--topology star:2 --link-fault s0:lose=1%", "`lose` is not a fault of a link; these are: loss="),
        ("--topology star:2 --link-fault s0:black-hole", "say `path-mtu=BYTES` for the same link"),
        ("--topology star:2 --link-fault s0:down@3s..2s", "its end is not after its beginning"),
        ("--topology star:2 --mark-at 10KB --ecn-threshold 5", "leave out one of them"),
        ("--topology pair --ecn-threshold 5", "there no packets wait"),
        ("--burst-loss 1%", "--burst-loss: \"1%\" is not a loss in bursts: write BEGIN/END"),
        ("--burst-loss 1%/2%/3%/4%/5%", "write BEGIN/END"),
        ("--down 2s", "--down 2s: \"2s\" is not an interval"),
        ("--jitter 5", "--jitter: \"5\" is not a duration"),
        ("--jitter 2h", "above the limit"),
    ] {
        let said = refused(more);
        assert!(said.contains(wanted), "{more}: {said}");
    }
}

#[test]
fn two_hosts_have_the_same_faults() {
    let more = "--bytes 500KB --burst-loss 1%/25% --jitter 1ms --down 30ms..60ms";
    let text = done(&root(), &words(TCP, more));
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let link = &run["links"][0];
    assert!(count(link, "lost_in_bursts") > 0 && count(link, "lost_down") > 0, "{run}");
    assert_eq!(run["server"][0]["received_bytes"], 500_000, "{run}");
    assert_eq!(run["failures"], Value::Array(Vec::new()));
}

#[test]
fn sweeps_and_artefacts_have_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir: &Path = folder.path();
    done(dir, &["new", "parcel"]);
    let sweep =
        "sweep parcel/parcel.mtp --topology pair,star:2 --burst-loss 0%/25%,5%/25% --bytes 200KB -o a.csv";
    done(
        dir,
        &[&sweep.split(' ').collect::<Vec<_>>()[..], &["--link-fault", "h0: reorder=1%;h0: loss=1%"]]
            .concat(),
    );
    let table = std::fs::read_to_string(dir.join("a.csv")).expect("a table");
    let head = table.lines().next().expect("a first line");
    assert!(head.contains("burst_loss,topology,link_fault"), "{head}");
    assert_eq!(table.lines().count(), 1 + 2 * 2 * 2, "{table}");
    let sim =
        "sim parcel/parcel.mtp --topology star:2 --jitter 10us --down 1ms..2ms --bytes 200KB --csv flows.csv";
    let fault = ["--link-fault", "s0:*: reorder=1%,corrupt=1% @ 1ms.."];
    done(dir, &[&sim.split(' ').collect::<Vec<_>>()[..], &fault].concat());
    assert_eq!(done(dir, &["repro", "flows.csv"]).trim(), "flows.csv: the same");
}
