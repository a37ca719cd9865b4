// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a client says: requests without and with grants, what it asks for, what it acknowledges, when it gives up.

use carrick_interp::Data;

use crate::end::{End, HERE, MILLISECOND, PEER};
use crate::wire::{Body, Packet};

const TIMED_OUT: u8 = 4;
const ABORTED: u8 = 11;
/// Bytes of data in a packet.
const FULL: u32 = 1424;
/// `rtt_bytes`, in whole packets.
const UNASKED: u32 = 60_000_u32.div_ceil(FULL) * FULL;

/// A client with an endpoint at port 40000.
fn client(settings: &[&str]) -> (End, u64) {
    let mut end = End::new(settings);
    let endpoint = end.open(40_000);
    (end, endpoint)
}

fn offsets(packets: &[Packet]) -> Vec<(u32, u32)> {
    let range = |p: &Packet| match &p.body {
        Body::Data { offset, payload, .. } => Some((*offset, payload.len() as u32)),
        _ => None,
    };
    packets.iter().filter_map(range).collect()
}

/// Sent without gaps, from one offset to another.
#[track_caller]
fn in_order(packets: &[Packet], from: u32, to: u32) {
    let mut next = from;
    for (offset, len) in offsets(packets) {
        assert_eq!(offset, next);
        next += len;
    }
    assert_eq!(next, to);
}

/// The server's packet about the RPC of one of the client's.
fn from_server(of: &Packet, body: Body) -> Packet {
    Packet::control((of.dst, of.dport), (HERE, of.sport), of.sender_id ^ 1, body)
}

fn response(of: &Packet, octets: &[u8], cutoff_version: u16) -> Packet {
    let len = octets.len() as u32;
    from_server(
        of,
        Body::Data {
            message_length: len,
            incoming: len,
            ack: (0, 0),
            cutoff_version,
            retransmit: 0,
            offset: 0,
            payload: octets.to_vec(),
        },
    )
}

fn packets(sent: Vec<(u64, Packet)>) -> Vec<Packet> {
    sent.into_iter().map(|(_, p)| p).collect()
}

#[test]
fn what_goes_without_grants_is_rounded_up_to_whole_packets() {
    let (mut end, endpoint) = client(&[]);
    end.request(endpoint, PEER, &[7; 200_000]);
    let sent = packets(end.sent_within(MILLISECOND));
    in_order(&sent, 0, UNASKED);
    for packet in &sent {
        let Body::Data { incoming, message_length, .. } = packet.body else { panic!("{packet:?}") };
        assert_eq!((incoming, message_length), (UNASKED, 200_000));
    }
}

#[test]
fn grants_are_obeyed_with_their_priority() {
    let (mut end, endpoint) = client(&[]);
    end.request(endpoint, PEER, &[7; 200_000]);
    let sent = packets(end.sent_within(MILLISECOND));
    let grant = |offset| from_server(&sent[0], Body::Grant { offset, priority: 2 });
    end.give(&grant(100_000)).expect("it is taken");
    let granted = packets(end.sent_within(MILLISECOND));
    in_order(&granted, UNASKED, 100_000_u32.div_ceil(FULL) * FULL);
    assert!(granted.iter().all(|p| p.tos == 2 << 5), "the receiver says the priority");
    end.give(&grant(90_000)).expect("it is taken");
    assert_eq!(end.sent_within(MILLISECOND), [], "grants are not taken back, nor given twice");
    // More than the message has.
    end.give(&grant(900_000)).expect("it is taken");
    in_order(&packets(end.sent_within(MILLISECOND)), 100_000_u32.div_ceil(FULL) * FULL, 200_000);
}

#[test]
fn the_message_of_which_least_is_left_goes_first() {
    let (mut end, endpoint) = client(&["link_rate=10Gbps"]);
    end.request(endpoint, PEER, &[1; 50_000]);
    let first = end.sent();
    assert_eq!(first.len(), 1, "the network card takes one after another");
    end.request(endpoint, PEER + 1, &[2; 2000]);
    let sent = end.sent_within(MILLISECOND);
    let to: Vec<u32> = sent.iter().take(3).map(|(_, p)| p.dst).collect();
    assert_eq!(to, [PEER + 1, PEER + 1, PEER]);
    // 1500 bytes at 10 Gbit/s.
    assert_eq!(sent[3].0 - sent[2].0, 1200);
}

