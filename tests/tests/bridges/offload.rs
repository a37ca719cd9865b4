// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network that hands messages to an application, between two stacks of user space.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_tests::build::{host, root};
use carrick_tests::middle::{Middle, Place};
use carrick_tests::node::{Node, Report};
use carrick_tests::pattern;
use carrick_tests::running::{saying, started};
use carrick_tests::scripted::{Scripted, exchange};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrUnix, SocketType, connect, recv,
    sendmsg, socket,
};

use super::PATIENCE;

const ENDS: &str = "protocols/message-transport/message-transport.mtp";
const WRAPPER: &str = "protocols/message-wrapper/message-wrapper.mtp";
/// Segments are as far apart as the scheduler of a busy machine lets them be.
const GAP: [&str; 2] = ["--set", "gap=50ms"];

/// Opens the two ends of a conversation.
fn open(client: &mut Scripted, server: &mut Scripted, [from, to]: [&str; 2]) {
    client.must(&format!("open {to} 7 7"), "ok");
    server.must(&format!("open {from} 7 7"), "ok");
}

/// Messages between two stacks in namespaces, each of which loses and reorders packets.
fn all_arrive_once(start: impl Fn(&Middle) -> Option<Node>) {
    const ADDRESSES: [&str; 2] = ["10.0.0.13", "10.0.0.11"];
    let Some(middle) = Middle::new() else { return };
    let Some(node) = start(&middle) else { return };
    let stack = |who, place, at: usize| {
        let mut command = middle.command(place, &host(ENDS).to_string_lossy());
        command.args([
            "--port",
            "packet:wire0",
            "--addr",
            &format!("{}/24", ADDRESSES[at]),
            "--app",
            "script:-",
        ]);
        command.args(["--fault", &format!("loss=1%,reorder=1%,dup=1%,seed={}", at + 1)]);
        Scripted::start(who, &mut command)
    };
    let mut client = stack("client", Place::Client, 0);
    let mut server = stack("server", Place::Server, 1);
    open(&mut client, &mut server, ADDRESSES);
    // A message that is delivered again has other bytes than the next one.
    (0..30).for_each(|_| exchange(&mut client, &mut server, 20_000));
    let report = node.end();
    assert!(report.count("offload_put") >= 60, "{:?}", report.0);
    for never in ["offload_refused", "bridge_unknown", "tx_queue_full", "bad_checksum"] {
        assert_eq!(report.count(never), 0, "{never}: {:?}", report.0);
    }
}

#[test]
fn messages_pass_an_offload_on_a_bad_wire_once() {
    all_arrive_once(|middle| Some(Node::start(middle, WRAPPER, ["packet", "packet"], &GAP)));
}

#[test]
fn messages_pass_an_offload_in_the_kernel_once() {
    all_arrive_once(|middle| Node::in_kernel(middle, WRAPPER, &[&GAP[..], &["--app", "offload"]].concat()));
}

/// Three processes without a privilege, with Unix sockets between them.
struct Chain {
    node: Option<Node>,
    client: Scripted,
    server: Scripted,
    dir: tempfile::TempDir,
    said: Vec<String>,
}

