// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network, interpreted and compiled at once: both do the same, packet by packet.

use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compiled;
use carrick_driver::{Failure, Over};
use carrick_interp::{Config, Refused};
use carrick_ir::{NetLayer, Program};
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::core::Core;
use carrick_sim::scenario::Engine;
use carrick_tests::end;
use carrick_tests::net::skip;

use crate::host::program;

/// A program and, if there is a C compiler, its library.
pub struct InNetwork {
    program: Arc<Program>,
    compiled: Option<(Rc<CompiledProgram>, Built)>,
}

impl InNetwork {
    pub fn new(file: &str) -> InNetwork {
        InNetwork::over(file, Over::Ipv4)
    }

    pub fn over(file: &str, over: Over) -> InNetwork {
        let program = program(file, over);
        let compiled = match compiled::shared_library(&program, Tracing::Off) {
            Ok(library) => Some((CompiledProgram::load(&library.path, &program).expect("it loads"), library)),
            Err(Failure::Missing(what)) => {
                skip(&what);
                None
            }
            Err(failure) => panic!("{failure}"),
        };
        InNetwork { program, compiled }
    }

    pub fn layer(&self) -> NetLayer {
        self.program.net_header.layer
    }

    pub fn start(&self, settings: &[&str], seed: u64) -> Node {
        let params = end::params(&self.program, settings);
        let config = Config { seed, params, ..Config::default() };
        let compiled = self.compiled.iter().map(|(compiled, _)| Engine::Compiled(compiled.clone()));
        let engines = [Engine::Interpreter].into_iter().chain(compiled);
        Node(engines.map(|engine| engine.core(&self.program, &config, 0).expect("it starts")).collect())
    }
}

/// The cores of one program.
pub struct Node(Vec<Box<dyn Core>>);

impl Node {
    /// What all cores say.
    #[track_caller]
    fn all<T: PartialEq + std::fmt::Debug>(&mut self, ask: impl Fn(&mut dyn Core) -> T) -> T {
        let mut said: Vec<T> = self.0.iter_mut().map(|core| ask(core.as_mut())).collect();
        assert!(said.iter().all(|one| *one == said[0]), "interpreted and compiled: {said:?}");
        said.swap_remove(0)
    }

    pub fn receive(&mut self, interface: u32, octets: &[u8], now: u64) {
        // Why a packet is dropped, only counters say of both.
        let again = self.all(|core| core.rx_on(interface, octets, now) == Err(Refused::Again));
        assert!(!again, "all that it had to send is out");
    }

    pub fn advance(&mut self, now: u64) {
        let again = self.all(|core| core.advance(now) == Err(Refused::Again));
        assert!(!again, "all that it had to send is out");
    }

    /// The next packet that it sends, and its interface.
    pub fn send(&mut self, now: u64) -> Option<(u32, Vec<u8>)> {
        self.all(|core| {
            let mut octets = Vec::new();
            core.tx(&mut octets, now).then(|| (core.tx_interface(), octets))
        })
    }

    pub fn deadline(&mut self) -> Option<u64> {
        self.all(|core| core.next_deadline())
    }

    pub fn open_contexts(&mut self) -> usize {
        self.all(|core| (core.counters(), core.open_contexts())).1
    }
}
