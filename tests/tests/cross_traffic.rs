// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cross traffic of models in the simulator: it has the rate that is asked for, takes its part of a link, and is the same in each run.

use std::fs;
use std::path::Path;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use serde_json::Value;

const TCP: &str = "protocols/tcp/tcp.mtp";
const MESSAGES: &str = "tests/tests/beside/datagram.mtp";

/// A command line whose last words, the texts of `--cross`, have spaces.
fn words<'a>(program: &'a str, more: &'a str, cross: &'a [&str]) -> Vec<&'a str> {
    let texts = cross.iter().flat_map(|text| ["--cross", text]);
    ["sim", program, "--format", "json"].into_iter().chain(more.split(' ')).chain(texts).collect()
}

/// The results of a run in which nothing failed, without the command line.
#[track_caller]
fn simulated_in(folder: &Path, program: &str, more: &str, cross: &[&str]) -> Value {
    let text = done(folder, &words(program, more, cross));
    let mut all: Value = serde_json::from_str(&text).expect("JSON");
    all["runs"][0].take()
}

#[track_caller]
fn simulated(program: &str, more: &str, cross: &[&str]) -> Value {
    simulated_in(&root(), program, more, cross)
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name} in {of}"))
}

/// One flow over a link of 10 Mbit/s.
const FLOW: &str =
    "--topology dumbbell:2 --workload closed:1@h0:h2 --flows 1 --bytes 2MB --rate 10Mbps --delay 1ms";

#[test]
fn a_flow_has_what_is_left_of_the_link() {
    let alone = number(&simulated(TCP, FLOW, &[]), "goodput_bps");
    for (rate, left) in [("2Mbps", 0.8), ("5Mbps", 0.5)] {
        let run = simulated(TCP, FLOW, &[&format!("h1:h3: rate={rate}")]);
        let share = number(&run, "goodput_bps") / alone;
        assert!((left * 0.9..left * 1.1).contains(&share), "{rate}: {share}");
        let cross = &run["cross"][0];
        assert_eq!(cross["hosts"], "h1:h3");
        let (sent, delivered) = (number(cross, "sent_packets"), number(cross, "delivered_packets"));
        // The queue that TCP fills drops packets of both.
        assert!(delivered > 0.8 * sent && delivered <= sent, "{cross}");
    }
}

/// Packets of 1000 bytes at 8 Mbit/s for a second are 1000; each of them is delivered, dropped, or was lost.
#[test]
fn each_packet_is_counted() {
    let cross = ["h1:h3: rate=8Mbps,size=1000B @ 100ms..1100ms", "h3:h1: rate=80Mbps,size=1000B @ 0s..50ms"];
    let run = simulated(TCP, &format!("{FLOW} --loss 1% --queue 20"), &cross);
    let (plain, fast) = (&run["cross"][0], &run["cross"][1]);
    assert_eq!((number(plain, "sent_packets"), number(plain, "dropped")), (1000.0, 0.0));
    assert_eq!(number(plain, "sent_bytes"), 1e6);
    assert!((7.99e6..8.01e6).contains(&number(plain, "sent_bps")), "{plain}");
    // Eight times as much as the link takes: the rest finds the queue of the host full.
    assert_eq!(number(fast, "sent_packets"), 500.0);
    assert!((380.0..440.0).contains(&number(fast, "dropped")), "{fast}");
    let tiers = run["queues"].as_object().expect("tiers").values();
    let gone: f64 = tiers.map(|tier| number(tier, "lost") + number(tier, "dropped")).sum();
    let counted =
        |it: &Value| number(it, "sent_packets") - number(it, "dropped") - number(it, "delivered_packets");
    assert!(counted(plain) > 0.0 && counted(plain) + counted(fast) <= gone, "{run}");
}

#[test]
fn every_pattern_is_the_same_in_each_run_and_other_with_another_seed() {
    for settings in [
        "rate=3Mbps,poisson",
        "rate=6Mbps,on=10ms,off=10ms",
        "rate=6Mbps,on=10ms,off=10ms,shape=1.5,poisson,size=300B",
    ] {
        let text = format!("h1:h3: {settings}");
        let first = simulated(TCP, FLOW, &[&text]);
        assert_eq!(first, simulated(TCP, FLOW, &[&text]), "{settings}");
        assert_eq!(first, simulated(TCP, &format!("{FLOW} --compiled"), &[&text]), "{settings}");
        let other = simulated(TCP, &format!("{FLOW} --seed 2"), &[&text]);
        assert_ne!(first["cross"], other["cross"], "{settings}");
        let sent = number(&first["cross"][0], "sent_bps");
        assert!((1.5e6..5.0e6).contains(&sent), "{settings}: {sent}");
    }
}

