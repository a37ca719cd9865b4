// SPDX-License-Identifier: MIT OR Apache-2.0
//! One program of a daemon: found or loaded, its host process started, attached to its device, and all of it taken back. A state
//! machine, without a clock and without a system.
//!
//! A program is attached only once its host process has begun, and detached as soon as that has ended: packets that nobody
//! answers are not taken from the kernel's own stack. `daemon.rs` composes these machines.

use std::collections::VecDeque;
use std::time::Duration;

use carrick_driver::Failure;

/// The shortest back-off, and the longest: it doubles each time that the process lived less than the longest.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Time that a process has to begin its application.
pub const BEGIN: Duration = Duration::from_secs(30);
/// Time that a process has to end after a signal.
pub const END: Duration = Duration::from_secs(5);

/// What a process is told so that it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// it may refuse, or take its time
    Term,
    /// the system ends it
    Kill,
}

/// What takes its time. One of them runs at a time; its result is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// finds what a dead daemon left, and ends a process of another application
    Find,
    /// compiles what has not been compiled yet
    Build,
    /// loads the program and pins it
    Load,
    /// starts the process
    Start,
    /// attaches the program to its device
    Attach,
    /// detaches and unpins all that is there
    Unload,
    /// the same, and removes all files
    Remove,
}

impl Job {
    /// The event that it failed.
    pub fn failed(self, why: Failure) -> Event {
        match self {
            Job::Find => Event::Found(Err(why)),
            Job::Start => Event::Started(Err(why)),
            _ => Event::Done(Err(why)),
        }
    }
}

/// What a dead daemon left.
#[derive(Debug, PartialEq, Eq)]
pub enum Left {
    /// nothing
    Nothing,
    /// pins or files, which nobody can go on with
    Rest,
    /// the program that is wanted, at its device, and the process that is wanted
    Whole(Option<u32>),
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// [`Job::Find`] is done
    Found(Result<Left, Failure>),
    /// [`Job::Start`] is done: the process's number
    Started(Result<u32, Failure>),
    /// any other job is done
    Done(Result<(), Failure>),
    /// the application in this process has begun
    Begun(u32),
    /// this process has ended; how
    Ended(u32, String),
    /// its device is there, or not any more: then it is at none
    Device(bool),
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// begin this
    Do(Job),
    /// send a signal to this process
    Tell(u32, Signal),
    /// report why no process runs, and after which back-off it is started
    Report(String, Duration),
}

/// What is wanted of a program; what is greater overrules what is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// it runs
    Run,
    /// it stays as it is for the next daemon, if it runs; if not, it is taken back
    Keep,
    /// it is taken back
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    /// this is to be done next
    Next(Job),
    Doing(Job),
    /// the process was started; until when it may take to begin
    Beginning(Duration),
    Up,
    /// a signal was sent; until when the process may take to end
    Ending(Signal, Duration),
    /// the back-off ends at this time
    Waiting(Duration),
    Gone,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    name: String,
    app: Option<String>,
    phase: Phase,
    goal: Goal,
    /// why it is taken back, or what was not
    failure: Option<Failure>,
    /// it runs as a dead daemon left it
    found: bool,
    /// it ran once: from then on failures are no reason to give up
    ready: bool,
    /// there is something to unload, or to remove
    loaded: bool,
    touched: bool,
    process: Option<u32>,
    starts: u64,
    /// when the process was started; a process that was found lives since the daemon does
    since: Duration,
    /// how long the process lived, and how it ended, if that was while it was attached
    died: Option<(Duration, String)>,
    /// there is no device for it
    absent: bool,
    /// what is loaded is for a device that is gone
    stale: bool,
    /// when it may be loaded again
    due: Duration,
    /// the back-off if the process dies soon
    back_off: Duration,
    actions: VecDeque<Action>,
}

impl Program {
    /// A program with this name and application, of which nothing is known.
    pub fn new(name: String, app: Option<String>) -> Program {
        Program {
            name,
            app,
            phase: Phase::Idle,
            goal: Goal::Run,
            failure: None,
            found: false,
            ready: false,
            loaded: false,
            touched: false,
            process: None,
            starts: 0,
            since: Duration::ZERO,
            died: None,
            absent: false,
            stale: false,
            due: Duration::ZERO,
            back_off: BACK_OFF.0,
            actions: VecDeque::new(),
        }
    }

    /// The process that runs, and how many were started.
    pub fn status(&self) -> (Option<u32>, u64) {
        (self.process, self.starts)
    }

    /// The application.
    pub fn app(&self) -> Option<&str> {
        self.app.as_deref()
    }

