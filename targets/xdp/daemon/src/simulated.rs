// SPDX-License-Identifier: MIT OR Apache-2.0
//! The daemon on a simulated system: a seed makes configurations, jobs that fail and leave a part of what they did, processes that
//! never begin, die at once or late, or ignore signals, devices that go and are made again, SIGTERM, SIGUSR1 and SIGHUP at any step, daemons that die and are replaced,
//! and time that jumps. A model of what docs/carrickd.md promises checks each action, and what is left at the end.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use carrick_driver::Failure;

use crate::daemon::{Action, Change, Daemon, Event};
use crate::random::{Random, seeds};
use crate::supervise::{self, BEGIN, END, Goal, Job, Left, Signal};

/// Steps of a run, before it is stopped.
const STEPS: u64 = 400;
/// Seeds of a run of the tests.
const SEEDS: u64 = 20_000;
/// Milliseconds of the longest job.
const JOB: u64 = 30_000;
/// What is to happen in one run of a hundred at least.
const WANTED: [&str; 16] = [
    "back-off of 10 s",
    "short back-off after a long life",
    "SIGKILL",
    "SIGKILL without effect",
    "silent process",
    "start failed",
    "Remove failed",
    "daemon replaced",
    "program found",
    "process died while attaching",
    "configuration changed",
    "change undone",
    "stopped during a job",
    "left for the next",
    "device gone",
    "attached to another device",
];

/// A process of the simulated system.
struct Life {
    pid: u32,
    /// when it ends; none: when it is killed
    ends: Option<Duration>,
    /// how long it takes to end after SIGTERM; none: it ignores it
    obeys: Option<Duration>,
}

/// What there is of a program, whether a daemon lives or not.
#[derive(Default)]
struct Truth {
    pinned: bool,
    /// all is pinned
    whole: bool,
    attached: bool,
    files: bool,
    /// a process used what is pinned
    used: bool,
    life: Option<Life>,
    /// its device is gone
    no_device: bool,
    /// devices of that name that there were before, and of those when it was loaded
    devices: u64,
    loaded_for: u64,
}

/// What a daemon heard of a program, and what follows from that.
#[derive(Default)]
struct Known {
    name: usize,
    has_app: bool,
    begun: bool,
    /// what runs, and when it is done
    job: Option<(Job, Duration)>,
    found: bool,
    ready: bool,
    /// the process, and since when it is known
    process: Option<(u32, Duration)>,
    /// its application has begun
    heard: bool,
    /// it is to be ended, as something failed
    wrong: bool,
    /// SIGTERM, SIGKILL
    told: [Option<Duration>; 2],
    starts: u64,
    /// failures in a row: a process that did not live for 10 s is one
    short: u32,
    /// how long the process lived that died while it was attached
    died: Duration,
    /// when the next attempt is due
    due: Duration,
    /// the last Unload failed
    attached_still: bool,
    /// it was attached, or found so, and is not unloaded
    linked: bool,
    /// there is no device for it; and what is loaded is for one that is gone
    absent: bool,
    stale: bool,
    /// it ran, and lost its device
    down: bool,
    /// no configuration has it any more
    retired: bool,
    /// Find or Remove failed, or SIGKILL did: something may be left
    stuck: bool,
}

/// A machine with one daemon at a time.
struct World {
    random: Random,
    now: Duration,
    daemon: Daemon,
    truths: BTreeMap<usize, Truth>,
    known: Vec<Known>,
    /// what the daemon hears later
    coming: Vec<(Duration, usize, supervise::Event)>,
    /// when the configuration has been read
    reading: Option<Duration>,
    /// what is wanted of the daemon, and until when it may take
    stop: Option<(Goal, Duration)>,
    /// what runs was left once
    keeps: bool,
    /// the first program of the change under way
    change: Option<usize>,
    /// that change failed
    undoing: bool,
    undone_at: Duration,
    /// a failure to take something back was not reported yet
    remains: bool,
    /// the configuration is to be read again
    reloads: bool,
    /// programs that are to be taken back once all new ones run
    retiring: Vec<usize>,
    listens: bool,
    /// the file of the socket may be there
    socket: bool,
    left: bool,
    /// milliseconds of the longest job
    job: u64,
    /// a job fails once in so many times
    faults: u64,
    /// no process lives long
    crashes: bool,
    last_pid: u32,
    seen: BTreeMap<&'static str, u64>,
    trace: Vec<String>,
}

