// SPDX-License-Identifier: MIT OR Apache-2.0
//! One program in the kernel, with its device and its host process: the jobs of its state machine, and its status.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use carrick_driver::cc::Tracing;
use carrick_driver::{Failure, address, compile_for, params, progress, render, written};
use carrick_ir::{COUNTERS, Program};
use carrick_sim::show;
use carrick_targets::ALL;
use carrick_targets::xdp::{TARGET, build};
use carrick_xdp_loader::{Device, Entry, Link, Object, Traffic, advice, life, rates, seed, unpin};

use crate::about::About;
use crate::clean;
use crate::config::Wanted;
use crate::host;
use crate::log;
use crate::place::Place;
use crate::process::{Attaching, Handle, Process};
use crate::status::{Connection, Instances, OfHost, OfProgram};
use crate::supervise::{self, END, Event, Job, Left, Signal};

/// So many connections of a context are listed at most.
const CONNECTIONS_MAX: usize = 1000;

/// What is in the kernel of a program.
struct Core {
    object: Arc<Object>,
    /// while it is attached
    link: Option<Link>,
    /// its device is gone, which was told
    lost: bool,
}

/// A program that can be brought into the kernel: it is right, and its device is there.
pub struct Service {
    wanted: Wanted,
    program: Arc<Program>,
    /// with the rates that it holds, as the kernel has it
    limited: Program,
    /// as it was found last
    device: Mutex<Device>,
    params: Vec<u64>,
    /// of the device that there was at the start
    about: About,
    place: Place,
    built: PathBuf,
    pins: PathBuf,
    verbose: bool,
    core: Mutex<Option<Core>>,
    /// of the last process, until the program is attached: its packets go to the program as long as that process is there
    life: Mutex<Option<OwnedFd>>,
    /// of the last process
    handle: Mutex<Option<Handle>>,
    /// that its program is attached, for which its application waits
    waits: Mutex<Option<Attaching>>,
    /// what its state machine knows
    view: Mutex<View>,
}

