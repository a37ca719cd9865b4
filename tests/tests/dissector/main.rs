// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick dissect`: what tshark shows of packets with the script of their program, against what the interpreter made
//! of them. Packets come from every program that makes some, whole, damaged and cut off.

mod held;
mod judged;
mod pdml;
mod traffic;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carrick_driver::{Choice, Over, compile_choice, compile_file};
use carrick_ir::{NetLayer, Program};
use carrick_sim::Scenario;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::pcapng::Pcapng;
use carrick_sim::scenario::Engine;
use carrick_tests::build::root;
use carrick_tests::capture::tshark;
use carrick_tests::command::done;
use carrick_tests::net::lacks;

use held::{event, events_shown, hold, protocol};
use pdml::Packet;
use traffic::{Arrival, AtHost, HEADER, World};

const STEPS: usize = 1500;
const NOISE: usize = 150;

fn checked(path: &Path) -> Arc<Program> {
    compile_file(path).expect("readable").program.expect("right")
}

/// Every program in the tree that checks.
fn programs() -> Vec<(PathBuf, Arc<Program>)> {
    let mut places =
        ["protocols", "tests/programs", "crates/interp/tests/programs"].map(|p| root().join(p)).to_vec();
    let mut found = Vec::new();
    while let Some(place) = places.pop() {
        for path in std::fs::read_dir(&place).expect("a folder").flatten().map(|e| e.path()) {
            if path.is_dir() {
                places.push(path);
            } else if path.extension().is_some_and(|e| e == "mtp")
                && let Some(program) = compile_file(&path).expect("readable").program
                // Who is meant by a packet that only has a link under it, no capture tells.
                && program.net_header.layer == NetLayer::Ipv4
            {
                // A trace tells of an event when it is handled: without waiting, that is when its packet comes.
                found.push((path, Arc::new(Program { event_schedule: None, ..(*program).clone() })));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// A folder with the script of a program.
fn script(program: &Program) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("dissector.lua");
    let defaults: Vec<u64> = program.params.iter().map(|p| p.default).collect();
    let text = carrick_dissect::dissector(program, &defaults).expect("the parser can be translated");
    std::fs::write(&path, text).expect("writable");
    (dir, path)
}

/// What is shown of the packets.
fn shown(program: &Program, arrivals: &[Arrival]) -> Vec<Packet> {
    let (dir, script) = script(program);
    let capture = dir.path().join("capture.pcapng");
    let mut pcapng = Pcapng::new(File::create(&capture).expect("writable"), program, 0, "tests");
    for (at, arrival) in (0..).zip(arrivals) {
        pcapng.arrived(at * 1000, 0, at, &arrival.packet);
    }
    pcapng.finish().expect("writable");
    let packets = pdml::dissect_strictly(&capture, &script, &protocol(program));
    assert_eq!(packets.len(), arrivals.len());
    packets
}

#[test]
fn every_program_is_shown_as_it_is_understood() {
    if lacks("tshark") {
        return;
    }
    let mut made = 0;
    for (path, program) in programs() {
        let mut world = World::new(&program, 7);
        world.run(STEPS);
        let sent = world.arrivals.len();
        world.noise(NOISE);
        let events = hold(&program, &world.arrivals, &shown(&program, &world.arrivals));
        made += sent;
        assert!(sent == 0 || events > 0, "{}: nothing is understood", path.display());
    }
    assert!(made > 2000, "only {made} packets");
}

#[test]
fn a_transfer_with_every_fault() {
    if lacks("tshark") {
        return;
    }
    let path = root().join("protocols/tcp/tcp.mtp");
    let over_ipv6 = compile_choice(&path, &Choice { over: Over::Ipv6, ..Choice::default() });
    for program in [checked(&path), over_ipv6.expect("readable").program.expect("right")] {
        let link = LinkConfig {
            faults: LinkFaults {
                loss_ppm: 20_000,
                duplicate_ppm: 10_000,
                reorder_ppm: 20_000,
                corrupt_ppm: 20_000,
                ..LinkFaults::default()
            }
            .into(),
            ..LinkConfig::default()
        };
        for host in 0..2 {
            let mut seen = AtHost::new(&program, host);
            carrick_sim::run(
                &program,
                &Engine::Interpreter,
                &Scenario::bulk(7, link.clone(), 300_000),
                &mut seen,
                true,
            )
            .expect("it runs");
            assert!(hold(&program, &seen.arrivals, &shown(&program, &seen.arrivals)) > 100);
            assert!(seen.arrivals.iter().any(|a| a.refused == Some("bad_checksum")) || host == 0);
        }
    }
}

/// Options and groups of fields in every combination: most of them have no checksum that would hide what is damaged.
#[test]
fn headers_of_every_kind() {
    if lacks("tshark") {
        return;
    }
    let program = checked(&root().join("tests/programs/headers.mtp"));
    let mut arrivals = Vec::new();
    for seed in 11..14 {
        let mut world = World::new(&program, seed);
        world.run(2 * STEPS);
        // A header with nothing but what says that six bytes of options follow.
        let lists: [&[u8]; 10] = [
            &[4, 6, 1, 2, 3, 4],
            &[4, 5, 1, 2, 3, 0],
            &[4, 7, 1, 2, 3, 4, 5],
            &[4, 1, 1, 2, 3, 4],
            &[9, 2, 9, 4, 1, 1],
            &[9, 6, 1, 2, 3, 4],
            &[9, 2, 9, 2, 9, 9],
            &[1, 1, 1, 1, 1, 2],
            &[9, 0, 1, 2, 3, 4],
            &[0, 6, 1, 2, 3, 4],
        ];
        lists.iter().for_each(|list| world.give(&[&[3, 1, 7, 0], *list].concat()));
        // The same of options with kinds and lengths of variable length.
        let wide: [&[u8]; 8] = [
            &[3, 5, 1, 0, 0, 0, 2],
            &[3, 6, 1, 0, 0, 0, 2, 0],
            &[3, 4, 1, 0, 0, 0],
            &[3, 7, 1, 0, 0, 0, 2],
            &[0x80, 3, 0xff, 0xf0, 0],
            &[0x80, 3, 0xff, 0xf0, 1, 0],
            &[9, 0x40, 2, 1, 1, 9, 0],
            &[9, 0, 0x40],
        ];
        for list in wide {
            world.give(&[&[5, 0, 4 + list.len() as u8, 0], list].concat());
        }
        arrivals.append(&mut world.arrivals);
    }
    assert!(hold(&program, &arrivals, &shown(&program, &arrivals)) > 500);
    assert!(arrivals.iter().filter(|a| a.refused == Some("bad_options")).count() > 20);
}

/// Every operator on every type of number, in a parser.
#[test]
fn parsers_compute_as_they_do_in_cores() {
    if lacks("tshark") {
        return;
    }
    let text = std::fs::read_to_string(root().join("tests/programs/operators.mtp")).expect("readable");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("computing.mtp");
    std::fs::write(&path, in_a_parser(&text)).expect("writable");
    let program = checked(&path);
    let mut world = World::new(&program, 3);
    let edges = [0, 1, 5, 1 << 31, (1 << 31) - 1, u64::from(u32::MAX), 1 << 63, u64::MAX];
    for pair in edges.into_iter().flat_map(|a| edges.map(|b| [a, b])) {
        world.give(&pair.map(u64::to_be_bytes).concat());
    }
    world.numbers(40, 2);
    assert_eq!(hold(&program, &world.arrivals, &shown(&program, &world.arrivals)), 104);
    let least = world.arrivals.iter().map(|a| a.events[0].1.len()).min();
    assert!(least > Some(400), "only {least:?} results");
}

/// The processors of the program as functions that its parser calls, and what they tell as what it raises.
fn in_a_parser(text: &str) -> String {
    // These need fractions or a host; a dissector has neither.
    let beyond = ["keyed_hash", "mtu()", "now()", "k / q", "r * f"];
    let lines = text.lines().filter(|l| !beyond.iter().any(|b| l.contains(b)));
    let text: String = lines.map(|l| format!("{l}\n")).collect();
    let (_, processors) = text.split_once("void note(seen e) { }").expect("the processors' beginning");
    let (processors, _) = processors.split_once("void done(").expect("their end");
    let processors =
        processors.replace("(ask e)", "(told e)").replace("notify(none, OK, ", "e.results.all.add(");
    let calls: String = processors
        .lines()
        .filter_map(|l| l.strip_prefix("void ")?.split('(').next())
        .map(|name| format!("    {name}(e);\n"))
        .collect();
    format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 202; }}
struct results {{ list<uint64, 900> all; }}
event ask : app_event {{ uint64 a; }}
event told : net_event {{ uint64 a; uint64 b; results results; }}
pkt_bp plain over ipv4 {{ uint64 a; uint64 b; }}
{processors}
void parse(pkt_t p, ipv4 ip) {{
    plain h;
    p.extract(h);
    told e;
    e.a = h.a;
    e.b = h.b;
{calls}    raise e;
}}
void note(told e) {{ }}
void done(ask e) {{ notify(e.token, OK); }}
dispatch chains {{ told -> {{ note }}; ask -> {{ done }}; }}
interface computing {{ ask -> ask; }}
deploy {{ register_ep_chains(chains); register_ev_parser(parse); register_interface(computing); }}
"
    )
}