type Checked<T = ()> = Result<T, String>;

fn check(right: bool, wrong: impl FnOnce() -> String) -> Checked {
    if right { Ok(()) } else { Err(wrong()) }
}

fn injected() -> Failure {
    Failure::Failed("injected".into())
}

/// That something could not be taken back.
const REMAINS: &str = "remains";

fn names_remains(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|why| why.to_string().contains(REMAINS))
}

impl World {
    fn new(seed: u64) -> World {
        let mut random = Random(seed);
        let faults = [5, 20, 100, 1_000][random.below(4) as usize];
        let job = if random.one_in(2) { JOB } else { 50 };
        let crashes = random.one_in(4);
        let mut world = World {
            random,
            now: Duration::ZERO,
            daemon: Daemon::new(Vec::new()),
            truths: BTreeMap::new(),
            known: Vec::new(),
            coming: Vec::new(),
            reading: None,
            stop: None,
            keeps: false,
            change: Some(0),
            undoing: false,
            undone_at: Duration::ZERO,
            remains: false,
            reloads: false,
            retiring: Vec::new(),
            listens: false,
            socket: false,
            left: false,
            job,
            faults,
            crashes,
            last_pid: 100,
            seen: BTreeMap::new(),
            trace: Vec::new(),
        };
        let count = 1 + world.random.below(3);
        world.daemon = Daemon::new(world.new_programs(count));
        world
    }

    fn saw(&mut self, what: &'static str, happened: bool) {
        *self.seen.entry(what).or_default() += u64::from(happened);
    }

    fn note(&mut self, what: &dyn Debug) {
        self.trace.push(format!("{:?}: {what:?}", self.now));
    }

    fn new_programs(&mut self, count: u64) -> Vec<(String, Option<String>)> {
        let first = self.known.len();
        for _ in 0..count {
            let (name, has_app) = (self.truths.len(), !self.random.one_in(4));
            self.truths.insert(name, Truth::default());
            self.known.push(Known { name, has_app, ..Known::default() });
        }
        self.configured(first)
    }

    fn configured(&self, first: usize) -> Vec<(String, Option<String>)> {
        let of = |known: &Known| (known.name.to_string(), known.has_app.then(|| "app".to_owned()));
        self.known[first..].iter().map(of).collect()
    }

    fn truth(&mut self, of: usize) -> &mut Truth {
        self.truths.entry(self.known[of].name).or_default()
    }

    fn lacks_process(&self, of: usize) -> bool {
        self.known[of].has_app && self.known[of].process.is_none()
    }

    /// Whether a program need not run, or must not.
    fn ends(&self, of: usize) -> bool {
        let is_new = self.change.is_some_and(|first| of >= first);
        self.stop.is_some() || self.known[of].retired || (self.undoing && is_new)
    }

    /// Whether a program must not go on: that another one failed at this moment it may not know.
    fn must_end(&self, of: usize) -> bool {
        self.ends(of) && (self.stop.is_some() || self.known[of].retired || self.undone_at != self.now)
    }

    /// Something failed: the documentation says what follows.
    fn failed(&mut self, of: usize, lived: Duration) {
        self.known[of].wrong = true;
        if self.ends(of) {
            return;
        }
        let known = &mut self.known[of];
        if !known.ready {
            (self.undoing, self.undone_at) = (true, self.now);
            return self.saw("start failed", true);
        }
        let was_short = known.short > 0;
        if lived >= Duration::from_secs(10) {
            known.short = 0;
        }
        let wait = Duration::from_millis((100 << known.short.min(20)).min(10_000));
        known.short += 1;
        known.due = self.now + wait;
        self.saw("back-off of 10 s", wait == Duration::from_secs(10));
        self.saw("short back-off after a long life", was_short && lived >= Duration::from_secs(10));
    }
}

