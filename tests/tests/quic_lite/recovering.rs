// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is lost, and when that is believed (RFC 9002).

use s2n_quic_core::frame::Stream;

use crate::peer::{MS, Peer};
use crate::wire::{Heard, Packet, octets, varint};

/// A connection whose server has so many bytes to send, and the packets that it sent at once.
pub fn sending(count: usize) -> (Peer, Vec<Packet>) {
    let mut peer = Peer::connected();
    let data: &[u8] = b"send";
    let stream_id = varint(0);
    peer.say(&octets(&Stream { stream_id, offset: varint(0), is_last_frame: false, is_fin: true, data }));
    let stream = peer.accept_stream();
    let sent = peer.send(stream, &vec![9; count]);
    (peer, sent)
}

fn offsets(packets: &[Packet]) -> Vec<u64> {
    let all = packets.iter().flat_map(Packet::heard);
    all.filter_map(|h| if let Heard::Stream { offset, .. } = h { Some(offset) } else { None }).collect()
}

/// An acknowledgement of packets from one number to another.
fn acknowledge(from: u32, to: u32) -> Vec<u8> {
    let number = |n: u32| octets(&varint(n.into()));
    [vec![2], number(to), vec![0, 0], number(to - from)].concat()
}

/// RFC 9002 §7.2
#[test]
fn the_first_window_is_ten_packets() {
    let (_, sent) = sending(100_000);
    let octets: usize = sent.iter().map(|p| p.size).sum();
    assert!((9..=11).contains(&sent.len()), "{} packets", sent.len());
    assert!(octets <= 14_720, "{octets} octets");
}

/// RFC 9002 §6.1.1
#[test]
fn three_later_packets_tell_that_one_is_lost() {
    let (mut peer, sent) = sending(9_000);
    peer.now += 20 * MS;
    let first = sent[0].number;
    let packet = peer.packet(acknowledge(first + 1, first + 2));
    assert!(!offsets(&peer.tell(&packet)).contains(&0), "two are not enough");
    let packet = peer.packet(acknowledge(first + 1, first + 3));
    let again = peer.tell(&packet);
    assert!(offsets(&again).contains(&0), "{again:?}");
    assert!(again.iter().all(|p| p.number > sent.last().expect("packets").number), "in packets of their own");
}

/// RFC 9002 §6.1.2: 9/8 of the round-trip time
#[test]
fn time_tells_that_a_packet_is_lost() {
    let (mut peer, sent) = sending(9_000);
    let begin = peer.now;
    peer.now += 80 * MS;
    let first = sent[0].number;
    let packet = peer.packet(acknowledge(first + 1, first + 1));
    assert!(!offsets(&peer.tell(&packet)).contains(&0));
    let (at, _) = peer
        .wait(200 * MS)
        .into_iter()
        .find(|(_, p)| offsets(std::slice::from_ref(p)).contains(&0))
        .expect("again");
    let after = (at - begin) / MS;
    assert!((81..=100).contains(&after), "after {after} ms");
}

/// RFC 9002 §6.2: a probe, then another after twice the time
#[test]
fn silence_is_answered_by_probes() {
    let (mut peer, _) = sending(3_000);
    let probes: Vec<u64> = peer.wait(20_000 * MS).into_iter().map(|(at, _)| at).collect();
    assert!(probes.len() >= 4, "{probes:?}");
    let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for pair in gaps.windows(2) {
        let ratio = pair[1] as f64 / pair[0] as f64;
        assert!((1.9..2.1).contains(&ratio), "{gaps:?}");
    }
}

/// RFC 9002 §7.3.2: once a round trip
#[test]
fn loss_halves_the_window_once() {
    let (mut peer, sent) = sending(200_000);
    peer.now += 20 * MS;
    let first = sent[0].number;
    let last = sent[sent.len() - 1].number;
    // All but two, one behind the other.
    let packet = peer.packet(acknowledge(first + 2, last));
    let after: Vec<Packet> = peer.tell(&packet);
    let octets: usize = after.iter().map(|p| p.size).sum();
    assert!(octets <= 14_720 / 2 + 1_500, "{octets} octets at once");
    assert!(offsets(&after).contains(&0));
}

/// RFC 9000 §13.2.1, §13.2.2
#[test]
fn every_second_packet_is_acknowledged_at_once_and_others_after_a_while() {
    let mut peer = Peer::connected();
    peer.wait(2_000 * MS);
    let is_ack = |heard: &[Heard]| heard.iter().any(|h| matches!(h, Heard::Ack(_)));
    assert!(!is_ack(&peer.say(&[1])));
    assert!(is_ack(&peer.say(&[1])));
    assert!(!is_ack(&peer.say(&[1])));
    let begin = peer.now;
    let later = peer.wait(100 * MS);
    let (at, _) = later.iter().find(|(_, p)| is_ack(&p.heard())).expect("an acknowledgement");
    assert_eq!(at - begin, 25 * MS);
    // What is out of order is acknowledged at once.
    peer.number += 1;
    assert!(is_ack(&peer.say(&[1])));
}

/// RFC 9000 §10.1
#[test]
fn a_peer_that_is_silent_is_forgotten() {
    let (mut peer, _) = sending(3_000);
    peer.wait(200_000 * MS);
    assert_eq!(peer.core.open_contexts(), 1, "the listener");
}
