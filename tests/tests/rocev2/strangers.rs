// SPDX-License-Identifier: MIT OR Apache-2.0
//! What nobody should send: anything at all, packets cut short, and a whole conversation again.

use std::collections::HashSet;

use carrick_driver::Choice;
use carrick_interp::Data;

use crate::peer::{ACK, ACKNOWLEDGE, ADDR, End, KEY, OK, PSN, THEM, US, WRITE_FIRST, WRITE_ONLY, packet};
use crate::wire::{Packet, reth};

/// Keys of memory that may only be read, and that nobody registered.
const READ_ONLY: u32 = 5;
const NOBODYS: u32 = 6;

fn choices() -> [Choice; 3] {
    [&[][..], &["selective"], &["dcqcn", "selective"]].map(|features| Choice {
        with: features.iter().map(|f| ((*f).to_owned(), None)).collect(),
        ..Choice::default()
    })
}

/// Numbers that look random: xorshift64.
struct RandomSource(u64);

impl RandomSource {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A packet that is well made, its invariant CRC too, and may say anything.
    fn packet(&mut self) -> Packet {
        let known = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0x81];
        let anything = self.next() as u8;
        let opcode = if self.below(8) == 0 { anything } else { self.of(&known) };
        let near = self.of(&[PSN, PSN, 5, 5, 0x80_0000]).wrapping_add(self.below(9) as u32).wrapping_sub(2);
        let (key, addr) =
            (self.of(&[READ_ONLY, NOBODYS, 0, 1]), self.of(&[ADDR, ADDR + 4090, 0, 1024, u64::MAX]));
        let len = self.of(&[0, 1, 4, 8, 1024, 1028, 4096, 0x4000_0000, u32::MAX]);
        let aeth = vec![self.of(&[ACK, 0x20 | 14, 0x60, 0x61, 0x62, 0x7f]), 0, 0, self.below(4) as u8];
        let words = [reth(addr, key, len), aeth, (self.next() as u32).to_be_bytes().to_vec(), vec![]];
        let first = self.of(&[0, 0, 1, 3]);
        let extended = [words[first].clone(), words[self.of(&[2, 3, 3])].clone()].concat();
        let octets = self.of(&[0, 1, 4, 100, 1023, 1024, 1025]);
        let psn = if self.below(9) == 0 { self.next() as u32 } else { near };
        let (ask, marked) = (self.below(2) == 0, self.below(4) == 0);
        Packet { ask, marked, ..packet(opcode, psn, extended, vec![self.next() as u8; octets]) }
    }
}

/// A queue pair with requests of every kind open: their tokens.
fn busy(choice: &Choice) -> (End, HashSet<u64>) {
    let mut end = End::with(choice);
    end.memory(READ_ONLY, true, false);
    let mut tokens: HashSet<u64> =
        [100, 3000, 0].iter().map(|n| end.call("post_recv", &[*n], Data::Recv(*n))).collect();
    tokens.insert(end.call("post_send", &[2000, 0, 0], Data::Send(&[1; 2000])));
    tokens.insert(end.call("post_write", &[8, 1, 0, 1, 3], Data::Send(&[1; 8])));
    tokens.insert(end.call("post_read", &[3000, 1, 0], Data::Recv(3000)));
    end.out();
    (end, tokens)
}

/// Nothing is tried out of bounds, nothing completes twice or beyond its room, and memory that may not be written stays.
#[test]
fn packets_that_say_anything() {
    for choice in choices() {
        let mut random = RandomSource(0x1234_5678_9abc_def1);
        let mut executed = 0;
        for session in 0..60 {
            let (mut end, mut tokens) = busy(&choice);
            for _ in 0..40 {
                let stranger = random.packet();
                end.rx(&stranger).ok();
                end.out();
                end.now += random.below(2_000_000);
                end.core.advance(end.now).expect("it is taken");
                end.out();
                while let Some(done) = end.core.next_completion() {
                    assert!(tokens.remove(&done.token), "session {session}: {done:?} after {stranger:?}");
                    let octets = done.value & 0x7fff_ffff;
                    assert!(octets <= 3000, "session {session}: {done:?}");
                    executed += u32::from(done.status == OK);
                }
            }
            assert_eq!((end.counted("rx_cut"), end.counted("completion_lost")), (0, 0), "session {session}");
            // At a limited rate, packets wait that are flushed then.
            assert!(choice.with.len() == 2 || end.counted("payload_cut") == 0, "session {session}");
            assert!(end.taken_back(READ_ONLY) == [7; 4096], "session {session}: memory has changed");
        }
        assert!(executed > 20, "of what came, something must have been right: {executed}");
    }
}

