// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick sweep`: one table of many runs, whatever happens while it is written.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use carrick_tests::build::carrick;
use carrick_tests::command::{done, run};
use carrick_tests::net::{lacks, skip};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;

/// A folder with a program of its own, which a test may change.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["new", "parcel"]);
    folder
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).expect("readable")
}

/// The words of a sweep of the program.
fn words<'a>(more: &'a str, output: &'a str) -> Vec<&'a str> {
    ["sweep", "parcel/parcel.mtp"].into_iter().chain(more.split(' ')).chain(["-o", output]).collect()
}

#[track_caller]
fn sweep(dir: &Path, more: &str, output: &str) -> String {
    done(dir, &words(more, output))
}

/// What a sweep that does not do what is asked says, and its exit code.
fn refused(dir: &Path, more: &str, output: &str) -> (String, Option<i32>) {
    let refused = run(dir, &words(more, output));
    assert!(!refused.status.success(), "{more}");
    (String::from_utf8_lossy(&refused.stderr).into_owned(), refused.status.code())
}

/// A column of a table, without its name.
fn column(table: &str, name: &str) -> Vec<String> {
    let mut lines = table.lines().map(cells);
    let head = lines.next().expect("a first line");
    let place = head.iter().position(|column| column == name).unwrap_or_else(|| panic!("{name}: {head:?}"));
    lines.map(|cells| cells[place].clone()).collect()
}

/// The cells of a line (RFC 4180).
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("one is there").push(c),
        }
    }
    cells
}

const TWO_HOSTS: &str = "--loss 0%,2% --delay 1ms..4ms:lin2 --bytes 30KB --seeds 3";

#[test]
fn every_combination_is_a_row_with_its_values() {
    let folder = begun();
    let dir = folder.path();
    sweep(dir, TWO_HOSTS, "a.csv");
    let table = read(dir, "a.csv");
    assert_eq!(column(&table, "delay_ns")[..4], ["1000000", "1000000", "1000000", "1000000"]);
    assert_eq!(column(&table, "loss_ppm").join(" "), "0 0 0 20000 20000 20000 0 0 0 20000 20000 20000");
    assert_eq!(column(&table, "seed")[..6], ["1", "2", "3", "1", "2", "3"]);
    assert!(column(&table, "delivered_bytes").iter().all(|bytes| bytes == "30000"), "{table}");
    assert!(column(&table, "lost_packets")[3..6].iter().any(|lost| lost != "0"), "{table}");
    // What a row says is what the same single run says.
    let alone = done(
        dir,
        &[
            "sim",
            "parcel/parcel.mtp",
            "--loss",
            "2%",
            "--delay",
            "4ms",
            "--bytes",
            "30KB",
            "--seed",
            "3",
            "--format",
            "json",
        ],
    );
    let alone: serde_json::Value = serde_json::from_str(&alone).expect("JSON");
    let last = |name| column(&table, name).pop().expect("a row");
    assert_eq!(last("completion_ns"), alone["completion_ns"].to_string());
    assert_eq!(last("packets"), alone["packets"].to_string());
    assert_eq!(last("retransmitted_packets"), alone["retransmitted_packets"].to_string());
    sweep(dir, &format!("{TWO_HOSTS} --jobs 2"), "b.csv");
    assert_eq!(read(dir, "b.csv"), table, "however many runs are made at once");
}

