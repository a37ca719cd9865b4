// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segment routing headers (RFC 8754): tshark reads those that programs write, and messages pass the pathlets of their routes.

use std::fs;

use carrick_driver::compile_file;
use carrick_interp::{Config, Data};
use carrick_sim::ip;
use carrick_tests::build::root;
use carrick_tests::capture::tshark;
use carrick_tests::command;
use carrick_tests::end::End;
use carrick_tests::net::lacks;
use serde_json::json;

/// A capture (the format of libpcap) of packets without a link header.
fn capture(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    const RAW: u32 = 101;
    let mut file: Vec<u8> = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, RAW]
        .iter()
        .flat_map(|word: &u32| word.to_le_bytes())
        .collect();
    for (_, packet) in packets {
        let len = packet.len() as u32;
        file.extend([0, 0, len, len].iter().flat_map(|word: &u32| word.to_le_bytes()));
        file.extend(packet);
    }
    file
}

/// Lists that are absent, short, full, and longer than the program's; the checksum of UDP has the last destination.
#[test]
fn tshark_reads_routes_as_the_program_wrote_them() {
    if lacks("tshark") {
        return;
    }
    let program = compile_file(&root().join("tests/programs/segments.mtp")).expect("readable").program;
    let program = program.expect("without errors");
    let address = ip::address(program.net_header.layer, 0x0a00_0001);
    let mut end = End::new(&program, &Config { address, mtu: 1500, ..Config::default() });
    for (count, left, n) in [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 3, 5), (4, 4, 6)] {
        let fields = [
            ("remote_ip", 0x0a00_0002),
            ("count", count),
            ("left", left),
            ("flags", 0x10),
            ("tag", 7),
            ("n", n),
        ];
        let token = end.call("ask", 0, &fields, Data::None);
        assert_eq!(end.value(token), 1500 - 40 - 8 - 3 * 16, "what mtu() leaves");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("routes.pcap");
    fs::write(&file, capture(&end.packets())).expect("writable");
    let shown = ["ipv6.dst", "ipv6.routing.type", "ipv6.routing.segleft", "ipv6.routing.srh.last_entry"];
    let more =
        ["ipv6.routing.srh.flags", "ipv6.routing.srh.tag", "ipv6.routing.srh.addr", "udp.checksum.status"];
    let fields: Vec<&str> = shown.iter().chain(&more).flat_map(|field| ["-e", *field]).collect();
    let said = tshark(
        file.to_str().expect("UTF-8"),
        &[&["-o", "udp.check_checksum:TRUE", "-T", "fields"], &fields[..]].concat(),
    );
    let [to, a, b, c] = ["2", "2", "3", "4"].map(|last| format!("2001:db8::a00:{last}"));
    let route = |left: u8, list: &[&String]| {
        let list = list.iter().map(|ip| ip.as_str()).collect::<Vec<_>>();
        format!("{to}\t4\t{left}\t{}\t0x10\t0007\t{}\t1", list.len() - 1, list.join(","))
    };
    let expected = [
        format!("{to}\t\t\t\t\t\t\t1"),
        route(0, &[&a]),
        route(1, &[&a, &b]),
        route(3, &[&a, &b, &c]),
        route(3, &[&a, &b, &c]),
    ];
    assert_eq!(said, expected);
}

/// Messages of h0 to h2 pass the pathlet at h3, which changes their lengths, on links that lose packets.
#[test]
fn messages_pass_a_pathlet_by_a_segment_routing_header() {
    if lacks("cc") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("run.pcapng");
    let file = file.to_str().expect("UTF-8");
    let wrapper = "h3=protocols/message-wrapper/message-wrapper.mtp";
    let sim = |more: &[&str]| {
        let network =
            ["--topology", "star:4", "--rate", "10Gbps", "--delay", "1us", "--workload", "closed:2@h0:h2"];
        let load = ["--flows", "30", "--bytes", "8KB", "--loss", "1%", "--seed", "4", "--format", "json"];
        let node = [
            "--at",
            wrapper,
            "--at-set",
            "h3.pathlet=10.0.0.4",
            "--offload",
            "h3:service=12us,ratio=0.7..1.3",
        ];
        let route = ["--call", "h0: add_pathlet(0, 2001:db8::a00:4)", "--over", "ipv6"];
        let start = ["sim", "protocols/message-transport/message-transport.mtp"];
        let all = [&start[..], &network, &load, &node, &route, more].concat();
        let said: serde_json::Value = serde_json::from_str(&command::done(&root(), &all)).expect("JSON");
        let run = &said["runs"][0];
        assert_eq!((&run["ended"], &run["failures"]), (&json!(30), &json!([])), "{run}");
        (run["programs"].clone(), run["ended_ns"].clone())
    };
    let interpreted = sim(&["--pcap", file]);
    assert!(interpreted.0[0]["offload"]["taken"].as_u64() >= Some(30), "{interpreted:?}");
    assert_eq!(interpreted, sim(&["--compiled"]));
    if lacks("tshark") {
        return;
    }
    let shown = |filter: &str| tshark(file, &["-Y", filter]).len();
    assert_eq!(shown("_ws.malformed || !ipv6"), 0);
    let routed = "ipv6.dst == 2001:db8::a00:4 && ipv6.routing.type == 4 && ipv6.routing.segleft == 1";
    assert!(shown(&format!("{routed} && ipv6.routing.srh.addr == 2001:db8::a00:3")) >= 30);
}
