// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets are shown as dropped, and which are left to Wireshark.

use std::path::PathBuf;
use std::sync::Arc;

use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::link::LinkConfig;
use carrick_sim::scenario::Engine;
use carrick_tests::build::root;
use carrick_tests::capture::tshark;
use carrick_tests::net::lacks;

use crate::held::{Fields, event, events_shown, protocol};
use crate::pdml::{self, Packet};
use crate::traffic::{Arrival, AtHost, HEADER, World};
use crate::{checked, cut_capture, script};

/// Where a segment has its checksum.
const CHECKSUM: usize = HEADER + 16;

/// The ones' complement sum of the words of some bytes.
fn sum(octets: &[u8]) -> u16 {
    let words = octets.chunks(2).map(|two| u32::from(two[0]) << 8 | two.get(1).map_or(0, |&b| u32::from(b)));
    let all: u32 = words.sum();
    let folded = (all & 0xffff) + (all >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

/// What a sender leaves there for its device to finish.
fn sum_of_pseudo_header(packet: &[u8]) -> [u8; 2] {
    let len = (packet.len() - HEADER) as u16;
    sum(&[&packet[12..HEADER], &[0, packet[9]], &len.to_be_bytes()].concat()).to_be_bytes()
}

/// Packets as a capture of raw IPv4, and the script of their program.
struct Case {
    program: Arc<Program>,
    dir: tempfile::TempDir,
    script: PathBuf,
}

impl Case {
    fn new(file: &str) -> Case {
        let program = checked(&root().join(file));
        let (dir, script) = script(&program);
        Case { program, dir, script }
    }

    fn capture(&self, packets: &[Vec<u8>]) -> PathBuf {
        let capture = self.dir.path().join("packets.pcap");
        cut_capture(&capture, &packets.iter().map(|p| (p.clone(), p.len())).collect::<Vec<_>>());
        capture
    }

    fn shown(&self, packets: &[Vec<u8>], checksums: &str) -> Vec<Packet> {
        let name = protocol(&self.program);
        let preference = format!("{name}.checksums:{checksums}");
        pdml::dissect(&self.capture(packets), &self.script, &name, &["-o", &preference])
    }

    fn events(&self, arrival: &Arrival) -> Vec<Fields> {
        arrival.events.iter().map(|(e, words)| event(&self.program, *e, words)).collect()
    }
}

fn has(packet: &Packet, name: &str, value: &str) -> bool {
    packet.iter().any(|s| s.name == name && (value.is_empty() || s.value == value))
}

/// Checksums that a device would finish (Linux), or that a simulator leaves out (ns-3): receivers take such packets.
/// The two bytes of a packet's checksum.
type Checksum = fn(&[u8]) -> [u8; 2];

#[test]
fn unfinished_checksums_drop_no_packet() {
    if lacks("tshark") {
        return;
    }
    let tcp = Case::new("protocols/tcp/tcp.mtp");
    let mut seen = AtHost::new(&tcp.program, 1);
    let scenario = Scenario::bulk(3, LinkConfig::default(), 20_000);
    carrick_sim::run(&tcp.program, &Engine::Interpreter, &scenario, &mut seen, true).expect("it runs");
    let with = |checksum: fn(&[u8]) -> [u8; 2]| -> Vec<Vec<u8>> {
        let changed = |a: &Arrival| {
            let mut packet = a.packet.clone();
            let checksum = checksum(&packet);
            packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum);
            packet
        };
        seen.arrivals.iter().map(changed).collect()
    };
    assert!(seen.arrivals.len() > 10);
    let cases: [(Checksum, &str); 3] =
        [(|_| [0, 0], "3"), (sum_of_pseudo_header, "3"), (|p| [p[CHECKSUM] ^ 1, p[CHECKSUM + 1]], "0")];
    for (checksum, status) in cases {
        let packets = with(checksum);
        for (checksums, taken) in [("computed", status == "3"), ("all", false), ("none", true)] {
            for (packet, arrival) in tcp.shown(&packets, checksums).iter().zip(&seen.arrivals) {
                assert!(has(packet, "mtp_tcp.tcp_seg.checksum.status", status), "{checksums}: {packet:#?}");
                assert_eq!(has(packet, "mtp_tcp.refused-for", "bad_checksum"), !taken, "{packet:#?}");
                let expected = if taken { tcp.events(arrival) } else { Vec::new() };
                assert_eq!(events_shown(&tcp.program, packet), expected, "{checksums}");
            }
        }
    }
}

/// A query of DNS: "example.org", from port 40000 to 53.
fn dns_query() -> Vec<u8> {
    let query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03org\0\0\x01\0\x01";
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.extend([0x9c, 0x40, 0, 53]);
    packet.extend((query.len() as u16 + 8).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(query);
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    carrick_sim::ip::mend_checksum(&mut packet);
    packet
}

/// Several programs share UDP: what the parser does not claim is Wireshark's, also if the program would drop it.
#[test]
fn datagrams_of_others_are_left_to_wireshark() {
    if lacks("tshark") {
        return;
    }
    for name in ["rocev2", "quic-lite"] {
        let case = Case::new(&format!("protocols/{name}/{name}.mtp"));
        let mut world = World::new(&case.program, 5);
        world.run(800);
        let own: Vec<&Arrival> =
            world.arrivals.iter().filter(|a| a.as_sent && !a.events.is_empty()).collect();
        assert!(own.len() > 3, "{name}: {} packets", own.len());
        let mut short = dns_query();
        short.truncate(HEADER + 8 + 5);
        let total = short.len() as u16;
        short[2..4].copy_from_slice(&total.to_be_bytes());
        short[24..26].copy_from_slice(&(total - HEADER as u16).to_be_bytes());
        carrick_sim::ip::mend_checksum(&mut short);
        let all: Vec<Vec<u8>> =
            [dns_query(), short].into_iter().chain(own.iter().map(|a| a.packet.clone())).collect();
        let shown = pdml::trees(&case.capture(&all), &case.script, &[]);
        let (others, ours) = shown.split_at(2);
        let of = |packet: &Packet, protocol: &str| packet.iter().any(|s| s.name == protocol);
        let whose = protocol(&case.program);
        for packet in others {
            assert!(of(packet, "dns") && !of(packet, &whose), "{name}: {packet:#?}");
        }
        assert!(ours.iter().all(|packet| of(packet, &whose) && !of(packet, "udp")), "{name}: {ours:#?}");
    }
}

/// A packet that was damaged is still the program's, and is said to be dropped.
#[test]
fn damaged_datagrams_are_the_programs_own() {
    if lacks("tshark") {
        return;
    }
    let case = Case::new("protocols/rocev2/rocev2.mtp");
    let mut world = World::new(&case.program, 5);
    world.run(800);
    let own = world.arrivals.iter().filter(|a| a.as_sent && !a.events.is_empty());
    let damaged = own.map(|a| {
        let mut packet = a.packet.clone();
        *packet.last_mut().expect("not empty") ^= 1;
        packet
    });
    let damaged: Vec<Vec<u8>> = damaged.collect();
    for packet in case.shown(&damaged, "computed") {
        assert!(has(&packet, "mtp_rocev2.refused-for", "bad_checksum"), "{packet:#?}");
        assert!(events_shown(&case.program, &packet).is_empty());
    }
}

/// The info column has the field by which the parser tells packets apart, however narrow it is.
#[test]
fn the_kind_of_a_packet_is_in_the_info_column() {
    if lacks("tshark") {
        return;
    }
    let case = Case::new("tests/programs/choosing.mtp");
    let mut world = World::new(&case.program, 5);
    world.run(400);
    let own: Vec<Vec<u8>> = world.arrivals.iter().filter(|a| a.as_sent).map(|a| a.packet.clone()).collect();
    let script = format!("lua_script:{}", case.script.display());
    let lines = tshark(&case.capture(&own).display().to_string(), &["-X", &script]);
    assert!(!lines.is_empty() && lines.iter().all(|line| line.contains("narrow which=")), "{lines:#?}");
}
