// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running timers, by deadline and then order of starting.

use std::collections::BTreeMap;

/// Which timer of which context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimerRef {
    pub handle: u64,
    pub timer: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Timers {
    running: BTreeMap<(u64, u64), TimerRef>,
    started: u64,
}

impl Timers {
    /// Starts a timer; returns its place in the order of starting, which is not 0.
    pub(crate) fn start(&mut self, deadline: u64, timer: TimerRef) -> u64 {
        self.started += 1;
        self.running.insert((deadline, self.started), timer);
        self.started
    }

    pub(crate) fn stop(&mut self, deadline: u64, order: u64) {
        self.running.remove(&(deadline, order));
    }

    /// Counts the orders of starting anew, from 1, and shows where each timer stands then: `moved` is given it with its order.
    pub(crate) fn renumber(&mut self, mut moved: impl FnMut(TimerRef, u64)) {
        self.started = 0;
        let running = std::mem::take(&mut self.running);
        for ((deadline, _), timer) in running {
            moved(timer, self.start(deadline, timer));
        }
    }

    /// When each runs out, in order of that and then of starting.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, TimerRef)> {
        self.running.iter().map(|((deadline, _), timer)| (*deadline, *timer))
    }

    /// No timer runs any more.
    pub(crate) fn clear(&mut self) {
        self.running.clear();
        self.started = 0;
    }

    pub(crate) fn first(&self) -> Option<(u64, TimerRef)> {
        self.running.first_key_value().map(|((deadline, _), timer)| (*deadline, *timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_earliest_and_then_the_one_started_first() {
        let mut timers = Timers::default();
        let timer = |timer| TimerRef { handle: 1, timer };
        let late = timers.start(20, timer(0));
        let first = timers.start(10, timer(1));
        let second = timers.start(10, timer(2));
        assert_eq!(timers.first(), Some((10, timer(1))));
        timers.stop(10, first);
        assert_eq!(timers.first(), Some((10, timer(2))));
        timers.stop(10, second);
        timers.stop(20, late);
        assert_eq!(timers.first(), None);
    }
}
