// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick trace` of recorded runs: it shows what the run shows, says where a file ends, and refuses what a recording cannot do

use std::fs;
use std::path::Path;
use std::process::Output;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use serde_json::{Value, json};

const FORMS: [&str; 2] = ["binary", "json"];

fn file(program: &str) -> String {
    root().join(program).display().to_string()
}

fn tcp() -> String {
    file("protocols/tcp/tcp.mtp")
}

/// Records a run of TCP.
fn record(dir: &Path, form: &str, more: &[&str]) {
    done(dir, &[&["sim", &tcp(), "--trace", "a.run", "--trace-format", form], more].concat());
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is said of options that are wrong.
#[track_caller]
fn refused(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, &[&["trace"], args].concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {}", said(&output));
    said(&output)
}

#[test]
fn a_recorded_run_shows_what_the_run_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let lossy: &[&str] = &["--loss", "5%", "--bytes", "200KB", "--seed", "3", "--set", "rto_initial=500ms"];
    let random: &[&str] = &["--app", "random", "--seed", "5"];
    let idle: &[&str] = &["--app", "idle", "--count", "20"];
    let cases: [(&[&str], &[&str]); 9] = [
        (lossy, &["--on", "segment", "--show", "state,cwnd,snd_una,rto_initial"]),
        (lossy, &["--on", "segment", "--when", "snd_una > 100000", "--format", "json"]),
        (lossy, &["--on", "segment", "--on", "retransmit", "--show", "rto, id.remote_port"]),
        (lossy, &["--when", "cwnd > 20000", "--show", "cwnd"]),
        (lossy, &["--list", "--at", "30ms", "--at", "10ms", "--show", "snd_nxt - snd_una"]),
        (lossy, &["--sample", "cwnd,state", "--every", "7ms", "--host", "client", "--most", "10"]),
        (random, &["--on", "conn_lost", "--on", "linger", "--on", "segment", "--format", "json"]),
        (random, &["--when", "now() - heard_at > 100ms", "--show", "state"]),
        (idle, &["--list", "--at", "3ms", "--when", "id.remote_port == 1030", "--context", "tcb"]),
    ];
    for form in FORMS {
        let mut recorded: Option<&[&str]> = None;
        for (network, look) in cases {
            if recorded != Some(network) {
                record(dir, form, network);
                recorded = Some(network);
            }
            let live = done(dir, &[&["trace", &tcp()], network, look].concat());
            assert!(!live.is_empty(), "{look:?}");
            let found = done(dir, &[&["trace", "a.run"], look].concat());
            assert_eq!(found, live, "{form}: {network:?} {look:?}");
        }
    }
}

#[test]
fn a_list_at_the_end_is_that_of_the_last_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let network = ["--bytes", "100KB", "--loss", "5%"];
    let without_times = |text: String| {
        let lines = text.lines().map(|line| match line.starts_with(' ') {
            true => line.to_owned(),
            false => line.split_once(' ').expect("a time").1.to_owned(),
        });
        lines.collect::<Vec<_>>()
    };
    let live = without_times(done(dir, &[&["trace", &tcp(), "--list"], &network[..]].concat()));
    for form in FORMS {
        record(dir, form, &network);
        let output = run(dir, &["trace", "a.run", "--list", "--at", "1h", "--at", "10ms", "--show", "state"]);
        assert!(said(&output).starts_with("carrick: --at 1h: a.run ends before, at "), "{}", said(&output));
        assert_eq!(without_times(done(dir, &["trace", "a.run", "--list"])), live, "{form}");
    }
}

#[test]
fn hosts_of_a_topology_have_their_names_and_parameters() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let network = ["--topology", "dumbbell:2", "--bytes", "20KB", "--host-set", "h1.rto_initial=300ms"];
    for form in FORMS {
        record(dir, form, &network);
        let list = |more: &[&str]| {
            let list = [
                "trace",
                "a.run",
                "--list",
                "--at",
                "5ms",
                "--show",
                "rto_initial",
                "--context",
                "tcb",
                "--format",
                "json",
            ];
            let lines = done(dir, &[&list[..], more].concat());
            let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
            let contexts = lines.filter(|line| line["what"] == "context");
            contexts.map(|line| (line["host"].clone(), line["values"]["rto_initial"].clone())).collect()
        };
        let all: Vec<(Value, Value)> = list(&[]);
        let own = |host: &str| all.iter().find(|(name, _)| name == host).map(|(_, value)| value.clone());
        assert_eq!(own("h1"), Some(json!(300_000_000)), "{all:?}");
        assert_eq!(own("h0"), own("h2"), "{all:?}");
        assert_ne!(own("h0"), own("h1"), "{all:?}");
        assert!(list(&["--host", "h1"]).iter().all(|(host, _)| host == "h1"));
        let error = refused(dir, &["a.run", "--list", "--host", "h4"]);
        assert!(error.contains("--host h4: there is no such host; there are h0, h1, h2, h3"), "{error}");
    }
}

