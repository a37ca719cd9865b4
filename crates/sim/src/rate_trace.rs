// SPDX-License-Identifier: MIT OR Apache-2.0
//! A link's rate over time, as a recording of a real path has it. Recordings repeat when they end.

use std::sync::Arc;

/// Bytes that a delivery opportunity of a packet trace carries (Winstein and Balakrishnan, USENIX ATC 2015).
pub const OPPORTUNITY: u64 = 1504;
/// Bytes that each packet counts for beside its own: `mm-link` counts the header of its TUN device, so that an opportunity is
/// used up by a packet of 1500 bytes.
pub const TUN_HEADER: u64 = 4;
/// A recording at most: a day, in nanoseconds.
pub const LONGEST: u64 = 24 * 3_600_000_000_000;
/// No packet leaves later, so that delays can be added to it.
const FAR: u64 = 1 << 62;
const SECOND: u128 = 1_000_000_000;

/// What a link carries over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateTrace {
    shape: Shape,
    /// nanoseconds after which it repeats
    period: u64,
    /// what a period carries, in bits times nanoseconds per second: at 1 bps, a nanosecond carries 1
    per_period: u128,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// bits per second, each from its time in the period on
    Steps(Vec<(u64, u64)>),
    /// times in the period at which [`OPPORTUNITY`] bytes can leave
    Opportunities(Vec<u64>),
}

impl RateTrace {
    /// A step function: rates in bits per second, each from its time on, in nanoseconds, until that of the next. `end` is when it repeats.
    /// `None` if the times do not ascend from 0 to the end, the end is above [`LONGEST`], or all rates are 0.
    pub fn steps(steps: Vec<(u64, u64)>, end: u64) -> Option<RateTrace> {
        let times: Vec<u64> = steps.iter().map(|(from, _)| *from).chain([end]).collect();
        let ascend = times.windows(2).all(|two| two[0] < two[1]);
        (times[0] == 0 && ascend).then(|| RateTrace::of(Shape::Steps(steps), end)).flatten()
    }

    /// Delivery opportunities, each at a time in nanoseconds. The last one is also when the trace repeats. `None` if they are out of
    /// order, or the last one is not from 1 to [`LONGEST`].
    pub fn opportunities(times: Vec<u64>) -> Option<RateTrace> {
        let period = *times.last()?;
        times.is_sorted().then(|| RateTrace::of(Shape::Opportunities(times), period)).flatten()
    }

    fn of(shape: Shape, period: u64) -> Option<RateTrace> {
        let mut trace = RateTrace { shape, period, per_period: 0 };
        trace.per_period = trace.carried(period);
        ((1..=LONGEST).contains(&period) && trace.per_period > 0).then_some(trace)
    }

    /// What the first nanoseconds of a period carry, in the unit of `per_period`.
    fn carried(&self, until: u64) -> u128 {
        match &self.shape {
            Shape::Steps(steps) => {
                let ends = steps.iter().skip(1).map(|(from, _)| *from).chain([self.period]);
                let spans = steps.iter().zip(ends).map(|((from, rate), end)| {
                    u128::from(*rate) * u128::from(end.min(until).saturating_sub(*from))
                });
                spans.sum()
            }
            Shape::Opportunities(times) => {
                times.partition_point(|at| *at <= until) as u128 * u128::from(OPPORTUNITY) * 8 * SECOND
            }
        }
    }

    /// Bits per second on average until a time in nanoseconds; later than [`LONGEST`]: in a period.
    pub fn mean_bps(&self, until: u64) -> u64 {
        let until = if until > LONGEST { self.period } else { until.max(1) };
        let periods = u128::from(until / self.period) * self.per_period;
        let rest = until % self.period;
        let carried = periods + if rest == 0 { 0 } else { self.carried(rest) };
        (carried / u128::from(until)) as u64
    }

    /// When an opportunity is, counted over all periods from 0.
    fn time_of(&self, times: &[u64], number: u64) -> u64 {
        let len = times.len() as u64;
        let begin = (number / len).saturating_mul(self.period);
        begin.saturating_add(times[(number % len) as usize]).min(FAR)
    }

