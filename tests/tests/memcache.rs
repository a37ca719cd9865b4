// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cache in the network before Debian's memcached, natively and in the kernel. memcached's own answers are the oracle.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use carrick_tests::middle::{Middle, Place};
use carrick_tests::net::lacks;
use carrick_tests::node::Node;
use carrick_tests::running::{Running, started};

const CACHE: &str = "protocols/memcache/memcache.mtp";
const PATIENCE: Duration = Duration::from_secs(20);
const PORT: u16 = 11211;

/// memcached at the server's end, and a connection to it.
struct Server {
    _running: Running,
    control: BufReader<TcpStream>,
}

impl Server {
    fn start(middle: &Middle) -> Server {
        let mut command = middle.command(Place::Server, "memcached");
        command.args(["-u", "root", "-U", "11211", "-t", "1", "-l", Middle::SERVER]);
        let (running, _) = started(&mut command);
        let until = Instant::now() + PATIENCE;
        let control = loop {
            let connected = middle.inside(Place::Client, || TcpStream::connect((Middle::SERVER, PORT)));
            match connected {
                Ok(stream) => break stream,
                Err(why) => assert!(Instant::now() < until, "memcached does not start: {why}"),
            }
        };
        control.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        Server { _running: running, control: BufReader::new(control) }
    }

    /// What memcached answers over TCP, to its last line.
    fn ask(&mut self, request: &str, last: &str) -> String {
        self.control.get_mut().write_all(request.as_bytes()).expect("written");
        let mut said = String::new();
        while !said.ends_with(&format!("{last}\r\n")) {
            assert!(self.control.read_line(&mut said).expect("an answer") > 0, "{said}");
        }
        said
    }

    /// GETs that it has executed.
    fn gets(&mut self) -> u64 {
        let stats = self.ask("stats\r\n", "END");
        let line = stats.lines().find_map(|line| line.strip_prefix("STAT cmd_get ")).expect("a statistic");
        line.parse().expect("a number")
    }
}

/// A client over UDP; each of its requests has a number of its own.
struct Client {
    socket: UdpSocket,
    number: u16,
}

impl Client {
    fn new(middle: &Middle) -> Client {
        let socket = middle.inside(Place::Client, || UdpSocket::bind(("0.0.0.0", 0)).expect("a socket"));
        socket.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        socket.connect((Middle::SERVER, PORT)).expect("an address");
        Client { socket, number: 0 }
    }

    fn ask(&mut self, request: &str) -> String {
        self.number += 1;
        let mut datagram = self.number.to_be_bytes().to_vec();
        datagram.extend([0, 0, 0, 1, 0, 0]);
        datagram.extend(request.as_bytes());
        self.socket.send(&datagram).expect("a request");
        let mut octets = [0; 1500];
        let len = self.socket.recv(&mut octets).expect("an answer");
        assert_eq!(octets[..4], datagram[..4], "the first datagram of this answer");
        String::from_utf8(octets[8..len].to_vec()).expect("text")
    }
}

impl Client {
    /// The text of all datagrams of an answer, to its end.
    fn ask_all(&mut self, request: &str) -> String {
        let mut said = self.ask(request);
        while !said.ends_with("END\r\n") {
            let mut octets = [0; 1500];
            let len = self.socket.recv(&mut octets).expect("more of the answer");
            said += std::str::from_utf8(&octets[8..len]).expect("text");
        }
        said
    }
}

fn set(key: &str, value: &str) -> String {
    format!("set {key} 5 0 {}\r\n{value}\r\n", value.len())
}

/// Keys of all lengths that the program can cache.
fn keys() -> impl Iterator<Item = String> {
    (1..=250).step_by(3).map(|width: usize| format!("{:0>width$}", width % 10))
}

/// Until an answer is kept: for some time after a write none is.
fn await_settled(client: &mut Client, server: &mut Server) {
    let until = Instant::now() + PATIENCE;
    loop {
        let before = server.gets();
        assert_eq!(client.ask("get probe\r\n"), "VALUE probe 5 1\r\nx\r\nEND\r\n");
        if server.gets() == before {
            return;
        }
        assert!(Instant::now() < until, "nothing is kept");
    }
}

const PARAMETERS: [&str; 4] = ["--set", "settle=50ms", "--set", "keep=1h"];

