// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the simulator leaves tells what made it, is made again to the byte, and is the same in parts and as a whole.

use std::path::Path;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};

/// A folder with a program of its own, which a test may change.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["new", "parcel"]);
    folder
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).expect("readable")
}

const NETWORK: [&str; 9] = [
    "sim",
    "parcel/parcel.mtp",
    "--topology",
    "star:4",
    "--workload",
    "incast:3",
    "--bytes",
    "20KB",
    "--fast",
];

/// Eight runs: two buffers, each with four seeds.
const RUNS: [&str; 4] = ["--set", "buffer=32KiB,64KiB", "--seeds", "4"];

#[test]
fn shards_together_are_the_whole() {
    let folder = begun();
    let dir = folder.path();
    let sim = |more: &[&str]| done(dir, &[&NETWORK[..], &RUNS, more].concat());
    let whole = sim(&["--csv", "whole.csv", "--format", "json"]);
    for part in ["1/3", "2/3", "3/3"] {
        let name = part.replace("/3", "");
        let json = sim(&["--csv", &format!("{name}.csv"), "--format", "json", "--shard", part]);
        std::fs::write(dir.join(format!("{name}.json")), json).expect("writable");
    }
    assert_eq!(done(dir, &["merge", "3.csv", "1.csv", "2.csv"]), read(dir, "whole.csv"));
    let alone = sim(&["--format", "json", "--shard", "1/1"]);
    std::fs::write(dir.join("alone.json"), alone).expect("writable");
    assert_eq!(done(dir, &["merge", "alone.json"]), whole);
    done(dir, &["merge", "2.json", "3.json", "1.json", "-o", "merged.json"]);
    assert_eq!(read(dir, "merged.json"), whole);
    let table = read(dir, "whole.csv");
    let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() == 1 + 8 * 3 && rows[0].ends_with(",buffer"), "{table}");
    assert!(rows[1].starts_with("1,0,") && rows[1].ends_with(",32KiB"), "{table}");
    assert!(rows[24].starts_with("4,2,") && rows[24].ends_with(",64KiB"), "{table}");
}

