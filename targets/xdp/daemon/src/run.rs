// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrickd run`: the daemon's state machine on Linux. One thread runs it, each job has a thread of its own, and what happens
//! comes to it by one channel.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use carrick_driver::Failure;
use carrick_xdp_loader::{Changes, machine, pins};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::args::Run;
use crate::config::{self, Config};
use crate::control::Question;
use crate::daemon::{Action, Change, Daemon, Event};
use crate::place::Place;
use crate::service::Service;
use crate::status::Status;
use crate::supervise::{self, Goal};
use crate::{control, log, metrics, notify};

/// How often programs are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// All programs that there ever were, by their numbers.
#[derive(Clone, Default)]
struct Services(Arc<Mutex<Vec<Arc<Service>>>>);

impl Services {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Service>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self, connections: bool) -> Result<Status, String> {
        let programs: Result<Vec<_>, _> = self.all().iter().map(|one| one.status(connections)).collect();
        let programs = programs?.into_iter().flatten().collect();
        Ok(Status { version: env!("CARGO_PKG_VERSION").into(), process: process::id(), programs })
    }
}

/// Where a configuration is, and how it is read.
#[derive(Clone)]
struct Source {
    path: PathBuf,
    place: Place,
    verbose: bool,
}

impl Source {
    /// The programs of a configuration.
    fn services(&self, config: Config) -> Result<Vec<Service>, Failure> {
        let services = config.programs.into_iter();
        services.map(|wanted| Service::new(wanted, &self.place, self.verbose)).collect()
    }

    /// What differs from the programs that run, of which those with these numbers are left.
    fn change(&self, metrics: Option<u16>, services: &Services, there: &[usize]) -> Result<Change, Failure> {
        let config = config::read(&self.path)?;
        if config.metrics != metrics {
            return Err(Failure::Usage("`metrics` has changed; restart carrickd".into()));
        }
        let wanted = self.services(config)?;
        let mut all = services.all();
        let mut change = Change { begin: Vec::new(), end: there.to_vec() };
        let mut new = Vec::new();
        for service in wanted {
            let Some(at) = change.end.iter().position(|of| all[*of].name() == service.name()) else {
                change.begin.push((service.name().to_owned(), service.app()));
                new.push(Arc::new(service));
                continue;
            };
            if !all[change.end.swap_remove(at)].is_same(&service) {
                let name = service.name();
                return Err(Failure::Usage(format!(
                    "{name} has changed; give it another `name`, or restart carrickd, which ends its connections"
                )));
            }
        }
        all.extend(new);
        Ok(change)
    }
}

/// Brings all programs into the kernel and keeps them there until a signal comes.
pub fn run(args: &Run, place: &Place) -> Result<(), Failure> {
    log::set(args.log);
    let source = Source { path: args.config.clone(), place: place.clone(), verbose: args.verbose };
    let config = config::read(&args.config)?;
    machine::suits().map_err(|refusal| refusal.failure(args.verbose))?;
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1])
        .map_err(|e: io::Error| Failure::Missing(format!("cannot wait for signals: {e}")))?;
    let metrics = config.metrics;
    let services = source.services(config)?;
    let begin = services.iter().map(|service| (service.name().to_owned(), service.app())).collect();
    let services = Services(Arc::new(Mutex::new(services.into_iter().map(Arc::new).collect())));
    let changes =
        Changes::new().map_err(|e| Failure::Missing(format!("cannot hear of devices that change: {e}")))?;
    let held = place.hold()?;
    let (events, heard) = mpsc::channel();
    let daemon = Daemon::new(begin);
    let mut running = Running { daemon, services, source, metrics, events, heard, clock: Instant::now() };
    let done =
        running.hear(signals).and_then(|()| running.watch_devices(changes)).and_then(|()| running.run());
    held.leave();
    done
}

/// What a state machine acts on.
struct Running {
    daemon: Daemon,
    services: Services,
    source: Source,
    metrics: Option<u16>,
    events: Sender<Event>,
    heard: Receiver<Event>,
    clock: Instant,
}

fn spawn(job: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let spawned = thread::Builder::new().spawn(job);
    spawned.map(|_| ()).map_err(|e| Failure::Failed(format!("cannot start a thread: {e}")))
}

