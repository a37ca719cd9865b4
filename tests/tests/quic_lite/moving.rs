// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that are somewhere else all at once (RFC 9000 §8, §9).

use s2n_quic_core::frame::{PathChallenge, PathResponse, Stream};

use crate::peer::{CLIENT, MS, Peer};
use crate::wire::{Heard, Packet, octets, varint};

fn challenge(packets: &[Packet]) -> [u8; 8] {
    let all = packets.iter().flat_map(Packet::heard);
    let mut all = all.filter_map(|h| if let Heard::Challenge(nonce) = h { Some(nonce) } else { None });
    all.next().expect("a PATH_CHALLENGE")
}

/// A connection on which the server has 100 KB to send, and its window is not full.
fn busy() -> Peer {
    let mut peer = Peer::connected();
    let data: &[u8] = b"send";
    let stream_id = varint(0);
    peer.say(&octets(&Stream { stream_id, offset: varint(0), is_last_frame: false, is_fin: true, data }));
    let stream = peer.accept_stream();
    peer.send(stream, &[9; 100_000]);
    peer
}

/// An acknowledgement of all that the server has sent.
fn acknowledgement(up_to: u32) -> Vec<u8> {
    let up_to = octets(&varint(up_to.into()));
    [&[2][..], &up_to, &[0, 0], &up_to].concat()
}

#[test]
fn a_client_with_another_port_is_asked_whether_it_is_there() {
    let mut peer = busy();
    peer.address.1 = 6000;
    let packet = peer.packet(vec![1]);
    let answer = peer.tell(&packet);
    assert!(answer.iter().all(|p| p.to == (CLIENT.0, 6000)), "{answer:?}");
    let asking = answer.iter().find(|p| p.heard().iter().any(|h| matches!(h, Heard::Challenge(_))));
    let nonce = challenge(&answer);
    assert!(asking.expect("it is asked").payload.len() < 1500);
    let sent = answer.iter().map(|p| p.number).max().expect("packets");
    let mut frames = octets(&PathResponse { data: &nonce });
    frames.extend(acknowledgement(sent));
    let packet = peer.packet(frames);
    let answer = peer.tell(&packet);
    assert!(answer.len() > 3, "data goes there: {answer:?}");
    assert!(answer.iter().all(|p| p.to == (CLIENT.0, 6000)), "{answer:?}");
}

/// No more than three times what came from there (RFC 9000 §8).
#[test]
fn an_address_that_is_not_known_gets_little() {
    let mut peer = busy();
    peer.address = (0x0a00_0063, 6000);
    let packet = peer.packet([vec![1], vec![0; 600]].concat());
    let came = packet.write().len() - 28;
    let answer = peer.tell(&packet);
    challenge(&answer);
    let went: usize = answer.iter().filter(|p| p.to == peer.address).map(|p| p.size).sum();
    assert!(went <= 3 * came, "{went} octets for {came}");
}

#[test]
fn nobody_answers_at_the_new_address() {
    let mut peer = busy();
    peer.address = (0x0a00_0063, 6000);
    let packet = peer.packet([vec![1], vec![0; 600]].concat());
    peer.tell(&packet);
    let later = peer.wait(20_000 * MS);
    let last = &later.last().expect("probes").1;
    assert_eq!(last.to, CLIENT, "back where the client was");
}

#[test]
fn a_wrong_answer_does_not_count() {
    let mut peer = busy();
    peer.address = (0x0a00_0063, 6000);
    let packet = peer.packet([vec![1], vec![0; 600]].concat());
    peer.tell(&packet);
    peer.say(&octets(&PathResponse { data: &[1; 8] }));
    let last = peer.wait(20_000 * MS).pop().expect("probes").1;
    assert_eq!(last.to, CLIENT);
}

/// A packet with nothing but probing frames does not move the connection (RFC 9000 §9.1); its challenge is answered there.
#[test]
fn a_client_may_try_another_path_first() {
    let mut peer = Peer::connected();
    peer.address.1 = 6000;
    let packet = peer.packet(octets(&PathChallenge { data: &[3; 8] }));
    let answer = peer.tell(&packet);
    let response = answer.iter().find(|p| p.heard().contains(&Heard::Response([3; 8]))).expect("an answer");
    assert_eq!(response.to, (CLIENT.0, 6000));
    assert!(response.size >= 1200, "{} octets", response.size);
    assert!(answer.iter().all(|p| !p.heard().iter().any(|h| matches!(h, Heard::Challenge(_)))));
}

/// An old packet that comes from elsewhere moves nothing (RFC 9000 §9.3).
#[test]
fn only_the_newest_packet_tells_where_the_client_is() {
    let mut peer = Peer::connected();
    let mut old = peer.packet(vec![1]);
    peer.say(&[1]);
    old.from = (0x0a00_0063, 6000);
    let answer = peer.tell(&old);
    assert!(answer.iter().all(|p| p.to == CLIENT), "{answer:?}");
}

/// Each end gives the other a second id; one that is retired is replaced (RFC 9000 §5.1.1).
#[test]
fn a_connection_is_found_by_each_of_its_ids() {
    let mut peer = Peer::connected();
    let first = peer.dcid;
    let given = peer.wait(2_000 * MS).into_iter().flat_map(|(_, p)| p.heard());
    let mut ids =
        given.filter_map(|h| if let Heard::NewId { number, cid } = h { Some((number, cid)) } else { None });
    let (number, cid) = ids.next().expect("a NEW_CONNECTION_ID");
    assert_eq!(number, 1);
    assert_ne!(cid as u32, first as u32, "nobody sees that they belong together");
    peer.dcid = cid;
    let heard = peer.say(&[0x19, 0, 1]);
    assert!(heard.iter().any(|h| matches!(h, Heard::NewId { number: 2, .. })), "{heard:?}");
    peer.dcid = first;
    assert_eq!(peer.say(&[1]), [], "the first is not there any more");
}
