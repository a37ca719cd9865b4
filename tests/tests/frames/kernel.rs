// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same rows for a program in the kernel, which has the kernel's own stack behind it: that one never gets a packet to the
//! program, which it would reset.
//!
//! `CARRICK_RECORD=1 cargo test -p carrick-tests --test frames` writes the table of `targets/xdp/README.md` anew.

use std::fmt::Write as _;
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::in_kernel::{enable_veth_redirect, run_in_kernel};
use carrick_tests::net::{End, Net, lacks, lacks_ipv6, skip};
use carrick_tests::recorded;
use carrick_tests::running::started;
use carrick_xdp_loader::machine;

use crate::packets::*;
use crate::stack::{FIRST_PORT, Stack, Version};
use crate::table::{IPV4_ROWS, IPV6_ROWS, Row, Seen};

/// What becomes of the frames of a row, by whom, and what the program counts for each of them.
struct Fate {
    seen: Seen,
    by_kernel: bool,
    counter: &'static str,
}

/// What begins so is the kernel's own stack's, which does as always.
const OTHERS: [&str; 12] = [
    "ARP",
    "ICMP",
    "UDP",
    "a routing header",
    "an unknown option, to be",
    "another",
    "frame of a",
    "hop-by-hop options",
    "neighbour",
    "no next header",
    "one fragment of UDP",
    "packet to a",
];

impl Fate {
    fn of(row: &Row) -> Fate {
        let is = |of: &&str| row.what.starts_with(*of);
        let by_kernel = OTHERS.iter().any(is);
        let counter = match row.counter {
            _ if is(&"an unknown option, to be") || is(&"a routing header") => "ip_protocol",
            _ if is(&"packet to a") || is(&"frame for another") => "ip_address",
            _ if by_kernel => "",
            "net_link_group" | "net_bad_source" => "ip_address",
            _ if is(&"fragment") || is(&"one fragment") => "ip_fragment",
            counter => counter,
        };
        let seen = match counter {
            "ip_fragment" => Seen::Dropped,
            _ if by_kernel => row.linux.unwrap_or(row.seen),
            _ => row.seen,
        };
        Fate { seen, by_kernel, counter }
    }
}

fn program(net: &Net, version: Version) -> Command {
    let path = root().join("protocols/tcp/tcp.mtp");
    let mut command = if version.0 == IPV6 {
        let mut command = net.command(End::Ours, &carrick_tests::build::carrick().to_string_lossy());
        command.arg("run").arg(path).args(["--over", "ipv6", "--target", "xdp"]);
        command.args(["--port", carrick_tests::net::DEVICE, "--addr", &format!("{}/64", Net::NEAR)]);
        command
    } else {
        run_in_kernel(net, &path)
    };
    command.args(["--set", "max_conns=16", "--app", "echo:7"]);
    command
}

fn place(version: Version) -> Option<Stack> {
    machine::suits().map_err(|missing| skip(&missing.to_string())).ok()?;
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return None;
    }
    // A program over IPv6 leaves IPv4 to the kernel, which should have none here.
    let net = if version.0 == IPV6 { Net::new()? } else { Net::kernel_on_both()? };
    net.sysctl(End::Ours, "net.ipv4.icmp_ratelimit=0").ok()?;
    if version.0 == IPV6 {
        net.take_ipv6(End::Ours, Net::NEAR).ok()?;
        net.sysctl(End::Ours, "net.ipv6.icmp.ratelimit=0").ok()?;
    }
    enable_veth_redirect(&net);
    let (running, mut lines) = started(&mut program(&net, version));
    let mut before = Vec::new();
    if !lines.by_ref().any(|line| {
        before.push(line);
        before.last().is_some_and(|line| line.starts_with("listening on port"))
    }) {
        skip(&before.join(" "));
        return None;
    }
    Some(Stack::at(net, version, Some((running, Box::new(lines)))))
}

