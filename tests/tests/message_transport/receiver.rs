// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver of messages: each is delivered once, whatever arrives in which order.

use crate::end::{End, HERE, MSS, PEER, PEER_BELOW, PEER_KEY, program};
use crate::wire::{ANSWER, ASK, CONFIRM, MSG_ACK, Packet};

/// An end that is connected to the peer that the test plays.
fn connected() -> (End, u64) {
    let mut end = End::new(&program(&[]), HERE, 1);
    let handle = end.open(PEER);
    end.give(&end.opening(ASK, 0)).expect("it is taken");
    let answer = end.sent().pop().expect("an answer");
    let Some((ANSWER, key, PEER_KEY)) = answer.opening else { panic!("{answer:?}") };
    end.give(&end.opening(CONFIRM, key)).expect("it is taken");
    assert_eq!(end.sent(), []);
    (end, handle)
}

const NONE: [u32; 0] = [];

fn octets(len: usize, number: u32) -> Vec<u8> {
    (0..len).map(|n| (n as u32 * 7 + number) as u8).collect()
}

/// The segments of a message of the peer: the one with this number above the first.
fn message(end: &End, number: u32, vc: u8, len: usize) -> Vec<Packet> {
    let all = octets(len, number);
    let parts = all.chunks(MSS as usize).enumerate();
    let part = |(at, part): (usize, &[u8])| Packet {
        seg_no: at as u16,
        vc,
        msg_len: len as u32,
        payload: part.to_vec(),
        ..end.peer_packet(PEER_BELOW + number)
    };
    parts.map(part).collect()
}

/// Gives a packet. Returns the numbers of the messages that are acknowledged.
fn acknowledged(end: &mut End, packet: &Packet) -> Vec<u32> {
    end.give(packet).expect("it is taken");
    let sent = end.sent();
    assert!(sent.iter().all(|p| p.acks == MSG_ACK && p.vc == packet.vc && p.tos == 224), "{sent:?}");
    sent.iter().map(|p| p.msg_no - PEER_BELOW).collect()
}

#[track_caller]
fn takes(end: &mut End, handle: u64, number: u32, len: usize) {
    let token = end.receive(handle);
    let done = end.outcome(token).expect("a message is ready");
    assert_eq!((done.status, done.data.as_deref()), (0, Some(&octets(len, number)[..])));
}

#[track_caller]
fn nothing_is_ready(end: &mut End, handle: u64) {
    let token = end.receive(handle);
    assert!(end.outcome(token).is_none());
}

#[test]
fn segments_arrive_in_any_order_and_the_last_is_acknowledged() {
    let (mut end, handle) = connected();
    let parts = message(&end, 1, 3, 4200);
    for at in [4, 2, 2, 0, 1] {
        assert_eq!(acknowledged(&mut end, &parts[at]), NONE);
    }
    assert_eq!(acknowledged(&mut end, &parts[3]), [1]);
    takes(&mut end, handle, 1, 4200);
}

#[test]
fn what_arrives_again_is_acknowledged_again_and_delivered_once() {
    let (mut end, handle) = connected();
    let parts = message(&end, 1, 0, 10);
    assert_eq!(acknowledged(&mut end, &parts[0]), [1]);
    assert_eq!(acknowledged(&mut end, &parts[0]), [1]);
    takes(&mut end, handle, 1, 10);
    assert_eq!(acknowledged(&mut end, &parts[0]), [1]);
    nothing_is_ready(&mut end, handle);
}

#[test]
fn messages_of_other_channels_wait_for_none() {
    let (mut end, handle) = connected();
    let first = message(&end, 1, 0, 2000);
    assert_eq!(acknowledged(&mut end, &first[0]), NONE);
    for number in 2..6 {
        let parts = message(&end, number, number as u8, 10);
        assert_eq!(acknowledged(&mut end, &parts[0]), [number]);
        takes(&mut end, handle, number, 10);
    }
    assert_eq!(acknowledged(&mut end, &first[1]), [1]);
    takes(&mut end, handle, 1, 2000);
}

