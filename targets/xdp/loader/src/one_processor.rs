// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread that stays on one processor. Programs in the kernel number the timers that are started for each processor by itself
//! (`carrick_timer_begin`), and clocks tell those of several apart, except the made ones of comparisons: there one processor has
//! to start all.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{Mutex, PoisonError};

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The processors that threads of this process stay on, each as often as there are such threads.
static TAKEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

thread_local! {
    /// what this thread holds
    static HELD: RefCell<Weak<OneProcessor>> = const { RefCell::new(Weak::new()) };
}

/// The thread that made it stays where it is, until the last of those that hold it is gone.
pub(crate) struct OneProcessor {
    here: usize,
    /// where the thread could be before
    before: CpuSet,
}

impl OneProcessor {
    /// Keeps this thread where the fewest others were told to stay, where it is now if there is a choice. A thread or process that it
    /// starts meanwhile stays there, too. `None` if the system does not let it, as with more processors than its set has: then it
    /// may be moved, which seldom changes anything.
    pub(crate) fn hold() -> Option<Rc<OneProcessor>> {
        if let Some(held) = HELD.with_borrow(Weak::upgrade) {
            return Some(held);
        }
        let before = sched_getaffinity(None).ok()?;
        let now = sched_getcpu();
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let others = |at: usize| taken.iter().filter(|other| **other == at).count();
        let allowed = (0..CpuSet::MAX_CPU).filter(|at| before.is_set(*at));
        let here = allowed.min_by_key(|at| (others(*at), *at != now)).unwrap_or(now);
        let mut only = CpuSet::new();
        only.set(here);
        sched_setaffinity(None, &only).ok()?;
        taken.push(here);
        let held = Rc::new(OneProcessor { here, before });
        HELD.set(Rc::downgrade(&held));
        Some(held)
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = taken.iter().position(|at| *at == self.here) {
            taken.swap_remove(at);
        }
        // A thread that cannot go back stays, which changes no outcome.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since another's threads would have places too.
    #[test]
    fn a_thread_stays_until_nobody_needs_it_to_and_apart_from_others() {
        let allowed = || sched_getaffinity(None).expect("it is told").count();
        let before = allowed();
        let first = OneProcessor::hold().expect("it may stay");
        let second = OneProcessor::hold().expect("it may stay");
        assert_eq!(allowed(), 1);
        drop(first);
        assert_eq!(allowed(), 1, "one is there that needs it");
        // A thread begins with what the one has that made it: this one is told that it may go anywhere.
        let anywhere = second.before;
        let other = std::thread::spawn(move || {
            sched_setaffinity(None, &anywhere).expect("it may");
            let _held = OneProcessor::hold().expect("it may stay");
            sched_getcpu()
        });
        let other = other.join().expect("it ends");
        assert_eq!(other == sched_getcpu(), before == 1);
        drop(second);
        assert_eq!(allowed(), before);
    }
}
