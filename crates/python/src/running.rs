// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long work beside Python: other threads of Python go on, and Ctrl-C ends it.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Between two looks at signals.
const INTERVAL: Duration = Duration::from_millis(50);
/// As the main thread of a process has: programs are trees, which the compiler walks.
const STACK: usize = 16 << 20;

/// Does work in a thread of its own. If a handler of a signal raises an exception meanwhile, `stop` is called, and the exception
/// goes on when the work has ended.
///
/// # Errors
/// That exception.
pub fn beside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send, stop: impl Fn()) -> PyResult<T> {
    thread::scope(|scope| {
        let (done, mut waiting) = mpsc::channel();
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            let result = work();
            // It is awaited until then.
            let _ = done.send(());
            result
        })?;
        let mut interrupted = Ok(());
        let mut waits = || {
            let waiting = &mut waiting;
            // If it panics, the other end of the channel is gone.
            py.detach(move || waiting.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout))
        };
        while waits() {
            if interrupted.is_ok() {
                interrupted = py.check_signals();
                if interrupted.is_err() {
                    stop();
                }
            }
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        interrupted.map(|()| result)
    })
}