/// Too short for what its opcode promises, or padded with more than there is: not a word, and nothing has happened.
#[test]
fn packets_cut_short() {
    for choice in choices() {
        let mut end = End::with(&choice);
        let receive = end.call("post_recv", &[3000], Data::Recv(3000));
        let longest = |opcode| match opcode {
            WRITE_FIRST | WRITE_ONLY | 12 => 16,
            11 => 20,
            13 | 15 | 16 | ACKNOWLEDGE | 3 | 5 | 9 => 4,
            _ => 0,
        };
        for opcode in [3, 5, WRITE_FIRST, 9, WRITE_ONLY, 11, 12, 13, 15, 16, ACKNOWLEDGE] {
            for len in 0..longest(opcode) {
                let cut = packet(opcode, PSN, reth(ADDR, KEY, 0)[..len.min(16)].to_vec(), vec![]);
                let mut cut =
                    Packet { extended: [cut.extended, vec![0; len.saturating_sub(16)]].concat(), ..cut };
                // What is no multiple of four is padded, which the pad count says.
                cut.payload = cut.extended.split_off(len / 4 * 4);
                end.rx(&cut).ok();
                assert_eq!(end.out(), Vec::<Vec<u8>>::new(), "opcode {opcode}, {len} octets");
            }
        }
        for pad in 1..=3 {
            let octets = packet(4, PSN, vec![], vec![]).octets_padded(pad, THEM, US);
            end.core.rx(&octets, end.now).ok();
            assert_eq!(end.out(), Vec::<Vec<u8>>::new(), "{pad} octets of padding, and none there");
        }
        assert_eq!(end.completion(receive), None);
        assert_eq!(end.says(&packet(WRITE_ONLY, PSN, reth(ADDR, KEY, 0), vec![]))[0].2, ACK, "it goes on");
        assert_eq!(end.memory_now(), [7; 4096]);
    }
}

/// Moves what both ends have to say until neither has any more: all packets, by the end that they went to.
fn converse(ends: &mut [End; 2]) -> [Vec<Vec<u8>>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    // At a limited rate a packet waits for its moment: 10 us are more than that takes.
    let mut quiet = 0;
    while quiet < 2 {
        quiet += 1;
        for from in [0, 1] {
            let to = 1 - from;
            ends[from].now += 10_000;
            for octets in ends[from].out() {
                quiet = 0;
                ends[to].core.rx(&octets, ends[to].now).expect("it is taken");
                all[to].push(octets);
            }
        }
    }
    all
}

/// A conversation once more, forwards and backwards: nothing is executed again, and what is open stays open.
#[test]
fn a_conversation_that_comes_again() {
    for choice in choices() {
        let mut ends = [End::with(&choice), End::other(&choice)];
        ends[1].call("post_recv", &[3000], Data::Recv(3000));
        ends[1].call("post_recv", &[0], Data::Recv(0));
        ends[0].call("post_send", &[3000, 0, 0], Data::Send(&[1; 3000]));
        ends[0].call("post_write", &[2000, KEY.into(), ADDR, 1, 3], Data::Send(&[2; 2000]));
        ends[0].call("post_read", &[4096, KEY.into(), ADDR], Data::Recv(4096));
        let said = converse(&mut ends);
        for (end, done) in ends.iter_mut().zip([3, 2]) {
            let all: Vec<_> = std::iter::from_fn(|| end.core.next_completion()).collect();
            assert_eq!(all.iter().filter(|d| d.status == OK).count(), done, "{all:?}");
        }
        // New work is open at both ends, and the memory is other than it was written.
        ends[1].call("post_recv", &[3000], Data::Recv(3000));
        ends[0].call("post_write", &[5, KEY.into(), ADDR, 0, 0], Data::Send(&[9; 5]));
        let last = ends[0].out();
        let now = ends[1].now;
        ends[1].core.rx(&last[0], now).expect("it is taken");
        let acknowledged = ends[1].out();
        for (end, packets) in ends.iter_mut().zip(&said) {
            for octets in packets.iter().chain(packets.iter().rev()) {
                end.core.rx(octets, end.now).expect("it is taken");
                end.out();
                assert_eq!(end.core.next_completion(), None, "{octets:02x?}");
            }
        }
        ends[0].core.rx(&acknowledged[0], now).expect("it is taken");
        assert_eq!(ends[0].core.next_completion().map(|d| (d.status, d.value)), Some((OK, 5)));
        let wanted = [&[9; 5][..], &[2; 1995], &[7; 2096]].concat();
        assert!(ends[1].memory_now() == wanted, "the memory has been written again");
    }
}
