// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selective repeat: what is kept behind a gap, what is not, and what is sent again.

use carrick_driver::Choice;
use carrick_interp::Data;

use crate::peer::{ACK, ACKNOWLEDGE, ADDR, End, INVALID_REQUEST, KEY, OK, OUT_OF_SEQUENCE, PSN, RNR, packet};
use crate::peer::{WRITE_FIRST, WRITE_LAST, WRITE_MIDDLE, WRITE_ONLY};
use crate::wire::{Packet, reth};

const SEND_FIRST: u8 = 0;
const SEND_MIDDLE: u8 = 1;
const SEND_LAST: u8 = 2;
const SEND_ONLY: u8 = 4;
const SEND_ONLY_IMM: u8 = 5;
const WRITE_ONLY_IMM: u8 = 11;
const READ_REQUEST: u8 = 12;

fn end() -> End {
    End::with(&Choice { with: [("selective".to_owned(), None)].into(), ..Choice::default() })
}

/// A packet of a SEND to the receive with this number, and what is left of its message.
fn send(opcode: u8, n: u32, (receive, offset, left): (u32, u64, u32), payload: Vec<u8>) -> Packet {
    packet(opcode, PSN + n, reth(offset, receive, left), payload)
}

fn nth(n: u32) -> u32 {
    (PSN + n) & 0xff_ffff
}

/// What the core says: the number, the syndrome, and which packet is kept.
fn said(end: &mut End, packet: &Packet) -> Vec<(u32, u8, u32)> {
    end.rx(packet).expect("it is taken");
    let word = |p: &[u8], at: usize| u32::from_be_bytes(p[at..at + 4].try_into().expect("four octets"));
    end.out().iter().map(|p| (word(p, 36) & 0xff_ffff, p[40], word(p, 44))).collect()
}

/// Of two WRITEs all is kept but what is missing, the first packet of the second among it, and done in order when that comes.
#[test]
fn packets_behind_a_gap_are_kept() {
    let mut end = end();
    let write = |opcode, n, at: u64, left, octets| {
        packet(opcode, PSN + n, reth(ADDR + at, KEY, left), vec![n as u8; octets])
    };
    said(&mut end, &write(WRITE_FIRST, 0, 0, 2148, 1024));
    // Of a middle packet all is there, or it is none; beyond its memory there is nothing.
    for wrong in [write(WRITE_MIDDLE, 3, 1024, 2000, 1000), write(WRITE_MIDDLE, 3, 3073, 2048, 1024)] {
        let told = said(&mut end, &wrong);
        assert!(told.iter().all(|t| *t == (nth(1), OUT_OF_SEQUENCE, nth(1))), "{told:?}");
    }
    for kept in [write(WRITE_LAST, 2, 2048, 100, 100), write(WRITE_ONLY, 3, 4000, 96, 96)] {
        assert_eq!(said(&mut end, &kept), [(nth(1), OUT_OF_SEQUENCE, kept.psn)], "{kept:?}");
        assert_eq!(said(&mut end, &kept), [(nth(1), OUT_OF_SEQUENCE, kept.psn)], "again, without effect");
    }
    let told = said(&mut end, &write(WRITE_MIDDLE, 1, 1024, 1124, 1024));
    assert_eq!(told.last(), Some(&(nth(3), ACK, nth(3))), "{told:?}");
    let wanted = [&[0; 1024][..], &[1; 1024], &[2; 100], &[7; 1852], &[3; 96]].concat();
    assert_eq!(end.memory_now(), wanted);
}

/// SENDs go to the receives that they name, whichever comes first; the receives complete in their order, when it is their turn.
#[test]
fn sends_behind_a_gap_find_their_receives() {
    let mut end = end();
    let receives = [3000, 50, 50].map(|len| end.call("post_recv", &[len], Data::Recv(len)));
    for kept in [
        Packet {
            extended: [reth(0, 1, 4), vec![0, 0, 0, 9]].concat(),
            ..send(SEND_ONLY_IMM, 3, (1, 0, 4), vec![4; 4])
        },
        send(SEND_LAST, 2, (0, 2048, 10), vec![3; 10]),
        send(SEND_MIDDLE, 1, (0, 1024, 1034), vec![2; 1024]),
    ] {
        assert_eq!(said(&mut end, &kept), [(PSN, OUT_OF_SEQUENCE, kept.psn)], "{kept:?}");
    }
    assert_eq!(end.core.next_completion(), None, "nothing is done before its turn");
    let told = said(&mut end, &send(SEND_FIRST, 0, (0, 0, 2058), vec![1; 1024]));
    assert_eq!(told.last(), Some(&(nth(3), ACK, nth(3))), "{told:?}");
    let done: Vec<_> = std::iter::from_fn(|| end.core.next_completion()).collect();
    let values: Vec<_> = done.iter().map(|d| (d.token, d.status, d.value)).collect();
    assert_eq!(values, [(receives[0], OK, 2058), (receives[1], OK, 4 | 1 << 31 | 9 << 32)]);
    let first = [&[1; 1024][..], &[2; 1024], &[3; 10]].concat();
    assert_eq!(done[0].data.as_deref().expect("bytes")[..2058], first);
    assert_eq!(done[1].data.as_deref().expect("bytes")[..4], [4; 4]);
}

