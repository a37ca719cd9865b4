// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two stacks with the compiled program: files over HTTP, each over a stream of its own of one connection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use carrick_tests::build::{host, root};
use carrick_tests::capture::packets;
use carrick_tests::command::done;
use carrick_tests::net::{End, Net};
use carrick_tests::pattern;
use carrick_tests::running::serve;
use carrick_tests::scripted::{Scripted, exchange, pair};
use serde_json::Value;
use tempfile::TempDir;

use crate::wire::{Heard, INITIAL, Packet, RETRY};

const PROGRAM: &str = "protocols/quic-lite/quic-lite.mtp";
const SERVER: &str = "10.0.0.1";

/// Files to be served: one that is long, and many that are short.
struct Site {
    folder: TempDir,
    files: Vec<Vec<u8>>,
}

impl Site {
    fn new() -> Site {
        let folder = tempfile::tempdir().expect("a folder");
        let lens = [400_000].into_iter().chain((1..=20).map(|n| n * 777));
        let file = |(n, len): (usize, usize)| {
            let mut octets = vec![0; len];
            pattern::fill(n as u64, 0, &mut octets);
            std::fs::write(folder.path().join(n.to_string()), &octets).expect("writable");
            octets
        };
        let files = lens.enumerate().map(file).collect();
        Site { folder, files }
    }

    fn serves(&self) -> String {
        format!("http:{}", self.folder.path().display())
    }

    /// What downloads all of them.
    fn gets(&self, server: &str) -> String {
        let path = self.folder.path().display();
        let files: Vec<String> = (0..self.files.len()).map(|n| format!("/{n}:{path}/got-{n}")).collect();
        format!("get:http://{server}{}", files.join(","))
    }

    fn all_came(&self) {
        for (n, file) in self.files.iter().enumerate() {
            let got = std::fs::read(self.folder.path().join(format!("got-{n}"))).expect("a file");
            assert!(&got == file, "{n}: {} octets of {}", got.len(), file.len());
        }
    }
}

