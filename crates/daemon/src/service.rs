//! One program in the kernel, with its device and its host process.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use carrick_driver::{Failure, build, cc, compile_for, params, rates, render, targets};
use carrick_ir::{COUNTERS, Program};
use carrick_kernel::{Device, Entry, Link, Object, advice, pins};
use carrick_sim::show;

use crate::about::About;
use crate::config::Wanted;
use crate::host::{self, Host};
use crate::log;
use crate::place::{Place, refused};
use crate::process::Process;
use crate::status::{Connection, Instances, OfProgram};

/// So many connections of a context are listed at most.
const CONNECTIONS_MAX: usize = 1000;

/// A program that can be brought into the kernel: it is right, and its device is there.
pub struct Prepared {
    wanted: Wanted,
    program: Arc<Program>,
    /// with the rates that it holds, as the kernel has it
    limited: Program,
    device: Device,
    params: Vec<u64>,
}

/// A program in the kernel.
struct InKernel {
    prepared: Prepared,
    about: About,
    built: PathBuf,
    pins: PathBuf,
    verbose: bool,
    core: Mutex<(Object, Link)>,
}

/// A program in the kernel, and who uses it.
pub struct Service {
    kernel: Arc<InKernel>,
    /// it was there before this daemon
    found: bool,
    host: Option<Host>,
}

impl Prepared {
    /// Reads a program and looks for its device. Nothing is changed.
    ///
    /// # Errors
    /// What is wrong with it; the diagnostics of a program go to standard error.
    pub fn new(wanted: Wanted) -> Result<Prepared, Failure> {
        let address = wanted.ip()?;
        log::line(log::Level::Debug, &format!("{} will have {address}", wanted.name));
        let device = Device::find(&wanted.device).map_err(|refusal| refused(refusal, false))?;
        let target = targets::find("xdp")?;
        let compiled = compile_for(&wanted.file, &wanted.choice(), Some(&target))?;
        eprint!("{}", render::pretty(&compiled, render::Colour::No));
        let mut program = compiled.program.ok_or_else(|| {
            let file = wanted.file.display();
            Failure::Failed(format!("{file} is not right, or not for the kernel; `carrick check --target xdp {file}` says the same"))
        })?;
        if wanted.app.is_some() && program.interface.is_none() {
            let name = &wanted.name;
            return Err(Failure::Usage(format!(
                "{name} has no interface for an application; leave `app` out"
            )));
        }
        let params = params::values(&program, &wanted.set)?;
        params::build_in(&mut program, &params);
        let limited = rates::limited(&program, &wanted.rates.limits)?;
        Ok(Prepared { wanted, program, limited, device, params })
    }

    fn about(&self) -> Result<About, Failure> {
        Ok(About {
            source: format!("{:016x}", build::kernel_hash(&self.limited)),
            device: self.device.name.clone(),
            index: self.device.index,
            address: self.wanted.ip()?.to_string(),
            params: self.params.clone(),
        })
    }

    /// What of it is pinned already, by a daemon that is dead; `None` if nothing is.
    fn pinned(&self, pins: &Path, about: &About) -> Result<Option<(Object, Link)>, Failure> {
        if !pins.exists() {
            return Ok(None);
        }
        let name = &self.wanted.name;
        let Some(there) = About::read(pins)? else {
            log::warn(&format!(
                "{name} is pinned in part, as a daemon left it that died on the way; it is taken away"
            ));
            pins::remove(pins).map_err(Failure::Failed)?;
            return Ok(None);
        };
        let link = Link::open(pins).map_err(Failure::Failed)?;
        let at = link.as_ref().map_or(Ok(None), Link::device).map_err(Failure::Failed)?;
        let gone = at.is_none().then(|| format!("device {}, which is gone", there.device));
        match (there.differs(about).or(gone), link) {
            (None, Some(link)) => Ok(Some((Object::open(pins).map_err(Failure::Failed)?, link))),
            (differs, _) => Err(Failure::Failed(format!(
                "{} is what a dead daemon left, with {}; `carrickd clean {name}` takes it away with its connections",
                pins.display(),
                differs.unwrap_or_default()
            ))),
        }
    }

    /// Brings the program into the kernel, or finds it there, and goes on with it.
    ///
    /// # Errors
    /// Why it is not there; then nothing of it is.
    pub fn start(self, place: &Place, verbose: bool) -> Result<Service, Failure> {
        let (pins, about) = (place.pins_of(&self.wanted.name), self.about()?);
        let built = place.built(&self.wanted.name);
        let mut pinned = self.pinned(&pins, &about)?;
        let running = host::running(&self.program, &self.wanted, &built, &pins)?;
        if pinned.is_some() && self.wanted.app.is_some() && running.is_none() {
            log::warn(&format!(
                "the application of {} is gone; its connections are taken back",
                self.wanted.name
            ));
            pins::remove(&pins).map_err(Failure::Failed)?;
            pinned = None;
        }
        let found = pinned.is_some();
        let made = self
            .build(&built, found)
            .and_then(|()| pinned.map_or_else(|| self.load(&built, &pins, &about, verbose), Ok));
        let core = made.map_err(|failure| match found {
            true => failure,
            false => undone(failure, place, &self.wanted.name),
        })?;
        let how = if found { ", as the last daemon left it" } else { "" };
        log::info(&format!("{} is on {}{how}", self.wanted.name, self.device.name));
        let core = Mutex::new(core);
        let kernel = Arc::new(InKernel { prepared: self, about, built, pins, verbose, core });
        let host = InKernel::host(&kernel, running).map_err(|failure| match found {
            true => failure,
            false => undone(failure, place, &kernel.prepared.wanted.name),
        })?;
        Ok(Service { kernel, found, host })
    }

