// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of the simulator: none is ignored without a word, and 0 does what it says or is refused

use std::fs;
use std::path::Path;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};

/// A folder with a program of streams, one of messages, a table of rates, and one of flows.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    done(dir, &["new", "letter", "--template", "message"]);
    fs::write(dir.join("rates"), "1\n2\n").expect("writable");
    fs::write(dir.join("flows"), "0,0,1,5000\n").expect("writable");
    folder
}

/// What a command that is wrong says; the words have spaces between them.
#[track_caller]
fn refused(dir: &Path, line: &str) -> String {
    let output = run(dir, &line.split(' ').collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line}: {said}");
    said
}

#[test]
fn an_option_that_a_run_cannot_use_is_named() {
    let folder = begun();
    let dir = folder.path();
    let all = "--link-fault *:*:";
    let homa = root().join("protocols/homa/homa.mtp").display().to_string();
    for (line, wanted) in [
        (
            format!("sim parcel/parcel.mtp --topology dumbbell:1 --rate 1Mbps {all}rate-trace=rates"),
            "--rate says nothing with --link-fault",
        ),
        (
            "sim parcel/parcel.mtp --topology pair --rate 1Mbps --rate-trace rates".into(),
            "--rate says nothing with --rate-trace",
        ),
        (
            "sim parcel/parcel.mtp --rate 1Mbps --rate-trace rates".into(),
            "--rate says nothing with --rate-trace",
        ),
        (
            format!("sim parcel/parcel.mtp --topology pair --loss 1% {all}loss=2%"),
            "--loss says nothing with --link-fault: it has another `loss` for each link",
        ),
        (
            format!("sim parcel/parcel.mtp --topology star:2 --rate-trace rates {all}rate-trace=rates"),
            "--rate-trace says nothing with --link-fault",
        ),
        (
            format!("sim parcel/parcel.mtp --topology star:2 --path-mtu 1000 {all}path-mtu=1200"),
            "--path-mtu says nothing with --link-fault",
        ),
        ("sim letter/letter.mtp --outstanding 3".into(), "--outstanding says nothing with letter/letter.mtp"),
        ("sim parcel/parcel.mtp --message 1KB".into(), "--message says nothing with parcel/parcel.mtp"),
        ("sim parcel/parcel.mtp --topology pair --message 1KB".into(), "--message says nothing"),
        (
            "sim parcel/parcel.mtp --topology pair --workload trace:flows --sizes w1".into(),
            "--sizes says nothing with a file as --workload",
        ),
        (
            "sim parcel/parcel.mtp --topology pair --sample snd_una".into(),
            "--sample says nothing without --samples",
        ),
        (
            "sim parcel/parcel.mtp --topology pair --mark-at 5KB".into(),
            "--mark-at says nothing with --topology pair",
        ),
        (format!("sim {homa} --app request-response --message 1KB"), "its requests have the size of --bytes"),
        ("sweep parcel/parcel.mtp --parts 3".into(), "--parts says nothing without --write-snakemake"),
        (
            "sweep parcel/parcel.mtp --topology pair --workload trace:flows --flows 1,2".into(),
            "--flows says nothing with a file as --workload",
        ),
    ] {
        let said = refused(dir, &line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
    // Where some links have it, it is used.
    let some = "sim parcel/parcel.mtp --topology dumbbell:1 --bytes 10KB --link-fault";
    for used in ["s0-s1:loss=1% --loss 2%", "*:*:loss=0.1%@1s.. --loss 0.2%", "*:*:down@9s.. --loss 0%"] {
        done(dir, &format!("{some} {used}").split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn options_of_a_page_are_of_a_trace() {
    let folder = begun();
    let dir = folder.path();
    done(dir, &["sim", "parcel/parcel.mtp", "--bytes", "10KB", "--trace", "a.run"]);
    done(dir, &["sim", "parcel/parcel.mtp", "--topology", "pair", "--bytes", "10KB", "--csv", "a.csv"]);
    for (line, wanted) in [
        ("report a.csv --plot snd_una", "--plot says nothing with a.csv: only the page of one trace"),
        ("report a.csv --program parcel/parcel.mtp", "--program says nothing with a.csv"),
        ("report a.run -o a.jsonl --plot snd_una", "--plot says nothing with a.jsonl: records are written"),
        ("plot a.csv --host h0", "--host does not choose curves of slowdown"),
    ] {
        let said = refused(dir, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
}

/// What is drawn of tables, and what is of no use without one, is made again.
#[test]
fn tables_of_one_run_are_made_again_one_by_one() {
    let folder = begun();
    let dir = folder.path();
    let tables = "--csv a.csv --rates rates.csv --every 5ms --sample snd_una --samples samples.csv";
    let more = "--topology pair --bytes 30KB --link-fault h0:h1:rate-trace=rates --rate 5Mbps --trace a.run";
    let line = format!("sim parcel/parcel.mtp {more} {tables}");
    done(dir, &line.split(' ').collect::<Vec<_>>());
    let rates = format!("sim parcel/parcel.mtp {more} --csv b.csv --rates b-rates.csv --every 5ms");
    done(dir, &rates.split(' ').collect::<Vec<_>>());
    let files = ["a.csv", "rates.csv", "samples.csv", "b.csv", "b-rates.csv", "a.run"];
    let said = done(dir, &[&["repro"], &files[..]].concat());
    assert_eq!(said.lines().filter(|line| line.ends_with(": the same")).count(), files.len(), "{said}");
}

#[test]
fn zero_is_refused_where_it_says_nothing() {
    let folder = begun();
    let dir = folder.path();
    let homa = root().join("protocols/homa/homa.mtp").display().to_string();
    let rpcs = format!("sim {homa} --app request-response");
    for (line, wanted) in [
        ("sim parcel/parcel.mtp --bytes 0", "--bytes 0: say 8B or more"),
        ("sim parcel/parcel.mtp --bytes 7B", "--bytes 7B: say 8B or more"),
        ("sim parcel/parcel.mtp --streams 0,8", "--streams 0: say 8B or more"),
        ("sim parcel/parcel.mtp --app request-response --bytes 0", "--bytes 0: say 8B or more"),
        ("sim parcel/parcel.mtp --app request-response --answer 0", "--answer 0: say 1B or more"),
        ("sim parcel/parcel.mtp --app request-response --count 0", "invalid value '0' for '--count <COUNT>'"),
        ("sim parcel/parcel.mtp --app idle --count 0", "invalid value '0' for '--count <COUNT>'"),
        ("sim parcel/parcel.mtp --rate 0", "--rate 0: a link has a rate of 1bps or more"),
        ("sim parcel/parcel.mtp --topology pair --rate 0", "a link has a rate"),
        ("sim letter/letter.mtp --message 0", "`0` is no length of a message: say 8B to 64KiB"),
        (&format!("{rpcs} --answer 0"), "--answer 0: say 8B or more"),
        (&format!("{rpcs} --outstanding 0"), "invalid value '0' for '--outstanding"),
        ("sim parcel/parcel.mtp --topology pair --flows 0", "invalid value '0' for '--flows"),
        ("sim parcel/parcel.mtp --topology pair --bytes 0", "--bytes 0: say 8B or more"),
        ("sim parcel/parcel.mtp --topology pair --sizes 0..1KB", "--sizes 0: say 8B or more"),
        (
            "sim parcel/parcel.mtp --topology pair --background permutation --background-sizes 0",
            "--background-sizes 0: say 8B or more",
        ),
        (
            "sim parcel/parcel.mtp --topology pair --background permutation --background-flows 0",
            "invalid value '0' for '--background-flows",
        ),
        ("sim parcel/parcel.mtp --topology pair --rates a --every 0ms", "--every 0s: say 1ns or more"),
        ("trace parcel/parcel.mtp --on segment --most 0", "invalid value '0' for '--most"),
    ] {
        let said = refused(dir, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
}