/// What has no receive, or no room in it, or comes too early by far, is asked for again when its turn has come.
#[test]
fn what_has_no_place_is_not_kept() {
    let mut end = end();
    let receive = end.call("post_recv", &[2000], Data::Recv(2000));
    for none in [
        send(SEND_ONLY, 1, (1, 0, 4), vec![1; 4]),
        send(SEND_ONLY, 2, (u32::MAX, 0, 4), vec![1; 4]),
        send(SEND_ONLY, 3, (0, 1997, 4), vec![1; 4]),
        send(SEND_ONLY, 4, (0, u64::MAX, 4), vec![1; 4]),
        send(SEND_ONLY, 5, (0, 0, 3), vec![1; 4]),
        send(SEND_MIDDLE, 6, (0, 0, 1000), vec![1; 1000]),
        send(SEND_LAST, 256, (0, 0, 4), vec![1; 4]),
        packet(READ_REQUEST, PSN + 7, reth(ADDR, KEY, 8), vec![]),
        packet(WRITE_ONLY, PSN + 8, reth(ADDR, KEY + 1, 8), vec![1; 8]),
        packet(WRITE_ONLY, PSN + 9, reth(ADDR + 4089, KEY, 8), vec![1; 8]),
    ] {
        let told = said(&mut end, &none);
        assert!(told.iter().all(|t| *t == (PSN, OUT_OF_SEQUENCE, PSN)), "{none:?}: {told:?}");
    }
    let told = said(&mut end, &send(SEND_ONLY, 0, (0, 0, 4), vec![1; 4]));
    assert_eq!(told, [(PSN, ACK, PSN), (nth(1), OUT_OF_SEQUENCE, nth(1))]);
    assert_eq!(end.completion(receive).map(|d| d.value), Some(4));
    assert_eq!(end.memory_now(), [7; 4096]);
    assert_eq!(end.counted("rx_cut"), 0, "nothing out of bounds was even tried");
}

/// A packet that was kept and is not what comes next in its message ends the queue pair, as it would have in order.
#[test]
fn what_was_kept_is_looked_at_when_its_turn_comes() {
    for wrong in [
        send(SEND_LAST, 1, (0, 1000, 8), vec![1; 8]),
        send(SEND_LAST, 1, (1, 1024, 8), vec![1; 8]),
        send(SEND_LAST, 1, (0, 1024, 9), vec![1; 8]),
        send(SEND_MIDDLE, 1, (0, 1024, 1024), vec![1; 1024]),
        send(SEND_ONLY, 1, (0, 0, 8), vec![1; 8]),
        send(SEND_FIRST, 1, (1, 0, 2000), vec![1; 1024]),
        packet(WRITE_LAST, PSN + 1, reth(ADDR, KEY, 8), vec![7; 8]),
    ] {
        let mut end = end();
        let receives = [3000, 3000].map(|len| end.call("post_recv", &[len], Data::Recv(len)));
        assert_eq!(said(&mut end, &wrong), [(PSN, OUT_OF_SEQUENCE, wrong.psn)], "{wrong:?}");
        let told = said(&mut end, &send(SEND_FIRST, 0, (0, 0, 1032), vec![1; 1024]));
        assert_eq!(told.last(), Some(&(nth(1), INVALID_REQUEST, nth(1))), "{wrong:?}: {told:?}");
        let done: Vec<_> = std::iter::from_fn(|| end.core.next_completion()).collect();
        let ends: Vec<_> = done.iter().map(|d| (d.token, d.status)).collect();
        assert_eq!(ends, receives.map(|token| (token, crate::peer::ABORTED)), "{wrong:?}");
    }
}

