// SPDX-License-Identifier: MIT OR Apache-2.0
//! How packets pass the programs at a node.

use super::network::{Happening, Network};
use super::routes::PortId;
use super::station::Entry;
use crate::core::Refused;

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
        let from = it.port;
        while self.stations.all[station as usize].core.advance(now) == Err(Refused::Again) {
            self.let_out(station, from);
        }
        self.after(station, from);
        self.resume();
    }

    fn after(&mut self, station: u32, from: PortId) {
        self.let_out(station, from);
        let now = self.now();
        let it = &mut self.stations.all[station as usize];
        while it.core.next_completion().is_some() {}
        if let Some(deadline) = it.core.next_deadline() {
            let deadline = deadline.max(now);
            if deadline < it.timer_at {
                it.timer_at = deadline;
                self.plan(deadline, Happening::Station { station });
            }
        }
    }

    /// Every packet that a program has for one of its interfaces.
    fn let_out(&mut self, station: u32, from: PortId) {
        loop {
            let (packet, mut octets) = self.packets.begin();
            let now = self.now();
            let it = &mut self.stations.all[station as usize];
            let there = it.core.tx(&mut octets, now);
            let to = it.core.tx_interface().min(1);
            let (node, next) = (it.node, it.next[to as usize]);
            self.packets.put(packet, octets);
            if !there {
                return self.packets.end(packet);
            }
            match next {
                Some(station) => self.enter(Entry { station, interface: 1 - to, packet, from }),
                None => self.leave(node as usize, to, packet, from),
            }
        }
    }

    /// A packet leaves the programs of a node by an interface.
    fn leave(&mut self, node: usize, interface: u32, packet: u32, from: PortId) {
        match node.checked_sub(self.hosts.len()) {
            Some(switch) => self.route(switch, from, packet),
            None if interface == 1 => self.deliver(node, packet),
            None => {
                let octets = self.packets.label(packet).octets;
                self.let_go(self.uplinks[node], packet, octets);
            }
        }
    }
}
