// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network over IPv6, between two hosts of Linux that know nothing of it.

use std::time::{Duration, Instant};

use carrick_interp::{Config, Core};
use carrick_tests::build::{host_with, root};
use carrick_tests::capture::captured;
use carrick_tests::middle::{Middle, Place};
use carrick_tests::net::{lacks, lacks_ipv6};
use carrick_tests::node::{Node, Report};
use carrick_tests::scripted::Scripted;

use super::over_ipv6;

const PROXY: &str = "protocols/synproxy/synproxy.mtp";
const SNOOP: &str = "protocols/snoop/snoop.mtp";
const RELAY: &str = "tests/programs/relay_between.mtp";
const KINDS: [[&str; 2]; 2] = [["packet", "packet"], ["xdp", "xdp"]];
/// How long Linux may take to find a neighbour.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// The hop limit with which Linux sends.
const HOPS: u32 = 64;

/// The program between both hosts.
fn node(middle: &Middle, kinds: [&str; 2], more: &[&str]) -> Node {
    Node::start_host(middle, &host_with(RELAY, &["--over", "ipv6"]), kinds, more)
}

/// Linux finds its peer by neighbour discovery through the node, and its TCP is of another protocol than the program's.
#[test]
fn hosts_find_each_other_through_a_program_over_ipv6() {
    if lacks_ipv6() {
        return;
    }
    for kinds in KINDS {
        let Some(middle) = Middle::new() else { return };
        let node = node(&middle, kinds, &[]);
        middle.transfer_over_ipv6();
        let report = node.end();
        assert!(report.count("tx_forwarded") > 70, "{:?}", report.0);
        assert!(report.count("bridge_passed") >= 2, "a solicitation and an advertisement: {:?}", report.0);
        for never in ["bridge_full", "bridge_unknown", "bridge_refused", "bridge_too_long", "tx_too_long"] {
            assert_eq!(report.count(never), 0, "{never}: {:?}", report.0);
        }
    }
}

/// Of Linux's frames in so many one is lost at each end, either way.
const LOST: u32 = 40;

/// Counters that say that something went wrong at a node.
const NEVER: [&str; 6] =
    ["bridge_unknown", "bridge_no_interface", "tx_queue_full", "store_full", "bad_checksum", "tx_too_long"];

/// What a program in the kernel counted while Linux transferred through it over IPv6, without losses and with some.
fn transfers_through(program: &str) -> Option<Report> {
    if lacks_ipv6() {
        return None;
    }
    let middle = Middle::new()?;
    let node = Node::in_kernel(&middle, program, &["--over", "ipv6"])?;
    for lost in [0, LOST] {
        middle.lose(lost);
        middle.transfer_over_ipv6();
    }
    let report = node.end();
    assert!(report.count("tx_forwarded") > 140, "{:?}", report.0);
    assert!(report.count("bridge_passed") >= 2, "a solicitation and an advertisement: {:?}", report.0);
    for never in NEVER {
        assert_eq!(report.count(never), 0, "{never}: {:?}", report.0);
    }
    Some(report)
}

/// A proxy rewrites numbers and checksums, and makes packets of its own.
#[test]
fn connections_of_ipv6_through_a_proxy_in_the_kernel_survive_losses() {
    let Some(report) = transfers_through(PROXY) else { return };
    assert!(report.count("tx_packets") > 140, "it wrote their headers: {:?}", report.0);
}

/// An agent stores each segment, sends a copy of it, and resends it if it is lost.
#[test]
fn connections_of_ipv6_past_an_agent_in_the_kernel_survive_losses() {
    let Some(report) = transfers_through(SNOOP) else { return };
    assert_eq!(report.count("tx_packets"), 0, "it makes none: {:?}", report.0);
}