#[test]
fn the_server_says_the_priorities_of_what_goes_without_grants() {
    let (mut end, endpoint) = client(&[]);
    end.request(endpoint, PEER, &[1; 500]);
    let first = end.sent();
    assert_eq!(first[0].tos, 6 << 5, "nothing was said yet");
    let unsched = [0, 0, 0, 1_000_000, 100_000, 10_000, 1000, 100];
    end.give(&from_server(&first[0], Body::Cutoffs { unsched, version: 9 })).expect("it is taken");
    for (octets, priority) in [(100, 7), (101, 6), (1001, 5), (100_000, 4), (100_001, 3)] {
        end.request(endpoint, PEER, &vec![1; octets]);
        let sent = end.sent_soon();
        assert!(sent.iter().all(|p| p.tos == priority << 5), "{octets} octets: {}", sent[0].tos >> 5);
        let Body::Data { cutoff_version, .. } = sent[0].body else { panic!("{:?}", sent[0]) };
        assert_eq!(cutoff_version, 9);
    }
}

#[test]
fn a_request_that_was_lost_whole_goes_again() {
    let (mut end, endpoint) = client(&[]);
    end.request(endpoint, PEER, &[1; 3000]);
    let first = end.sent_soon();
    let asked = packets(end.sent_within(6 * MILLISECOND));
    let everything = Body::Resend { offset: 0, length: u32::MAX, priority: 7 };
    assert_eq!(asked.iter().map(|p| &p.body).collect::<Vec<_>>(), [&everything], "of the response");
    end.give(&from_server(&first[0], Body::Unknown)).expect("it is taken");
    let again = packets(end.sent_within(MILLISECOND));
    in_order(&again, 0, 3000);
    for packet in &again {
        assert!(matches!(packet.body, Body::Data { retransmit: 1, .. }), "{packet:?}");
    }
}

#[test]
fn what_is_asked_for_is_sent_again_and_granted_by_that() {
    let (mut end, endpoint) = client(&[]);
    end.request(endpoint, PEER, &[1; 200_000]);
    let sent = packets(end.sent_within(MILLISECOND));
    let resend = |offset, length| from_server(&sent[0], Body::Resend { offset, length, priority: 5 });
    end.give(&resend(1424, 2848)).expect("it is taken");
    let again = packets(end.sent_within(MILLISECOND));
    in_order(&again, 1424, 1424 + 2848);
    assert!(again.iter().all(|p| p.tos == 5 << 5));
    // The grant of these bytes was lost.
    end.give(&resend(UNASKED, 1424)).expect("it is taken");
    in_order(&packets(end.sent_within(MILLISECOND)), UNASKED, UNASKED + 1424);
    end.give(&resend(200_000, 0)).expect("it is taken");
    assert_eq!(end.sent()[0].body, Body::Busy, "the server asks whether the client still is there");
}

#[test]
fn a_response_is_acknowledged_with_later_data_or_when_asked() {
    let (mut end, endpoint) = client(&[]);
    let rpc = end.request(endpoint, PEER, b"question");
    let first = end.sent().remove(0);
    end.give(&response(&first, b"answer", 1)).expect("it is taken");
    let token = end.call("recv_response", rpc, &[("len", 100)], Data::Recv(100));
    assert_eq!(end.outcome(token).expect("it is there").data.as_deref(), Some(&b"answer"[..]));
    end.request(endpoint, PEER, &[1; 3000]);
    let acks: Vec<_> = end
        .sent_within(MILLISECOND)
        .iter()
        .filter_map(|(_, p)| match p.body {
            Body::Data { ack, .. } => Some(ack),
            _ => None,
        })
        .collect();
    assert_eq!(acks, [(first.sender_id, 99), (0, 0), (0, 0)], "once");
    end.give(&from_server(&first, Body::NeedAck)).expect("it is taken");
    let ack = end.sent().remove(0);
    assert_eq!((ack.sender_id, ack.body), (first.sender_id, Body::Ack { acks: vec![] }));
}

