// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs over IPv6, in the simulator, compiled, and on devices: each one that leaves the version to the build.

mod between;
mod claims;
mod segments;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use carrick_driver::{Choice, Over, compile_choice};
use carrick_interp::{Config, Core, Refused};
use carrick_ir::{NetLayer, Program, counter};
use carrick_sim::observe::Nobody;
use carrick_sim::scenario::Engine;
use carrick_sim::{Faults, Scenario};
use carrick_tests::build::{host_with, root};
use carrick_tests::capture::tshark;
use carrick_tests::command;
use carrick_tests::net::{DEVICE, End, Net, lacks, lacks_ipv6};
use carrick_tests::pattern;
use carrick_tests::programs::protocols;
use carrick_tests::running::serve;
use carrick_tests::seeds::seeds;
use serde_json::json;

/// The program over IPv6; none if its text fixes another network header.
fn over_ipv6(path: &Path) -> Option<Arc<Program>> {
    let compiled = compile_choice(path, &Choice { over: Over::Ipv6, ..Choice::default() }).ok()?;
    let program =
        compiled.program.unwrap_or_else(|| panic!("{}: {:?}", path.display(), compiled.diagnostics));
    assert_eq!(program.net_header.layer, NetLayer::Ipv6, "{}", path.display());
    Some(program)
}

/// Those of ends.
fn programs() -> Vec<(PathBuf, Arc<Program>)> {
    let all = protocols().into_iter().filter_map(|path| over_ipv6(&path).map(|program| (path, program)));
    all.filter(|(_, program)| program.in_network.is_none()).collect()
}

/// `CARRICK_SEEDS` is how many seeds there are.
#[test]
fn programs_over_inet_keep_their_promises_over_ipv6() {
    let programs = programs();
    for name in ["tcp.mtp", "homa.mtp", "quic-lite.mtp", "stop-and-wait.mtp"] {
        assert!(programs.iter().any(|(path, _)| path.ends_with(name)), "{name} does not run over IPv6");
    }
    for (path, program) in &programs {
        let mut octets = 0;
        for seed in 1..=seeds(4) {
            let scenario = Scenario::with_faults(seed, Faults::Every, program);
            let report = carrick_sim::run(program, &Engine::Interpreter, &scenario, &mut Nobody, false);
            let report = report.expect("the simulator takes it");
            let wrong: Vec<_> = report.failures.iter().chain(&report.damage).collect();
            assert!(wrong.is_empty(), "{}, seed {seed}: {wrong:?}", path.display());
            octets += report.received();
        }
        assert!(octets > 1000, "{}: only {octets} bytes arrived", path.display());
    }
}

/// Random operations, with extension headers, reports and damaged packets; then random networks. `versions` uses addresses in
/// every way that the language has, and `relay` runs in the network.
#[test]
fn interpreter_and_compiled_core_agree_over_ipv6() {
    if lacks("cc") {
        return;
    }
    let few = |name: &str| format!("protocols/{name}/{name}.mtp");
    for (file, seeds, least) in [
        ("tests/programs/versions.mtp".into(), "8", 5_000),
        ("tests/programs/relay.mtp".into(), "8", 8_000),
        ("tests/programs/segments.mtp".into(), "8", 3_000),
        (few("message-transport"), "1", 4_000),
        (few("stop-and-wait"), "2", 8_000),
        (few("homa"), "1", 4_000),
        (few("tcp"), "2", 4_000),
    ] {
        let diff = ["diff", &file, "--over", "ipv6", "--seeds", seeds, "--format", "json"];
        let said: serde_json::Value = serde_json::from_str(&command::done(&root(), &diff)).expect("JSON");
        assert_eq!(said["wrong"], json!([]), "{file}");
        assert!(said["compared"].as_u64() > Some(least), "{file}: {said}");
    }
}

