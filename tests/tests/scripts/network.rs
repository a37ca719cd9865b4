// SPDX-License-Identifier: MIT OR Apache-2.0
//! What scripts cannot say: of the network layer, and of initial sequence numbers.

use std::sync::Arc;

use carrick_driver::{compile_file, params};
use carrick_interp::{Config, Core, Data, Refused, Request};
use carrick_ir::{NetLayer, Program, counter};
use carrick_sim::ip::mend_checksum;
use carrick_tests::build::root;

use carrick_tests::tcp_segment::{CORE, PEER, Segment};

const SECOND: u64 = 1_000_000_000;

pub fn program() -> Arc<Program> {
    let path = root().join("protocols/tcp/tcp.mtp");
    compile_file(&path).expect("readable").program.expect("without errors")
}

pub fn core(seed: u64, setting: &[String]) -> Core {
    let program = program();
    let params = params::values(&program, setting).expect("right settings");
    Core::new(program, &Config { seed, address: CORE.into(), params, ..Config::default() })
        .expect("the defaults are valid")
}

pub fn call(core: &mut Core, name: &str, handle: u64, args: &[u64], data: Data<'_>, now: u64) {
    let calls = &core.program().interface.as_ref().expect("an interface").calls;
    let number = calls.iter().position(|c| c.name == name).expect("the call is there");
    core.call(number, &Request { handle, token: 9, args, data }, now).expect("it is taken");
}

/// The first packet of a connection to this port of the peer.
fn syn(core: &mut Core, port: u16, now: u64) -> Vec<u8> {
    let args = [u64::from(CORE), 80, u64::from(PEER), u64::from(port)];
    call(core, "connect", 0, &args, Data::None, now);
    let mut packet = Vec::new();
    assert!(core.tx(&mut packet, now), "a SYN goes out");
    packet
}

fn initial_number(seed: u64, port: u16, now: u64) -> u32 {
    let packet = syn(&mut core(seed, &[]), port, now);
    Segment::of_packet(&packet).expect("a segment").0.seq
}

#[test]
fn initial_numbers_go_with_a_clock_and_hide_behind_a_key() {
    let first = initial_number(1, 5000, SECOND);
    let later = initial_number(1, 5000, SECOND + 4_000_000);
    assert_eq!(later.wrapping_sub(first), 1000, "a number every four microseconds");
    let others =
        [initial_number(1, 5001, SECOND), initial_number(2, 5000, SECOND), initial_number(3, 5000, SECOND)];
    for other in others {
        assert!(
            other.abs_diff(first) > 100_000,
            "{other} is near {first}: the key or the connection does not count"
        );
    }
}

#[test]
fn ip_ttl() {
    assert_eq!(syn(&mut core(1, &[]), 5000, SECOND)[8], 64);
    assert_eq!(syn(&mut core(1, &["ip_ttl=7".to_owned()]), 5000, SECOND)[8], 7);
}

fn arriving(text: &str) -> Vec<u8> {
    Segment::read(text).expect("a segment").packet(NetLayer::Ipv4, (5000, 80), (7, 0))
}

/// After a change to its IPv4 header.
fn summed(mut packet: Vec<u8>) -> Vec<u8> {
    mend_checksum(&mut packet);
    packet
}

#[test]
fn packets_for_others_are_dropped() {
    let mut core = core(1, &[]);
    for destination in [[10, 0, 0, 255], [255, 255, 255, 255], [224, 0, 0, 5], [10, 0, 0, 3]] {
        let mut packet = arriving("S 0:0 win 1000");
        packet[16..20].copy_from_slice(&destination);
        assert!(matches!(core.rx(&summed(packet), SECOND), Err(Refused::Dropped(_))));
    }
    assert!(!core.tx(&mut Vec::new(), SECOND), "nothing answers");
    assert_eq!(core.counters()[counter("ip_address")], 4);
}

#[test]
fn ip_options_are_skipped() {
    let mut core = core(1, &[]);
    let mut packet = arriving("S 0:0 win 1000");
    // A router alert, then no-operations.
    packet.splice(20..20, [0x94, 4, 0, 0, 1, 1, 1, 0]);
    packet[0] = 0x47;
    let len = packet.len() as u16;
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    core.rx(&summed(packet), SECOND).expect("it is read");
    let mut answer = Vec::new();
    assert!(core.tx(&mut answer, SECOND), "nobody listens: a reset");
}

/// A segment with this data offset, and with a payload that would be options without a mistake.
fn with_data_offset(offset: u8) -> Vec<u8> {
    const END_OF_OPTIONS: u8 = 0;
    const PAYLOAD: u16 = 256;
    let mut packet = arriving("S 0:0 win 1000");
    let taken = packet[32] >> 4;
    packet[32] = offset << 4 | packet[32] & 0xf;
    packet.extend([END_OF_OPTIONS; PAYLOAD as usize]);
    let len = packet.len() as u16;
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    // The urgent pointer, which counts for nothing here, keeps the checksum right: of the length and the offset.
    let more = i64::from(PAYLOAD) - (i64::from(taken - offset) << 12);
    let pointer = (-more).rem_euclid(0xffff) as u16;
    packet[38..40].copy_from_slice(&pointer.to_be_bytes());
    summed(packet)
}

/// RFC 9293 §3.1: the header has five words at least. The payload behind it is not read as options.
#[test]
fn a_data_offset_below_five_is_malformed() {
    for offset in 0..5 {
        let mut core = core(1, &[]);
        assert!(matches!(core.rx(&with_data_offset(offset), SECOND), Err(Refused::Dropped(_))), "{offset}");
        assert_eq!(core.counters()[counter("bad_options")], 1, "{offset}");
        assert!(!core.tx(&mut Vec::new(), SECOND), "{offset}: nothing answers");
    }
    let mut core = core(1, &[]);
    core.rx(&with_data_offset(5), SECOND).expect("it is read");
    assert!(core.tx(&mut Vec::new(), SECOND), "nobody listens: a reset");
}

#[test]
fn icmp_errors_do_not_end_a_connection() {
    let mut core = core(1, &[]);
    let sent = syn(&mut core, 5000, SECOND);
    for (kind, code) in [(3, 0), (3, 1), (3, 5), (4, 0), (11, 0), (12, 0)] {
        let mut packet = arriving("S 0:0");
        packet.truncate(20);
        packet.extend_from_slice(&[kind, code, 0, 0, 0, 0, 0, 0]);
        packet.extend_from_slice(&sent[..28]);
        packet[9] = 1;
        let len = packet.len() as u16;
        packet[2..4].copy_from_slice(&len.to_be_bytes());
        assert!(matches!(core.rx(&summed(packet), SECOND), Err(Refused::Dropped(_))));
    }
    assert_eq!(core.next_completion(), None, "the connection is still being opened");
    assert_eq!(core.open_contexts(), 1);
}
