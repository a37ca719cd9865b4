// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a server says: whom it grants how much with which priority, what it asks for, that it executes a request once.

use carrick_interp::Data;

use crate::end::{End, HERE, MILLISECOND, PEER};
use crate::wire::{Body, Packet};

const FULL: u32 = 1424;
const RTT_BYTES: u32 = 60_000;

/// A server at port 99.
pub fn server(settings: &[&str]) -> (End, u64) {
    let mut end = End::new(settings);
    let endpoint = end.open(99);
    (end, endpoint)
}

/// A packet of a client's request, whose sender knows the cutoffs.
pub fn request(peer: u32, number: u64, length: u32, offset: u32, incoming: u32) -> Packet {
    let len = FULL.min(length - offset);
    let body = Body::Data {
        message_length: length,
        incoming,
        ack: (0, 0),
        cutoff_version: 1,
        retransmit: 0,
        offset,
        payload: (offset..offset + len).map(|at| at as u8).collect(),
    };
    Packet { tos: 0, ..Packet::control((peer, 40_000), (HERE, 99), number, body) }
}

pub fn control(number: u64, body: Body) -> Packet {
    Packet::control((PEER, 40_000), (HERE, 99), number, body)
}

fn grants(packets: &[Packet]) -> Vec<(u32, u32, u8)> {
    let grant = |p: &Packet| match p.body {
        Body::Grant { offset, priority } => Some((p.dst, offset, priority)),
        _ => None,
    };
    packets.iter().filter_map(grant).collect()
}

/// Accepts a request that has come whole and takes it; the RPC.
#[track_caller]
fn take(end: &mut End, endpoint: u64, octets: &[u8]) -> u64 {
    let token = end.call("accept", endpoint, &[], Data::None);
    let rpc = end.value(token);
    let token = end.call("recv_request", rpc, &[("len", 1 << 20)], Data::Recv(1 << 20));
    assert_eq!(end.outcome(token).expect("it is there").data.as_deref(), Some(octets));
    rpc
}

fn respond(end: &mut End, rpc: u64, octets: &[u8]) {
    let token = end.call("respond", rpc, &[("len", octets.len() as u64)], Data::Send(octets));
    assert_eq!(end.value(token), octets.len() as u64);
}

#[test]
fn so_much_is_granted_that_rtt_bytes_are_on_their_way() {
    let (mut end, _) = server(&[]);
    end.give(&request(PEER, 2, 200_000, 0, 61_232)).expect("it is taken");
    assert_eq!(grants(&end.sent()), [(PEER, RTT_BYTES + FULL, 0)], "one message needs the lowest level only");
    end.give(&request(PEER, 2, 200_000, FULL, 61_232)).expect("it is taken");
    assert_eq!(grants(&end.sent()), [(PEER, RTT_BYTES + 2 * FULL, 0)]);
    end.give(&request(PEER, 2, 200_000, FULL, 61_232)).expect("a duplicate is taken");
    assert_eq!(grants(&end.sent()), [], "and changes nothing");
}

#[test]
fn a_message_of_which_less_is_left_has_the_higher_priority() {
    let (mut end, _) = server(&[]);
    end.give(&request(PEER, 2, 500_000, 0, 60_000)).expect("it is taken");
    end.sent();
    end.give(&request(PEER + 1, 2, 100_000, 0, 60_000)).expect("it is taken");
    assert_eq!(grants(&end.sent()), [(PEER + 1, RTT_BYTES + FULL, 1)]);
    end.give(&request(PEER, 2, 500_000, FULL, 60_000)).expect("it is taken");
    assert_eq!(grants(&end.sent()), [(PEER, RTT_BYTES + 2 * FULL, 0)]);
}

#[test]
fn of_one_sender_only_the_message_with_least_left_is_granted() {
    let (mut end, _) = server(&[]);
    end.give(&request(PEER, 2, 100_000, 0, 60_000)).expect("it is taken");
    assert_eq!(grants(&end.sent()).len(), 1);
    end.give(&request(PEER, 4, 300_000, 0, 60_000)).expect("it is taken");
    assert_eq!(grants(&end.sent()), []);
}

#[test]
fn no_more_messages_are_granted_than_the_degree_of_overcommitment() {
    let (mut end, _) = server(&["overcommit=3"]);
    for peer in 0..5 {
        end.give(&request(PEER + peer, 2, 300_000 + peer * 10_000, 0, 1424)).expect("it is taken");
    }
    let granted: std::collections::BTreeSet<u32> =
        grants(&end.sent()).into_iter().map(|(to, ..)| to).collect();
    assert_eq!(granted, (PEER..PEER + 3).collect());
    // 3 * 60,000 bytes are on their way: no more, but of the message of which least is missing.
    end.give(&request(PEER + 7, 2, 305_000, 0, 1424)).expect("it is taken");
    assert_eq!(grants(&end.sent()), []);
    end.give(&request(PEER + 8, 2, 200_000, 0, 1424)).expect("it is taken");
    let granted: Vec<u32> = grants(&end.sent()).into_iter().map(|(to, ..)| to).collect();
    assert_eq!(granted, [PEER + 8]);
}

