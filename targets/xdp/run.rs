// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick run` on this target: a program in front of the kernel's own stack on a device, until it is told to end, or an
//! application ends that uses it.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::stack::{LOOK, Stack, StackRecords, Telling};
use carrick_driver::targets::Run;
use carrick_driver::{Failure, address, params, progress, written};
use carrick_ir::{COUNTERS, Program};
use carrick_xdp_loader::middlebox::INTERFACES;
use carrick_xdp_loader::rates::Rates;
use carrick_xdp_loader::{Device, Entry, Link, LoadError, Object, Traffic, Whole, advice, rates, seed};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::build;

/// What stands behind the program's name.
#[derive(Default)]
struct Words {
    /// one, or those of a program in the network
    devices: Vec<String>,
    address: u128,
    /// of its network; 0: it has none
    broadcast: u32,
    settings: Vec<String>,
    rates: Rates,
    /// for the process of the application, or of a program in the network; `None`: there is none
    host: Option<Vec<String>>,
}

/// The options, for `carrick run --help`.
pub const OPTIONS: &str = "--port DEVICE (a program in the network: for each of its interfaces, and no --addr; with the interface `offload`, --app offload:SETTINGS), --addr A/LEN, --set PARAM=VALUE, --rate [UID:]RATE, --flow-rate [UID:]RATE; for an \
                           application also --app APP, --requests N, --spin, --gateway A, --seed N";

const USAGE: &str = "write `--port DEVICE --addr ADDRESS`; `--set PARAM=VALUE`, `--rate [UID:]RATE` and `--flow-rate [UID:]RATE` can be repeated; `--app APP` also takes `--requests N` and `--spin`";

fn words(args: &[String], program: &Program) -> Result<Words, Failure> {
    let mut words = Words::default();
    let mut host = Vec::new();
    let mut written = rates::Options::default();
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        if word == "--spin" {
            host.push(word.clone());
            continue;
        }
        let value = rest.next().ok_or_else(|| Failure::Usage(format!("{word} has no value; {USAGE}")))?;
        match word.as_str() {
            "--port" => words.devices.push(device(value)?),
            "--addr" => {
                let address = address::of_host(value, program.net_header.layer).map_err(Failure::Usage)?;
                words.address = address::number(address);
                words.broadcast = address::broadcast(value, program.net_header.layer);
                host.extend([word.clone(), value.clone()]);
            }
            "--rate" => written.add(value, false)?,
            "--flow-rate" => written.add(value, true)?,
            "--set" => words.settings.push(value.clone()),
            "--app" | "--requests" | "--seed" | "--gateway" => host.extend([word.clone(), value.clone()]),
            _ => return Err(Failure::Usage(format!("target `xdp` has no option {word}; {USAGE}"))),
        }
    }
    words.rates = written.read()?;
    if program.in_network.is_some() {
        words.middlebox(host, program)?;
        return Ok(words);
    }
    words.tell_door(&mut host)?;
    words.host = host.iter().any(|word| word == "--app").then_some(host);
    if words.devices.is_empty() || words.address == 0 {
        return Err(Failure::Usage(format!("device or address is missing; {USAGE}")));
    }
    if words.devices.len() > 1 {
        return Err(Failure::Usage(
            "only a program in the network (`register_role`) has several interfaces; write `--port` once"
                .into(),
        ));
    }
    Ok(words)
}

/// The name of a device; ports of other targets have a kind before it.
fn device(port: &str) -> Result<String, Failure> {
    match port.split_once(':') {
        Some((kind, device)) if !device.is_empty() => Err(Failure::Usage(format!(
            "target `xdp` takes the name of a device without `{kind}:`; write `--port {device}`"
        ))),
        _ => Ok(port.to_owned()),
    }
}

impl Words {
    /// What fits a program in the network, which has a process for its timers, and for the application of an offload.
    fn middlebox(&mut self, host: Vec<String>, program: &Program) -> Result<(), Failure> {
        let wrong = |what: &str| Err(Failure::Usage(format!("the program is one in the network: {what}")));
        if !(2..=INTERFACES).contains(&self.devices.len()) {
            return wrong(&format!(
                "write `--port DEVICE` for each of its interfaces, two to {INTERFACES} times"
            ));
        }
        let twice = |n: &usize| self.devices[..*n].contains(&self.devices[*n]);
        if let Some(twice) = (0..self.devices.len()).find(twice) {
            return wrong(&format!(
                "each interface is a device of its own; `{}` is given twice",
                self.devices[twice]
            ));
        }
        let says = |option: &str| host.iter().any(|word| word == option);
        if self.address != 0 || self.rates.limits.any() || says("--gateway") {
            return wrong(
                "it has no address and no users; leave out `--addr`, `--gateway`, `--rate` and `--flow-rate`",
            );
        }
        let offloads = program.interface.as_ref().is_some_and(|interface| interface.name == "offload");
        if says("--app") && !offloads {
            return wrong("it has no application, since its interface is not `offload`; leave out `--app`");
        }
        self.host = Some(host);
        Ok(())
    }

