// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conformance: scripts in packetdrill's language, played against the program in virtual time: interpreted, or as a target's core.
//!
//! `tests/conformance/*.pkt` are our own. Public suites are played by `make conformance SUITE=DIR`, which ends with a table;
//! with packetdrill also on this machine's kernel. A script with a line that nothing here plays is counted as unsupported, with that line; of what the kernel under test reports, only
//! pending errors and a part of `TCP_INFO` are compared. Not compared: the length of windows, PSH, the order and padding of options, the values of timestamps.

mod calls;
mod info;
mod linux;
mod parse;
mod play;
mod report;
mod settings;
mod stack;
mod suite;
mod under_test;

use std::path::{Path, PathBuf};

use carrick_tests::build::root;
use carrick_tests::net::{lacks, skip};
use carrick_xdp_loader::machine;
use linux::Linux;
use play::{Outcome, play};
use under_test::UnderTest;

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

fn played(path: &Path, under_test: &UnderTest) -> Outcome {
    play(&String::from_utf8_lossy(&std::fs::read(path).expect("readable")), under_test)
}

#[track_caller]
fn our_own_scripts_pass(under_test: &UnderTest) {
    let scripts = scripts(&root().join("tests/conformance"));
    assert!(!scripts.is_empty(), "there are some");
    for path in scripts {
        let outcome = played(&path, under_test);
        assert!(matches!(outcome, Outcome::Passed { .. }), "{}: {outcome:?}", path.display());
    }
}

#[test]
fn our_own_scripts_pass_in_the_interpreter() {
    our_own_scripts_pass(&UnderTest::default());
    our_own_scripts_pass(&UnderTest::default().over_ipv6());
}

#[test]
fn our_own_scripts_pass_in_compiled_cores() {
    our_own_scripts_pass(&UnderTest::target("native"));
    our_own_scripts_pass(&UnderTest::target("native").over_ipv6());
}

#[test]
fn our_own_scripts_pass_in_the_kernel() {
    if let Err(missing) = machine::suits() {
        return skip(&missing.to_string());
    }
    if lacks("clang") {
        return;
    }
    our_own_scripts_pass(&UnderTest::target("xdp"));
    our_own_scripts_pass(&UnderTest::target("xdp").over_ipv6());
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
    let interpreter = UnderTest::default();
    let outcome = |more: &str| play(&format!("{ACCEPTED}{more}"), &interpreter);
    assert_eq!(outcome(""), Outcome::Passed { left_out: 0 });
    assert_eq!(outcome("+0 %{ assert tcpi_rcv_mss == 10 }%"), Outcome::Passed { left_out: 1 });
    assert_eq!(outcome("+0 %{ assert tcpi_snd_cwnd == 10 }%"), Outcome::Passed { left_out: 0 });
    assert_eq!(
        outcome("+0...1 read(4, ..., 1) = 1\n+.5 < . 1:2(1) ack 1 win 1000"),
        Outcome::Passed { left_out: 0 }
    );
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
        "+0...1 read(4, ..., 1) = 1\n+2 < . 1:2(1) ack 1 win 1000",
    ];
    for more in failed {
        assert!(matches!(outcome(more), Outcome::Failed(8 | 9, _)), "{more}: {:?}", outcome(more));
    }
    let unsupported = [
        "+0 ioctl(4, SIOCINQ, [0]) = 0",
        "+0 < icmp unreachable",
        "+0 `nstat -n`",
        "+0...1 write(4, ..., 1) = 1",
    ];
    for more in unsupported {
        assert!(matches!(outcome(more), Outcome::Unsupported(8, _)), "{more}: {:?}", outcome(more));
    }
}

/// Played by `make conformance`.
#[test]
fn suite() {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(folder) = named("CARRICK_SUITE") else {
        println!("skipped: a public suite of scripts (make conformance SUITE=DIR)");
        return;
    };
    let linux = match named("CARRICK_PACKETDRILL").as_ref().map(Linux::with) {
        None => Err("without packetdrill (make conformance SUITE=DIR PACKETDRILL=PATH)".to_owned()),
        Some(linux) => linux,
    };
    if let Err(why) = &linux {
        println!("Not played on Linux: {why}");
    }
    if linux.is_ok() && !linux::allows_cubic() {
        println!("Linux does not have CUBIC here: add it to net.ipv4.tcp_allowed_congestion_control");
    }
    let target = named("CARRICK_CONFORMANCE_TARGET");
    let under_test =
        target.map_or_else(UnderTest::default, |name| UnderTest::target(&name.to_string_lossy()));
    let all = suite::play(&PathBuf::from(folder), &under_test, linux.as_ref().ok());
    let whole = root().join("target/conformance.txt");
    std::fs::write(&whole, suite::whole(&all)).expect("writable");
    print!("{}", suite::table(&all));
    println!("\nEach script, with its reason: {}", whole.display());
}

/// Says which script it plays, and passes those that have no line `bad`.
const PACKETDRILL: &str = "#!/bin/sh
for script; do :; done
grep -q sysctl \"$script\" && { echo a command of FreeBSD >&2; exit 1; }
! grep bad \"$script\" >&2
";

#[test]
fn linux_has_its_column() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let packetdrill = folder.path().join("packetdrill");
    std::fs::write(&packetdrill, PACKETDRILL).expect("writable");
    std::fs::set_permissions(&packetdrill, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let linux = match Linux::with(&packetdrill.into_os_string()) {
        Ok(linux) => linux,
        Err(why) => return skip(&why),
    };
    let script = |name: &str, more: &str| {
        std::fs::write(folder.path().join(name), format!("{ACCEPTED}{more}\n")).expect("writable");
    };
    script("both.pkt", "+0 `sysctl -w net.inet.tcp.blackhole=0`");
    script("linux.pkt", "+0 > . 1:1(0) ack 7");
    script("ours.pkt", "// bad");
    script("neither.pkt", "+0 ioctl(4, SIOCINQ, [0]) = 0 // bad");
    let all = suite::play(folder.path(), &UnderTest::default(), Some(&linux));
    let lines = suite::whole(&all);
    let starts = [
        "passed | passed | both",
        "FAILED | passed | linux",
        "unsupported | FAILED | neither",
        "passed | FAILED | ours",
    ];
    assert!(std::iter::zip(lines.lines(), starts).all(|(line, start)| line.starts_with(start)), "{lines}");
    let table = suite::table(&all);
    assert!(table.contains("| all | 2 | 1 | 1 | 2 | 2 |"), "{table}");
    assert!(
        table.contains("Linux passes 1 scripts that failed here\nFAILED | passed | linux.pkt:"),
        "{table}"
    );
}