/// Jobs, and what they do.
impl World {
    fn begin_job(&mut self, of: usize, job: Job) -> Checked {
        let (now, ends, changing) = (self.now, self.must_end(of), self.change.is_some());
        let others_run = self.known[..of].iter().all(|other| other.ready || other.retired);
        let known = &self.known[of];
        let is_silent = known.process.is_none();
        let right = match job {
            Job::Find => changing && !known.begun && !ends && others_run,
            Job::Build => !ends && !known.ready,
            Job::Load => !ends && is_silent && (!known.ready || (now >= known.due && !known.absent)),
            Job::Start => !ends && is_silent && known.has_app,
            Job::Attach => !ends && (!known.has_app || known.heard),
            Job::Unload => !ends && is_silent && (!known.attached_still || now >= known.due),
            Job::Remove => self.ends(of) && is_silent && !self.stays(of),
        };
        check(right && known.job.is_none(), || format!("{job:?} of program {of}"))?;
        let truth = self.truth(of);
        let fits = match job {
            Job::Load => !truth.pinned && !truth.attached && truth.files,
            Job::Start => truth.pinned && !truth.attached && !truth.used,
            Job::Attach => truth.pinned && !truth.attached,
            _ => true,
        };
        check(fits, || format!("{job:?} of program {of} finds something else"))?;
        if job == Job::Load {
            self.known[of].stale = false;
        }
        let takes = self.random.time(self.job);
        let known = &mut self.known[of];
        (known.job, known.begun) = (Some((job, now + takes)), true);
        Ok(())
    }

    /// Whether a program runs that is to be left for the next daemon; or that a dead one left, while another one does not begin.
    fn stays(&self, of: usize) -> bool {
        let (known, truth) = (&self.known[of], &self.truths[&self.known[of].name]);
        let runs = truth.whole && truth.attached && !self.lacks_process(of) && !known.wrong;
        let keeps = matches!(self.stop, Some((Goal::Keep, _))) && (known.ready || known.found);
        let is_undone = self.undoing && self.change.is_some_and(|first| of >= first);
        let was_left = known.found && self.stop.is_none();
        runs && !known.retired && (was_left || (keeps && (known.found || !is_undone)))
    }

    fn end_job(&mut self, of: usize, job: Job) -> supervise::Event {
        let chance = self.random.one_in(self.faults);
        let is_late = self.random.one_in(2);
        let truth = self.truth(of);
        let failed = match job {
            Job::Load => chance || (truth.no_device && is_late),
            Job::Attach => chance || truth.no_device || truth.devices != truth.loaded_for,
            _ => chance,
        };
        self.apply(of, job, failed);
        let dead = self.lacks_process(of);
        let why = if job == Job::Remove { Failure::Failed(REMAINS.into()) } else { injected() };
        let done = supervise::Event::Done(if failed { Err(why) } else { Ok(()) });
        match job {
            Job::Find if failed => {
                self.known[of].stuck = true;
                self.failed(of, Duration::ZERO);
                return supervise::Event::Found(Err(injected()));
            }
            Job::Find => return supervise::Event::Found(Ok(self.find(of))),
            Job::Start => return supervise::Event::Started(self.start(of, failed)),
            Job::Remove => {
                self.known[of].stuck |= failed;
                self.remains |= failed;
                self.saw("Remove failed", failed);
            }
            Job::Unload => {
                (self.known[of].attached_still, self.known[of].linked) =
                    (failed, failed && self.known[of].linked)
            }
            Job::Build | Job::Load | Job::Attach => {}
        }
        if failed {
            let is_remove = job == Job::Remove;
            if !is_remove {
                self.failed(of, Duration::ZERO);
            }
        } else if job == Job::Attach && dead {
            self.saw("process died while attaching", true);
            self.failed(of, self.known[of].died);
        } else if job == Job::Attach || (job == Job::Build && self.known[of].found) {
            self.runs(of);
        } else if job == Job::Build {
            // Of what was found, and has lost its device.
            self.known[of].wrong |= self.known[of].process.is_some();
        }
        done
    }

    /// It is attached, and answers.
    fn runs(&mut self, of: usize) {
        let known = &mut self.known[of];
        (known.ready, known.linked) = (true, true);
        known.wrong &= known.has_app;
        let again = std::mem::take(&mut known.down);
        let stale = known.stale;
        self.saw("attached to another device", again);
        if stale {
            self.loses_device(of);
        }
    }

