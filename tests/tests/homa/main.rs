//! Homa in the simulator: what its RPCs do, and what its packets are.

use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::net::skip;
use serde_json::Value;

const PROGRAM: &str = "protocols/homa/homa.mtp";
const FAULTS: [&str; 6] = ["--loss", "2%", "--reorder", "3%", "--duplicate", "3%"];

/// What a run of RPCs prints; `None` where a C compiler is wanted and missing.
fn simulate(args: &[&str]) -> Option<Value> {
    let net = ["--app", "request-response", "--rate", "10Gbps", "--delay", "10us", "--queue", "1000"];
    let done = Command::new(carrick())
        .args(["sim", PROGRAM, "--format", "json"])
        .args(net)
        .args(args)
        .current_dir(root())
        .output()
        .expect("carrick runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.code() == Some(3) {
        skip(&said);
        return None;
    }
    assert!(done.status.success(), "{args:?}: {said}");
    let mut result: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    result["wall_seconds"] = Value::Null;
    Some(result)
}

fn rpcs(request: u64, response: u64, count: u64, more: &[&str]) -> Option<Value> {
    let [request, response] = [request, response].map(|n| format!("{n}B"));
    let sizes = ["--bytes", &request, "--answer", &response, "--count", &count.to_string()];
    simulate(&[&sizes, more].concat())
}

/// Each request was executed once, and each response came.
#[track_caller]
fn all_answered(result: &Value, count: u64) {
    for side in ["client", "server"] {
        let messages = &result[side][0]["messages"];
        let fared = ["sent", "received", "again", "damaged", "failed"].map(|name| messages[name].as_u64());
        assert_eq!(fared, [count, count, 0, 0, 0].map(Some), "{side}: {result}");
    }
}

#[test]
fn rpcs_of_all_sizes_are_answered() {
    for (request, response) in [(8, 8), (1424, 1425), (8, 1_000_000), (1_000_000, 8), (300_000, 70_000)] {
        let result = rpcs(request, response, 12, &["--outstanding", "5"]).expect("no compiler is asked for");
        all_answered(&result, 12);
        assert_eq!(result["retransmitted_packets"], 0, "{request} and {response} octets: {result}");
    }
}

#[test]
fn what_is_lost_doubled_or_late_is_made_good_and_executed_once() {
    for seed in 1..=20 {
        let seed = seed.to_string();
        for (request, response, count) in [(32, 100, 200), (90_000, 30_000, 30), (20_000, 300_000, 10)] {
            let more = [&FAULTS[..], &["--seed", &seed, "--outstanding", "8"]].concat();
            let result = rpcs(request, response, count, &more).expect("no compiler is asked for");
            all_answered(&result, count);
        }
    }
}

#[test]
fn the_compiled_core_does_the_same() {
    let more = [&FAULTS[..], &["--seed", "7", "--outstanding", "6"]].concat();
    let interpreted = rpcs(50_000, 80_000, 20, &more);
    if let Some(compiled) = rpcs(50_000, 80_000, 20, &[&more[..], &["--compiled"]].concat()) {
        assert_eq!(Some(compiled), interpreted);
    }
}
