// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the network between real interfaces. Both ends are the kernel's, and know nothing of them.

mod offload;

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use carrick_tests::build::host;
use carrick_tests::middle::{Middle, Place, flood};
use carrick_tests::net::{lacks, lacks_ipv6};
use carrick_tests::node::Node;
use carrick_tests::pattern;
use carrick_tests::running::{saying, serve};
use carrick_tests::scripted::Scripted;

const PROXY: &str = "protocols/synproxy/synproxy.mtp";
const CACHE: &str = "protocols/netcache/netcache.mtp";
const KINDS: [[&str; 2]; 2] = [["packet", "packet"], ["xdp", "xdp"]];
const PATIENCE: Duration = Duration::from_secs(20);

fn peer(middle: &Middle, who: &'static str, place: Place) -> Scripted {
    Scripted::start(who, &mut middle.command(place, env!("CARGO_BIN_EXE_peer")))
}

/// A connection with bytes both ways.
#[track_caller]
fn transfer(client: &mut Scripted, server: &mut Scripted, len: u32) {
    client.must(&format!("connect {} 80", Middle::SERVER), "ok");
    server.must("accept", "ok");
    client.tell(&format!("send {len} 1"));
    server.must(&format!("recv {len} 1"), &format!("ok {len}"));
    client.answers(&format!("ok {len}"));
    server.tell(&format!("send {len} 2"));
    client.must(&format!("recv {len} 2"), &format!("ok {len}"));
    server.answers(&format!("ok {len}"));
    client.must("close", "ok");
    server.must("close", "ok");
}

#[test]
fn connections_through_a_proxy_are_whole() {
    for kinds in KINDS {
        let Some(middle) = Middle::new() else { return };
        let node = Node::start(&middle, PROXY, kinds, &[]);
        let [mut client, mut server] =
            [("client", Place::Client), ("server", Place::Server)].map(|(who, at)| peer(&middle, who, at));
        server.must("listen 80", "ok");
        for _ in 0..3 {
            transfer(&mut client, &mut server, 1_000_000);
        }
        let report = node.end();
        assert!(report.count("tx_packets") > report.count("tx_forwarded"), "it made some: {:?}", report.0);
        assert!(report.count("bridge_passed") >= 2, "ARP: {:?}", report.0);
        for of in 0..2 {
            assert!(report.count(&format!("interface{of}_port_received")) > 2000, "{:?}", report.0);
        }
        for never in ["bridge_full", "bridge_unknown", "bridge_refused", "interface0_port_rx_refused"] {
            assert_eq!(report.count(never), 0, "{never}: {:?}", report.0);
        }
    }
}

#[test]
fn curl_gets_a_file_through_a_proxy_on_a_bad_wire() {
    if lacks("curl") || lacks("python3") {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; 300_000];
    pattern::fill(5, 0, &mut data);
    std::fs::write(dir.path().join("data"), &data).expect("writable");
    let capture = dir.path().join("all.pcapng").display().to_string();
    let faults = "loss=0.5%,reorder=1%,dup=1%,corrupt=0.5%,seed=3";
    let node = Node::start(&middle, PROXY, KINDS[0], &["--fault", faults, "--pcap", &capture]);
    let mut server = middle.command(Place::Server, "python3");
    server.args(["-u", "-m", "http.server", "80", "--bind", Middle::SERVER, "--directory"]).arg(dir.path());
    let _server = serve(&mut server, "Serving HTTP");
    let url = format!("http://{}/data", Middle::SERVER);
    let got = middle.command(Place::Client, "curl").args(["-sS", "--max-time", "30", &url]).output();
    let got = got.expect("curl runs");
    assert!(got.stdout == data, "{} bytes: {}", got.stdout.len(), String::from_utf8_lossy(&got.stderr));
    let report = node.end();
    assert!(report.count("interface0_fault_duplicated") > 0, "{:?}", report.0);
    assert!(report.count("interface1_fault_duplicated") > 0, "{:?}", report.0);
    if lacks("tshark") {
        return;
    }
    let mut tshark = Command::new("tshark");
    tshark.args([
        "-r",
        &capture,
        "-T",
        "fields",
        "-e",
        "frame.interface_id",
        "-e",
        "tcp.flags.syn",
        "-Y",
        "tcp",
    ]);
    let seen = tshark.stderr(Stdio::null()).output().expect("tshark runs").stdout;
    let seen = String::from_utf8(seen).expect("text");
    for interface in ["0\t1", "0\t0", "1\t1", "1\t0"] {
        assert!(seen.lines().any(|line| line.starts_with(interface)), "no `{interface}`");
    }
}

/// Whether a device of the node has an XDP program.
fn has_program(middle: &Middle, device: &str) -> bool {
    let shown = middle.command(Place::Node, "ip").args(["link", "show", device]).output().expect("ip runs");
    String::from_utf8_lossy(&shown.stdout).contains("xdp")
}