    /// What is loaded is of no use any more.
    fn loses_device(&mut self, of: usize) {
        if !self.known[of].ready {
            return self.failed(of, Duration::ZERO);
        }
        let known = &mut self.known[of];
        (known.wrong, known.down, known.due) = (true, true, self.now);
        self.saw("device gone", true);
    }

    /// Does what a job does to the system; a part of it if it fails.
    fn apply(&mut self, of: usize, job: Job, failed: bool) {
        let does = [0; 3].map(|_| !failed || self.random.one_in(2));
        let truth = self.truth(of);
        match job {
            Job::Find | Job::Start => {}
            Job::Build => truth.files |= does[0],
            Job::Load if does[0] => {
                (truth.pinned, truth.used, truth.loaded_for) = (true, false, truth.devices);
            }
            Job::Load => {}
            Job::Attach => {
                truth.attached = does[0] && !truth.no_device && truth.devices == truth.loaded_for;
                truth.whole = does[0] && does[1];
            }
            // The device comes first, the folder of pins last.
            Job::Unload | Job::Remove => {
                truth.attached &= !does[0];
                truth.whole &= !(does[0] && does[1]);
                truth.pinned &= failed;
                truth.files &= failed || job == Job::Unload;
            }
        }
    }

    fn find(&mut self, of: usize) -> Left {
        let (now, has_app) = (self.now, self.known[of].has_app);
        let truth = self.truth(of);
        let life = truth.life.as_ref().filter(|life| life.ends.is_none_or(|at| at > now));
        let process = life.map(|life| (life.pid, life.ends));
        if truth.whole && truth.attached && process.is_some() == has_app {
            self.known[of].found = true;
            self.known[of].linked = true;
            self.known[of].heard = true;
            self.known[of].process = process.map(|(pid, _)| (pid, now));
            self.saw("program found", true);
            if let Some((pid, Some(at))) = process {
                self.coming.push((at, of, supervise::Event::Ended(pid, "died".into())));
            }
            return Left::Whole(process.map(|(pid, _)| pid));
        }
        // Where a process is not wanted, or its program is not whole, it is ended.
        truth.life = None;
        match truth.whole && truth.attached {
            true => Left::Whole(None),
            false if truth.pinned || truth.attached || truth.files => Left::Rest,
            false => Left::Nothing,
        }
    }

    fn start(&mut self, of: usize, failed: bool) -> Result<u32, Failure> {
        // A process that does not end keeps its file locked.
        if failed || self.truth(of).life.is_some() {
            self.failed(of, Duration::ZERO);
            return Err(injected());
        }
        self.last_pid += 1;
        let (pid, now) = (self.last_pid, self.now);
        let begins = (!self.random.one_in(15)).then(|| now + self.random.time(10_000));
        let (crashes, most) = if self.crashes { (true, 8_000) } else { (!self.random.one_in(4), 90_000) };
        let ends = crashes.then(|| now + self.random.time(most));
        let obeys = (!self.random.one_in(4)).then(|| self.random.time(7_000));
        let truth = self.truth(of);
        (truth.life, truth.used) = (Some(Life { pid, ends, obeys }), true);
        let known = &mut self.known[of];
        (known.process, known.heard, known.wrong, known.told) = (Some((pid, now)), false, false, [None; 2]);
        known.starts += 1;
        let is_stale = known.stale;
        let begins = begins.filter(|at| ends.is_none_or(|ends| *at < ends));
        self.coming.extend(begins.map(|at| (at, of, supervise::Event::Begun(pid))));
        self.coming.extend(ends.map(|at| (at, of, supervise::Event::Ended(pid, "died".into()))));
        if is_stale {
            self.loses_device(of);
        }
        Ok(pid)
    }
}

/// What the daemon hears, and what it does.
impl World {
    /// The model hears of it first.
    fn tell(&mut self, of: usize, event: supervise::Event) -> Checked {
        match &event {
            supervise::Event::Begun(pid) => {
                let known = &mut self.known[of];
                let is_of_it = known.process.is_some_and(|(process, _)| process == *pid);
                known.heard |= is_of_it && known.told == [None; 2];
            }
            supervise::Event::Ended(pid, _) => self.ended(of, *pid),
            _ => {}
        }
        self.give(Event::Program(of, event))
    }

