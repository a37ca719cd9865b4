// SPDX-License-Identifier: MIT OR Apache-2.0
//! The channel: what is on its way, the faults that are left, and the time.

use std::sync::Arc;

use crate::action::{Action, Faults, VIA, Way};

/// A packet on its way.
pub(crate) trait Packet: Clone {
    /// Its bytes.
    fn octets(&self) -> &[u8];
    /// The same packet with other bytes.
    fn with(&self, octets: Vec<u8>) -> Self;
}

impl Packet for Arc<[u8]> {
    fn octets(&self) -> &[u8] {
        self
    }

    fn with(&self, octets: Vec<u8>) -> Self {
        octets.into()
    }
}

/// What is between the ends.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Channel<P> {
    /// by way, of those that there are; those that were sent first come first; with the time at which each is gone if it has not arrived: time goes
    /// no further
    ways: Vec<Vec<(u64, P)>>,
    pub left: Faults,
    /// virtual nanoseconds since the beginning
    pub now: u64,
    /// virtual nanoseconds that a packet can be on its way
    life: u64,
    /// how often ends may begin anew, those that have among them
    crashes: u8,
}

/// What an action does at a host.
pub(crate) enum Input<P> {
    /// a packet arrives, by this way
    Packet(Way, P),
    /// time has passed
    Time,
    /// it has forgotten everything, for so many times with this one
    Crash(u8),
}

impl<P: Packet> Channel<P> {
    /// `via`: with a program in the network.
    pub(crate) fn new(left: Faults, life: u64, via: bool) -> Channel<P> {
        let ways = vec![Vec::new(); if via { Way::ALL.len() } else { 2 }];
        Channel { ways, left, now: 0, life, crashes: left.crash }
    }

    /// Whether there is a program in the network.
    fn via(&self) -> bool {
        self.ways.len() == Way::ALL.len()
    }

    /// What a host has sent is on its way, behind what is already.
    pub(crate) fn put(&mut self, sent: impl Iterator<Item = (Way, P)>) {
        // Where no time passes while it is on its way, how long it may be there tells no states apart.
        let until = if self.left.delay > 0 { self.now.saturating_add(self.life) } else { u64::MAX };
        sent.for_each(|(way, packet)| self.ways[way as usize].push((until, packet)));
    }

    /// The ways on which something can arrive next. Where orders give the same, those to one host: nothing that happens elsewhere
    /// takes from these ways, or puts before what is on them. To an end leads one way, so its packets are the first; the program in
    /// the network has its turn when there are none.
    fn next_ways(&self, every_order: bool) -> Vec<Way> {
        let mut busy: Vec<Way> = Way::ALL
            .into_iter()
            .zip(&self.ways)
            .filter(|(_, on)| !on.is_empty())
            .map(|(way, _)| way)
            .collect();
        if self.left.ways_commute() && !every_order {
            let via = self.via();
            if let Some(first) = busy.iter().copied().find(|way| way.to(via) != VIA) {
                busy = vec![first];
            }
        }
        busy
    }

    /// Nothing is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        self.ways.iter().all(Vec::is_empty)
    }

    /// What can happen next, where something is due at the ends at these times; nothing: it is over. Of orders
    /// that give the same only one is there, unless every one is wanted.
    pub(crate) fn actions(&self, due: &[Option<u64>], every_order: bool, to: &mut Vec<Action>) {
        to.clear();
        self.next_ways(every_order).into_iter().for_each(|way| self.on_way(way, to));
        if let Some(first) = due.iter().copied().flatten().min()
            && (first <= self.now || self.is_empty() || self.left.delay > 0 && first < self.gone())
        {
            // Of what is due at one moment, any host may be the first.
            let until = first.max(self.now);
            let is_due = |(_, at): &(u8, &Option<u64>)| at.is_some_and(|at| at <= until);
            to.extend((0..).zip(due).filter(is_due).map(|(host, _)| Action::Time(host)));
        }
        // Whoever has nothing left to do, and nobody who talks to it, need not begin anew.
        if self.left.crash > 0 && !to.is_empty() {
            to.extend((0..).zip(due).map(|(host, _)| Action::Crash(host)));
        }
    }

    /// When the first packet is gone.
    fn gone(&self) -> u64 {
        self.ways.iter().flatten().map(|(until, _)| *until).min().unwrap_or(u64::MAX)
    }

    fn on_way(&self, way: Way, to: &mut Vec<Action>) {
        let packets = &self.ways[way as usize];
        to.push(Action::Deliver(way, 0));
        if self.left.lose > 0 {
            to.push(Action::Lose(way));
        }
        if self.left.duplicate > 0 {
            to.push(Action::Duplicate(way));
        }
        if self.left.reorder > 0 {
            let last = packets.len().min(usize::from(u8::MAX));
            to.extend((1..last).map(|at| Action::Deliver(way, at as u8)));
        }
        if self.left.corrupt > 0 {
            let bits = packets[0].1.octets().len() as u32 * 8;
            to.extend((0..bits).map(|at| Action::Corrupt(way, at)));
        }
    }

    /// The packet that an action is about, if it is about one that there is.
    pub(crate) fn packet(&self, action: Action) -> Option<&P> {
        match action {
            Action::Deliver(way, at) => self.ways.get(way as usize)?.get(usize::from(at)),
            Action::Lose(way) | Action::Duplicate(way) | Action::Corrupt(way, _) => {
                self.ways.get(way as usize)?.first()
            }
            Action::Time(_) | Action::Crash(_) => None,
        }
        .map(|(_, packet)| packet)
    }

    /// Does what an action does to the channel; `due`: when something is due at the host where time passes. Returns the host to which
    /// something happens, and what.
    pub(crate) fn act(&mut self, action: Action, due: Option<u64>) -> Option<(usize, Input<P>)> {
        if let Action::Time(host) = action {
            let at = due?.max(self.now);
            self.left.delay -= u8::from(at > self.now && !self.is_empty());
            self.now = at;
            if self.left.delay == 0 {
                self.ways.iter_mut().flatten().for_each(|(until, _)| *until = u64::MAX);
            }
            return Some((host.into(), Input::Time));
        }
        if let Action::Crash(host) = action {
            self.left.crash -= 1;
            return Some((host.into(), Input::Crash(self.crashes - self.left.crash)));
        }
        let packet = self.packet(action)?.clone();
        let via = self.via();
        match action {
            Action::Deliver(way, at) => {
                self.left.reorder -= u8::from(at > 0);
                self.ways[way as usize].remove(usize::from(at));
                Some((way.to(via), Input::Packet(way, packet)))
            }
            Action::Lose(way) => {
                self.left.lose -= 1;
                self.ways[way as usize].remove(0);
                None
            }
            Action::Duplicate(way) => {
                self.left.duplicate -= 1;
                Some((way.to(via), Input::Packet(way, packet)))
            }
            Action::Corrupt(way, at) => {
                self.left.corrupt -= 1;
                self.ways[way as usize].remove(0);
                let mut octets = packet.octets().to_vec();
                octets[at as usize / 8] ^= 1 << (at % 8);
                Some((way.to(via), Input::Packet(way, packet.with(octets))))
            }
            Action::Time(_) | Action::Crash(_) => None,
        }
    }
}

impl<P> Channel<P> {
    /// Whether an end has begun anew.
    pub(crate) fn has_crashed(&self) -> bool {
        self.left.crash < self.crashes
    }

    /// Whether no time has passed between two, and no fault has happened.
    pub(crate) fn same_moment(&self, other: &Channel<P>) -> bool {
        self.now == other.now && self.left == other.left
    }
}
