// SPDX-License-Identifier: MIT OR Apache-2.0
//! RoCEv2: every byte and every completion through bad networks, captures that tshark reads, the invariant CRC as the annex
//! of the InfiniBand specification has it, and what strangers may send.

mod native;
mod peer;
mod selective;
mod strangers;
mod wire;

use carrick_tests::capture::{packets, tshark};
use carrick_tests::net::lacks;
use carrick_tests::simulated;
use serde_json::Value;

const PROGRAM: &str = "protocols/rocev2/rocev2.mtp";
const BAD: [&str; 8] = ["--loss", "1%", "--reorder", "1%", "--duplicate", "1%", "--corrupt", "1%"];

fn simulate(args: &[&str]) -> Option<Value> {
    simulated::simulate(PROGRAM, args)
}

/// Sixteen messages of 64 KB and one without bytes: SENDs, WRITEs and READs, with and without immediates.
#[test]
fn every_octet_and_every_completion_through_every_fault() {
    for seed in 1..=12 {
        let features = [&[][..], &["--with", "selective"], &["--with", "dcqcn,selective"]][seed % 3];
        let seed = seed.to_string();
        let link = ["--bytes", "1MB", "--seed", &seed, "--delay", "1ms", "--rate", "1Gbps"];
        let args = [&link[..], &BAD, features].concat();
        let Some(result) = simulate(&args) else { return };
        for end in ["client", "server"] {
            assert_eq!(result[end][0]["end"], "closed", "seed {seed}: {result}");
        }
        let messages = &result["client"][0]["messages"];
        assert_eq!((messages["sent"].as_u64(), messages["failed"].as_u64()), (Some(17), Some(0)), "{result}");
        assert_eq!(result["server"][0]["messages"]["received"], 11, "seed {seed}: {result}");
    }
}

/// A link that loses or reorders far more than any that works: neither end takes the other for dead. The last message but one is
/// a READ, which its peer answers again as long as an answer is missing.
#[test]
fn a_live_peer_is_not_given_up() {
    for faults in [&["--loss", "5%"][..], &["--reorder", "10%"], &["--loss", "1%", "--reorder", "1%"]] {
        for seed in 1..=20 {
            let seed = seed.to_string();
            let args = [&["--bytes", "150KB", "--fast", "--seed", &seed], faults].concat();
            let Some(result) = simulate(&args) else { return };
            for end in ["client", "server"] {
                assert_eq!(result[end][0]["end"], "closed", "{args:?}: {result}");
            }
        }
    }
}

#[test]
fn compiled_it_does_the_same() {
    let args = [&["--bytes", "2MB", "--seed", "5", "--message", "9999"][..], &BAD].concat();
    let compiled = [&args[..], &["--compiled"]].concat();
    let (Some(interpreted), Some(compiled)) = (simulate(&args), simulate(&compiled)) else { return };
    assert_eq!(interpreted, compiled);
}

#[test]
fn selective_repeat_sends_less_again() {
    let again = |args: &[&str]| {
        let link = ["--bytes", "2MB", "--seed", "3", "--rate", "1Gbps", "--delay", "100us"];
        let result = simulate(&[&link, args].concat()).expect("no C compiler is needed");
        result["retransmitted_packets"].as_u64().expect("they are counted")
    };
    assert_eq!(again(&[]), 0);
    let (all, gaps) = (again(&["--loss", "1%"]), again(&["--loss", "1%", "--with", "selective"]));
    assert!(gaps > 10 && gaps * 4 < all, "{all} and {gaps} packets");
}

/// tshark understands every IPv4 packet of a capture.
fn nothing_is_wrong(file: &str) {
    let wrong = "ip && (_ws.malformed || ip.checksum.status == 0 || !infiniband.bth)";
    assert_eq!(tshark(file, &["-Y", wrong]), Vec::<String>::new());
}

fn every_invariant_crc_is_right(packets: &[Vec<u8>]) {
    for packet in packets {
        assert_eq!(wire::invariant_crc(packet).to_le_bytes(), packet[packet.len() - 4..], "{packet:02x?}");
    }
}

#[test]
fn tshark_reads_every_packet_and_every_invariant_crc_is_right() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("capture.pcapng");
    let file = file.to_str().expect("UTF-8");
    let args =
        [&["--bytes", "300KB", "--message", "5001", "--pcap", file][..], &["--loss", "1%", "--seed", "3"]];
    simulate(&args.concat()).expect("no C compiler is needed");
    let packets = packets(&std::fs::read(file).expect("a capture"));
    assert!(packets.len() > 300, "{} packets", packets.len());
    every_invariant_crc_is_right(&packets);
    if lacks("tshark") {
        return;
    }
    nothing_is_wrong(file);
    let count = |filter: &str| tshark(file, &["-Y", filter]).len();
    for opcode in (0..=3).chain([5, 6, 7, 8, 9, 12, 13, 14, 15, 17]) {
        assert!(count(&format!("infiniband.bth.opcode == {opcode}")) > 0, "opcode {opcode}");
    }
    let crcs = tshark(file, &["-T", "fields", "-e", "infiniband.invariant.crc"]);
    let ours = packets.iter().map(|p| u32::from_be_bytes(p[p.len() - 4..].try_into().expect("four octets")));
    let ours: Vec<String> = ours.map(|crc| format!("0x{crc:08x}")).collect();
    assert_eq!(crcs, ours, "tshark finds the CRC where it is");
    assert!(count("infiniband.reth && infiniband.reth.dmalen == 5001") > 0);
    assert!(count("infiniband.immdt") > 0);
    assert!(count("infiniband.aeth.syndrome == 0x1f") > 0);
    assert!(count("infiniband.aeth.syndrome == 0x60") > 0, "something was lost");
    assert!(count("infiniband.bth.padcnt == 3") > 0, "the last packet of a message of 5001 octets");
}

/// A window far beyond the link's queue: without congestion control most of it is lost, again and again.
#[test]
fn notifications_keep_the_queue_from_overflowing() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("capture.pcapng");
    let file = file.to_str().expect("UTF-8");
    let link = ["--rate", "1Gbps", "--delay", "20us", "--queue", "100", "--ecn-threshold", "20"];
    let args = [&link[..], &["--bytes", "5MB", "--set", "window=256", "--pcap", file]].concat();
    let without = simulate(&args).expect("no C compiler is needed");
    let with = simulate(&[&args[..], &["--with", "dcqcn"]].concat()).expect("no C compiler is needed");
    let took = |result: &Value| result["completion_ns"].as_u64().expect("it completed");
    assert!(took(&with) * 3 < took(&without), "{} ns and {} ns", took(&with), took(&without));
    let packets = packets(&std::fs::read(file).expect("a capture"));
    let notifications: Vec<_> = packets.iter().filter(|p| p[28] == 0x81).collect();
    assert!(notifications.len() > 20, "{} notifications", notifications.len());
    for packet in notifications {
        assert_eq!(
            (packet.len(), packet[32], &packet[36..56]),
            (60, 0x40, &[0; 20][..]),
            "BECN and nothing else"
        );
        assert_eq!(wire::invariant_crc(packet).to_le_bytes(), packet[56..]);
    }
}