    /// The device of a program goes, is made again, or both.
    fn device_changes(&mut self) -> Checked {
        let (of, at_once) = (self.random.below(self.known.len() as u64) as usize, self.random.one_in(2));
        let truth = self.truth(of);
        truth.no_device = !truth.no_device && !at_once;
        truth.devices += u64::from(!truth.no_device);
        truth.attached = false;
        let is_there = !truth.no_device;
        // What was left for the next daemon nobody looks after.
        self.known[of].stuck |= self.daemon.programs()[of].is_gone();
        if self.known[of].linked {
            self.sees_device(of, false)?;
        }
        self.sees_device(of, is_there)
    }

    fn sees_device(&mut self, of: usize, there: bool) -> Checked {
        let (now, known) = (self.now, &mut self.known[of]);
        if known.absent && there {
            (known.due, known.short) = (now, 0);
        }
        known.absent = !there;
        known.stale |= !there;
        known.found &= there || known.ready;
        let uses_it = known.process.is_some() || (known.ready && !known.has_app && !known.down);
        if known.stale && known.job.is_none() && uses_it && !known.wrong {
            self.loses_device(of);
        }
        self.give(Event::Program(of, supervise::Event::Device(there)))
    }

    fn ended(&mut self, of: usize, pid: u32) {
        let now = self.now;
        let known = &mut self.known[of];
        let Some((_, since)) = known.process.filter(|(process, _)| *process == pid) else { return };
        known.process = None;
        let lived = now - since;
        if known.job.is_some() {
            known.died = lived;
            known.found &= known.ready;
        } else if !known.wrong {
            self.failed(of, lived);
        }
    }

    fn give(&mut self, event: Event) -> Checked {
        self.note(&event);
        self.daemon.take(self.now, event);
        self.acts()
    }

    /// Time alone changes what is to be done.
    fn time(&mut self) -> Checked {
        let now = self.now;
        for of in 0..self.known.len() {
            let known = &mut self.known[of];
            let Some((_, since)) = known.process.filter(|_| known.job.is_none()) else { continue };
            if known.told[1].is_some_and(|at| now >= at + END) {
                (known.process, known.stuck) = (None, true);
                self.saw("SIGKILL without effect", true);
            } else if known.told[0].is_none() && !known.heard && now >= since + BEGIN {
                self.saw("silent process", true);
                self.failed(of, Duration::ZERO);
            }
        }
        self.acts()
    }

    /// Lets the daemon do all that it wants to do now.
    fn acts(&mut self) -> Checked {
        while !self.left {
            self.retire();
            let Some(action) = self.daemon.next(self.now) else { break };
            self.note(&action);
            self.act(action)?;
        }
        if self.left { Ok(()) } else { self.is_right() }
    }

    /// Programs that a later configuration has not go once all new ones run.
    fn retire(&mut self) {
        let first = self.change.filter(|_| self.listens && !self.undoing).unwrap_or(usize::MAX);
        if self.known.get(first..).is_some_and(|new| new.iter().all(|known| known.ready)) {
            std::mem::take(&mut self.retiring).into_iter().for_each(|of| self.known[of].retired = true);
        }
    }

    fn act(&mut self, action: Action) -> Checked {
        match action {
            Action::Program(of, supervise::Action::Do(job)) => self.begin_job(of, job),
            Action::Program(of, supervise::Action::Tell(pid, signal)) => self.signal(of, pid, signal),
            Action::Program(of, supervise::Action::Report(_, wait)) => {
                let due = self.known[of].due.saturating_sub(self.now);
                check(wait == due, || format!("{wait:?} is reported, and {due:?} is right"))
            }
            Action::Read => {
                check(self.change.is_none() && self.listens, || "it reads while it changes".into())?;
                check(self.reloads, || "it reads, and nobody said so".into())?;
                self.reloads = false;
                self.reading = Some(self.now + self.random.time(JOB));
                Ok(())
            }
            Action::Listen => {
                check(!self.listens && self.stop.is_none(), || "it listens again".into())?;
                let all = self.known.iter().all(|known| known.ready);
                check(all, || "it listens, and not all programs run".into())?;
                self.socket = true;
                self.listens = !self.random.one_in(self.faults);
                self.undoing = !self.listens;
                self.change = self.change.filter(|_| self.undoing);
                self.give(Event::Listening(if self.listens { Ok(()) } else { Err(injected()) }))
            }
            Action::Silence => {
                let ends = self.stop.is_some() || (self.undoing && !self.listens);
                check(self.socket && ends, || "it is silent, and nobody said so".into())?;
                (self.listens, self.socket) = (false, false);
                Ok(())
            }
            Action::Changed(result) => {
                check(!self.undoing, || "a configuration is in use that failed".into())?;
                let remains = result.err();
                check(remains.is_some() == names_remains(remains.as_ref()), || "it failed".into())?;
                self.changed(remains.is_some())
            }
            Action::Refused(why) => {
                check(self.undoing, || "a configuration is refused, and nothing failed".into())?;
                self.changed(names_remains(Some(&why)))
            }
            Action::Leave(result) => self.leaves(&result),
        }
    }

