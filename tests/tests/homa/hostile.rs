// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that cannot be, that come again, or are of nothing: counted, and nothing else comes of them.

use carrick_interp::{Data, Refused};
use carrick_ir::NetLayer;
use carrick_sim::ip::mend_checksum;
use carrick_sim::random_source::RandomSource;

use crate::end::{End, MILLISECOND, PEER};
use crate::server::{control, request, server};
use crate::wire::{Body, Packet};

/// A server that has the first part of a request, and what it sent for it.
fn at_work() -> End {
    let (mut end, _) = server(&[]);
    end.give(&request(PEER, 2, 9000, 0, 9000)).expect("it is taken");
    assert_eq!(end.sent(), []);
    end
}

fn of_data(change: impl Fn(&mut u32, &mut u32, &mut Vec<u8>)) -> Packet {
    let mut packet = request(PEER, 2, 9000, 1424, 9000);
    let Body::Data { message_length, offset, payload, .. } = &mut packet.body else { unreachable!() };
    change(message_length, offset, payload);
    packet
}

#[test]
fn lengths_and_offsets_that_cannot_be_are_counted() {
    let wrong = [
        of_data(|_, offset, _| *offset = 9000),
        of_data(|_, offset, _| *offset = 8000),
        of_data(|_, offset, _| *offset = u32::MAX - 1),
        of_data(|length, _, _| *length = 0),
        of_data(|length, _, _| *length = 1_000_001),
        of_data(|_, _, payload| payload.clear()),
        control(2, Body::Grant { offset: 100, priority: 8 }),
        control(2, Body::Resend { offset: 0, length: 100, priority: 255 }),
        Packet { sender_id: 0, ..request(PEER, 2, 9000, 1424, 9000) },
    ];
    let mut end = at_work();
    for packet in &wrong {
        assert!(matches!(end.give(packet), Ok(()) | Err(Refused::Dropped(_))), "{packet:?}");
        assert_eq!(end.sent(), [], "{packet:?}");
    }
    assert_eq!(end.counter("unparsed"), wrong.len() as u64);
    assert_eq!(end.open_contexts(), 3);
}

#[test]
fn packets_that_end_too_early_are_counted() {
    let all = [
        request(PEER, 2, 9000, 0, 9000),
        control(2, Body::Grant { offset: 100, priority: 0 }),
        control(2, Body::Resend { offset: 0, length: 100, priority: 0 }),
        control(2, Body::Cutoffs { unsched: [1; 8], version: 1 }),
        control(2, Body::Ack { acks: vec![] }),
        control(2, Body::Unknown),
    ];
    let mut end = at_work();
    let mut count = 0;
    for packet in &all {
        let octets = packet.encode();
        let header = if matches!(packet.body, Body::Data { .. }) { 20 + 56 } else { octets.len() };
        for len in 20..header {
            let mut cut = octets[..len].to_vec();
            cut[2..4].copy_from_slice(&(len as u16).to_be_bytes());
            mend_checksum(&mut cut);
            assert!(
                matches!(end.receive_octets(&cut), Err(Refused::Dropped(_))),
                "{len} octets of {packet:?}"
            );
            count += 1;
        }
    }
    assert_eq!(end.counter("short"), count);
    assert_eq!((end.sent(), end.open_contexts()), (vec![], 3));
}

#[test]
fn more_acknowledgements_than_fit_are_counted() {
    let mut end = at_work();
    let mut octets = control(2, Body::Ack { acks: vec![] }).encode();
    octets[20 + 28..20 + 30].copy_from_slice(&6_u16.to_be_bytes());
    assert!(matches!(end.receive_octets(&octets), Err(Refused::Dropped(_)) | Ok(())));
    assert_eq!((end.counter("unparsed"), end.open_contexts()), (1, 3));
}

#[test]
fn what_is_said_of_rpcs_that_are_not_there_is_counted() {
    let mut end = at_work();
    for body in [Body::Grant { offset: 100, priority: 0 }, Body::Unknown, Body::Busy] {
        end.give(&control(77_776, body)).expect("it can be read");
    }
    // From another host than the client.
    let grant = Body::Grant { offset: 100, priority: 0 };
    end.give(&Packet { src: PEER + 9, ..control(2, grant) }).expect("it can be read");
    assert_eq!(end.counter("no_context"), 4);
    // A response to a request that nobody made.
    end.give(&Packet { sender_id: 77_777, ..request(PEER, 2, 100, 0, 100) }).expect("it can be read");
    assert_eq!((end.sent(), end.open_contexts()), (vec![], 3));
}

#[test]
fn what_was_not_sent_is_not_acknowledged_nor_granted() {
    let mut end = at_work();
    end.give(&control(2, Body::Ack { acks: vec![(2, 99)] })).expect("it can be read");
    end.give(&control(2, Body::Grant { offset: u32::MAX, priority: 7 })).expect("it can be read");
    assert_eq!((end.sent(), end.open_contexts()), (vec![], 3), "the request is still to come");
    // Of another length than before.
    end.give(&request(PEER, 2, 8000, 1424, 8000)).expect("it can be read");
    let asked = end.sent_within(6 * MILLISECOND);
    let [(_, packet)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(packet.body, Body::Resend { offset: 1424, length: 9000 - 1424, priority: 7 });
}

#[test]
fn ranges_that_are_not_of_the_message_are_not_sent_again() {
    let mut end = End::new(&[]);
    let endpoint = end.open(40_000);
    end.request(endpoint, PEER, &[1; 3000]);
    let first = end.sent_within(MILLISECOND).remove(0).1;
    let resend = |offset, length| Packet {
        src: first.dst,
        dst: first.src,
        sport: 99,
        dport: first.sport,
        sender_id: first.sender_id ^ 1,
        ..control(2, Body::Resend { offset, length, priority: 0 })
    };
    for (offset, length) in [(3001, 1), (2999, 2), (1, u32::MAX - 1), (u32::MAX, 1)] {
        end.give(&resend(offset, length)).expect("it can be read");
        assert_eq!(end.sent(), [], "{length} octets from {offset}");
    }
}

/// Packets replayed and damaged in every way: an application is never given what was not sent, and all that was made is
/// gone in the end.
#[test]
fn replayed_and_random_packets_leave_nothing_behind() {
    let (mut end, endpoint) = server(&[]);
    let mut random = RandomSource::new(11);
    for round in 0..3000_u64 {
        let number = 2 * (1 + random.roll(40));
        let offset = 1424 * random.roll(8) as u32;
        let mut octets = match random.roll(4) {
            0 => control(number, Body::Ack { acks: vec![(number, 99), (number + 2, 99)] }),
            1 => control(number, Body::Resend { offset, length: 1424, priority: 7 }),
            2 => control(number, Body::Grant { offset, priority: 3 }),
            _ => request(PEER + random.roll(3) as u32, number, 9000, offset.min(8544), 9000),
        }
        .encode();
        if random.one_in(3) {
            random.damage(NetLayer::Ipv4, &mut octets);
        }
        // Refused or not: what matters is what comes of it.
        let _ = end.receive_octets(&octets);
        if round % 7 == 0 {
            end.sent_within(MILLISECOND);
        } else {
            end.sent();
        }
    }
    let token = end.call("close", endpoint, &[], Data::None);
    end.value(token);
    end.sent_within(120_000 * MILLISECOND);
    assert_eq!(end.open_contexts(), 0);
}