    /// The first opportunity at a time or after it.
    fn first_from(&self, times: &[u64], at: u64) -> u64 {
        // The last one of a period is at the beginning of the next.
        let period = at.saturating_sub(1) / self.period;
        let place = times.partition_point(|time| *time < at - period * self.period);
        period * times.len() as u64 + place as u64
    }
}

/// How far a direction of a link has used its recording.
#[derive(Debug)]
pub struct RateState {
    trace: Arc<RateTrace>,
    /// with steps, when the last packet left; else the number of the opportunity by which it did
    place: u64,
    /// what was not used there: with steps, of the last nanosecond; else bytes
    spare: u128,
}

impl RateState {
    /// At the beginning of a run.
    pub fn new(trace: Arc<RateTrace>) -> RateState {
        let spare = match trace.shape {
            Shape::Steps(_) => 0,
            Shape::Opportunities(_) => u128::from(OPPORTUNITY),
        };
        RateState { trace, place: 0, spare }
    }

    /// Sends a packet of so many bytes that can begin at a time, which is none before those of other packets. Returns when its last
    /// byte has left.
    pub fn send(&mut self, begin: u64, octets: usize) -> u64 {
        if begin >= FAR {
            return begin;
        }
        let trace = self.trace.clone();
        match &trace.shape {
            Shape::Steps(steps) => self.send_in_steps(&trace, steps, begin, octets as u128 * 8 * SECOND),
            Shape::Opportunities(times) => self.send_by_opportunities(&trace, times, begin, octets as u128),
        }
    }

    fn send_in_steps(&mut self, trace: &RateTrace, steps: &[(u64, u64)], begin: u64, bits: u128) -> u64 {
        let spare = if begin == self.place { self.spare } else { 0 };
        if spare >= bits {
            (self.place, self.spare) = (begin, spare - bits);
            return begin;
        }
        let periods = (bits - spare - 1) / trace.per_period;
        let mut rest = bits - spare - periods * trace.per_period;
        let skipped = u64::try_from(periods * u128::from(trace.period)).unwrap_or(FAR);
        let mut at = begin.saturating_add(skipped).min(FAR);
        let mut offset = at % trace.period;
        let mut step = steps.partition_point(|(from, _)| *from <= offset) - 1;
        // A period carries the rest, so this ends within one.
        loop {
            let end = steps.get(step + 1).map_or(trace.period, |(from, _)| *from);
            let rate = u128::from(steps[step].1);
            let span = end - offset;
            if rate * u128::from(span) >= rest {
                let takes = rest.div_ceil(rate);
                (self.place, self.spare) = (at + takes as u64, takes * rate - rest);
                return self.place;
            }
            rest -= rate * u128::from(span);
            at += span;
            (step, offset) = if end == trace.period { (0, 0) } else { (step + 1, end) };
        }
    }