    fn signal(&mut self, of: usize, pid: u32, signal: Signal) -> Checked {
        let (now, ends, stays) = (self.now, self.ends(of), self.stays(of));
        let known = &mut self.known[of];
        let process = known.process.map(|(process, _)| process);
        check(process == Some(pid), || format!("{pid} gets {signal:?}, and {process:?} is right"))?;
        check((ends && !stays) || known.wrong, || "a process is ended, and nobody said so".into())?;
        let told = known.told;
        let right = match signal {
            Signal::Term => told[0].is_none(),
            Signal::Kill => told[1].is_none() && told[0].is_some_and(|at| now >= at + END),
        };
        check(right, || format!("{signal:?} at {now:?}, after {told:?}"))?;
        known.told[usize::from(signal == Signal::Kill)] = Some(now);
        self.saw("SIGKILL", signal == Signal::Kill);
        let killed = (!self.random.one_in(5)).then(|| self.random.time(3_000));
        let Some(life) = self.truth(of).life.as_mut() else { return Ok(()) };
        let within = if signal == Signal::Kill { killed } else { life.obeys };
        let at = within.map(|within| now + within).filter(|at| life.ends.is_none_or(|ends| *at < ends));
        life.ends = at.or(life.ends);
        self.coming.extend(at.map(|at| (at, of, supervise::Event::Ended(pid, "was told".into()))));
        Ok(())
    }

    /// A change of the configuration is over: all of it was done, or nothing.
    fn changed(&mut self, failed: bool) -> Checked {
        let first = self.change.take().unwrap_or(self.known.len());
        let undone = std::mem::take(&mut self.undoing);
        self.saw(if undone { "change undone" } else { "configuration changed" }, true);
        for of in 0..self.known.len() {
            if undone && of >= first {
                self.known[of].retired = true;
            }
            let known = &self.known[of];
            check(known.ready || known.retired, || format!("program {of} does not run"))?;
            if known.retired {
                self.is_over(of)?;
            }
        }
        let remains = std::mem::take(&mut self.remains);
        check(failed == remains, || format!("something remains: {failed}, and {remains} is right"))
    }

    fn leaves(&mut self, result: &Result<(), Failure>) -> Checked {
        let failed = self.undoing && self.stop.is_none();
        check(self.stop.is_some() || failed, || "it leaves, and nobody said so".into())?;
        check(!self.socket, || "it leaves its socket".into())?;
        check(result.is_err() || !(failed || self.remains), || "a failure is silent".into())?;
        check(result.is_ok() || self.undoing || self.remains, || "a failure of nothing".into())?;
        let names = names_remains(result.as_ref().err());
        check(names == self.remains, || format!("something remains: {names}, and not so"))?;
        let late = self.stop.is_some_and(|(_, until)| self.now > until);
        check(!late, || "stopping took too long".into())?;
        self.left = true;
        (0..self.known.len()).try_for_each(|of| self.is_over(of))
    }

    /// What is left of a program of which the daemon does nothing more.
    fn is_over(&mut self, of: usize) -> Checked {
        let known = &self.known[of];
        let truth = &self.truths[&known.name];
        let nothing = !truth.pinned && !truth.attached && !truth.files && truth.life.is_none();
        // Nobody supervises the process of what was left any more.
        let runs = truth.whole && truth.attached;
        let may_stay = self.keeps || known.found;
        let right = !known.begun || known.stuck || nothing || (runs && may_stay);
        check(right && known.job.is_none(), || format!("something of program {of} is left"))?;
        self.saw("left for the next", runs && self.keeps);
        Ok(())
    }

