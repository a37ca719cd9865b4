// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of the papers: they check, and do what the text says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use carrick_tests::simulated::{all_answered, simulate};
use serde_json::Value;

const APPENDIX_E: &str = "tests/paper/appendix_e.mtp";
const APPENDIX_B: &str = "tests/paper/appendix_b.mtp";
const FIGURE_1: &str = "tests/paper/figure_1.mtp";
const OCTETS: u64 = 200_000;
const BAD: [&str; 8] = ["--loss", "3%", "--reorder", "3%", "--duplicate", "3%", "--corrupt", "2%"];

/// What a run with every fault prints; `None` where a C compiler is wanted and missing.
fn appendix_e(seed: u64, more: &[&str]) -> Option<Value> {
    let seed = seed.to_string();
    let run = ["--bytes", "200KB", "--delay", "3ms", "--rate", "50Mbps", "--seed", &seed];
    simulate(APPENDIX_E, &[&run, &BAD, more].concat())
}

#[test]
fn appendix_e_brings_every_octet_through_every_fault() {
    for seed in 1..=30 {
        let Some(result) = appendix_e(seed, &[]) else { return };
        assert_eq!(result["server"][0]["received_bytes"], OCTETS, "seed {seed}: {result}");
        assert_eq!(result["server"][0]["end"], "closed", "seed {seed}: {result}");
        assert_eq!(result["client"][0]["end"], "closed", "seed {seed}: {result}");
    }
}

#[test]
fn appendix_e_compiled_does_the_same() {
    for seed in [2, 15] {
        let (Some(compiled), Some(interpreted)) = (appendix_e(seed, &["--compiled"]), appendix_e(seed, &[]))
        else {
            return;
        };
        assert_eq!(compiled, interpreted, "seed {seed}");
    }
}

/// `count` RPCs whose requests and responses are of that many bytes.
fn rpcs(count: u64, octets: u64, more: &[&str]) -> Option<Value> {
    rpcs_of(FIGURE_1, count, octets, more)
}

fn rpcs_of(program: &str, count: u64, octets: u64, more: &[&str]) -> Option<Value> {
    let (count, octets) = (count.to_string(), format!("{octets}B"));
    let run = ["--app", "request-response", "--count", &count, "--bytes", &octets, "--answer", &octets];
    simulate(program, &[&run[..], &["--delay", "50us", "--rate", "1Gbps"], more].concat())
}

#[test]
fn figure_1_answers_every_request_through_every_fault() {
    for seed in 1..=15 {
        let seed = seed.to_string();
        let faults = [&BAD[..], &["--seed", &seed]].concat();
        for octets in [32, 50_000] {
            let Some(result) = rpcs(30, octets, &faults) else { return };
            all_answered(&result, 30);
        }
    }
}

#[test]
fn figure_1_compiled_does_the_same() {
    let args = [&BAD[..], &["--seed", "7"]].concat();
    let interpreted = rpcs(20, 40_000, &args);
    if let Some(compiled) = rpcs(20, 40_000, &[&args[..], &["--compiled"]].concat()) {
        assert_eq!(Some(compiled), interpreted);
    }
}

/// The trace of one RPC of 50,000 bytes each way, without the lines that instructions stand in.
fn trace_of(program: &str, dir: &Path) -> Vec<Value> {
    let file = dir.join("trace");
    let result =
        rpcs_of(program, 1, 50_000, &["--trace", file.to_str().expect("UTF-8"), "--trace-format", "json"]);
    all_answered(&result.expect("no compiler is asked for"), 1);
    let text = fs::read_to_string(file).expect("a trace");
    let records = text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON"));
    let plain = |mut record: Value| {
        if let Some(detail) = record["detail"].as_object_mut() {
            detail.remove("line");
            detail.remove("file");
        }
        record
    };
    records.map(plain).collect()
}

/// What the server did at its first event of this name: each instruction with its arguments behind the handle.
fn done_at<'a>(trace: &'a [Value], event: &str) -> Vec<(&'a str, Vec<u64>)> {
    let is_it = |r: &&Value| r["host"] == 1 && r["what"] == "event" && r["detail"]["name"] == event;
    let from = trace.iter().position(|r| is_it(&r)).unwrap_or_else(|| panic!("no {event}"));
    let chain = trace[from + 1..].iter().take_while(|r| r["what"] == "instruction");
    let words = |r: &'a Value| r["detail"]["words"].as_array().expect("words").iter().skip(1);
    let name = |r: &'a Value| r["detail"]["name"].as_str().expect("a name");
    chain.map(|r| (name(r), words(r).filter_map(Value::as_u64).collect())).collect()
}

