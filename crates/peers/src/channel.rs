// SPDX-License-Identifier: MIT OR Apache-2.0
//! The channel: what is on its way, the faults that are left, and the time.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use crate::action::{Action, Faults, VIA, Way};

/// A packet on its way.
pub(crate) trait Packet: Clone {
    /// How many bits it has.
    fn bits(&self) -> u32;
}

/// A packet on a way.
#[derive(Debug, Clone, Copy)]
struct Flying<P> {
    way: Way,
    /// when it is gone if it has not arrived: time goes no further
    until: u64,
    packet: P,
}

/// What is between the ends.
#[derive(Debug)]
pub(crate) struct Channel<P> {
    /// by way; those that were sent first come first
    flying: Vec<Flying<P>>,
    /// there is a program in the network
    via: bool,
    pub left: Faults,
    /// virtual nanoseconds since the beginning
    pub now: u64,
    /// virtual nanoseconds that a packet can be on its way
    life: u64,
    /// how often ends may begin anew, those that have among them
    crashes: u8,
}

impl<P: Clone> Clone for Channel<P> {
    fn clone(&self) -> Channel<P> {
        Channel { flying: self.flying.clone(), ..*self }
    }

    fn clone_from(&mut self, from: &Channel<P>) {
        self.flying.clone_from(&from.flying);
        (self.via, self.left, self.now) = (from.via, from.left, from.now);
        (self.life, self.crashes) = (from.life, from.crashes);
    }
}

/// What an action does at a host.
pub(crate) enum Input<P> {
    /// a packet arrives, by this way, with a bit changed or none: that of the first byte of least weight is the first
    Packet(Way, P, Option<u32>),
    /// time has passed
    Time,
    /// it has forgotten everything, for so many times with this one
    Crash(u8),
}

/// A packet with a bit changed, or none.
pub(crate) fn changed(packet: &[u8], bit: Option<u32>) -> Cow<'_, [u8]> {
    let mut packet = Cow::Borrowed(packet);
    if let Some(bit) = bit {
        packet.to_mut()[bit as usize / 8] ^= 1 << (bit % 8);
    }
    packet
}

impl<P: Packet> Channel<P> {
    /// `via`: with a program in the network.
    pub(crate) fn new(left: Faults, life: u64, via: bool) -> Channel<P> {
        Channel { flying: Vec::new(), via, left, now: 0, life, crashes: left.crash }
    }

    /// What a host has sent is on its way, behind what is already.
    pub(crate) fn put(&mut self, sent: impl Iterator<Item = (Way, P)>) {
        // Where no time passes while it is on its way, how long it may be there tells no states apart.
        let until = if self.left.delay > 0 { self.now.saturating_add(self.life) } else { u64::MAX };
        for (way, packet) in sent {
            let at = self.flying.partition_point(|flying| flying.way <= way);
            self.flying.insert(at, Flying { way, until, packet });
        }
    }

    /// Where the packets of a way begin, and how many there are.
    fn on(&self, way: Way) -> (usize, usize) {
        let from = self.flying.partition_point(|flying| flying.way < way);
        (from, self.flying[from..].iter().take_while(|flying| flying.way == way).count())
    }

    /// The ways on which something can arrive next. Where orders give the same, those to one host: nothing that happens elsewhere
    /// takes from these ways, or puts before what is on them. To an end leads one way, so its packets are the first; the program in
    /// the network has its turn when there are none.
    fn next_ways(&self, every_order: bool) -> impl Iterator<Item = Way> {
        let busy = |way: &Way| self.on(*way).1 > 0;
        let via = self.via;
        let one = self.left.ways_commute() && !every_order;
        let only = Way::ALL.into_iter().filter(busy).find(|way| one && way.to(via) != VIA);
        Way::ALL.into_iter().filter(busy).filter(move |way| only.is_none_or(|only| only == *way))
    }

    /// Nothing is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// What can happen next, where something is due at the ends at these times; nothing: it is over. Of orders
    /// that give the same only one is there, unless every one is wanted.
    pub(crate) fn actions(&self, due: &[Option<u64>], every_order: bool, to: &mut Vec<Action>) {
        to.clear();
        self.next_ways(every_order).for_each(|way| self.on_way(way, to));
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
        self.flying.iter().map(|flying| flying.until).min().unwrap_or(u64::MAX)
    }

