// SPDX-License-Identifier: MIT OR Apache-2.0
//! One program, seven protocols: the sizes that its README shows, what each promises in the simulator, and each on real
//! devices: as Ethernet frames between two namespaces, as messages between two processes, and one of them with the
//! kernel's UDP.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use carrick_tests::build::{host_with, root};
use carrick_tests::capture::tshark;
use carrick_tests::command::{self, done};
use carrick_tests::net::{DEVICE, End, Net, lacks};
use carrick_tests::recorded;
use carrick_tests::scripted::{Scripted, exchange, pair};
use serde_json::Value;

const PROGRAM: &str = "protocols/netblocks/netblocks.mtp";

/// A protocol as the paper's Table 4 has it.
struct Protocol {
    name: &'static str,
    features: &'static [&'static str],
    /// bytes of the header, in that table
    paper: u64,
}

const PROTOCOLS: [Protocol; 7] = [
    Protocol { name: "UDP-like", features: &["--with", "routing"], paper: 42 },
    Protocol { name: "UDP-over-Ethernet", features: &[], paper: 20 },
    Protocol { name: "Inorder", features: &["--with", "inorder"], paper: 24 },
    Protocol { name: "Reliable", features: &["--with", "inorder=hold,reliable"], paper: 28 },
    Protocol { name: "Signalling", features: &["--with", "inorder,signalling"], paper: 26 },
    Protocol { name: "FullChecksumming", features: &["--with", "inorder,checksum"], paper: 28 },
    Protocol { name: "ShrunkFields", features: &["--with", "shrunk", "--without", "ethernet"], paper: 4 },
];

impl Protocol {
    fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|f| f.contains(feature))
    }
}

fn run(command: &str, protocol: &Protocol, more: &[&str]) -> String {
    done(&root(), &[&[command, PROGRAM], protocol.features, more].concat())
}

fn json(command: &str, protocol: &Protocol, more: &[&str]) -> Value {
    let more = [more, &["--format", "json"]].concat();
    serde_json::from_str(&run(command, protocol, &more)).expect("JSON")
}

#[test]
fn the_readme_shows_the_sizes() {
    let mut table = String::from(
        "| protocol | built with | bytes of header | in the paper |\n| --- | --- | --- | --- |\n",
    );
    for protocol in &PROTOCOLS {
        let layout = json("layout", protocol, &[]);
        let octets = layout["blueprints"][0]["most_bytes"].as_u64().expect("a size");
        assert_eq!(octets, protocol.paper, "{}", protocol.name);
        let with = if protocol.features.is_empty() {
            String::new()
        } else {
            format!("`{}`", protocol.features.join(" "))
        };
        let _ = writeln!(table, "| {} | {with} | {octets} | {} |", protocol.name, protocol.paper);
    }
    recorded::part(&root().join("protocols/netblocks/README.md"), "sizes", &table);
}

#[test]
fn every_combination_of_features_is_right() {
    let said = done(&root(), &["check", "--combinations", PROGRAM, "--format", "json"]);
    let report: Value = serde_json::from_str(&said).expect("JSON");
    let combinations = report[0]["combinations"].as_array().expect("a list");
    assert!(combinations.len() >= 144, "{} combinations", combinations.len());
    for combination in combinations {
        assert_eq!(combination["diagnostics"].as_array().map(Vec::len), Some(0), "{combination}");
    }
}

/// What both ends of the first connection say of their messages: sent and failed at the client, and the rest at the server.
#[track_caller]
fn messages(protocol: &Protocol, more: &[&str]) -> [u64; 6] {
    let args = ["sim", PROGRAM, "--bytes", "200KB", "--format", "json"];
    let said = command::run(&root(), &[&args[..], protocol.features, more].concat());
    let ran: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    // Damaged data is delivered where nothing checks it: the run says so, and fails.
    let damage = ran["damage"].as_array().expect("a list").len();
    assert_eq!(ran["failures"], Value::Array(vec![]), "{}: {ran}", protocol.name);
    assert_eq!(said.status.code(), Some(i32::from(damage > 0)), "{}: {ran}", protocol.name);
    let of = |end: &str, what: &str| ran[end][0]["messages"][what].as_u64().unwrap_or(0);
    [
        of("client", "sent"),
        of("client", "failed"),
        of("server", "received"),
        of("server", "late"),
        of("server", "again"),
        of("server", "damaged"),
    ]
}