#[test]
fn hosts_with_another_program_are_chosen_by_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "mine"]);
    let network = [
        "--topology",
        "dumbbell:2",
        "--workload",
        "all-to-all@h0..h1:h2..h3",
        "--bytes",
        "20KB",
        "--host-program",
        "h1=mine/mine.mtp",
        "--host-program",
        "h3=mine/mine.mtp",
    ];
    record(dir, "binary", &network);
    let hosts = |args: &[&str]| {
        let lines = done(dir, &[&["trace", "a.run"], args, &["--format", "json"]].concat());
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
        let mut hosts: Vec<String> =
            lines.map(|line| line["host"].as_str().expect("a name").into()).collect();
        hosts.sort();
        hosts.dedup();
        hosts.join(" ")
    };
    assert_eq!(hosts(&["--on", "segment", "--show", "cwnd"]), "h0 h2");
    assert_eq!(hosts(&["--on", "segment", "--show", "resends", "--program", "mine/mine.mtp"]), "h1 h3");
    let error = refused(dir, &["a.run", "--on", "segment", "--host", "h1"]);
    assert!(error.contains("--host h1: it runs another program"), "{error}");
    record(dir, "json", &network);
    let error = refused(dir, &["a.run", "--on", "segment"]);
    assert!(error.contains("JSON lines do not say which; record it with --trace-format binary"), "{error}");
}

#[test]
fn a_program_in_the_network_is_shown_by_its_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let via = file("protocols/snoop/snoop.mtp");
    let network = ["--via", &via, "--bytes", "50KB", "--loss", "2%"];
    let live =
        done(dir, &[&["trace", &tcp(), "--host", "via", "--list", "--at", "20ms"], &network[..]].concat());
    for form in FORMS {
        record(dir, form, &[&network[..], &["--trace-at", "via"]].concat());
        assert_eq!(done(dir, &["trace", "a.run", "--list", "--at", "20ms", "--host", "via"]), live, "{form}");
    }
    let placed = format!("s0={via}");
    for form in FORMS {
        record(dir, form, &["--topology", "star:2", "--bytes", "20KB", "--at", &placed, "--trace-at", "s0"]);
        let list = done(dir, &["trace", "a.run", "--list"]);
        assert!(list.lines().last().is_some_and(|line| line.contains(" s0 ")), "{form}: {list}");
    }
}

#[test]
fn what_a_recording_cannot_do_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    record(dir, "binary", &["--bytes", "10KB"]);
    let on = ["a.run", "--on", "segment"];
    for option in [
        &["--set", "tcb.cwnd = 1"][..],
        &["--set", "rto_initial=1s"],
        &["--compiled"],
        &["--loss", "1%"],
        &["--bytes", "1KB"],
        &["--seed", "1"],
        &["--via", "x.mtp"],
        &["--run", "--port", "loop"],
    ] {
        let error = refused(dir, &[&on[..], option].concat());
        let wanted = format!("{} says nothing with a.run: it is the recorded trace of a run", option[0]);
        assert!(error.contains(&wanted), "{option:?}: {error}");
    }
    for (args, wanted) in [
        (&["a.run", "--break", "check_ack"][..], "--break says nothing with a.run"),
        (&["a.run"], "say what to look at: --on EVENT"),
        (&["a.run", "--at", "1ms"], "say what to do at that time: --list"),
        (&["a.run", "--on", "segmet"], "did you mean segment?"),
        (&["a.run", "--when", "cwnds < 1"], "did you mean `cwnd`?"),
        (&["a.run", "--on", "segment", "--host", "stack"], "there are client, server"),
        (&["a.run", "--on", "segment", "--program", "gone.mtp"], "cannot read gone.mtp"),
        (
            &[&tcp(), "--on", "segment", "--program", "a.mtp"],
            "--program names the program of a recorded trace",
        ),
        (&[&tcp(), "--on", "segment", "--host", "h0"], "there are client, server"),
    ] {
        let error = refused(dir, args);
        assert!(error.contains(wanted), "{args:?}: {error}");
    }
}

#[test]
fn the_program_of_a_recording_is_the_one_of_its_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    done(dir, &["sim", "parcel/parcel.mtp", "--bytes", "10KB", "--trace", "a.run"]);
    let on = ["a.run", "--on", "segment", "--show", "snd_una", "--most", "1"];
    let before = done(dir, &[&["trace"], &on[..]].concat());
    fs::rename(dir.join("parcel"), dir.join("moved")).expect("writable");
    let error = refused(dir, &on);
    assert!(error.contains("or say with --program where the program of this run is"), "{error}");
    let moved = [&["trace"], &on[..], &["--program", "moved/parcel.mtp"]].concat();
    assert_eq!(done(dir, &moved), before);
    let text = fs::read_to_string(dir.join("moved/parcel.mtp")).expect("a program");
    fs::write(dir.join("moved/parcel.mtp"), text + "// more\n").expect("writable");
    let error = refused(dir, &moved[1..]);
    assert!(error.contains("moved/parcel.mtp is not as it was in the run"), "{error}");
}

