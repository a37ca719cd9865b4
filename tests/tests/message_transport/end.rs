// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end: a core by itself, whose application and whose network a test plays.

use std::sync::Arc;

use carrick_driver::{Choice, compile_choice, params};
use carrick_interp::{Completion, Config, Core, Data, Refused, Request};
use carrick_ir::{Program, Ty};
use carrick_tests::build::root;

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
    program: Arc<Program>,
    core: Core,
    pub address: u32,
    pub now: u64,
    token: u64,
    done: Vec<Completion>,
    out: Vec<Packet>,
}

impl End {
    pub fn new(program: &Arc<Program>, address: u32, seed: u64) -> End {
        let settings = [format!("mss_max={MSS}"), "fabric_rto=1ms".to_owned()];
        let params = params::values(program, &settings).expect("parameters of the program");
        let config = Config { seed, address, params, ..Config::default() };
        let core = Core::new(program.clone(), &config).expect("it starts");
        End { program: program.clone(), core, address, now: 0, token: 0, done: vec![], out: vec![] }
    }

    /// Makes a call with these values for the scalar fields of its event. Returns the request's token.
    pub fn call(&mut self, name: &str, handle: u64, fields: &[(&str, u64)], data: Data<'_>) -> u64 {
        let calls = &self.program.interface.as_ref().expect("an interface").calls;
        let number = calls.iter().position(|c| c.name == name).expect("such a call");
        let event = &self.program.events[calls[number].event.index()];
        let value = |name: &str| fields.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| *v);
        let args: Vec<u64> =
            event.fields.iter().filter(|f| f.ty != Ty::Addr).map(|f| value(&f.name)).collect();
        self.token += 1;
        self.drain();
        let request = Request { handle, token: self.token, args: &args, data };
        self.core.call(number, &request, self.now).expect("it is taken");
        self.token
    }

    /// Opens a connection to a host. Returns its handle.
    pub fn open(&mut self, remote: u32) -> u64 {
        let (local, port) = (u64::from(self.address), u64::from(PORT));
        let remote = [("remote_ip", u64::from(remote)), ("remote_port", port)];
        let fields = [&[("local_ip", local), ("local_port", port)][..], &remote].concat();
        let token = self.call("open", 0, &fields, Data::None);
        let done = self.outcome(token).expect("open completes at once");
        assert_eq!(done.status, 0);
        done.value
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
        self.outcome(token).expect("it completes at once").status
    }

    /// How a request ended, if it has.
    pub fn outcome(&mut self, token: u64) -> Option<Completion> {
        while let Some(done) = self.core.next_completion() {
            self.done.push(done);
        }
        let at = self.done.iter().position(|d| d.token == token)?;
        Some(self.done.remove(at))
    }

    /// Status of a request that has ended.
    #[track_caller]
    pub fn status(&mut self, token: u64) -> u8 {
        self.outcome(token).expect("it has ended").status
    }

    pub fn give(&mut self, packet: &Packet) -> Result<(), Refused> {
        self.drain();
        self.core.rx(&packet.encode(), self.now)
    }

    /// Gives bytes that may be no packet.
    pub fn give_octets(&mut self, octets: &[u8]) {
        self.drain();
        assert_ne!(self.core.rx(octets, self.now), Err(Refused::Again), "what it had to send was taken");
    }

    fn drain(&mut self) {
        let mut octets = Vec::new();
        while self.core.tx(&mut octets, self.now) {
            let packet = decode(&octets).unwrap_or_else(|| panic!("no such packet: {octets:02x?}"));
            self.out.push(packet);
        }
    }

    /// What the core has sent since the last call of this function.
    pub fn sent(&mut self) -> Vec<Packet> {
        self.drain();
        std::mem::take(&mut self.out)
    }

    pub fn deadline(&self) -> Option<u64> {
        self.core.next_deadline()
    }

    /// Lets time pass. Returns what the core sends.
    pub fn wait(&mut self, duration: u64) -> Vec<Packet> {
        let until = self.now + duration;
        self.drain();
        while let Some(at) = self.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.advance();
            self.drain();
        }
        self.now = until;
        self.sent()
    }

    pub fn advance(&mut self) {
        while self.core.advance(self.now) == Err(Refused::Again) {
            self.drain();
        }
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