#[test]
fn all_arrives_where_nothing_is_lost() {
    for protocol in &PROTOCOLS {
        for engine in [&[][..], &["--compiled"]] {
            assert_eq!(messages(protocol, engine), [200, 0, 200, 0, 0, 0], "{} {engine:?}", protocol.name);
        }
    }
}

#[test]
fn each_keeps_its_promises_on_a_bad_network() {
    for protocol in &PROTOCOLS {
        let (mut lost, mut disordered, mut damaged) = (0, 0, 0);
        for seed in ["1", "2", "3", "4", "5"] {
            let faults =
                ["--loss", "4%", "--reorder", "4%", "--duplicate", "4%", "--corrupt", "2%", "--seed", seed];
            let [sent, failed, received, late, again, wrong] = messages(protocol, &faults);
            assert_eq!((sent, failed), (200, 0), "{}", protocol.name);
            lost += sent - received.min(sent);
            disordered += late + again;
            damaged += wrong;
        }
        assert_eq!(damaged == 0, protocol.has("checksum"), "{}: {damaged} damaged", protocol.name);
        assert_eq!(disordered == 0, protocol.has("inorder"), "{}: {disordered} late or again", protocol.name);
        assert!((lost == 0) == protocol.has("reliable") || damaged > 0, "{}: {lost} lost", protocol.name);
    }
}

#[test]
fn reliable_means_that_all_of_it_arrives() {
    let everything = Protocol {
        name: "everything",
        features: &["--with", "inorder=hold,reliable,signalling,checksum,routing"],
        paper: 0,
    };
    for seed in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let faults =
            ["--loss", "5%", "--reorder", "5%", "--duplicate", "5%", "--corrupt", "5%", "--seed", seed];
        assert_eq!(messages(&everything, &faults), [200, 0, 200, 0, 0, 0], "seed {seed}");
    }
}

#[test]
fn the_compiled_core_does_as_the_interpreter() {
    for protocol in &PROTOCOLS {
        let report = json("diff", protocol, &["--seeds", "20"]);
        assert_eq!(report["wrong"].as_array().map(Vec::len), Some(0), "{}: {report}", protocol.name);
    }
}

/// Builds in which a server does not know its clients, with a name each.
const LISTENING: [Protocol; 3] = [
    Protocol {
        name: "four bytes, listening",
        features: &["--with", "shrunk,listening", "--without", "ethernet"],
        paper: 0,
    },
    Protocol {
        name: "reliable, listening",
        features: &["--with", "inorder=hold,reliable,listening"],
        paper: 0,
    },
    Protocol { name: "with ends", features: &["--with", "inorder=hold,ends"], paper: 0 },
];

#[test]
fn a_server_hears_clients_that_it_does_not_know() {
    for protocol in &LISTENING {
        for engine in [&[][..], &["--compiled"]] {
            assert_eq!(messages(protocol, engine), [200, 0, 200, 0, 0, 0], "{} {engine:?}", protocol.name);
        }
        let report = json("diff", protocol, &["--seeds", "20"]);
        assert_eq!(report["wrong"].as_array().map(Vec::len), Some(0), "{}: {report}", protocol.name);
    }
    for protocol in &LISTENING[1..] {
        for seed in ["1", "2", "3", "4"] {
            let faults = ["--loss", "5%", "--reorder", "5%", "--duplicate", "5%", "--seed", seed];
            assert_eq!(messages(protocol, &faults), [200, 0, 200, 0, 0, 0], "{} {seed}", protocol.name);
        }
    }
}

#[test]
fn tshark_shows_what_was_sent() {
    if lacks("tshark") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (capture, script) = (path("capture.pcapng"), path("dissector.lua"));
    for protocol in &PROTOCOLS {
        run("sim", protocol, &["--bytes", "5KB", "--pcap", &capture]);
        run("dissect", protocol, &["-o", &script]);
        let fields = ["dst_host", "src_host", "src_app", "dst_app", "length"];
        let fields = fields.map(|f| format!("mtp_netblocks.packet.{f}"));
        let script = format!("lua_script:{script}");
        let asked = ["-X", &script, "-T", "fields"].into_iter();
        let asked: Vec<&str> = asked.chain(fields.iter().flat_map(|f| ["-e", f])).collect();
        let shown = tshark(&capture, &asked);
        let host = |ip: u64| (0x0200_0000_0000 + ip).to_string();
        let length = if protocol.has("routing") { "1008" } else { "1000" };
        let wanted =
            [host(0x0a00_0002), host(0x0a00_0001), "1024".into(), "1024".into(), length.into()].join("\t");
        let data = shown.iter().filter(|line| **line == wanted).count();
        assert_eq!(data, 5, "{}: {wanted}\n{shown:?}", protocol.name);
    }
}