#[test]
fn acknowledgements_that_wait_go_together_when_there_are_too_many() {
    let (mut end, endpoint) = client(&[]);
    let mut numbers = Vec::new();
    let mut acks = Vec::new();
    for _ in 0..6 {
        end.request(endpoint, PEER, b"question");
        numbers.extend(end.sent_soon());
    }
    for packet in &numbers {
        end.give(&response(packet, b"answer", 1)).expect("it is taken");
        acks.extend(end.sent_soon());
    }
    let [ack] = &acks[..] else { panic!("{acks:?}") };
    let waited = numbers[..5].iter().map(|p| (p.sender_id, 99)).collect();
    assert_eq!((ack.sender_id, &ack.body), (numbers[5].sender_id, &Body::Ack { acks: waited }));
}

#[test]
fn a_response_that_is_not_all_there_is_not_acknowledged() {
    let (mut end, endpoint) = client(&[]);
    end.request(endpoint, PEER, b"question");
    let first = end.sent().remove(0);
    end.give(&from_server(&first, Body::NeedAck)).expect("it is taken");
    assert_eq!(end.sent(), []);
}

#[test]
fn a_peer_that_answers_nothing_is_dead() {
    let (mut end, endpoint) = client(&["timeout_resends=4"]);
    let rpcs: Vec<u64> = (0..3).map(|_| end.request(endpoint, PEER, b"question")).collect();
    let tokens: Vec<u64> =
        rpcs.iter().map(|rpc| end.call("recv_response", *rpc, &[("len", 100)], Data::Recv(100))).collect();
    let sent = end.sent_within(60 * MILLISECOND);
    let asked: Vec<u64> =
        sent.iter().filter(|(_, p)| matches!(p.body, Body::Resend { .. })).map(|(at, _)| *at).collect();
    assert_eq!(asked.len(), 4, "of a peer only one thing is asked at a time: {asked:?}");
    assert!(asked.windows(2).all(|w| w[1] - w[0] >= 5 * MILLISECOND), "{asked:?}");
    for token in tokens {
        assert_eq!(end.outcome(token).expect("all of its RPCs fail").status, TIMED_OUT);
    }
    // Later it is forgotten, and only the endpoint is left.
    end.sent_within(30_000 * MILLISECOND);
    assert_eq!(end.open_contexts(), 1);
}

#[test]
fn a_server_that_is_busy_is_waited_for() {
    let (mut end, endpoint) = client(&["timeout_resends=4"]);
    let rpc = end.request(endpoint, PEER, b"question");
    let first = end.sent().remove(0);
    let token = end.call("recv_response", rpc, &[("len", 100)], Data::Recv(100));
    for _ in 0..50 {
        end.sent_within(6 * MILLISECOND);
        end.give(&from_server(&first, Body::Busy)).expect("it is taken");
    }
    assert_eq!(end.outcome(token), None);
    end.give(&response(&first, b"answer", 1)).expect("it is taken");
    assert_eq!(end.outcome(token).expect("it ends").data.as_deref(), Some(&b"answer"[..]));
}

#[test]
fn an_rpc_that_is_cancelled_is_over() {
    let (mut end, endpoint) = client(&[]);
    let rpc = end.request(endpoint, PEER, b"question");
    let first = end.sent().remove(0);
    let waiting = end.call("recv_response", rpc, &[("len", 100)], Data::Recv(100));
    let cancelled = end.call("cancel", rpc, &[], Data::None);
    assert_eq!(end.outcome(waiting).expect("it ends").status, ABORTED);
    end.value(cancelled);
    end.give(&response(&first, b"answer", 1)).expect("it is of no use");
    assert_eq!(end.sent_soon(), []);
    // The server wants to know whether it came; nobody waits for it any more.
    end.give(&from_server(&first, Body::NeedAck)).expect("it is taken");
    assert!(matches!(end.sent()[0].body, Body::Ack { .. }));
}
