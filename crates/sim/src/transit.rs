// SPDX-License-Identifier: MIT OR Apache-2.0
//! What passes the program in the network: packets of the hosts, and its own timers.

use carrick_ir::ROUTE;

use crate::core::{Refused, plan_earlier};
use crate::fabric::packets::Label;
use crate::faults::Fate;
use crate::middlebox::Middlebox;
use crate::net::{Happening, Net};

impl Net<'_> {
    /// A packet comes by an interface: that of the host that sent it.
    pub(crate) fn passes(&mut self, interface: u32, packet: u32) {
        let octets = self.packets.lend(packet);
        let Some(mut between) = self.between.take() else { return };
        while between.core.rx_on(interface, &octets, self.now()) == Err(Refused::Again) {
            self.send_on(&mut between);
        }
        self.packets.end_with(packet, octets);
        self.after(between);
    }

    pub(crate) fn timer_between(&mut self) {
        let now = self.now();
        let Some(mut between) = self.between.take_if(|between| between.timer_at == now) else { return };
        between.timer_at = u64::MAX;
        while between.core.advance(self.now()) == Err(Refused::Again) {
            self.send_on(&mut between);
        }
        self.after(between);
    }

    /// Lets out what there is, and plans the next timer.
    fn after(&mut self, mut between: Middlebox) {
        self.watch.trace_between(&mut *between.core, self.now);
        self.send_on(&mut between);
        while between.core.next_completion().is_some() {}
        if let Some(at) = plan_earlier(&*between.core, &mut between.timer_at, self.now()) {
            self.plan(at, Happening::TimerBetween);
        }
        self.between = Some(between);
    }

    fn send_on(&mut self, between: &mut Middlebox) {
        loop {
            let (slot, mut octets) = self.packets.begin();
            if !between.core.tx(&mut octets, self.now()) {
                return self.packets.end_with(slot, octets);
            }
            self.watch.trace_between(&mut *between.core, self.now);
            let Some(to) = self.interface_of(between.core.tx_interface(), &octets) else {
                between.astray += 1;
                self.packets.end_with(slot, octets);
                continue;
            };
            self.watch.observer.passed(self.now(), to, &octets);
            let fate = between.links[to].send(&mut octets, self.now());
            self.packets_made += 1;
            let number = self.packets_made;
            self.carry(slot, octets, fate, |packet| Happening::Arrival { host: to, number, packet });
        }
    }

    /// The host to which an interface leads, or the route of a packet; `None`: there is no such interface.
    fn interface_of(&self, by: u32, octets: &[u8]) -> Option<usize> {
        if u64::from(by) == ROUTE {
            return Some(usize::from(Label::of(octets).destination != self.hosts[0].address));
        }
        Some(by as usize).filter(|by| *by < self.hosts.len())
    }

    /// Plans what becomes of a packet on a link.
    pub(crate) fn carry(
        &mut self,
        slot: u32,
        octets: Vec<u8>,
        fate: Fate,
        happening: impl Fn(u32) -> Happening,
    ) {
        self.packets.put(slot, octets);
        for (at, packet) in self.packets.meet(slot, &fate) {
            self.plan(at, happening(packet));
        }
    }
}
