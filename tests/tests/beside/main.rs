// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program for each host: other protocols beside each other in one network, what each gets of it, and what is no such network.

mod errors;
mod losses;
mod made_again;
mod setting;

use std::collections::{BTreeMap, BTreeSet};

use carrick_tests::command::done;
use serde_json::Value;
use setting::{BESIDE, Cell, DATAGRAMS, begun, json, rows, same_results, table};

/// What both engines say of a run, in tables and in JSON.
#[test]
fn interpreter_and_compiled_core_agree() {
    let folder = begun();
    let dir = folder.path();
    let made = |engine: &[&str]| {
        let tables =
            ["--csv", "flows.csv", "--rates", "rates.csv", "--trace", "a.run", "--trace-format", "json"];
        let samples = ["--samples", "samples.csv", "--sample", "sent", "--loss", "1%", "--format", "json"];
        let said = done(dir, &[&BESIDE[..], &DATAGRAMS, &tables, &samples, engine].concat());
        let tables = ["flows.csv", "rates.csv", "samples.csv"].map(|name| rows(dir, name));
        let trace = std::fs::read_to_string(dir.join("a.run")).expect("readable");
        // A compiled core does not know which line issued an instruction.
        let trace = trace.lines().skip(1).filter(|line| !line.contains("\"what\":\"instruction\""));
        (json(&said), tables, trace.map(str::to_owned).collect::<Vec<_>>())
    };
    let [interpreted, compiled] = [&[][..], &["--compiled"]].map(made);
    assert!(same_results(&interpreted.0, &compiled.0));
    assert_eq!(interpreted.1, compiled.1);
    assert!(interpreted.2 == compiled.2 && interpreted.2.len() > 10_000);
    let samples = &interpreted.1[2];
    assert!(samples[1].ends_with(",datagram") && samples.iter().all(|row| !row.ends_with(",tcp")));
}

/// To name the program that hosts run anyway changes nothing.
#[test]
fn the_same_program_is_no_other() {
    let folder = begun();
    let dir = folder.path();
    for more in [&[][..], &["--with", "newreno", "--set", "snd_buf=32KiB"], &["--host-with", "h1=newreno"]] {
        let made = |named: &[&str]| {
            let tables = ["--csv", "flows.csv", "--format", "json"];
            let said = done(dir, &[&BESIDE[..], more, named, &tables].concat());
            (json(&said), rows(dir, "flows.csv"))
        };
        let [without, with] =
            [&[][..], &["--host-program", "h1..h2=./protocols/../protocols/tcp/tcp.mtp"]].map(made);
        assert!(same_results(&without.0, &with.0), "{more:?}");
        assert_eq!(without.1, with.1);
        assert!(!without.1[0].contains("program"), "{:?}", without.1);
    }
}

