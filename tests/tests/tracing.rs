//! `carrick trace`: what it shows of contexts, that both engines show the same, and what it refuses.

use std::path::Path;
use std::process::{Command, Output};

use carrick_tests::build::{carrick, root};
use carrick_tests::document::{blocks, replay, run};
use serde_json::Value;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";

fn trace(args: &[&str]) -> Output {
    Command::new(carrick())
        .args(["trace", PROGRAM])
        .args(args)
        .current_dir(root())
        .output()
        .expect("carrick runs")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The objects that a trace for programs is made of.
fn objects(args: &[&str]) -> Vec<Value> {
    let said = text(&trace(&[args, &["--format", "json"]].concat()));
    said.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

#[test]
fn the_reference_shows_what_is_said() {
    let page = std::fs::read_to_string(root().join("docs/reference/debugging.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "carrick new parcel");
    let commands: usize = blocks(&page)
        .iter()
        .filter(|(kind, _)| *kind == "console")
        .map(|(_, b)| replay(folder.path(), b))
        .sum();
    assert!(commands >= 5, "{commands} commands");
}

#[test]
fn interpreter_and_compiled_core_show_the_same() {
    let looks: [&[&str]; 6] = [
        &["--sample", "cwnd,snd_una,state", "--every", "2ms", "--loss", "2%"],
        &["--on", "retransmit", "--loss", "5%"],
        &["--on", "segment", "--app", "random", "--seed", "3"],
        &["--when", "state == CLOSE_WAIT || now() - heard_at > 5s"],
        &["--list", "--at", "3ms", "--app", "idle", "--count", "20"],
        &["--on", "conn_lost", "--on", "linger", "--app", "random", "--seed", "5"],
    ];
    for look in looks {
        let interpreted = text(&trace(look));
        assert!(!interpreted.is_empty(), "{look:?}");
        assert_eq!(interpreted, text(&trace(&[look, &["--compiled"]].concat())), "{look:?}");
    }
}

#[test]
fn an_event_shows_what_it_changed() {
    let all = objects(&[
        "--on",
        "segment",
        "--when",
        "segment.syn && state == SYN_SENT",
        "--show",
        "state, snd_una",
    ]);
    let [only] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&only["what"], &only["host"]), (&"event".into(), &"client".into()));
    assert_eq!(only["event"]["fields"]["has_ack"], true);
    assert_eq!(
        (&only["was"]["state"], &only["values"]["state"]),
        (&"SYN_SENT".into(), &"ESTABLISHED".into())
    );
    let [was, is] = ["was", "values"].map(|key| only[key]["snd_una"].as_u64().expect("a number"));
    assert_eq!(is, (was + 1) % (1 << 32), "the SYN was acknowledged");
    assert_eq!(only["context"]["id"]["remote_port"], 5001);
}

#[test]
fn a_context_is_known_from_its_making() {
    let all = objects(&["--when", "state == SYN_RECEIVED", "--show", "passive", "--host", "server"]);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["values"]["passive"], true);
}

#[test]
fn samples_come_at_their_times_until_the_end() {
    let all = objects(&[
        "--sample",
        "snd_una, cwnd / smss",
        "--every",
        "3ms",
        "--bytes",
        "300KB",
        "--host",
        "client",
    ]);
    let times: Vec<u64> = all.iter().map(|o| o["at_ns"].as_u64().expect("a number")).collect();
    let wanted: Vec<u64> = (1..=times.len() as u64).map(|k| k * 3_000_000).collect();
    assert_eq!(times, wanted);
    let una = |o: &Value| o["values"]["snd_una"].as_u64().expect("a number") as u32;
    assert!(all.windows(2).all(|w| (una(&w[1]).wrapping_sub(una(&w[0])) as i32) >= 0), "{all:?}");
    assert!(all.last().is_some_and(|o| o["values"]["cwnd / smss"].as_u64() > Some(10)));
}

#[test]
fn a_list_counts_what_it_shows() {
    let idle = ["--app", "idle", "--count", "30", "--host", "server"];
    let all = objects(&[&["--list", "--context", "tcb", "--show", "state"], &idle[..]].concat());
    let (count, listed) = all.split_last().expect("at least the count");
    assert_eq!((count["count"].as_u64(), listed.len()), (Some(30), 30));
    let picked =
        objects(&[&["--list", "--when", "id.remote_port == 1030", "--context", "tcb"], &idle[..]].concat());
    assert_eq!(picked.len(), 2, "{picked:?}");
    assert_eq!(picked[0]["context"]["id"]["remote_port"], 1030);
}

#[test]
fn a_change_takes_effect() {
    let sample = |set: &[&str]| {
        let look = ["--when", "cwnd >= 50000", "--show", "cwnd", "--host", "client", "--bytes", "2MB"];
        objects(&[&look[..], set].concat())
    };
    assert_eq!(sample(&[]).len(), 1, "it only grows");
    let changed = sample(&["--set", "tcb.cwnd = 2 * smss", "--most", "5"]);
    let whats: Vec<&str> = changed.iter().filter_map(|o| o["what"].as_str()).collect();
    assert_eq!(whats, ["condition", "set", "condition", "set", "condition"], "and grows anew");
    assert_eq!(changed[1]["values"]["cwnd"], 2 * 1448);
    assert!(changed[1]["was"]["cwnd"].as_u64() >= Some(50_000));
    // A parameter of the program stands beside it.
    let both = objects(&[
        "--set",
        "rto_initial=500ms",
        "--set",
        "tcb.nodelay_on = true",
        "--at",
        "1ms",
        "--show",
        "rto",
    ]);
    assert!(!both.is_empty() && both.iter().all(|o| o["what"] == "set"), "{both:?}");
    assert_eq!(both[0]["values"]["rto"], 500_000_000);
}

#[test]
fn what_is_asked_wrongly_is_pointed_at() {
    let cases: [(&[&str], &str); 14] = [
        (&["--when", "cwnds < 10"], "did you mean `cwnd`?"),
        (&["--when", "cwnd"], "--> --when:1:1"),
        (&["--when", "cwnd < 10, cwnd > 2"], "join them with `&&`"),
        (&["--sample", "cwnd, snd_una +", "--every", "1ms"], "--> --sample:1:15"),
        (&["--sample", "cwnd", "--every", "0ms"], "--every 1ms"),
        (&["--when", "tx_room(tcb.id) > 0"], "no trace tells"),
        (&["--on", "segmet"], "did you mean segment?"),
        (&["--on", "segment", "--show", "id", "--context", "tcbs"], "did you mean tcb?"),
        (&["--at", "1ms", "--set", "tcb.cwnd = true"], "--> --set:1:12"),
        (&["--at", "1ms", "--set", "tcb.id = none"], "keeps its id"),
        (&["--at", "1ms", "--set", "tcb.ooo.reset(snd_una)"], "does not assign"),
        (&["--at", "1ms", "--set", "tcb.cwnd = 1", "--compiled"], "leave out --compiled"),
        (&["--set", "tcb.cwnd = 1"], "--at TIME"),
        (&[], "--on EVENT"),
    ];
    for (args, word) in cases {
        let output = trace(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(word), "{args:?}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {said}");
    }
}

#[test]
fn a_program_that_is_wrong_is_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("wrong.mtp"), "event e : net_event { uint32 x = ; }")
        .expect("writable");
    let output = Command::new(carrick())
        .args(["trace", "wrong.mtp", "--on", "e"])
        .current_dir(Path::new(folder.path()))
        .output();
    let output = output.expect("carrick runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("MTP0010"));
}
