// SPDX-License-Identifier: MIT OR Apache-2.0
//! Somebody who speaks to a server packet by packet, well or badly.

use carrick_driver::compile_file;
use carrick_interp::{Completion, Config, Core, Data, Refused, Request};
use carrick_sim::interface::{Arg, Args, Call, Interface, args};
use carrick_tests::build::root;

use crate::wire::{HANDSHAKE, Heard, INITIAL, Packet, VERSION, octets, varint};

pub const SERVER: (u32, u16) = (0x0a00_0002, 4433);
pub const CLIENT: (u32, u16) = (0x0a00_0001, 5000);
pub const MS: u64 = 1_000_000;
const OUR_ID: u64 = 0x1122_3344_5566_7788;
const FIRST_ID: u64 = 0x0102_0304_0506_0708;

/// A client that is not one of ours, and the core of its server.
pub struct Peer {
    pub core: Core,
    interface: Interface,
    pub now: u64,
    token: u64,
    /// where it speaks from
    pub address: (u32, u16),
    /// the id of the server's to which it speaks
    pub dcid: u64,
    /// of the next packet
    pub number: u32,
    /// what the server's application was given
    pub connection: u64,
    /// packets of the server's that a switch may mark
    pub markable: u64,
}

impl Peer {
    /// A server that listens.
    pub fn new() -> Peer {
        Peer::of_server(&[])
    }

    /// A server that listens, with these parameters.
    pub fn of_server(settings: &[(&str, u64)]) -> Peer {
        let path = root().join("protocols/quic-lite/quic-lite.mtp");
        let program = compile_file(&path).expect("readable").program.expect("no errors");
        let interface = Interface::of(&program).expect("a shape");
        let value = |name: &str| settings.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
        let params = program.params.iter().map(|p| value(&p.name).unwrap_or(p.default)).collect();
        let config = Config { seed: 7, address: SERVER.0.into(), params, ..Config::default() };
        let core = Core::new(program, &config).expect("the defaults are valid");
        let mut peer = Peer {
            core,
            interface,
            now: 0,
            token: 0,
            address: CLIENT,
            dcid: FIRST_ID,
            number: 0,
            connection: 0,
            markable: 0,
        };
        let at = [(Arg::LocalIp, SERVER.0.into()), (Arg::LocalPort, SERVER.1.into()), (Arg::Backlog, 4)];
        let listener = peer.complete(Call::Listen, 0, args(&at), Data::None);
        peer.ask(Call::Accept, listener.value, Args::default(), Data::None);
        peer
    }

    /// A server with which the handshake is over.
    pub fn connected() -> Peer {
        let mut peer = Peer::new();
        let opening = peer.opening(&peer.parameters());
        let answer = peer.tell(&opening);
        assert_eq!((answer.len(), answer[0].long), (1, Some(HANDSHAKE)), "{answer:?}");
        assert!(matches!(answer[0].heard()[..], [Heard::Ack(_), Heard::Crypto(_)]), "{answer:?}");
        peer.dcid = answer[0].scid;
        let heard = peer.say(&[1]);
        assert!(heard.contains(&Heard::Done), "{heard:?}");
        peer.connection = peer.completion().expect("the application is told").value;
        peer
    }

    /// Transport parameters that let the server do as it likes.
    pub fn parameters(&self) -> Vec<u8> {
        let number = |id: u64, value: u64| {
            let value = octets(&varint(value));
            [octets(&varint(id)), octets(&varint(value.len() as u64)), value].concat()
        };
        let id = [vec![0x0f, 8], OUR_ID.to_be_bytes().to_vec()].concat();
        [number(4, 1 << 30), number(5, 1 << 30), number(6, 1 << 30), number(8, 100), id].concat()
    }

    /// A client's first packet.
    pub fn opening(&mut self, parameters: &[u8]) -> Packet {
        let mut payload = vec![6, 0];
        payload.extend(octets(&varint(parameters.len() as u64)));
        payload.extend(parameters);
        payload.resize(1200, 0);
        let mut packet = self.packet(payload);
        packet.long = Some(INITIAL);
        packet
    }