/// An immediate that was kept waits for a receive as one in order does.
#[test]
fn an_immediate_that_was_kept_needs_a_receive() {
    let mut end = end();
    let early = Packet {
        extended: [reth(ADDR, KEY, 4), vec![0, 0, 0, 9]].concat(),
        ..packet(WRITE_ONLY_IMM, PSN + 1, vec![], vec![1; 4])
    };
    assert_eq!(said(&mut end, &early), [(PSN, OUT_OF_SEQUENCE, nth(1))]);
    let told = said(&mut end, &packet(WRITE_ONLY, PSN, reth(ADDR, KEY, 4), vec![1; 4]));
    assert_eq!(told, [(PSN, ACK, PSN), (nth(1), RNR | 14, nth(1))]);
    let receive = end.call("post_recv", &[0], Data::Recv(0));
    assert_eq!(said(&mut end, &early), [(nth(1), ACK, nth(1))]);
    assert_eq!(end.completion(receive).map(|d| (d.status, d.value)), Some((OK, 1 << 31 | 9 << 32)));
}

#[test]
fn only_the_gap_is_sent_again() {
    let mut end = end();
    let write = end.call("post_write", &[5000, 1, 0, 0, 0], Data::Send(&[1; 5000]));
    let numbers = |packets: Vec<Vec<u8>>| packets.iter().map(|p| p[39]).collect::<Vec<u8>>();
    assert_eq!(numbers(end.out()), [5, 6, 7, 8, 9]);
    let nak = |missing: u32, sack: u8| {
        packet(ACKNOWLEDGE, missing, vec![OUT_OF_SEQUENCE, 0, 0, 0, 0, 0, 0, sack], vec![])
    };
    end.rx(&nak(6, 8)).expect("it is taken");
    assert_eq!(numbers(end.out()), [6, 7]);
    for again in [nak(6, 8), nak(6, 9), nak(6, 200)] {
        end.rx(&again).expect("it is taken");
        assert!(end.out().is_empty(), "{again:?}");
    }
    end.rx(&nak(6, 6)).expect("it is taken");
    assert_eq!(numbers(end.out()), [6, 7], "without a word of what is there, all that is not known to be");
    end.rx(&packet(ACKNOWLEDGE, 9, vec![ACK, 0, 0, 0, 0, 0, 0, 9], vec![])).expect("it is taken");
    assert_eq!(end.completion(write).expect("done").status, OK);
}

/// What was sent again and is still missing when a packet is kept that went out later, was lost again.
#[test]
fn what_is_lost_twice_is_sent_a_third_time() {
    let mut end = end();
    end.call("post_write", &[4096, 1, 0, 0, 0], Data::Send(&[1; 4096]));
    let numbers = |packets: Vec<Vec<u8>>| packets.iter().map(|p| p[39]).collect::<Vec<u8>>();
    assert_eq!(numbers(end.out()), [5, 6, 7, 8]);
    let nak = |sack: u8| packet(ACKNOWLEDGE, 5, vec![OUT_OF_SEQUENCE, 0, 0, 0, 0, 0, 0, sack], vec![]);
    end.rx(&nak(6)).expect("it is taken");
    assert_eq!(numbers(end.out()), [5]);
    end.call("post_write", &[2048, 1, 0, 0, 0], Data::Send(&[1; 2048]));
    assert_eq!(numbers(end.out()), [9, 10]);
    for earlier in [7, 8] {
        end.rx(&nak(earlier)).expect("it is taken");
        assert_eq!(numbers(end.out()), [0; 0], "{earlier} went out before that");
    }
    end.rx(&nak(9)).expect("it is taken");
    assert_eq!(numbers(end.out()), [5]);
    end.rx(&nak(10)).expect("it is taken");
    assert_eq!(numbers(end.out()), [0; 0], "10 went out before that");
}

/// Every packet of a SEND names its receive, counted on over all that take one, and its place in it.
#[test]
fn every_packet_names_its_place() {
    let mut end = end();
    end.call("post_write", &[4, 9, 77, 1, 0], Data::Send(&[1; 4]));
    end.call("post_write", &[1100, 9, 77, 0, 0], Data::Send(&[1; 1100]));
    end.call("post_send", &[2100, 0, 0], Data::Send(&[1; 2100]));
    end.call("post_send", &[5, 1, 3], Data::Send(&[1; 5]));
    let word = |p: &[u8], at: usize| u32::from_be_bytes(p[at..at + 4].try_into().expect("four octets"));
    let places: Vec<_> = end.out().iter().map(|p| (p[28], word(p, 44), word(p, 48), word(p, 52))).collect();
    assert_eq!(
        places,
        [
            (WRITE_ONLY_IMM, 77, 9, 4),
            (WRITE_FIRST, 77, 9, 1100),
            (WRITE_LAST, 77 + 1024, 9, 76),
            (SEND_FIRST, 0, 1, 2100),
            (SEND_MIDDLE, 1024, 1, 1076),
            (SEND_LAST, 2048, 1, 52),
            (SEND_ONLY_IMM, 0, 2, 5),
        ]
    );
}