#[test]
fn connections_through_a_proxy_in_the_kernel_are_whole() {
    let Some(middle) = Middle::new() else { return };
    let Some(node) = Node::in_kernel(&middle, PROXY, &[]) else { return };
    let [mut client, mut server] =
        [("client", Place::Client), ("server", Place::Server)].map(|(who, at)| peer(&middle, who, at));
    server.must("listen 80", "ok");
    for _ in 0..3 {
        transfer(&mut client, &mut server, 1_000_000);
    }
    assert!(Middle::DEVICES.iter().all(|device| has_program(&middle, device)));
    let report = node.end();
    assert!(!Middle::DEVICES.iter().any(|device| has_program(&middle, device)));
    assert!(report.count("tx_forwarded") > 3000, "{:?}", report.0);
    assert!(report.count("tx_packets") > report.count("tx_forwarded"), "it made some: {:?}", report.0);
    assert!(report.count("bridge_passed") >= 2, "ARP: {:?}", report.0);
    for never in ["bridge_unknown", "bridge_no_interface", "tx_queue_full", "bad_checksum"] {
        assert_eq!(report.count(never), 0, "{never}: {:?}", report.0);
    }
}

/// Whoever runs it may be killed.
#[test]
fn a_program_in_the_kernel_goes_with_its_process() {
    let Some(middle) = Middle::new() else { return };
    let Some(Node(running, said)) = Node::in_kernel(&middle, PROXY, &[]) else { return };
    assert!(has_program(&middle, "west0") && has_program(&middle, "east0"));
    let killed = Command::new("kill").args(["-KILL", &running.id().to_string()]).status();
    assert!(killed.is_ok_and(|done| done.success()));
    assert!(!running.ended().success());
    said.for_each(drop); // until its host has ended, too
    assert!(!has_program(&middle, "west0") && !has_program(&middle, "east0"));
}

/// Figure 13 of XTRA: only who answers reaches the server.
#[test]
fn a_flood_of_forged_syns_ends_at_the_proxy() {
    let more = ["--set", "max_conns=8192"];
    flooded(|middle| Some(Node::start(middle, PROXY, KINDS[0], &more)));
    flooded(|middle| Node::in_kernel(middle, PROXY, &more));
}

fn flooded(start: impl Fn(&Middle) -> Option<Node>) {
    const FORGED: u16 = 3000;
    let Some(middle) = Middle::new() else { return };
    let Some(node) = start(&middle) else { return };
    let [mut client, mut server] =
        [("client", Place::Client), ("server", Place::Server)].map(|(who, at)| peer(&middle, who, at));
    server.must("listen 80 8", "ok");
    transfer(&mut client, &mut server, 1000);
    let arrived = middle.counter(Place::Server, "Tcp", "InSegs");
    middle.inside(Place::Client, || flood(FORGED));
    for _ in 0..5 {
        transfer(&mut client, &mut server, 1000);
    }
    let more = middle.counter(Place::Server, "Tcp", "InSegs") - arrived;
    assert!((5 * 4..u64::from(FORGED) / 10).contains(&more), "{more} segments reached the server");
    assert_eq!(middle.counter(Place::Server, "Tcp", "PassiveOpens"), 6);
    let report = node.end();
    assert!(report.count("open_contexts") >= u64::from(FORGED), "it knows of each: {:?}", report.0);
}