    /// Tells the door of unmodified programs' sockets whose rate is which.
    fn tell_door(&self, host: &mut [String]) -> Result<(), Failure> {
        let door = host.iter_mut().find(|word| word.starts_with("sockets:"));
        match door {
            Some(door) => door.push_str(&self.rates.rules()),
            None if self.rates.users.is_empty() => {}
            None => {
                return Err(Failure::Usage(
                    "rates of users need an application that can distinguish users: use `--app sockets:PATH`"
                        .into(),
                ));
            }
        }
        Ok(())
    }
}

/// Runs a program until it is told to end, or its application ends.
///
/// # Errors
/// As [`carrick_driver::targets::Host::run`].
pub fn run(run: &Run<'_>) -> Result<ExitCode, Failure> {
    let words = words(run.words, run.program)?;
    let Placed { device, object, link, host, end } = place(run, &words, Tracing::Off)?;
    let end = end.expect("nothing else ends it");
    let mut watch =
        Watch { object: &object, link: &link, device: &device, broadcast: words.broadcast, said: false };
    if let (Some(host), Some(args)) = (host, &words.host) {
        let code = applied(host, &mut watch, args, &end);
        let used = object.owned().map_err(Failure::Failed)?;
        words.rates.used(&used).iter().for_each(written::tell);
        link.detach().map_err(Failure::Failed)?;
        return code;
    }
    // An error ends the wait as a signal does, but for one that only interrupts it.
    let mut seen = Ok(());
    while seen.is_ok()
        && matches!(poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&LOOK)), Ok(0) | Err(Errno::INTR))
    {
        seen = watch.look();
    }
    link.detach().map_err(Failure::Failed)?;
    let counters = object.counters().map_err(Failure::Failed)?;
    for (name, count) in COUNTERS.iter().zip(counters).filter(|(_, count)| *count > 0) {
        println!("{name} {count}");
    }
    seen.map(|()| ExitCode::SUCCESS)
}

/// Starts a program, and the process of its application, which passes on what the program reports.
///
/// # Errors
/// As [`carrick_driver::targets::Host::run_telling`].
pub fn run_telling(run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
    let words = words(run.words, run.program)?;
    let Some(of_host) = words.host.clone() else {
        return Err(Failure::Usage(
            "target `xdp` reports events to the process of an application: add `--app APP`".into(),
        ));
    };
    let Placed { object, link, host, .. } = place(run, &words, Tracing::On)?;
    let host = host.expect("there is an application");
    let cannot = |e: io::Error| Failure::Missing(format!("cannot hand over descriptors: {e}"));
    let port = inherited(&object).map_err(cannot)?;
    let args: Vec<String> = ["--port".to_owned(), port].into_iter().chain(of_host).collect();
    let telling = Telling { program: run.program, args: &args, env: &[], changes: run.changes };
    let (mut stack, records) = Stack::start_telling(&telling, || Ok(host))?;
    stack.hold(Box::new(Attached { link: Some(link), _object: object }));
    Ok((stack, records))
}

/// A program at its device, until this is dropped.
struct Attached {
    link: Option<Linked>,
    _object: Object,
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.link.take().map(Linked::detach) {
            written::tell(format_args!("carrick: {error}"));
        }
    }
}

/// A program at one device beside others, or alone at several.
enum Linked {
    Beside(Link),
    Between(Vec<Whole>),
}

impl Linked {
    /// Whether all its devices are there.
    fn is_attached(&self) -> Result<bool, String> {
        match self {
            Linked::Beside(link) => Ok(link.device()?.is_some()),
            Linked::Between(links) => links.iter().try_fold(true, |all, link| Ok(all && link.is_attached()?)),
        }
    }

    fn detach(self) -> Result<(), String> {
        match self {
            Linked::Beside(link) => link.detach(),
            Linked::Between(links) => {
                drop(links);
                Ok(())
            }
        }
    }
}

/// A program at its device, and what uses it there.
struct Placed {
    /// its name
    device: String,
    object: Object,
    link: Linked,
    /// of the application, if there is one
    host: Option<Built>,
    /// has something to read once this process is told to end; a traced program ends as this process does
    end: Option<UnixStream>,
}

