// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routes through pathlets, and the windows that pathlets and links have.

use crate::end::{End, HERE, MILLISECOND, MSS, PEER, program};
use crate::wire::{MSG_ACK, Packet};

const INVALID: u8 = 8;
const NO_ROOM: u8 = 6;
/// The first pathlet of the first type; the others follow.
const FIRST: u32 = 0x0a00_0100;
const OTHER_TYPE: u32 = 0x0a00_0200;

/// An end that knows so many pathlets of the first type, and is connected; nothing is in flight.
fn connected(features: &[&str], pathlets: u32) -> (End, u64) {
    let mut end = End::new(&program(features), HERE, 3);
    for n in 0..pathlets {
        assert_eq!(end.add_pathlet(0, FIRST + n), 0);
    }
    let handle = end.open(PEER);
    let (_, sent) = end.connect(handle, &[0; 8]);
    end.give(&end.answer(&sent[0], MSG_ACK)).expect("it is taken");
    (end, handle)
}

fn feedback(end: &mut End, pathlet: u32, occupancy: u8, packets: u32) {
    let packet = end.peer_packet(1);
    let packet = Packet { feedback: Some((pathlet, occupancy)), msg_len: packets * MSS, ..packet };
    end.give_octets(&packet.encode());
}

/// How many messages of so many packets are in flight at once, now.
fn in_flight(end: &mut End, handle: u64, packets: u32) -> usize {
    for _ in 0..100 {
        end.send(handle, &vec![0; (packets * MSS) as usize]);
    }
    end.sent().len() / packets as usize
}

/// Where the next message is sent to; it is acknowledged.
fn destination(end: &mut End, handle: u64) -> u32 {
    end.send(handle, &[0; 8]);
    let sent = end.sent();
    end.give(&end.answer(&sent[0], MSG_ACK)).expect("it is taken");
    sent[0].dst
}

#[test]
fn a_route_goes_through_one_pathlet_of_each_type_to_the_receiver() {
    let mut end = End::new(&program(&[]), HERE, 3);
    for (kind, address) in [(2, OTHER_TYPE), (0, FIRST), (0, FIRST + 1)] {
        assert_eq!(end.add_pathlet(kind, address), 0);
    }
    let handle = end.open(PEER);
    let (_, sent) = end.connect(handle, &[0; 1500]);
    assert_eq!(sent.len(), 2);
    for packet in sent {
        assert_eq!((packet.dst, packet.route), (FIRST, Some(vec![OTHER_TYPE, PEER])));
    }
}

#[test]
fn without_pathlets_there_is_no_route() {
    for features in [&[][..], &["-routes"]] {
        let mut end = End::new(&program(features), HERE, 3);
        let handle = end.open(PEER);
        let (_, sent) = end.connect(handle, &[0; 8]);
        assert_eq!((sent[0].dst, &sent[0].route), (PEER, &None));
    }
}

#[test]
fn a_table_takes_sixteen_pathlets_of_four_types() {
    let mut end = End::new(&program(&[]), HERE, 3);
    assert_eq!(end.add_pathlet(4, FIRST), INVALID);
    assert_eq!(end.add_pathlet(0, 0), INVALID);
    for n in 0..16 {
        assert_eq!(end.add_pathlet(u64::from(n % 4), FIRST + n), 0);
    }
    assert_eq!(end.add_pathlet(0, OTHER_TYPE), NO_ROOM);
}

/// Appendix C, lines 2 to 6. A window begins with 10 packets, as that of the links.
#[test]
fn a_window_follows_the_occupancy_of_its_pathlet() {
    // 10, times 0.4 + 0.6 * 128 / 255 = 0.7; and then half a packet for each of a message that found the pathlet less than half full.
    let cases: [(&[(u8, u32)], usize); 5] = [
        (&[(255, 1)], 7),
        (&[(128, 1)], 10),
        (&[(255, 1), (127, 2), (0, 2)], 9),
        (&[(255, 1), (255, 1), (160, 1)], 4),
        (&[(255, 1); 30], 1),
    ];
    for (told, packets) in cases {
        let (mut end, handle) = connected(&[], 1);
        told.iter().for_each(|(occupancy, of)| feedback(&mut end, FIRST, *occupancy, *of));
        assert_eq!(in_flight(&mut end, handle, 1), packets, "{told:?}");
    }
}

