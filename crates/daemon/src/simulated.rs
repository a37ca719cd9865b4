//! The supervisor of host processes on a simulated system: a seed makes processes that die at once, late, or ignore
//! SIGTERM, programs that cannot be renewed, executables that do not start, daemons that die or are replaced, requests for
//! the status, spurious wake-ups, and time that jumps. A model of what docs/carrickd.md promises checks each action.

use std::time::Duration;

use crate::supervise::{Action, Event, Signal, Supervisor};

/// Steps of a run, before it is stopped.
const STEPS: u64 = 200;
/// Seeds of a run of the tests.
const SEEDS: u64 = 20_000;

/// The random numbers of a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// Up to so many milliseconds; a short time as often as a long one.
    fn time(&mut self, most: u64) -> Duration {
        let bits = u64::from(64 - most.leading_zeros());
        let most = most.min(1 << self.below(bits + 1));
        Duration::from_millis(self.below(most + 1))
    }
}

/// A process of the simulated system.
struct Life {
    pid: u32,
    began: Duration,
    /// when it ends; none: when it is killed
    ends: Option<Duration>,
    /// how long it takes to end after SIGTERM; none: it ignores it
    obeys: Option<Duration>,
}

/// What the documentation promises, and what the system knows.
#[derive(Default)]
struct Model {
    /// processes in a row that died within 10 s, or did not start
    short: u32,
    /// when the next attempt is due
    due: Option<Duration>,
    /// processes that this daemon started
    starts: u64,
    /// SIGTERM, SIGKILL
    told: [Option<Duration>; 2],
}

/// How often something happened in all runs.
#[derive(Debug, Default)]
struct Seen {
    longest_back_offs: u64,
    back_offs_after_long_lives: u64,
    kills: u64,
    failed_renewals: u64,
    stops_while_renewing: u64,
    replaced_daemons: u64,
}

impl Seen {
    /// Something that is to be checked happened too rarely.
    fn lacks(&self) -> bool {
        let counts = [
            self.longest_back_offs,
            self.back_offs_after_long_lives,
            self.kills,
            self.failed_renewals,
            self.stops_while_renewing,
            self.replaced_daemons,
        ];
        counts.iter().any(|count| *count < SEEDS / 100)
    }
}

/// A machine with one daemon that supervises one host process.
struct World {
    random: Random,
    now: Duration,
    /// when the daemon is told to stop
    stop: Duration,
    stopping: bool,
    supervisor: Supervisor,
    /// since when the daemon lives: its clock
    born: Duration,
    process: Option<Life>,
    last_pid: u32,
    /// the program is in the kernel, and no process has used it
    renewed: bool,
    model: Model,
    seen: Seen,
    trace: Vec<String>,
}

type Checked<T = ()> = Result<T, String>;

fn check(right: bool, wrong: impl FnOnce() -> String) -> Checked {
    if right { Ok(()) } else { Err(wrong()) }
}

impl World {
    fn new(seed: u64, seen: Seen) -> World {
        let mut random = Random(seed);
        let stop = Duration::from_millis(random.below(600_000));
        World {
            random,
            now: Duration::ZERO,
            stop,
            stopping: false,
            supervisor: Supervisor::new(None, 0),
            born: Duration::ZERO,
            process: None,
            last_pid: 100,
            renewed: true,
            model: Model { due: Some(Duration::ZERO), ..Model::default() },
            seen,
            trace: Vec::new(),
        }
    }

    /// Time passes. The daemon may be told to stop meanwhile, and is asked how it is.
    fn pass(&mut self, time: Duration) -> Checked {
        self.now += time;
        if self.now >= self.stop && !self.stopping {
            self.trace.push(format!("{:?}: stop", self.now));
            self.stopping = true;
            self.supervisor.stop();
        }
        self.status()
    }

    /// The status is the truth, but for a death of which the daemon has not heard yet.
    fn status(&self) -> Checked {
        let (process, starts) = self.supervisor.status();
        let truth = (self.process.as_ref().map(|life| life.pid), self.model.starts);
        check((process, starts) == truth, || format!("status says {process:?} {starts}, and it is {truth:?}"))
    }

