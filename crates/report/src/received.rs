// SPDX-License-Identifier: MIT OR Apache-2.0
//! What arrived of the bytes that flows receive: all that a receiver's own trace shows of a transfer.

use std::collections::BTreeMap;

use carrick_sim::core::Record;

use crate::flows::Moment;
use crate::model::{Segments, Series};

/// The RX data unit of a flow.
#[derive(Default)]
struct Unit {
    segments: Segments,
    taken: Series,
    /// ranges that arrived: end by beginning, none of which touch
    ranges: BTreeMap<u64, u64>,
}

/// Collects what flows receive as a trace goes by.
#[derive(Default)]
pub struct Received {
    units: BTreeMap<u32, Unit>,
}

impl Received {
    /// An instruction on a flow.
    pub fn instruction(&mut self, at: Moment, flow: u32, name: &str, record: &Record) {
        let word = |n: usize| record.words.get(n).copied().unwrap_or(0);
        match name {
            "new_rx_ordered_data" => {
                let unit = self.unit(flow);
                unit.ranges.clear();
                unit.taken.step(at.t, 0.0, at.event);
            }
            "add_rx_data_seg" => {
                let (len, offset) = (word(1), word(2));
                let unit = self.unit(flow);
                let again = unit.arrived(offset, offset.saturating_add(len));
                unit.segments.add(at.t, (offset, len), again, at.event);
            }
            "rx_flush_and_notify" => {
                let taken = &mut self.unit(flow).taken;
                let before = taken.v.last().copied().unwrap_or(0.0);
                taken.step(at.t, before + word(1) as f64, at.event);
            }
            _ => {}
        }
    }

    fn unit(&mut self, flow: u32) -> &mut Unit {
        self.units.entry(flow).or_insert_with(|| Unit {
            segments: Segments { of: flow, ..Segments::default() },
            taken: Series::of(flow),
            ..Unit::default()
        })
    }

    /// What was collected, of each flow that received bytes.
    pub fn finish(self) -> (Vec<Segments>, Vec<Series>) {
        let units = self.units.into_values().filter(|unit| !unit.segments.t.is_empty());
        units.map(|unit| (unit.segments, unit.taken)).unzip()
    }
}

impl Unit {
    /// Notes a range, and returns whether some of it was there.
    fn arrived(&mut self, mut begin: u64, mut end: u64) -> bool {
        let mut again = false;
        while let Some((&first, &last)) =
            self.ranges.range(..=end).next_back().filter(|(_, last)| **last >= begin)
        {
            again |= first < end && begin < last;
            (begin, end) = (begin.min(first), end.max(last));
            self.ranges.remove(&first);
        }
        self.ranges.insert(begin, end);
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_arrive_twice_are_known() {
        let mut unit = Unit::default();
        let found: Vec<bool> = [(0, 10), (20, 30), (10, 20), (5, 6), (29, 31), (31, 40), (60, 70), (50, 65)]
            .map(|(begin, end)| unit.arrived(begin, end))
            .to_vec();
        assert_eq!(found, [false, false, false, true, true, false, false, true]);
        assert_eq!(unit.ranges, BTreeMap::from([(0, 40), (50, 70)]));
    }
}
