// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is no network of several programs, and what each error says.

use std::fs;

use carrick_tests::command::run;

use crate::setting::{BESIDE, DATAGRAMS, begun};

#[test]
fn what_cannot_be_is_said() {
    let folder = begun();
    let dir = folder.path();
    fs::write(dir.join("wrong.mtp"), "net_header ipv4 { uint32 src; }\nevent a : app_evnt { }\n")
        .expect("writable");
    fs::write(dir.join("flows.csv"), "0,0,2,1000\n0,1,2,1000\n").expect("writable");
    let own = |named: &'static str| ["--host-program", named];
    for (more, wanted) in [
        (&own("h1")[..], "--host-program h1: expected HOSTS=PROGRAM, such as h0..h1=mine.mtp"),
        (&own("h1="), "--host-program h1=: expected HOSTS=PROGRAM"),
        (&own("h4=datagram.mtp"), "\"h4\" names no host of this topology: it has h0 to h3"),
        (&own("s0=datagram.mtp"), "\"s0\" names no host of this topology: it has h0 to h3"),
        (&own("h0..h3=datagram.mtp"), "no host is left for protocols/tcp/tcp.mtp"),
        (&own("h1=gone.mtp"), "gone.mtp"),
        (&own("h1=wrong.mtp"), "wrong.mtp:2:11"),
        (&own("h1=protocols/netcache/netcache.mtp"), "netcache.mtp runs in the network"),
        (&own("h1=protocols/netblocks/netblocks.mtp"), "netblocks.mtp sends whole frames"),
        (
            &["--host-program", "h0..h1=datagram.mtp", "--host-program", "h1..h2=protocols/ndp/ndp.mtp"],
            "--host-program h1..h2=protocols/ndp/ndp.mtp: h1 has a program already, by h0..h1=datagram.mtp",
        ),
        (
            &own("h0..h1=datagram.mtp"),
            "h0 runs datagram, h2 runs tcp: protocol 253 and 6 do not speak to each other",
        ),
        (&own("h2=datagram.mtp"), "h0 runs tcp"),
        (
            &own("h0..h1=protocols/small-tcp/small-tcp.mtp"),
            "h0 runs small-tcp, h2 runs tcp: a flow goes between hosts of one program",
        ),
    ] {
        refused(dir, more, wanted);
    }
}

#[track_caller]
fn refused(dir: &std::path::Path, more: &[&str], wanted: &str) {
    let output = run(dir, &[&BESIDE[..], more].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains(wanted), "{more:?}: {said}");
    assert!(output.stdout.is_empty(), "{more:?}: nothing is run");
}

#[test]
fn options_of_one_program_are_none_of_another() {
    let folder = begun();
    let dir = folder.path();
    for (more, wanted) in [
        (&["--host-with", "h1=cubic"][..], "datagram.mtp: the program has no feature or option `cubic`"),
        (&["--host-set", "h1.snd_buf=1MiB"], "datagram.mtp has no parameter \"snd_buf\""),
        (
            &["--host-set", "h1.pace=1Mbps", "--host-set", "h1.pace=2Mbps"],
            "h1.pace=1Mbps and h1.pace=2Mbps set one parameter",
        ),
        (&["--host-set", "h0..h1.pace=1Mbps"], "tcp.mtp has no parameter \"pace\""),
        (
            &["--set", "pace=1Mbps"],
            "--set pace=1Mbps: pace is a parameter of datagram.mtp; say --host-set h1.pace=1Mbps",
        ),
        (
            &["--sample", "nothing", "--samples", "none.csv"],
            "no context of datagram.mtp has a field `nothing`",
        ),
        (&["--message", "4KB"], "this program takes messages of at most 1472 bytes here"),
        (&["--at", "s0=datagram.mtp"], "datagram.mtp runs at an end, not in the network"),
    ] {
        refused(dir, &[&DATAGRAMS[..], more].concat(), wanted);
    }
    // What is for programs with messages needs one.
    refused(dir, &["--outstanding", "3"], "only programs that carry messages accept --outstanding");
    let output =
        run(dir, &[&BESIDE[..], &DATAGRAMS, &["--outstanding", "3", "--host-set", "h1.pace=9Mbps"]].concat());
    assert!(output.status.success(), "{output:?}");
    let output = run(dir, &["sim", "datagram.mtp", "--host-program", "h1=datagram.mtp"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--topology"), "{output:?}");
}

#[test]
fn workloads_that_do_not_fit_are_refused() {
    let folder = begun();
    let dir = folder.path();
    fs::write(dir.join("flows.csv"), "0,0,2,1000\n5,1,2,1000\n").expect("writable");
    let star = ["sim", "protocols/tcp/tcp.mtp", "--topology", "star:6"];
    for (own, workload, wanted) in [
        ("h4=datagram.mtp", "permutation", "h4 is the only host that runs datagram: a flow goes between two"),
        ("h4..h5=datagram.mtp", "incast:2", "2 hosts cannot send to one more: there are 2 that run datagram"),
        ("h2..h3=datagram.mtp", "closed:1@h0:h2", "h0 runs tcp, h2 runs datagram"),
        ("h2..h3=datagram.mtp", "trace:flows.csv", "flow 0: h0 runs tcp, h2 runs datagram"),
        ("h2..h3=datagram.mtp", "closed:1 --flows 1", "1 flows are not one for each of 2 programs"),
    ] {
        let workload: Vec<&str> = ["--workload"].into_iter().chain(workload.split(' ')).collect();
        let sizes = if workload[1].starts_with("trace:") { &[][..] } else { &["--bytes", "1KB"] };
        let output = run(dir, &[&star[..], &["--host-program", own], &workload, sizes].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(wanted), "{workload:?}: {said}");
    }
}