#[test]
fn topologies_parameters_and_workloads_vary() {
    let folder = begun();
    let dir = folder.path();
    let more = "--topology star:4,leaf-spine:2,1,2 --workload incast:2,incast:3 --set buffer=32KiB,64KiB --zip workload,buffer --bytes 20KB";
    sweep(dir, &format!("{more} --rows flows"), "flows.csv");
    let table = read(dir, "flows.csv");
    assert_eq!(column(&table, "flow").join(""), "0101012012", "two and three flows on each topology");
    assert_eq!(column(&table, "buffer_bytes")[3..6], ["32768", "65536", "65536"]);
    assert_eq!(column(&table, "topology")[1..4], ["star:4", "leaf-spine:2,1,2", "leaf-spine:2,1,2"]);
    let alone =
        ["sim", "parcel/parcel.mtp", "--topology", "star:4", "--workload", "incast:3", "--bytes", "20KB"];
    done(dir, &[&alone[..], &["--set", "buffer=64KiB", "--csv", "one.csv"]].concat());
    let one = read(dir, "one.csv");
    let one: String =
        one.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    assert_eq!(column(&table, "end_ns")[4..7], column(&one, "end_ns"));
    assert_eq!(column(&table, "slowdown")[4..7], column(&one, "slowdown"));
    sweep(dir, more, "runs.csv");
    assert_eq!(column(&read(dir, "runs.csv"), "flows").join(""), "2233");
}

#[test]
fn what_is_wrong_is_named_before_a_run_is_made() {
    let folder = begun();
    let dir = folder.path();
    for (more, why) in [
        ("--loss 0%,x", "--loss x: \"x\" is not a share"),
        ("--delay 1ms..5ms", "--delay 1ms..5ms: a range says how many values it has"),
        ("--count 1,x --app idle", "the run with count x: invalid value 'x' for '--count <COUNT>'"),
        ("--topology star:4,ring:3", "the run with topology ring:3: \"ring:3\" is no topology"),
        ("--answer 1KB,2KB --topology star:4", "--answer says nothing with --topology"),
        ("--set nothing=1,2", "the run with nothing 1: parcel/parcel.mtp has no parameter \"nothing\""),
        ("--from gone.csv", "--from gone.csv: there is no such file"),
    ] {
        let (said, code) = refused(dir, more, "a.csv");
        assert!(said.contains(why) && code == Some(2), "{more}: {code:?}: {said}");
        assert!(!dir.join("a.csv").exists(), "{more}: nothing was made");
    }
    let single = run(dir, &["sim", "parcel/parcel.mtp", "--loss", "0%,1%"]);
    let said = String::from_utf8_lossy(&single.stderr).into_owned();
    assert!(
        said.contains("--loss 0%,1%: `carrick sim` makes one run") && single.status.code() == Some(2),
        "{said}"
    );
}

/// Each fault that loses, repeats or damages packets, in the network between two hosts, through a program there, and in a topology.
#[test]
fn counts_of_faults_are_those_of_the_simulation() {
    let folder = begun();
    let dir = folder.path();
    done(dir, &["new", "slow", "--template", "in-network"]);
    let faults = "--loss 2% --duplicate 3% --reorder 3% --corrupt 2% --burst-loss 1%/25% --down 100ms..250ms";
    let networks =
        ["", " --via slow/slow.mtp", " --topology dumbbell:1 --workload incast:1", " --topology star:3"];
    for (number, network) in networks.into_iter().enumerate() {
        let more = format!("{faults} --bytes 300KB{network}");
        let files = ["runs", "flows"].map(|rows| format!("{rows}-{number}.csv"));
        let runs = words(&more, &files[0]).into_iter().chain(["--seeds", "2", "--allow-failures"]);
        done(dir, &runs.collect::<Vec<_>>());
        let flows = words(&more, &files[1]).into_iter().chain(["--rows", "flows", "--allow-failures"]);
        done(dir, &flows.collect::<Vec<_>>());
        let [runs, flows] = files.map(|file| read(dir, &file));
        for seed in 1..=2 {
            let sim = format!("sim parcel/parcel.mtp {more} --seed {seed} --format json");
            let output = run(dir, &sim.split(' ').collect::<Vec<_>>());
            let result: Value = serde_json::from_slice(&output.stdout).expect("an object");
            for (column_name, key) in FAULTS {
                let found = column(&runs, column_name)[seed - 1].clone();
                let wanted = if key == "bad_header" && !network.contains("topology") {
                    String::new()
                } else {
                    counted(&result, key).to_string()
                };
                assert_eq!(found, wanted, "{column_name} with seed {seed}:{network}");
                assert!(!flows.contains(column_name), "flows have no counts of links");
            }
        }
        let total =
            |name: &str| column(&runs, name).iter().filter_map(|n| n.parse::<u64>().ok()).sum::<u64>();
        for (column_name, key) in FAULTS {
            let rare = ["bad_header", "too_long"].contains(&key);
            assert!(rare || total(column_name) > 0, "{column_name}:{network}\n{runs}");
        }
        let parts = total("lost_in_bursts_packets") + total("lost_down_packets");
        assert!(parts < total("lost_packets"), "the others were lost one by one:{network}\n{runs}");
    }
}

