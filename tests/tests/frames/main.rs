// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each port with Ethernet does with each kind of frame, and Linux beside it in the same run. A row of `table.rs` is a kind of
//! frame; a [`Stack`] is what it is sent to.
//!
//! `devices.rs` has what happens when the device under a port goes, `kernel.rs` the programs in the kernel.
//!
//! `CARRICK_RECORD=1 cargo test -p carrick-tests --test frames` writes the tables of `targets/native/README.md` anew.

mod devices;
mod kernel;
mod packets;
mod stack;
mod table;
mod warnings;

use std::fmt::Write as _;

use carrick_tests::build::root;
use carrick_tests::net::{Net, lacks, lacks_ipv6};
use carrick_tests::recorded;
use packets::{IPV4, IPV6};
use stack::{Stack, Version};
use table::{IPV4_ROWS, IPV6_ROWS, Row, Seen};

/// How one of the stacks differs from the others in a row.
type Differs = fn(&Row) -> Option<Seen>;

/// Each row is seen as the table has it.
fn check(stack: Option<Stack>, rows: &[Row], differs: Differs) {
    let Some(mut stack) = stack else { return };
    let mut wrong = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        let expected = differs(row).unwrap_or(row.seen);
        let seen = stack.shows(row, n);
        if seen != [expected] {
            wrong.push(format!("{}: {seen:?}, not {expected:?}", row.what));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Some(counted) = stack.end() else { return };
    let own: Vec<&str> =
        rows.iter().filter(|row| differs(row).is_none()).flat_map(|row| row.counter.split(' ')).collect();
    for counter in own.iter().filter(|counter| !counter.is_empty()) {
        let wanted = own.iter().filter(|other| *other == counter).count();
        let line = counted.iter().find(|line| line.split_whitespace().next() == Some(counter));
        let count = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        assert_eq!(count, Some(wanted), "{counter} of {counted:?}");
    }
}

fn check_all(start: fn(Version) -> Option<Stack>, differs: Differs) {
    if lacks("python3") {
        return;
    }
    check(start(Version(IPV4)), IPV4_ROWS, differs);
    if !lacks_ipv6() {
        check(start(Version(IPV6)), IPV6_ROWS, differs);
    }
}

#[test]
fn linux_does_what_the_table_says_of_it() {
    check_all(Stack::linux, |row| row.linux);
}

#[test]
fn a_packet_socket_takes_what_the_table_says() {
    check_all(|version| Stack::native(Net::new()?, version), |_| None);
}

#[test]
fn af_xdp_takes_what_the_table_says() {
    check_all(|version| Stack::native(Net::af_xdp()?, version), |row| row.af_xdp);
}

fn shown(title: &str, rows: &[Row]) -> String {
    let mut text = format!("| {title} | the stack | counter | Linux |\n| --- | --- | --- | --- |\n");
    for Row { what, seen, linux, af_xdp, counter, .. } in rows {
        let counter =
            if counter.is_empty() { String::new() } else { format!("`{}`", counter.replace(' ', "`, `")) };
        let linux = linux.map(|seen| seen.words()).unwrap_or_else(|| "the same".to_owned());
        let but = af_xdp.map(|seen| format!("; AF_XDP: {}", seen.words())).unwrap_or_default();
        let _ = writeln!(text, "| {what} | {}{but} | {counter} | {linux} |", seen.words());
    }
    text
}

#[test]
fn the_readme_shows_this_table() {
    let wanted = format!("{}\n{}", shown("over IPv4", IPV4_ROWS), shown("over IPv6", IPV6_ROWS));
    recorded::part(&root().join("targets/native/README.md"), "frames", &wanted);
}