/// Loads and attaches a program.
fn place(run: &Run<'_>, words: &Words, tracing: Tracing) -> Result<Placed, Failure> {
    let mut program = run.program.clone();
    let params = params::values(&program, &words.settings)?;
    params::build_in(&mut program, &params);
    let refused = |refusal: LoadError| refusal.failure(run.verbose);
    let devices = words.devices.iter().map(|name| Device::find(name)).collect::<Result<Vec<_>, _>>();
    let devices = devices.map_err(refused)?;
    let mtu = devices.iter().map(|device| device.mtu).min().unwrap_or(0);
    let limited = rates::limited(&program, &words.rates.limits)?;
    let compiled = build::cached_object(&limited, tracing)?;
    // Before anything is at the device: packets that come while a compiler works would find nobody.
    let applied = words.host.is_some().then(|| build::cached_host(&program, tracing));
    let host = applied.transpose()?;
    let end = (tracing == Tracing::Off).then(told_to_end).transpose();
    let end = end.map_err(|e| Failure::Missing(format!("cannot wait for signals: {e}")))?;
    let seed = seed().map_err(Failure::Missing)?;
    let loading = progress::step(&format!("loading {} into the kernel", program.name));
    let object = Object::load(&compiled.program.path, &limited, seed, words.address, mtu, &params);
    let object = object.map_err(refused)?;
    let names = words.devices.join(" and ");
    let link = link(&program, &object, &devices, words.broadcast, &compiled.dispatcher.path);
    let link = link.map_err(refused)?;
    drop(loading);
    // Standard output is the application's.
    let is = if devices.len() > 1 { "between" } else { "on" };
    eprintln!("{} is {is} {names}", program.name);
    Ok(Placed { device: names, object, link, host, end })
}

/// Puts a program where its devices give it their packets.
fn link(
    program: &Program,
    object: &Object,
    devices: &[Device],
    broadcast: u32,
    dispatcher: &Path,
) -> Result<Linked, LoadError> {
    if program.in_network.is_some() {
        object.set_interfaces(devices).map_err(LoadError::Failed)?;
        return object.attach_between(devices).map(Linked::Between);
    }
    let who = format!("{} (process {})", program.name, std::process::id());
    let entry = Entry { dispatcher, traffic: Traffic::of(program), who: &who, life: None };
    let device = &devices[0];
    object.set_device(device.index).map_err(LoadError::Failed)?;
    object.set_link(device.mac, broadcast).map_err(LoadError::Failed)?;
    object.attach(device, entry).map(Linked::Beside)
}

/// The word by which a process that is started finds the maps and programs, which it inherits.
fn inherited(object: &Object) -> io::Result<String> {
    let mut maps = Vec::new();
    for (name, fd) in object.descriptors() {
        fcntl_setfd(fd, FdFlags::empty())?;
        maps.push(format!("{name}={}", fd.as_raw_fd()));
    }
    Ok(format!("kernel:{}", maps.join(",")))
}

/// What a person should hear while the program is at its device, not at its end.
struct Watch<'a> {
    object: &'a Object,
    link: &'a Linked,
    device: &'a str,
    broadcast: u32,
    said: bool,
}

impl Watch<'_> {
    /// The error is that nothing comes to the program any more.
    fn look(&mut self) -> Result<(), Failure> {
        let counters = if self.said { Vec::new() } else { self.object.counters().unwrap_or_default() };
        if let Some(advice) = advice::on_checksums(&counters, self.device) {
            written::tell(advice);
            self.said = true;
        }
        if self.link.is_attached().map_err(Failure::Failed)? {
            return self.look_at_address();
        }
        Err(Failure::Missing(format!("{} is gone; the program receives no packets any more", self.device)))
    }
}

impl Watch<'_> {
    /// Its device may have another hardware address by now. (A program in the network takes the frames of all.)
    fn look_at_address(&self) -> Result<(), Failure> {
        match (self.link, Device::find(self.device)) {
            (Linked::Beside(_), Ok(device)) => {
                self.object.set_link(device.mac, self.broadcast).map_err(Failure::Failed)
            }
            _ => Ok(()),
        }
    }
}

/// Runs an application that uses the program, until it ends or is told to.
fn applied(
    host: Built,
    watch: &mut Watch<'_>,
    args: &[String],
    end: &UnixStream,
) -> Result<ExitCode, Failure> {
    let object = watch.object;
    let stack =
        Stack::start(host, |command| command.arg("--port").arg(inherited(object)?).args(args).spawn())?;
    stack.wait_or_end(end, || watch.look())
}

/// Has something to read once a signal comes that ends programs.
fn told_to_end() -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    pipe::register(SIGINT, writer.try_clone()?)?;
    pipe::register(SIGTERM, writer)?;
    Ok(reader)
}