/// What is sent, byte by byte, is what the interpreter sends, whose captures tshark reads.
#[test]
fn compiled_cores_send_the_same_packets_over_ipv6() {
    if lacks("cc") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let capture = |name: &str, engine: &[&str]| {
        let file = dir.path().join(name);
        let path = file.to_str().expect("UTF-8");
        let sim = ["sim", "protocols/tcp/tcp.mtp", "--over", "ipv6", "--bytes", "200KB", "--loss", "2%"];
        command::done(&root(), &[&sim[..], &["--path-mtu", "1400", "--pcap", path], engine].concat());
        let octets = std::fs::read(file).expect("a capture");
        // The first block says which command wrote the capture; its length is in its second word.
        let first = u32::from_le_bytes(octets[4..8].try_into().expect("4 bytes"));
        octets[first as usize..].to_vec()
    };
    let interpreted = capture("interpreted.pcapng", &[]);
    assert!(interpreted.len() > 200_000);
    assert!(interpreted == capture("compiled.pcapng", &["--compiled"]), "the captures differ");
}

/// Each field of the headers, both checksums' pseudo-header, and marks of congestion, as a program reads them that nobody here wrote.
#[test]
fn tshark_reads_captures_over_ipv6_without_a_complaint() {
    if lacks("tshark") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("capture.pcapng");
    let file = file.to_str().expect("UTF-8");
    let faults =
        ["--loss", "2%", "--reorder", "2%", "--ecn-threshold", "5", "--queue", "50", "--path-mtu", "1400"];
    let sim =
        ["sim", "protocols/tcp/tcp.mtp", "--over", "ipv6", "--bytes", "300KB", "--seed", "7", "--pcap", file];
    command::done(&root(), &[&sim[..], &faults].concat());
    let shown = |filter: &str| tshark(file, &["-Y", filter]).len();
    assert_eq!(
        shown(
            "_ws.malformed || (tcp.checksum.status == 0 && !icmpv6) || icmpv6.checksum.status == 0 || !ipv6"
        ),
        0
    );
    assert!(shown("tcp.checksum.status == 1 && tcp.len > 0 && ipv6.src == 2001:db8::a00:1") > 200);
    assert!(shown("icmpv6.type == 2 && icmpv6.mtu == 1400 && icmpv6.checksum.status == 1") > 0);
    assert!(shown("ipv6.tclass.ecn == 2") > 100);
    assert!(shown("tcp.options.mss_val == 1440") == 2);
}

/// What a receiver makes of a packet with this network header in front of stop-and-wait's first message.
fn received(header: &[u8]) -> (Result<(), Refused>, u64) {
    let program = over_ipv6(&root().join("protocols/stop-and-wait/stop-and-wait.mtp")).expect("over inet");
    let config = Config { address: 2, ..Config::default() };
    let mut core = Core::new(program, &config).expect("a core");
    let taken = core.rx(header, 0);
    (taken, core.counters()[counter("rx_packets")])
}

#[test]
fn what_is_no_packet_of_the_program_is_counted() {
    // Version 6, 8 bytes of payload, protocol 253, hop limit 1, from ::1 to ::2.
    let mut packet = vec![0_u8; 48];
    (packet[0], packet[5], packet[6], packet[7], packet[23], packet[39]) = (0x60, 8, 253, 1, 1, 2);
    let refused = |name| (Err(Refused::Dropped(counter(name))), 0);
    assert_eq!(received(&packet), (Err(Refused::Dropped(counter("short"))), 1));
    assert_eq!(received(&packet[..39]), refused("ip_short"));
    let with = |at: usize, value: u8| {
        let mut changed = packet.clone();
        changed[at] = value;
        received(&changed)
    };
    assert_eq!(with(0, 0x45), refused("ip_version"));
    assert_eq!(with(5, 9), refused("ip_length"));
    assert_eq!(with(6, 6), refused("ip_protocol"));
    assert_eq!(with(24, 1), refused("ip_address"));
    // A fragment header: its first byte is the next header, bit 0 of the fourth says that more follows.
    packet[40] = 253;
    let fragment = |more: u8| {
        let mut changed = packet.clone();
        (changed[6], changed[43]) = (44, more);
        received(&changed)
    };
    assert_eq!(fragment(1), refused("ip_fragment"));
    assert_eq!(fragment(0), (Err(Refused::Dropped(counter("short"))), 1));
}

