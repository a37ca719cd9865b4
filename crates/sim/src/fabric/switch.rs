// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a switch does with a packet that is to leave by a port: queue it, mark it, cut it, send it back, or drop it.

use rustc_hash::FxHashMap;

use super::packets::{self, Deal, Label, Packets};
use super::port::{PRIORITIES, Port, Waiting};
use super::routes::PortId;
use crate::rng::Rng;

/// The queues of switches; the same at each of their ports.
#[derive(Debug, Clone, PartialEq)]
pub struct Queueing {
    /// bytes that wait with one priority at most
    pub octets: u64,
    /// strict priorities, 1 to 8: the classes that packets have (the first three bits of their differentiated services field)
    /// are divided among them, the highest goes first
    pub priorities: usize,
    pub mark: Option<Mark>,
    pub shared: Option<Shared>,
    pub trim: Option<Trim>,
    pub pause: Option<Pause>,
    pub paths: Paths,
}

impl Default for Queueing {
    fn default() -> Queueing {
        Queueing {
            octets: 250 * 1500,
            priorities: PRIORITIES,
            mark: None,
            shared: None,
            trim: None,
            pause: None,
            paths: Paths::Flow,
        }
    }
}

/// Packets are marked by how many bytes wait with their priority: none below `from`, all at `to` and above; between the two so
/// many of a million, rising evenly to `most_ppm` (Floyd and Jacobson, 1993, of the queue as it is).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub from: u64,
    /// not below `from`
    pub to: u64,
    pub most_ppm: u32,
}

impl Mark {
    /// Of a million packets that find so many bytes waiting, so many are marked.
    fn share_ppm(self, waiting: u64) -> u32 {
        match waiting {
            _ if waiting >= self.to => 1_000_000,
            _ if waiting < self.from => 0,
            _ => {
                let part = u128::from(waiting - self.from) * u128::from(self.most_ppm);
                (part / u128::from(self.to - self.from)) as u32
            }
        }
    }
}

/// A buffer for all ports of a switch: a queue may have so many times what is free of it (Choudhury and Hahne, 1998).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    pub octets: u64,
    pub alpha: f64,
}

/// Packets for which there is no room are cut to their headers, not dropped (Handley et al., SIGCOMM 2017, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// bytes that are left of a packet, those of its network header among them
    pub octets: u32,
    /// the code point that says so; its class is the priority of what is left
    pub dscp: u8,
    /// bytes of such headers that wait at most
    pub room: u64,
    /// if even for that there is no room, the header goes back to its sender with this code point
    pub back: Option<u8>,
}

/// Priority flow control (IEEE 802.1Qbb): of a priority of which so many bytes wait that came by one link, no more is sent over
/// that link until half of them have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub octets: u64,
}

/// By which of several shortest paths packets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// all packets of a flow by the same
    Flow,
    /// each packet between two hosts by another, in an order that is drawn anew in each round: as senders do that choose the
    /// path of each packet (Handley et al., section 3)
    Spray,
}

/// A switch at work.
#[derive(Debug)]
pub struct Switch {
    /// bytes that wait at all its ports
    buffered: u64,
    salt: u64,
    rng: Rng,
    /// by source and destination
    deals: FxHashMap<(u32, u32), Deal>,
}

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Queued,
    /// this one, which may have come before it, is gone
    Dropped(u32),
    /// this one is to go back to its sender
    Back(u32),
}

impl Switch {
    /// `number` tells switches apart.
    pub fn new(seed: u64, number: u64) -> Switch {
        let mut rng = Rng::new(seed, 2_000_000 + number);
        let salt = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
        Switch { buffered: 0, salt, rng, deals: FxHashMap::default() }
    }

    /// One of the ports that lead to a packet's destination.
    pub fn choose(&mut self, ports: &[PortId], paths: Paths, packet: u32, all: &Packets) -> Option<PortId> {
        match ports {
            [] => None,
            [only] => Some(*only),
            _ if paths == Paths::Flow => {
                let hash = packets::flow_hash(all.octets(packet), self.salt);
                Some(ports[(hash % ports.len() as u64) as usize])
            }
            _ => {
                let label = all.label(packet);
                let deal = self
                    .deals
                    .entry((label.source, label.destination))
                    .or_insert_with(|| Deal::new(ports.len()));
                Some(ports[deal.next(&mut self.rng)])
            }
        }
    }