    fn new_process(&mut self) -> u32 {
        self.last_pid += 1;
        let ends = (!self.random.one_in(6)).then(|| self.now + self.random.time(40_000));
        let obeys = (!self.random.one_in(4)).then(|| self.random.time(7_000));
        self.process = Some(Life { pid: self.last_pid, began: self.now, ends, obeys });
        self.renewed = false;
        self.last_pid
    }

    /// The daemon is replaced by one that finds what the last one left.
    fn replace_daemon(&mut self) {
        let found = self.process.as_ref().map(|life| life.pid);
        self.seen.replaced_daemons += 1;
        self.trace.push(format!("{:?}: another daemon finds {found:?}", self.now));
        self.model = Model { starts: u64::from(found.is_none()), ..Model::default() };
        let process = found.unwrap_or_else(|| self.new_process());
        self.supervisor = Supervisor::new(Some(process), self.model.starts);
        self.born = self.now;
    }

    /// No process runs now: the documentation says when the next attempt is due.
    fn fails(&mut self, lived: Duration) -> Duration {
        if lived >= Duration::from_secs(10) {
            self.seen.back_offs_after_long_lives += u64::from(self.model.short > 0);
            self.model.short = 0;
        }
        let wait = Duration::from_millis((100 << self.model.short.min(20)).min(10_000));
        self.seen.longest_back_offs += u64::from(wait == Duration::from_secs(10));
        self.model.short += 1;
        self.model.due = Some(self.now + wait);
        wait
    }

    /// An attempt to start the process is made: it is due.
    fn attempts(&self) -> Checked {
        check(self.process.is_none(), || "a second process is started beside the first".into())?;
        check(!self.stopping, || "something is started after the stop".into())?;
        let due = self.model.due.ok_or("something is started, and nothing has ended")?;
        check(self.now >= due, || format!("it is started at {:?}, and is due at {due:?}", self.now))
    }

    fn renew(&mut self) -> Checked<Event> {
        self.attempts()?;
        check(!self.renewed, || "a program that nobody used is renewed".into())?;
        let time = self.random.time(30_000);
        self.pass(time)?;
        self.seen.stops_while_renewing += u64::from(self.stopping);
        if self.random.one_in(4) {
            self.seen.failed_renewals += 1;
            self.fails(Duration::ZERO);
            return Ok(Event::Renewed(Err("no memory".into())));
        }
        self.renewed = true;
        Ok(Event::Renewed(Ok(())))
    }

    fn start(&mut self) -> Checked<Event> {
        self.attempts()?;
        check(self.renewed, || "a process is started with a program that another one used".into())?;
        if self.random.one_in(5) {
            self.fails(Duration::ZERO);
            return Ok(Event::Started(Err("no descriptor".into())));
        }
        self.model.due = None;
        self.model.starts += 1;
        Ok(Event::Started(Ok(self.new_process())))
    }

    fn tell(&mut self, signal: Signal) -> Checked<Event> {
        check(self.stopping, || "a process is ended, and nobody said so".into())?;
        let told = self.model.told;
        let right = match signal {
            Signal::Term => told[0].is_none(),
            Signal::Kill => {
                told[1].is_none() && told[0].is_some_and(|at| self.now >= at + Duration::from_secs(5))
            }
        };
        check(right, || format!("{signal:?} at {:?}, after {told:?}", self.now))?;
        self.model.told[usize::from(signal == Signal::Kill)] = Some(self.now);
        self.seen.kills += u64::from(signal == Signal::Kill);
        let killed = self.random.time(3_000);
        let life = self.process.as_mut().ok_or("a signal is sent to no process")?;
        let within = if signal == Signal::Kill { Some(killed) } else { life.obeys };
        let ends = within.map(|within| self.now + within);
        life.ends = [life.ends, ends].into_iter().flatten().min();
        Ok(Event::Time)
    }

