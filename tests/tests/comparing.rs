// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparing programs: features and parameters of single hosts, features as a dimension of a sweep, fields over time.

use std::collections::BTreeMap;
use std::path::Path;

use carrick_tests::command::{done, run};
use serde_json::Value;

/// A feature that puts an event in front of those of the program, so that events have other numbers in builds with it.
const FEATURE: &str = "
/// counts the calls
feature counted {
    event counted_call : app_event { uint32 by; }
    context conn { uint32 sends; }
    param uint32 step = 1 in 1..10;
    void count(ask_send e, conn c) { c.sends += step; }
    void count_more(counted_call e, conn c) { c.sends += e.by; }
    dispatch chains { ask_send -> { count before send_data }; counted_call -> { count_more }; }
    interface stream { count -> counted_call on conn; }
}
";

fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["new", "parcel"]);
    let file = folder.path().join("parcel/parcel.mtp");
    let program = std::fs::read_to_string(&file).expect("readable");
    // Before the program's own events.
    let own = program.find("\nevent ").expect("events");
    let (before, behind) = program.split_at(own);
    std::fs::write(&file, [before, "\nevent unused_here : app_event { }\n", behind, FEATURE].concat())
        .expect("writable");
    folder
}

const WORKLOAD: &str = "--workload=all-to-all@h0..h1:h2..h3";
const NETWORK: [&str; 7] =
    ["sim", "parcel/parcel.mtp", "--topology", "dumbbell:2", WORKLOAD, "--bytes", "20KB"];

/// The lines of a table, without its manifest.
fn rows(dir: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join(name)).expect("readable");
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Runs the network, and returns its table of flows.
fn flows(dir: &Path, more: &[&str]) -> Vec<String> {
    done(dir, &[&NETWORK[..], &["--csv", "flows.csv"], more].concat());
    rows(dir, "flows.csv")
}

/// What all hosts have by themselves is what all have together.
#[test]
fn hosts_with_the_same_features_are_as_one_program() {
    let folder = begun();
    let dir = folder.path();
    let together = flows(dir, &["--with", "counted", "--set", "window=4000", "--set", "step=3"]);
    let alone = flows(
        dir,
        &[
            "--host-with",
            "h0..h3=counted",
            "--host-set",
            "h0..h1.window=4000",
            "--host-set",
            "h2..h3.window=4000",
            "--set",
            "step=3",
        ],
    );
    let cut: Vec<&str> = alone.iter().map(|row| row.rsplit_once(',').expect("columns").0).collect();
    assert_eq!(cut, together);
    assert!(
        alone[0].ends_with(",features") && alone[1..].iter().all(|row| row.ends_with(",counted")),
        "{alone:?}"
    );
    // Where both are said, that of the host counts.
    let [left, right] = [["8000", "h2..h3.window=4000"], ["4000", "h0..h1.window=8000"]]
        .map(|[all, own]| flows(dir, &["--set", &format!("window={all}"), "--host-set", own]));
    assert_eq!(left, right);
    let same: Vec<&str> = together.iter().map(String::as_str).collect();
    assert_ne!(left, same);
}

#[test]
fn interpreter_and_compiled_core_agree_on_mixed_hosts() {
    let folder = begun();
    let dir = folder.path();
    let mixed = |name: &str, more: &[&str]| {
        let tables = ["--rates", "rates.csv", "--samples", "samples.csv", "--sample", "snd_una"];
        let said = done(
            dir,
            &[&NETWORK[..], &["--host-with", "h0=counted", "--csv", "flows.csv"], &tables, more].concat(),
        );
        assert!(said.contains("goodput of h0 ") && said.contains("sent (counted)"), "{name}: {said}");
        ["flows.csv", "rates.csv", "samples.csv"].map(|table| rows(dir, table))
    };
    let [interpreted, compiled] = [mixed("interpreted", &[]), mixed("compiled", &["--compiled", "--fast"])];
    assert_eq!(interpreted, compiled);
    let [flows, rates, samples] = interpreted;
    let of = |row: &String, column: usize| row.split(',').nth(column).unwrap_or_default().to_owned();
    for row in &flows[1..] {
        assert_eq!(of(row, 11), if of(row, 2) == "0" { "counted" } else { "default" }, "{row}");
    }
    let mut arrived = BTreeMap::<(String, String), u64>::new();
    for row in &rates[1..] {
        *arrived.entry((of(row, 3), of(row, 5))).or_default() += of(row, 4).parse::<u64>().expect("bytes");
    }
    let wanted = flows[1..].iter().map(|row| ((of(row, 1), of(row, 11)), 20_000));
    assert_eq!(arrived, wanted.collect::<BTreeMap<_, _>>());
    assert!(samples[1..].iter().any(|row| of(row, 2) == "0" && of(row, 8) == "counted"), "{samples:?}");
}

