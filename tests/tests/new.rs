// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick new`: what it makes is right, works under every fault, and is nobody's loss.

use std::path::Path;
use std::process::Command;

use carrick_tests::command::{done, run};
use carrick_tests::scripted::{exchange, pair};
use serde_json::Value;

#[test]
fn a_stream_of_ones_own_works_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "my-parcel", "--template", "stream"]);
    let program = "my-parcel/my-parcel.mtp";
    let checked: Value =
        serde_json::from_str(&done(dir, &["check", "--format", "json", program])).expect("JSON");
    assert!(checked.to_string().contains("\"warnings\":0"), "{checked}");
    done(dir, &["fmt", "--check", program]);
    for faults in [&[][..], &BAD] {
        let sim =
            ["sim", program, "--bytes", "2MB", "--delay", "5ms", "--rate", "100Mbps", "--format", "json"];
        let said: Value = serde_json::from_str(&done(dir, &[&sim[..], faults].concat())).expect("JSON");
        assert_eq!(said["server"][0]["received_bytes"], 2_000_000, "{said}");
        assert_eq!(said["server"][0]["end"], "closed", "{said}");
        assert_eq!(said["retransmitted_packets"].as_u64() > Some(0), !faults.is_empty(), "{said}");
    }
    assert!(done(dir, &["diff", program, "--seeds", "20"]).contains("0 differences"));
    done(dir, &["build", program, "--target", "native", "-o", "out"]);
    let bench =
        Command::new(dir.join("out/my_parcel-bench")).args(["bulk", "20"]).output().expect("it starts");
    let figures: Value = serde_json::from_slice(&bench.stdout).expect("JSON");
    assert_eq!(figures["bytes"], 20 << 20, "{figures}");
}

const BAD: [&str; 8] = ["--loss", "2%", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "2%"];

/// What a run says, interpreted and compiled.
#[track_caller]
fn simulated(dir: &Path, args: &[&str]) -> Value {
    let always = ["sim", "parcel/parcel.mtp", "--delay", "2ms", "--format", "json"];
    let [interpreted, compiled] = [&[][..], &["--compiled"]].map(|how| {
        let mut said: Value =
            serde_json::from_str(&done(dir, &[&always[..], args, how].concat())).expect("JSON");
        ["wall_seconds", "arguments"].iter().for_each(|name| said[name] = Value::Null);
        said
    });
    assert_eq!(interpreted, compiled, "{args:?}");
    interpreted
}

/// Begins a protocol for messages, and looks at it as its owner would at once.
#[track_caller]
fn begin_messages(dir: &Path, template: &str) {
    let said = done(dir, &["new", "parcel", "--template", template]);
    assert!(said.contains("try: carrick sim parcel/parcel.mtp"), "{said}");
    let program = "parcel/parcel.mtp";
    let checked: Value =
        serde_json::from_str(&done(dir, &["check", "--format", "json", program])).expect("JSON");
    assert!(checked.to_string().contains("\"warnings\":0"), "{checked}");
    done(dir, &["fmt", "--check", program]);
    assert!(done(dir, &["diff", program, "--seeds", "20"]).contains("0 differences"));
}

/// That `count` messages went from the client to the server, each once, and as many the other way if `both`.
#[track_caller]
fn all_arrived(said: &Value, count: u64, both: bool) {
    for (from, to, count) in [("client", "server", count), ("server", "client", if both { count } else { 0 })]
    {
        let (sent, received) = (&said[from][0]["messages"], &said[to][0]["messages"]);
        assert_eq!([&sent["sent"], &sent["failed"]], [count, 0], "{said}");
        assert_eq!(
            [&received["received"], &received["again"], &received["damaged"]],
            [count, 0, 0],
            "{said}"
        );
    }
}

/// Builds it, and has two processes send each other messages of these lengths over a wire that loses some.
#[track_caller]
fn exchange_natively(dir: &Path, lengths: &[u32]) {
    done(dir, &["build", "parcel/parcel.mtp", "--target", "native", "-o", "out"]);
    let faults = ["--fault", "loss=3%,reorder=3%,dup=3%,seed=3"];
    let ends = [("one", "10.0.0.1"), ("other", "10.0.0.2")];
    let [mut one, mut other] = pair(&dir.join("out/parcel-host"), dir, ends, &faults);
    one.must("open 10.0.0.2 1030 1024", "ok");
    other.must("open 10.0.0.1 1024 1030", "ok");
    for len in lengths.iter().flat_map(|len| [len; 5]) {
        exchange(&mut one, &mut other, *len);
    }
}

#[test]
fn messages_of_ones_own_arrive_once_and_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    begin_messages(dir, "message");
    let both = ["--app", "request-response", "--count", "1", "--answer", "300KB"];
    for (faults, more, is_both) in [(&[][..], &[][..], false), (&BAD, &[], false), (&BAD, &both, true)] {
        let said = simulated(dir, &[&["--bytes", "300KB"], faults, more].concat());
        all_arrived(&said, 300, is_both);
        assert_eq!(said["server"][0]["messages"]["late"], 0, "{said}");
        assert_eq!(said["retransmitted_packets"].as_u64() > Some(0), !faults.is_empty(), "{said}");
    }
    exchange_natively(dir, &[1, 700, 1400]);
}

#[test]
fn a_receiver_of_ones_own_lets_messages_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    begin_messages(dir, "receiver-driven");
    let long = ["--message", "50KB", "--bytes", "2MB"];
    let both = ["--app", "request-response", "--count", "1", "--answer", "2MB"];
    for (faults, more, is_both) in [(&[][..], &[][..], false), (&BAD, &[], false), (&BAD, &both, true)] {
        let said = simulated(dir, &[&long, faults, more].concat());
        all_arrived(&said, 40, is_both);
        assert_eq!(said["retransmitted_packets"].as_u64() > Some(0), !faults.is_empty(), "{said}");
    }
    // The receiver alone says how fast it goes, but for what is sent unasked.
    let rate = |said: &Value| said["goodput_bps"].as_f64().expect("a rate");
    assert!(rate(&simulated(dir, &long)) > 80e6);
    let slow =
        simulated(dir, &[&long[..], &["--set", "credit_rate=10Mbps", "--set", "unasked=1KB"]].concat());
    assert!((9e6..11e6).contains(&rate(&slow)), "{slow}");
    exchange_natively(dir, &[1, 9000, 65_536]);
}

#[test]
fn what_is_there_stays_and_odd_names_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    std::fs::write(dir.join("parcel/parcel.mtp"), "mine").expect("writable");
    let again = run(dir, &["new", "parcel"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"));
    assert_eq!(std::fs::read_to_string(dir.join("parcel/parcel.mtp")).expect("readable"), "mine");
    for name in ["9lives", "a b", "..", "x/é"] {
        let refused = run(dir, &["new", name]);
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("no name of a protocol"), "{name}");
    }
}
