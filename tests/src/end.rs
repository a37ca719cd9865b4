// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end: a core by itself, whose application and whose network a test plays.

use std::sync::Arc;

use carrick_interp::{Completion, Config, Core, Data, Refused, Request};
use carrick_ir::{FieldDef, NetLayer, Program, Ty};
use carrick_sim::ip;

/// A core, what it has completed, and what it has sent.
pub struct End {
    program: Arc<Program>,
    core: Core,
    /// nanoseconds
    pub now: u64,
    token: u64,
    done: Vec<Completion>,
    out: Vec<(u64, Vec<u8>)>,
}

/// The parameters of a program, of which some have these values (`name=value`).
///
/// # Panics
/// If the program has no such parameter, or it cannot have the value.
#[track_caller]
pub fn params(program: &Program, settings: &[&str]) -> Vec<u64> {
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    carrick_driver::params::values(program, &settings).expect("parameters of the program")
}

impl End {
    /// Starts a core.
    ///
    /// # Panics
    /// If the configuration is not valid.
    pub fn new(program: &Arc<Program>, config: &Config) -> End {
        let core = Core::new(program.clone(), config).expect("it starts");
        End { program: program.clone(), core, now: 0, token: 0, done: Vec::new(), out: Vec::new() }
    }

    /// Makes a call with these values for the scalar fields of its event, and 0 for others. An address over IPv6 is that of the
    /// simulator's host with this one. Returns the request's token.
    ///
    /// # Panics
    /// If there is no such call, or it is refused.
    #[track_caller]
    pub fn call(&mut self, name: &str, handle: u64, fields: &[(&str, u64)], data: Data<'_>) -> u64 {
        let calls = &self.program.interface.as_ref().expect("an interface").calls;
        let number = calls.iter().position(|c| c.name == name).expect("such a call");
        let event = &self.program.events[calls[number].event.index()];
        let value = |name: &str| fields.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| *v);
        let words = |field: &FieldDef| match (&field.ty, value(&field.name)) {
            (Ty::Addr, _) => Vec::new(),
            (Ty::Id(_), host) => {
                let address = ip::address(NetLayer::Ipv6, host as u32);
                vec![(address >> 64) as u64, address as u64]
            }
            (_, value) => vec![value],
        };
        let args: Vec<u64> = event.fields.iter().flat_map(words).collect();
        self.token += 1;
        self.drain();
        let request = Request { handle, token: self.token, args: &args, data };
        self.core.call(number, &request, self.now).expect("it is taken");
        self.token
    }

    /// How a request ended, if it has.
    pub fn outcome(&mut self, token: u64) -> Option<Completion> {
        while let Some(done) = self.core.next_completion() {
            self.done.push(done);
        }
        let at = self.done.iter().position(|d| d.token == token)?;
        Some(self.done.remove(at))
    }

    /// The status of a request that has ended.
    ///
    /// # Panics
    /// If it has not.
    #[track_caller]
    pub fn status(&mut self, token: u64) -> u8 {
        self.outcome(token).expect("it has ended").status
    }

    /// The value of a request that has ended well.
    ///
    /// # Panics
    /// If it has not.
    #[track_caller]
    pub fn value(&mut self, token: u64) -> u64 {
        let done = self.outcome(token).expect("it has ended");
        assert_eq!(done.status, 0, "it has not ended well");
        done.value
    }

    /// Gives the core a packet, when all that it had to send is out.
    ///
    /// # Errors
    /// Why it does not take the packet.
    pub fn receive_octets(&mut self, octets: &[u8]) -> Result<(), Refused> {
        self.drain();
        self.core.rx(octets, self.now)
    }

    fn drain(&mut self) {
        let mut octets = Vec::new();
        while self.core.tx(&mut octets, self.now) {
            self.out.push((self.now, octets.clone()));
        }
    }

    /// What the core has sent since this was asked last, each packet with its moment.
    pub fn packets(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.drain();
        std::mem::take(&mut self.out)
    }

    /// Lets time pass. Timers end when they are due, and packets leave at once.
    pub fn pass(&mut self, duration: u64) {
        let until = self.now + duration;
        self.drain();
        while let Some(at) = self.core.next_deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.advance();
            self.drain();
        }
        self.now = until;
    }

    /// Lets what is due now happen.
    pub fn advance(&mut self) {
        while self.core.advance(self.now) == Err(Refused::Again) {
            self.drain();
        }
    }

    /// When the next timer is due.
    pub fn deadline(&self) -> Option<u64> {
        self.core.next_deadline()
    }

    /// A counter of the core.
    pub fn counter(&self, name: &str) -> u64 {
        self.core.counters()[carrick_ir::counter(name)]
    }

    /// Contexts that are open.
    pub fn open_contexts(&self) -> usize {
        self.core.open_contexts()
    }
}
