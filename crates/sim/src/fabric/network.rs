// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event loop: moves packets from port to port, and lets hosts work.

use std::collections::BTreeMap;

use super::cross::{self, Source};
use super::flows::{FIRST_LOOK, Flows};
use super::groups::Groups;
use super::host::Host;
use super::host_apps::host_at;
use super::packets::{self, Packets};
use super::port::{PRIORITIES, Port, Waiting};
use super::routes::{PortId, Routes};
use super::service::Full;
use super::station::{Entry, Station, Stations};
use super::switch::{self, Queueing, Switch};
use super::tier::Tier;
use super::timed::TimedCalls;
use super::timeline::{Queues, Timeline};
use super::topology::{Node, Topology};
use crate::calls;
use crate::core::{Record, Refused};
use crate::event_queue::EventQueue;
use crate::faults::{Fate, FaultRng, Outgoing};
use crate::icmp;
use crate::ip;
use crate::observe::Observer;
use crate::stop::Stop;

#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    /// a packet is at the far end of a port's link
    Arrival { port: PortId, packet: u32 },
    /// a port may send its next packet
    Free { port: PortId },
    /// a timer of a host may be due
    Timer { host: u32 },
    /// an application asked to be woken
    Wake { host: u32, what: u32 },
    /// a host has served a packet
    Served { host: u32 },
    /// a timer of a program in the network may be due
    Station { station: u32 },
    /// a worker of its offload may go on
    Work { station: u32, worker: u32 },
    /// a call of the interface is made, beside those of the applications
    Call { number: u32 },
    /// a source of cross traffic sends its next packet, of so many bytes
    Cross { source: u32, octets: u32 },
    /// a flow begins
    Begin { flow: u32 },
    /// a flow may be over of which messages were lost
    Over { flow: u32 },
    /// the next of the flows that have a time
    Starts { place: u32 },
    /// a port is told that a priority must pause, or may go on
    Pause { port: PortId, priority: u8, on: bool },
}

/// A wire, as its packets see it.
#[derive(Debug, Clone, Copy)]
struct Lead {
    from: Node,
    to: Node,
}

/// What waits in a switch of what came by a link, by priority, and of which priorities its other end is told to pause.
#[derive(Debug, Clone, Copy, Default)]
struct Ingress {
    octets: [u64; PRIORITIES],
    paused: u8,
}

/// A network in virtual time.
pub struct Network<'o> {
    pub hosts: Vec<Host>,
    pub ports: Vec<Port>,
    pub flows: Flows,
    /// those that begin at a time
    starts: Vec<(u64, u32)>,
    switches: Vec<Switch>,
    queueing: Queueing,
    routes: Routes,
    leads: Vec<Lead>,
    ingress: Vec<Ingress>,
    /// by host, the port of its link
    pub(super) uplinks: Vec<PortId>,
    pub(super) stations: Stations,
    fault_rng: FaultRng,
    pub(super) packets: Packets,
    pub(super) event_queue: EventQueue<Happening>,
    pub(super) timed: TimedCalls,
    pub(super) cross: Vec<Source>,
    /// when it is looked next whether there is only cross traffic, and whether that is so
    pub(super) look_around_at: u64,
    pub(super) is_deserted: bool,
    pub(super) observer: Option<&'o mut dyn Observer>,
    now: u64,
    /// used again and again
    pub(super) records: Vec<Record>,
    /// that hosts made, and times that a packet went over a link
    pub made: u64,
    pub hops: u64,
    /// packets that reached a switch and have no host's address
    pub unroutable: u64,
    pub timeline: Timeline,
    /// the programs of hosts, where there are several
    pub groups: Option<Groups>,
    /// by host and protocol, packets that its program does not take
    pub foreign: BTreeMap<(Node, u8), u64>,
}

/// The first stream of random numbers for faults. All links share them.
const STREAM_FAULTS: u64 = 600;

