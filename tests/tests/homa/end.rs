// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of RPCs, a core by itself, whose application and whose peers a test plays.

use std::sync::Arc;

use carrick_driver::{compile_file, params};
use carrick_interp::{Completion, Config, Core, Data, Refused, Request};
use carrick_ir::{Program, Ty};
use carrick_tests::build::root;

use crate::PROGRAM;
use crate::wire::{Packet, decode};

/// The address of the core, and that of the first peer; others have those that follow.
pub const HERE: u32 = 0x0a00_0001;
pub const PEER: u32 = 0x0a00_0002;
pub const MICROSECOND: u64 = 1_000;
pub const MILLISECOND: u64 = 1_000_000;

pub struct End {
    program: Arc<Program>,
    core: Core,
    pub now: u64,
    token: u64,
    done: Vec<Completion>,
    /// what it sent so that it would take something
    out: Vec<Packet>,
}

impl End {
    /// A core with these parameters (`name=value`).
    pub fn new(settings: &[&str]) -> End {
        let program = compile_file(&root().join(PROGRAM)).expect("readable").program.expect("without errors");
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        let params = params::values(&program, &settings).expect("parameters of the program");
        let config = Config { seed: 5, address: HERE, params, trace: true, ..Config::default() };
        let core = Core::new(program.clone(), &config).expect("it starts");
        End { program, core, now: 0, token: 0, done: Vec::new(), out: Vec::new() }
    }

    /// Makes a call, with these values for the scalar fields of its event; the request's token.
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

    /// How a request ended, if it has.
    pub fn outcome(&mut self, token: u64) -> Option<Completion> {
        while let Some(done) = self.core.next_completion() {
            self.done.push(done);
        }
        let at = self.done.iter().position(|d| d.token == token)?;
        Some(self.done.remove(at))
    }

    /// The value of a request that ended well.
    #[track_caller]
    pub fn value(&mut self, token: u64) -> u64 {
        let done = self.outcome(token).expect("it has ended");
        assert_eq!(done.status, 0, "it has not ended well");
        done.value
    }

    /// Gives the core a packet.
    pub fn give(&mut self, packet: &Packet) -> Result<(), Refused> {
        self.give_octets(&packet.encode())
    }

    pub fn give_octets(&mut self, octets: &[u8]) -> Result<(), Refused> {
        self.drain();
        self.core.rx(octets, self.now)
    }

    /// A core with packets to send may refuse what comes until they are out.
    fn drain(&mut self) {
        let mut octets = Vec::new();
        while self.core.tx(&mut octets, self.now) {
            let packet = decode(&octets).unwrap_or_else(|| panic!("no packet of Homa: {octets:02x?}"));
            self.out.push(packet);
        }
    }

    /// What the core sends now, and sent to take what came.
    pub fn sent(&mut self) -> Vec<Packet> {
        self.drain();
        std::mem::take(&mut self.out)
    }

    /// What it sends while a full network card lets some packets out.
    pub fn sent_soon(&mut self) -> Vec<Packet> {
        self.sent_within(10 * MICROSECOND).into_iter().map(|(_, packet)| packet).collect()
    }

    /// What it sends in the time that follows, each with its moment.
    pub fn sent_within(&mut self, duration: u64) -> Vec<(u64, Packet)> {
        let end = self.now + duration;
        let mut all = Vec::new();
        loop {
            all.extend(self.sent().into_iter().map(|p| (self.now, p)));
            match self.core.next_deadline().filter(|at| *at <= end) {
                Some(at) => {
                    self.now = self.now.max(at);
                    while self.core.advance(self.now) == Err(Refused::Again) {
                        all.extend(self.sent().into_iter().map(|p| (self.now, p)));
                    }
                }
                None => break,
            }
        }
        self.now = end;
        all
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.core.counters()[carrick_ir::counter(name)]
    }

    pub fn open_contexts(&self) -> usize {
        self.core.open_contexts()
    }
}
