// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a flow of a program that may lose messages: its sender has finished, and nothing is on its way.

use super::cross;
use super::flows::{FIRST_LOOK, Flow};
use super::host_apps::address;
use super::network::{Happening, Network};
use super::packets::Label;

/// The next look is after this part of the time that has gone by.
const PART: u64 = 4;
/// Nanoseconds after which a flow of which nothing has arrived is over, whatever its hosts are about to do: a timer that is always
/// started again says nothing.
const PATIENCE: u64 = 10_000_000_000;

/// Nanoseconds between the first looks for something beside cross traffic.
const FIRST_LOOK_AROUND: u64 = 10_000_000;

impl Network<'_> {
    /// Ends the run if nothing will ever happen but cross traffic: without that, nothing would be left to happen. A program in the
    /// network sees cross traffic, and may always do something.
    pub(super) fn look_around(&mut self) {
        let now = self.now();
        // A core may have more packets while its link is busy.
        let busy = || self.uplinks.iter().any(|port| !self.ports[*port as usize].idle(now));
        if now < self.look_around_at || !self.stations.all.is_empty() || busy() {
            return;
        }
        self.look_around_at = now + FIRST_LOOK_AROUND.max(now / PART);
        let moves = |it: &Happening| {
            use Happening::{Arrival, Cross, Free, Pause};
            !matches!(it, Arrival { .. } | Cross { .. } | Free { .. } | Pause { .. })
        };
        let on_the_way = || self.packets.any(|_, octets| cross::source_of(octets).is_none());
        self.is_deserted = !self.event_queue.any(moves) && !on_the_way();
    }

    /// Ends a flow if nothing more of it will arrive, or looks again later.
    pub(super) fn look_for_end(&mut self, number: u32) {
        if !self.flows.outcomes[number as usize].is_open() {
            return;
        }
        let (now, flow) = (self.now(), self.flows.all[number as usize]);
        let waited = now - self.flows.quiet_since(number);
        if waited < PATIENCE && !self.is_quiet(&flow) {
            return self.plan(now + FIRST_LOOK.max(waited / PART), Happening::Over { flow: number });
        }
        self.flows.give_up(number, now);
        self.plan_followers();
    }

    /// Whether neither hosts nor the network have anything that may become a delivery.
    fn is_quiet(&self, flow: &Flow) -> bool {
        let idle = |host: u32| {
            let it = &self.hosts[host as usize];
            let port = &self.ports[self.uplinks[host as usize] as usize];
            port.idle(self.now()) && it.asks.is_empty() && it.core.next_deadline().is_none()
        };
        let stations = &self.stations.all;
        let settled = stations.iter().all(|it| it.offload.is_none() && it.core.next_deadline().is_none());
        let ends = [address(flow.source), address(flow.destination)];
        // A program in the network may give a packet other addresses.
        let anywhere = !stations.is_empty();
        let between = |it: &Label| anywhere || ends.contains(&it.source) && ends.contains(&it.destination);
        let under_way = || self.packets.any(|it, octets| between(it) && cross::source_of(octets).is_none());
        idle(flow.source) && idle(flow.destination) && settled && !under_way()
    }
}
