//! When a host process is started, ended, and started again: a state machine, without a clock and without a system.
//!
//! It receives events with their time and returns the next action. `host.rs` runs it on Linux; `simulated.rs` runs it on a
//! simulated system, where a seed makes the events and a model checks the actions.

use std::time::Duration;

/// The shortest back-off, and the longest: it doubles each time that the process lived less than the longest.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// How long a process may take to end after a signal.
pub const END: Duration = Duration::from_secs(5);

/// What a process is told so that it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// it may refuse, or take its time
    Term,
    /// the system ends it
    Kill,
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// [`Action::Renew`] is done
    Renewed(Result<(), String>),
    /// [`Action::Start`] is done: the process's number
    Started(Result<u32, String>),
    /// the process has ended; how
    Ended(String),
    /// anything else, also nothing
    Time,
}

/// What is to be done next. The next event is its result.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// take back what the last process left in the program
    Renew,
    /// start the process
    Start,
    /// send a signal to the process
    Tell(Signal),
    /// report why no process runs, and after which back-off it is started
    Report(String, Duration),
    /// wait until this time, the end of the process, or a call of [`Supervisor::stop`]
    Wait(Option<Duration>),
    /// nothing any more; no process runs, unless even SIGKILL did not end it
    Leave,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Renewing,
    Starting,
    Running,
    /// a signal was sent; until when the process may take to end
    Ending(Signal, Duration),
    /// the back-off ends at this time
    Waiting(Duration),
    Stopped,
}

/// The supervisor of one host process.
#[derive(Debug)]
pub struct Supervisor {
    phase: Phase,
    stopping: bool,
    /// the process that runs
    process: Option<u32>,
    starts: u64,
    /// when the process was started, or found
    since: Duration,
    /// the back-off if the process dies soon
    next: Duration,
    /// a process ran since the program was renewed
    used: bool,
}

impl Supervisor {
    /// Supervises a process that runs already, or starts one; `starts` of them were started.
    pub fn new(process: Option<u32>, starts: u64) -> Supervisor {
        let phase = if process.is_some() { Phase::Running } else { Phase::Starting };
        let (since, next, used) = (Duration::ZERO, BACK_OFF.0, process.is_some());
        Supervisor { phase, stopping: false, process, starts, since, next, used }
    }

    /// The process that runs, and how many were started.
    pub fn status(&self) -> (Option<u32>, u64) {
        (self.process, self.starts)
    }

    /// From now on the process is ended and not started again.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Takes an event; what is to be done next.
    pub fn next(&mut self, now: Duration, event: Event) -> Action {
        let failed = self.take(now, event);
        match (self.stopping, self.phase) {
            (true, Phase::Running) => self.tell(Signal::Term, now),
            (true, Phase::Ending(Signal::Term, until)) if now >= until => self.tell(Signal::Kill, now),
            (true, Phase::Ending(Signal::Kill, until)) if now >= until => self.leave(),
            (_, Phase::Ending(_, until)) => Action::Wait(Some(until)),
            (true, _) | (_, Phase::Stopped) => self.leave(),
            (_, Phase::Renewing) => Action::Renew,
            (_, Phase::Starting) => Action::Start,
            (_, Phase::Running) => Action::Wait(None),
            (_, Phase::Waiting(until)) => match failed {
                Some(why) => Action::Report(why, until - now),
                None => Action::Wait(Some(until)),
            },
        }
    }

    /// Takes an event. Returns why no process runs if this is new.
    fn take(&mut self, now: Duration, event: Event) -> Option<String> {
        match (event, self.phase) {
            (Event::Renewed(Ok(())), _) => {
                self.used = false;
                self.phase = Phase::Starting;
            }
            (Event::Started(Ok(process)), _) => {
                (self.process, self.used, self.since) = (Some(process), true, now);
                self.starts += 1;
                self.phase = Phase::Running;
            }
            (Event::Renewed(Err(why)) | Event::Started(Err(why)), _) => {
                self.back_off(now, Duration::ZERO);
                return Some(format!("does not start ({why})"));
            }
            (Event::Ended(why), _) => {
                self.process = None;
                self.back_off(now, now.saturating_sub(self.since));
                return Some(why);
            }
            (Event::Time, Phase::Waiting(until)) if now >= until => {
                self.phase = if self.used { Phase::Renewing } else { Phase::Starting };
            }
            (Event::Time, _) => {}
        }
        None
    }

    fn tell(&mut self, signal: Signal, now: Duration) -> Action {
        self.phase = Phase::Ending(signal, now + END);
        Action::Tell(signal)
    }

    fn leave(&mut self) -> Action {
        self.phase = Phase::Stopped;
        Action::Leave
    }

    /// Waits after a process that lived so long.
    fn back_off(&mut self, now: Duration, lived: Duration) {
        let wait = if lived < BACK_OFF.1 { self.next } else { BACK_OFF.0 };
        self.next = (wait * 2).min(BACK_OFF.1);
        self.phase = Phase::Waiting(now + wait);
    }
}