/// The samples are what the trace of the same run has at the end of each interval.
#[test]
fn samples_are_what_the_trace_says() {
    let folder = begun();
    let dir = folder.path();
    let more = [
        "--host-with",
        "h1=counted",
        "--trace",
        "a.run",
        "--trace-format",
        "json",
        "--sample",
        "conn.snd_una",
        "--samples",
        "samples.csv",
    ];
    done(dir, &[&NETWORK[..], &more].concat());
    let trace = std::fs::read_to_string(dir.join("a.run")).expect("readable");
    let (mut numbers, mut counts, mut sends) = (BTreeMap::new(), BTreeMap::<u64, u64>::new(), 0);
    let mut wanted = BTreeMap::<(u64, u64, u64), u64>::new();
    for line in trace.lines().skip(1) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let (detail, host) = (&line["detail"], line["host"].as_u64().expect("a host"));
        if line["what"] != "context" || detail["name"] != "conn" {
            continue;
        }
        sends += u64::from(host == 1 && detail["fields"]["sends"].as_u64().is_some_and(|sends| sends > 0));
        let handle = detail["context"].as_u64().expect("a handle");
        let number = *numbers.entry((host, handle)).or_insert_with(|| {
            let count = counts.entry(host).or_default();
            *count += 1;
            *count
        });
        if let Some(value) = detail["fields"]["snd_una"].as_u64() {
            let until = (line["t"].as_u64().expect("a time") / 1_000_000 + 1) * 1_000_000;
            wanted.insert((until, host, number), value);
        }
    }
    assert!(sends > 0, "records of a host are those of its own program");
    let of = |row: &String| {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[4..6], ["conn.snd_una", "number"]);
        let number = |cell: usize| cells[cell].parse::<u64>().expect("a number");
        ((number(1), number(2), number(3)), number(6))
    };
    let sampled: BTreeMap<_, _> = rows(dir, "samples.csv")[1..].iter().map(of).collect();
    let changed = wanted.iter().filter(|(at, value)| sampled.get(at) != Some(*value)).count();
    assert!(changed == 0 && wanted.len() > 10, "{wanted:?} {sampled:?}");
    let refused = run(dir, &["report", "a.run"]);
    assert!(
        refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("--samples")
    );
}

#[test]
fn features_are_a_dimension_of_a_sweep() {
    let folder = begun();
    let dir = folder.path();
    let sweep = ["--set", "window=4000,8000", "--seeds", "2"];
    let both = flows(dir, &[&["--or-with", "counted"][..], &sweep].concat());
    let apart = [&[][..], &["--with", "counted"]].map(|with| flows(dir, &[with, &sweep].concat()));
    let named = |(rows, name): (&Vec<String>, &str)| -> Vec<String> {
        let of = |row: &String| {
            let (row, window) = row.rsplit_once(',').expect("columns");
            format!("{row},{name},{window}")
        };
        rows[1..].iter().map(of).collect()
    };
    let wanted: Vec<String> = apart.iter().zip(["default", "counted"]).flat_map(named).collect();
    assert_eq!(both[1..], wanted);
    assert!(both[0].ends_with(",with,window"), "{}", both[0]);
    done(dir, &["plot", "flows.csv", "-o", "flows.svg"]);
    flows(dir, &[&["--or-with", "counted"][..], &sweep].concat());
    done(dir, &["plot", "flows.csv", "-o", "flows.svg"]);
    let drawn = std::fs::read_to_string(dir.join("flows.svg")).expect("readable");
    assert!(drawn.contains(">flows, with=counted, window=8000, P50<"), "{drawn}");
    assert_eq!(done(dir, &["repro", "flows.csv", "flows.svg"]).matches(": the same").count(), 2);
}

