// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that do what RFC 9000 forbids, and what they are told.

use carrick_interp::Data;
use carrick_sim::interface::{Arg, Args, Call, args};
use s2n_quic_core::frame::{NewConnectionId, ResetStream, RetireConnectionId, Stream};

use crate::peer::{CLIENT, MS, Peer, SERVER};
use crate::wire::{Heard, Packet, datagram, octets, varint};

const PROTOCOL_VIOLATION: u64 = 0x0a;
/// What a stream may be ahead of its reader.
const STREAM_WINDOW: u64 = 256 * 1024;
/// Before what was announced is read: all streams together.
const CONNECTION_WINDOW: u64 = 1 << 20;

type Bytes = &'static [u8];

/// A STREAM frame.
fn stream(number: u64, offset: u64, data: Bytes, fin: bool) -> Vec<u8> {
    let stream_id = varint(number);
    octets(&Stream { stream_id, offset: varint(offset), is_last_frame: false, is_fin: fin, data })
}

/// What the frames are answered with: the error of the CONNECTION_CLOSE.
#[track_caller]
fn closed_by(peer: &mut Peer, frames: &[u8]) -> u64 {
    let heard = peer.say(frames);
    match heard[..] {
        [Heard::Close { error, of_transport: true }] => error,
        _ => panic!("not closed: {heard:?}"),
    }
}

/// As [`closed_by`], of a connection that is new.
#[track_caller]
fn error_of(frames: &[u8]) -> u64 {
    closed_by(&mut Peer::connected(), frames)
}

#[test]
fn an_acknowledgement_of_what_was_never_sent() {
    assert_eq!(error_of(&[2, 0x40, 100, 0, 0, 0]), PROTOCOL_VIOLATION);
}

#[test]
fn an_acknowledgement_of_numbers_below_zero() {
    assert_eq!(error_of(&[2, 0, 0, 0, 1]), 0x07);
    assert_eq!(error_of(&[2, 1, 0, 1, 0, 3, 3]), 0x07);
}

#[test]
fn more_data_than_a_stream_may_have() {
    assert_eq!(error_of(&stream(0, STREAM_WINDOW - 3, b"four", false)), 0x03);
    // As much as it may have is taken.
    let heard = Peer::connected().say(&stream(0, STREAM_WINDOW - 4, b"four", false));
    assert!(!heard.iter().any(|h| matches!(h, Heard::Close { .. })), "{heard:?}");
}

#[test]
fn more_data_than_a_connection_may_have() {
    let mut peer = Peer::connected();
    for n in 0..4 {
        let heard = peer.say(&stream(4 * n, STREAM_WINDOW - 4, b"four", false));
        assert!(!heard.iter().any(|h| matches!(h, Heard::Close { .. })), "{heard:?}");
    }
    assert_eq!(4 * STREAM_WINDOW, CONNECTION_WINDOW);
    assert_eq!(closed_by(&mut peer, &stream(16, 0, b"x", false)), 0x03);
}

#[test]
fn more_streams_than_are_allowed() {
    assert_eq!(error_of(&stream(4 * 60, 0, b"x", false)), 0x04);
}

#[test]
fn a_stream_that_goes_one_way() {
    assert_eq!(error_of(&stream(2, 0, b"x", false)), 0x04);
}

#[test]
fn a_stream_of_the_server_that_it_never_opened() {
    assert_eq!(error_of(&stream(1, 0, b"x", false)), 0x05);
}

#[test]
fn a_final_size_that_changes() {
    let mut peer = Peer::connected();
    peer.say(&stream(0, 0, b"all", true));
    assert_eq!(closed_by(&mut peer, &stream(0, 3, b"more", false)), 0x06);
    let mut peer = Peer::connected();
    peer.say(&stream(0, 10, b"late", false));
    let reset =
        ResetStream { stream_id: varint(0), application_error_code: varint(0), final_size: varint(5) };
    assert_eq!(closed_by(&mut peer, &octets(&reset)), 0x06);
}

#[test]
fn a_frame_that_there_is_not() {
    assert_eq!(error_of(&[0x1f]), 0x07);
    assert_eq!(error_of(&[1, 0x40, 0x33]), 0x07);
}

