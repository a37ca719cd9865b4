// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that a switch may mark, and what is said of marks (RFC 9000 §13.4, RFC 9002 §7.1).

use crate::peer::{MS, Peer};
use crate::recovering::sending;
use crate::wire::{Heard, Packet, octets, varint};

/// codepoints of RFC 3168 §5
const NOT_ECT: u8 = 0;
const ECT1: u8 = 1;
const ECT0: u8 = 2;
const CE: u8 = 3;

/// An acknowledgement of all packets up to these that says how many came with ECT(0), ECT(1) and CE; none: it does not say.
fn acknowledge(packets: &[Packet], counts: Option<[u64; 3]>) -> Vec<u8> {
    let last = packets[packets.len() - 1].number.into();
    let number = |n: u64| octets(&varint(n));
    let kind = if counts.is_some() { 3 } else { 2 };
    let counts: Vec<u8> = counts.into_iter().flatten().flat_map(number).collect();
    [vec![kind], number(last), vec![0, 0], number(last), counts].concat()
}

/// What is said of so many packets that were sent with ECT(0).
type Counts = fn(u64) -> Option<[u64; 3]>;

fn marked(packets: &[Packet]) -> u64 {
    packets.iter().filter(|packet| packet.mark == ECT0).count() as u64
}

/// A server that has much to send, after its first window was acknowledged so; what it sends then.
fn acknowledged(counts: Counts) -> (Peer, Vec<Packet>) {
    let (mut peer, sent) = sending(200_000);
    assert!(marked(&sent) > 3 && peer.markable == 10, "{sent:?}");
    peer.now += 20 * MS;
    let packet = peer.packet(acknowledge(&sent, counts(peer.markable)));
    let after = peer.tell(&packet);
    assert!(after.len() > 3, "{after:?}");
    (peer, after)
}

fn data(packets: &[Packet]) -> usize {
    let streams = |packet: &&Packet| packet.heard().iter().any(|h| matches!(h, Heard::Stream { .. }));
    packets.iter().filter(streams).map(|packet| packet.size).sum()
}

#[test]
fn what_came_is_counted_and_marks_are_told_at_once() {
    let mut peer = Peer::connected();
    let mut come = |mark: u8| {
        let mut packet = peer.packet(vec![1]);
        packet.mark = mark;
        let answer = peer.tell(&packet);
        // The same packet, doubled on the way, is not counted again.
        assert!(peer.tell(&packet).iter().all(|again| again.counts() == Some(counts(&answer))));
        counts(&answer)
    };
    assert_eq!(come(CE), [0, 0, 1]);
    assert_eq!(come(CE), [0, 0, 2]);
    let mut packet = peer.packet(vec![1]);
    packet.mark = ECT0;
    assert!(peer.tell(&packet).iter().all(|p| p.counts().is_none()), "one that is not marked can wait");
    packet = peer.packet(vec![1]);
    packet.mark = ECT1;
    assert_eq!(counts(&peer.tell(&packet)), [1, 1, 2]);
}

fn counts(packets: &[Packet]) -> [u64; 3] {
    packets.iter().find_map(Packet::counts).expect("counts")
}

/// RFC 9000 appendix A.4
#[test]
fn ten_packets_test_a_path_and_no_more_if_nobody_answers() {
    let (mut peer, _) = sending(200_000);
    assert_eq!(peer.markable, 10);
    let probes = peer.wait(20_000 * MS);
    assert!(probes.len() > 3);
    assert!(probes.iter().all(|(_, packet)| packet.mark == NOT_ECT), "{probes:?}");
}

#[test]
fn a_path_that_lets_marks_through_keeps_them() {
    let (_, after) = acknowledged(|marked| Some([marked, 0, 0]));
    assert_eq!(marked(&after), after.len() as u64);
}

/// RFC 9000 §13.4.2.1
#[test]
fn counts_that_cannot_be_end_it() {
    let wrong: [Counts; 5] = [
        |_| None,
        |marked| Some([marked - 1, 0, 0]),
        |marked| Some([marked, 1, 0]),
        |_| Some([1_000, 0, 0]),
        |_| Some([0, 0, 1_000]),
    ];
    for counts in wrong {
        let (_, after) = acknowledged(counts);
        assert_eq!(marked(&after), 0, "{:?}", counts(7));
    }
}

/// RFC 9002 §7.1
#[test]
fn a_mark_halves_the_window_once_a_round_trip() {
    let (_, unmarked) = acknowledged(|marked| Some([marked, 0, 0]));
    let (mut peer, after) = acknowledged(|marked| Some([marked - 1, 0, 1]));
    assert!(data(&after) * 3 < data(&unmarked), "{} and {}", data(&after), data(&unmarked));
    let half = data(&after);
    let mut next = |packets: &[Packet], ce: u64| {
        peer.now += 20 * MS;
        let packet = peer.packet(acknowledge(packets, Some([peer.markable - ce, 0, ce])));
        peer.tell(&packet)
    };
    // What was sent when the window was halved is of the same round trip; what was sent later is not.
    let same = next(&after, 2);
    assert!(data(&same) >= half, "{} after {half}", data(&same));
    let later = next(&same, 3);
    assert!(data(&later) * 4 < half * 3, "{} after {half}", data(&later));
}
