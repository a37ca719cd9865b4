// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender of messages: handshake, segments, channels, timeouts, windows.

use carrick_interp::Data;

use crate::end::{End, HERE, MILLISECOND, MSS, PEER, PEER_KEY, PORT, program};
use crate::wire::{ANSWER, ASK, CONFIRM, MSG_ACK, PRX, PTX, Packet};

const INVALID: u8 = 8;
const RESET: u8 = 3;
const TIMED_OUT: u8 = 4;
const BUSY: u8 = 10;
/// Packets of a new window.
const INITIAL: usize = 10;

fn end(features: &[&str]) -> (End, u64) {
    let mut end = End::new(&program(features), HERE, 1);
    let handle = end.open(PEER);
    (end, handle)
}

fn octets(len: u32) -> Vec<u8> {
    (0..len).map(|n| (n % 251) as u8).collect()
}

#[test]
fn three_packets_open_a_connection() {
    let (mut end, handle) = end(&[]);
    assert_eq!(end.sent(), []);
    end.send(handle, &octets(10));
    let ask = end.sent();
    let [Packet { opening: Some((ASK, key, 0)), tos: 224, vc: 64, .. }] = ask[..] else { panic!("{ask:?}") };
    assert_eq!(u32::from(ask[0].seg_no), MSS);
    // Nothing is sent to a peer that does not name the key; the question is repeated.
    end.give(&end.opening(ANSWER, key ^ 1)).expect("it is taken");
    assert_eq!(end.wait(MILLISECOND), ask);
    end.give(&end.opening(ANSWER, key)).expect("it is taken");
    let sent = end.sent();
    assert_eq!(sent[0].opening, Some((CONFIRM, key, PEER_KEY)));
    assert!(sent.len() == 2 && sent[1].payload == octets(10), "{sent:?}");
}

/// Data can overtake the third packet. It is kept, but not acknowledged: the peer has not proved that it is there.
#[test]
fn what_overtakes_the_third_packet_is_delivered_after_it() {
    for trusted in [true, false] {
        let (mut end, handle) = end(&[]);
        let receiving = end.receive(handle);
        end.give(&end.opening(ASK, 0)).expect("it is taken");
        let answer = end.sent().pop().expect("an answer");
        let Some((ANSWER, key, PEER_KEY)) = answer.opening else { panic!("{answer:?}") };
        let mut first = end.peer_packet(5001);
        (first.msg_len, first.payload) = (10, octets(10));
        end.give(&first).expect("it is taken");
        end.give(&first).expect("it is taken");
        let asked = end.sent();
        assert!(asked.len() == 1 && matches!(asked[0].opening, Some((ASK, ..))), "{asked:?}");
        assert!(end.outcome(receiving).is_none());
        let mut confirm = end.opening(CONFIRM, key);
        if !trusted {
            confirm.opening = Some((CONFIRM, PEER_KEY + 1, key));
        }
        end.give(&confirm).expect("it is taken");
        let acknowledged: Vec<_> = end.sent().iter().map(|p| (p.acks, p.msg_no)).collect();
        assert_eq!(acknowledged, if trusted { vec![(MSG_ACK, 5001)] } else { vec![] });
        assert_eq!(end.outcome(receiving).and_then(|d| d.data), trusted.then(|| octets(10)));
        end.give(&first).expect("it is taken");
        assert_eq!(end.sent().pop().map(|p| (p.acks, p.msg_no)), Some((MSG_ACK, 5001)));
    }
}

/// Appendix A, byte for byte.
#[test]
fn the_header_is_that_of_the_appendix() {
    let (mut end, handle) = end(&[]);
    let (_, sent) = end.connect(handle, &octets(2500));
    let last = sent.last().expect("three segments");
    let header = &last.encode()[20..40];
    let number = last.msg_no.to_be_bytes();
    assert_eq!(header[..6], [0, 7, 0, 7, 520_u16.to_be_bytes()[0], 520_u16.to_be_bytes()[1]]);
    assert_eq!(header[8..], [&number[..], &[0, 2, 0], &2500_u32.to_be_bytes(), &[0]].concat());
    assert_eq!((last.sport, last.payload.len()), (PORT, 500));
}

#[test]
fn a_message_is_sent_in_segments_and_completes_when_it_is_acknowledged() {
    let (mut end, handle) = end(&[]);
    let (token, sent) = end.connect(handle, &octets(2500));
    let numbers: Vec<_> = sent.iter().map(|p| (p.seg_no, p.msg_len, p.payload.len())).collect();
    assert_eq!(numbers, [(0, 2500, 1000), (1, 2500, 1000), (2, 2500, 500)]);
    assert_eq!(sent.iter().flat_map(|p| p.payload.clone()).collect::<Vec<_>>(), octets(2500));
    // Of another channel or number it is no acknowledgement of this message.
    let right = end.answer(&sent[0], MSG_ACK);
    for wrong in [Packet { vc: 1, ..right.clone() }, Packet { msg_no: right.msg_no + 1, ..right.clone() }] {
        end.give(&wrong).expect("it is taken");
        assert!(end.outcome(token).is_none());
    }
    end.give(&right).expect("it is taken");
    assert_eq!(end.outcome(token).map(|d| (d.status, d.value)), Some((0, 2500)));
    assert_eq!(end.wait(1000 * MILLISECOND), []);
}