/// The columns of faults, and what `carrick sim` calls them.
const FAULTS: [(&str, &str); 8] = [
    ("lost_packets", "lost"),
    ("lost_in_bursts_packets", "lost_in_bursts"),
    ("lost_down_packets", "lost_down"),
    ("duplicated_packets", "duplicated"),
    ("reordered_packets", "reordered"),
    ("corrupted_packets", "corrupted"),
    ("too_long_packets", "too_long"),
    ("bad_header_packets", "bad_header"),
];

/// The sum of a count over all links of a run: between two hosts of the links, in a topology of all ports.
fn counted(result: &Value, key: &str) -> u64 {
    let links =
        [&result["links"], &result["between"]["links"]].into_iter().filter_map(Value::as_array).flatten();
    let ports = result["runs"][0]["queues"].as_object().into_iter().flat_map(|queues| queues.values());
    links.chain(ports).map(|counts| counts[key].as_u64().unwrap_or_else(|| panic!("{key}: {counts}"))).sum()
}

#[test]
fn a_run_that_fails_is_a_row_and_an_exit_code() {
    let folder = begun();
    let dir = folder.path();
    let (said, code) = refused(dir, "--cut 1ms,10s --bytes 50KB", "a.csv");
    assert!(
        said.starts_with("FAILED: cut_ns 1000000, seed 1: connection 1: the client got TIMED_OUT"),
        "{said}"
    );
    let table = read(dir, "a.csv");
    assert_eq!((column(&table, "status").join(" "), code), ("failed ok".to_owned(), Some(1)));
    assert!(table.contains("TIMED_OUT after 0 bytes"), "{table}");
    // It is what it is: only what ended in an error is made again.
    let said = sweep(dir, "--cut 1ms,10s --bytes 50KB --resume --allow-failures", "a.csv");
    assert!(said.starts_with("0 runs in"), "{said}");
    // A run that cannot be made is an error in any case, and made again.
    let more = "--topology star:4 --workload incast:3,incast:9 --bytes 1KB --allow-failures";
    let (said, code) = refused(dir, more, "b.csv");
    assert!(said.contains("FAILED: workload incast:9, seed 1: 9 hosts cannot send"), "{said}");
    assert_eq!((column(&read(dir, "b.csv"), "status").join(" "), code), ("ok error".to_owned(), Some(1)));
    let again = run(dir, &words(&format!("{more} --resume"), "b.csv"));
    assert!(String::from_utf8_lossy(&again.stdout).starts_with("1 runs in"), "{again:?}");
    // A claim of the program.
    let program = read(dir, "parcel/parcel.mtp") + "\ninvariant never(conn c) {\n    assert(1 == 2);\n}\n";
    fs::write(dir.join("parcel/parcel.mtp"), program).expect("writable");
    for more in ["--bytes 1KB", "--bytes 1KB --topology star:2"] {
        let output = format!("claims{}.csv", more.len());
        let (said, code) = refused(dir, more, &output);
        assert!(said.contains("`1 == 2` does not hold") && code == Some(1), "{more}: {said}");
        assert_eq!(column(&read(dir, &output), "status"), ["failed"]);
    }
}