    fn on_way(&self, way: Way, to: &mut Vec<Action>) {
        let (from, count) = self.on(way);
        if self.left.lose > 0 {
            to.push(Action::Lose(way));
        }
        // Any but the first one overtakes those before it.
        let any = if self.left.reorder > 0 { count } else { 1 };
        for (at, flying) in (0..=u8::MAX).zip(&self.flying[from..from + any]) {
            to.push(Action::Deliver(way, at));
            if self.left.duplicate > 0 {
                to.push(Action::Duplicate(way, at));
            }
            if self.left.corrupt > 0 {
                to.extend((0..flying.packet.bits()).map(|bit| Action::Corrupt(way, at, bit)));
            }
        }
    }

    /// Where the packet is that an action is about, if it is about one that there is.
    fn place(&self, action: Action) -> Option<usize> {
        let (way, at) = match action {
            Action::Deliver(way, at) | Action::Duplicate(way, at) | Action::Corrupt(way, at, _) => {
                (way, usize::from(at))
            }
            Action::Lose(way) => (way, 0),
            Action::Time(_) | Action::Crash(_) => return None,
        };
        let (from, count) = self.on(way);
        (at < count).then_some(from + at)
    }

    /// The packet that an action is about, if it is about one that there is.
    pub(crate) fn packet(&self, action: Action) -> Option<&P> {
        Some(&self.flying[self.place(action)?].packet)
    }

    /// Does what an action does to the channel; `due`: when something is due at the host where time passes. Returns the host to which
    /// something happens, and what.
    pub(crate) fn act(&mut self, action: Action, due: Option<u64>) -> Option<(usize, Input<P>)> {
        if let Action::Time(host) = action {
            let at = due?.max(self.now);
            self.left.delay -= u8::from(at > self.now && !self.is_empty());
            self.now = at;
            if self.left.delay == 0 {
                self.flying.iter_mut().for_each(|flying| flying.until = u64::MAX);
            }
            return Some((host.into(), Input::Time));
        }
        if let Action::Crash(host) = action {
            self.left.crash -= 1;
            return Some((host.into(), Input::Crash(self.crashes - self.left.crash)));
        }
        let at = self.place(action)?;
        let way = self.flying[at].way;
        let to = way.to(self.via);
        self.left.reorder -= u8::from(action.overtakes());
        if matches!(action, Action::Duplicate(..)) {
            self.left.duplicate -= 1;
            return Some((to, Input::Packet(way, self.flying[at].packet.clone(), None)));
        }
        let packet = self.flying.remove(at).packet;
        match action {
            Action::Lose(_) => {
                self.left.lose -= 1;
                None
            }
            Action::Corrupt(.., bit) => {
                self.left.corrupt -= 1;
                Some((to, Input::Packet(way, packet, Some(bit))))
            }
            Action::Deliver(..) => Some((to, Input::Packet(way, packet, None))),
            Action::Duplicate(..) | Action::Time(_) | Action::Crash(_) => None,
        }
    }
}

impl<P> Channel<P> {
    /// How many hosts there are.
    pub(crate) fn hosts(&self) -> usize {
        2 + usize::from(self.via)
    }

    /// Whether an end has begun anew.
    pub(crate) fn has_crashed(&self) -> bool {
        self.left.crash < self.crashes
    }

    /// Whether no time has passed between two, and no fault has happened.
    pub(crate) fn same_moment(&self, other: &Channel<P>) -> bool {
        self.now == other.now && self.left == other.left
    }

    /// Hashes what tells it from others of the same search; `print` tells packets apart.
    pub(crate) fn hash_with(&self, print: impl Fn(&P) -> u64, to: &mut impl Hasher) {
        to.write_u64(self.now);
        self.left.hash(to);
        for Flying { way, until, packet } in &self.flying {
            to.write_u64(print(packet));
            to.write_u64(*until);
            to.write_u8(*way as u8);
        }
    }
}
