// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core that the interpreter runs.

use std::sync::Arc;

use carrick_interp::debug::Hook;
use carrick_interp::{Chains, Config};
use carrick_ir::{Function, Program};

use crate::core::{Completion, Core, FailedClaim, Record, Refused, Request};
use crate::ip;

/// The reference semantics as a core.
pub struct Interpreted(carrick_interp::Core);

impl Interpreted {
    /// A fresh core.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(program: Arc<Program>, config: &Config) -> Result<Interpreted, String> {
        let config = at_host(&program, config);
        carrick_interp::Core::new(program, &config).map(Interpreted)
    }

    /// A fresh core whose chains run elsewhere.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn with_chains(
        program: Arc<Program>,
        config: &Config,
        chains: Box<dyn Chains>,
    ) -> Result<Interpreted, String> {
        let config = at_host(&program, config);
        carrick_interp::Core::with_chains(program, &config, chains).map(Interpreted)
    }

    /// A fresh core that tells `hook` of every statement, by this number.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn debugged(
        program: Arc<Program>,
        config: &Config,
        number: usize,
        hook: Hook,
    ) -> Result<Interpreted, String> {
        let config = at_host(&program, config);
        carrick_interp::Core::debugged(program, &config, number, hook).map(Interpreted)
    }

    /// Appends what this core is between two inputs to `to`, but for its time and its configuration.
    pub fn save(&mut self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    /// The next packet has the identification of the first.
    pub fn renumber_packets(&mut self) {
        self.0.renumber_packets();
    }

    /// Its random numbers and its secret key are those of another seed from here on.
    pub fn reseed(&mut self, seed: u64) {
        self.0.reseed(seed);
    }

    /// Goes back to what was saved of such a core, at this time. Returns what of `from` is behind that.
    ///
    /// # Errors
    /// If it was not saved so.
    pub fn restore<'f>(&mut self, from: &'f [u8], now: u64) -> Result<&'f [u8], String> {
        self.0.restore(from, now).map_err(|e| e.to_string())
    }

    /// By what the instance with this handle is found: the parts of its id by name.
    pub fn identity(&self, handle: u64) -> Option<Vec<(&str, u64)>> {
        self.0.identity(handle)
    }
}

/// The configuration with the address that the host has over the program's network layer.
pub fn at_host(program: &Program, config: &Config) -> Config {
    let address = ip::address(program.net_header.layer, ip::host(config.address));
    Config { address, ..config.clone() }
}

impl Core for Interpreted {
    fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.0.rx(packet, now)
    }

    fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.0.rx_on(interface, packet, now)
    }

    fn tx_interface(&self) -> u32 {
        self.0.tx_interface()
    }

    fn call(&mut self, call: usize, request: Request<'_>, now: u64) -> Result<(), Refused> {
        self.0.call(call, &request, now)
    }

    fn advance(&mut self, now: u64) -> Result<(), Refused> {
        self.0.advance(now)
    }

    fn tx(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        self.0.tx(out, now)
    }

    fn next_deadline_before(&self, before: u64) -> Option<u64> {
        self.0.next_deadline().filter(|at| *at < before)
    }

    fn next_completion(&mut self) -> Option<Completion> {
        self.0.next_completion()
    }

    fn take_trace(&mut self, to: &mut Vec<Record>) {
        self.0.move_trace(to);
    }

    fn recycle_trace(&mut self, records: &mut Vec<Record>) {
        self.0.recycle_trace(records);
    }

    fn counters(&self) -> Vec<u64> {
        self.0.counters().to_vec()
    }

    fn failed_claims(&self) -> &[FailedClaim] {
        self.0.failed_claims()
    }

    fn open_contexts(&self) -> usize {
        self.0.open_contexts()
    }

    fn change(&mut self, change: &Function, handle: u64, now: u64) -> Result<Option<Record>, String> {
        let question = self.0.question(change)?;
        Ok(self.0.change(&question, handle, now))
    }
}