#[test]
fn a_pathlet_in_front_of_the_receiver_has_a_window_too() {
    let (mut end, handle) = connected(&[], 0);
    feedback(&mut end, 99, 255, 1);
    assert_eq!(in_flight(&mut end, handle, 1), 7);
}

#[test]
fn other_routes_and_other_builds_have_no_such_window() {
    let (mut end, handle) = connected(&[], 2);
    while destination(&mut end, handle) == FIRST {
        (0..3).for_each(|_| feedback(&mut end, FIRST, 255, 1));
    }
    assert_eq!(in_flight(&mut end, handle, 1), 10);
    let (mut end, handle) = connected(&["congestion=links"], 1);
    feedback(&mut end, FIRST, 255, 1);
    assert_eq!(in_flight(&mut end, handle, 1), 10);
    let (mut end, handle) = connected(&["-congestion"], 1);
    assert_eq!(in_flight(&mut end, handle, 1), 16, "the peer's virtual channels");
}

/// A message of as many packets as the window, all marked or none: the window doubles, and is halved at its end.
#[test]
fn marks_reduce_the_window_of_the_links() {
    for (marks, windows) in [(0, 4), (10, 2)] {
        let (mut end, handle) = connected(&["congestion=links"], 0);
        end.send(handle, &vec![0; 10 * MSS as usize]);
        let sent = end.sent();
        assert_eq!(sent.len(), 10);
        for _ in 0..marks {
            feedback(&mut end, 0, 1, 10);
        }
        end.give(&end.answer(&sent[0], MSG_ACK)).expect("it is taken");
        assert_eq!(in_flight(&mut end, handle, 5), windows);
    }
}

/// RFC 8257 section 3.3: the next window ends when what was in flight at the reduction is acknowledged.
#[test]
fn marks_of_packets_in_flight_reduce_a_window_once() {
    let (mut end, handle) = connected(&["congestion=links"], 0);
    for (count, marked) in [(10, false), (14, true)] {
        for _ in 0..count {
            end.send(handle, &[0; 8]);
        }
        let sent = end.sent();
        assert_eq!(sent.len(), count, "the window is 10, then 14");
        for packet in &sent {
            if marked {
                feedback(&mut end, 0, 1, 1);
            }
            end.give(&end.answer(packet, MSG_ACK)).expect("it is taken");
        }
    }
    // A window without marks made alpha 15/16, so 15 becomes 15 * (1 - 0.94 / 2) = 7.9; and then a packet more in a round trip.
    assert_eq!(in_flight(&mut end, handle, 1), 9);
}

/// Section 6.2.
#[test]
fn a_pathlet_that_stays_full_is_left() {
    let (mut end, handle) = connected(&[], 8);
    assert_eq!(destination(&mut end, handle), FIRST);
    // Never three in a row, or not of the pathlet in use, or not above 160.
    for _ in 0..50 {
        for (pathlet, occupancy) in [(FIRST, 161), (FIRST, 161), (FIRST, 160), (FIRST + 1, 255)] {
            feedback(&mut end, pathlet, occupancy, 1);
        }
        assert_eq!(destination(&mut end, handle), FIRST);
    }
    let mut used = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let now = destination(&mut end, handle);
        used.insert(now);
        for _ in 0..3 {
            feedback(&mut end, now, 161, 1);
        }
    }
    assert_eq!(used, (0..8).map(|n| FIRST + n).collect());
}

#[test]
fn a_pathlet_that_is_gone_is_left_too() {
    let (mut end, handle) = connected(&[], 2);
    end.send(handle, &[0; 8]);
    let tried: Vec<u32> = end.wait(1000 * MILLISECOND).iter().map(|p| p.dst).collect();
    assert_eq!(tried[..3], [FIRST; 3]);
    assert!(tried.contains(&(FIRST + 1)), "{tried:?}");
}

#[test]
fn with_ecmp_routes_change_by_time_alone() {
    let (mut end, handle) = connected(&["switching=rehash"], 8);
    for _ in 0..9 {
        feedback(&mut end, FIRST, 255, 1);
    }
    // Hashed when the first message was sent at 0 ms, and not again before 100 ms.
    let mut used = Vec::new();
    for _ in 0..40 {
        let here: Vec<u32> = (0..3).map(|_| destination(&mut end, handle)).collect();
        used.push(here[2]);
        end.wait(100 * MILLISECOND);
    }
    used.dedup();
    assert!(used.len() > 20, "{used:?}");
}
