//! A core: one instance of a program.

use std::sync::Arc;

use carrick_ir::Program;

use crate::api::*;

/// One instance of a program, with all its contexts, timers, data and queues.
pub struct Core {
    counters: Vec<u64>,
}

impl Core {
    /// Makes a core.
    ///
    /// # Errors
    /// Says which part of the configuration is outside its range.
    pub fn new(program: Arc<Program>, config: &Config) -> Result<Core, String> {
        let _ = (program, config);
        Err("not there yet".to_owned())
    }

    /// A packet from the network, beginning with its IPv4 header.
    ///
    /// # Errors
    /// [`Refused::Again`] and [`Refused::Dropped`].
    pub fn rx(&mut self, _packet: &[u8], _now: u64) -> Result<(), Refused> {
        Err(Refused::Again)
    }

    /// A request, of the interface's call with this number.
    ///
    /// # Errors
    /// [`Refused::Again`] and [`Refused::BadArg`].
    pub fn call(&mut self, _call: usize, _request: &Request<'_>, _now: u64) -> Result<(), Refused> {
        Err(Refused::Again)
    }

    /// Fires the timers that are due.
    ///
    /// # Errors
    /// [`Refused::Again`] if some are left because the blueprint queue is full.
    pub fn advance(&mut self, _now: u64) -> Result<(), Refused> {
        Err(Refused::Again)
    }

    /// Makes the next packet, in place of what `out` held. False if there is none.
    pub fn tx(&mut self, _out: &mut Vec<u8>, _now: u64) -> bool {
        false
    }

    /// When the next timer is due, in nanoseconds.
    pub fn next_deadline(&self) -> Option<u64> {
        None
    }

    /// The oldest completion.
    pub fn next_completion(&mut self) -> Option<Completion> {
        None
    }

    /// The trace records since the last time.
    pub fn take_trace(&mut self) -> Vec<Record> {
        Vec::new()
    }

    /// By number, as [`COUNTERS`](carrick_ir::COUNTERS) names them.
    pub fn counters(&self) -> &[u64] {
        &self.counters
    }

    /// Open instances over all contexts.
    pub fn open_contexts(&self) -> usize {
        0
    }
}