/// The hardware address that a host with an IPv4 address has in these protocols.
fn mac(ip: &str) -> String {
    let [a, b, c, d] = ip.parse::<Ipv4Addr>().expect("an address").octets();
    format!("02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

fn host(protocol: &Protocol) -> String {
    host_with(PROGRAM, protocol.features).to_string_lossy().into_owned()
}

fn stack(mut command: Command, port: &str, address: &str, who: &'static str) -> Scripted {
    Scripted::start(
        who,
        command.args(["--port", port, "--addr", &format!("{address}/24"), "--app", "script:-"]),
    )
}

/// Messages of several lengths in both directions.
fn exchange_all(one: &mut Scripted, other: &mut Scripted, [ours, theirs]: [&str; 2]) {
    // With signalling, each waits for the other.
    one.tell(&format!("open {theirs} 1030 1024"));
    other.tell(&format!("open {ours} 1024 1030"));
    one.answers("ok");
    other.answers("ok");
    for len in [1, 18, 700, 1400] {
        (0..8).for_each(|_| exchange(one, other, len));
    }
}

#[test]
fn each_goes_between_two_processes_as_messages() {
    for protocol in &PROTOCOLS {
        let dir = tempfile::tempdir().expect("a folder");
        let addresses = ["10.0.0.1", "10.0.0.2"];
        let ends = [("one", addresses[0]), ("other", addresses[1])];
        let [mut one, mut other] = pair(Path::new(&host(protocol)), dir.path(), ends, &[]);
        exchange_all(&mut one, &mut other, addresses);
    }
}

#[test]
fn each_goes_over_a_device_as_ethernet_frames() {
    let Some(net) = Net::new() else { return };
    for (end, ip) in [(End::Ours, Net::OURS), (End::Peer, Net::PEER)] {
        net.ip(end, &format!("link set {DEVICE} address {}", mac(ip))).expect("an address can be set");
    }
    net.ip(End::Peer, &format!("addr flush dev {DEVICE}")).expect("addresses can be removed");
    for protocol in PROTOCOLS.iter().filter(|p| !p.has("shrunk")) {
        let one = net.command(End::Ours, &host(protocol));
        let other = net.command(End::Peer, &host(protocol));
        let mut one = stack(one, &format!("packet:{DEVICE}"), Net::OURS, "one");
        let mut other = stack(other, &format!("packet:{DEVICE}"), Net::PEER, "other");
        // An answer means that the stack has its socket.
        one.must("use 0", "ok");
        other.must("use 0", "ok");
        exchange_all(&mut one, &mut other, [Net::OURS, Net::PEER]);
    }
}

#[test]
fn the_kernel_takes_the_first_for_udp() {
    let Some(net) = Net::new() else { return };
    net.ip(End::Ours, &format!("link set {DEVICE} address {}", mac(Net::OURS)))
        .expect("an address can be set");
    net.ip(End::Peer, &format!("link set {DEVICE} address {}", mac(Net::PEER)))
        .expect("an address can be set");
    let ours = format!("neigh replace {} lladdr {} dev {DEVICE}", Net::OURS, mac(Net::OURS));
    net.ip(End::Peer, &ours).expect("a neighbour can be told");
    let mut echo =
        Scripted::start("the kernel", net.command(End::Peer, env!("CARGO_BIN_EXE_udp_echo")).arg("1030"));
    echo.answers("ready");
    let command = net.command(End::Ours, &host(&PROTOCOLS[0]));
    let mut one = stack(command, &format!("packet:{DEVICE}"), Net::OURS, "ours");
    one.must(&format!("open {} 1030 1024", Net::PEER), "ok");
    for len in [1, 40, 1472] {
        one.must(&format!("send {len} 5"), &format!("ok {len}"));
        one.must(&format!("recv {len} 5"), &format!("ok {len}"));
    }
    // One byte more than the MTU leaves.
    one.must("send 1473 5", "invalid");
    assert_eq!(net.counter(End::Peer, "Udp", "InDatagrams"), 3);
    assert_eq!(net.counter(End::Peer, "Udp", "InErrors"), 0);
    assert_eq!(net.counter(End::Peer, "Ip", "InHdrErrors"), 0);
}