    /// Whether it runs as a dead daemon left it.
    pub fn found(&self) -> bool {
        self.found
    }

    /// Whether it has not begun.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Whether it ran once.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether nothing is done for it any more.
    pub fn is_gone(&self) -> bool {
        self.phase == Phase::Gone
    }

    /// Why it is gone, or what of it was not taken back.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Its failure was reported.
    pub fn is_told(&mut self) {
        self.failure = None;
    }

    /// Its turn has come.
    pub fn begin(&mut self) {
        self.phase = Phase::Next(Job::Find);
    }

    /// From now on this is wanted.
    pub fn stop(&mut self, now: Duration, goal: Goal) {
        self.goal = self.goal.max(goal);
        self.settle(now);
    }

    /// When [`Program::next`] is to be called next at the latest.
    pub fn deadline(&self) -> Option<Duration> {
        match self.phase {
            Phase::Beginning(until) | Phase::Ending(_, until) => Some(until),
            Phase::Waiting(until) => (!self.waits_for_device()).then_some(until),
            _ => None,
        }
    }

    /// Returns what is to be done now, one thing at a time.
    pub fn next(&mut self, now: Duration) -> Option<Action> {
        match self.phase {
            Phase::Waiting(until) if now >= until && !self.waits_for_device() => {
                self.phase = Phase::Next(if self.loaded { Job::Unload } else { Job::Load });
            }
            Phase::Beginning(until) if now >= until => {
                self.refuse(now, &format!("is silent for {} s", BEGIN.as_secs()));
            }
            Phase::Ending(Signal::Term, until) if now >= until => self.tell(now, Signal::Kill),
            Phase::Ending(Signal::Kill, until) if now >= until => {
                self.process = None;
                self.phase = Phase::Next(Job::Unload);
            }
            _ => {}
        }
        self.settle(now);
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        let Phase::Next(job) = self.phase else { return None };
        self.phase = Phase::Doing(job);
        self.touched |= job == Job::Build && !self.found;
        self.loaded |= job == Job::Load;
        self.stale &= job != Job::Load;
        Some(Action::Do(job))
    }

    /// Takes an event.
    pub fn take(&mut self, now: Duration, event: Event) {
        match event {
            Event::Found(Ok(left)) => self.take_found(left),
            Event::Started(Ok(process)) => {
                (self.process, self.since) = (Some(process), now);
                self.starts += 1;
                self.phase = Phase::Beginning(now + BEGIN);
            }
            Event::Done(Ok(())) => self.take_done(now),
            Event::Found(Err(why)) | Event::Started(Err(why)) | Event::Done(Err(why)) => self.fail(now, why),
            Event::Begun(process) => {
                if self.process == Some(process) && matches!(self.phase, Phase::Beginning(_)) {
                    self.phase = Phase::Next(Job::Attach);
                }
            }
            Event::Ended(process, how) => {
                // One that even SIGKILL did not end may do so later.
                if self.process == Some(process) {
                    self.process = None;
                    self.take_end(now, how);
                }
            }
            Event::Device(there) => self.take_device(now, there),
        }
        self.settle(now);
    }

    /// Nothing is due before its device is back.
    fn waits_for_device(&self) -> bool {
        self.absent && !self.loaded
    }

    fn take_device(&mut self, now: Duration, there: bool) {
        if self.absent && there {
            (self.due, self.back_off) = (now, BACK_OFF.0);
            if let Phase::Waiting(until) = &mut self.phase {
                *until = now;
            }
        }
        self.absent = !there;
        self.stale |= !there;
        // What a dead daemon left is at no device any more.
        self.found &= there || self.ready;
    }

    fn take_found(&mut self, left: Left) {
        self.phase = Phase::Next(Job::Build);
        match left {
            Left::Nothing => return,
            Left::Whole(process) if process.is_some() == self.app.is_some() => {
                (self.found, self.process) = (true, process);
            }
            Left::Rest | Left::Whole(_) => self.phase = Phase::Next(Job::Unload),
        }
        (self.loaded, self.touched) = (true, true);
    }

    fn take_done(&mut self, now: Duration) {
        let Phase::Doing(job) = self.phase else { return };
        let dead = self.app.is_some() && self.process.is_none();
        match job {
            // What was found has lost its process meanwhile, or its device.
            Job::Build if self.loaded && !self.found => self.let_go(now),
            Job::Build if self.found => self.up(),
            Job::Build => self.phase = Phase::Next(Job::Load),
            Job::Load => self.phase = Phase::Next(if self.app.is_some() { Job::Start } else { Job::Attach }),
            Job::Attach if dead => {
                let (lived, how) = self.died.take().unwrap_or_default();
                self.end(now, how, lived);
            }
            Job::Attach => self.up(),
            Job::Unload => {
                self.loaded = false;
                self.phase = if self.ready { Phase::Waiting(self.due) } else { Phase::Next(Job::Build) };
            }
            Job::Remove => self.phase = Phase::Gone,
            Job::Find | Job::Start => {}
        }
    }

