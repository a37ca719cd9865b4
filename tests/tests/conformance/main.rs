// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conformance: scripts in packetdrill's language, played against the interpreted program in virtual time.
//!
//! `tests/conformance/*.pkt` are our own. Public suites are played by `make conformance SUITE=DIR`, which ends with a table. A
//! script with a line that nothing here plays is counted as unsupported, with that line; of what the kernel under test reports, only
//! pending errors and a part of `TCP_INFO` are compared. Not compared: the length of windows, PSH, the order and padding of options, the values of timestamps.

mod calls;
mod info;
mod parse;
mod play;
mod report;
mod settings;
mod stack;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carrick_tests::build::root;
use play::{Outcome, play};

/// Reasons that the table names.
const REASONS: usize = 12;

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|e| e == "pkt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn played(path: &Path) -> Outcome {
    play(&String::from_utf8_lossy(&std::fs::read(path).expect("readable")))
}

#[test]
fn our_own_scripts_pass() {
    let scripts = scripts(&root().join("tests/conformance"));
    assert!(!scripts.is_empty(), "there are some");
    for path in scripts {
        let outcome = played(&path);
        assert!(matches!(outcome, Outcome::Passed { .. }), "{}: {outcome:?}", path.display());
    }
}

/// What begins a script that is about something else.
const ACCEPTED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 1000 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
";

#[test]
fn scripts_that_are_wrong_are_found_out() {
    let outcome = |more: &str| play(&format!("{ACCEPTED}{more}"));
    assert_eq!(outcome(""), Outcome::Passed { left_out: 0 });
    assert_eq!(outcome("+0 %{ assert tcpi_rcv_mss == 10 }%"), Outcome::Passed { left_out: 1 });
    assert_eq!(outcome("+0 %{ assert tcpi_snd_cwnd == 10 }%"), Outcome::Passed { left_out: 0 });
    let failed = [
        "+0 > . 1:1(0) ack 1",
        "+0 < F. 1:1(0) ack 1 win 1000\n+0 > . 1:1(0) ack 3",
        "+0 < F. 1:1(0) ack 1 win 1000\n+0 > F. 1:1(0) ack 2",
        "+0 < F. 1:1(0) ack 1 win 1000\n+0 > . 1:1(0) ack 2 <nop,nop,TS val 1 ecr 1>",
        "+0 < F. 1:1(0) ack 1 win 1000\n+1 > . 1:1(0) ack 2",
        "+0 write(4, ..., 100) = 99",
        "+0 read(4, ..., 100) = 1",
        "+0 %{ assert tcpi_snd_cwnd == 11 }%",
        "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1 win 0",
    ];
    for more in failed {
        assert!(matches!(outcome(more), Outcome::Failed(8 | 9, _)), "{more}: {:?}", outcome(more));
    }
    let unsupported = [
        "+0 ioctl(4, SIOCINQ, [0]) = 0",
        "+0 < icmp unreachable",
        "+0 `nstat -n`",
        "+0...1 read(4, ..., 1) = 1",
    ];
    for more in unsupported {
        assert!(matches!(outcome(more), Outcome::Unsupported(8, _)), "{more}: {:?}", outcome(more));
    }
}

/// Played by `make conformance`.
#[test]
fn suite() {
    let Some(folder) = std::env::var_os("CARRICK_SUITE").filter(|f| !f.is_empty()) else {
        println!("skipped: a public suite of scripts (make conformance SUITE=DIR)");
        return;
    };
    let folder = PathBuf::from(folder);
    let scripts = scripts(&folder);
    assert!(!scripts.is_empty(), "{} has no scripts (*.pkt)", folder.display());
    let (mut report, mut outcomes) = (String::new(), Vec::new());
    for path in &scripts {
        let name = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
        let outcome = played(path);
        let _ = match &outcome {
            Outcome::Passed { left_out } => writeln!(report, "passed {name} (lines left out: {left_out})"),
            Outcome::Failed(line, why) => writeln!(report, "FAILED {name}:{line}: {why}"),
            Outcome::Unsupported(line, why) => writeln!(report, "unsupported {name}:{line}: {why}"),
        };
        outcomes.push((name, outcome));
    }
    let whole = root().join("target/conformance.txt");
    std::fs::write(&whole, &report).expect("writable");
    print!("{}", table(&outcomes));
    println!("\nEach script, with its reason: {}", whole.display());
}

/// How many scripts of each folder passed, and why others were not played.
fn table(outcomes: &[(String, Outcome)]) -> String {
    let mut folders: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, outcome) in outcomes {
        let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let column = match outcome {
            Outcome::Passed { .. } => 0,
            Outcome::Failed(..) => 1,
            Outcome::Unsupported(_, why) => {
                *reasons.entry(why).or_default() += 1;
                2
            }
        };
        folders.entry(folder).or_default()[column] += 1;
    }
    let mut text = "| folder | passed | failed | unsupported |\n| --- | --- | --- | --- |\n".to_owned();
    let mut all = [0; 3];
    for (folder, counts) in &folders {
        let _ = writeln!(text, "| {folder} | {} | {} | {} |", counts[0], counts[1], counts[2]);
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let _ = writeln!(text, "| all | {} | {} | {} |\n", all[0], all[1], all[2]);
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (why, count) in reasons.iter().take(REASONS) {
        let _ = writeln!(text, "unsupported {count} times: {why}");
    }
    text
}
