// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whoever looks on: traces, captures, metrics, comparison.

use crate::app::Ask;
use crate::core::{Completion, Core, Record, RecordSet};
use crate::faults::Fate;

/// Told of everything in the order in which it happens. Times are virtual nanoseconds.
pub trait Observer {
    /// The trace records of hosts that it reads.
    fn reads(&self) -> RecordSet {
        RecordSet::ALL
    }
    /// The same of cores in the network.
    fn reads_at(&self) -> RecordSet {
        RecordSet::ALL
    }
    /// A host's core made a packet. All packets of a run are numbered from 1.
    fn sent(&mut self, _now: u64, _host: usize, _number: u64, _packet: &[u8]) {}
    /// What the link does to the packet that its host has just sent.
    fn forwarded(&mut self, _now: u64, _host: usize, _number: u64, _fate: &Fate) {}
    /// A packet, or a copy of it with its number, reached a host.
    fn arrived(&mut self, _now: u64, _host: usize, _number: u64, _packet: &[u8]) {}
    /// A trace record of a host's core.
    fn record(&mut self, _now: u64, _host: usize, _record: &Record) {}
    /// A request of a host's application completed.
    fn completed(&mut self, _now: u64, _host: usize, _completion: &Completion) {}
    /// A host's application has started, was woken, or saw a completion; these are its requests since the last time.
    fn asked(&mut self, _host: usize, _asks: &[Ask]) {}
    /// The core between the hosts lets a packet out by one of its interfaces.
    fn passed(&mut self, _now: u64, _interface: usize, _packet: &[u8]) {}
    /// A trace record of a core in the network, whose program is not that of the hosts; stations are numbered from 0.
    fn record_at(&mut self, _now: u64, _station: usize, _record: &Record) {}
    /// As [`Observer::attend`], of a core in the network.
    fn attend_at(&mut self, _now: u64, _station: usize, _core: &mut dyn Core) {}
    /// When it wants to look at the cores, beside the times at which something happens.
    fn alarms(&self) -> Vec<u64> {
        Vec::new()
    }
    /// A core has taken an input, and all records of it are told, but no packet of it is sent; or an alarm came.
    fn attend(&mut self, _now: u64, _host: usize, _core: &mut dyn Core) {}
    /// Contexts that are to be changed, of stacks that run elsewhere: the host and the handle of each.
    fn take_changes(&mut self) -> Vec<(usize, u64)> {
        Vec::new()
    }
    /// All records of what a host has done up to now are told.
    fn settled(&mut self, _now: u64, _host: usize) {}
    /// Whether the run may end now: there is nothing more to see.
    fn enough(&self) -> bool {
        false
    }
}

/// Who is told of what happens.
pub struct Watch<'o> {
    pub observer: &'o mut dyn Observer,
    /// whether cores report records
    tracing: bool,
    /// used again and again
    records: Vec<Record>,
}

impl<'o> Watch<'o> {
    /// Somebody, who wants the records of cores if they report any.
    pub fn new(observer: &'o mut dyn Observer, tracing: bool) -> Watch<'o> {
        Watch { observer, tracing, records: Vec::new() }
    }

    /// Tells what a host's core has reported, and lets the observer look into it.
    pub fn trace(&mut self, core: &mut dyn Core, host: usize, now: u64) {
        if !self.tracing {
            return;
        }
        core.take_trace(&mut self.records);
        self.records.iter().for_each(|record| self.observer.record(now, host, record));
        core.recycle_trace(&mut self.records);
        self.observer.attend(now, host, core);
    }

    /// The same of the core between the hosts.
    pub fn trace_between(&mut self, core: &mut dyn Core, now: u64) {
        if !self.tracing {
            return;
        }
        core.take_trace(&mut self.records);
        self.records.iter().for_each(|record| self.observer.record_at(now, 0, record));
        core.recycle_trace(&mut self.records);
        self.observer.attend_at(now, 0, core);
    }
}

/// Nobody.
#[derive(Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn reads(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn reads_at(&self) -> RecordSet {
        RecordSet::NONE
    }
}

/// Several at once.
pub struct All<'a>(pub Vec<&'a mut dyn Observer>);

impl Observer for All<'_> {
    fn reads(&self) -> RecordSet {
        self.0.iter().fold(RecordSet::NONE, |all, o| all.and(o.reads()))
    }

    fn reads_at(&self) -> RecordSet {
        self.0.iter().fold(RecordSet::NONE, |all, o| all.and(o.reads_at()))
    }

    fn sent(&mut self, now: u64, host: usize, number: u64, packet: &[u8]) {
        self.0.iter_mut().for_each(|o| o.sent(now, host, number, packet));
    }

    fn forwarded(&mut self, now: u64, host: usize, number: u64, fate: &Fate) {
        self.0.iter_mut().for_each(|o| o.forwarded(now, host, number, fate));
    }

    fn arrived(&mut self, now: u64, host: usize, number: u64, packet: &[u8]) {
        self.0.iter_mut().for_each(|o| o.arrived(now, host, number, packet));
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.0.iter_mut().for_each(|o| o.record(now, host, record));
    }

    fn completed(&mut self, now: u64, host: usize, completion: &Completion) {
        self.0.iter_mut().for_each(|o| o.completed(now, host, completion));
    }

    fn asked(&mut self, host: usize, asks: &[Ask]) {
        self.0.iter_mut().for_each(|o| o.asked(host, asks));
    }

    fn passed(&mut self, now: u64, interface: usize, packet: &[u8]) {
        self.0.iter_mut().for_each(|o| o.passed(now, interface, packet));
    }

    fn record_at(&mut self, now: u64, station: usize, record: &Record) {
        self.0.iter_mut().for_each(|o| o.record_at(now, station, record));
    }

    fn attend_at(&mut self, now: u64, station: usize, core: &mut dyn Core) {
        self.0.iter_mut().for_each(|o| o.attend_at(now, station, core));
    }

    fn alarms(&self) -> Vec<u64> {
        self.0.iter().flat_map(|o| o.alarms()).collect()
    }

    fn attend(&mut self, now: u64, host: usize, core: &mut dyn Core) {
        self.0.iter_mut().for_each(|o| o.attend(now, host, core));
    }

    fn settled(&mut self, now: u64, host: usize) {
        self.0.iter_mut().for_each(|o| o.settled(now, host));
    }

    fn enough(&self) -> bool {
        self.0.iter().any(|o| o.enough())
    }
}

/// Somebody who looks on at one program in the network, as if it ran at host 0, and at nothing else.
pub struct Inside<O> {
    pub station: usize,
    pub observer: O,
}

impl<O: Observer> Observer for Inside<O> {
    fn reads(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn reads_at(&self) -> RecordSet {
        self.observer.reads()
    }

    fn record_at(&mut self, now: u64, station: usize, record: &Record) {
        if station == self.station {
            self.observer.record(now, 0, record);
        }
    }

    fn attend_at(&mut self, now: u64, station: usize, core: &mut dyn Core) {
        if station == self.station {
            self.observer.attend(now, 0, core);
        }
    }

    fn alarms(&self) -> Vec<u64> {
        self.observer.alarms()
    }

    fn enough(&self) -> bool {
        self.observer.enough()
    }
}