/// What a state machine knows of a program.
#[derive(Debug, Default)]
struct View {
    /// it ran once, and is not gone
    is_there: bool,
    found: bool,
    process: Option<u32>,
    starts: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Reads a program and looks for its device. Nothing is changed.
    ///
    /// # Errors
    /// What is wrong with it; the diagnostics of a program go to standard error.
    pub fn new(wanted: Wanted, place: &Place, verbose: bool) -> Result<Service, Failure> {
        let device = Device::find(&wanted.device).map_err(|refusal| refusal.failure(false))?;
        let against = ALL.against(&TARGET);
        let compiled = compile_for(&wanted.file, &wanted.choice(), Some(&against))?;
        let told = render::pretty(&compiled, render::Colour::No);
        if !told.is_empty() {
            written::tell(told.trim_end());
        }
        let mut program = compiled.program.ok_or_else(|| {
            let file = wanted.file.display();
            Failure::Failed(format!("{file} is not right, or not for the kernel; `carrick check --target xdp {file}` says the same"))
        })?;
        let address = wanted.ip(program.net_header.layer)?;
        log::line(log::Level::Debug, &format!("{} will have {address}", wanted.name));
        if wanted.app.is_some() && program.interface.is_none() {
            let name = &wanted.name;
            return Err(Failure::Usage(format!(
                "{name} has no interface for an application; leave `app` out"
            )));
        }
        let params = params::values(&program, &wanted.set)?;
        params::build_in(&mut program, &params);
        let limited = rates::limited(&program, &wanted.rates.limits)?;
        let about = About {
            source: format!("{:016x}", build::hash(&limited)),
            device: device.name.clone(),
            index: device.index,
            address: address.to_string(),
            params: params.clone(),
        };
        let (place, built, pins) = (place.clone(), place.built(&wanted.name), place.pins_of(&wanted.name));
        let (core, life, handle, waits, view) = Default::default();
        Ok(Service {
            wanted,
            program,
            limited,
            device: Mutex::new(device),
            params,
            about,
            place,
            built,
            pins,
            verbose,
            core,
            life,
            handle,
            waits,
            view,
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.wanted.name
    }

    /// Its application.
    pub fn app(&self) -> Option<String> {
        self.wanted.app.clone()
    }

    /// Whether the other one is the same, as it is configured now.
    pub fn is_same(&self, other: &Service) -> bool {
        // A device that was made again has another number.
        self.about == About { index: self.about.index, ..other.about.clone() }
            && self.wanted.app == other.wanted.app
    }

    /// Takes over what its state machine knows.
    pub fn show(&self, of: &supervise::Program) {
        let (process, starts) = of.status();
        *lock(&self.view) =
            View { is_there: of.is_ready() && !of.is_gone(), found: of.found(), process, starts };
    }

    /// Sends a signal to its process, if it is this one.
    pub fn tell(&self, pid: u32, signal: Signal) {
        *lock(&self.waits) = None;
        if let Some(handle) = lock(&self.handle).as_ref().filter(|handle| handle.pid() == pid) {
            handle.tell(signal);
        }
    }
}

/// Jobs.
impl Service {
    /// Does a job and tells its result; of a process that was started, or found, also what becomes of it.
    pub fn run(&self, job: Job, tell: &dyn Fn(Event)) {
        let done = match job {
            Job::Find => match self.find() {
                Ok((left, process)) => return self.watch(process, Event::Found(Ok(left)), tell),
                Err(why) => return tell(Event::Found(Err(why))),
            },
            Job::Start => match self.start() {
                Ok(process) => {
                    let started = Event::Started(Ok(process.handle().pid()));
                    return self.watch(Some(process), started, tell);
                }
                Err(why) => return tell(Event::Started(Err(why))),
            },
            Job::Build => self.build(),
            Job::Load => self.load(),
            Job::Attach => self.attach(),
            Job::Unload => self.unload(),
            Job::Remove => self.remove(),
        };
        tell(Event::Done(done));
    }

    /// Tells what becomes of a process.
    fn watch(&self, process: Option<Process>, first: Event, tell: &dyn Fn(Event)) {
        *lock(&self.handle) = process.as_ref().map(|process| process.handle().clone());
        tell(first);
        if let Some(mut process) = process {
            let pid = process.handle().pid();
            if process.begins() {
                *lock(&self.waits) = process.attaching();
                tell(Event::Begun(pid));
            }
            tell(Event::Ended(pid, process.ended()));
        }
    }

    /// What of it is there already, by a daemon that is dead.
    fn find(&self) -> Result<(Left, Option<Process>), Failure> {
        let (name, app) = (&self.wanted.name, &self.wanted.app);
        if app.is_none() && self.program.interface.is_some() {
            log::warn(&format!(
                "{name} has no application (`app`): it receives no calls, and its timers do not fire"
            ));
        }
        let core = self.pinned()?;
        let found = host::find(&self.built)?;
        let is_wanted = |words: &[String]| {
            app.as_ref().is_some_and(|app| words == host::args(app, &self.wanted, &self.pins))
        };
        let process = match found {
            Some((process, words)) if core.is_some() && is_wanted(&words) => Some(process),
            Some((_, words)) => {
                if !is_wanted(&words) {
                    log::info(&format!(
                        "{name} has another application now; the last one's process is ended"
                    ));
                }
                host::end(&self.built)?;
                None
            }
            None => None,
        };
        let Some(core) = core else {
            let left = self.pins.exists() || self.built.exists();
            return Ok((if left { Left::Rest } else { Left::Nothing }, None));
        };
        *lock(&self.core) = Some(core);
        if app.is_some() && process.is_none() {
            log::warn(&format!("the application of {name} is gone; its connections are taken back"));
        } else {
            log::info(&format!("{name} is on {}, as the last daemon left it", self.device()));
        }
        Ok((Left::Whole(process.as_ref().map(|process| process.handle().pid())), process))
    }

    /// What of it is pinned already; `None` if that is nothing, or not all.
    fn pinned(&self) -> Result<Option<Core>, Failure> {
        if !self.pins.exists() {
            return Ok(None);
        }
        let name = &self.wanted.name;
        let Some(there) = About::read(&self.pins)? else {
            log::warn(&format!(
                "{name} is pinned in part, as a daemon left it that died on the way; it is taken away"
            ));
            return Ok(None);
        };
        let link = Link::open(&self.pins).map_err(Failure::Failed)?;
        let Some(link) = link.filter(|link| matches!(link.device(), Ok(Some(_)))) else {
            log::warn(&format!(
                "{name} was on {}, which is gone, or its packets are another program's; it begins anew",
                there.device
            ));
            return Ok(None);
        };
        if let Some(differs) = there.differs(&self.about) {
            return Err(Failure::Failed(format!(
                "{} is what a dead daemon left, with {differs}; `carrickd clean {name}` takes it away with its connections",
                self.pins.display(),
            )));
        }
        let object = Arc::new(Object::open(&self.pins).map_err(Failure::Failed)?);
        object.set_link(lock(&self.device).mac, self.broadcast()).map_err(Failure::Failed)?;
        Ok(Some(Core { object, link: Some(link), lost: false }))
    }

    /// Builds what there is not: of a program that is in the kernel already, the host process.
    fn build(&self) -> Result<(), Failure> {
        let is_there = self.wanted.app.is_none() || host::executable(&self.program, &self.built).exists();
        if is_there && lock(&self.core).as_ref().is_some_and(|core| core.link.is_some()) {
            return Ok(());
        }
        build::object(&self.limited, &self.built, Tracing::Off)?;
        if self.program.interface.is_none() {
            return Ok(());
        }
        build::host(&self.program, &self.built, Tracing::Off)
    }

    /// Loads it. Verifying takes seconds: who asks meanwhile is told of the last one, which is at no device any more.
    fn load(&self) -> Result<(), Failure> {
        let device = Device::find(&self.wanted.device).map_err(|refusal| refusal.failure(false))?;
        let object = self.built.join(format!("{}.bpf.o", self.program.name));
        let address = address::number(self.wanted.ip(self.program.net_header.layer)?);
        let _step = progress::step(&format!("loading {} into the kernel", self.wanted.name));
        let object = Object::load(
            &object,
            &self.limited,
            seed().map_err(Failure::Missing)?,
            address,
            device.mtu,
            &self.params,
        )
        .map_err(|refusal| refusal.failure(self.verbose))?;
        object.set_device(device.index).map_err(Failure::Failed)?;
        object.set_link(device.mac, self.broadcast()).map_err(Failure::Failed)?;
        object.pin(&self.pins).map_err(Failure::Failed)?;
        *lock(&self.device) = device;
        *lock(&self.core) = Some(Core { object: Arc::new(object), link: None, lost: false });
        Ok(())
    }

    fn start(&self) -> Result<Process, Failure> {
        let app = self.wanted.app.clone().unwrap_or_default();
        let (executable, held) = (host::executable(&self.program, &self.built), host::held(&self.built));
        let life = life().map_err(|refusal| refusal.failure(false))?;
        let started =
            Process::start(&executable, &host::args(&app, &self.wanted, &self.pins), &held, life.as_fd());
        *lock(&self.life) = Some(life);
        started.map_err(|e| Failure::Failed(format!("cannot start {app} of {}: {e}", self.wanted.name)))
    }

    fn attach(&self) -> Result<(), Failure> {
        let name = &self.wanted.name;
        let Some(object) = lock(&self.core).as_ref().map(|core| core.object.clone()) else {
            return Err(Failure::Failed(format!("{name} is not loaded")));
        };
        let who = format!("{name} of carrickd");
        let dispatcher = build::dispatcher(&self.built);
        let (device, life) = (lock(&self.device).clone(), lock(&self.life).take());
        let (traffic, life) = (Traffic::of(&self.program), life.as_ref().map(AsFd::as_fd));
        let entry = Entry { dispatcher: &dispatcher, traffic, who: &who, life };
        let link = object.attach(&device, entry).map_err(|refusal| refusal.failure(self.verbose))?;
        let about = About { index: device.index, ..self.about.clone() };
        link.pin(&self.pins).and_then(|()| about.write(&self.pins)).map_err(Failure::Failed)?;
        *lock(&self.core) = Some(Core { object, link: Some(link), lost: false });
        // From here on a change of the device is seen by this link; what was before is seen here.
        let is_there = self.is_at(lock(&self.core).as_ref().and_then(|core| core.link.as_ref()));
        if !is_there.map_err(Failure::Failed)? {
            return Err(Failure::Missing(format!("device {} is gone", device.name)));
        }
        let waits = lock(&self.waits).take();
        // What is reported next is true for clients, too; what becomes of a process that did not go on is seen elsewhere.
        let _ = waits.is_none_or(|waits| waits.done(END));
        log::info(&format!("{name} is on {}", device.name));
        Ok(())
    }

    fn unload(&self) -> Result<(), Failure> {
        unpin(&self.pins).map_err(Failure::Failed)?;
        if let Some(core) = lock(&self.core).as_mut() {
            core.link = None;
        }
        Ok(())
    }

    fn remove(&self) -> Result<(), Failure> {
        clean::take_away(&self.place, &self.wanted.name)?;
        *lock(&self.core) = None;
        log::info(&format!("{} is off {}", self.wanted.name, self.device()));
        Ok(())
    }
}

/// How it is.
impl Service {
    /// What a person should hear of it now.
    pub fn advice(&self) -> Option<String> {
        let object = lock(&self.core).as_ref()?.object.clone();
        advice::on_checksums(&object.counters().ok()?, &self.device())
    }

    /// What its device is called now, or was when it was there last.
    fn device(&self) -> String {
        lock(&self.device).name.clone()
    }

    /// Whether it is at its device, and that is where this daemon is.
    fn is_at(&self, link: Option<&Link>) -> Result<bool, String> {
        let there = link.map_or(Ok(None), Link::device)?.is_some();
        Ok(there && lock(&self.device).name_now().is_some())
    }

    fn broadcast(&self) -> u32 {
        address::broadcast(&self.wanted.address, self.program.net_header.layer)
    }

    /// Its device is called so now, and has this hardware address.
    fn device_is(&self, now: Device, object: &Object) {
        let was = std::mem::replace(&mut *lock(&self.device), now.clone());
        if was.name != now.name {
            log::warn(&format!("{} is called {} now; {} stays there", was.name, now.name, self.wanted.name));
        }
        if was.mac == now.mac {
            return;
        }
        match object.set_link(now.mac, self.broadcast()) {
            Ok(()) => log::info(&format!("{} has another hardware address now", now.name)),
            Err(why) => log::warn(&format!("{} has another hardware address now, and {why}", now.name)),
        }
    }

    /// Looks at its device after something has changed there: what its state machine is to know.
    pub fn look_at_device(&self) -> Vec<Event> {
        let mut core = lock(&self.core);
        let there = || Device::find(&self.wanted.device).is_ok();
        let Some(Core { object, link: Some(link), lost }) = core.as_mut() else {
            return vec![Event::Device(there())];
        };
        // Where the kernel does not say, nothing has changed.
        if self.is_at(Some(link)).unwrap_or(true) {
            let now = lock(&self.device).name_now().and_then(|now| Device::find(&now).ok());
            if let Some(now) = now {
                self.device_is(now, object);
            }
            return Vec::new();
        }
        if !std::mem::replace(lost, true) {
            let (was, name, wanted) = (self.device(), &self.wanted.name, &self.wanted.device);
            log::warn(&format!("{was} is gone; {name} begins anew once there is a device {wanted}"));
        }
        vec![Event::Device(false), Event::Device(there())]
    }

    fn connections(&self, object: &Object) -> Result<Vec<Connection>, String> {
        let (program, mut connections) = (&self.program, Vec::new());
        for (number, ctx) in program.contexts.iter().enumerate().filter(|(_, ctx)| !ctx.global) {
            let def = &program.ids[ctx.id.index()];
            for words in object.identities(number, CONNECTIONS_MAX)? {
                let id = show::id(program, def, &mut words.into_iter());
                connections.push(Connection { context: ctx.name.clone(), id });
            }
        }
        Ok(connections)
    }

    /// How it is now, with each connection if that is asked for; `None` if it does not run.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn status(&self, connections: bool) -> Result<Option<OfProgram>, String> {
        let (view, core) = (lock(&self.view), lock(&self.core));
        let Some(Core { object, link, .. }) = core.as_ref().filter(|_| view.is_there) else {
            return Ok(None);
        };
        let counted = object.counters()?;
        let mut counters: Vec<(String, u64)> =
            COUNTERS.iter().zip(counted).map(|(name, count)| ((*name).to_owned(), count)).collect();
        counters.push(("busy".into(), object.taken_and_busy()?.1));
        let contexts = self.program.contexts.iter().zip(object.instances(&self.program)?);
        let app = self.wanted.app.clone();
        let (process, starts) = (view.process, view.starts);
        Ok(Some(OfProgram {
            name: self.wanted.name.clone(),
            file: self.wanted.file.display().to_string(),
            source: self.about.source.clone(),
            device: self.device(),
            address: self.about.address.clone(),
            attached: self.is_at(link.as_ref())?,
            found: view.found,
            applications: app.map(|app| OfHost { app, process, starts }).into_iter().collect(),
            instances: contexts
                .filter_map(|(ctx, instances)| {
                    let instances = instances?;
                    let (open, capacity) = (instances.open, instances.capacity);
                    Some(Instances { context: ctx.name.clone(), open, capacity })
                })
                .collect(),
            rates: self.wanted.rates.used(&object.owned()?),
            counters: counters.into_iter().collect(),
            connections: if connections { self.connections(object)? } else { Vec::new() },
        }))
    }
}
