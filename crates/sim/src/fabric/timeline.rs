// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a network was like over time: points at equal distances, few enough to be drawn, however long the run.

use std::fmt::Write as _;

use super::tier::Tier;

/// Points at most; beyond them two become one.
const POINTS: usize = 4096;
/// Nanoseconds between points in the beginning: about a packet on a fast link.
const STEP: u64 = 100;

/// The ports of a tier at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Queues {
    /// bytes that waited at the port with the most of them
    pub longest: u64,
    /// and at all ports together
    pub together: u64,
}

/// What happened since the point before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    /// virtual nanoseconds
    pub until: u64,
    /// of flows, that arrived
    pub octets: u64,
    /// as they were at the end, or at the worst of several ends
    pub queues: [Queues; 3],
}

impl Point {
    /// With what happened next.
    fn and(self, next: &Point) -> Point {
        let mut both = Point { until: next.until, octets: self.octets + next.octets, ..self };
        for (to, from) in both.queues.iter_mut().zip(&next.queues) {
            to.longest = to.longest.max(from.longest);
            to.together = to.together.max(from.together);
        }
        both
    }
}

/// A run over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    pub points: Vec<Point>,
    step: u64,
    /// when the next point is wanted, in virtual nanoseconds
    pub due: u64,
    /// bytes that had arrived at the last point
    arrived: u64,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline { points: Vec::new(), step: STEP, due: STEP, arrived: 0 }
    }
}

impl Timeline {
    /// Adds a point: how many bytes have arrived since the beginning, and what waits, until that time.
    pub fn add(&mut self, until: u64, arrived: u64, queues: [Queues; 3]) {
        self.points.push(Point { until, octets: arrived - self.arrived, queues });
        self.arrived = arrived;
        if self.points.len() >= POINTS {
            self.points = self.points.chunks(2).map(|two| two[1..].iter().fold(two[0], Point::and)).collect();
            self.step = self.step.saturating_mul(2);
        }
        self.due = until.saturating_add(self.step);
    }

    /// A line for each point, behind one that names what is in it; `capacity` is that of all hosts' links, in bits per second.
    /// Each line also has the bottleneck of the run.
    pub fn csv(&self, capacity_bps: f64, bottleneck: &str) -> String {
        let mut text = String::from("point,bottleneck,time_ns,goodput_bps,utilisation");
        for tier in [Tier::FromHost, Tier::ToHost, Tier::Between] {
            let name = tier.name();
            let _ = write!(text, ",{name}_longest_bytes,{name}_together_bytes");
        }
        text.push('\n');
        let mut before = 0;
        for (number, point) in self.points.iter().enumerate() {
            let goodput = point.octets as f64 * 8e9 / (point.until - before).max(1) as f64;
            before = point.until;
            let _ = write!(
                text,
                "{number},{bottleneck},{},{goodput:.0},{:.4}",
                point.until,
                goodput / capacity_bps
            );
            for queues in &point.queues {
                let _ = write!(text, ",{},{}", queues.longest, queues.together);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_too_many_points_and_nothing_is_lost() {
        let mut timeline = Timeline::default();
        let mut arrived = 0;
        let peak = 77_777;
        while timeline.due < 1_000_000 {
            let now = timeline.due;
            arrived = now / 3;
            let longest = if (500_000..500_400).contains(&now) { peak } else { 5 };
            timeline.add(now, arrived, [Queues { longest, together: 2 * longest }; 3]);
            assert!(timeline.points.len() < POINTS);
        }
        assert!(timeline.points.len() > POINTS / 3, "{}", timeline.points.len());
        assert_eq!(timeline.points.iter().map(|p| p.octets).sum::<u64>(), arrived);
        assert_eq!(timeline.points.iter().map(|p| p.queues[1].longest).max(), Some(peak));
        assert!(timeline.points.windows(2).all(|two| two[0].until < two[1].until));
        let text = timeline.csv(1e9, "s0:s1");
        assert!(
            text.starts_with("point,bottleneck,time_ns,")
                && text.contains("\n0,s0:s1,")
                && text.lines().count() == timeline.points.len() + 1
        );
    }
}
