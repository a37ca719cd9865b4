// SPDX-License-Identifier: MIT OR Apache-2.0
//! One core, and a peer made by hand that does what it should not.

use std::sync::Arc;

use carrick_driver::Choice;
use carrick_driver::compile::compile_choice;
use carrick_interp::{Completion, Config, Core, Data, Refused, Request};
use carrick_ir::{Program, Ty, counter};
use carrick_tests::build::root;

use crate::PROGRAM;
use crate::wire::{Packet, reth};

pub const US: u32 = 0x0a00_0001;
pub const THEM: u32 = 0x0a00_0002;
const QP: u32 = 17;
/// Where numbers wrap after three packets.
pub const PSN: u32 = 0xff_fffd;
pub const KEY: u32 = 0x1234;
pub const ADDR: u64 = 0x7000_0000_0000;
pub const OK: u8 = 0;
pub const ABORTED: u8 = 11;

/// Opcodes and syndromes, by their numbers in the specification.
const SEND_ONLY: u8 = 4;
pub const WRITE_FIRST: u8 = 6;
pub const WRITE_MIDDLE: u8 = 7;
pub const WRITE_LAST: u8 = 8;
pub const WRITE_ONLY: u8 = 10;
const READ_REQUEST: u8 = 12;
pub const ACKNOWLEDGE: u8 = 17;
const NOTIFICATION: u8 = 0x81;
pub const ACK: u8 = 0x1f;
pub const RNR: u8 = 0x20;
pub const OUT_OF_SEQUENCE: u8 = 0x60;
pub const INVALID_REQUEST: u8 = 0x61;
const REMOTE_ACCESS: u8 = 0x62;

pub struct End {
    pub core: Core,
    program: Arc<Program>,
    handle: u64,
    token: u64,
    pub now: u64,
}

impl End {
    /// A queue pair with a receive of 3000 bytes, and 4096 bytes of sevens in memory that may be read and written.
    fn new() -> End {
        End::with(&Choice::default())
    }

    pub fn with(choice: &Choice) -> End {
        End::at(choice, US, &[QP.into(), THEM.into(), 99, 5, PSN.into()])
    }

    /// The end to which such a queue pair leads.
    pub fn other(choice: &Choice) -> End {
        End::at(choice, THEM, &[99, US.into(), QP.into(), PSN.into(), 5])
    }

    fn at(choice: &Choice, address: u32, pair: &[u64]) -> End {
        let compiled = compile_choice(&root().join(PROGRAM), choice).expect("readable");
        let program = compiled.program.expect("no errors");
        let config = Config { seed: 1, address: address.into(), ..Config::default() };
        let core = Core::new(program.clone(), &config).expect("the defaults are valid");
        let mut end = End { core, program, handle: 0, token: 0, now: 0 };
        end.call("open", pair, Data::None);
        end.handle = end.core.next_completion().expect("it is open").value;
        end.memory(KEY, true, true);
        end
    }

    pub fn memory(&mut self, key: u32, may_read: bool, may_write: bool) -> u64 {
        let args = [4096, key.into(), ADDR, may_read.into(), may_write.into()];
        self.call("register", &args, Data::Shared(&[7; 4096]))
    }

    pub fn call(&mut self, name: &str, args: &[u64], data: Data<'_>) -> u64 {
        let calls = &self.program.interface.as_ref().expect("an interface").calls;
        let number = calls.iter().position(|c| c.name == name).expect("such a call");
        let fields = &self.program.events[calls[number].event.index()].fields;
        assert_eq!(fields.iter().filter(|f| f.ty != Ty::Addr).count(), args.len(), "{name}");
        self.token += 1;
        let request = Request { handle: self.handle, token: self.token, args, data };
        self.core.call(number, &request, self.now).expect("it is taken");
        self.token
    }

    pub fn rx(&mut self, packet: &Packet) -> Result<(), Refused> {
        self.core.rx(&packet.octets(THEM, US), self.now)
    }

    /// What the core says to that: opcode, number, syndrome of each packet without payload.
    pub fn says(&mut self, packet: &Packet) -> Vec<(u8, u32, u8)> {
        self.rx(packet).expect("it is taken");
        self.out().iter().map(|p| (p[28], u32::from_be_bytes([0, p[37], p[38], p[39]]), p[40])).collect()
    }

    pub fn out(&mut self) -> Vec<Vec<u8>> {
        let (mut all, mut packet) = (Vec::new(), Vec::new());
        while self.core.tx(&mut packet, self.now) {
            all.push(packet.clone());
        }
        all
    }

