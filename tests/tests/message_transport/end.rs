// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end: a core by itself, whose application and whose network a test plays.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use carrick_driver::{Choice, compile_choice};
use carrick_interp::{Config, Data, Refused};
use carrick_ir::Program;
use carrick_tests::build::root;
use carrick_tests::end;

use crate::wire::{ANSWER, ASK, CONFIRM, Packet, decode};

pub const HERE: u32 = 0x0a00_0001;
pub const PEER: u32 = 0x0a00_0002;
pub const PORT: u16 = 7;
pub const MICROSECOND: u64 = 1_000;
pub const MILLISECOND: u64 = 1_000_000;
/// The MSS of the tests.
pub const MSS: u32 = 1000;
/// The key and the first number of a peer that a test plays.
pub const PEER_KEY: u32 = 77;
pub const PEER_BELOW: u32 = 5000;
/// Virtual channels of that peer.
const PEER_CHANNELS: u8 = 16;

/// The program with these features; `-f` leaves one out.
pub fn program(features: &[&str]) -> Arc<Program> {
    let mut choice = Choice::default();
    for text in features {
        match text.strip_prefix('-') {
            Some(name) => choice.without.push(name.to_owned()),
            None => choice.add(text),
        }
    }
    let file = root().join("protocols/message-transport/message-transport.mtp");
    compile_choice(&file, &choice).expect("readable").program.expect("without errors")
}

pub struct End {
    end: end::End,
    pub address: u32,
}

impl Deref for End {
    type Target = end::End;

    fn deref(&self) -> &end::End {
        &self.end
    }
}

impl DerefMut for End {
    fn deref_mut(&mut self) -> &mut end::End {
        &mut self.end
    }
}

impl End {
    pub fn new(program: &Arc<Program>, address: u32, seed: u64) -> End {
        let params = end::params(program, &[&format!("mss_max={MSS}"), "fabric_rto=1ms"]);
        let config = Config { seed, address: address.into(), params, ..Config::default() };
        End { end: end::End::new(program, &config), address }
    }

    /// Opens a connection to a host. Returns its handle.
    pub fn open(&mut self, remote: u32) -> u64 {
        let (local, port) = (u64::from(self.address), u64::from(PORT));
        let remote = [("remote_ip", u64::from(remote)), ("remote_port", port)];
        let fields = [&[("local_ip", local), ("local_port", port)][..], &remote].concat();
        let token = self.call("open", 0, &fields, Data::None);
        self.value(token)
    }

    pub fn send(&mut self, handle: u64, octets: &[u8]) -> u64 {
        self.call("send", handle, &[("len", octets.len() as u64)], Data::Send(octets))
    }

    pub fn receive(&mut self, handle: u64) -> u64 {
        let most = 64_000;
        self.call("recv", handle, &[("len", most)], Data::Recv(most))
    }

    pub fn add_pathlet(&mut self, kind: u64, address: u32) -> u8 {
        let fields = [("kind", kind), ("address", u64::from(address))];
        let token = self.call("add_pathlet", 0, &fields, Data::None);
        self.status(token)
    }

    pub fn give(&mut self, packet: &Packet) -> Result<(), Refused> {
        self.receive_octets(&packet.encode())
    }

    /// Gives bytes that may be no packet.
    pub fn give_octets(&mut self, octets: &[u8]) {
        assert_ne!(self.receive_octets(octets), Err(Refused::Again), "what it had to send was taken");
    }

    /// What the core has sent since the last call of this function.
    pub fn sent(&mut self) -> Vec<Packet> {
        let read = |octets: &[u8]| decode(octets).unwrap_or_else(|| panic!("no such packet: {octets:02x?}"));
        self.packets().iter().map(|(_, octets)| read(octets)).collect()
    }

    /// Lets time pass. Returns what the core sends.
    pub fn wait(&mut self, duration: u64) -> Vec<Packet> {
        self.pass(duration);
        self.sent()
    }

    /// A packet of the peer that a test plays.
    pub fn peer_packet(&self, msg_no: u32) -> Packet {
        let (dst, port) = (self.address, PORT);
        Packet { src: PEER, dst, sport: port, dport: port, msg_no, ..Packet::default() }
    }

    /// An answer to a segment, from the peer or a pathlet in its place.
    pub fn answer(&self, to: &Packet, acks: u8) -> Packet {
        Packet { acks, vc: to.vc, msg_len: to.msg_len, ..self.peer_packet(to.msg_no) }
    }

    /// A packet of the handshake, from the peer that a test plays.
    pub fn opening(&self, step: u8, peer_key: u32) -> Packet {
        Packet {
            seg_no: MSS as u16,
            msg_len: 64_000,
            vc: PEER_CHANNELS,
            opening: Some((step, PEER_KEY, peer_key)),
            ..self.peer_packet(PEER_BELOW)
        }
    }

    /// Opens the connection from this end, with a first message that is still to be acknowledged. Returns its first packets.
    pub fn connect(&mut self, handle: u64, first: &[u8]) -> (u64, Vec<Packet>) {
        let token = self.send(handle, first);
        let ask = self.sent().pop().expect("it asks");
        let (step, key, _) = ask.opening.expect("a packet of the handshake");
        assert_eq!(step, ASK);
        self.give(&self.opening(ANSWER, key)).expect("it is taken");
        let mut sent = self.sent();
        assert_eq!(sent.remove(0).opening, Some((CONFIRM, key, PEER_KEY)));
        (token, sent)
    }
}