/// Section 5.2.
#[test]
fn in_a_channel_a_later_message_replaces_and_an_earlier_one_does_not_come_back() {
    let (mut end, handle) = connected();
    let (old, new) = (message(&end, 4, 0, 2000), message(&end, 9, 0, 2000));
    assert_eq!(acknowledged(&mut end, &old[0]), NONE);
    assert_eq!(acknowledged(&mut end, &new[0]), NONE);
    // The sender has given up the old one.
    assert_eq!(acknowledged(&mut end, &old[1]), NONE);
    assert_eq!(acknowledged(&mut end, &new[1]), [9]);
    takes(&mut end, handle, 9, 2000);
    for part in &old {
        assert_eq!(acknowledged(&mut end, part), [4]);
    }
    nothing_is_ready(&mut end, handle);
}

#[test]
fn a_message_that_is_changed_on_its_second_way_begins_anew() {
    let (mut end, handle) = connected();
    let (one, other) = (message(&end, 1, 0, 2500), message(&end, 1, 0, 1700));
    assert_eq!(acknowledged(&mut end, &one[0]), NONE);
    assert_eq!(acknowledged(&mut end, &one[1]), NONE);
    assert_eq!(acknowledged(&mut end, &other[1]), NONE);
    assert_eq!(acknowledged(&mut end, &other[0]), [1]);
    takes(&mut end, handle, 1, 1700);
}

#[test]
fn packets_that_cannot_be_change_nothing() {
    let (mut end, handle) = connected();
    let right = message(&end, 1, 0, 2500).remove(0);
    let wrong = [
        Packet { seg_no: 3, ..right.clone() },
        Packet { seg_no: 2, ..right.clone() },
        Packet { msg_len: 900, ..right.clone() },
        Packet { msg_len: u32::MAX, ..right.clone() },
        Packet { msg_len: 0, ..right.clone() },
        Packet { vc: 64, ..right.clone() },
        Packet { payload: vec![1; 999], ..right.clone() },
        Packet { payload: vec![], ..right.clone() },
        // Of a route that does not end here.
        Packet { route: Some(vec![PEER]), ..right.clone() },
    ];
    for packet in wrong {
        assert!(end.give(&packet).is_ok() || packet.route.is_some() || packet.payload.is_empty());
        assert_eq!(end.sent(), [], "{packet:?}");
    }
    for part in message(&end, 1, 0, 2500) {
        end.give(&part).expect("it is taken");
    }
    assert_eq!(end.sent().len(), 1);
    takes(&mut end, handle, 1, 2500);
}

#[test]
fn what_the_application_does_not_take_is_not_acknowledged_for_ever() {
    let (mut end, handle) = connected();
    let mut ready = 0;
    for number in 1..=200_u32 {
        let parts = message(&end, number, (number % 64) as u8, 8);
        ready += acknowledged(&mut end, &parts[0]).len() as u32;
    }
    assert_eq!(ready, 128);
    takes(&mut end, handle, 1, 8);
    let next = message(&end, 300, 0, 8);
    assert_eq!(acknowledged(&mut end, &next[0]), [300]);
}

/// Each mark is reported at once; the end need not have the whole message.
#[test]
fn marks_are_reflected_to_the_sender() {
    let (mut end, _) = connected();
    let parts = message(&end, 1, 5, 2000);
    end.give(&Packet { tos: 3, ..parts[0].clone() }).expect("it is taken");
    let told = end.sent();
    assert_eq!(told.iter().map(|p| (p.feedback, p.acks, p.vc)).collect::<Vec<_>>(), [(Some((0, 1)), 0, 5)]);
    end.give(&Packet { tos: 2, ..parts[1].clone() }).expect("it is taken");
    assert_eq!(end.sent().iter().map(|p| (p.feedback, p.acks)).collect::<Vec<_>>(), [(None, MSG_ACK)]);
}