#[test]
fn only_what_lacks_is_made() {
    let folder = begun();
    let dir = folder.path();
    let (said, code) = {
        sweep(dir, TWO_HOSTS, "a.csv");
        refused(dir, TWO_HOSTS, "a.csv")
    };
    assert!(said.contains("a.csv exists: say --resume") && code == Some(2), "{said}");
    let whole = read(dir, "a.csv");
    // Rows that are missing anywhere, one that ended in an error, and a part of a line.
    let lines: Vec<&str> = whole.lines().collect();
    let wrong = lines[4].replacen(",ok,", ",error,", 1);
    fs::write(dir.join("a.csv"), [lines[0], lines[7], lines[2], &wrong, &lines[9][..20]].join("\n"))
        .expect("writable");
    let said = sweep(dir, &format!("{TWO_HOSTS} --resume"), "a.csv");
    assert!(said.starts_with("10 runs in"), "{said}");
    assert_eq!(read(dir, "a.csv"), whole);
    // One more value: its runs are made, the others kept.
    let more = TWO_HOSTS.replace("0%,2%", "0%,1%,2%");
    let said = sweep(dir, &format!("{more} --resume"), "a.csv");
    assert!(said.starts_with("6 runs in"), "{said}");
    sweep(dir, &more, "b.csv");
    assert_eq!(read(dir, "a.csv"), read(dir, "b.csv"));
    // Another program.
    let text = read(dir, "parcel/parcel.mtp");
    fs::write(dir.join("parcel/parcel.mtp"), format!("{text}\n// changed\n")).expect("writable");
    let (said, code) = refused(dir, &format!("{more} --resume"), "a.csv");
    assert!(
        said.contains("the program, an option or the version of carrick changed") && code == Some(2),
        "{said}"
    );
    assert_eq!(read(dir, "a.csv"), read(dir, "b.csv"), "nothing is lost");
    let (said, _) = refused(dir, "--queue 1,2 --resume", "a.csv");
    assert!(said.contains("a.csv is not a table of this sweep: its columns differ"), "{said}");
}

#[test]
fn shards_are_joined() {
    let folder = begun();
    let dir = folder.path();
    sweep(dir, TWO_HOSTS, "whole.csv");
    for part in 1..=3 {
        let said = sweep(dir, &format!("{TWO_HOSTS} --shard {part}/3"), &format!("{part}.csv"));
        assert!(said.starts_with("4 runs in"), "{said}");
    }
    // A part that a worker lost is made here.
    fs::remove_file(dir.join("3.csv")).expect("it is there");
    let said = sweep(dir, &format!("{TWO_HOSTS} --from 2.csv --from 1.csv"), "joined.csv");
    assert!(said.starts_with("4 runs in"), "{said}");
    assert_eq!(read(dir, "joined.csv"), read(dir, "whole.csv"));
}

/// Runs that fail, and take their time.
const FAILING: &str = "--cut 1ms --bytes 50KB --seeds 400";

#[test]
fn what_is_done_is_kept() {
    let folder = begun();
    let dir = folder.path();
    sweep(dir, &format!("{FAILING} --allow-failures"), "whole.csv");
    let whole = read(dir, "whole.csv");
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::TERM, Some(143)), (Signal::KILL, None)] {
        let name = format!("{}.csv", signal.as_raw());
        let mut child = Command::new(carrick())
            .args(words(FAILING, &name))
            .current_dir(dir)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("carrick starts");
        let mut said = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        for _ in 0..3 {
            line.clear();
            said.read_line(&mut line).expect("it goes on");
            assert!(line.starts_with("FAILED: "), "{line}");
        }
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let mut rest = String::new();
        said.read_to_string(&mut rest).expect("readable");
        assert_eq!(child.wait().expect("it ends").code(), code, "{rest}");
        let table = read(dir, &name);
        let rows = table.lines().count() - 1;
        assert!((3..400).contains(&rows) && table.ends_with('\n'), "{rows} rows");
        assert!(whole.starts_with(&table), "whole rows, in order");
        if code.is_some() {
            let kept = format!("{rows} runs are in {name}, {} are not; --resume makes them", 400 - rows);
            assert!(rest.contains(&kept), "{rest}");
        }
        sweep(dir, &format!("{FAILING} --allow-failures --resume --jobs 2"), &name);
        assert_eq!(read(dir, &name), whole, "{signal:?}");
    }
}