    /// Builds what there is not: of a program that is in the kernel already, the host process.
    fn build(&self, built: &Path, found: bool) -> Result<(), Failure> {
        let is_there = self.wanted.app.is_none() || host::executable(&self.program, built).exists();
        if found && is_there {
            return Ok(());
        }
        build::kernel(&self.limited, built, cc::Tracing::Off)?;
        if self.program.interface.is_none() {
            return Ok(());
        }
        build::kernel_host(&self.program, built, cc::Tracing::Off)
    }

    fn load(
        &self,
        built: &Path,
        pins: &Path,
        about: &About,
        verbose: bool,
    ) -> Result<(Object, Link), Failure> {
        let object = built.join(format!("{}.bpf.o", self.program.name));
        let address = self.wanted.ip()?.into();
        let refused = |refusal| refused(refusal, verbose);
        let object = Object::load(&object, &self.limited, seed()?, address, self.device.mtu, &self.params)
            .map_err(refused)?;
        object.pin(pins).map_err(Failure::Failed)?;
        let who = format!("{} of carrickd", self.wanted.name);
        let (dispatcher, protocol) = (build::dispatcher(built), self.program.net_header.protocol);
        let entry = Entry { dispatcher: &dispatcher, protocol, who: &who };
        let link = object.attach(&self.device, entry).map_err(refused)?;
        link.pin(pins).and_then(|()| about.write(pins)).map_err(Failure::Failed)?;
        Ok((object, link))
    }
}

impl InKernel {
    fn core(&self) -> MutexGuard<'_, (Object, Link)> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew, without the connections that there were. Verifying takes seconds: who asks meanwhile is told of the last one,
    /// which is at no device any more.
    fn renew(&self) -> Result<(), Failure> {
        pins::remove(&self.pins).map_err(Failure::Failed)?;
        let anew = self.prepared.load(&self.built, &self.pins, &self.about, self.verbose)?;
        *self.core() = anew;
        Ok(())
    }

    /// The process of its application: this one, or a new one.
    fn host(kernel: &Arc<InKernel>, running: Option<Process>) -> Result<Option<Host>, Failure> {
        let of = kernel.clone();
        let Prepared { program, wanted, .. } = &kernel.prepared;
        let renew = Box::new(move || of.renew());
        Host::of(program, wanted, &kernel.built, &kernel.pins, running, renew)
    }

    fn connections(&self, object: &Object) -> Result<Vec<Connection>, String> {
        let (program, mut connections) = (&self.prepared.program, Vec::new());
        for (number, ctx) in program.contexts.iter().enumerate().filter(|(_, ctx)| !ctx.global) {
            let def = &program.ids[ctx.id.index()];
            for words in object.identities(number, CONNECTIONS_MAX)? {
                let id = show::id(program, def, &mut words.into_iter());
                connections.push(Connection { context: ctx.name.clone(), id });
            }
        }
        Ok(connections)
    }
}

impl Service {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.kernel.prepared.wanted.name
    }

    /// Whether it was there before this daemon.
    pub fn found(&self) -> bool {
        self.found
    }

    /// Takes all back: its applications, its device, its pins.
    ///
    /// # Errors
    /// What stays there, and why.
    pub fn stop(&self, place: &Place) -> Result<(), Failure> {
        let stopped = self.host.as_ref().map_or(Ok(()), Host::stop);
        pins::remove(&self.kernel.pins).map_err(Failure::Failed)?;
        place.forget(self.name());
        stopped?;
        log::info(&format!("{} is off {}", self.name(), self.kernel.about.device));
        Ok(())
    }

    /// What a person should hear of it now.
    pub fn advice(&self) -> Option<String> {
        let counters = self.kernel.core().0.counters().ok()?;
        advice::on_checksums(&counters, &self.kernel.about.device)
    }

    /// How it is now, with each connection if that is asked for.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn status(&self, connections: bool) -> Result<OfProgram, String> {
        let Prepared { program, wanted, .. } = &self.kernel.prepared;
        let core = self.kernel.core();
        let (object, link) = &*core;
        let counted = object.counters()?;
        let mut counters: Vec<(String, u64)> =
            COUNTERS.iter().zip(counted).map(|(name, count)| ((*name).to_owned(), count)).collect();
        counters.push(("busy".into(), object.taken_and_busy()?.1));
        let contexts = program.contexts.iter().zip(object.instances(program)?);
        Ok(OfProgram {
            name: wanted.name.clone(),
            file: wanted.file.display().to_string(),
            source: self.kernel.about.source.clone(),
            device: self.kernel.about.device.clone(),
            address: self.kernel.about.address.clone(),
            attached: link.device()?.is_some(),
            found: self.found,
            applications: self.host.as_ref().map(Host::status).into_iter().collect(),
            instances: contexts
                .filter_map(|(ctx, instances)| {
                    let instances = instances?;
                    let (open, capacity) = (instances.open, instances.capacity);
                    Some(Instances { context: ctx.name.clone(), open, capacity })
                })
                .collect(),
            rates: wanted.rates.used(&object.owned()?),
            counters: counters.into_iter().collect(),
            connections: if connections { self.kernel.connections(object)? } else { Vec::new() },
        })
    }
}

/// Takes back what a start has done that failed.
fn undone(failure: Failure, place: &Place, name: &str) -> Failure {
    place.forget(name);
    match pins::remove(&place.pins_of(name)) {
        Ok(()) => failure,
        Err(rest) => Failure::Failed(format!("{failure}; and {rest}")),
    }
}

/// Nobody can guess it: the secret key comes of it.
fn seed() -> Result<u64, Failure> {
    let mut octets = [0; 8];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut octets));
    read.map_err(|e| Failure::Missing(format!("there are no random numbers: {e}")))?;
    Ok(u64::from_ne_bytes(octets))
}