    pub fn completion(&mut self, token: u64) -> Option<Completion> {
        let mut found = None;
        while let Some(done) = self.core.next_completion() {
            if done.token == token {
                assert!(found.is_none(), "completed twice");
                found = Some(done);
            }
        }
        found
    }

    pub fn counted(&self, name: &str) -> u64 {
        self.core.counters()[counter(name)]
    }

    /// Takes the memory back: what is there now.
    pub fn memory_now(&mut self) -> Vec<u8> {
        self.taken_back(KEY)
    }

    /// As [`End::memory_now`], of this key.
    pub fn taken_back(&mut self, key: u32) -> Vec<u8> {
        self.call("deregister", &[key.into()], Data::None);
        let mut all = std::iter::from_fn(|| self.core.next_completion());
        all.find_map(|done| done.data).expect("it comes back")
    }
}

pub fn packet(opcode: u8, psn: u32, extended: Vec<u8>, payload: Vec<u8>) -> Packet {
    Packet { opcode, qp: QP, psn: psn & 0xff_ffff, ask: true, marked: false, extended, payload }
}

/// It refuses, for good: with this syndrome, the receive flushed, the memory as it was, and nothing said ever after.
fn refused(packets: &[Packet], syndrome: u8) {
    let mut end = End::new();
    let receive = end.call("post_recv", &[3000], Data::Recv(3000));
    let last = packets.len() - 1;
    for packet in &packets[..last] {
        end.rx(packet).expect("it is taken");
    }
    end.out();
    assert_eq!(end.says(&packets[last]), [(ACKNOWLEDGE, packets[last].psn, syndrome)], "{packets:?}");
    let done = end.completion(receive).expect("the receive is flushed");
    assert_eq!((done.status, done.data), (ABORTED, None), "{packets:?}");
    assert_eq!(end.says(&packet(SEND_ONLY, PSN, vec![], vec![1])), [], "it is over");
    if last == 0 {
        assert_eq!(end.memory_now(), [7; 4096], "{packets:?}");
    }
    assert_eq!(end.counted("rx_cut") + end.counted("payload_cut"), 0, "nothing out of bounds was even tried");
}

#[test]
fn a_key_that_is_not_registered() {
    for opcode in [WRITE_ONLY, READ_REQUEST] {
        let octets = if opcode == WRITE_ONLY { 8 } else { 0 };
        refused(&[packet(opcode, PSN, reth(ADDR, KEY + 1, 8), vec![1; octets])], REMOTE_ACCESS);
    }
}

#[test]
fn addresses_out_of_bounds() {
    let bad = [
        (ADDR + 4089, 8),
        (ADDR + 4096, 1),
        (ADDR - 1, 8),
        (ADDR - 8, 8),
        (0, 8),
        (u64::MAX - 3, 8),
        (u64::MAX, 1),
        (ADDR, 4097),
        (ADDR + 1, 4096),
        (ADDR, 0x4000_0000),
    ];
    for (addr, len) in bad {
        refused(&[packet(READ_REQUEST, PSN, reth(addr, KEY, len), vec![])], REMOTE_ACCESS);
        let (opcode, octets) = if len > 1024 { (WRITE_FIRST, 1024) } else { (WRITE_ONLY, len as usize) };
        refused(&[packet(opcode, PSN, reth(addr, KEY, len), vec![1; octets])], REMOTE_ACCESS);
    }
}

#[test]
fn impossible_lengths_and_orders() {
    let write = |len| reth(ADDR, KEY, len);
    refused(&[packet(WRITE_ONLY, PSN, write(8), vec![1; 9])], INVALID_REQUEST);
    refused(&[packet(WRITE_ONLY, PSN, write(9), vec![1; 8])], INVALID_REQUEST);
    refused(&[packet(WRITE_FIRST, PSN, write(3000), vec![1; 1000])], INVALID_REQUEST);
    refused(&[packet(WRITE_FIRST, PSN, write(1024), vec![1; 1024])], INVALID_REQUEST);
    refused(&[packet(WRITE_MIDDLE, PSN, vec![], vec![1; 1024])], INVALID_REQUEST);
    refused(&[packet(WRITE_LAST, PSN, vec![], vec![1; 10])], INVALID_REQUEST);
    refused(&[packet(SEND_ONLY, PSN, vec![], vec![1; 1028])], INVALID_REQUEST);
    refused(&[packet(READ_REQUEST, PSN, write(0x8000_0000), vec![])], INVALID_REQUEST);
    refused(&[packet(READ_REQUEST, PSN, write(8), vec![1; 8])], INVALID_REQUEST);
    let first = packet(WRITE_FIRST, PSN, write(3000), vec![7; 1024]);
    refused(&[first.clone(), packet(WRITE_LAST, PSN + 1, vec![], vec![1; 1000])], INVALID_REQUEST);
    refused(&[first.clone(), packet(SEND_ONLY, PSN + 1, vec![], vec![1])], INVALID_REQUEST);
    let middle = packet(WRITE_MIDDLE, PSN + 1, vec![], vec![7; 1024]);
    refused(&[first, middle, packet(WRITE_MIDDLE, PSN + 2, vec![], vec![1; 1024])], INVALID_REQUEST);
}