#[test]
fn without_an_acknowledgement_the_whole_message_is_sent_again() {
    let (mut end, handle) = end(&[]);
    let (token, sent) = end.connect(handle, &octets(2500));
    assert_eq!(end.wait(MILLISECOND - 1), []);
    assert_eq!(end.wait(1), sent);
    assert_eq!(end.wait(MILLISECOND), sent);
    while end.deadline().is_some() {
        end.wait(100 * MILLISECOND);
    }
    assert_eq!(end.status(token), TIMED_OUT);
}

#[test]
fn each_message_in_flight_has_a_channel_of_its_own() {
    let (mut end, handle) = end(&["congestion=links"]);
    let (_, first) = end.connect(handle, &octets(8));
    for _ in 0..40 {
        end.send(handle, &octets(8));
    }
    let mut sent = first;
    sent.extend(end.sent());
    assert_eq!(sent.len(), INITIAL, "a packet each: as many as the window takes");
    let mut out = Vec::new();
    while let Some(packet) = sent.pop() {
        assert!(out.iter().all(|p: &Packet| p.vc != packet.vc), "{packet:?} beside {out:?}");
        out.push(packet);
    }
    // The window grows; the peer has 16 channels.
    for _ in 0..12 {
        let oldest = out.pop().expect("in flight");
        end.give(&end.answer(&oldest, MSG_ACK)).expect("it is taken");
        for packet in end.sent() {
            assert!(out.iter().all(|p| p.vc != packet.vc) && packet.vc < 16, "{packet:?} beside {out:?}");
            out.insert(0, packet);
        }
        assert!(out.len() <= 16);
    }
    assert_eq!(out.len(), 16);
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let (mut end, handle) = end(&[]);
    let empty = end.call("send", handle, &[("len", 0)], Data::Send(&[]));
    assert_eq!(end.status(empty), INVALID);
    // The peer takes 64000 bytes.
    let (token, _) = end.connect(handle, &octets(70_000));
    assert_eq!(end.status(token), INVALID);
    let tokens: Vec<u64> = (0..200).map(|_| end.send(handle, &octets(8))).collect();
    assert_eq!(end.status(*tokens.last().expect("200")), BUSY);
}

/// The peer is another than before: it may have what the earlier one has had, so that nothing in flight is sent to it.
#[test]
fn messages_in_flight_fail_when_the_peer_begins_anew() {
    let (mut end, handle) = end(&[]);
    let (token, sent) = end.connect(handle, &octets(10));
    let mut ask = end.opening(ASK, 0);
    ask.opening = Some((ASK, PEER_KEY + 1, 0));
    end.give(&ask).expect("it is taken");
    let answer = end.sent().pop().expect("an answer");
    let Some((ANSWER, key, _)) = answer.opening else { panic!("{answer:?}") };
    assert_eq!(answer.msg_no, sent[0].msg_no, "what follows is above it");
    // An old packet perhaps: nothing is given up before the third packet.
    assert!(end.outcome(token).is_none());
    ask.opening = Some((CONFIRM, PEER_KEY + 1, key));
    end.give(&ask).expect("it is taken");
    assert_eq!(end.status(token), RESET);
    let after = end.send(handle, &octets(10));
    let again = end.sent().pop().expect("it is sent");
    end.give(&end.answer(&again, MSG_ACK)).expect("it is taken");
    assert_eq!(end.status(after), 0);
}

/// The third packet was lost: the peer asks, and is answered.
#[test]
fn a_peer_that_missed_the_third_packet_is_answered() {
    let (mut end, handle) = end(&[]);
    let (token, sent) = end.connect(handle, &octets(10));
    end.give(&end.opening(ASK, 0)).expect("it is taken");
    let answer = end.sent();
    assert!(answer.len() == 1 && matches!(answer[0].opening, Some((ANSWER, _, PEER_KEY))), "{answer:?}");
    assert_eq!(sent[0].msg_no.wrapping_sub(answer[0].msg_no), 1, "what is in flight is for this peer");
    end.give(&end.answer(&sent[0], MSG_ACK)).expect("it is taken");
    assert_eq!(end.status(token), 0);
}

/// Section 5.1.
#[test]
fn a_message_in_a_pathlet_waits_longer() {
    let (mut end, handle) = end(&[]);
    let (_, sent) = end.connect(handle, &octets(10));
    end.wait(MILLISECOND / 2);
    end.give(&end.answer(&sent[0], PRX)).expect("it is taken");
    assert_eq!(end.wait(50 * MILLISECOND - 1), []);
    assert_eq!(end.wait(1), sent);
    // Back in the network: the short timeout from now on.
    end.give(&end.answer(&sent[0], PRX)).expect("it is taken");
    assert_eq!(end.wait(MILLISECOND), []);
    end.give(&end.answer(&sent[0], PTX)).expect("it is taken");
    assert_eq!(end.wait(MILLISECOND - 1), []);
    assert_eq!(end.wait(1), sent);
}

#[test]
fn with_a_single_timeout_it_does_not() {
    let (mut end, handle) = end(&["-dual_rto"]);
    let (_, sent) = end.connect(handle, &octets(10));
    end.wait(MILLISECOND / 2);
    end.give(&end.answer(&sent[0], PRX)).expect_err("it says nothing to this build");
    assert_eq!(end.wait(MILLISECOND / 2), sent);
}