/// What the program does to a packet is by its kind: KEEP 1, FREE 2, MARK 3, COPY 4, ASK 5. Others pass.
fn exchange(client: &mut Scripted, server: &mut Scripted) {
    client.must("say 0 3 1000", "ok");
    server.must("hear", &format!("0 3 {HOPS} 1000"));
    // A copy, and the packet itself.
    client.must("say 4 9 100", "ok");
    for _ in 0..2 {
        server.must("hear", &format!("4 9 {HOPS} 100"));
    }
    // Back to its sender, with another header and its payload, in the name of the server.
    client.must("say 3 1000 500", "ok");
    client.must("hear", &format!("3 {} {HOPS} 500", 1000 + HOPS));
    // The program makes an answer, with a hop limit of its own.
    client.must("say 5 41 0", "ok");
    client.must("hear", "1 42 42 0");
    // Packets to the server are kept until the server's own packet frees them, which is not forwarded.
    for n in 0..3 {
        client.must(&format!("say 1 {n} 1232"), "ok");
    }
    server.must("say 2 0 0", "ok");
    for n in 0..3 {
        server.must("hear", &format!("1 {n} {HOPS} 1232"));
    }
    server.must("say 0 8 1", "ok");
    client.must("hear", &format!("0 8 {HOPS} 1"));
}

/// Whether the bridge gives a packet to the program: it is of IPv6, and no neighbour discovery (types 133 to 137 of ICMPv6).
fn is_for_program(packet: &[u8]) -> bool {
    const ICMPV6: u8 = 58;
    packet[0] >> 4 == 6 && !(packet[6] == ICMPV6 && packet[7] == 255 && (133..=137).contains(&packet[40]))
}

/// The interpreter makes the same packets of what arrived as the node did, byte by byte.
#[track_caller]
fn the_interpreter_agrees(capture: &[u8], seed: u64) {
    let program = over_ipv6(&root().join(RELAY)).expect("over inet");
    let config = Config { mtu: 1500, seed, ..Config::default() };
    let mut core = Core::new(program, &config).expect("a core");
    let (mut sent, mut made, mut next) = (Vec::new(), Vec::new(), Vec::new());
    for captured in captured(capture).into_iter().filter(|captured| is_for_program(&captured.packet)) {
        if captured.sent {
            sent.push(captured.packet);
            continue;
        }
        core.rx_on(captured.interface, &captured.packet, 0).expect("it is taken");
        while core.tx(&mut next, 0) {
            made.push(next.clone());
        }
    }
    // Each interface writes its own at once.
    sent.sort_unstable();
    made.sort_unstable();
    assert!(sent.len() >= 9, "the exchange has more than {} packets", sent.len());
    assert!(sent == made, "the node sent {sent:02x?}, the interpreter {made:02x?}");
}

/// A client and a server of raw packets.
fn ends(middle: &Middle) -> [Scripted; 2] {
    ends_of("raw.py", middle)
}

/// The same, which run another script.
fn ends_of(script: &str, middle: &Middle) -> [Scripted; 2] {
    let ends = [("client", Place::Client, Middle::SERVER_6), ("server", Place::Server, Middle::CLIENT_6)];
    ends.map(|(who, place, peer)| {
        let mut python = middle.command(place, "python3");
        let script = root().join("tests/tests/ipv6").join(script);
        let mut end = Scripted::start(who, python.arg("-u").arg(script).arg(peer));
        end.answers("ready");
        end
    })
}

/// The exchange at both ends of a node, and what the node counted.
fn exchanged(middle: &Middle, node: Node) {
    let [mut client, mut server] = ends(middle);
    exchange(&mut client, &mut server);
    let report = node.end();
    // Without those that passed on their own: the answer, and the changed one.
    assert_eq!(report.count("tx_packets"), 2, "{:?}", report.0);
    for never in NEVER.iter().chain(&["packet_gone"]) {
        assert_eq!(report.count(never), 0, "{never}: {:?}", report.0);
    }
}

#[test]
fn a_program_keeps_copies_changes_and_answers_packets_of_ipv6() {
    if lacks("python3") || lacks_ipv6() {
        return;
    }
    for kinds in KINDS {
        let Some(middle) = Middle::new() else { return };
        let dir = tempfile::tempdir().expect("a folder");
        let capture = dir.path().join("all.pcapng");
        let node = node(&middle, kinds, &["--seed", "5", "--pcap", &capture.display().to_string()]);
        exchanged(&middle, node);
        the_interpreter_agrees(&std::fs::read(capture).expect("a capture"), 5);
    }
}