/// A capture (of raw IPv4) that has only the first bytes of each packet.
fn cut_capture(path: &Path, packets: &[(Vec<u8>, usize)]) {
    let mut file: Vec<u8> = Vec::new();
    let words = |file: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|w| file.extend(w.to_le_bytes()));
    words(&mut file, &[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 101]);
    for (packet, kept) in packets {
        words(&mut file, &[0, 0, *kept as u32, packet.len() as u32]);
        file.extend_from_slice(&packet[..*kept]);
    }
    std::fs::write(path, file).expect("writable");
}

#[test]
fn what_a_capture_lacks_is_not_held_against_the_packet() {
    if lacks("tshark") {
        return;
    }
    for (_, program) in programs() {
        let mut world = World::new(&program, 5);
        world.run(STEPS / 3);
        world.noise(NOISE / 3);
        let packets = world.arrivals.into_iter().map(|a| a.packet).filter(|p| p.len() > HEADER);
        let cut = packets.enumerate().map(|(at, p)| (p.clone(), HEADER + at % (p.len() - HEADER)));
        let packets: Vec<(Vec<u8>, usize)> = cut.collect();
        let (dir, script) = script(&program);
        let capture = dir.path().join("cut.pcap");
        cut_capture(&capture, &packets);
        let name = format!("{}.refused-for", protocol(&program));
        for packet in pdml::dissect_strictly(&capture, &script, &protocol(&program)) {
            let reason = packet.iter().find(|s| s.name == name).map(|s| s.value.as_str());
            assert!(reason.is_none_or(|r| r == "cut"), "{packet:#?}");
        }
    }
}