#[test]
fn a_packet_without_frames() {
    assert_eq!(error_of(&[]), PROTOCOL_VIOLATION);
}

/// What is read before the end is not there stands; the packet is not acknowledged, and the next one tells.
#[test]
fn a_frame_that_is_cut_off() {
    let mut peer = Peer::connected();
    let whole = stream(0, 0, b"twelve octets", false);
    for len in 1..whole.len() {
        let mut peer = Peer::connected();
        let heard = peer.say(&whole[..len]);
        assert_eq!(heard, [], "{len} octets");
        assert_eq!(peer.counted("short"), 1, "{len} octets");
        assert_eq!(closed_by(&mut peer, &[1]), 0x07, "{len} octets");
    }
    peer.say(&whole);
    assert_ne!(peer.accept_stream(), 0);
}

#[test]
fn every_octet_cut_off_a_datagram() {
    let mut peer = Peer::connected();
    let whole = peer.packet(stream(0, 0, b"some", true)).write();
    for len in 28..whole.len() {
        let cut = &whole[28..len];
        let mut peer = Peer::connected();
        let heard = peer.throw(&datagram(CLIENT, SERVER, cut));
        let close = |p: &Packet| matches!(p.heard()[..], [Heard::Close { of_transport: true, .. }]);
        assert!(heard.iter().all(close), "{len} octets: {heard:?}");
    }
}

#[test]
fn a_packet_that_comes_again_is_taken_once() {
    let mut peer = Peer::connected();
    let packet = peer.packet(stream(0, 0, b"once", false));
    peer.tell(&packet);
    let stream = peer.accept_stream();
    let recv = |peer: &mut Peer| peer.ask(Call::Recv, stream, args(&[(Arg::Len, 100)]), Data::Recv(100));
    recv(&mut peer);
    assert_eq!(peer.completion().expect("it came").data, Some(b"once".to_vec()));
    recv(&mut peer);
    for _ in 0..3 {
        let heard: Vec<Heard> = peer.tell(&packet).iter().flat_map(Packet::heard).collect();
        assert!(matches!(heard[..], [Heard::Ack(_)]), "it is acknowledged again: {heard:?}");
    }
    assert_eq!(peer.completion(), None);
}

#[test]
fn an_id_that_no_connection_has() {
    let mut peer = Peer::connected();
    let before = peer.counted("no_context");
    peer.dcid ^= 1 << 40;
    assert_eq!(peer.say(&[1]), []);
    assert!(peer.counted("no_context") > before);
}

/// It leads to the connection, but was never given out.
#[test]
fn an_id_that_was_guessed() {
    let mut peer = Peer::connected();
    peer.dcid ^= 1;
    assert_eq!(peer.say(&[1]), []);
}

#[test]
fn what_only_servers_say() {
    assert_eq!(error_of(&[0x1e]), PROTOCOL_VIOLATION);
}

#[test]
fn an_id_retired_that_was_never_given() {
    assert_eq!(error_of(&octets(&RetireConnectionId { sequence_number: varint(9) })), PROTOCOL_VIOLATION);
    // the one that the packet itself goes to
    assert_eq!(error_of(&octets(&RetireConnectionId { sequence_number: varint(0) })), PROTOCOL_VIOLATION);
}

fn new_id(number: u64, retire_before: u64) -> Vec<u8> {
    octets(&NewConnectionId {
        sequence_number: varint(number),
        retire_prior_to: varint(retire_before),
        connection_id: &(100 + number).to_be_bytes(),
        stateless_reset_token: &[7; 16],
    })
}

#[test]
fn more_ids_than_are_allowed() {
    let mut peer = Peer::connected();
    assert!(!peer.say(&new_id(1, 0)).iter().any(|h| matches!(h, Heard::Close { .. })));
    assert_eq!(closed_by(&mut peer, &new_id(2, 0)), 0x09);
}

