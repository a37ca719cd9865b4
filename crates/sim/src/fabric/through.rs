// SPDX-License-Identifier: MIT OR Apache-2.0
//! How packets pass the programs at a node.

use carrick_ir::ROUTE;

use super::host_apps::address;
use super::network::{Happening, Network};
use super::routes::PortId;
use super::station::Entry;
use crate::core::{Refused, plan_earlier};

impl Network<'_> {
    /// Takes a packet to a program, and whatever that lets out to the end of its chain.
    pub(super) fn enter(&mut self, entry: Entry) {
        if !self.stations.enter(entry) {
            return;
        }
        while let Some(next) = self.stations.next() {
            match next {
                Ok(entry) => self.through(entry),
                Err(packet) => self.packets.end(packet),
            }
        }
    }

    /// Lets hosts send that had to wait while packets moved.
    pub(super) fn resume(&mut self) {
        while let Some(host) = self.stations.waiting.pop() {
            self.pump(host as usize);
        }
    }

    fn through(&mut self, Entry { station, interface, packet, from }: Entry) {
        let octets = self.packets.lend(packet);
        let now = self.now();
        while self.stations.all[station as usize].core.rx_on(interface, &octets, now) == Err(Refused::Again) {
            self.let_out(station, from);
        }
        self.packets.end_with(packet, octets);
        self.after(station, from);
    }

    /// A timer of a program may be due.
    pub(super) fn station_timer(&mut self, station: u32) {
        let now = self.now();
        let it = &mut self.stations.all[station as usize];
        if it.timer_at != now {
            return;
        }
        it.timer_at = u64::MAX;
        let from = it.own_port();
        while self.stations.all[station as usize].core.advance(now) == Err(Refused::Again) {
            self.let_out(station, from);
        }
        self.after(station, from);
        self.resume();
    }

    /// A worker of an offload has done its work.
    pub(super) fn station_works(&mut self, station: u32, worker: usize) {
        let it = &mut self.stations.all[station as usize];
        let from = it.own_port();
        if let Some(offload) = &mut it.offload {
            offload.wake(worker, &mut self.flows);
        }
        self.after(station, from);
        self.resume();
    }

    /// Offloads begin.
    pub(super) fn start_offloads(&mut self) {
        for station in 0..self.stations.all.len() {
            let it = &mut self.stations.all[station];
            let from = it.own_port();
            if let Some(offload) = &mut it.offload {
                offload.start();
                self.after(station as u32, from);
            }
        }
    }

    fn after(&mut self, station: u32, from: PortId) {
        self.trace_station(station);
        loop {
            let sent = self.let_out(station, from);
            if !self.offload(station) && !sent {
                break;
            }
        }
        let now = self.now();
        let it = &mut self.stations.all[station as usize];
        if let Some(at) = plan_earlier(&*it.core, &mut it.timer_at, now) {
            self.plan(at, Happening::Station { station });
        }
    }

    /// Lets the application of a program do what it can; false if that is nothing.
    fn offload(&mut self, station: u32) -> bool {
        let now = self.now();
        let it = &mut self.stations.all[station as usize];
        let Some(offload) = &mut it.offload else {
            while it.core.next_completion().is_some() {}
            return false;
        };
        let mut woken = Vec::new();
        let any = offload.work(&mut *it.core, &mut self.flows, now, |at, worker| woken.push((at, worker)));
        for (at, worker) in woken {
            self.plan(at, Happening::Work { station, worker: worker as u32 });
        }
        self.trace_station(station);
        self.plan_followers();
        any
    }

    /// Tells what the core of a program has reported.
    fn trace_station(&mut self, station: u32) {
        let now = self.now();
        let Some(observer) = &mut self.observer else { return };
        let core = &mut self.stations.all[station as usize].core;
        core.take_trace(&mut self.records);
        self.records.iter().for_each(|record| observer.record_at(now, station as usize, record));
        core.recycle_trace(&mut self.records);
    }

    /// Every packet that a program has for one of its interfaces; false if there was none.
    fn let_out(&mut self, station: u32, from: PortId) -> bool {
        let mut any = false;
        loop {
            let (packet, mut octets) = self.packets.begin();
            let now = self.now();
            let it = &mut self.stations.all[station as usize];
            let there = it.core.tx(&mut octets, now);
            let (by, node) = (it.core.tx_interface(), it.node as usize);
            self.packets.put(packet, octets);
            if !there {
                self.packets.end(packet);
                return any;
            }
            self.trace_station(station);
            let astray = match node.checked_sub(self.hosts.len()) {
                Some(switch) => self.leave_at_switch((station, switch), by, packet, from),
                None => self.leave_at_host((station, node), by, packet, from),
            };
            if let Err(packet) = astray {
                self.stations.all[station as usize].astray += 1;
                self.packets.end(packet);
            }
            any = true;
        }
    }

    /// A program of a switch sends a packet by an interface; `Err`: there is none of this number.
    fn leave_at_switch(
        &mut self,
        (station, switch): (u32, usize),
        by: u32,
        packet: u32,
        from: PortId,
    ) -> Result<(), u32> {
        let it = &self.stations.all[station as usize];
        match (u64::from(by) == ROUTE, it.next[1]) {
            (true, Some(station)) => {
                let interface = it.interface(from);
                self.enter(Entry { station, interface, packet, from });
            }
            (true, None) => self.route(switch, from, packet),
            (false, _) => {
                let link = it.link(by).ok_or(packet)?;
                self.queue_at(switch, link, from, packet);
            }
        }
        Ok(())
    }

    /// As [`Network::leave_at_switch`], of a host.
    fn leave_at_host(
        &mut self,
        (station, host): (u32, usize),
        by: u32,
        packet: u32,
        from: PortId,
    ) -> Result<(), u32> {
        let label = self.packets.label(packet);
        let by = match u64::from(by) == ROUTE {
            true => u32::from(label.destination == address(host as u32)),
            false => by,
        };
        let next = self.stations.all[station as usize].next.get(by as usize).ok_or(packet)?;
        match *next {
            Some(station) => self.enter(Entry { station, interface: 1 - by, packet, from }),
            None if by == 1 => self.deliver(host, packet),
            None => self.let_go(self.uplinks[host], packet, label.octets),
        }
        Ok(())
    }
}