#[test]
fn what_is_whole_is_shown_and_the_rest_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let look = ["trace", "a.run", "--on", "segment", "--show", "snd_una"];
    for (form, cut) in [("binary", "it ends without its end mark, after "), ("json", "it ends within line ")]
    {
        record(dir, form, &["--bytes", "1MB", "--loss", "1%"]);
        let all = done(dir, &look);
        let whole = fs::read(dir.join("a.run")).expect("a trace");
        fs::write(dir.join("a.run"), &whole[..whole.len() * 2 / 3]).expect("writable");
        let output = run(dir, &look);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said(&output).starts_with(&format!("carrick: a.run: {cut}")), "{form}: {}", said(&output));
        assert!(output.status.success() && shown.lines().count() > 20 && all.starts_with(&shown), "{form}");
        // In its middle.
        let mut damaged = whole.clone();
        damaged[whole.len() * 2 / 3..][..4].copy_from_slice(b"\0\0}{");
        fs::write(dir.join("a.run"), damaged).expect("writable");
        let output = run(dir, &look);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(2) && said(&output).starts_with("carrick: a.run: "), "{form}");
        assert!(shown.lines().count() > 20 && all.starts_with(&shown), "{form}: {}", said(&output));
    }
}

/// Records that no program makes, with the right checksum, and lines that no program writes.
#[test]
fn no_recording_of_anybody_ends_the_command_in_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    let sim = ["sim", "parcel/parcel.mtp", "--bytes", "5KB", "--trace", "a.run", "--trace-format"];
    let look = ["trace", "b.run", "--on", "segment", "--on", "resend", "--show", "snd_una, rto.armed(), id"];
    done(dir, &[&sim[..], &["binary"]].concat());
    let trace = fs::read(dir.join("a.run")).expect("a trace");
    let number = |at: usize| u32::from_le_bytes(trace[at..at + 4].try_into().expect("four")) as usize;
    let head = 16 + number(12) + 4;
    let block = trace[head + 8..head + 8 + number(head)].to_vec();
    let mut codes = [0; 2];
    for place in (0..block.len()).step_by(block.len() / 60) {
        let mut block = block.clone();
        block[place] ^= 1 << (place % 8);
        let sizes = [block.len() as u32, crc32fast::hash(&block)].map(u32::to_le_bytes).concat();
        fs::write(dir.join("b.run"), [&trace[..head], &sizes, &block].concat()).expect("writable");
        let output = run(dir, &look);
        match output.status.code() {
            Some(0) => codes[0] += 1,
            Some(2) => codes[1] += 1,
            code => panic!("{place}: {code:?}: {}", said(&output)),
        }
    }
    assert!(codes[1] > 5, "{codes:?}");
    done(dir, &[&sim[..], &["json"]].concat());
    let text = fs::read_to_string(dir.join("a.run")).expect("lines");
    let first = text.lines().next().expect("a header");
    let line =
        |host: u32, what: &str, detail: Value| json!({"t": 1, "host": host, "what": what, "detail": detail});
    let empty = json!({"name": "conn", "context": 1, "fields": {}});
    for (line, wanted) in [
        (line(7, "sent", json!({})), "line 2: the trace has no host 7"),
        (line(0, "event", json!({"name": "x"})), "line 2: a record `event` that the program does not have"),
        (line(0, "context", empty), "line 2: a record `context` that the program does not have"),
        (
            line(0, "instruction", json!({"name": "new_ctx", "words": [99, 5]})),
            "line 2: it is none of this program",
        ),
        (line(0, "other", json!({})), "line 2: `other` is no record"),
        (json!({"t": 1, "host": 0, "what": "event"}), "line 2: not of a trace"),
    ] {
        fs::write(dir.join("b.run"), format!("{first}\n{line}\n")).expect("writable");
        let output = run(dir, &look);
        assert!(
            output.status.code() == Some(2) && said(&output).contains(wanted),
            "{line}: {}",
            said(&output)
        );
    }
    // A timer that the context does not have.
    let handle = 2_u64 << 56 | 1 << 32;
    let timer = json!({"name": "timer_start", "words": [handle, u64::MAX, 5]});
    let made = json!({"name": "new_ctx", "words": [1, handle, 1, 2]});
    let [made, timer] = [made, timer].map(|detail| line(0, "instruction", detail));
    fs::write(dir.join("b.run"), format!("{first}\n{made}\n{timer}\n")).expect("writable");
    assert!(done(dir, &["trace", "b.run", "--list", "--host", "client"]).ends_with("client 1 context\n"));
}