#[test]
fn memory_that_may_not_be_read_or_written() {
    let mut end = End::new();
    end.memory(5, true, false);
    assert_eq!(
        end.says(&packet(WRITE_ONLY, PSN, reth(ADDR, 5, 8), vec![1; 8])),
        [(ACKNOWLEDGE, PSN, REMOTE_ACCESS)]
    );
    let mut end = End::new();
    end.memory(5, false, true);
    assert_eq!(
        end.says(&packet(READ_REQUEST, PSN, reth(ADDR, 5, 8), vec![])),
        [(ACKNOWLEDGE, PSN, REMOTE_ACCESS)]
    );
    assert_eq!(end.memory_now(), [7; 4096]);
}

#[test]
fn a_write_changes_its_octets_and_no_others() {
    let mut end = End::new();
    let write = packet(WRITE_ONLY, PSN, reth(ADDR + 4091, KEY, 5), vec![1; 5]);
    assert_eq!(end.says(&write), [(ACKNOWLEDGE, PSN, ACK)]);
    let first = packet(WRITE_FIRST, PSN + 1, reth(ADDR, KEY, 1030), vec![2; 1024]);
    assert_eq!(end.says(&first), [(ACKNOWLEDGE, PSN + 1, ACK)]);
    assert_eq!(end.says(&packet(WRITE_LAST, PSN + 2, vec![], vec![3; 6])), [(ACKNOWLEDGE, PSN + 2, ACK)]);
    let wanted = [&[2; 1024][..], &[3; 6], &[7; 3061], &[1; 5]].concat();
    assert_eq!(end.memory_now(), wanted);
}

#[test]
fn numbers_that_come_again_or_too_early() {
    let mut end = End::new();
    let receive = end.call("post_recv", &[3000], Data::Recv(3000));
    let send = packet(SEND_ONLY, PSN, vec![], vec![4; 5]);
    let early = packet(SEND_ONLY, PSN + 2, vec![], vec![5; 5]);
    assert_eq!(end.says(&early), [(ACKNOWLEDGE, PSN, OUT_OF_SEQUENCE)]);
    assert_eq!(end.says(&early), [], "once");
    assert_eq!(end.says(&send), [(ACKNOWLEDGE, PSN, ACK)]);
    assert_eq!(end.says(&send), [(ACKNOWLEDGE, PSN, ACK)], "again, without effect");
    let done = end.completion(receive).expect("it is there");
    assert_eq!((done.status, done.value), (OK, 5));
    assert_eq!(done.data.expect("bytes")[..5], [4; 5]);
    assert_eq!(end.says(&early), [(ACKNOWLEDGE, PSN + 1, OUT_OF_SEQUENCE)], "early anew");
}

#[test]
fn a_receiver_that_is_not_ready() {
    let mut end = End::new();
    let send = packet(SEND_ONLY, PSN, vec![], vec![4; 5]);
    assert_eq!(end.says(&send), [(ACKNOWLEDGE, PSN, RNR | 14)]);
    assert_eq!(end.says(&packet(SEND_ONLY, PSN + 1, vec![], vec![1])), [], "that is known");
    end.call("post_recv", &[5], Data::Recv(5));
    assert_eq!(end.says(&send), [(ACKNOWLEDGE, PSN, ACK)]);
    end.call("post_recv", &[5], Data::Recv(5));
    let long = packet(SEND_ONLY, PSN + 1, vec![], vec![1; 6]);
    assert_eq!(end.says(&long), [(ACKNOWLEDGE, PSN + 1, INVALID_REQUEST)], "longer than its receive");
}