/// What is seen until the kernel's own stack answers an echo request, which it may do later than the program.
fn kernel_shows(stack: &mut Stack, version: Version, port: u16) -> Vec<Seen> {
    let (ip, ip6) = (Ip4 { protocol: ICMP, ..Ip4::default() }, Ip6 { protocol: ICMP6, ..Ip6::default() });
    let (packet, answer) = match version.0 {
        IPV6 => (ip6.packet(&echo(128, |len| ip6.pseudo(len), port + 1)), 14 + 40),
        _ => (ip.packet(&echo(8, |_| Vec::new(), port + 1)), 14 + 20),
    };
    stack.send(&ether(stack.mac, &[], version.0, &packet));
    let mut seen = Vec::new();
    loop {
        let frame = stack.received();
        let found = stack.understood(&frame, port).map(|(what, _)| what);
        let number = frame.get(answer + 6..answer + 8).map(|n| u16::from_be_bytes([n[0], n[1]]));
        if found == Some(Seen::Echo) && number == Some(port + 1) {
            return seen;
        }
        seen.extend(found);
    }
}

fn check(version: Version, rows: &[Row]) {
    let Some(mut stack) = place(version) else { return };
    let (mut wrong, mut counters) = (Vec::new(), Vec::new());
    for (n, row) in rows.iter().enumerate() {
        let fate = Fate::of(row);
        let port = FIRST_PORT + 2 * n as u16;
        for frame in (row.frames)(stack.mac, port) {
            stack.send(&frame);
        }
        let mut seen = kernel_shows(&mut stack, version, port);
        seen.extend(stack.shows(&Row { frames: |_, _| Vec::new(), ..*row }, n));
        // Of two answers that there are none, one is enough.
        if seen.len() > 1 {
            seen.retain(|seen| *seen != Seen::Dropped);
        }
        if seen != [fate.seen] {
            wrong.push(format!("{}: {seen:?}, not {:?}", row.what, fate.seen));
        }
        let frames = (row.frames)([0; 6], 0).len();
        counters.extend(std::iter::repeat_n(fate.counter, frames));
    }
    // No segment came there: each answer to one is the program's.
    let heard = ["Tcp InSegs", "Tcp OutRsts"].map(|counter| {
        let (group, name) = counter.split_once(' ').expect("two words");
        (counter, stack.net.counter(End::Ours, group, name))
    });
    assert!(heard.iter().all(|(_, count)| *count == 0), "the kernel's own stack: {heard:?}; {wrong:?}");
    let counted = stack.end().expect("it is a process");
    for counter in ["ip_address", "ip_fragment", "ip_protocol", "ip_version", "ip_length", "ip_checksum"] {
        let line = counted.iter().find(|line| line.split_whitespace().next() == Some(counter));
        let count = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0);
        let wanted = counters.iter().filter(|other| **other == counter).count();
        if count != wanted {
            wrong.push(format!("{counter} is {count}, and {wanted} is right"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_program_in_the_kernel_does_what_its_table_says() {
    check(Version(IPV4), IPV4_ROWS);
    if !lacks_ipv6() {
        check(Version(IPV6), IPV6_ROWS);
    }
}

fn shown(title: &str, rows: &[Row]) -> String {
    let mut text = format!("| {title} | what happens | counter |\n| --- | --- | --- |\n");
    for row in rows {
        let Fate { seen, by_kernel, counter } = Fate::of(row);
        let counter = if counter.is_empty() { String::new() } else { format!("`{counter}`") };
        let by = if by_kernel { "kernel" } else { "program" };
        let _ = writeln!(text, "| {} | {by}: {} | {counter} |", row.what, seen.words());
    }
    text
}

#[test]
fn the_readme_of_the_kernel_shows_its_table() {
    let wanted = format!("{}\n{}", shown("over IPv4", IPV4_ROWS), shown("over IPv6", IPV6_ROWS));
    recorded::part(&root().join("targets/xdp/README.md"), "frames", &wanted);
}
