// SPDX-License-Identifier: MIT OR Apache-2.0
//! A daemon: in which order programs begin and end, when it listens, what signals and new configurations do. A state machine,
//! without a clock and without a system.
//!
//! It receives events with their time and returns what is to be done. `run.rs` runs it on Linux; `simulated.rs` runs it on a
//! simulated system, where a seed makes the events and a model checks what is done.

use std::time::Duration;

use carrick_driver::Failure;

use crate::supervise::{self, Goal, Program};

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// of the program with this number
    Program(usize, supervise::Event),
    /// it is to end, and programs with it or not
    Stop(Goal),
    /// it is to read its configuration again
    Reload,
    /// [`Action::Read`] is done
    Read(Result<Change, Failure>),
    /// [`Action::Listen`] is done
    Listening(Result<(), Failure>),
}

/// Another configuration.
#[derive(Debug, Default)]
pub struct Change {
    /// name and application of each new program; their numbers follow those that there were
    pub begin: Vec<(String, Option<String>)>,
    /// programs that are not wanted any more
    pub end: Vec<usize>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// of the program with this number
    Program(usize, supervise::Action),
    /// read the configuration; the result is an event
    Read,
    /// answer requests from now on, as all programs run; the result is an event
    Listen,
    /// no more
    Silence,
    /// report that another configuration is in use, and what of the last one could not be taken back
    Changed(Result<(), Failure>),
    /// report why the configuration stays as it was
    Refused(Failure),
    /// end the process
    Leave(Result<(), Failure>),
}

fn failures(programs: &[Program]) -> impl Iterator<Item = &Failure> {
    programs.iter().filter_map(Program::failure)
}

/// All failures in one sentence.
fn all<'f>(failures: impl Iterator<Item = &'f Failure>) -> Option<Failure> {
    failures.cloned().reduce(|first, why| Failure::Failed(format!("{first}; and {why}")))
}

#[derive(Debug)]
enum Phase {
    /// programs from this number on begin, one after another
    Beginning(usize, Vec<usize>),
    /// they are taken back, since one of them does not begin
    Undoing(usize, Failure),
    /// programs of the last configuration are taken back
    Ending(Vec<usize>),
    Opening,
    Serving,
    Reading,
}

/// A daemon.
#[derive(Debug)]
pub struct Daemon {
    programs: Vec<Program>,
    phase: Phase,
    stops: bool,
    reload: bool,
    /// something is there that [`Action::Silence`] takes back
    listens: bool,
    /// all programs ran, and it listened
    ready: bool,
}

impl Daemon {
    /// A daemon that begins with these programs.
    pub fn new(programs: Vec<(String, Option<String>)>) -> Daemon {
        let mut daemon = Daemon {
            programs: Vec::new(),
            phase: Phase::Serving,
            stops: false,
            reload: false,
            listens: false,
            ready: false,
        };
        daemon.change(Change { begin: programs, end: Vec::new() });
        daemon
    }

    /// All programs that there ever were, by number.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// When [`Daemon::next`] is to be called next at the latest.
    pub fn deadline(&self) -> Option<Duration> {
        self.programs.iter().filter_map(Program::deadline).min()
    }

    /// Takes an event.
    pub fn take(&mut self, now: Duration, event: Event) {
        match event {
            Event::Program(number, event) => self.programs[number].take(now, event),
            Event::Stop(goal) => {
                self.stops = true;
                self.programs.iter_mut().for_each(|program| program.stop(now, goal));
            }
            Event::Reload => self.reload = true,
            Event::Read(Ok(change)) if !self.stops => self.change(change),
            // Nobody waits for it any more.
            Event::Read(Ok(_)) => {}
            Event::Read(Err(why)) => self.phase = Phase::Undoing(self.programs.len(), why),
            Event::Listening(Ok(())) => (self.ready, self.phase) = (true, Phase::Serving),
            Event::Listening(Err(why)) => self.undo(now, 0, why),
        }
    }

    /// Returns what is to be done now, one thing at a time.
    pub fn next(&mut self, now: Duration) -> Option<Action> {
        loop {
            for (number, program) in self.programs.iter_mut().enumerate() {
                if let Some(action) = program.next(now) {
                    return Some(Action::Program(number, action));
                }
            }
            if self.stops {
                return self.leave();
            }
            let is_gone = |of: &usize| self.programs[*of].is_gone();
            match &self.phase {
                Phase::Beginning(first, _) => {
                    let first = *first;
                    if let Some(action) = self.begin(now, first)? {
                        return Some(action);
                    }
                }
                Phase::Undoing(first, why) if (*first..self.programs.len()).all(|of| is_gone(&of)) => {
                    if !self.ready {
                        return self.leave();
                    }
                    let why = all(Some(why).into_iter().chain(failures(&self.programs[*first..])));
                    self.programs[*first..].iter_mut().for_each(Program::is_told);
                    self.phase = Phase::Serving;
                    return why.map(Action::Refused);
                }
                Phase::Ending(of) if of.iter().all(is_gone) => {
                    let failed = all(of.iter().filter_map(|of| self.programs[*of].failure()));
                    of.iter().for_each(|of| self.programs[*of].is_told());
                    self.phase = Phase::Serving;
                    return Some(Action::Changed(failed.map_or(Ok(()), Err)));
                }
                Phase::Serving if self.reload => {
                    (self.reload, self.phase) = (false, Phase::Reading);
                    return Some(Action::Read);
                }
                _ => return None,
            }
        }
    }

    fn change(&mut self, change: Change) {
        self.phase = Phase::Beginning(self.programs.len(), change.end);
        self.programs.extend(change.begin.into_iter().map(|(name, app)| Program::new(name, app)));
    }

    /// Begins with the next program, if the last one runs; `None` if that is to be waited for.
    fn begin(&mut self, now: Duration, first: usize) -> Option<Option<Action>> {
        for program in &mut self.programs[first..] {
            if let Some(why) = program.failure().cloned() {
                self.undo(now, first, why);
                return Some(None);
            }
            if program.is_idle() {
                program.begin();
                return Some(None);
            }
            if !program.is_ready() {
                return None;
            }
        }
        if !self.ready {
            (self.listens, self.phase) = (true, Phase::Opening);
            return Some(Some(Action::Listen));
        }
        let Phase::Beginning(_, end) = &mut self.phase else { return None };
        let end = std::mem::take(end);
        end.iter().for_each(|of| self.programs[*of].stop(now, Goal::End));
        self.phase = Phase::Ending(end);
        Some(None)
    }

    /// Takes back all programs from this number on, but for what a dead daemon left.
    fn undo(&mut self, now: Duration, first: usize, why: Failure) {
        for program in &mut self.programs[first..] {
            program.stop(now, if program.found() { Goal::Keep } else { Goal::End });
            program.is_told();
        }
        self.phase = Phase::Undoing(first, why);
    }

    /// Leaves once all programs are gone.
    fn leave(&mut self) -> Option<Action> {
        if self.listens {
            self.listens = false;
            return Some(Action::Silence);
        }
        if !self.programs.iter().all(Program::is_gone) {
            return None;
        }
        let why = match &self.phase {
            Phase::Undoing(_, why) if !self.ready => Some(why),
            _ => None,
        };
        let failed = all(why.into_iter().chain(failures(&self.programs)));
        Some(Action::Leave(failed.map_or(Ok(()), Err)))
    }
}