#[test]
fn the_first_gap_is_asked_for() {
    let (mut end, _) = server(&[]);
    for offset in [0, 3 * FULL, 4 * FULL, 6 * FULL] {
        end.give(&request(PEER, 2, 10_000, offset, 10_000)).expect("it is taken");
    }
    let asked = end.sent_within(6 * MILLISECOND);
    let [(at, packet)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((*at, packet.sender_id), (5 * MILLISECOND, 3));
    assert_eq!(packet.body, Body::Resend { offset: FULL, length: 2 * FULL, priority: 7 });
}

#[test]
fn what_was_not_granted_is_not_asked_for() {
    let (mut end, _) = server(&["overcommit=1"]);
    end.give(&request(PEER, 2, 150_000, 0, FULL)).expect("it is taken");
    end.give(&request(PEER + 1, 2, 190_000, 0, FULL)).expect("it is taken");
    let asked = end.sent_within(20 * MILLISECOND);
    assert!(asked.iter().any(|(_, p)| matches!(p.body, Body::Resend { .. }) && p.dst == PEER));
    assert!(asked.iter().all(|(_, p)| p.dst == PEER), "{asked:?}");
}

#[test]
fn a_server_at_work_says_that_it_is_busy_and_keeps_its_response() {
    let (mut end, endpoint) = server(&[]);
    let asks = control(2, Body::Resend { offset: 0, length: u32::MAX, priority: 7 });
    end.give(&asks).expect("it is taken");
    assert_eq!(end.sent()[0].body, Body::Unknown, "no packet of the request came");
    let whole = request(PEER, 2, 100, 0, 100);
    end.give(&whole).expect("it is taken");
    let rpc = take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
    end.give(&asks).expect("it is taken");
    assert_eq!(end.sent()[0].body, Body::Busy);
    respond(&mut end, rpc, b"answer");
    for retransmit in [0, 1] {
        let sent = end.sent_soon().remove(0);
        let Body::Data { payload, retransmit: r, .. } = &sent.body else { panic!("{sent:?}") };
        assert_eq!((&payload[..], *r), (&b"answer"[..], retransmit));
        end.give(&asks).expect("it is taken");
    }
}

#[test]
fn a_response_is_kept_until_it_is_acknowledged_and_the_request_executed_once() {
    let (mut end, endpoint) = server(&[]);
    let whole = request(PEER, 2, 100, 0, 100);
    end.give(&whole).expect("it is taken");
    let rpc = take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
    respond(&mut end, rpc, b"answer");
    end.sent();
    let asked = end.sent_within(3 * MILLISECOND);
    let [(at, packet)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((*at, &packet.body, packet.sender_id), (2 * MILLISECOND, &Body::NeedAck, 3));
    assert_eq!(end.open_contexts(), 3, "the endpoint, the peer, the RPC");
    end.give(&control(2, Body::Ack { acks: vec![] })).expect("it is taken");
    assert_eq!(end.open_contexts(), 2);
    end.give(&whole).expect("it is late");
    let token = end.call("accept", endpoint, &[], Data::None);
    assert_eq!((end.outcome(token), end.open_contexts()), (None, 2), "it is not executed again");
}

#[test]
fn acknowledgements_come_with_data_and_for_several() {
    let (mut end, endpoint) = server(&[]);
    for number in [2, 4, 6, 8] {
        end.give(&request(PEER, number, 100, 0, 100)).expect("it is taken");
        let rpc = take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
        respond(&mut end, rpc, b"answer");
        end.sent();
    }
    assert_eq!(end.open_contexts(), 6);
    end.give(&control(2, Body::Ack { acks: vec![(4, 99), (6, 99)] })).expect("it is taken");
    assert_eq!(end.open_contexts(), 3);
    let mut next = request(PEER, 10, 3000, 0, 3000);
    let Body::Data { ack, .. } = &mut next.body else { unreachable!() };
    *ack = (8, 99);
    end.give(&next).expect("it is taken");
    assert_eq!(end.open_contexts(), 3, "one has gone, and one come");
}

#[test]
fn clients_that_do_not_know_the_cutoffs_are_told_once_in_a_while() {
    let (mut end, _) = server(&[]);
    for (offset, told) in [(0, 1), (FULL, 0), (2 * FULL, 1)] {
        let mut packet = request(PEER, 2, 9000, offset, 9000);
        let Body::Data { cutoff_version, .. } = &mut packet.body else { unreachable!() };
        *cutoff_version = 0;
        end.give(&packet).expect("it is taken");
        let sent = end.sent();
        assert_eq!(sent.len(), told, "{sent:?}");
        for packet in sent {
            let most = 0x7fff_ffff;
            let unsched = [most, most, most, most, most, 15_000, 2800, 200];
            assert_eq!(packet.body, Body::Cutoffs { unsched, version: 1 });
        }
        end.sent_within(if told == 0 { 2 * MILLISECOND } else { 0 });
    }
}

#[test]
fn a_client_that_is_gone_is_forgotten() {
    let (mut end, endpoint) = server(&["timeout_resends=4"]);
    end.give(&request(PEER, 2, 100, 0, 100)).expect("it is taken");
    let rpc = take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
    respond(&mut end, rpc, b"answer");
    end.give(&request(PEER + 1, 2, 9000, 0, 9000)).expect("it is taken");
    end.sent_within(40_000 * MILLISECOND);
    assert_eq!(end.open_contexts(), 1, "the endpoint");
}

/// That a request, sent before or not, is not begun.
#[track_caller]
fn is_over(end: &mut End, number: u64, sent_before: bool) {
    let contexts = end.open_contexts();
    let mut again = request(PEER, number, 100, 0, 100);
    let Body::Data { retransmit, .. } = &mut again.body else { unreachable!() };
    *retransmit = u8::from(sent_before);
    end.give(&again).expect("it is late");
    assert_eq!(end.open_contexts(), contexts, "{number} is not executed again");
}

/// The client is there, but nothing of what it says arrives for a while: the server gives up, and its client asks once more.
#[test]
fn a_request_is_over_when_its_server_has_given_up() {
    for ends in ["silence", "unknown"] {
        let (mut end, endpoint) = server(&["timeout_resends=4"]);
        end.give(&request(PEER, 2, 100, 0, 100)).expect("it is taken");
        let rpc = take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
        if ends == "silence" {
            respond(&mut end, rpc, b"answer");
            end.sent_within(1000 * MILLISECOND);
        } else {
            end.give(&control(2, Body::Unknown)).expect("it is taken");
        }
        assert_eq!(end.open_contexts(), 2, "the endpoint and the peer");
        is_over(&mut end, 2, true);
        is_over(&mut end, 2, false);
        // It is remembered until no packet can be on its way.
        end.sent_within(25_000 * MILLISECOND);
        is_over(&mut end, 2, true);
    }
}

/// Of numbers that are too old to be remembered, what is sent again is over, and what is sent for the first time has waited.
#[test]
fn old_requests_are_executed_only_if_they_are_new() {
    let (mut end, endpoint) = server(&[]);
    for number in [20_000, 2, 30_000] {
        end.give(&request(PEER, number, 100, 0, 100)).expect("it is taken");
        take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
        end.give(&control(number, Body::Unknown)).expect("it is taken");
    }
    is_over(&mut end, 2, true);
    is_over(&mut end, 20_000, true);
    is_over(&mut end, 30_000, false);
    // A client that has begun anew, far behind: its numbers are remembered as any.
    let anew = 0xffff_0000;
    end.give(&request(PEER, anew, 100, 0, 100)).expect("it is taken");
    take(&mut end, endpoint, &(0..100).collect::<Vec<u8>>());
    end.give(&control(anew, Body::Unknown)).expect("it is taken");
    is_over(&mut end, anew, false);
}

#[test]
fn a_client_that_knows_nothing_of_the_rpc_ends_it() {
    let (mut end, _) = server(&[]);
    end.give(&request(PEER, 2, 9000, 0, 9000)).expect("it is taken");
    assert_eq!(end.open_contexts(), 3);
    end.give(&control(2, Body::Unknown)).expect("it is taken");
    assert_eq!(end.open_contexts(), 2);
}

#[test]
fn an_endpoint_that_is_closed_takes_its_waiting_requests_with_it() {
    let (mut end, endpoint) = server(&[]);
    for number in [2, 4] {
        end.give(&request(PEER, number, 100, 0, 100)).expect("it is taken");
    }
    assert_eq!(end.open_contexts(), 4);
    let token = end.call("close", endpoint, &[], Data::None);
    end.value(token);
    assert_eq!(end.open_contexts(), 1, "the peer");
    end.give(&request(PEER, 6, 100, 0, 100)).expect("nobody is there");
    assert_eq!((end.sent(), end.counter("no_context"), end.open_contexts()), (vec![], 1, 1));
}