/// One bottleneck of 100 Mbit/s.
#[test]
fn a_transport_of_your_own_is_beside_tcp() {
    let folder = begun();
    let dir = folder.path();
    let ran = |more: &[&str]| {
        let tables = ["--csv", "flows.csv", "--rates", "rates.csv", "--format", "json"];
        let said = json(&done(dir, &[&BESIDE[..], &DATAGRAMS, &tables, more].concat()));
        said["runs"][0].clone()
    };
    let all = ran(&[]);
    let programs = all["host_programs"].as_array().expect("a list");
    let of = |name: &str, what: &str| {
        let program = programs.iter().find(|it| it["program"] == name).expect("a program");
        program[what].as_f64().unwrap_or_else(|| panic!("{program}"))
    };
    let [tcp, datagram] = ["tcp", "datagram"].map(|name| of(name, "goodput_bps"));
    let together = all["goodput_bps"].as_f64().expect("a number");
    assert!(tcp > 1e7 && datagram > 1e7 && tcp + datagram <= 1e8, "{tcp} {datagram}");
    assert!((tcp + datagram - together).abs() < 1.0, "{together}");
    // Those that find the queue full are lost, and said.
    let lost = of("datagram", "lost_messages");
    assert!(lost > 0.0 && of("tcp", "lost_messages") == 0.0, "{all}");
    assert_eq!((of("tcp", "ended"), of("datagram", "ended"), of("datagram", "flows")), (1.0, 0.0, 1.0));
    assert_eq!((&all["failures"], &all["messages"]["lost"]), (&Value::Array(vec![]), &(lost as u64).into()));
    // What is said is what arrived, until the last of it did.
    let flows = table(dir, "flows.csv");
    let (own, rates) = (&flows[1], table(dir, "rates.csv"));
    assert_eq!(
        (own["program"].as_str(), own["status"].as_str(), own["slowdown"].as_str()),
        ("datagram", "LOST", "")
    );
    let arrived: u64 =
        rates.iter().filter(|row| row["program"] == "datagram").map(|row| row.number("bytes")).sum();
    assert!(arrived > 0 && arrived + 1472 * lost as u64 >= 1_000_000 && arrived < 1_000_000, "{arrived}");
    let ended = all["ended_at_ns"].as_u64().expect("a time");
    assert!((datagram - arrived as f64 * 8e9 / ended as f64).abs() < 1.0);
    let rate = arrived as f64 * 8e9 / own.number("end_ns") as f64;
    assert!((of("datagram", "flow_bps") - rate).abs() < 1.0 && rate <= 1e8);
    // With a rate of its own it leaves the rest to the other, and loses nothing.
    let paced = ran(&["--host-set", "h1.pace=20Mbps"]);
    assert_eq!(paced["messages"]["lost"], 0);
    let rates: Vec<f64> = paced["host_programs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["flow_bps"].as_f64().expect("a rate"))
        .collect();
    assert!(rates[0] > 3.0 * rates[1] && (1.8e7..=2e7).contains(&rates[1]), "{rates:?}");
}

const MIXED: [&str; 6] =
    ["sim", "protocols/tcp/tcp.mtp", "--topology", "star:9", "--host-program", "h2..h6=datagram.mtp"];

/// The flows of a workload, by their ends.
fn drawn(dir: &std::path::Path, more: &[&str]) -> Vec<(u64, u64)> {
    done(dir, &[&MIXED[..], &["--bytes", "1KB", "--fast", "--csv", "flows.csv"], more].concat());
    let flows = table(dir, "flows.csv");
    flows.iter().map(|flow| (flow.number("source"), flow.number("destination"))).collect()
}

#[test]
fn workloads_are_drawn_among_the_hosts_of_each_program() {
    let folder = begun();
    let dir = folder.path();
    let own = |host: u64| (2..=6).contains(&host);
    for workload in ["permutation", "all-to-all", "closed:2", "poisson:10%", "incast:3"] {
        let seeded = |seed: &str| drawn(dir, &["--workload", workload, "--seed", seed]);
        let flows = seeded("1");
        assert!(flows.iter().all(|(from, to)| from != to && own(*from) == own(*to)), "{workload}: {flows:?}");
        assert_eq!(flows, seeded("1"), "{workload}");
        let differs = !["all-to-all", "incast:3"].contains(&workload);
        assert_eq!(flows != seeded("2"), differs, "{workload}");
        let groups = [false, true].map(|of| flows.iter().filter(|(from, _)| own(*from) == of).count());
        let wanted = match workload {
            "permutation" => [4, 5],
            "all-to-all" => [4 * 3, 5 * 4],
            "incast:3" => [3, 3],
            // Shared by senders.
            _ => [444, 556],
        };
        assert_eq!(groups, wanted, "{workload}");
        if workload == "permutation" {
            let all: BTreeSet<u64> = flows.iter().map(|(_, to)| *to).collect();
            assert_eq!(all.len(), 9);
        }
        if workload == "incast:3" {
            assert_eq!(flows, [(1, 0), (7, 0), (8, 0), (3, 2), (4, 2), (5, 2)]);
        }
    }
    // Of named hosts, those of each program.
    let flows = drawn(dir, &["--workload", "all-to-all@h0..h3:h4..h8"]);
    let mut by_sender = BTreeMap::<u64, Vec<u64>>::new();
    flows.iter().for_each(|(from, to)| by_sender.entry(*from).or_default().push(*to));
    assert_eq!(by_sender, [(0, vec![7, 8]), (1, vec![7, 8]), (2, vec![4, 5, 6]), (3, vec![4, 5, 6])].into());
    assert_eq!(drawn(dir, &["--workload", "all-to-all@h2..h3:h4..h5"]).len(), 4, "only one program");
}

/// Protocols over both versions of the Internet Protocol, of one number, share links; each has messages of its own length.
#[test]
fn versions_and_message_lengths_may_differ() {
    let folder = begun();
    let dir = folder.path();
    let text = std::fs::read_to_string(dir.join("datagram.mtp")).expect("readable");
    let six = text.replace("net_header inet {", "net_header ipv6 {").replace("over inet", "over ipv6");
    std::fs::write(dir.join("six.mtp"), six.replace(", inet ip", ", ipv6 ip")).expect("writable");
    let args = ["sim", "datagram.mtp", "--topology", "dumbbell:2", "--workload", "all-to-all@h0..h1:h2..h3"];
    let said = json(&done(
        dir,
        &[
            &args[..],
            &[
                "--host-program",
                "h1=six.mtp",
                "--host-program",
                "h3=six.mtp",
                "--bytes",
                "50KB",
                "--host-set",
                "h0..h1.pace=10Mbps",
                "--format",
                "json",
                "--csv",
                "flows.csv",
            ],
        ]
        .concat(),
    ));
    let ran = &said["runs"][0];
    assert_eq!((&ran["ended"], &ran["counters"]["ip_version"]), (&2.into(), &0.into()), "{ran}");
    // 1472 and 1452 bytes fit into a packet of 1500.
    assert_eq!(
        ran["messages"]["count"].as_u64(),
        Some(50_000_u64.div_ceil(1472) + 50_000_u64.div_ceil(1452))
    );
}

/// A packet that its host's program does not take is counted.
#[test]
fn packets_of_another_protocol_are_said() {
    let folder = begun();
    let dir = folder.path();
    let calls =
        ["--call", "h1: probe(10.0.0.2, 10.0.0.1) @ 1ms", "--call", "h1: probe(10.0.0.2, 10.0.0.1) @ 2ms"];
    let own = ["--call", "h1: probe(10.0.0.2, 10.0.0.4) @ 2ms"];
    let said = done(dir, &[&BESIDE[..], &DATAGRAMS, &calls, &own, &["--host-set", "h1.pace=1Mbps"]].concat());
    let line = "at h0             2 packets of protocol 253 arrived, the program tcp speaks 6\n";
    assert!(said.contains(line) && said.matches("arrived, the program").count() == 1, "{said}");
    let said =
        json(&done(dir, &[&BESIDE[..], &DATAGRAMS, &calls, &["--compiled", "--format", "json"]].concat()));
    let foreign =
        serde_json::json!([{ "host": 0, "program": "tcp", "speaks": 6, "protocol": 253, "packets": 2 }]);
    assert_eq!(said["runs"][0]["foreign_packets"], foreign);
    assert_eq!(said["runs"][0]["counters"]["ip_protocol"], 2);
}
