// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host: a core of `udp-retry`, and its application, which makes RPCs or serves them.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use carrick_driver::{Choice, Over, compile_choice};
use carrick_interp::{Config, Data};
use carrick_ir::Program;
use carrick_sim::ip;
use carrick_tests::build::root;
use carrick_tests::end::{self, End};

pub const PORT: u16 = 7;
const LONGEST: u64 = 64_000;

pub fn program(file: &str, over: Over) -> Arc<Program> {
    let choice = Choice { over, ..Choice::default() };
    compile_choice(&root().join(file), &choice).expect("readable").program.expect("without errors")
}

/// How an RPC ended.
pub struct Ended {
    pub request: Vec<u8>,
    /// the response, or the status
    pub response: Result<Vec<u8>, u8>,
}

pub struct Host {
    end: End,
    /// over IPv6, the host's in the simulator with this address (`carrick_sim::ip::address`)
    pub address: u32,
    endpoint: u64,
    /// RPCs that wait for their responses, with their requests
    open: Vec<(u64, Vec<u8>)>,
    accepting: Option<u64>,
    /// requests whose bytes are taken, with their handles
    taking: Vec<(u64, u64)>,
}

impl Deref for Host {
    type Target = End;

    fn deref(&self) -> &End {
        &self.end
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut End {
        &mut self.end
    }
}

impl Host {
    pub fn new(program: &Arc<Program>, address: u32, seed: u64, settings: &[&str]) -> Host {
        let params = end::params(program, settings);
        let address_of_core = ip::address(program.net_header.layer, address);
        let config = Config { seed, address: address_of_core, params, ..Config::default() };
        let mut end = End::new(program, &config);
        let fields = [("local_ip", u64::from(address)), ("local_port", u64::from(PORT))];
        let token = end.call("open", 0, &fields, Data::None);
        let endpoint = end.value(token);
        let mut host = Host { end, address, endpoint, open: Vec::new(), accepting: None, taking: Vec::new() };
        host.accept();
        host
    }

    fn accept(&mut self) {
        self.accepting = Some(self.end.call("accept", self.endpoint, &[], Data::None));
    }

    fn recv(&mut self, call: &str, rpc: u64) -> u64 {
        self.end.call(call, rpc, &[("len", LONGEST)], Data::Recv(LONGEST))
    }

    pub fn request(&mut self, peer: u32, request: &[u8]) {
        let fields =
            [("remote_ip", u64::from(peer)), ("remote_port", u64::from(PORT)), ("len", request.len() as u64)];
        let token = self.end.call("request", self.endpoint, &fields, Data::Send(request));
        let rpc = self.end.value(token);
        let token = self.recv("recv_response", rpc);
        self.open.push((token, request.to_vec()));
    }

    pub fn in_flight(&self) -> usize {
        self.open.len()
    }

    /// The RPCs of this client that have ended.
    pub fn ended(&mut self) -> Vec<Ended> {
        let (end, mut ended) = (&mut self.end, Vec::new());
        self.open.retain_mut(|(token, request)| {
            let Some(done) = end.outcome(*token) else { return true };
            let response = if done.status == 0 { Ok(done.data.expect("bytes")) } else { Err(done.status) };
            ended.push(Ended { request: std::mem::take(request), response });
            false
        });
        ended
    }

    /// Serves what has arrived. A request that its client has given up has no bytes any more.
    pub fn serve(&mut self, mut answer: impl FnMut(&[u8]) -> Vec<u8>) {
        while let Some(done) = self.accepting.and_then(|token| self.end.outcome(token)) {
            assert_eq!(done.status, 0, "`accept` does not fail");
            let token = self.recv("recv_request", done.value);
            self.taking.push((token, done.value));
            self.accept();
        }
        for (token, rpc) in std::mem::take(&mut self.taking) {
            match self.end.outcome(token) {
                None => self.taking.push((token, rpc)),
                Some(done) => {
                    let Some(request) = done.data.filter(|_| done.status == 0) else { continue };
                    let response = answer(&request);
                    let fields = [("len", response.len() as u64)];
                    let token = self.end.call("respond", rpc, &fields, Data::Send(&response));
                    assert_eq!(self.end.status(token), 0, "the response is taken");
                }
            }
        }
    }
}