#[test]
fn ids_that_their_owner_retires_are_used_no_more() {
    let mut peer = Peer::connected();
    let packet = peer.packet(new_id(1, 1));
    let answer = peer.tell(&packet);
    let heard: Vec<Heard> = answer.iter().flat_map(Packet::heard).collect();
    assert!(heard.contains(&Heard::Retire(0)), "{heard:?}");
    assert!(answer.iter().all(|p| p.dcid == 101), "{answer:?}");
}

#[test]
fn a_version_that_the_server_has_not() {
    let mut peer = Peer::new();
    let parameters = peer.parameters();
    let mut opening = peer.opening(&parameters);
    opening.version = 0x0a0a_0a0a;
    let answer = peer.tell(&opening);
    assert_eq!((answer.len(), answer[0].version), (1, 0));
    assert_eq!((answer[0].dcid, answer[0].scid), (opening.scid, opening.dcid));
    assert_eq!(answer[0].payload, crate::wire::VERSION.to_be_bytes());
}

#[test]
fn a_first_packet_that_is_too_short() {
    let mut peer = Peer::new();
    let parameters = peer.parameters();
    let mut opening = peer.opening(&parameters);
    opening.payload.truncate(1000);
    assert!(peer.tell(&opening).is_empty());
}

#[test]
fn a_first_packet_without_parameters() {
    let mut peer = Peer::new();
    let opening = peer.opening(&[]);
    let heard: Vec<Heard> = peer.tell(&opening).iter().flat_map(Packet::heard).collect();
    assert_eq!(heard, [Heard::Close { error: 0x08, of_transport: true }]);
}

#[test]
fn data_before_the_handshake() {
    let mut peer = Peer::new();
    let parameters = peer.parameters();
    let mut opening = peer.opening(&parameters);
    opening.payload.splice(0..0, stream(0, 0, b"early", false));
    let heard: Vec<Heard> = peer.tell(&opening).iter().flat_map(Packet::heard).collect();
    assert_eq!(heard, [Heard::Close { error: PROTOCOL_VIOLATION, of_transport: true }]);
}

#[test]
fn nobody_listens_there() {
    let mut peer = Peer::new();
    let parameters = peer.parameters();
    let mut opening = peer.opening(&parameters);
    opening.to.1 = 99;
    let heard: Vec<Heard> = peer.tell(&opening).iter().flat_map(Packet::heard).collect();
    assert_eq!(heard, [Heard::Close { error: 0x02, of_transport: true }]);
}

#[test]
fn answers_to_a_closed_connection_become_fewer() {
    let mut peer = Peer::connected();
    closed_by(&mut peer, &[0x1f]);
    let answers: usize = (0..50).map(|_| peer.say(&[1]).len()).sum();
    assert_eq!(answers, 8);
    peer.wait(5_000 * MS);
    assert_eq!(peer.core.open_contexts(), 1, "the listener");
}

#[test]
fn the_application_hears_of_the_end() {
    let mut peer = Peer::connected();
    peer.say(&stream(0, 0, b"x", false));
    let stream = peer.accept_stream();
    peer.ask(Call::Recv, stream, args(&[(Arg::Len, 1)]), Data::Recv(1));
    peer.completion().expect("the octet");
    peer.ask(Call::Recv, stream, args(&[(Arg::Len, 1)]), Data::Recv(1));
    peer.ask(Call::AcceptStream, peer.connection, Args::default(), Data::None);
    // CONNECTION_CLOSE of the application
    assert_eq!(peer.say(&[0x1d, 0, 0]), []);
    let ends: Vec<u8> = std::iter::from_fn(|| peer.completion()).map(|done| done.status).collect();
    assert_eq!(ends, [5, 5], "CLOSED");
}

#[test]
fn frames_of_another_implementation_are_read() {
    let mut peer = Peer::connected();
    let frames: Vec<Vec<u8>> =
        [0, 2, 4, 1, 3, 5].iter().map(|i| stream(0, i * 4, b"four", *i == 5)).collect();
    for frame in &frames {
        peer.say(frame);
    }
    let stream = peer.accept_stream();
    peer.ask(Call::Recv, stream, args(&[(Arg::Len, 100)]), Data::Recv(100));
    assert_eq!(peer.completion().expect("bytes").data, Some(b"four".repeat(6)));
}
