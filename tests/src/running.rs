// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that run beside a test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

/// How long a process may take to end in order before it is killed.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

/// A process that ends, with those that it has started, when its test does.
pub struct Running(Child);

impl Running {
    /// The process's id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns the id of the first process that it has started and that still runs; `None` if there is none.
    ///
    /// # Panics
    /// If it has ended and was waited for.
    pub fn child(&self) -> Option<u32> {
        let id = self.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("it runs");
        children.split_whitespace().next().and_then(|child| child.parse().ok())
    }

    /// Ends it as a person would, and gives how it ended.
    ///
    /// # Panics
    /// If it has ended already.
    pub fn end(self) -> ExitStatus {
        assert!(self.asked_to_end(), "it is still there");
        self.ended()
    }

    /// Waits until it has ended by itself, and gives how.
    ///
    /// # Panics
    /// If nobody can tell.
    pub fn ended(mut self) -> ExitStatus {
        self.0.wait().expect("it ends")
    }

    fn asked_to_end(&self) -> bool {
        let asked = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        asked.is_ok_and(|done| done.success())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(None)) {
            return;
        }
        // Killed at once, it would leave behind what it has started.
        self.asked_to_end();
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::park_timeout(POLL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a process that reads nothing, and gives what it says on both outputs.
///
/// # Panics
/// If it does not start.
pub fn started(command: &mut Command) -> (Running, impl Iterator<Item = String> + Send + use<>) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let other = writer.try_clone().expect("a descriptor");
    let child = command.stdin(Stdio::null()).stdout(other).stderr(writer).spawn().expect("it starts");
    // With its ends of the pipe it would hold it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    (Running(child), BufReader::new(reader).lines().map_while(Result::ok))
}

/// As [`started`], and waits for the line in which it says so much. Gives what else it says.
///
/// # Panics
/// If it does not start, or never says that.
pub fn saying(command: &mut Command, says: &str) -> (Running, impl Iterator<Item = String> + Send + use<>) {
    let (running, mut lines) = started(command);
    let mut before = Vec::new();
    let begun = lines.by_ref().any(|line| {
        let found = line.contains(says);
        before.push(line);
        found
    });
    assert!(begun, "it never said `{says}`: {before:?}");
    (running, lines)
}

/// Starts a server and waits for the line in which it says that it serves.
///
/// # Panics
/// If it does not start, or never says that.
pub fn serve(command: &mut Command, says: &str) -> Running {
    let (running, lines) = saying(command, says);
    // What else it says is nobody's, but somebody must read it.
    std::thread::spawn(move || lines.for_each(drop));
    running
}

/// Returns once a process that was started has a handler of a signal.
///
/// # Panics
/// If it ends before.
pub fn wait_until_it_catches(process: u32, signal: Signal) {
    let status = format!("/proc/{process}/status");
    let catches = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("SigCgt:"));
        let mask = line.and_then(|line| u64::from_str_radix(line[7..].trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
    };
    while !catches(&std::fs::read_to_string(&status).expect("it runs")) {
        std::thread::yield_now();
    }
}
