// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick run` on this target: a program in front of the kernel's own stack on a device, until it is told to end, or an
//! application ends that uses it.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::stack::{LOOK, Stack, StackRecords, Telling};
use carrick_driver::targets::Run;
use carrick_driver::{Failure, params};
use carrick_ir::COUNTERS;
use carrick_xdp_loader::rates::Rates;
use carrick_xdp_loader::{Device, Entry, Link, Object, Refusal, advice, rates, seed};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::build;

/// What stands behind the program's name.
#[derive(Default)]
struct Words {
    device: String,
    address: u32,
    settings: Vec<String>,
    rates: Rates,
    /// for the process in which the application is; empty: there is none
    host: Vec<String>,
}

/// The options, for `carrick run --help`.
pub const OPTIONS: &str = "--port DEVICE, --addr A/LEN, --set PARAM=VALUE, --rate [UID:]RATE, --flow-rate [UID:]RATE; for an \
                           application also --app APP, --requests N, --spin, --gateway A, --seed N";

const USAGE: &str = "write `--port DEVICE --addr ADDRESS`; `--set PARAM=VALUE`, `--rate [UID:]RATE` and `--flow-rate [UID:]RATE` can be repeated; `--app APP` also takes `--requests N` and `--spin`";

fn words(args: &[String]) -> Result<Words, Failure> {
    let mut words = Words::default();
    let mut written = rates::Options::default();
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        if word == "--spin" {
            words.host.push(word.clone());
            continue;
        }
        let value = rest.next().ok_or_else(|| Failure::Usage(format!("{word} has no value; {USAGE}")))?;
        match word.as_str() {
            "--port" => words.device = device(value)?,
            "--addr" => {
                let address = carrick_driver::address::of_host(value).map_err(Failure::Usage)?;
                words.address = address.into();
                words.host.extend([word.clone(), value.clone()]);
            }
            "--rate" => written.add(value, false)?,
            "--flow-rate" => written.add(value, true)?,
            "--set" => words.settings.push(value.clone()),
            "--app" | "--requests" | "--seed" | "--gateway" => {
                words.host.extend([word.clone(), value.clone()])
            }
            _ => return Err(Failure::Usage(format!("target `xdp` has no option {word}; {USAGE}"))),
        }
    }
    words.rates = written.read()?;
    words.tell_door()?;
    if !words.host.iter().any(|word| word == "--app") {
        words.host.clear();
    }
    if words.device.is_empty() || words.address == 0 {
        return Err(Failure::Usage(format!("device or address is missing; {USAGE}")));
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
    /// Tells the door of unmodified programs' sockets whose rate is which.
    fn tell_door(&mut self) -> Result<(), Failure> {
        let door = self.host.iter_mut().find(|word| word.starts_with("sockets:"));
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
    let words = words(run.words)?;
    let Placed { device, object, link, host, end } = place(run, &words, Tracing::Off)?;
    let end = end.expect("nothing else ends it");
    let mut watch = Watch { object: &object, device: &device, said: false };
    if let Some(host) = host {
        let code = applied(host, &mut watch, &words.host, &end);
        let used = object.owned().map_err(Failure::Failed)?;
        words.rates.used(&used).iter().for_each(|of| eprintln!("{of}"));
        link.detach().map_err(Failure::Failed)?;
        return code;
    }
    // An error ends the wait as a signal does, but for one that only interrupts it.
    while matches!(poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&LOOK)), Ok(0) | Err(Errno::INTR)) {
        watch.look();
    }
    link.detach().map_err(Failure::Failed)?;
    let counters = object.counters().map_err(Failure::Failed)?;
    for (name, count) in COUNTERS.iter().zip(counters).filter(|(_, count)| *count > 0) {
        println!("{name} {count}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts a program, and the process of its application, which passes on what the program reports.
///
/// # Errors
/// As [`carrick_driver::targets::Host::run_telling`].
pub fn run_telling(run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
    let words = words(run.words)?;
    if words.host.is_empty() {
        return Err(Failure::Usage(
            "target `xdp` reports events to the process of an application: add `--app APP`".into(),
        ));
    }
    let Placed { object, link, host, .. } = place(run, &words, Tracing::On)?;
    let host = host.expect("there is an application");
    let cannot = |e: io::Error| Failure::Missing(format!("cannot hand over descriptors: {e}"));
    let port = inherited(&object).map_err(cannot)?;
    let args: Vec<String> = ["--port".to_owned(), port].into_iter().chain(words.host).collect();
    let telling = Telling { program: run.program, args: &args, changes: run.changes };
    let (mut stack, records) = Stack::start_telling(&telling, || Ok(host))?;
    stack.hold(Box::new(Attached { link: Some(link), _object: object }));
    Ok((stack, records))
}

/// A program at its device, until this is dropped.
struct Attached {
    link: Option<Link>,
    _object: Object,
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.link.take().map(Link::detach) {
            eprintln!("carrick: {error}");
        }
    }
}

/// A program at its device, and what uses it there.
struct Placed {
    /// its name
    device: String,
    object: Object,
    link: Link,
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
    let refused = |refusal: Refusal| refusal.failure(run.verbose);
    let device = Device::find(&words.device).map_err(refused)?;
    let limited = rates::limited(&program, &words.rates.limits)?;
    let compiled = build::cached_object(&limited, tracing)?;
    // Before anything is at the device: packets that come while a compiler works would find nobody.
    let applied = (!words.host.is_empty()).then(|| run.compiling(|| build::cached_host(&program, tracing)));
    let host = applied.transpose()?;
    let end = (tracing == Tracing::Off).then(told_to_end).transpose();
    let end = end.map_err(|e| Failure::Missing(format!("cannot wait for signals: {e}")))?;
    let seed = seed().map_err(Failure::Missing)?;
    let object = Object::load(&compiled.program.path, &limited, seed, words.address, device.mtu, &params);
    let object = object.map_err(refused)?;
    let who = format!("{} (process {})", program.name, std::process::id());
    let entry =
        Entry { dispatcher: &compiled.dispatcher.path, protocol: program.net_header.protocol, who: &who };
    object.set_device(device.index).map_err(Failure::Failed)?;
    let link = object.attach(&device, entry).map_err(refused)?;
    // Standard output is the application's.
    eprintln!("{} is on {}", program.name, device.name);
    Ok(Placed { device: device.name, object, link, host, end })
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
    device: &'a str,
    said: bool,
}

impl Watch<'_> {
    fn look(&mut self) {
        let counters = if self.said { Vec::new() } else { self.object.counters().unwrap_or_default() };
        if let Some(advice) = advice::on_checksums(&counters, self.device) {
            eprintln!("{advice}");
            self.said = true;
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