#[test]
fn what_is_no_whole_is_refused() {
    let folder = begun();
    let dir = folder.path();
    let shard = |part: &str, name: &str, more: &[&str]| {
        done(dir, &[&NETWORK[..], &RUNS, &["--shard", part, "--csv", name], more].concat());
    };
    shard("1/2", "1.csv", &[]);
    shard("2/2", "2.csv", &[]);
    shard("2/2", "other.csv", &["--mtu", "1400"]);
    let refused = |files: &[&str]| {
        let output = run(dir, &[&["merge"], files].concat());
        assert_eq!(output.status.code(), Some(1), "{files:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["2.csv"]).contains("shard 1/2 is missing"));
    assert!(refused(&["1.csv"]).contains("shard 2/2 is missing"));
    assert!(refused(&["1.csv", "1.csv", "2.csv"]).contains("the same shard"));
    assert!(refused(&["1.csv", "other.csv"]).contains("not shards of the same runs"));
    let whole = read(dir, "2.csv");
    let cut = &whole[..whole.rfind("\n# run ").expect("its last run") + 1];
    std::fs::write(dir.join("2.csv"), cut).expect("writable");
    assert!(refused(&["1.csv", "2.csv"]).contains("2.csv has not all of its runs"));
    done(dir, &[&NETWORK[..], &["--csv", "all.csv"]].concat());
    assert_eq!(run(dir, &["merge", "all.csv"]).status.code(), Some(2));
    assert_eq!(run(dir, &[&NETWORK[..], &["--shard", "3/2"]].concat()).status.code(), Some(2));
}

#[test]
fn artefacts_are_made_again() {
    let folder = begun();
    let dir = folder.path();
    let pair =
        ["sim", "parcel/parcel.mtp", "--bytes", "30KB", "--loss", "2%", "--format", "json", "--seed", "9"];
    let json = done(dir, &[&pair[..], &["--trace", "pair.trace", "--pcap", "pair.pcapng"]].concat());
    std::fs::write(dir.join("pair.json"), json).expect("writable");
    done(dir, &["report", "pair.trace", "-o", "pair.html", "--plot", "snd_una"]);
    done(dir, &["report", "pair.trace", "-o", "pair.jsonl"]);
    let network = [&NETWORK[..], &["--trace", "net.trace", "--pcap", "net.pcapng"]].concat();
    done(dir, &network);
    let json = done(
        dir,
        &[
            &NETWORK[..],
            &RUNS,
            &["--csv", "some.csv", "--rates", "rates.csv", "--every", "10us", "--shard=2/3", "--format=json"],
        ]
        .concat(),
    );
    std::fs::write(dir.join("some.json"), json).expect("writable");
    let all = [
        "pair.json",
        "pair.trace",
        "pair.pcapng",
        "pair.html",
        "pair.jsonl",
        "net.trace",
        "net.pcapng",
        "some.csv",
        "some.json",
        "rates.csv",
    ];
    let said = done(dir, &[&["repro"][..], &all].concat());
    assert_eq!(said.lines().collect::<Vec<_>>(), all.map(|name| format!("{name}: the same")));
}

/// Four hosts behind a switch, as a file.
const NET: &str =
    "hosts = 4\nswitches = 1\n[[links]]\nends = [\"h0..h3\", \"s0\"]\nrate = \"1Gbps\"\ndelay = \"1us\"\n";

/// A topology, traces of flows, a program between the ends: changed so that nothing else comes out.
#[test]
fn other_files_that_changed_are_named() {
    let folder = begun();
    let dir = folder.path();
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("writable");
    write("a net.toml", NET);
    write("flows", "0,0,1,3000\n");
    write("others", "0,2,1,400000\n");
    done(dir, &["new", "lane", "--template", "in-network"]);
    let network = ["--topology", "a net.toml", "--workload", "trace:flows", "--background", "trace:others"];
    let to = ["--csv", "a.csv", "--trace", "a.trace", "--pcap", "a.pcapng"];
    done(dir, &[&["sim", "parcel/parcel.mtp"][..], &network, &to].concat());
    let through =
        ["sim", "parcel/parcel.mtp", "--via", "lane/lane.mtp", "--bytes", "5KB", "--format", "json"];
    write("lane.json", &done(dir, &through));
    let table = read(dir, "a.csv");
    assert!(table.contains("\n# input a net.toml ") && table.contains("\n# input others "), "{table}");
    let rows = table.lines().filter(|line| line.starts_with("1,"));
    let marks: Vec<&str> = rows.filter_map(|line| line.split(',').nth(9)).collect();
    assert_eq!(marks, ["0", "1"], "{table}");
    let artefacts = ["a.csv", "a.trace", "a.pcapng", "lane.json"];
    done(dir, &[&["repro"][..], &artefacts].concat());
    for (changed, of) in
        [("others", &artefacts[..3]), ("a net.toml", &artefacts[..3]), ("lane/lane.mtp", &artefacts[3..])]
    {
        let before = read(dir, changed);
        let comment = if changed.ends_with(".mtp") { "//" } else { "#" };
        write(changed, &format!("{before}{comment} no more\n"));
        for name in of {
            let output = run(dir, &["repro", name]);
            let said = String::from_utf8(output.stdout).expect("UTF-8");
            let wanted = format!("{name}: not as it was\n{changed} has changed\n");
            assert!(output.status.code() == Some(1) && said.starts_with(&wanted), "{said}");
        }
        write(changed, &before);
    }
}

#[test]
fn drawings_are_made_again() {
    let folder = begun();
    let dir = folder.path();
    let sim = |more: &[&str]| done(dir, &[&NETWORK[..], more].concat());
    sim(&[
        "--csv",
        "one.csv",
        "--timeline",
        "one time.csv",
        "--rates",
        "rates.csv",
        "--every",
        "10us",
        "--plot",
        "one",
    ]);
    sim(&[
        "--csv",
        "other.csv",
        "--set",
        "window=2000,8000",
        "--timeline",
        "other time.csv",
        "--shard",
        "2/2",
    ]);
    done(dir, &["plot", "one.csv", "other.csv", "-o", "slowdown.svg"]);
    done(dir, &["plot", "one.csv", "other.csv", "--what", "completion", "-o", "completion.svg"]);
    done(dir, &["plot", "other time.csv", "one time.csv", "-o", "queues.svg"]);
    done(dir, &["plot", "rates.csv", "-o", "rates.svg"]);
    done(dir, &["report", "one.csv", "one time.csv", "other.csv", "-o", "page.html"]);
    let said = |name: &str, wanted: &[&str]| {
        let text = read(dir, name);
        let missing = wanted.iter().find(|part| !text.contains(*part));
        assert!(missing.is_none(), "{name} lacks {missing:?}: {text}");
    };
    said("slowdown.svg", &[">one, P99<", ">other, window=8000, P50<", ">bytes of a flow (log scale)<"]);
    said("completion.svg", &[">one<", ">share of the flows, %<", "</metadata>"]);
    said(
        "queues.svg",
        &[">one time, to a host; bottleneck s0:h0 (", ">other time, window=8000, to a host; bottleneck "],
    );
    said("rates.svg", &[">rates, flow 0<", ">goodput, "]);
    said("page.html", &["Slowdown by length", "Longest queues", "Goodput of all hosts", "id=\"manifest\""]);
    let drawn = ["slowdown", "completion", "queues", "goodput", "utilisation", "rates"]
        .map(|name| format!("one/{name}.svg"));
    let mut all =
        vec!["slowdown.svg", "completion.svg", "queues.svg", "rates.svg", "page.html", "other time.csv"];
    all.extend(drawn.iter().map(String::as_str));
    let said = done(dir, &[&["repro"][..], &all].concat());
    assert_eq!(said.lines().filter(|line| line.ends_with(": the same")).count(), all.len(), "{said}");
    let wrong = run(dir, &["plot", "one.csv", "--what", "goodput"]);
    assert!(wrong.status.code() == Some(2) && String::from_utf8_lossy(&wrong.stderr).contains("--timeline"));
    assert_eq!(run(dir, &["plot", "slowdown.svg"]).status.code(), Some(2));
}

#[test]
fn the_first_difference_is_shown() {
    let folder = begun();
    let dir = folder.path();
    done(dir, &[&NETWORK[..], &["--csv", "a.csv", "--pcap", "a.pcapng"]].concat());
    let differs = |name: &str| {
        let output = run(dir, &["repro", name]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let whole = read(dir, "a.csv");
    std::fs::write(dir.join("b.csv"), whole.replace(",OK\n", ",KO\n")).expect("writable");
    let said = differs("b.csv");
    let first = whole.lines().position(|line| line.ends_with(",OK")).expect("a flow") + 1;
    assert!(said.starts_with("b.csv: not as it was\n") && said.contains(&format!("line {first} ")), "{said}");
    assert!(said.contains(",KO\n+ ") && said.ends_with(",OK\n"), "{said}");
    let mut capture = std::fs::read(dir.join("a.pcapng")).expect("readable");
    let last = capture.len() - 6;
    capture[last] ^= 1;
    std::fs::write(dir.join("b.pcapng"), capture).expect("writable");
    assert!(differs("b.pcapng").contains(&format!("byte {last} is the first")));
    let program = read(dir, "parcel/parcel.mtp");
    std::fs::write(dir.join("parcel/parcel.mtp"), format!("{program}\n")).expect("writable");
    assert!(differs("a.csv").contains("\n- # program parcel/parcel.mtp "));
    std::fs::remove_file(dir.join("parcel/parcel.mtp")).expect("there");
    assert_eq!(run(dir, &["repro", "a.csv"]).status.code(), Some(2));
    let nothing = root().join("README.md").display().to_string();
    assert_eq!(run(dir, &["repro", &nothing]).status.code(), Some(2));
}

/// An artefact that somebody else made can hold anything. What it asks for beyond its own run is refused, and nothing is written.
#[test]
fn an_artefact_of_somebody_is_only_data() {
    let folder = begun();
    let dir = folder.path();
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("writable");
    done(dir, &[&NETWORK[..], &["--csv", "a.csv"]].concat());
    let form = ["--trace-format", "json"];
    let sim = ["sim", "parcel/parcel.mtp", "--bytes", "5KB", "--trace", "a.run", "--pcap", "a.pcapng"];
    done(dir, &[&sim[..], &form].concat());
    done(dir, &["plot", "a.csv", "-o", "a.svg"]);
    let (table, trace, drawing) = (read(dir, "a.csv"), read(dir, "a.run"), read(dir, "a.svg"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let victim = elsewhere.path().join("victim");
    std::fs::write(victim.with_extension("csv"), "precious").expect("writable");
    let (victim, program) = (victim.display(), dir.join("parcel/parcel.mtp"));
    let arguments = "sim parcel/parcel.mtp";
    let hostile = [
        table.replace("--fast", &format!("--fast --pcap {victim}.csv")),
        table.replace("--fast", &format!("--fast --timeline={victim}.csv")),
        table.replace("# seed 1", &format!("# seed 1\n# table flows {victim}")),
        table.replace("parcel/parcel.mtp", &program.display().to_string()),
        table.replace("--fast", "--fast --compiled"),
        table.replace("# arguments sim", "# arguments doc"),
        trace.replace(arguments, &format!("{arguments} --csv {victim}.csv")),
        drawing.replace("drawn plot --what slowdown", "drawn doc parcel/parcel.mtp"),
        drawing.replace("drawn plot --what slowdown", &format!("drawn plot --output={victim}.csv")),
        drawing.replace("table flows a", &format!("table flows {victim}")),
    ];
    for (number, text) in hostile.iter().enumerate() {
        assert!(![&table, &trace, &drawing].contains(&text), "{number} is as it was");
        write("gift", text);
        let output = run(dir, &["repro", "gift"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{number}: {said}");
        assert!(said.starts_with("carrick: gift"), "{number}: {said}");
        let names: Vec<_> = std::fs::read_dir(elsewhere.path()).expect("a folder").collect();
        assert_eq!((names.len(), read(elsewhere.path(), "victim.csv").as_str()), (1, "precious"), "{number}");
    }
    write("gift", &hostile[3]);
    assert!(done(dir, &["repro", "--outside", "gift", "a.csv", "a.svg"]).ends_with("a.svg: the same\n"));
}

/// A file that a topology names, or to which a link leads, is outside as one that the artefact names. A pipe is no file.
#[test]
fn what_an_artefact_leads_to_is_not_read() {
    let folder = begun();
    let dir = folder.path();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let secret = elsewhere.path().join("secret.csv");
    std::fs::write(&secret, "precious\n").expect("writable");
    let secret = secret.display();
    std::os::unix::fs::symlink(secret.to_string(), dir.join("link.csv")).expect("writable");
    let pipes = ["pipe.csv", "pipe.toml"].map(|name| dir.join(name));
    let made = std::process::Command::new("mkfifo").args(pipes).status().expect("it starts");
    assert!(made.success());
    let topology = |name: &str, more: &str| {
        let link = "hosts=4\nswitches=1\n[[links]]\nends=[\"h0..h3\",\"s0\"]\ndelay=\"1us\"\n";
        std::fs::write(dir.join(name), format!("{link}{more}")).expect("writable");
    };
    topology("program.toml", &format!("rate=\"1Gbps\"\n[[programs]]\nat=\"s0\"\nfile=\"{secret}\"\n"));
    topology("rates.toml", &format!("faults=[\"rate-trace={secret}\"]\n"));
    done(dir, &[&NETWORK[..], &["--csv", "a.csv"]].concat());
    let table = read(dir, "a.csv");
    let outside = "it is outside the current folder; say `carrick repro --outside` if it may be read";
    for (changed, why) in [
        ("--topology program.toml", outside),
        ("--topology rates.toml", outside),
        ("--topology star:4 --rate-trace link.csv", outside),
        ("--topology star:4 --rate-trace pipe.csv", "it is no regular file"),
        ("--topology pipe.toml", "it is no regular file"),
    ] {
        let gift = table.replace("--topology star:4", changed);
        assert_ne!(gift, table, "the run is in that network");
        std::fs::write(dir.join("gift"), gift).expect("writable");
        let output = run(dir, &["repro", "gift"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{changed}: {said}");
        assert!(!said.contains("precious"), "{said}");
    }
}