    /// The next packet with these frames.
    pub fn packet(&mut self, payload: Vec<u8>) -> Packet {
        self.number += 1;
        Packet {
            from: self.address,
            to: SERVER,
            mark: 0,
            long: None,
            version: VERSION,
            dcid: self.dcid,
            scid: OUR_ID,
            number: self.number - 1,
            token: Vec::new(),
            payload,
            size: 0,
        }
    }

    /// Sends a packet; what comes back.
    pub fn tell(&mut self, packet: &Packet) -> Vec<Packet> {
        self.throw(&packet.write())
    }

    /// Sends bytes; what comes back.
    pub fn throw(&mut self, octets: &[u8]) -> Vec<Packet> {
        let taken = self.core.rx(octets, self.now);
        assert!(taken != Err(Refused::Again), "there is room");
        self.listen()
    }

    /// Sends bytes; the bytes of what comes back.
    pub fn raw(&mut self, octets: &[u8]) -> Vec<Vec<u8>> {
        self.core.rx(octets, self.now).expect("there is room");
        let (mut octets, mut all) = (Vec::new(), Vec::new());
        while self.core.tx(&mut octets, self.now) {
            all.push(octets.clone());
        }
        all
    }

    /// Sends the frames in a packet of their own; the frames that come back.
    pub fn say(&mut self, frames: &[u8]) -> Vec<Heard> {
        let packet = self.packet(frames.to_vec());
        self.tell(&packet).iter().flat_map(Packet::heard).collect()
    }

    /// What the server sends now.
    pub fn listen(&mut self) -> Vec<Packet> {
        let (mut octets, mut all) = (Vec::new(), Vec::new());
        while self.core.tx(&mut octets, self.now) {
            all.push(Packet::read(&octets));
            self.markable += u64::from(octets[1] & 3 != 0);
        }
        all
    }

    /// Lets time pass, timer by timer; what the server sends meanwhile, and when.
    pub fn wait(&mut self, ns: u64) -> Vec<(u64, Packet)> {
        let (until, mut all) = (self.now + ns, Vec::new());
        while let Some(due) = self.core.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.core.advance(self.now).expect("there is room");
            all.extend(self.listen().into_iter().map(|packet| (self.now, packet)));
        }
        self.now = until;
        all
    }

    /// The server's application makes a request.
    pub fn ask(&mut self, call: Call, handle: u64, given: Args, data: Data<'_>) {
        let mut all = Vec::new();
        let number = self.interface.arguments(call, &given, &mut all).expect("a call of the program");
        self.token += 1;
        let request = Request { handle, token: self.token, args: &all, data };
        self.core.call(number, &request, self.now).expect("there is room");
    }

    pub fn completion(&mut self) -> Option<Completion> {
        self.core.next_completion()
    }

    /// The server's application makes a request that completes at once.
    pub fn complete(&mut self, call: Call, handle: u64, given: Args, data: Data<'_>) -> Completion {
        self.ask(call, handle, given, data);
        let done = self.completion().expect("it completes");
        assert_eq!(done.token, self.token);
        done
    }

    /// The next stream that this end opened, as the server's application sees it.
    pub fn accept_stream(&mut self) -> u64 {
        self.complete(Call::AcceptStream, self.connection, Args::default(), Data::None).value
    }

    /// The server's application sends bytes on a stream.
    pub fn send(&mut self, stream: u64, octets: &[u8]) -> Vec<Packet> {
        let len = args(&[(Arg::Len, octets.len() as u64)]);
        self.ask(Call::Send, stream, len, Data::Send(octets));
        self.listen()
    }

    /// How often something was counted.
    pub fn counted(&self, name: &str) -> u64 {
        self.core.counters()[carrick_ir::counter(name)]
    }
}