    /// What must be true whenever the daemon waits.
    fn is_right(&self) -> Checked {
        for (of, known) in self.known.iter().enumerate() {
            let truth = &self.truths[&known.name];
            let alone = known.begun && truth.attached && self.lacks_process(of);
            let left = self.daemon.programs()[of].is_gone() && (self.keeps || known.found);
            let excused = known.job.is_some() || known.attached_still || known.stuck || left;
            check(!alone || excused, || format!("program {of} is attached, and no process answers"))?;
            let status = self.daemon.programs()[of].status();
            let process = known.process.map(|(pid, _)| pid);
            check(status == (process, known.starts), || {
                format!("status says {status:?} of program {of}, and {process:?} {} is right", known.starts)
            })?;
        }
        let (says, right) = (self.daemon.deadline(), self.deadline());
        check(right.is_none_or(|at| at > self.now), || "something is due, and is not done".into())?;
        check(says == right, || format!("it waits until {says:?} where {right:?} is right"))
    }

    fn deadline(&self) -> Option<Duration> {
        let of = |(of, known): (usize, &Known)| {
            let told = known.told.iter().flatten().max().map(|at| *at + END);
            match (known.job, known.process) {
                (Some(_), _) => None,
                (None, Some((_, since))) => told.or((!known.heard).then_some(since + BEGIN)),
                (None, None) => {
                    let waits = known.ready && (known.has_app || known.down) && !self.ends(of);
                    (waits && (!known.absent || known.attached_still)).then_some(known.due)
                }
            }
        };
        self.known.iter().enumerate().filter_map(of).min()
    }
}

/// Time, signals, and other daemons.
impl World {
    fn stops(&mut self, goal: Goal) -> Checked {
        let jobs = self.known.iter().filter_map(|known| known.job).map(|(_, at)| at).max();
        self.saw("stopped during a job", jobs.is_some());
        let until = jobs.unwrap_or(self.now).max(self.now) + 2 * END + Duration::from_millis(JOB);
        self.keeps |= goal == Goal::Keep && self.stop.is_none();
        let before = self.stop;
        self.stop = Some(before.map_or((goal, until), |(other, until)| (goal.max(other), until)));
        self.give(Event::Stop(goal))
    }

    fn read(&mut self) -> Checked {
        self.reading = None;
        if self.random.one_in(4) {
            self.undoing = true;
            return self.give(Event::Read(Err(injected())));
        }
        let first = self.known.len();
        let end: Vec<usize> = (0..first).filter(|_| self.random.one_in(3)).collect();
        let end: Vec<usize> = end.into_iter().filter(|of| !self.known[*of].retired).collect();
        if self.stop.is_some() {
            let begin = vec![("late".to_owned(), None)];
            return self.give(Event::Read(Ok(Change { begin, end })));
        }
        self.change = Some(first);
        let count = self.random.below(3);
        let begin = self.new_programs(count);
        self.retiring = end.clone();
        self.give(Event::Read(Ok(Change { begin, end })))
    }

    /// The daemon dies, and another one goes on with the same configuration.
    fn replace_daemon(&mut self) -> Checked {
        self.saw("daemon replaced", true);
        for of in 0..self.known.len() {
            let job = self.known[of].job.map(|(job, _)| job);
            if let Some(job) = job {
                self.apply(of, job, true);
            }
            if job == Some(Job::Start) && self.random.one_in(2) {
                // Nobody hears of this process.
                let _ = self.start(of, false);
            }
        }
        self.trace.push(format!("{:?}: another daemon", self.now));
        let old = std::mem::take(&mut self.known);
        let wanted = old.into_iter().filter(|known| !known.retired);
        self.known = wanted
            .map(|known| Known { name: known.name, has_app: known.has_app, ..Known::default() })
            .collect();
        self.coming.clear();
        // Where there is no device no daemon begins.
        for truth in self.truths.values_mut() {
            truth.devices += u64::from(std::mem::take(&mut truth.no_device));
        }
        (self.reading, self.change, self.undoing, self.listens) = (None, Some(0), false, false);
        self.retiring.clear();
        (self.remains, self.reloads, self.socket) = (false, false, false);
        self.daemon = Daemon::new(self.configured(0));
        self.acts()
    }