impl Running {
    /// From now on signals are events. A daemon that is in trouble with itself dies: the next one goes on.
    fn hear(&self, mut signals: Signals) -> Result<(), Failure> {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            hook(info);
            process::abort();
        }));
        let events = self.events.clone();
        spawn(move || {
            for signal in signals.forever() {
                let event = match signal {
                    SIGHUP => Event::Reload,
                    SIGUSR1 => Event::Stop(Goal::Keep),
                    _ => Event::Stop(Goal::End),
                };
                // The daemon has left if nobody hears of it.
                let _ = events.send(event);
            }
        })
    }

    /// From now on what becomes of devices is an event, of each program.
    fn watch_devices(&self, changes: Changes) -> Result<(), Failure> {
        let (services, events) = (self.services.clone(), self.events.clone());
        spawn(move || {
            loop {
                if let Err(why) = changes.wait() {
                    return log::warn(&format!("cannot hear of devices that change any more: {why}"));
                }
                look_at_devices(&services, &events);
            }
        })
    }

    /// Does what the state machine says until it leaves.
    fn run(&mut self) -> Result<(), Failure> {
        loop {
            while let Some(action) = self.daemon.next(self.clock.elapsed()) {
                match self.act(action) {
                    Ok(Some(event)) => self.take(event),
                    Ok(None) => {}
                    Err(result) => return result,
                }
            }
            for (service, program) in self.services.all().iter().zip(self.daemon.programs()) {
                service.show(program);
            }
            let event = match self.daemon.deadline() {
                Some(until) => self.heard.recv_timeout(until.saturating_sub(self.clock.elapsed())).ok(),
                None => self.heard.recv().ok(),
            };
            if let Some(event) = event {
                self.take(event);
            }
        }
    }

    fn take(&mut self, event: Event) {
        if matches!(event, Event::Stop(Goal::Keep)) {
            log::info("what runs stays in the kernel for the next carrickd");
        }
        self.daemon.take(self.clock.elapsed(), event);
    }

    /// Does an action; the event that comes of it at once, or with what result the daemon leaves.
    fn act(&mut self, action: Action) -> Result<Option<Event>, Result<(), Failure>> {
        match action {
            Action::Program(number, action) => return Ok(self.act_on(number, action)),
            Action::Read => return Ok(self.read().err().map(|why| Event::Read(Err(why)))),
            Action::Listen => return Ok(Some(Event::Listening(self.listen()))),
            Action::Silence => {
                notify::say("STOPPING=1");
                // If it is gone, it need not be removed.
                let _ = fs::remove_file(self.source.place.socket());
            }
            Action::Changed(Ok(())) => log::info("another configuration is in use"),
            Action::Changed(Err(why)) => {
                log::line(log::Level::Error, &format!("another configuration is in use, but {why}"));
            }
            Action::Refused(why) => {
                log::line(log::Level::Error, &format!("the configuration stays as it was: {why}"));
            }
            Action::Leave(result) => return Err(result),
        }
        Ok(None)
    }

    fn act_on(&self, number: usize, action: supervise::Action) -> Option<Event> {
        let service = self.services.all()[number].clone();
        match action {
            supervise::Action::Do(job) => {
                let events = self.events.clone();
                let tell = move |event| {
                    // The daemon has left if nobody hears of it.
                    let _ = events.send(Event::Program(number, event));
                };
                let spawned = spawn(move || service.run(job, &tell));
                return spawned.err().map(|why| Event::Program(number, job.failed(why)));
            }
            supervise::Action::Tell(pid, signal) => service.tell(pid, signal),
            supervise::Action::Report(why, wait) => log::warn(&format!(
                "the host process of {} {why}; it is started again in {} ms",
                service.name(),
                wait.as_millis()
            )),
        }
        None
    }

    /// Reads the configuration again.
    fn read(&self) -> Result<(), Failure> {
        let programs = self.daemon.programs().iter().enumerate();
        let there: Vec<_> = programs.filter(|(_, of)| !of.is_gone()).map(|(number, _)| number).collect();
        let (source, services, events) = (self.source.clone(), self.services.clone(), self.events.clone());
        let metrics = self.metrics;
        spawn(move || {
            // The daemon has left if nobody hears of it.
            let _ = events.send(Event::Read(source.change(metrics, &services, &there)));
        })
    }

    /// Begins to answer those who ask.
    fn listen(&self) -> Result<(), Failure> {
        let (services, place) = (self.services.clone(), &self.source.place);
        control::listen(
            &place.socket(),
            Box::new(move |question| {
                let told = services
                    .status(question == Question::Connections)
                    .and_then(|status| serde_json::to_string_pretty(&status).map_err(|e| e.to_string()));
                told.unwrap_or_else(|e| e) + "\n"
            }),
        )?;
        if let Some(port) = self.metrics {
            let services = self.services.clone();
            let port = metrics::listen(port, Box::new(move || services.status(false)))?;
            log::info(&format!("metrics are at http://127.0.0.1:{port}/metrics"));
        }
        let known: Vec<_> = self.services.all().iter().map(|service| service.name().to_owned()).collect();
        for name in pins::list(&place.pins).map_err(Failure::Failed)?.iter().filter(|n| !known.contains(n)) {
            log::warn(&format!(
                "{name} is pinned and not wanted; stop carrickd and `carrickd clean {name}` takes it away"
            ));
        }
        let services = self.services.clone();
        spawn(move || watch(&services))?;
        log::info("ready");
        notify::say("READY=1");
        Ok(())
    }
}

fn look_at_devices(services: &Services, events: &Sender<Event>) {
    let all = services.all().clone();
    for (number, service) in all.iter().enumerate() {
        for event in service.look_at_device() {
            // The daemon has left if nobody hears of it.
            let _ = events.send(Event::Program(number, event));
        }
    }
}

/// Says of each program once what a person should hear.
fn watch(services: &Services) {
    let mut told: Vec<String> = Vec::new();
    loop {
        thread::sleep(LOOK);
        let all = services.all().clone();
        for service in all {
            let is_told = told.iter().any(|name| name == service.name());
            if let Some(advice) = service.advice().filter(|_| !is_told) {
                log::warn(&advice);
                told.push(service.name().to_owned());
            }
        }
    }
}