impl Chain {
    fn start(app: impl Fn(&Path) -> String) -> Chain {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name).display().to_string();
        let port = |local: &str, peer: &str| ["--port".into(), format!("unix:{}:{}", at(local), at(peer))];
        let mut node = Command::new(host(WRAPPER));
        node.args(port("west", "client"))
            .args(port("east", "server"))
            .args(GAP)
            .args(["--set", "answer_within=10s"]);
        let (running, said) = saying(node.args(["--app", &app(dir.path())]), "running between");
        let [mut client, mut server] =
            [("client", "west", 1), ("server", "east", 2)].map(|(who, node, number)| {
                let mut end = Command::new(host(ENDS));
                end.args(port(who, node)).args([
                    "--addr",
                    &format!("10.0.0.{number}/24"),
                    "--app",
                    "script:-",
                ]);
                Scripted::start(who, &mut end)
            });
        open(&mut client, &mut server, ["10.0.0.1", "10.0.0.2"]);
        Chain { node: Some(Node(running, Box::new(said))), client, server, dir, said: Vec::new() }
    }

    /// A message of so many bytes is sent; so many bytes, perhaps of another message, arrive.
    #[track_caller]
    fn carries(&mut self, sent: u32, arrives: &str) {
        self.server.tell(&format!("recv {arrives}"));
        self.client.must(&format!("send {sent} 5"), &format!("ok {sent}"));
        let len = arrives.split(' ').next().expect("a length");
        self.server.answers(&format!("ok {len}"));
    }

    /// Waits until the node serves the process that has connected last.
    fn serves(&mut self) {
        let said = &mut self.node.as_mut().expect("it runs").1;
        for line in said.by_ref() {
            self.said.push(line);
            if self.said.last().is_some_and(|line| line == "offload: a process has connected") {
                return;
            }
        }
        panic!("nobody is served: {:?}", self.said);
    }

    fn connects(&mut self) -> Process {
        let process = Process::connect(&socket_in(self.dir.path()));
        self.serves();
        process
    }

    fn end(&mut self) -> Report {
        let Report(rest) = self.node.take().expect("it runs").end();
        self.said.extend(rest);
        Report(std::mem::take(&mut self.said))
    }
}

#[test]
fn an_offload_takes_time_changes_lengths_and_consumes() {
    let mut slow = Chain::start(|_| "offload:service=exponential:1ms,workers=2,ratio=0.5".into());
    slow.carries(8000, "4000 5");
    assert_eq!(slow.end().count("offload_put"), 1);
    let mut cache = Chain::start(|_| "offload:intercept=100%".into());
    cache.client.must("send 8000 5", "ok 8000");
    let report = cache.end();
    assert_eq!((report.count("offload_consumed"), report.count("offload_put")), (1, 0), "{:?}", report.0);
}

/// A process that answers as it is told. `struct carrick_offload_head`: number, kind, length.
struct Process(OwnedFd);

const PUT: u32 = 2;
const CONSUME: u32 = 3;
const LONGEST: u32 = 65_536;

impl Process {
    fn connect(path: &Path) -> Process {
        let fd = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).expect("a socket");
        connect(&fd, &SocketAddrUnix::new(path).expect("a path")).expect("the host serves it");
        set_socket_timeout(&fd, Timeout::Recv, Some(PATIENCE)).expect("it can be set");
        Process(fd)
    }

    /// The number of the next message, which has these bytes.
    fn takes(&self, len: usize) -> u64 {
        let mut record = vec![0; 16 + LONGEST as usize];
        let (got, _) = recv(&self.0, &mut record[..], RecvFlags::empty()).expect("a message");
        assert_eq!((got, record[8], &record[12..16]), (16 + len, 1, &(len as u32).to_ne_bytes()[..]));
        u64::from_ne_bytes(record[..8].try_into().expect("eight"))
    }

    fn answers(&self, number: u64, kind: u32, says: u32, octets: &[u8]) {
        let head = [&number.to_ne_bytes()[..], &kind.to_ne_bytes(), &says.to_ne_bytes()].concat();
        let parts = [IoSlice::new(&head), IoSlice::new(octets)];
        sendmsg(&self.0, &parts, &mut SendAncillaryBuffer::default(), SendFlags::empty())
            .expect("it is read");
    }
}

/// The bytes of a message that the script's receiver takes for its own.
fn message(seed: u64, from: u64, len: usize) -> Vec<u8> {
    let mut octets = vec![0; len];
    pattern::fill(seed, from, &mut octets);
    octets
}

fn socket_in(dir: &Path) -> PathBuf {
    dir.join("offload.sock")
}

