// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that go through the states of a level together. Each has hosts of its own, and remembers from level to level what they do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use crate::state::State;

/// States that a thread takes at once.
pub(crate) const AT_ONCE: usize = 32;

/// A state and its print.
pub(crate) type Node = (u64, State);

/// The states that are so many actions from the beginning.
pub(crate) struct Level {
    pub nodes: Vec<Node>,
    pub depth: u32,
    /// the first that nobody has taken
    next: AtomicUsize,
}

impl Level {
    pub(crate) fn new(nodes: Vec<Node>, depth: u32) -> Arc<Level> {
        Arc::new(Level { nodes, depth, next: AtomicUsize::new(0) })
    }

    /// The next states that nobody has taken; nothing: there are none.
    pub(crate) fn take(&self) -> &[Node] {
        let from = self.next.fetch_add(AT_ONCE, Ordering::Relaxed).min(self.nodes.len());
        &self.nodes[from..(from + AT_ONCE).min(self.nodes.len())]
    }
}

/// What is behind a level.
type After = Result<Vec<Node>, String>;

/// A thread beside the first.
pub(crate) struct Other {
    levels: Sender<Arc<Level>>,
    after: Receiver<After>,
}

impl Other {
    /// It does `work` with each level that it is given, beginning with what `made` makes there.
    pub(crate) fn new<'s, T>(
        scope: &'s Scope<'s, '_>,
        made: impl FnOnce() -> Result<T, String> + Send + 's,
        work: impl Fn(&mut T, &Level) -> After + Send + 's,
    ) -> Other {
        let (levels, wanted) = channel::<Arc<Level>>();
        let (found, after) = channel();
        scope.spawn(move || {
            let mut made = made();
            for level in wanted {
                let said = made.as_mut().map_err(|why| why.clone()).and_then(|made| work(made, &level));
                // The first thread may have left.
                let _ = found.send(said);
            }
        });
        Other { levels, after }
    }
}

/// What is behind a level, by this thread's `work` and as many others as there is work for.
///
/// # Errors
/// That of the first thread which has one.
pub(crate) fn behind(level: &Arc<Level>, others: &[Other], work: impl FnOnce(&Level) -> After) -> After {
    let busy = &others[..others.len().min(level.nodes.len() / AT_ONCE)];
    for other in busy {
        other.levels.send(level.clone()).map_err(|_| gone())?;
    }
    let mut all = work(level)?;
    for other in busy {
        all.append(&mut other.after.recv().map_err(|_| gone())??);
    }
    Ok(all)
}

/// It has panicked, and the scope of all threads says so.
fn gone() -> String {
    "a thread of the search is gone".into()
}