/// What a script says in a mount namespace of its own, where `disk` of the folder is a small file system.
fn with_small_disk(dir: &Path, script: &str) -> Option<Output> {
    if !geteuid().is_root() {
        skip("only root mounts a small file system");
        return None;
    }
    fs::create_dir_all(dir.join("disk")).expect("writable");
    let all = format!("mount -t tmpfs -o size=32k none disk || exit 99\n{script}");
    let output = Command::new("unshare").args(["-m", "sh", "-c", &all]).current_dir(dir).output();
    match output {
        Ok(output) if output.status.code() != Some(99) => Some(output),
        _ => {
            skip("this machine has no mount namespaces");
            None
        }
    }
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let folder = begun();
    let dir = folder.path();
    let more = "--bytes 1KB --seeds 500 --rows runs";
    sweep(dir, more, "whole.csv");
    assert!(read(dir, "whole.csv").len() > 40_000);
    let command = format!("{} sweep parcel/parcel.mtp {more} -o disk/a.csv", carrick().display());
    let script = format!(
        "{command} 2>said; echo $? >code; cp disk/a.csv full.csv; ls -A disk | wc -l >files
         mount -o remount,size=1m disk && {command} --resume >again && cp disk/a.csv done.csv"
    );
    if with_small_disk(dir, &script).is_none() {
        return;
    }
    let said = read(dir, "said");
    assert!(
        said.contains("cannot write disk/a.csv: No space left on device") && said.contains("--resume"),
        "{said}"
    );
    assert_eq!((read(dir, "code").trim(), read(dir, "files").trim()), ("1", "1"));
    let (full, whole) = (read(dir, "full.csv"), read(dir, "whole.csv"));
    let rows = full.lines().count() - 1;
    assert!(rows > 100 && full.ends_with('\n') && whole.starts_with(&full), "{rows} rows");
    assert!(said.contains(&format!("the rows of {rows} runs are in it")), "{rows}: {said}");
    assert!(read(dir, "again").starts_with(&format!("{} runs in", 500 - rows)));
    assert_eq!(read(dir, "done.csv"), whole);
}

#[test]
fn a_terminal_shows_rate_and_time_left() {
    if lacks("script") {
        return;
    }
    let folder = begun();
    let shown = |quiet: &str| {
        let line = format!(
            "'{}' {} {quiet}",
            carrick().display(),
            words("--bytes 30KB --seeds 40", "a.csv").join(" ")
        );
        let terminal = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("TERM", "xterm")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("script runs");
        fs::remove_file(folder.path().join("a.csv")).expect("it is there");
        String::from_utf8_lossy(&terminal.stdout).into_owned()
    };
    let said = shown("");
    assert!(said.contains("/40, ") && said.contains("/s, ") && said.contains(" left"), "{said}");
    assert!(!shown("--quiet").contains(" left"));
}

/// A script of Python that reads both tables without an option, and compares the types.
const READ: &str = r#"
import sys
kind = sys.argv[1]
if kind == "pandas":
    import pandas
    tables = [pandas.read_csv(name) for name in sys.argv[2:]]
    types = [{name: str(type) for name, type in table.dtypes.items()} for table in tables]
else:
    import polars
    tables = [polars.read_csv(name) for name in sys.argv[2:]]
    types = [{name: str(type).lower() for name, type in table.schema.items()} for table in tables]
for table, types in zip(tables, types):
    assert len(table) == 6, len(table)
    for name in ["seed", "delay_ns", "loss_ppm", "flows", "delivered_bytes"]:
        assert types[name] == "int64", (name, types)
    assert table["delay_ns"].max() - table["delay_ns"].min() == 3000000