/// Switches find hosts by addresses of IPv6, choose paths, mark packets and cut them.
#[test]
fn switches_carry_packets_of_ipv6() {
    let fabric = |file: &str, topology: &str, more: &[&str]| {
        let sim = ["sim", file, "--over", "ipv6", "--topology", topology, "--workload", "incast:3"];
        let all = [&sim[..], &["--mtu", "1500", "--format", "json"], more].concat();
        let said = command::done(&root(), &all);
        let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let run = &said["runs"][0];
        assert_eq!((&run["ended"], &run["failures"]), (&json!(3), &json!([])), "{file}");
        run["queues"]["to hosts"].clone()
    };
    let marked = fabric(
        "protocols/tcp/tcp.mtp",
        "leaf-spine:2,2,2",
        &["--with", "dctcp", "--mark-at", "3KB", "--bytes", "300KB"],
    );
    assert!(marked["marked"].as_u64() > Some(0), "{marked}");
    let cut =
        fabric("protocols/ndp/ndp.mtp", "star:4", &["--bytes", "30KB", "--buffer", "6KB", "--trim", "84"]);
    assert!(cut["trimmed"].as_u64() > Some(0), "{cut}");
}

#[test]
fn what_cannot_be_done_over_ipv6_is_said() {
    let (saw, tcp) = ("protocols/stop-and-wait/stop-and-wait.mtp", "protocols/tcp/tcp.mtp");
    for (args, part) in [
        (&["check", saw, "--target", "ns3"][..], "target `ns3` has no network layer `ipv6`"),
        (
            &["build", saw, "--target", "ns3", "-o", "never-written"],
            "target `ns3` has no network layer `ipv6`",
        ),
        (
            &["run", saw, "--target", "xdp", "--port", "lo", "--addr", "10.0.0.1/24"],
            "\"10.0.0.1/24\" is no IPv6 address with a prefix; write it like fd00:7::2/64",
        ),
        (&["diff", saw, "--target", "hw"], "target `hw` has no network layer `ipv6`"),
        (&["sim", saw, "--compiled", "--mtu", "576"], "the configuration is outside what the program allows"),
        (&["sim", saw, "--mtu", "576"], "the MTU is outside 1280 to 65535"),
        (&["sim", tcp, "--via", "tests/programs/in_network.mtp"], "the program runs over `ipv4` only"),
        (&["sim", "protocols/rocev2/rocev2.mtp"], "the program runs over `ipv4` only"),
    ] {
        let output = command::run(&root(), &[args, &["--over", "ipv6"]].concat());
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(!output.status.success() && said.contains(part), "{args:?}: {said}");
    }
}

/// The addresses of both ends of a wire.
const OURS: &str = "fd00:77::1";
const PEER: &str = "fd00:77::2";

/// A folder with one file `data`.
fn folder() -> (tempfile::TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; 500_000];
    pattern::fill(6, 0, &mut data);
    std::fs::write(dir.path().join("data"), &data).expect("writable");
    (dir, data)
}