/// Hosts that a range names have sources of their own; switches spread what is of several over all paths.
#[test]
fn several_hosts_send_by_themselves() {
    let more = "--topology leaf-spine:2,2,4 --workload closed:1@h0:h7 --flows 1 --bytes 1MB --rate 100Mbps \
                --core-rate 100Mbps --delay 10us --link s0:s2 --link s0:s3";
    let run = simulated(TCP, more, &["h1..h3:h4: rate=20Mbps,poisson"]);
    let cross = run["cross"].as_array().expect("sources");
    let names: Vec<&Value> = cross.iter().map(|it| &it["hosts"]).collect();
    assert_eq!(names, ["h1:h4", "h2:h4", "h3:h4"]);
    assert_ne!(cross[0]["sent_packets"], cross[1]["sent_packets"]);
    let links = run["links"].as_array().expect("links");
    assert!(links.iter().all(|link| number(link, "packets") > 0.0), "{links:?}");
}

/// The sender of messages has finished, and the packets that are on their way are not its own.
#[test]
fn messages_end_beside_cross_traffic_of_the_same_hosts() {
    let more = "--topology pair --workload closed:1@h0:h1 --flows 3 --bytes 20KB --rate 10Mbps --delay 1ms --loss 2%";
    let run = simulated(MESSAGES, more, &["h0:h1: rate=2Mbps", "h1:h0: rate=2Mbps,poisson"]);
    assert_eq!(run["flows"], 3);
    assert!(number(&run, "ended_at_ns") < 60e9, "{run}");
}

#[test]
fn a_recording_is_replayed_and_is_an_input_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("gaps.csv"), "gap_ns,bytes\n0,1500\n1000000,100\n3000000,40\n")
        .expect("writable");
    let program = root().join(TCP);
    let more = format!("{FLOW} --trace out.jsonl --trace-format json");
    let cross = ["h1:h3: trace=gaps.csv @ 0s..40ms"];
    let run = simulated_in(folder.path(), &program.to_string_lossy(), &more, &cross);
    // Ten periods of 4 ms; what would be sent at 40 ms is not.
    let source = &run["cross"][0];
    assert_eq!(
        (number(source, "sent_packets"), number(source, "sent_bytes")),
        (29.0, 10.0 * 1600.0 + 9.0 * 40.0)
    );
    let header = fs::read_to_string(folder.path().join("out.jsonl")).expect("a trace");
    assert!(header.lines().next().is_some_and(|line| line.contains("gaps.csv")), "the trace names its input");
}

#[test]
fn sweeps_take_several() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("runs.csv");
    let table = table.to_string_lossy();
    let mut line = vec!["sweep", TCP];
    line.extend(FLOW.split(' '));
    line.extend(["--cross", "h1:h3: rate=2Mbps,poisson;h1:h3: rate=6Mbps", "-o", &table]);
    done(&root(), &line);
    let rows = fs::read_to_string(&*table).expect("a table");
    let column =
        rows.lines().next().and_then(|names| names.split(',').position(|name| name == "goodput_bps"));
    let column = column.expect("a column");
    // Texts with commas stand in quotes; the column is behind them.
    let goodput: Vec<f64> = rows.lines().skip(1).map(|row| cell(row, column)).collect();
    assert!(goodput.len() == 2 && goodput[0] > 1.5 * goodput[1], "{rows}");
}

/// A cell of a line of CSV, as a number.
fn cell(row: &str, column: usize) -> f64 {
    let mut quoted = false;
    let cells: Vec<&str> = row
        .split(|c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        })
        .collect();
    cells[column].parse().expect("a number")
}

#[test]
fn what_is_no_cross_traffic_is_said() {
    let said = |more: &str, cross: &str| {
        let refused = run(&root(), &words(TCP, more, &[cross]));
        assert_eq!(refused.status.code(), Some(2), "{cross}");
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    assert!(said(FLOW, "h1:h1: rate=1Mbps").contains("cross traffic from h1 to h1 stays there"));
    assert!(said(FLOW, "h1:h3: rate=1Mbps,size=2KB").contains("40 to 1500 bytes (the MTU), not 2000"));
    assert!(said("--rate 10Mbps", "h1:h3: rate=1Mbps").contains("--topology"));
}

/// A sender whose packets are all lost, and which has no timer, waits for ever: the run ends all the same.
#[test]
fn a_run_ends_when_only_cross_traffic_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(root().join("protocols/small-tcp/small-tcp.mtp")).expect("a program");
    let patient = ["timer_start", "timer_restart"].iter().fold(text.clone(), |text, start| {
        text.replace(&format!("{start}(c.rtx, c.rto)"), "timer_stop(c.rtx)")
    });
    assert_ne!(patient, text);
    let file = folder.path().join("patient.mtp");
    fs::write(&file, patient).expect("writable");
    let ended = |cross: &[&str]| {
        let network = "--topology dumbbell:2 --workload closed:1@h0:h2 --flows 1 --bytes 200KB --rate 10Mbps --delay 1ms";
        let more = format!("{network} --down 50ms..");
        let output = run(&root(), &words(&file.to_string_lossy(), &more, cross));
        assert_eq!(output.status.code(), Some(1), "the flow does not end");
        let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        number(&all["runs"][0], "ended_at_ns")
    };
    let alone = ended(&[]);
    let beside = ended(&["h1:h3: rate=1Mbps"]);
    assert!(alone > 5e7 && beside > 5e7 && beside < 2.0 * alone, "{alone} and {beside}");
}