    /// A packet of this port has begun to leave.
    pub fn left(&mut self, octets: u32) {
        self.buffered -= u64::from(octets);
    }

    /// Puts a packet before a port, if there is room; it came by the link of `from`.
    pub fn queue(
        &mut self,
        port: &mut Port,
        (packet, from): (u32, PortId),
        all: &mut Packets,
        q: &Queueing,
        now: u64,
    ) -> Fate {
        let Label { octets, class, .. } = all.label(packet);
        let waiting = Waiting { packet, octets, from };
        let priority = q.priority(class);
        if self.has_room(port, priority, octets, q) {
            let share = q.mark.map_or(0, |mark| mark.share_ppm(port.octets_of(priority)));
            // What is certain needs no random.
            if (share == 1_000_000 || self.rng.chance(share))
                && all.change(packet, |octets| packets::mark(octets))
            {
                port.counters.marked += 1;
            }
            self.put(port, priority, waiting, now);
            return Fate::Queued;
        }
        match &q.trim {
            Some(trim) if octets > trim.octets => self.cut(port, priority, waiting, all, (q, trim), now),
            _ => {
                port.counters.dropped += 1;
                Fate::Dropped(packet)
            }
        }
    }

    fn put(&mut self, port: &mut Port, priority: usize, waiting: Waiting, now: u64) {
        self.buffered += u64::from(waiting.octets);
        port.put(priority, waiting, now);
    }

    fn has_room(&self, port: &Port, priority: usize, octets: u32, q: &Queueing) -> bool {
        let waits = port.octets_of(priority) + u64::from(octets);
        let allowed = q.shared.map_or(u64::MAX, |shared| {
            let free = shared.octets.saturating_sub(self.buffered + u64::from(octets));
            (free as f64 * shared.alpha) as u64
        });
        waits <= q.octets.min(allowed)
    }

    /// Leaves the header of a packet: of this one, or as often of the one that came last, so that of senders who keep in step
    /// not always the same is cut.
    fn cut(
        &mut self,
        port: &mut Port,
        priority: usize,
        waiting: Waiting,
        all: &mut Packets,
        (q, trim): (&Queueing, &Trim),
        now: u64,
    ) -> Fate {
        let mut cut = waiting;
        if self.rng.chance(500_000)
            && let Some(last) = port.take_last(priority, now)
        {
            self.left(last.octets);
            if last.octets > trim.octets && self.has_room(port, priority, waiting.octets, q) {
                self.put(port, priority, waiting, now);
                cut = last;
            } else {
                self.put(port, priority, last, now);
            }
        }
        port.counters.trimmed += 1;
        all.change(cut.packet, |octets| packets::trim(octets, trim.octets as usize, trim.dscp));
        let header = Waiting { octets: trim.octets, ..cut };
        let first = q.priority(trim.dscp >> 3);
        if port.octets_of(first) + u64::from(trim.octets) <= trim.room {
            self.put(port, first, header, now);
            return Fate::Queued;
        }
        self.too_many_headers(port, cut.packet, all, trim)
    }

    fn too_many_headers(&mut self, port: &mut Port, packet: u32, all: &mut Packets, trim: &Trim) -> Fate {
        let Some(dscp) = trim.back else {
            port.counters.dropped += 1;
            return Fate::Dropped(packet);
        };
        port.counters.returned += 1;
        all.change(packet, |octets| packets::turn_round(octets, dscp));
        Fate::Back(packet)
    }
}

impl Queueing {
    /// Of a class.
    pub fn priority(&self, class: u8) -> usize {
        usize::from(class) * self.priorities.clamp(1, PRIORITIES) / PRIORITIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_rise_from_none_to_the_most_and_then_to_all() {
        let mark = Mark { from: 5_000, to: 205_000, most_ppm: 10_000 };
        let shares = [0, 4_999, 5_000, 105_000, 204_999, 205_000, u64::MAX].map(|at| mark.share_ppm(at));
        assert_eq!(shares, [0, 0, 0, 5_000, 9_999, 1_000_000, 1_000_000]);
        let step = Mark { from: 30, to: 30, most_ppm: 0 };
        assert_eq!([29, 30].map(|at| step.share_ppm(at)), [0, 1_000_000]);
    }
}