/// TCP over IPv6 at our end of the wire.
fn stack(net: &Net, app: &str, more: &[&str]) -> Command {
    let host = host_with("protocols/tcp/tcp.mtp", &["--over", "ipv6"]);
    let mut command = net.command(End::Ours, &host.to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{OURS}/64"), "--app", app]).args(more);
    command
}

const BAD_WIRE: &[&str] = &["--fault", "loss=2%,reorder=2%,dup=1%,corrupt=0.5%,seed=7"];

/// Linux finds the stack by neighbour discovery, and its own TCP gets each byte.
#[test]
fn curl_downloads_from_our_server_over_ipv6() {
    if lacks("curl") || lacks_ipv6() {
        return;
    }
    let (dir, data) = folder();
    let app = format!("http:{}", dir.path().display());
    for (net, faults) in
        [(Net::new(), &[][..]), (Net::new(), BAD_WIRE), (Net::af_xdp(), &[]), (Net::tun(), &[])]
    {
        let Some(net) = net else { return };
        net.take_ipv6(End::Peer, PEER).expect("an address");
        let _server = serve(&mut stack(&net, &app, faults), "listening");
        let url = format!("http://[{OURS}]/data");
        let got = net
            .command(End::Peer, "curl")
            .args(["-sSg", "--max-time", "30", &url])
            .output()
            .expect("curl runs");
        assert!(got.status.success(), "{}: {}", net.port(), String::from_utf8_lossy(&got.stderr));
        assert!(got.stdout == data, "{}: {} bytes of {}", net.port(), got.stdout.len(), data.len());
    }
}

/// A router whose next link takes shorter packets says so, and the transfer goes on with those.
#[test]
fn packet_too_big_lowers_the_path_mtu() {
    const NARROW: u32 = 1300;
    if lacks("curl") || lacks_ipv6() {
        return;
    }
    let (dir, data) = folder();
    let Some(net) = Net::routed(NARROW) else { return };
    net.route_ipv6(NARROW).expect("the router has IPv6");
    let app = format!("http:{}", dir.path().display());
    let _server = serve(&mut stack(&net, &app, &["--gateway", Net::NEAR_ROUTER]), "listening");
    let url = format!("http://[{}]/data", Net::NEAR);
    let got = net.command(End::Peer, "curl").args(["-sSg", "--max-time", "30", &url]).output();
    let got = got.expect("curl runs");
    assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
    assert!(got.stdout == data, "{} bytes of {}", got.stdout.len(), data.len());
    let reports = net.router_counter_6("Icmp6OutPktTooBigs");
    assert!((1..40).contains(&reports), "{reports} reports");
}

#[test]
fn we_download_from_a_server_of_linux_over_ipv6() {
    if lacks("python3") || lacks_ipv6() {
        return;
    }
    let (dir, data) = folder();
    for faults in [&[][..], BAD_WIRE] {
        let Some(net) = Net::new() else { return };
        net.take_ipv6(End::Peer, PEER).expect("an address");
        let mut server = net.command(End::Peer, "python3");
        server.args(["-u", "-m", "http.server", "80", "--bind", PEER, "--directory"]).arg(dir.path());
        let _server = serve(&mut server, "Serving HTTP");
        let file = dir.path().join("got");
        let get = format!("get:http://[{PEER}]/data:{}", file.display());
        let done = stack(&net, &get, faults).output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(std::fs::read(&file).expect("readable") == data);
        // Linux knows the stack's hardware address by neighbour discovery alone.
        let known = net
            .command(End::Peer, "ip")
            .args(["-6", "neigh", "show", "dev", DEVICE])
            .output()
            .expect("ip runs");
        let known = String::from_utf8_lossy(&known.stdout).into_owned();
        assert!(known.contains(&format!("{OURS} lladdr")), "{known}");
    }
}

#[test]
fn what_a_stack_over_ipv6_cannot_do_is_said() {
    let host = host_with("protocols/tcp/tcp.mtp", &["--over", "ipv6"]);
    let refused = |args: &[&str], part: &str| {
        let output = Command::new(&host).args(["--port", "loop"]).args(args).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(part), "{args:?}: {said}");
    };
    refused(&["--addr", "10.0.0.1/24", "--app", "echo", "--app", "echo"], "write an address of IPv6");
    refused(&["--addr", "fd00::1/129", "--app", "echo", "--app", "echo"], "write an address of IPv6");
    refused(
        &["--addr", "fd00::1/64", "--app", "echo", "--app", "get:http://10.0.0.2/a:/dev/null"],
        "of another version of the Internet Protocol",
    );
}