#[test]
fn figure_1_issues_what_is_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace_of(FIGURE_1, folder.path());
    let issued = done_at(&trace, "snd_resp");
    let names: Vec<_> = issued.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["new_tx_ordered_data", "add_tx_data", "pkt_gen", "timer_restart"]);
    assert_eq!((issued[0].1[0], issued[1].1[0]), (50_000, 50_000), "the response is a unit of its length");
    assert_eq!(issued[2].1[..2], [0, 10_000], "UNSCHED_BYTES of it go at once");
    let granted = done_at(&trace, "grant_rcvd");
    assert_eq!((granted[0].0, granted[0].1[0]), ("pkt_gen", 10_000), "the rest as it is granted");
    // Whoever sends data but as the figure says and for grants, retransmits; nothing was lost.
    let mut octets = 0;
    let mut last = "";
    for record in trace.iter().filter(|r| r["host"] == 1) {
        if record["what"] == "event" {
            last = record["detail"]["name"].as_str().expect("a name");
        } else if record["detail"]["name"] == "pkt_gen" {
            let len = record["detail"]["words"][2].as_u64().expect("a length");
            assert!(len == 0 || ["snd_resp", "grant_rcvd"].contains(&last), "{last}: {record}");
            octets += len;
        }
    }
    assert_eq!(octets, 50_000);
}

#[test]
fn figure_1_means_the_same_in_statements() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(carrick_tests::build::root().join(FIGURE_1)).expect("the program");
    let from = text.find("list<instr_t> snd_resp_ep").expect("the printed processor");
    let len = text[from..].find("\n}\n").expect("its end");
    let collected = &text[from..from + len];
    let statement = |line: &str| match line.trim() {
        l if l.starts_with("list<instr_t> snd") => Some(line.replace("list<instr_t>", "void")),
        l if l.starts_with("list<instr_t>") || l.starts_with("out.add") || l == "return out;" => None,
        l if l.starts_with("instr_t") => l.split_once('=').map(|(_, issued)| issued.to_owned()),
        _ => Some(line.to_owned()),
    };
    let statements: Vec<String> = collected.lines().filter_map(statement).collect();
    let statements = statements.join("\n");
    assert!(collected.contains("instr_t i1") && !statements.contains("instr_t"), "{statements}");
    let program = folder.path().join("figure_1.mtp");
    fs::write(&program, text.replace(collected, &statements)).expect("writable");
    let said = trace_of(program.to_str().expect("UTF-8"), folder.path());
    assert_eq!(said, trace_of(FIGURE_1, folder.path()));
}

#[test]
fn appendix_b_delivers_all_in_order_through_every_fault() {
    let run = [
        "--bytes",
        "100KB",
        "--delay",
        "3ms",
        "--app",
        "request-response",
        "--count",
        "1",
        "--answer",
        "100KB",
    ];
    for seed in 1..=10 {
        let seed = seed.to_string();
        let args = [&run[..], &BAD, &["--seed", &seed]].concat();
        let result = simulate(APPENDIX_B, &args).expect("no compiler is asked for");
        all_answered(&result, 100);
        for side in ["client", "server"] {
            assert_eq!(result[side][0]["messages"]["late"], 0, "seed {seed}: {result}");
        }
        if seed == "4"
            && let Some(compiled) = simulate(APPENDIX_B, &[&args[..], &["--compiled"]].concat())
        {
            assert_eq!(compiled, result);
        }
    }
}

#[test]
fn appendix_b_issues_the_instructions_that_the_text_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace");
    let run = ["--bytes", "100KB", "--trace-format", "json", "--trace", file.to_str().expect("UTF-8")];
    simulate(APPENDIX_B, &[&run[..], &BAD].concat()).expect("no compiler is asked for");
    let text = fs::read_to_string(file).expect("a trace");
    let records = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let issued: BTreeSet<String> = records
        .filter(|r| r["what"] == "instruction")
        .filter_map(|r| r["detail"]["name"].as_str().map(str::to_owned))
        .collect();
    let named = ["timer_start", "timer_restart", "timer_stop", "set_queue_rate", "set_queue_prio", "notify"];
    for name in named.iter().chain(&["rx_flush_and_notify", "tx_flush_and_notify", "pkt_gen"]) {
        assert!(issued.contains(*name), "{name} is not among {issued:?}");
    }
}
