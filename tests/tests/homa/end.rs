// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of RPCs, a core by itself, whose application and whose peers a test plays.

use std::ops::{Deref, DerefMut};

use carrick_driver::compile_file;
use carrick_interp::{Config, Data, Refused};
use carrick_tests::build::root;
use carrick_tests::end;

use crate::PROGRAM;
use crate::wire::{Packet, decode};

/// The address of the core, and that of the first peer; others have those that follow.
pub const HERE: u32 = 0x0a00_0001;
pub const PEER: u32 = 0x0a00_0002;
pub const MICROSECOND: u64 = 1_000;
pub const MILLISECOND: u64 = 1_000_000;

pub struct End(end::End);

impl Deref for End {
    type Target = end::End;

    fn deref(&self) -> &end::End {
        &self.0
    }
}

impl DerefMut for End {
    fn deref_mut(&mut self) -> &mut end::End {
        &mut self.0
    }
}

impl End {
    /// A core with these parameters (`name=value`).
    pub fn new(settings: &[&str]) -> End {
        let program = compile_file(&root().join(PROGRAM)).expect("readable").program.expect("without errors");
        let params = end::params(&program, settings);
        let config = Config { seed: 5, address: HERE.into(), params, trace: true, ..Config::default() };
        End(end::End::new(&program, &config))
    }

    /// An endpoint at a port; its handle.
    pub fn open(&mut self, port: u16) -> u64 {
        let fields = [("local_ip", u64::from(HERE)), ("local_port", u64::from(port))];
        let token = self.call("open", 0, &fields, Data::None);
        self.value(token)
    }

    /// A request to a peer's port 99; the handle of the RPC.
    pub fn request(&mut self, endpoint: u64, peer: u32, octets: &[u8]) -> u64 {
        let fields = [("remote_ip", u64::from(peer)), ("remote_port", 99), ("len", octets.len() as u64)];
        let token = self.call("request", endpoint, &fields, Data::Send(octets));
        self.value(token)
    }

    /// Gives the core a packet.
    pub fn give(&mut self, packet: &Packet) -> Result<(), Refused> {
        self.receive_octets(&packet.encode())
    }

    /// What the core sends now, and sent to take what came.
    pub fn sent(&mut self) -> Vec<Packet> {
        self.packets().iter().map(|(_, octets)| read(octets)).collect()
    }

    /// What it sends while a full network card lets some packets out.
    pub fn sent_soon(&mut self) -> Vec<Packet> {
        self.sent_within(10 * MICROSECOND).into_iter().map(|(_, packet)| packet).collect()
    }

    /// What it sends in the time that follows, each with its moment.
    pub fn sent_within(&mut self, duration: u64) -> Vec<(u64, Packet)> {
        self.pass(duration);
        self.packets().iter().map(|(at, octets)| (*at, read(octets))).collect()
    }
}

fn read(octets: &[u8]) -> Packet {
    decode(octets).unwrap_or_else(|| panic!("no packet of Homa: {octets:02x?}"))
}