/// The requester waits as long as it is told, then sends from there on.
#[test]
fn a_requester_waits_for_a_receiver() {
    let mut end = End::new();
    let send = end.call("post_send", &[5, 0, 0], Data::Send(&[1; 5]));
    assert_eq!(end.out().len(), 1);
    let aeth = |syndrome: u8| vec![syndrome, 0, 0, 0];
    assert_eq!(end.says(&packet(ACKNOWLEDGE, 5, aeth(RNR | 14), vec![])), []);
    end.now += 1_270_000;
    end.core.advance(end.now).expect("it is taken");
    assert_eq!(end.out().len(), 0, "1.28 ms are not over");
    end.now += 10_000;
    end.core.advance(end.now).expect("it is taken");
    assert_eq!(end.out().len(), 1);
    end.rx(&packet(ACKNOWLEDGE, 5, aeth(ACK), vec![])).expect("it is taken");
    assert_eq!(end.completion(send).expect("done").status, OK);
}

#[test]
fn acknowledgements_and_answers_that_nobody_is_owed() {
    let mut end = End::new();
    let send = end.call("post_send", &[5, 0, 0], Data::Send(&[1; 5]));
    end.out();
    for psn in [6, 7, 4, 0x80_0005, 0xff_ffff] {
        for syndrome in [ACK, RNR | 3, OUT_OF_SEQUENCE, INVALID_REQUEST, REMOTE_ACCESS, 0xff] {
            end.rx(&packet(ACKNOWLEDGE, psn, vec![syndrome, 0, 0, 0], vec![])).expect("it is taken");
        }
        end.rx(&packet(16, psn, vec![ACK, 0, 0, 0], vec![1; 8])).expect("it is taken");
    }
    assert_eq!(end.completion(send), None);
    end.rx(&packet(ACKNOWLEDGE, 5, vec![REMOTE_ACCESS, 0, 0, 0], vec![])).expect("it is taken");
    assert_eq!(end.completion(send).expect("it has failed").status, 2, "refused");
}

#[test]
fn an_answer_of_another_length_than_was_asked_for() {
    for len in [0, 4, 9, 12] {
        let mut end = End::new();
        let read = end.call("post_read", &[8, 1, 0], Data::Recv(8));
        end.out();
        end.rx(&packet(16, 5, vec![ACK, 0, 0, 0], vec![1; len])).expect("it is taken");
        let done = end.completion(read).expect("it has failed");
        assert_eq!((done.status, done.data), (8, None), "{len} octets");
    }
}

/// What waits to be sent of memory that has been taken back is not sent.
#[test]
fn memory_is_taken_back_while_it_is_read() {
    let mut end = End::new();
    end.rx(&packet(READ_REQUEST, PSN, reth(ADDR, KEY, 4096), vec![])).expect("it is taken");
    let mut first = Vec::new();
    assert!(end.core.tx(&mut first, end.now));
    assert_eq!(first[44..44 + 1024], [7; 1024]);
    assert_eq!(end.memory_now(), [7; 4096]);
    assert_eq!(end.out().len(), 0);
    assert_eq!(end.counted("payload_cut"), 2, "the middle and the last packet");
}

/// A timer runs out before each answer, and before a long wait: the peer is there all the same.
#[test]
fn a_peer_that_answers_is_not_given_up() {
    for syndrome in [RNR | 14, OUT_OF_SEQUENCE] {
        let mut end = End::new();
        let send = end.call("post_send", &[5, 0, 0], Data::Send(&[1; 5]));
        end.out();
        for _ in 0..20 {
            for _ in 0..2 {
                end.now = end.core.next_deadline().expect("a timer runs");
                end.core.advance(end.now).expect("it is taken");
                assert_eq!(end.out().len(), 1, "sent again");
            }
            end.rx(&packet(ACKNOWLEDGE, 5, vec![syndrome, 0, 0, 0], vec![])).expect("it is taken");
            end.out();
        }
        assert_eq!(end.completion(send), None, "it is still tried");
        end.rx(&packet(ACKNOWLEDGE, 5, vec![ACK, 0, 0, 0], vec![])).expect("it is taken");
        assert_eq!(end.completion(send).expect("done").status, OK);
    }
}

