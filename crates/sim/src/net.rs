//! The event loop: hosts, links between them, virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use carrick_ir::NetLayer;

use crate::app::{App, Ask};
use crate::between::Between;
use crate::core::{Core, Record, Refused, Request};
use crate::interface::Interface;
use crate::link::Link;
use crate::observe::Observer;

/// What happens at a time. The order of the variants does not matter: ties are broken by when they were planned.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Happening {
    /// a packet (its number, and its index in the pool) reaches a host
    Arrival { host: usize, number: u64, packet: usize },
    /// a packet reaches the core between the hosts
    Passing { interface: u32, packet: usize },
    /// a timer of that core may be due
    TimerBetween,
    /// a host's timer may be due
    Timer { host: usize },
    /// an application asked to be woken
    Wake { host: usize, conn: usize },
    /// the observer wants to look
    Look,
}

/// A core with its application and its link to the others.
pub struct Host {
    pub core: Box<dyn Core>,
    pub app: App,
    pub uplink: Link,
    /// IPv4, host order
    pub address: u32,
    /// the earliest time for which a `Timer` is planned
    timer_at: u64,
    /// requests that the core refused for now
    refused: Vec<Ask>,
}

impl Host {
    /// A host that has not started.
    pub fn new(core: Box<dyn Core>, app: App, uplink: Link, address: u32) -> Host {
        Host { core, app, uplink, address, timer_at: u64::MAX, refused: Vec::new() }
    }
}

/// A network in virtual time.
pub struct Net<'o> {
    pub hosts: Vec<Host>,
    /// what all packets go through, if there is something
    pub between: Option<Between>,
    interface: Interface,
    layer: NetLayer,
    pub(crate) observer: &'o mut dyn Observer,
    /// whether cores report records
    pub(crate) tracing: bool,
    pub(crate) now: u64,
    planned: u64,
    heap: BinaryHeap<Reverse<(u64, u64, Happening)>>,
    packets: Vec<Vec<u8>>,
    free: Vec<usize>,
    /// used again and again
    pub(crate) records: Vec<Record>,
    asks: Vec<Ask>,
    args: Vec<u64>,
    /// packets that were made
    pub packets_made: u64,
}

impl<'o> Net<'o> {
    /// A network of these hosts.
    pub fn new(
        hosts: Vec<Host>,
        interface: Interface,
        layer: NetLayer,
        observer: &'o mut dyn Observer,
        tracing: bool,
    ) -> Self {
        Net {
            hosts,
            between: None,
            interface,
            layer,
            observer,
            tracing,
            now: 0,
            planned: 0,
            heap: BinaryHeap::new(),
            packets: Vec::new(),
            free: Vec::new(),
            records: Vec::new(),
            asks: Vec::new(),
            args: Vec::new(),
            packets_made: 0,
        }
    }

    /// Virtual nanoseconds since the beginning.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Runs until every application is done, nothing is left to happen, or the limit is reached. Afterwards `drain_ns` more
    /// virtual time passes, in which connections can end.
    pub fn run(&mut self, limit: u64, drain_ns: u64) {
        for at in self.observer.alarms() {
            self.plan(at, Happening::Look);
        }
        for host in (0..self.hosts.len()).rev() {
            self.hosts[host].app.start(0);
            self.pump(host);
        }
        let mut until = limit;
        let mut ending = false;
        while let Some(Reverse((at, _, happening))) = self.heap.pop() {
            if at > until || self.observer.enough() {
                break;
            }
            self.now = at;
            self.happen(happening);
            if !ending && self.hosts.iter().all(|h| h.app.done()) {
                ending = true;
                until = self.now.saturating_add(drain_ns).min(limit);
            }
        }
    }