/// A program that says by which interface a packet came.
const TOLD: &str = "net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 202; uint8 interface; }
event told : net_event { uint8 by; uint32 n; }
pkt_bp plain over ipv4 { uint32 n; }
void parse(pkt_t p, ipv4 ip) {
    plain h;
    p.extract(h);
    raise told { by = ip.interface, n = h.n };
}
void note(told e) { }
dispatch chains { told -> { note }; }
deploy { register_ep_chains(chains); register_ev_parser(parse); register_role(in_network, 8); }
";

/// A pcapng file in which each of so many interfaces has captured this packet of raw IPv4 (draft-ietf-opsawg-pcapng, section 4).
fn capture_of_interfaces(path: &Path, interfaces: u32, packet: &[u8]) {
    let mut file: Vec<u8> = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let len = (12 + body.len() as u32).to_le_bytes();
        file.extend([&kind.to_le_bytes(), &len, body, &len].concat());
    };
    block(0x0a0d_0d0a, &[[0x4d, 0x3c, 0x2b, 0x1a], [1, 0, 0, 0], [255; 4], [255; 4]].concat());
    for _ in 0..interfaces {
        block(1, &[101, 0, 0, 0, 0, 0, 0, 0]);
    }
    for interface in 0..interfaces {
        let mut body =
            [interface, 0, 0, packet.len() as u32, packet.len() as u32].map(u32::to_le_bytes).concat();
        body.extend_from_slice(packet);
        body.resize(body.len().next_multiple_of(4), 0);
        block(6, &body);
    }
    std::fs::write(path, file).expect("writable");
}

