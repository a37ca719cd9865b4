// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets between hosts, and how many wait and are on their way.

use std::collections::BTreeMap;

use crate::model::{FOREIGN, Packets, Series, UNTOLD};

/// Collects packets as a trace goes by.
#[derive(Default)]
pub struct Collector {
    packets: Packets,
    /// by number in the trace
    places: BTreeMap<u64, usize>,
}

impl Collector {
    /// `by`: the event that asked for it, or -1.
    pub fn sent(&mut self, t: u64, host: u32, number: u64, octets: u64, by: i64) {
        let p = &mut self.packets;
        self.places.insert(number, p.t.len());
        p.t.push(t);
        p.host.push(host);
        p.octets.push(octets as u32);
        p.by.push(by);
        p.left.push(UNTOLD);
        for column in [&mut p.to, &mut p.arrival, &mut p.copy, &mut p.event] {
            column.push(-1);
        }
    }

    pub fn forwarded(&mut self, number: u64, left: Option<u64>, arrival: Option<u64>, copy: Option<u64>) {
        let Some(&at) = self.places.get(&number) else { return };
        let moment = |t: Option<u64>| t.map_or(-1, |t| t as i64);
        self.packets.left[at] = moment(left);
        self.packets.arrival[at] = moment(arrival);
        self.packets.copy[at] = moment(copy);
    }

    /// The packet's place in the table.
    pub fn arrived(&mut self, t: u64, host: u32, number: u64, octets: u64) -> usize {
        let at = self.places.get(&number).copied().unwrap_or_else(|| {
            self.sent(t, host, number, octets, -1);
            let at = self.packets.t.len() - 1;
            (self.packets.left[at], self.packets.arrival[at]) = (FOREIGN, t as i64);
            at
        });
        self.packets.to[at] = i64::from(host);
        at
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.packets.t.len()
    }

    /// An event that a packet brought about; the first one counts.
    pub fn event(&mut self, packet: usize, event: i64) {
        if self.packets.event[packet] < 0 {
            self.packets.event[packet] = event;
        }
    }

    /// The packets, and how many waited and were on their way, by host.
    pub fn finish(self) -> (Packets, Vec<Series>, Vec<Series>) {
        let hosts = self.packets.host.iter().max().map_or(0, |h| h + 1);
        let p = &self.packets;
        let (mut queues, mut in_flight) = (Vec::new(), Vec::new());
        for host in 0..hosts {
            let sent = || (0..p.t.len()).filter(|&i| p.host[i] == host && p.left[i] >= 0);
            queues.push(level(host, sent().map(|i| (p.t[i], p.left[i] as u64))));
            // What is lost is on its way until it has left.
            let gone = |i: usize| if p.arrival[i] < 0 { p.left[i] } else { p.arrival[i] };
            in_flight.push(level(host, sent().map(|i| (p.t[i], gone(i) as u64))));
        }
        (self.packets, queues, in_flight)
    }
}

/// How many stays (from, to) there are over time.
fn level(host: u32, stays: impl Iterator<Item = (u64, u64)>) -> Series {
    let mut changes: Vec<(u64, i32)> = stays.flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
    changes.sort_unstable();
    let mut series = Series::of(host);
    let mut count = 0;
    for (t, change) in changes {
        count += change;
        series.step(t, f64::from(count), -1);
    }
    series.e.clear();
    series
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn a_level_counts_what_is_there() {
        let series = level(0, [(0, 10), (5, 20), (10, 30), (20, 20)].into_iter());
        assert_eq!(series.t, [0, 5, 10, 20, 30]);
        assert_eq!(series.v, [1.0, 2.0, 2.0, 1.0, 0.0]);
        assert!(series.e.is_empty());
    }
}