    fn up(&mut self) {
        (self.phase, self.ready) = (Phase::Up, true);
    }

    /// The process has ended.
    fn take_end(&mut self, now: Duration, how: String) {
        let lived = now.saturating_sub(self.since);
        match self.phase {
            Phase::Up | Phase::Beginning(_) => self.end(now, how, lived),
            Phase::Ending(..) => self.phase = Phase::Next(Job::Unload),
            _ => {
                self.found &= self.ready;
                self.died = Some((lived, how));
            }
        }
    }

    /// The process has ended, and nobody ended it.
    fn end(&mut self, now: Duration, how: String, lived: Duration) {
        if self.ready && self.goal == Goal::Run {
            self.retry(now, how, lived);
        } else {
            self.refuse(now, &how);
        }
    }

    /// Its application does not begin: the process did this instead.
    fn refuse(&mut self, now: Duration, how: &str) {
        let (name, app) = (&self.name, self.app().unwrap_or_default());
        let why = format!(
            "{name} cannot begin with the application {app}, which may say why above; its process {how}"
        );
        self.fail(now, Failure::Usage(why));
    }

    /// Something failed.
    fn fail(&mut self, now: Duration, why: Failure) {
        let removes = self.phase == Phase::Doing(Job::Remove);
        if self.ready && self.goal == Goal::Run {
            self.retry(now, format!("does not start ({why})"), Duration::ZERO);
            return;
        }
        // What cannot be done need not be done any more; but what stays is reported.
        if self.goal == Goal::Run || removes {
            self.failure = Some(match self.failure.take() {
                Some(first) => Failure::Failed(format!("{first}; and {why}")),
                None => why,
            });
        }
        self.phase = if removes { Phase::Gone } else { Phase::Next(Job::Unload) };
    }

    /// It is begun anew after a back-off; the last process lived so long.
    fn retry(&mut self, now: Duration, why: String, lived: Duration) {
        let wait = if lived < BACK_OFF.1 { self.back_off } else { BACK_OFF.0 };
        self.back_off = (wait * 2).min(BACK_OFF.1);
        self.due = now + wait;
        self.actions.push_back(Action::Report(why, wait));
        if self.process.is_none() && self.phase == Phase::Doing(Job::Unload) {
            self.phase = Phase::Waiting(self.due);
        } else {
            self.let_go(now);
        }
    }

    /// Its device is gone: its process ends, and all of it begins anew on the next device of that name.
    fn leave_device(&mut self, now: Duration) {
        if !self.ready {
            let why = format!("the device of {} is gone", self.name);
            return self.fail(now, Failure::Missing(why));
        }
        self.due = now;
        self.let_go(now);
    }

    /// It is unloaded, once its process has ended.
    fn let_go(&mut self, now: Duration) {
        match self.process {
            Some(_) => self.tell(now, Signal::Term),
            None => self.phase = Phase::Next(Job::Unload),
        }
    }

    fn tell(&mut self, now: Duration, signal: Signal) {
        self.phase = Phase::Ending(signal, now + END);
        self.actions.extend(self.process.map(|process| Action::Tell(process, signal)));
    }

    /// Takes it back, or leaves it, if that is wanted and nothing is under way.
    fn settle(&mut self, now: Duration) {
        let is_up = self.phase == Phase::Up;
        let ends = self.failure.is_some() || self.goal == Goal::End || (self.goal == Goal::Keep && !is_up);
        let leaves = is_up && self.goal == Goal::Keep;
        // What a dead daemon left is taken back only where that is wanted.
        let stays = self.found && !self.ready && self.goal != Goal::End;
        match self.phase {
            Phase::Doing(_) | Phase::Ending(..) | Phase::Gone => {}
            _ if leaves || (ends && stays) => self.phase = Phase::Gone,
            Phase::Up | Phase::Beginning(_) if !ends && self.stale => self.leave_device(now),
            _ if !ends => {}
            _ if self.process.is_some() => self.tell(now, Signal::Term),
            _ => self.phase = if self.touched { Phase::Next(Job::Remove) } else { Phase::Gone },
        }
    }
}