print("read")
"#;

#[test]
fn analysis_tools_read_it_without_options() {
    let folder = begun();
    let dir = folder.path();
    let more = "--loss 0%,2%,4% --delay 1ms,4ms --bytes 30KB";
    sweep(dir, more, "runs.csv");
    sweep(dir, &format!("{more} --rows flows"), "flows.csv");
    for library in ["pandas", "polars"] {
        let has = Command::new("python3").args(["-c", &format!("import {library}")]).output();
        if !has.is_ok_and(|has| has.status.success()) {
            skip(&format!("Python's {library} is not installed"));
            continue;
        }
        let script = Command::new("python3")
            .args(["-c", READ, library, "runs.csv", "flows.csv"])
            .current_dir(dir)
            .output();
        let script = script.expect("there is Python");
        assert!(script.status.success(), "{library}: {}", String::from_utf8_lossy(&script.stderr));
    }
}

/// Writes the files of an engine; returns the table that one process makes.
fn for_engine(dir: &Path, option: &str) -> String {
    sweep(dir, TWO_HOSTS, "whole.csv");
    let said = done(dir, &[&words(TWO_HOSTS, "all.csv")[..], &[option, "the jobs", "--parts", "3"]].concat());
    for file in said.lines() {
        assert!(PathBuf::from(file).is_file(), "{said}");
    }
    assert!(!dir.join("all.csv").exists(), "no run is made");
    read(dir, "whole.csv")
}

#[test]
fn snakemake_makes_the_same_table() {
    if lacks("snakemake") {
        return;
    }
    let folder = begun();
    let dir = folder.path();
    let whole = for_engine(dir, "--write-snakemake");
    let snakemake = || {
        let words = ["--snakefile", "the jobs/Snakefile", "--cores", "2"];
        let output = Command::new("snakemake").args(words).current_dir(dir).env("HOME", dir).output();
        let output = output.expect("snakemake runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    snakemake();
    assert_eq!(read(dir, "all.csv"), whole);
    // A part that was lost is made again, and the table of it.
    fs::remove_file(dir.join("the jobs/part-2.csv")).expect("it is there");
    fs::remove_file(dir.join("all.csv")).expect("it is there");
    snakemake();
    assert_eq!(read(dir, "all.csv"), whole);
}

#[test]
fn tasks_of_an_array_make_the_same_table() {
    let folder = begun();
    let dir = folder.path();
    let whole = for_engine(dir, "--write-slurm");
    let task = |number: &str| {
        let script = Command::new("bash")
            .arg("the jobs/array.sbatch")
            .current_dir(dir)
            .env("SLURM_ARRAY_TASK_ID", number)
            .output();
        let output = script.expect("bash runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for number in ["1", "2", "3"] {
        assert!(task(number).starts_with("4 runs in"));
    }
    assert!(task("2").starts_with("0 runs in"), "a task that is started again does not begin anew");
    let parts =
        ["--from", "the jobs/part-1.csv", "--from", "the jobs/part-2.csv", "--from", "the jobs/part-3.csv"];
    done(dir, &[&words(TWO_HOSTS, "all.csv")[..], &parts].concat());
    assert_eq!(read(dir, "all.csv"), whole);
    let nodes = Command::new("sinfo").args(["--noheader", "--responding"]).output();
    if !nodes.is_ok_and(|nodes| nodes.status.success() && !nodes.stdout.is_empty()) {
        return skip("no cluster of Slurm runs: its array job was not submitted");
    }
    for file in ["all.csv", "the jobs/part-1.csv", "the jobs/part-2.csv", "the jobs/part-3.csv"] {
        fs::remove_file(dir.join(file)).expect("it is there");
    }
    let submit = Command::new("bash").arg("the jobs/submit.sh").current_dir(dir).output().expect("bash runs");
    assert!(submit.status.success(), "{}", String::from_utf8_lossy(&submit.stderr));
    assert_eq!(read(dir, "all.csv"), whole);
}
