// SPDX-License-Identifier: MIT OR Apache-2.0
//! A disk that is full: an error with the file's name, exit code 1, what was written before can be read, and nothing else is lost.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use carrick_tests::build::{carrick, host, root};
use carrick_tests::net::{lacks, skip};

/// What the disk holds.
const SPACE: &str = "64k";
const PROGRAM: &str = "protocols/tcp/tcp.mtp";

/// Runs a script of the shell in a folder on a small disk of its own, `$1` and more being `words`, then copies what is there to
/// `kept`. `None`, said aloud, where no disk can be mounted.
fn on_small_disk(kept: &Path, script: &str, words: &[&Path]) -> Option<Output> {
    let begin = "mount -t tmpfs -o size=$0 none /mnt && cd \"$1\" || exit 99; kept=$2; shift 2";
    let whole = format!("{begin}\n({script})\nended=$?; cp -r /mnt/. \"$kept\"; exit $ended");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &whole, SPACE]).arg(root()).arg(kept).args(words);
    let output = command.output().expect("unshare starts");
    if output.status.code().is_none_or(|code| code == 99) {
        skip(&format!("no disk can be mounted: {}", String::from_utf8_lossy(&output.stderr)));
        return None;
    }
    Some(output)
}

fn said(output: &Output) -> (String, String) {
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_simulation_has_its_results_and_the_beginning_of_its_files() {
    let kept = tempfile::tempdir().expect("a folder");
    let sim = format!("\"$1\" sim {PROGRAM} --bytes 1MB");
    for file in ["run.pcapng", "run.trace"] {
        let option = if file.ends_with("pcapng") { "--pcap" } else { "--trace-format json --trace" };
        let script = format!("{sim} {option} /mnt/{file}");
        let Some(output) = on_small_disk(kept.path(), &script, &[carrick()]) else { return };
        let (results, error) = said(&output);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(results.contains("1000000 bytes sent"), "{results}");
        let expected = format!("carrick: cannot write /mnt/{file}: No space left on device");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.ends_with("; free space on its disk, or use another folder\n"), "{error}");
        assert!(fs::metadata(kept.path().join(file)).expect("it is there").len() > 50_000);
    }
    let trace = fs::read_to_string(kept.path().join("run.trace")).expect("text");
    let lines = trace.lines().count();
    assert!(lines > 100, "{lines} lines");
    for line in trace.lines().take(lines - 1) {
        serde_json::from_str::<serde_json::Value>(line).expect("a whole line");
    }
}

/// One table is on the full disk, the other is not.
#[test]
fn tables_are_written_where_there_is_space() {
    let kept = tempfile::tempdir().expect("a folder");
    let sweep = "--topology star:4 --workload all-to-all --bytes 300KB --every 10us";
    let script =
        format!("\"$1\" sim {PROGRAM} {sweep} --rates /mnt/rates.csv --timeline \"$2\" --csv /mnt/flows.csv");
    let other = kept.path().join("timeline.csv");
    let Some(output) = on_small_disk(kept.path(), &script, &[carrick(), &other]) else { return };
    let (results, error) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot write /mnt/rates.csv: No space left on device"), "{error}");
    assert!(results.contains("flows             12 of 12 ended"), "{results}");
    assert!(fs::read_to_string(&other).expect("text").lines().count() > 100);
    assert!(fs::read_to_string(kept.path().join("flows.csv")).expect("text").lines().count() >= 13);
}

#[test]
fn formatting_leaves_a_program_as_it_was() {
    let kept = tempfile::tempdir().expect("a folder");
    let script = "sed 's/^    /  /' protocols/tcp/shares.mtp >/mnt/a.mtp && cp /mnt/a.mtp \"$2\"
        head -c 1M /dev/zero >/mnt/fill 2>/dev/null
        \"$1\" fmt /mnt/a.mtp";
    let before = kept.path().join("before.mtp");
    let Some(output) = on_small_disk(kept.path(), script, &[carrick(), &before]) else { return };
    assert_eq!(output.status.code(), Some(2), "{:?}", said(&output));
    let [before, after] = [before, kept.path().join("a.mtp")].map(|file| fs::read(file).expect("there"));
    assert!(before == after && !before.is_empty());
}

#[test]
fn standard_output_that_is_full_is_an_error() {
    let commands: [&[&str]; 6] = [
        &["sim", PROGRAM, "--bytes", "10KB"],
        &["check", PROGRAM, "--format", "json"],
        &["layout", PROGRAM],
        &["completions", "bash"],
        &["targets"],
        &["--help"],
    ];
    for args in commands {
        let full = File::options().write(true).open("/dev/full").expect("it is there");
        let mut command = Command::new(carrick());
        let output = command.args(args).current_dir(root()).stdout(full).output().expect("it starts");
        let (_, error) = said(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {error}");
        let expected = "carrick: cannot write to standard output: No space left on device";
        assert!(error.starts_with(expected) && error.lines().count() == 1, "{args:?}: {error}");
    }
}

#[test]
fn a_host_goes_on_when_its_capture_is_full() {
    let kept = tempfile::tempdir().expect("a folder");
    let host = host(PROGRAM);
    let load = "--app echo --app load:10.0.0.1:7:1:1:20000:0:100";
    let script =
        format!("\"$1\" --port loop --addr 10.0.0.1/24 --peer 10.0.0.2 {load} --pcap /mnt/all.pcapng");
    let Some(output) = on_small_disk(kept.path(), &script, &[&host]) else { return };
    let (results, error) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    let expected = "Cannot write the capture /mnt/all.pcapng: No space left on device. It ends here.";
    assert_eq!(error.lines().filter(|line| *line == expected).count(), 1, "{error}");
    assert!(results.contains("100"), "all requests are answered: {results}");
    if lacks("tshark") {
        return;
    }
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(kept.path().join("all.pcapng")).stderr(Stdio::null());
    let read = tshark.output().expect("it starts").stdout;
    assert!(String::from_utf8_lossy(&read).lines().count() > 20, "what came before can be read");
}