    fn send_by_opportunities(&mut self, trace: &RateTrace, times: &[u64], begin: u64, octets: u128) -> u64 {
        if trace.time_of(times, self.place) < begin {
            (self.place, self.spare) = (trace.first_from(times, begin), u128::from(OPPORTUNITY));
        }
        let needed = octets + u128::from(TUN_HEADER);
        let more = needed.saturating_sub(self.spare).div_ceil(u128::from(OPPORTUNITY));
        self.place += more as u64;
        self.spare = self.spare + more * u128::from(OPPORTUNITY) - needed;
        trace.time_of(times, self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const MS: u64 = 1_000_000;

    fn state(trace: Option<RateTrace>) -> RateState {
        RateState::new(Arc::new(trace.expect("a recording")))
    }

    #[test]
    fn a_packet_takes_what_the_steps_say() {
        // 8 Mbps for 1 ms carries 1000 bytes, 2 Mbps for 2 ms 500.
        let steps = || RateTrace::steps(vec![(0, 8_000_000), (MS, 2_000_000), (3 * MS, 0)], 4 * MS);
        let mut state = state(steps());
        assert_eq!(state.send(0, 500), MS / 2);
        assert_eq!(state.send(MS / 2, 750), 2 * MS, "across a change");
        assert_eq!(state.send(2 * MS, 1250), 5 * MS, "over the pause into the next period");
        assert_eq!(state.send(7 * MS + 5, 1), 8 * MS + 1_000, "none leaves in the pause");
        assert_eq!(state.send(9 * MS, 10 * 1500), 49 * MS, "ten periods");
        let trace = steps().expect("a recording");
        assert_eq!([trace.mean_bps(MS), trace.mean_bps(4 * MS)], [8_000_000, 3_000_000]);
        assert_eq!((trace.mean_bps(5 * MS), trace.mean_bps(u64::MAX)), (4_000_000, 3_000_000));
    }

    #[test]
    fn short_packets_lose_no_fraction_of_a_nanosecond() {
        let mut state = state(RateTrace::steps(vec![(0, 100_000_000_000)], 3));
        let left = (0..1000).fold(0, |at, _| state.send(at, 64));
        assert_eq!(left, 5120);
    }

    #[test]
    fn short_packets_share_an_opportunity_and_long_ones_take_several() {
        let mut state = state(RateTrace::opportunities(vec![2 * MS, 2 * MS, 5 * MS]));
        assert_eq!(state.send(0, 1500), 2 * MS);
        assert_eq!(state.send(2 * MS, 746), 2 * MS, "the other one of the same time");
        assert_eq!(state.send(2 * MS, 746), 2 * MS, "also carries what is left there");
        assert_eq!(state.send(2 * MS, 1), 5 * MS);
        assert_eq!(state.send(5 * MS, 3 * 1504 - 4), 10 * MS, "the next two are at 7 ms");
        assert_eq!(state.send(10 * MS, 1499), 10 * MS, "one byte of it was used");
        assert_eq!(state.send(18 * MS, 20), 20 * MS, "what is not used in time is lost");
        assert_eq!(state.send(20 * MS + 1, 20), 22 * MS);
    }

    /// Compared with a list of all opportunities, of which bytes are taken one by one.
    #[test]
    fn opportunities_are_used_as_by_a_machine_that_counts_bytes() {
        let mut rng = Rng::new(3, 0);
        for _ in 0..50 {
            let mut times: Vec<u64> = (0..1 + rng.below(9)).map(|_| rng.below(12) * MS).collect();
            times.push((1 + rng.below(12)) * MS);
            times.sort_unstable();
            let period = times[times.len() - 1];
            let all = (0..4000).map(|n| times[n % times.len()] + (n / times.len()) as u64 * period);
            let mut left: Vec<(u64, u64)> = all.map(|at| (at, OPPORTUNITY)).collect();
            let (mut state, mut at) = (state(RateTrace::opportunities(times)), 0);
            for _ in 0..200 {
                at += if rng.chance(300_000) { rng.below(20 * MS) } else { 0 };
                let octets = 1 + rng.below(4000);
                let (mut needed, mut wanted) = (octets + TUN_HEADER, 0);
                for (time, bytes) in left.iter_mut().filter(|(time, _)| *time >= at) {
                    let taken = needed.min(*bytes);
                    (*bytes, needed) = (*bytes - taken, needed - taken);
                    if needed == 0 {
                        wanted = *time;
                        break;
                    }
                }
                at = state.send(at, octets as usize);
                assert_eq!(at, wanted);
            }
        }
    }

    #[test]
    fn what_is_no_recording_is_none() {
        for steps in [vec![], vec![(1, 5)], vec![(0, 5), (0, 6)], vec![(0, 5), (9, 6)], vec![(0, 0), (3, 0)]]
        {
            assert_eq!(RateTrace::steps(steps, 9), None);
        }
        for times in [vec![], vec![0, 0], vec![3, 2], vec![LONGEST + 1]] {
            assert_eq!(RateTrace::opportunities(times), None);
        }
    }

    #[test]
    fn the_slowest_link_ends_nowhere() {
        let mut slow = state(RateTrace::steps(vec![(0, 1), (1, 0)], LONGEST));
        let left = slow.send(0, 65_535);
        assert_eq!((slow.send(left, 1) >= left, left >= FAR), (true, true));
    }
}