fn answers_are_those_of_memcached(start: impl Fn(&Middle) -> Option<Node>) {
    const ROUNDS: usize = 10;
    if lacks("memcached") {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let Some(node) = start(&middle) else { return };
    let mut server = Server::start(&middle);
    let mut client = Client::new(&middle);
    assert_eq!(client.ask(&set("probe", "x")), "STORED\r\n");
    for key in keys() {
        assert_eq!(client.ask(&set(&key, &format!("value of {key}"))), "STORED\r\n");
    }
    await_settled(&mut client, &mut server);
    let own: Vec<_> = keys().map(|key| (key.clone(), server.ask(&format!("get {key}\r\n"), "END"))).collect();
    let before = server.gets();
    for _ in 0..ROUNDS {
        for (key, answer) in &own {
            assert_eq!(&client.ask(&format!("get {key}\r\n")), answer, "{key}");
        }
    }
    let executed = server.gets() - before;
    assert_eq!(executed, own.len() as u64, "each answer is kept after the first GET");
    assert_eq!(client.ask("get none\r\n") + &client.ask("get none\r\n"), "END\r\nEND\r\n");
    // A write ends all answers at once, also one that looks like a GET at first.
    assert_eq!(client.ask(&set("1", "new")), "STORED\r\n");
    assert_eq!(client.ask("get 1\r\n"), "VALUE 1 5 3\r\nnew\r\nEND\r\n");
    let report = node.end();
    assert_eq!(report.count("tx_packets"), 1 + (own.len() * (ROUNDS - 1)) as u64, "{:?}", report.0);
}

/// Each request reaches the server: those that are too long, or have answers that are, and all but `get`.
#[test]
fn what_the_cache_cannot_keep_is_passed_on() {
    if lacks("memcached") {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let node = Node::start(&middle, CACHE, ["packet", "packet"], &["--set", "settle=1us"]);
    let mut server = Server::start(&middle);
    let mut client = Client::new(&middle);
    server.ask(&set("long", &"y".repeat(2000)), "STORED");
    server.ask(&set("short", "x"), "STORED");
    let requests = ["get long\r\n", "gets short\r\n", "get short short\r\n"];
    let before = server.gets();
    for _ in 0..3 {
        for request in requests {
            let own = server.ask(request, "END");
            assert_eq!(client.ask_all(request), own);
        }
    }
    assert_eq!(server.gets() - before, 2 * 3 * (1 + 1 + 2));
    assert_eq!(node.end().count("tx_packets"), 0);
}

/// A load generator that nobody here wrote sets its keys over TCP, gets them over UDP, and verifies what it gets.
#[test]
fn memcaslap_gets_what_it_has_set() {
    if lacks("memcached") || lacks("memcaslap") {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let node = Node::start(
        &middle,
        CACHE,
        ["packet", "packet"],
        &["--set", "settle=1ms", "--set", "keep=1h", "--set", "max_keys=8192"],
    );
    let mut server = Server::start(&middle);
    let dir = tempfile::tempdir().expect("a folder");
    let load = dir.path().join("load");
    fs::write(&load, "key\n16 16 1\nvalue\n64 64 1\ncmd\n0 0.0\n1 1.0\n").expect("writable");
    let mut command = middle.command(Place::Client, "memcaslap");
    command.args([
        "-s",
        &format!("{}:{PORT}", Middle::SERVER),
        "-U",
        "-T",
        "1",
        "-c",
        "4",
        "-w",
        "1k",
        "-x",
        "20000",
    ]);
    let output = command.args(["-v", "1.0", "-F"]).arg(load).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let count = |name: &str| -> u64 {
        let line = said.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().strip_prefix(':'));
        line.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("{name}: {said}"))
    };
    assert!(output.status.success() && count("verify_failed") == 0 && count("get_misses") == 0, "{said}");
    let executed = server.gets();
    let hits = node.end().count("tx_packets");
    assert_eq!(hits + executed, count("cmd_get"), "{said}");
    assert!(hits > 10000, "{hits} of {said}");
}

#[test]
fn a_process_answers_as_memcached_does() {
    answers_are_those_of_memcached(|middle| {
        Some(Node::start(middle, CACHE, ["packet", "packet"], &PARAMETERS))
    });
}

#[test]
fn the_kernel_answers_as_memcached_does() {
    answers_are_those_of_memcached(|middle| Node::in_kernel(middle, CACHE, &PARAMETERS));
}