#[test]
fn a_program_in_the_kernel_does_so_too() {
    if lacks("python3") || lacks_ipv6() {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let Some(node) = Node::in_kernel(&middle, RELAY, &["--over", "ipv6"]) else { return };
    exchanged(&middle, node);
}

/// Sends packets to addresses that only its bridge can know.
const CALLING: &str = "tests/tests/ipv6/calling.mtp";
/// An address of the server that sends nothing.
const SILENT: &str = "fd00::5";

/// The client asks for the hardware address of the server's silent address; Linux at both ends does the rest.
fn asks_for_the_silent_one(middle: &Middle) {
    let ip = |place, args: &str| {
        let done = middle.command(place, "ip").arg("-6").args(args.split(' ')).output().expect("ip runs");
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    ip(Place::Server, &format!("addr add {SILENT}/64 dev wire0 nodad"));
    // Linux asks from a link-local address where no packet waits.
    ip(Place::Client, "addr add fe80::3/64 dev wire0 nodad");
    ip(Place::Client, &format!("neigh replace {SILENT} dev wire0 use"));
    let begin = Instant::now();
    while !ip(Place::Client, &format!("neigh show {SILENT}")).contains("lladdr") {
        assert!(begin.elapsed() < PATIENCE, "no advertisement came");
        std::thread::sleep(POLL);
    }
}

/// A packet that the program makes before, and one after; the bridge drops the first.
fn calls_after_discovery(middle: &Middle, node: Node) {
    let [mut client, mut server] = ends(middle);
    client.must("say 0 5 0", "ok");
    asks_for_the_silent_one(middle);
    client.must("say 0 5 0", "ok");
    server.must("hear", &format!("6 5 {HOPS} 0"));
    let report = node.end();
    let counts = ["tx_packets", "bridge_unknown"].map(|name| report.count(name));
    assert_eq!(counts, [2, 1], "{:?}", report.0);
}

#[test]
fn a_bridge_learns_addresses_by_neighbour_discovery_alone() {
    if lacks("python3") || lacks_ipv6() {
        return;
    }
    let host = host_with(CALLING, &["--over", "ipv6"]);
    if let Some(middle) = Middle::new() {
        let node = Node::start_host(&middle, &host, KINDS[0], &[]);
        calls_after_discovery(&middle, node);
    }
    let Some(middle) = Middle::new() else { return };
    let Some(node) = Node::in_kernel(&middle, CALLING, &["--over", "ipv6"]) else { return };
    calls_after_discovery(&middle, node);
}

/// Advances packets by their routes.
const ADVANCING: &str = "tests/tests/ipv6/advancing.mtp";

/// Linux writes the route of a packet and its checksum, the program advances it, and Linux takes it at the end of the path. The address of
/// the first segment is one of the server, so that the client finds a neighbour.
#[test]
fn a_program_in_the_kernel_advances_routes_of_linux() {
    if lacks("python3") || lacks_ipv6() {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let server = |command: &str| {
        let mut words = command.split(' ');
        let mut command = middle.command(Place::Server, words.next().expect("a program"));
        assert!(command.args(words).status().is_ok_and(|status| status.success()), "{command:?}");
    };
    // Deprecated: no packet has it as its source.
    server(&format!("ip -6 addr add {SILENT}/64 dev wire0 nodad preferred_lft 0"));
    server("sysctl -q -w net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.wire0.seg6_enabled=1");
    let Some(node) = Node::in_kernel(&middle, ADVANCING, &[]) else { return };
    let [mut client, mut server] = ends_of("routed.py", &middle);
    // Without a route; the bridge learns the server's address.
    server.must(&format!("say 3 {}", Middle::CLIENT_6), "ok");
    client.must("hear", "3");
    client.must(&format!("say 4 {} {SILENT}", Middle::SERVER_6), "ok");
    server.must("hear", &format!("4 0 {} {SILENT}", Middle::SERVER_6));
    let report = node.end();
    assert_eq!([report.count("tx_packets"), report.count("bad_checksum")], [1, 0], "{:?}", report.0);
}