/// The cache reads only IPv4.
#[test]
fn ipv6_passes_a_program_that_cannot_read_it() {
    if lacks_ipv6() {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let node = Node::start(&middle, CACHE, KINDS[0], &[]);
    middle.transfer_over_ipv6();
    let report = node.end();
    assert!(report.count("bridge_passed") > 70 && report.count("tx_forwarded") == 0, "{:?}", report.0);
    assert_eq!(report.count("bridge_too_long"), 0, "{:?}", report.0);
}

/// A datagram of `udp-retry` with a message of the store.
fn datagram(number: u32, response: bool, message: &[u8]) -> Vec<u8> {
    let size = message.len() as u32 | u32::from(response) << 31;
    let head: [u32; 5] = [77, number, number + 1000, size, 0];
    let head: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
    [&head[..], message].concat()
}

/// Operation, unused, key, version, value.
fn message(operation: u8, key: u64, version: u32, value: &[u8]) -> Vec<u8> {
    [&[operation, 0, 0, 0][..], &key.to_be_bytes(), &version.to_be_bytes(), value].concat()
}

const HEAD: usize = 20;
const GET: u8 = 1;
const VALUE: u8 = 3;

/// A server of keys, until it is asked for key 0. Returns how often it was asked.
fn serve_keys(socket: &UdpSocket) -> u32 {
    let mut asked = 0;
    loop {
        let mut octets = [0; 1500];
        let (len, from) = socket.recv_from(&mut octets).expect("a request");
        let (number, key) = (&octets[4..8], &octets[HEAD + 4..HEAD + 12]);
        assert_eq!((octets[HEAD], len), (GET, HEAD + 16));
        let number = u32::from_be_bytes(number.try_into().expect("four"));
        let key = u64::from_be_bytes(key.try_into().expect("eight"));
        let value = datagram(number, true, &message(VALUE, key, 1, format!("value of {key}").as_bytes()));
        socket.send_to(&value, from).expect("an answer");
        if key == 0 {
            return asked;
        }
        asked += 1;
    }
}

#[test]
fn a_cache_answers_in_the_name_of_its_server() {
    let more = ["--set", "settle=0us", "--set", "interval=1h"];
    answered_by_a_cache(|middle| Some(Node::start(middle, CACHE, KINDS[0], &more)));
    answered_by_a_cache(|middle| Node::in_kernel(middle, CACHE, &more));
}

fn answered_by_a_cache(start: impl Fn(&Middle) -> Option<Node>) {
    const GETS: u32 = 200;
    let Some(middle) = Middle::new() else { return };
    let Some(node) = start(&middle) else { return };
    let [server, client] = [(Place::Server, 7), (Place::Client, 0)].map(|(place, port)| {
        let socket = middle.inside(place, || UdpSocket::bind(("0.0.0.0", port)).expect("a socket"));
        socket.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        socket
    });
    client.connect((Middle::SERVER, 7)).expect("an address"); // receives from there only
    let asked = std::thread::scope(|scope| {
        let serving = scope.spawn(|| serve_keys(&server));
        for number in 0..=GETS {
            let key = if number == GETS { 0 } else { 5 };
            client.send(&datagram(number, false, &message(GET, key, 0, &[0; 0]))).expect("a request");
            let mut octets = [0; 1500];
            let len = client.recv(&mut octets).expect("an answer");
            assert_eq!(octets[4..8], number.to_be_bytes(), "of this request");
            let wanted = message(VALUE, key, 1, format!("value of {key}").as_bytes());
            assert_eq!(octets[HEAD..len], wanted, "{number}");
        }
        serving.join().expect("the server ends")
    });
    let report = node.end();
    assert!((8..20).contains(&asked), "hot after 8 GETs, the server answered {asked}");
    assert_eq!(report.count("tx_packets"), u64::from(GETS - asked), "{:?}", report.0);
}

/// Three processes without a privilege: ports that carry packets without Ethernet.
#[test]
fn rpcs_between_processes_pass_a_cache() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name).display().to_string();
    let port = |local: &str, peer: &str| ["--port".into(), format!("unix:{}:{}", at(local), at(peer))];
    let mut node = Command::new(host(CACHE));
    node.args(port("west", "client")).args(port("east", "server"));
    node.args(["--fault", "loss=2%,reorder=2%,dup=2%,seed=5"]);
    let (running, said) = saying(&mut node, "running between");
    let node = Node(running, Box::new(said));
    let [mut client, mut server] =
        [("client", "west", 1), ("server", "east", 2)].map(|(who, node, number)| {
            let mut end = Command::new(host("protocols/udp-retry/udp-retry.mtp"));
            end.args(port(who, node)).args(["--addr", &format!("10.0.0.{number}/24"), "--app", "script:-"]);
            Scripted::start(who, end.args(["--set", "rto=100ms"]))
        });
    client.must("endpoint 40000", "ok");
    server.must("endpoint 7", "ok");
    server.tell("serve 50 5000 3 7000 4");
    client.must("call 50 10.0.0.2 7 5000 3 7000 4", "ok 50");
    server.answers("ok 50");
    let report = node.end();
    assert!(report.count("tx_forwarded") >= 50 * (4 + 5), "{:?}", report.0);
}

#[test]
fn programs_get_the_ports_that_they_need() {
    let refused = |program: &str, args: &[&str], hint: &str| {
        let output = Command::new(host(program)).args(args).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(hint), "{args:?}: {said}");
    };
    let (one, other) = (["--port", "udp:4001:4002"], ["--port", "udp:4003:4004"]);
    let both = [one, other].concat();
    refused(PROXY, &one, "two or more times");
    refused(PROXY, &[&both[..], &["--app", "echo"]].concat(), "leave out --app");
    refused(PROXY, &[&one[..], &["--port", "loop"]].concat(), "memory port");
    refused(PROXY, &[&one[..]; 9].concat(), "at most 8 ports");
    let endpoint = "tests/programs/least.mtp";
    refused(endpoint, &[&both[..], &["--addr", "10.0.0.1/24", "--app", "echo"]].concat(), "give --port once");
}