    /// What the daemon waits for is what it has to wait for.
    fn waits_right(&self, until: Option<Duration>) -> Checked {
        let told = self.model.told.iter().flatten().max().map(|at| *at + Duration::from_secs(5));
        let right = match (&self.process, self.stopping) {
            (Some(_), false) => None,
            (Some(_), true) => told,
            (None, _) => self.model.due,
        };
        check(until == right && (until, self.process.is_none()) != (None, true), || {
            format!("it waits until {until:?} where {right:?} is right")
        })
    }

    fn wait(&mut self, until: Option<Duration>) -> Checked<Event> {
        self.waits_right(until)?;
        let dies = self.process.as_ref().and_then(|life| life.ends);
        let spurious = self.random.one_in(8).then(|| self.now + self.random.time(20_000));
        let stop = (!self.stopping).then_some(self.stop);
        let wakes = [until, dies, spurious, stop].into_iter().flatten().min();
        let wakes = wakes.ok_or("it waits for ever")?.max(self.now);
        let late = if self.random.one_in(10) { self.random.time(60_000) } else { Duration::ZERO };
        self.pass(wakes - self.now + late)?;
        if dies.is_none_or(|at| at > self.now) {
            return Ok(Event::Time);
        }
        let lived = self.process.take().map_or(Duration::ZERO, |life| self.now - life.began.max(self.born));
        self.fails(lived);
        Ok(Event::Ended("died".into()))
    }

    /// The daemon was told to stop, and leaves.
    fn leaves(&self) -> Checked {
        check(self.stopping, || "it leaves, and nobody said so".into())?;
        check(self.process.is_none(), || "a process is left".into())
    }

    /// Does an action; the event that comes of it, or none if the daemon leaves.
    fn act(&mut self, action: Action) -> Checked<Option<Event>> {
        let event = match action {
            Action::Renew => self.renew()?,
            Action::Start => self.start()?,
            Action::Tell(signal) => self.tell(signal)?,
            Action::Report(_, wait) => {
                let due = self.model.due.unwrap_or_default().saturating_sub(self.now);
                check(wait == due, || format!("{wait:?} is reported, and {due:?} is right"))?;
                Event::Time
            }
            Action::Wait(until) => self.wait(until.map(|until| until + self.born))?,
            Action::Leave => return self.leaves().map(|()| None),
        };
        Ok(Some(event))
    }

    fn run(&mut self) -> Checked {
        let mut event = Event::Time;
        for step in 0.. {
            check(step < 50 * STEPS, || "it does not come to an end".into())?;
            if step >= STEPS {
                self.stop = self.stop.min(self.now);
            }
            if !self.stopping && self.random.one_in(80) {
                // What the dead daemon was about to do is not done.
                if matches!(event, Event::Renewed(Ok(()))) {
                    self.renewed = false;
                }
                self.renewed |= self.process.is_none();
                self.replace_daemon();
                event = Event::Time;
            }
            self.trace.push(format!("{:?}: {event:?}", self.now));
            let action = self.supervisor.next(self.now - self.born, event);
            self.trace.push(format!("    {action:?}"));
            self.status()?;
            match self.act(action)? {
                Some(next) => event = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

#[test]
fn a_host_process_is_supervised_as_the_documentation_promises() {
    let one = std::env::var("CARRICK_SEED").ok().map(|text| text.parse().expect("a number"));
    let seeds = one.map_or(0..SEEDS, |seed: u64| seed..seed + 1);
    let mut seen = Seen::default();
    for seed in seeds {
        let mut world = World::new(seed, seen);
        if let Err(wrong) = world.run() {
            let last = world.trace.len().saturating_sub(30);
            panic!(
                "{}\n{wrong}\nCARRICK_SEED={seed} cargo test -p carrick-daemon simulated",
                world.trace[last..].join("\n")
            );
        }
        seen = world.seen;
    }
    assert!(one.is_some() || !seen.lacks(), "{seen:?}");
}
