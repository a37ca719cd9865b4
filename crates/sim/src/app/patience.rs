// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often an application tries again what is refused for want of space, and when it gives up.

use serde::{Deserialize, Serialize};

/// A pause is at least this part of the time that was waited already. So the first tries are as often as the application says, and
/// waiting for long takes few of them.
const PART: u64 = 1000;
/// Virtual nanoseconds of refusals after which nothing will change any more.
const GIVE_UP_AFTER: u64 = 3_000_000_000_000;

/// Counts how long requests have been refused, without one that was taken.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Patience {
    since: Option<u64>,
}

impl Patience {
    /// A request was refused. Returns when to try again, at least `pause` nanoseconds from now; `None`: give up.
    pub(crate) fn refused(&mut self, now: u64, pause: u64) -> Option<u64> {
        let waited = now - *self.since.get_or_insert(now);
        (waited < GIVE_UP_AFTER).then(|| now + pause.max(waited / PART))
    }

    /// A request was taken.
    pub(crate) fn taken(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_long_takes_few_tries_and_ends() {
        let (mut patience, mut now, mut tries) = (Patience::default(), 5, 0);
        while let Some(next) = patience.refused(now, 10_000) {
            assert!(tries >= 1000 || next == now + 10_000, "as often as it says at first");
            (now, tries) = (next, tries + 1);
        }
        assert!(now > GIVE_UP_AFTER && tries < 20_000, "{tries} tries in {now} ns");
        patience.taken();
        assert_eq!(patience.refused(now, 7), Some(now + 7));
    }
}