    pub(crate) fn plan(&mut self, at: u64, happening: Happening) {
        self.planned += 1;
        self.heap.push(Reverse((at, self.planned, happening)));
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrival { host, number, packet } => {
                let octets = self.take_packet(packet);
                self.observer.arrived(self.now, host, number, &octets);
                while self.hosts[host].core.rx(&octets, self.now) == Err(Refused::Again) {
                    self.transmit(host);
                }
                self.give_packet(packet, octets);
                self.pump(host);
            }
            Happening::Passing { interface, packet } => self.passes(interface, packet),
            Happening::TimerBetween => self.timer_between(),
            Happening::Timer { host } => {
                self.hosts[host].timer_at = u64::MAX;
                while self.hosts[host].core.advance(self.now) == Err(Refused::Again) {
                    self.transmit(host);
                }
                self.pump(host);
            }
            Happening::Wake { host, conn } => {
                self.hosts[host].app.wake(conn, self.now);
                self.pump(host);
            }
            Happening::Look => {
                for (host, h) in self.hosts.iter_mut().enumerate() {
                    self.observer.attend(self.now, host, &mut *h.core);
                }
            }
        }
    }

    /// Lets everything out that a host has to say, until it has nothing more.
    fn pump(&mut self, host: usize) {
        loop {
            self.trace(host);
            let mut busy = self.transmit(host);
            busy |= self.requests(host);
            busy |= self.completions(host);
            if !busy {
                break;
            }
        }
        let h = &mut self.hosts[host];
        if let Some(deadline) = h.core.next_deadline() {
            let deadline = deadline.max(self.now);
            if deadline < h.timer_at {
                h.timer_at = deadline;
                self.plan(deadline, Happening::Timer { host });
            }
        }
    }

    fn trace(&mut self, host: usize) {
        if !self.tracing {
            return;
        }
        self.hosts[host].core.take_trace(&mut self.records);
        for record in self.records.drain(..) {
            self.observer.record(self.now, host, &record);
        }
        self.observer.attend(self.now, host, &mut *self.hosts[host].core);
    }

    /// Sends every packet that the core has; false if there was none.
    fn transmit(&mut self, host: usize) -> bool {
        let mut any = false;
        loop {
            let slot = self.free_slot();
            let mut octets = self.take_packet(slot);
            if !self.hosts[host].core.tx(&mut octets, self.now) {
                self.give_packet(slot, octets);
                return any;
            }
            any = true;
            self.trace(host);
            self.packets_made += 1;
            self.observer.sent(self.now, host, self.packets_made, &octets);
            self.forward(host, slot, octets);
        }
    }

    /// Puts a packet on its host's link, to the host that has its destination address, or to what is between.
    fn forward(&mut self, from: usize, slot: usize, mut octets: Vec<u8>) {
        let number = self.packets_made;
        let fate = self.hosts[from].uplink.send(&mut octets, self.now);
        self.observer.forwarded(self.now, from, number, &fate);
        if self.between.is_some() {
            let interface = from as u32;
            return self.carry(slot, octets, fate, |packet| Happening::Passing { interface, packet });
        }
        match self.receiver(from, &octets) {
            Some(host) => {
                self.carry(slot, octets, fate, |packet| Happening::Arrival { host, number, packet });
            }
            None => self.give_packet(slot, octets),
        }
    }

    /// A place among the packets that nobody uses.
    pub(crate) fn free_slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.packets.push(Vec::new());
            self.packets.len() - 1
        })
    }

    pub(crate) fn new_packet(&mut self, octets: Vec<u8>) -> usize {
        self.packets.push(octets);
        self.packets.len() - 1
    }

    /// The octets at a place, which stays taken.
    pub(crate) fn take_packet(&mut self, slot: usize) -> Vec<u8> {
        std::mem::take(&mut self.packets[slot])
    }

    pub(crate) fn put_packet(&mut self, slot: usize, octets: Vec<u8>) {
        self.packets[slot] = octets;
    }

    /// Gives a place back, with the room of its octets.
    pub(crate) fn give_packet(&mut self, slot: usize, octets: Vec<u8>) {
        self.packets[slot] = octets;
        self.free.push(slot);
    }

    /// Whom a packet reaches: the host that has its destination address; where it has none, the other end of the link.
    fn receiver(&self, from: usize, octets: &[u8]) -> Option<usize> {
        match self.layer {
            NetLayer::Ipv4 => {
                let destination = octets.get(16..20).map(|a| u32::from_be_bytes([a[0], a[1], a[2], a[3]]));
                self.hosts.iter().position(|h| Some(h.address) == destination)
            }
            NetLayer::Link => (0..self.hosts.len()).find(|host| *host != from),
        }
    }

    fn requests(&mut self, host: usize) -> bool {
        let mut asks = std::mem::take(&mut self.asks);
        asks.append(&mut self.hosts[host].refused);
        self.hosts[host].app.take_asks(&mut asks);
        let any = !asks.is_empty();
        for ask in asks.drain(..) {
            match ask {
                Ask::Wake { at, conn } => self.plan(at, Happening::Wake { host, conn }),
                Ask::Call { call, handle, ref args, token, ref data } => {
                    let Some(number) = self.interface.arguments(call, args, &mut self.args) else { continue };
                    let request = Request { handle, token, args: &self.args, data: data.as_data() };
                    let h = &mut self.hosts[host];
                    if h.core.call(number, request, self.now) == Err(Refused::Again) {
                        h.refused.push(ask);
                    } else {
                        self.trace(host);
                    }
                }
            }
        }
        self.asks = asks;
        any && self.hosts[host].refused.is_empty()
    }

    fn completions(&mut self, host: usize) -> bool {
        let mut any = false;
        while let Some(done) = self.hosts[host].core.next_completion() {
            any = true;
            self.observer.completed(self.now, host, &done);
            let h = &mut self.hosts[host];
            h.app.completed(&done, self.now);
            if let Some(octets) = done.data {
                h.core.recycle(octets);
            }
        }
        any
    }
}