/// The answers to a READ were lost, and its memory is not registered any more: the requester is told so, of that READ.
#[test]
fn a_read_that_comes_again_too_late_is_refused_by_its_own_number() {
    let mut end = End::new();
    end.call("post_recv", &[3000], Data::Recv(3000));
    let read = packet(READ_REQUEST, PSN, reth(ADDR, KEY, 8), vec![]);
    end.rx(&read).expect("it is taken");
    let send = packet(SEND_ONLY, PSN + 1, vec![], vec![1]);
    assert_eq!(end.says(&send).last(), Some(&(ACKNOWLEDGE, PSN + 1, ACK)));
    end.memory_now();
    assert_eq!(end.says(&read), [(ACKNOWLEDGE, PSN, REMOTE_ACCESS)]);

    let mut end = End::new();
    let read = end.call("post_read", &[8, KEY.into(), ADDR], Data::Recv(8));
    end.call("post_send", &[5, 0, 0], Data::Send(&[1; 5]));
    end.out();
    end.rx(&packet(ACKNOWLEDGE, 5, vec![REMOTE_ACCESS, 0, 0, 0], vec![])).expect("it is taken");
    assert_eq!(end.completion(read).expect("it has failed").status, 2, "refused");
}

/// A peer that stops: so many tries, then the work request fails and all others are flushed.
#[test]
fn a_peer_that_stops() {
    let mut end = End::new();
    let tokens = [1, 2, 3].map(|_| end.call("post_send", &[5, 0, 0], Data::Send(&[1; 5])));
    let mut sent = end.out().len();
    while let Some(at) = end.core.next_deadline() {
        end.now = at;
        end.core.advance(at).expect("it is taken");
        sent += end.out().len();
    }
    assert_eq!(sent, 3 * 8, "once, and seven times again");
    let ended: Vec<(u64, u8)> =
        std::iter::from_fn(|| end.core.next_completion()).map(|d| (d.token, d.status)).collect();
    assert_eq!(ended, [(tokens[0], 4), (tokens[1], ABORTED), (tokens[2], ABORTED)]);
}

/// Of packets that a switch has marked the peer is told, and not too often; being told, this end sends at half the rate.
#[test]
fn congestion_is_told_and_heard_of() {
    let mut end = End::with(&Choice { with: [("dcqcn".to_owned(), None)].into(), ..Choice::default() });
    let early = Packet { marked: true, ..packet(SEND_ONLY, PSN + 9, vec![], vec![1]) };
    let told = |end: &mut End| {
        end.rx(&early).expect("it is taken");
        end.now += 1_000_000;
        let out = end.out();
        out.iter().filter(|p| p[28] == NOTIFICATION && p.len() == 60).count()
    };
    assert_eq!(told(&mut end), 1);
    end.rx(&early).expect("it is taken");
    end.now += 49_000;
    assert_eq!((told(&mut end), told(&mut end)), (1, 1), "one of the two within 50 us");
    // At 100 Gbit/s a packet of 1068 bytes takes 85 ns; at the half of that, twice as long.
    let gap = |end: &mut End| {
        end.call("post_send", &[4096, 0, 0], Data::Send(&[1; 4096]));
        let mut gaps = Vec::new();
        let mut packet = Vec::new();
        for _ in 0..3 {
            let began = end.now;
            while !end.core.tx(&mut packet, end.now) {
                end.now = end.core.next_deadline().expect("it waits for its moment");
            }
            gaps.push(end.now - began);
        }
        end.now += 1_000;
        end.out();
        gaps[2]
    };
    let before = gap(&mut end);
    assert!((80..=90).contains(&before), "{before} ns");
    end.rx(&packet(NOTIFICATION, 0, vec![0; 16], vec![])).expect("it is taken");
    let after = gap(&mut end);
    assert!((160..=180).contains(&after), "{after} ns");
}

#[test]
fn packets_that_are_none_of_ours() {
    let mut end = End::new();
    let send = packet(SEND_ONLY, PSN, vec![], vec![4; 5]);
    assert_eq!(end.says(&Packet { qp: QP + 1, ..send.clone() }), [], "of no queue pair");
    let right = send.octets(THEM, US);
    assert_eq!(end.core.rx(&send.octets(THEM + 1, US), 0), Ok(()), "of another host");
    assert_eq!(end.out().len(), 0);
    for at in 20..right.len() {
        let mut wrong = right.clone();
        wrong[at] ^= 1;
        // What routers and switches may change, the CRC does not see.
        if ![26, 27, 32].contains(&at) {
            let counted = end.counted("bad_checksum");
            assert!(matches!(end.core.rx(&wrong, 0), Err(Refused::Dropped(_))), "octet {at}");
            assert_eq!(end.counted("bad_checksum"), counted + 1, "octet {at}");
        }
    }
    for len in 0..right.len() {
        assert!(end.core.rx(&right[..len], 0).is_err(), "{len} octets");
    }
    assert_eq!(end.out().len(), 0);
}
