// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event loop: hosts, links between them, virtual time.

use carrick_ir::NetLayer;

use crate::app::{App, Ask};
use crate::calls::{self, Calls};
use crate::core::{Core, Refused, plan_earlier};
use crate::event_queue::EventQueue;
use crate::fabric::packets::Packets;
use crate::faults::Fate;
use crate::icmp;
use crate::interface::Interface;
use crate::ip;
use crate::link::Link;
use crate::middlebox::Middlebox;
use crate::observe::{Observer, Watch};
use crate::stop::Stop;

/// What happens at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happening {
    /// a packet (its number, and its place in the pool) reaches a host
    Arrival { host: usize, number: u64, packet: u32 },
    /// a packet reaches the core between the hosts
    Passing { interface: u32, packet: u32 },
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
    /// requests that are to be made, those first that the core refused for now
    asks: Vec<Ask>,
}

impl Host {
    /// A host that has not started.
    pub fn new(core: Box<dyn Core>, app: App, uplink: Link, address: u32) -> Host {
        Host { core, app, uplink, address, timer_at: u64::MAX, asks: Vec::new() }
    }

    fn collect(&mut self, host: usize, observer: &mut dyn Observer) {
        calls::collect(&mut self.app, &mut self.asks, host, observer);
    }
}

/// A network in virtual time.
pub struct Net<'o> {
    pub hosts: Vec<Host>,
    /// what all packets go through, if there is something
    pub between: Option<Middlebox>,
    calls: Calls,
    layer: NetLayer,
    pub(crate) watch: Watch<'o>,
    pub(crate) now: u64,
    event_queue: EventQueue<Happening>,
    pub(crate) packets: Packets,
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
            calls: Calls::new(interface),
            layer,
            watch: Watch::new(observer, tracing),
            now: 0,
            event_queue: EventQueue::default(),
            packets: Packets::default(),
            packets_made: 0,
        }
    }

    /// Virtual nanoseconds since the beginning.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Runs until every application is done, nothing is left to happen, or the limit is reached. Afterwards `drain_ns` more
    /// virtual time passes, in which connections can end.
    pub fn run(&mut self, limit: u64, drain_ns: u64, stop: &Stop) {
        for at in self.watch.observer.alarms() {
            self.plan(at, Happening::Look);
        }
        for host in (0..self.hosts.len()).rev() {
            self.hosts[host].app.start(0);
            self.hosts[host].collect(host, self.watch.observer);
            self.pump(host);
        }
        let mut until = limit;
        let (mut ending, mut calls) = (false, 0);
        while let Some((at, happening)) = self.event_queue.next() {
            if at > until || self.watch.observer.enough() || stop.is_set_at_times(&mut calls) {
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
        self.event_queue.plan(at, happening);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrival { host, number, packet } => {
                let octets = self.packets.lend(packet);
                self.watch.observer.arrived(self.now, host, number, &octets);
                while self.hosts[host].core.rx(&octets, self.now) == Err(Refused::Again) {
                    self.transmit(host);
                }
                self.packets.end_with(packet, octets);
                self.pump(host);
            }
            Happening::Passing { interface, packet } => self.passes(interface, packet),
            Happening::TimerBetween => self.timer_between(),
            // Another timer of this time, or an earlier one, was planned too, and has done what was due.
            Happening::Timer { host } if self.hosts[host].timer_at != self.now => {}
            Happening::Timer { host } => {
                self.hosts[host].timer_at = u64::MAX;
                while self.hosts[host].core.advance(self.now) == Err(Refused::Again) {
                    self.transmit(host);
                }
                self.pump(host);
            }
            Happening::Wake { host, conn } => {
                self.hosts[host].app.wake(conn, self.now);
                self.hosts[host].collect(host, self.watch.observer);
                self.pump(host);
            }
            Happening::Look => {
                for (host, h) in self.hosts.iter_mut().enumerate() {
                    self.watch.observer.attend(self.now, host, &mut *h.core);
                }
                if let Some(between) = &mut self.between {
                    self.watch.observer.attend_at(self.now, 0, &mut *between.core);
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
        if let Some(at) = plan_earlier(&*h.core, &mut h.timer_at, self.now) {
            self.plan(at, Happening::Timer { host });
        }
    }

    fn trace(&mut self, host: usize) {
        self.watch.trace(&mut *self.hosts[host].core, host, self.now);
    }

    /// Sends every packet that the core has; false if there was none.
    fn transmit(&mut self, host: usize) -> bool {
        let mut any = false;
        loop {
            let (slot, mut octets) = self.packets.begin();
            if !self.hosts[host].core.tx(&mut octets, self.now) {
                self.packets.end_with(slot, octets);
                return any;
            }
            any = true;
            self.trace(host);
            self.packets_made += 1;
            self.watch.observer.sent(self.now, host, self.packets_made, &octets);
            self.forward(host, slot, octets);
        }
    }

    /// Puts a packet on its host's link, to the host that has its destination address, or to what is between.
    fn forward(&mut self, from: usize, slot: u32, mut octets: Vec<u8>) {
        let number = self.packets_made;
        let fate = self.hosts[from].uplink.send(&mut octets, self.now);
        self.watch.observer.forwarded(self.now, from, number, &fate);
        self.report(from, &octets, &fate);
        if self.between.is_some() {
            let interface = from as u32;
            return self.carry(slot, octets, fate, |packet| Happening::Passing { interface, packet });
        }
        match self.receiver(from, &octets) {
            Some(host) => {
                self.carry(slot, octets, fate, |packet| Happening::Arrival { host, number, packet });
            }
            None => self.packets.end_with(slot, octets),
        }
    }

    /// The path's router reports to a host that its packet was too long.
    fn report(&mut self, host: usize, about: &[u8], fate: &Fate) {
        let Some((mtu, at)) = fate.report else { return };
        let Some(report) = icmp::too_big(mtu, about) else { return };
        self.packets_made += 1;
        let (packet, _) = self.packets.begin();
        self.packets.put(packet, report);
        self.plan(at, Happening::Arrival { host, number: self.packets_made, packet });
    }

    /// Whom a packet reaches: the host that has its destination address; where it has none, the other end of the link.
    fn receiver(&self, from: usize, octets: &[u8]) -> Option<usize> {
        match self.layer {
            layer @ (NetLayer::Ipv4 | NetLayer::Ipv6) => {
                let destination = ip::destination(layer, octets);
                self.hosts.iter().position(|h| Some(ip::address(layer, h.address)) == destination)
            }
            NetLayer::Link => (0..self.hosts.len()).find(|host| *host != from),
        }
    }

    fn requests(&mut self, host: usize) -> bool {
        let (h, event_queue, now) = (&mut self.hosts[host], &mut self.event_queue, self.now);
        let wake = |at, conn| event_queue.plan(at, Happening::Wake { host, conn });
        let watch = &mut self.watch;
        self.calls.make(&mut *h.core, &mut h.asks, now, wake, |core| watch.trace(core, host, now))
    }

    fn completions(&mut self, host: usize) -> bool {
        let (h, observer, now) = (&mut self.hosts[host], &mut *self.watch.observer, self.now);
        let Host { core, app, asks, .. } = h;
        calls::completions(&mut **core, |done| {
            observer.completed(now, host, done);
            app.completed(done, now);
            calls::collect(app, asks, host, observer);
        })
    }
}