#[test]
fn the_bottleneck_is_the_link_that_is_used_most() {
    let folder = begun();
    let dir = folder.path();
    let bottleneck = |topology: &str, workload: &str| {
        let args =
            ["sim", "parcel/parcel.mtp", "--topology", topology, "--workload", workload, "--bytes", "20KB"];
        let said = done(dir, &args);
        let line = said.lines().find_map(|line| line.strip_prefix("bottleneck ")).expect("a bottleneck");
        line.split(' ').next().unwrap_or_default().to_owned()
    };
    assert_eq!(bottleneck("dumbbell:2", "all-to-all@h0..h1:h2..h3"), "s0:s1");
    assert_eq!(bottleneck("dumbbell:2", "all-to-all@h2..h3:h0..h1"), "s1:s0");
    assert_eq!(bottleneck("star:4", "incast:3"), "s0:h0");
    done(dir, &[&NETWORK[..], &["--timeline", "time.csv"]].concat());
    done(dir, &["report", "time.csv", "-o", "page.html"]);
    let page = std::fs::read_to_string(dir.join("page.html")).expect("readable");
    assert!(page.contains("time; bottleneck s0:s1 ("), "{page}");
}

#[test]
fn what_hosts_cannot_run_is_said() {
    let folder = begun();
    let dir = folder.path();
    let refused = |more: &[&str], wanted: &str| {
        let output = run(dir, &[&NETWORK[..], more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(wanted), "{more:?}: {said}");
    };
    refused(&["--host-with", "h9=counted"], "it has h0 to h3");
    refused(&["--host-with", "s0=counted"], "\"s0\" names no host of this topology: it has h0 to h3");
    refused(&["--host-with", "h0"], "expected HOSTS=FEATURES");
    refused(&["--host-with", "h0=conted"], "no feature or option `conted`");
    refused(&["--host-set", "h0.windw=1"], "did you mean window?");
    refused(&["--host-set", "h0.step=2"], "no parameter \"step\"");
    refused(&["--host-set", "window=2"], "expected HOSTS.name=value");
    refused(&["--sample", "snd", "--samples", "snd.csv"], "there are");
}

/// What two versions of a program do on the same networks, wherever their declarations stand.
#[test]
fn two_versions_of_a_program_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let text = std::fs::read_to_string(
        carrick_tests::build::root().join("protocols/stop-and-wait/stop-and-wait.mtp"),
    );
    let text = text.expect("UTF-8");
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("writable");
    write("old.mtp", &text);
    // Another field and another event in front of the others do not make it another protocol.
    let more = text.replacen("    uint32 resends;", "    uint32 more;\n    uint32 resends;", 1);
    let more = more.replacen("event open_req", "event early_req : app_event { }\nevent open_req", 1);
    assert_ne!(text, more);
    write("more.mtp", &more);
    let same = done(dir, &["diff", "old.mtp", "more.mtp", "--seeds", "3"]);
    assert!(same.ends_with("the versions differ with 0 seeds\n") && !same.contains("FAILED"), "{same}");
    write("new.mtp", &text.replacen("resend_after = 50ms", "resend_after = 60ms", 1));
    let output = run(dir, &["diff", "old.mtp", "new.mtp", "--seeds", "1", "--seed", "4"]);
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{said}");
    for wanted in [
        "seed 4: they first differ at 0.",
        "  in the event: {",
        "\"name\":\"send_req\"",
        "  old.mtp: timer_start end ",
        ", resend, 50000000 (old.mtp:106)\n  new.mtp: timer_start end ",
        ", resend, 60000000 (new.mtp:106)\n  again: carrick diff old.mtp new.mtp --seed 4 --seeds 1\n",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let json = run(dir, &["diff", "old.mtp", "new.mtp", "--seeds", "1", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let first = &json["differences"][0];
    assert!(
        first["seed"] == 1 && first["places"][0] == "old.mtp:106" && first["event"].is_string(),
        "{json}"
    );
    let other = carrick_tests::build::root().join("protocols/tcp/tcp.mtp").display().to_string();
    let refused = run(dir, &["diff", "old.mtp", &other]);
    assert_eq!(refused.status.code(), Some(2), "other applications speak with it");
    assert_eq!(run(dir, &["diff", "old.mtp", "new.mtp", "--operations", "5"]).status.code(), Some(2));
}
