//! Whoever looks on: traces, captures, metrics, comparison.

use crate::core::{Completion, Record};

/// Told of everything in the order in which it happens. Times are virtual nanoseconds.
pub trait Observer {
    /// A host's core made a packet.
    fn sent(&mut self, _now: u64, _host: usize, _packet: &[u8]) {}
    /// A packet reached a host.
    fn arrived(&mut self, _now: u64, _host: usize, _packet: &[u8]) {}
    /// A trace record of a host's core.
    fn record(&mut self, _now: u64, _host: usize, _record: &Record) {}
    /// A request of a host's application completed.
    fn completed(&mut self, _now: u64, _host: usize, _completion: &Completion) {}
}

/// Nobody.
#[derive(Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {}

/// Several at once.
pub struct All<'a>(pub Vec<&'a mut dyn Observer>);

impl Observer for All<'_> {
    fn sent(&mut self, now: u64, host: usize, packet: &[u8]) {
        self.0.iter_mut().for_each(|o| o.sent(now, host, packet));
    }

    fn arrived(&mut self, now: u64, host: usize, packet: &[u8]) {
        self.0.iter_mut().for_each(|o| o.arrived(now, host, packet));
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.0.iter_mut().for_each(|o| o.record(now, host, record));
    }

    fn completed(&mut self, now: u64, host: usize, completion: &Completion) {
        self.0.iter_mut().for_each(|o| o.completed(now, host, completion));
    }
}