    /// Lets time pass until something happens.
    fn pass(&mut self) -> Checked {
        let jobs = self.known.iter().filter_map(|known| known.job).map(|(_, at)| at);
        let coming = self.coming.iter().map(|(at, ..)| *at);
        let next = jobs.chain(coming).chain(self.reading).chain(self.daemon.deadline()).min();
        let spurious = self.random.one_in(8).then(|| self.now + self.random.time(20_000));
        let next = next.into_iter().chain(spurious).min();
        check(next.is_some() || self.stop.is_none(), || "it waits for ever".into())?;
        let late = if self.random.one_in(20) { self.random.time(60_000) } else { Duration::ZERO };
        let to = next.unwrap_or(self.now).max(self.now) + late;
        // A jump is not the daemon's.
        self.stop = self.stop.map(|(goal, until)| (goal, until + late));
        self.now = to;
        self.time()
    }

    fn happens(&mut self) -> Checked {
        let now = self.now;
        for truth in self.truths.values_mut() {
            truth.life.take_if(|life| life.ends.is_some_and(|at| at <= now));
        }
        let done = |known: &Known| known.job.filter(|(_, at)| *at <= now).map(|(job, _)| job);
        let mut ready: Vec<usize> =
            (0..self.known.len()).filter(|of| done(&self.known[*of]).is_some()).collect();
        if !ready.is_empty() {
            let of = ready.swap_remove(self.random.below(ready.len() as u64) as usize);
            if let Some((job, _)) = self.known[of].job.take() {
                let event = self.end_job(of, job);
                return self.give(Event::Program(of, event));
            }
        }
        // What happens to one process is heard in its order.
        self.coming.sort_by_key(|(at, ..)| *at);
        if self.coming.first().is_some_and(|(at, ..)| *at <= now) {
            let (_, of, event) = self.coming.remove(0);
            return self.tell(of, event);
        }
        if self.reading.is_some_and(|at| at <= now) {
            return self.read();
        }
        self.pass()
    }

    fn run(&mut self) -> Checked {
        self.acts()?;
        for step in 0.. {
            check(step < 50 * STEPS, || "it does not come to an end".into())?;
            if self.left {
                let next = step < STEPS && self.stop.is_none_or(|(goal, _)| goal == Goal::Keep);
                if !next || self.random.one_in(4) {
                    return Ok(());
                }
                (self.left, self.stop, self.keeps) = (false, None, false);
                self.replace_daemon()?;
            }
            match self.random.below(400) {
                0 if step < STEPS => self.stops(Goal::End)?,
                1 if step < STEPS => self.stops(Goal::Keep)?,
                2..10 => {
                    self.reloads = true;
                    self.give(Event::Reload)?;
                }
                10 if self.stop.is_none() => self.replace_daemon()?,
                11..15 if !self.known.is_empty() => self.device_changes()?,
                _ if step >= STEPS && self.stop.is_none() => self.stops(Goal::End)?,
                _ => self.happens()?,
            }
        }
        Ok(())
    }
}

#[test]
fn a_daemon_does_what_the_documentation_promises() {
    let (all, mut seen) = (seeds(0..SEEDS), BTreeMap::new());
    for seed in all.clone() {
        let mut world = World::new(seed);
        if let Err(wrong) = world.run() {
            let last = world.trace.len().saturating_sub(40);
            panic!(
                "{}\n{wrong}\nCARRICK_SEED={seed} cargo test -p carrick-daemon simulated::",
                world.trace[last..].join("\n")
            );
        }
        for (what, count) in world.seen {
            *seen.entry(what).or_insert(0) += count.min(1);
        }
    }
    let rare: Vec<_> = WANTED.iter().filter(|what| seen.get(*what).copied() < Some(SEEDS / 100)).collect();
    assert!(all.end - all.start < SEEDS || rare.is_empty(), "{rare:?} are too rare in {seen:?}");
}