#[test]
fn a_process_answers_messages() {
    let mut chain = Chain::start(|dir| format!("offload:socket={},within=10s", socket_in(dir).display()));
    chain.carries(1000, "1000 5"); // nobody is connected
    let process = chain.connects();
    chain.server.tell("recv 9000 6");
    chain.client.tell("send 8000 5");
    let number = process.takes(8000);
    process.answers(number, PUT, 9000, &message(6, 1000, 9000));
    chain.server.answers("ok 9000");
    chain.client.answers("ok 8000");
    process.answers(number, PUT, 10, &[0; 10]); // again
    chain.client.tell("send 500 5");
    process.answers(process.takes(500), CONSUME, 0, &[]);
    chain.client.answers("ok 500");
    let report = chain.end();
    let counts =
        ["passed", "put", "consumed", "needless"].map(|name| report.count(&format!("offload_{name}")));
    assert_eq!(counts, [1, 2, 1, 1], "{:?}", report.0);
}

#[test]
fn messages_pass_a_process_that_misbehaves_or_dies() {
    let mut chain = Chain::start(|dir| format!("offload:socket={},within=300ms", socket_in(dir).display()));
    let process = chain.connects();
    let answers: [(u32, u32, usize); 5] =
        [(PUT, 10, 9), (PUT, LONGEST + 1, LONGEST as usize + 1), (PUT, 0, 0), (CONSUME, 1, 1), (9, 10, 10)];
    for (kind, says, len) in answers {
        chain.server.tell("recv 800 5");
        chain.client.tell("send 800 5");
        process.answers(process.takes(800), kind, says, &vec![0; len]);
        chain.server.answers("ok 800");
        chain.client.answers("ok 800");
    }
    chain.carries(800, "800 5"); // it does not answer
    let late = process.takes(800);
    chain.server.tell("recv 800 5");
    chain.client.tell("send 800 5");
    process.takes(800);
    drop(process);
    chain.server.answers("ok 800");
    chain.client.answers("ok 800");
    let next = chain.connects();
    next.answers(late, PUT, 10, &[0; 10]);
    chain.server.tell("recv 800 5");
    chain.client.tell("send 800 5");
    next.answers(next.takes(800), PUT, 800, &message(5, 7 * 800, 800));
    chain.server.answers("ok 800");
    chain.client.answers("ok 800");
    let report = chain.end();
    // On a busy machine, another one may be late.
    let counts = ["invalid", "passed", "needless"].map(|name| report.count(&format!("offload_{name}")));
    assert!(counts == [5, 7, 1] && report.count("offload_late") > 0, "{:?}", report.0);
    let said = report.0.join("\n");
    for sentence in ["an invalid answer", "in time", "the process has ended", "does not have"] {
        assert!(said.contains(sentence), "{sentence}: {said}");
    }
}

/// The example of the C header.
#[test]
fn an_example_in_c_serves_a_host() {
    let mut chain = Chain::start(|dir| format!("offload:socket={},within=10s", socket_in(dir).display()));
    let native = root().join("targets/native");
    let program = chain.dir.path().join("offload");
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-Iinclude", "examples/offload.c", "-o"]).arg(&program);
    assert!(cc.current_dir(native).status().is_ok_and(|done| done.success()));
    let _process = started(Command::new(program).arg(socket_in(chain.dir.path())));
    chain.serves();
    chain.carries(8000, "8000 5");
    let report = chain.end();
    assert_eq!((report.count("offload_put"), report.count("offload_passed")), (1, 0), "{:?}", report.0);
}

#[test]
fn settings_of_an_offload_are_checked() {
    let ports = ["--port", "udp:4001:4002", "--port", "udp:4003:4004", "--app"];
    let refused = |app: &str, hint: &str| {
        let output = Command::new(host(WRAPPER)).args(ports).arg(app).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(hint), "{app}: {said}");
    };
    refused("echo", "--app offload once");
    refused("offload:service=slow", "as in 12us");
    refused("offload:ratio=1.5..0.5", "as in 0.7..1.3");
    refused("offload:intercept=50", "as in 50%");
    refused("offload:workers=0", "from 1 to 256");
    refused("offload:speed=1", "one of the settings service, ratio");
    refused(
        "offload:socket=/nowhere/offload.sock",
        "Cannot make the socket /nowhere/offload.sock: No such file",
    );
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    std::fs::write(&file, "precious").expect("writable");
    refused(&format!("offload:socket={}", file.display()), "is no socket");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "precious");
    refused("offload:socket=x,intercept=1%", "leave out socket");
}