impl<'o> Network<'o> {
    /// A network that has not begun; the observer is told what hosts do, and that their cores report records.
    pub fn new(
        topology: &Topology,
        hosts: Vec<Host>,
        stations: Vec<Station>,
        flows: Flows,
        (queueing, seed): (Queueing, u64),
        observer: Option<&'o mut dyn Observer>,
    ) -> Network<'o> {
        let both = topology.wires.iter().flat_map(|wire| {
            let ends = wire.directions();
            [0, 1].map(|it| {
                let lead = Lead { from: ends[it][0], to: ends[it][1] };
                (lead, Port::new(wire.rate_bps, wire.delay_ns[it], wire.faults[it].clone()))
            })
        });
        let (leads, ports): (Vec<Lead>, Vec<Port>) = both.unzip();
        let links_of =
            |node| (0..).zip(&leads).filter(|(_, l)| l.from == node).map(|(port, _)| port).collect();
        let uplink = |host| leads.iter().position(|lead| lead.from == host).unwrap_or(0) as PortId;
        Network {
            uplinks: (0..topology.hosts).map(uplink).collect(),
            starts: flows.by_start(),
            switches: (0..topology.switches).map(|n| Switch::new(seed, u64::from(n))).collect(),
            routes: Routes::of(topology),
            fault_rng: FaultRng::new(seed, STREAM_FAULTS),
            ingress: vec![Ingress::default(); ports.len()],
            stations: Stations::new(stations, links_of),
            packets: Packets::default(),
            event_queue: EventQueue::default(),
            now: 0,
            timed: TimedCalls::default(),
            cross: Vec::new(),
            look_around_at: 0,
            is_deserted: false,
            records: Vec::new(),
            made: 0,
            hops: 0,
            unroutable: 0,
            timeline: Timeline::default(),
            groups: None,
            foreign: BTreeMap::new(),
            hosts,
            ports,
            flows,
            queueing,
            leads,
            observer,
        }
    }

    /// Virtual nanoseconds since the beginning.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// When the last flow that is measured ended, or if one did not, when the run did.
    pub fn ended_at(&self) -> u64 {
        if self.flows.done() { self.flows.settled_at } else { self.now }
    }

    /// Runs until every flow has ended or failed, nothing is left to happen, or the limit is reached.
    pub fn run(&mut self, limit: u64, stop: &Stop) {
        // Those at the beginning are before all that applications do.
        for (at, number) in self.timed.times() {
            match at {
                0 => self.call(number),
                at => self.plan(at, Happening::Call { number }),
            }
        }
        for host in 0..self.hosts.len() {
            self.hosts[host].app.start(&self.flows);
        }
        self.start_offloads();
        for host in 0..self.hosts.len() {
            self.pump(host);
        }
        (0..self.cross.len() as u32).for_each(|source| self.plan_cross(source));
        self.plan_start(0);
        let mut calls = 0;
        while let Some((at, happening)) = self.event_queue.next() {
            if at > limit || self.flows.done() || self.is_deserted || stop.is_set_at_times(&mut calls) {
                break;
            }
            while self.timeline.due <= at {
                self.look(self.timeline.due);
            }
            self.now = at;
            self.happen(happening);
        }
        self.look(self.now);
    }

    /// Notes what waits at a time, before anything else happens then.
    fn look(&mut self, at: u64) {
        let mut queues = [Queues::default(); 3];
        let hosts = self.hosts.len() as u32;
        for (lead, port) in self.leads.iter().zip(&self.ports).filter(|(_, port)| port.octets() > 0) {
            let of = &mut queues[Tier::of(lead.from, lead.to, hosts) as usize];
            of.longest = of.longest.max(port.octets());
            of.together += port.octets();
        }
        self.timeline.add(at, self.flows.arrived, queues);
    }

    pub(super) fn plan(&mut self, at: u64, happening: Happening) {
        self.event_queue.plan(at, happening);
    }

    fn plan_start(&mut self, place: u32) {
        if let Some((at, _)) = self.starts.get(place as usize) {
            self.event_queue.plan(*at, Happening::Starts { place });
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrival { port, packet } => self.arrive(port, packet),
            Happening::Free { port } => self.free(port),
            Happening::Timer { host } => {
                let host = host as usize;
                self.hosts[host].timer_at = u64::MAX;
                self.advance(host);
                self.pump(host);
            }
            Happening::Wake { host, what } => {
                self.hosts[host as usize].app.wake(what as usize, &self.flows);
                self.pump(host as usize);
            }
            Happening::Served { host } => self.served(host as usize),
            Happening::Station { station } => self.station_timer(station),
            Happening::Work { station, worker } => self.station_works(station, worker as usize),
            Happening::Call { number } => self.call(number),
            Happening::Cross { source, octets } => {
                self.look_around();
                self.send_cross(source, octets);
            }
            Happening::Begin { flow } => self.begin(flow),
            Happening::Over { flow } => self.look_for_end(flow),
            Happening::Starts { place } => {
                self.plan_start(place + 1);
                let (_, flow) = self.starts[place as usize];
                self.begin(flow);
            }
            Happening::Pause { port, priority, on } => {
                self.ports[port as usize].pause(usize::from(priority), on);
                self.go_on(port);
                let from = self.leads[port as usize].from as usize;
                if !on && from < self.hosts.len() {
                    self.pump(from);
                }
            }
        }
    }

    fn call(&mut self, number: u32) {
        let host = self.timed.host(number);
        while self.timed.make(number, &mut *self.hosts[host].core, self.now) == Err(Refused::Again) {
            if !self.push_out(host) && !self.completions(host) {
                break;
            }
        }
        self.pump(host);
    }

    fn begin(&mut self, flow: u32) {
        let host = self.flows.all[flow as usize].source as usize;
        self.hosts[host].app.begin(flow, &mut self.flows, self.now);
        self.pump(host);
    }

    // ---- cross traffic ----

    fn plan_cross(&mut self, source: u32) {
        if let Some((at, octets)) = self.cross[source as usize].next_packet() {
            self.plan(at, Happening::Cross { source, octets });
        }
    }

    /// A packet waits before its host's link, as one of a program in the network between them does; or finds no room there.
    fn send_cross(&mut self, source: u32, octets: u32) {
        let Source { of, counters, .. } = &mut self.cross[source as usize];
        let out = self.uplinks[of.from as usize];
        counters.sent += 1;
        counters.sent_octets += u64::from(octets);
        if self.ports[out as usize].octets() + u64::from(octets) > self.queueing.octets {
            counters.dropped += 1;
        } else {
            let host = of.from;
            let (packet, mut room) = self.packets.begin();
            cross::make(&mut room, of, (source, octets));
            self.packets.put(packet, room);
            match self.stations.last(host) {
                Some(station) => {
                    self.enter(Entry { station, interface: 1, packet, from: out ^ 1 });
                    self.resume();
                }
                None => self.hold(out, packet, octets),
            }
        }
        self.plan_cross(source);
    }

    /// Whether a packet that reaches a host is one of cross traffic, which ends there.
    fn ends_cross(&mut self, packet: u32) -> bool {
        let octets = self.packets.octets(packet);
        let source = cross::source_of(octets).and_then(|number| self.cross.get_mut(number));
        let Some(Source { counters, .. }) = source else { return false };
        counters.delivered += 1;
        counters.delivered_octets += octets.len() as u64;
        self.packets.end(packet);
        true
    }

    // ---- in the network ----

    fn arrive(&mut self, port: PortId, packet: u32) {
        let node = self.leads[port as usize].to;
        if let Some(station) = self.stations.first(node) {
            let at_switch = node as usize >= self.hosts.len();
            let interface = if at_switch { self.stations.all[station as usize].interface(port) } else { 0 };
            self.enter(Entry { station, interface, packet, from: port });
            return self.resume();
        }
        match (node as usize).checked_sub(self.hosts.len()) {
            Some(switch) => self.route(switch, port, packet),
            None => self.deliver(node as usize, packet),
        }
    }

    /// A packet is to leave a switch.
    pub(super) fn route(&mut self, at: usize, from: PortId, packet: u32) {
        let label = self.packets.label(packet);
        let hosts = self.hosts.len() as u32;
        let ports =
            host_at(label.destination, hosts).map_or(&[][..], |host| self.routes.ports(at, host as usize));
        let switch = &mut self.switches[at];
        let chosen = switch.choose(ports, self.queueing.paths, packet, &self.packets);
        match chosen {
            Some(out) => self.queue_at(at, out, from, packet),
            None => {
                self.unroutable += 1;
                self.packets.end(packet);
            }
        }
    }

    /// A packet is to leave a switch by a port.
    pub(super) fn queue_at(&mut self, at: usize, out: PortId, from: PortId, packet: u32) {
        let label = self.packets.label(packet);
        let (switch, port) = (&mut self.switches[at], &mut self.ports[out as usize]);
        let now = self.now;
        let marks = port.faults.ecn_threshold(now).is_some_and(|most| port.packets(now) >= most);
        match switch.queue(port, (packet, from), &mut self.packets, &self.queueing, now) {
            switch::Fate::Queued => {
                if marks && self.packets.change(packet, |octets| packets::mark(octets)) {
                    port.counters.marked += 1;
                }
                self.came(from, self.queueing.priority(label.class), label.octets.into());
            }
            switch::Fate::Dropped(gone) => self.packets.end(gone),
            switch::Fate::Back(packet) => return self.route(at, from, packet),
        }
        self.go_on(out);
    }

    /// Lets the next packet of a port out if it is free; else somebody will look when it is.
    fn go_on(&mut self, out: PortId) {
        let port = &mut self.ports[out as usize];
        if port.awaited {
            return;
        }
        if port.free_at > self.now {
            port.awaited = true;
            self.event_queue.plan(port.free_at, Happening::Free { port: out });
            return;
        }
        let Some((priority, waiting)) = port.take(self.now) else { return };
        let from = self.leads[out as usize].from as usize;
        let switch = from.checked_sub(self.hosts.len());
        if let Some(switch) = switch {
            self.switches[switch].left(waiting.octets);
            self.went(waiting.from, priority, u64::from(waiting.octets));
        }
        self.send(out, waiting.packet, waiting.octets);
        if self.ports[out as usize].has_more() {
            self.go_on(out);
        } else if switch.is_none() {
            // The host's core may have more.
            self.await_free(out);
        }
    }

    /// Bytes that came by a link wait: too many, and its other end pauses when it hears of that.
    fn came(&mut self, from: PortId, priority: usize, octets: u64) {
        let Some(pause) = self.queueing.pause else { return };
        let ingress = &mut self.ingress[from as usize];
        ingress.octets[priority] += octets;
        if ingress.octets[priority] > pause.octets && ingress.paused & 1 << priority == 0 {
            ingress.paused |= 1 << priority;
            self.tell(from, priority, true);
        }
    }

    /// They have left.
    fn went(&mut self, from: PortId, priority: usize, octets: u64) {
        let Some(pause) = self.queueing.pause else { return };
        let ingress = &mut self.ingress[from as usize];
        ingress.octets[priority] -= octets;
        if ingress.octets[priority] <= pause.octets / 2 && ingress.paused & 1 << priority != 0 {
            ingress.paused &= !(1 << priority);
            self.tell(from, priority, false);
        }
    }

    /// What is said of a link goes back over it.
    fn tell(&mut self, port: PortId, priority: usize, on: bool) {
        let at = self.now + self.ports[port as usize ^ 1].delay_ns;
        self.event_queue.plan(at, Happening::Pause { port, priority: priority as u8, on });
    }

    fn send(&mut self, out: PortId, packet: u32, octets: u32) {
        let (port, now) = (&mut self.ports[out as usize], self.now);
        let left = port.send(octets, now);
        self.hops += 1;
        let (octets, serialisation) = (octets as usize, port.serialisation(octets, now));
        let outgoing = Outgoing { octets, now, left, serialisation, delay_ns: port.delay_ns };
        let fate = port.faults.fate(&mut self.fault_rng, &mut port.counters.faults, outgoing);
        match fate.arrival {
            Some(at) if fate.is_plain() => self.plan(at, Happening::Arrival { port: out, packet }),
            _ => self.meet(out, packet, fate),
        }
    }

    /// A packet meets its fate on a link that has faults.
    fn meet(&mut self, out: PortId, packet: u32, mut fate: Fate) {
        let octets = self.packets.octets(packet);
        let report = fate.report.and_then(|(mtu, at)| Some((icmp::too_big(mtu, octets)?, at)));
        let to_switch = self.leads[out as usize].to as usize >= self.hosts.len();
        let damaged = fate.flipped_bit.is_some_and(|bit| ip::in_ipv4_header(octets, bit));
        if to_switch && damaged && fate.arrival.is_some() {
            self.ports[out as usize].counters.bad_header += 1;
            fate.arrival = None;
        }
        if let Some((report, at)) = report {
            let (number, _) = self.packets.begin();
            self.packets.put(number, report);
            // The router is half-way: its report comes back over the link.
            self.plan(at, Happening::Arrival { port: out ^ 1, packet: number });
        }
        for (at, packet) in self.packets.meet(packet, &fate) {
            self.plan(at, Happening::Arrival { port: out, packet });
        }
    }

    fn free(&mut self, port: PortId) {
        self.ports[port as usize].awaited = false;
        self.go_on(port);
        let from = self.leads[port as usize].from as usize;
        if from < self.hosts.len() {
            self.pump(from);
        }
    }

    // ---- at the hosts ----

    /// A packet reaches a host: its core takes it, at once or when the host has served it.
    pub(super) fn deliver(&mut self, host: usize, packet: u32) {
        if !self.cross.is_empty() && self.ends_cross(packet) {
            return;
        }
        let Some(server) = &mut self.hosts[host].server else { return self.take(host, packet) };
        match server.arrive(packet) {
            Ok(Some(takes)) => self.plan(self.now + takes, Happening::Served { host: host as u32 }),
            Ok(None) => {}
            Err(Full) => self.packets.end(packet),
        }
    }

    fn served(&mut self, host: usize) {
        let Some(server) = &mut self.hosts[host].server else { return };
        let (packet, next) = server.finish();
        if let Some(takes) = next {
            self.plan(self.now + takes, Happening::Served { host: host as u32 });
        }
        if let Some(packet) = packet {
            self.take(host, packet);
        }
    }

    fn take(&mut self, host: usize, packet: u32) {
        let octets = self.packets.lend(packet);
        if let Some(protocol) = self.groups.as_ref().and_then(|all| all.foreign(host as Node, &octets)) {
            *self.foreign.entry((host as Node, protocol)).or_default() += 1;
        }
        if let Some(observer) = &mut self.observer {
            observer.arrived(self.now, host, u64::from(packet), &octets);
        }
        while self.hosts[host].core.rx(&octets, self.now) == Err(Refused::Again) {
            if !self.push_out(host) {
                break;
            }
        }
        self.packets.end_with(packet, octets);
        self.pump(host);
    }

    fn advance(&mut self, host: usize) {
        while self.hosts[host].core.advance(self.now) == Err(Refused::Again) {
            if !self.push_out(host) {
                break;
            }
        }
    }

    /// The next packet that a host's core has.
    fn make(&mut self, host: usize) -> Option<(u32, u32)> {
        let (packet, mut octets) = self.packets.begin();
        let there = self.hosts[host].core.tx(&mut octets, self.now);
        let len = octets.len() as u32;
        if there {
            self.made += 1;
            self.trace(host);
            if let Some(observer) = &mut self.observer {
                observer.sent(self.now, host, u64::from(packet), &octets);
            }
        }
        self.packets.put(packet, octets);
        if !there {
            self.packets.end(packet);
        }
        there.then_some((packet, len))
    }

    /// Makes room in a core: its next packet waits before the link; false if it has none.
    fn push_out(&mut self, host: usize) -> bool {
        let Some((packet, octets)) = self.make(host) else { return false };
        let out = self.uplinks[host];
        match self.stations.last(host as Node) {
            Some(station) => self.enter(Entry { station, interface: 1, packet, from: out ^ 1 }),
            None => self.hold(out, packet, octets),
        }
        true
    }

    /// Puts a packet of a host before its link.
    fn hold(&mut self, port: PortId, packet: u32, octets: u32) {
        let priority = self.queueing.priority(self.packets.label(packet).class);
        let waiting = Waiting { packet, octets, from: port };
        self.ports[port as usize].put(priority, waiting, self.now);
        self.go_on(port);
    }

    /// Lets the core's next packet out if the link is free: so the core has the choice until then.
    fn pull(&mut self, host: usize) -> bool {
        let out = self.uplinks[host];
        if !self.ports[out as usize].idle(self.now) {
            return false;
        }
        let station = self.stations.last(host as Node);
        if station.is_some() && self.stations.busy() {
            // What moves may take the link.
            self.stations.waiting.push(host as u32);
            return false;
        }
        let Some((packet, octets)) = self.make(host) else { return false };
        match station {
            Some(station) => self.enter(Entry { station, interface: 1, packet, from: out ^ 1 }),
            None => self.let_go(out, packet, octets),
        }
        true
    }

    /// Sends a packet of a host, now or when its link is free.
    pub(super) fn let_go(&mut self, out: PortId, packet: u32, octets: u32) {
        let priority = self.queueing.priority(self.packets.label(packet).class);
        let port = &self.ports[out as usize];
        if !port.idle(self.now) || port.is_paused(priority) {
            return self.hold(out, packet, octets);
        }
        self.send(out, packet, octets);
        self.await_free(out);
    }

    /// Lets somebody look when a port is free.
    fn await_free(&mut self, port: PortId) {
        let it = &mut self.ports[port as usize];
        if !it.awaited && it.free_at > self.now {
            it.awaited = true;
            self.event_queue.plan(it.free_at, Happening::Free { port });
        }
    }

    /// Lets everything happen that a host can do now.
    pub(super) fn pump(&mut self, host: usize) {
        loop {
            self.work(host);
            let Host { core, timer_at, .. } = &self.hosts[host];
            let Some(deadline) = core.next_deadline_before((*timer_at).max(self.now + 1)) else { return };
            if deadline > self.now {
                return self.plan_timer(host, deadline);
            }
            // Timers that are due run now; a packet whose moment has come leaves when the link is free.
            self.advance(host);
            self.work(host);
            let still_due = self.hosts[host].core.next_deadline_before(self.now + 1).is_some();
            if still_due {
                let port = &self.ports[self.uplinks[host] as usize];
                if !port.awaited {
                    self.plan_timer(host, self.now + 1);
                }
                return;
            }
        }
    }

    fn plan_timer(&mut self, host: usize, at: u64) {
        if at < self.hosts[host].timer_at {
            self.hosts[host].timer_at = at;
            self.event_queue.plan(at, Happening::Timer { host: host as u32 });
        }
    }

    fn work(&mut self, host: usize) {
        loop {
            self.trace(host);
            let mut busy = self.requests(host);
            busy |= self.completions(host);
            busy |= self.pull(host);
            if !busy {
                break;
            }
        }
    }

    fn trace(&mut self, host: usize) {
        let Some(observer) = &mut self.observer else { return };
        let core = &mut self.hosts[host].core;
        core.take_trace(&mut self.records);
        for record in &self.records {
            observer.record(self.now, host, record);
        }
        core.recycle_trace(&mut self.records);
    }

    fn requests(&mut self, host: usize) -> bool {
        let (h, event_queue) = (&mut self.hosts[host], &mut self.event_queue);
        h.app.take_asks(&mut h.asks);
        let wake = |at, what| event_queue.plan(at, Happening::Wake { host: host as u32, what: what as u32 });
        h.calls.make(&mut *h.core, &mut h.asks, self.now, wake, |_| ())
    }

    fn completions(&mut self, host: usize) -> bool {
        let (h, flows, timed) = (&mut self.hosts[host], &mut self.flows, &mut self.timed);
        let (observer, now) = (&mut self.observer, self.now);
        let any = calls::completions(&mut *h.core, |done| {
            if let Some(observer) = observer {
                observer.completed(now, host, done);
            }
            if !timed.completed(done) {
                h.app.completed(done, flows, now);
            }
        });
        self.plan_followers();
        any
    }

    /// Flows begin that follow others, and those whose sender has finished are looked at a little later.
    pub(super) fn plan_followers(&mut self) {
        while let Some(flow) = self.flows.next_finished() {
            self.event_queue.plan(self.now + FIRST_LOOK, Happening::Over { flow });
        }
        while let Some((at, flow)) = self.flows.next_due() {
            self.event_queue.plan(at, Happening::Begin { flow });
        }
    }
}