#[test]
fn each_interface_of_a_capture_has_its_number() {
    if lacks("tshark") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("told.mtp");
    std::fs::write(&path, TOLD).expect("writable");
    let program = checked(&path);
    let mut world = World::new(&program, 3);
    world.give(&7_u32.to_be_bytes());
    let capture = dir.path().join("interfaces.pcapng");
    capture_of_interfaces(&capture, 4, &world.arrivals[0].packet);
    let (_script, script) = script(&program);
    let told = program.events.iter().position(|e| e.name == "told").expect("it is declared");
    let packets = pdml::dissect_strictly(&capture, &script, &protocol(&program));
    let shown: Vec<_> = packets.iter().map(|packet| events_shown(&program, packet)).collect();
    let expected: Vec<_> = (0..4).map(|number| vec![event(&program, told, &[number, 7])]).collect();
    assert_eq!(shown, expected);
}

/// The native stack can carry packets in UDP datagrams.
#[test]
fn packets_in_datagrams_are_found() {
    if lacks("tshark") {
        return;
    }
    let program = checked(&root().join("tests/programs/headers.mtp"));
    let mut world = World::new(&program, 9);
    world.run(STEPS / 3);
    let whole: Vec<_> = world.arrivals.iter().filter(|a| a.as_sent).collect();
    let wrapped: Vec<(Vec<u8>, usize)> =
        whole.iter().map(|a| in_datagram(&a.packet)).map(|p| (p.clone(), p.len())).collect();
    let (dir, script) = script(&program);
    let capture = dir.path().join("udp.pcap");
    cut_capture(&capture, &wrapped);
    let packets = pdml::dissect_strictly(&capture, &script, &protocol(&program));
    assert!(packets.len() > 30);
    for (packet, arrival) in packets.iter().zip(whole).filter(|(_, a)| !a.not_ours) {
        let expected: Vec<_> = arrival.events.iter().map(|(e, words)| event(&program, *e, words)).collect();
        assert_eq!(events_shown(&program, packet), expected);
    }
}

fn in_datagram(packet: &[u8]) -> Vec<u8> {
    let mut out = vec![0; HEADER + 8];
    let total = (out.len() + packet.len()) as u16;
    out[0] = 0x45;
    out[2..4].copy_from_slice(&total.to_be_bytes());
    out[8..10].copy_from_slice(&[64, 17]);
    out[12..20].copy_from_slice(&[127, 0, 0, 1, 127, 0, 0, 1]);
    out[20..24].copy_from_slice(&[0x9c, 0x40, 0x9c, 0x41]);
    out[24..26].copy_from_slice(&(total - HEADER as u16).to_be_bytes());
    out.extend_from_slice(packet);
    carrick_sim::ip::mend_checksum(&mut out);
    out
}

/// As a user does it.
#[test]
fn captures_of_the_simulator_are_read_with_the_script() {
    if lacks("tshark") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let [capture, script] = ["out.pcapng", "out.lua"].map(|name| dir.path().join(name).display().to_string());
    let program = "protocols/tcp/tcp.mtp";
    done(&root(), &["sim", program, "--bytes", "100KB", "--loss", "1%", "--pcap", &capture]);
    done(&root(), &["dissect", program, "-o", &script]);
    let script = format!("lua_script:{script}");
    let shown = |more: &[&str]| tshark(&capture, &[&["-X", &script], more].concat());
    let openings = shown(&["-Y", "mtp_tcp.tcp_seg.syn == 1 && mtp_tcp.tcp_seg.opts"]);
    assert!(openings.len() >= 2 && openings.iter().all(|l| l.contains(" syn window=")), "{openings:?}");
    let lines = shown(&[
        "-T",
        "fields",
        "-e",
        "ip.len",
        "-e",
        "mtp_tcp.segment.len",
        "-e",
        "mtp_tcp.tcp_seg.data_offset",
    ]);
    assert!(lines.len() > 70, "{lines:?}");
    for line in &lines {
        let numbers: Vec<usize> = line.split('\t').map(|n| n.parse().expect("a number")).collect();
        assert_eq!(numbers[0], HEADER + numbers[1] + numbers[2] * 4, "{line}");
    }
}