fn stack(net: &Net, end: End, address: &str, app: &str) -> Command {
    let mut command = net.command(end, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{address}/24"), "--app", app]);
    command
}

/// Downloads all over a pair of devices; the packets that the client's device saw.
fn download(site: &Site, capture: &Path, more: &[&str], at_server: &[&str]) -> Option<Vec<Packet>> {
    let net = Net::new()?;
    let mut server = stack(&net, End::Peer, Net::PEER_STACK, &site.serves());
    let _server = serve(server.args(at_server), "listening");
    let mut client = stack(&net, End::Ours, Net::OURS, &site.gets(Net::PEER_STACK));
    let done = client.args(["--seed", "1", "--pcap"]).arg(capture).args(more).output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    site.all_came();
    let all = packets(&std::fs::read(capture).expect("a capture"));
    Some(all.iter().filter(|packet| packet[0] == 0x45).map(|packet| Packet::read(packet)).collect())
}

/// The bytes of each stream that one end sent, as far as they are told without a gap, and whether that was its end.
fn streams(packets: &[Packet], from_server: bool) -> BTreeMap<u64, (Vec<u8>, bool)> {
    let mut pieces = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for packet in packets.iter().filter(|p| (p.from.1 == 80) == from_server) {
        for heard in packet.heard() {
            let Heard::Stream { stream, offset, data, fin } = heard else { continue };
            if fin {
                ends.insert(stream, offset + data.len() as u64);
            }
            pieces.entry(stream).or_insert_with(BTreeMap::new).insert((offset, data.len()), data);
        }
    }
    let whole = |(stream, pieces): (u64, BTreeMap<(u64, usize), Vec<u8>>)| {
        let mut octets: Vec<u8> = Vec::new();
        for ((offset, _), data) in pieces {
            let known = octets.len().saturating_sub(offset as usize);
            if offset as usize <= octets.len() && known < data.len() {
                octets.extend(&data[known..]);
            }
        }
        let ended = ends.get(&stream) == Some(&(octets.len() as u64));
        (stream, (octets, ended))
    };
    pieces.into_iter().map(whole).collect()
}

#[test]
fn another_implementation_reads_what_goes_over_devices() {
    let site = Site::new();
    let capture = site.folder.path().join("capture");
    let Some(packets) = download(&site, &capture, &[], &[]) else { return };
    let connections: BTreeSet<u16> =
        packets.iter().map(|p| if p.to.1 == 80 { p.from.1 } else { p.to.1 }).collect();
    assert_eq!(connections.len(), 1, "all streams are of one connection");
    let (asked, answered) = (streams(&packets, false), streams(&packets, true));
    assert_eq!(asked.len(), site.files.len(), "{:?}", asked.keys());
    for (stream, (request, ended)) in asked {
        let request = String::from_utf8(request).expect("text");
        let file: usize = request.split(['/', ' ']).nth(2).and_then(|n| n.parse().ok()).expect("a number");
        let (answer, answer_ended) = &answered[&stream];
        assert!(answer.ends_with(&site.files[file]), "stream {stream}: {request}");
        assert!(ended && *answer_ended, "stream {stream}: both directions come to their end");
    }
}

#[test]
fn a_server_may_want_to_see_each_client_first() {
    let site = Site::new();
    let capture = site.folder.path().join("capture");
    let Some(packets) = download(&site, &capture, &["--fault", "loss=2%,seed=9"], &["--set", "retry=true"])
    else {
        return;
    };
    let retry = packets.iter().find(|packet| packet.long == Some(RETRY)).expect("a Retry");
    let with_token = |packet: &Packet| packet.long == Some(INITIAL) && packet.token == retry.token;
    assert!(packets.iter().any(with_token), "and what it asks for");
}

#[test]
fn files_come_whole_though_packets_are_lost_on_the_way() {
    let site = Site::new();
    let capture = site.folder.path().join("capture");
    let faults = ["--fault", "loss=2%,reorder=2%,dup=1%,delay=2ms,seed=5"];
    let Some(packets) = download(&site, &capture, &faults, &[]) else { return };
    let ranges = packets.iter().flat_map(Packet::heard).filter_map(|heard| match heard {
        Heard::Ack(ranges) => Some(ranges.len()),
        _ => None,
    });
    assert!(ranges.max() > Some(1), "something was lost");
}

/// In one process, bytes of packets broken too.
fn in_memory(program: &str, site: &Site, faults: &str) {
    let done = Command::new(host(program))
        .args(["--port", "loop", "--addr", &format!("{SERVER}/24"), "--app", &site.serves()])
        .args(["--app", &site.gets(SERVER), "--fault", faults])
        .output()
        .expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    site.all_came();
}

#[test]
fn files_come_whole_through_every_fault() {
    for seed in 1..=5 {
        let faults = format!("loss=3%,reorder=3%,dup=2%,corrupt=2%,mark=5%,jitter=1ms,seed={seed}");
        in_memory(PROGRAM, &Site::new(), &faults);
    }
    // Where there are no streams, each file has a connection.
    in_memory("protocols/tcp/tcp.mtp", &Site::new(), "loss=1%,seed=1");
}

/// A client and a server with a connection.
fn connected(folder: &Path, more: &[&str]) -> (Scripted, Scripted) {
    let [mut server, mut client] =
        pair(&host(PROGRAM), folder, [("server", SERVER), ("client", "10.0.0.2")], more);
    server.must("listen 99", "ok");
    connect(&mut client, &mut server);
    (client, server)
}

/// Makes a connection, which both ends then have in use.
pub fn connect(client: &mut Scripted, server: &mut Scripted) {
    client.must(&format!("connect {SERVER} 99"), "ok");
    server.must("accept", "ok");
}

/// Opens a stream, which both ends then have in use; the peer learns of it with its first bytes.
pub fn stream(opener: &mut Scripted, peer: &mut Scripted) {
    [&mut *opener, &mut *peer].iter_mut().for_each(|end| end.must("use 0", "ok"));
    opener.must("open_stream", "ok");
    opener.must("send 10 5", "ok 10");
    peer.must("accept_stream", "ok");
    peer.must("recv 10 5", "ok 10");
}

#[test]
fn streams_of_both_ends_do_not_wait_for_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut client, mut server) = connected(folder.path(), &["--fault", "loss=1%,reorder=1%,seed=2"]);
    stream(&mut client, &mut server);
    // More than the server's room for it: this stream stands still, nobody reads there.
    client.must("send 200000 5", "ok 200000");
    for _ in 0..80 {
        stream(&mut server, &mut client);
        server.tell("recv 20000 6");
        client.must("send 20000 6", "ok 20000");
        server.answers("ok 20000");
        server.must("shutdown", "ok");
        client.must("finish 5", "ok 0");
        client.must("shutdown", "ok");
        server.must("finish 6", "ok 0");
    }
    [&mut client, &mut server].iter_mut().for_each(|end| end.must("use 1", "ok"));
    server.must("recv 200000 5", "ok 200000");
}

#[test]
fn what_is_reset_is_told_of_and_leaves_the_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut client, mut server) = connected(folder.path(), &[]);
    stream(&mut client, &mut server);
    server.tell("recv 10 7");
    client.must("reset", "ok");
    server.answers("reset");
    server.must("send 10 7", "reset");
    stream(&mut client, &mut server);
    exchange(&mut client, &mut server, 100_000);
    // The connection's end is the end of what it carries.
    client.must("use 0", "ok");
    server.tell("recv 10 7");
    client.must("close", "ok");
    assert_ne!(server.answer(), "ok 10");
    server.must("use 0", "ok");
    server.must("accept_stream", "closed");
}

#[test]
fn a_stack_that_runs_is_looked_into() {
    let site = Site::new();
    let (address, serves, gets) = (format!("{SERVER}/24"), site.serves(), site.gets(SERVER));
    let trace = ["trace", PROGRAM, "--on", "stream_in", "--show", "id.stream, whole", "--format", "json"];
    let stack = ["--run", "--port", "loop", "--addr", &address, "--app", &serves, "--app", &gets];
    let lines = done(&root(), &[&trace[..], &stack].concat());
    site.all_came();
    let lines: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut whole = BTreeMap::new();
    for line in lines.iter().filter(|line| line["host"] == "peer") {
        let [stream, came] =
            ["id.stream", "whole"].map(|key| line["values"][key].as_u64().expect("a number"));
        let before = whole.insert(stream, came).unwrap_or(0);
        assert!(before <= came, "{line}");
    }
    assert_eq!(whole.len(), site.files.len());
    assert!(whole.values().zip(&site.files).all(|(came, file)| *came > file.len() as u64), "{whole:?}");
}
