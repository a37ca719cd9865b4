//! `carrickd run`

use std::fs;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use carrick_driver::Failure;
use carrick_kernel::{machine, pins};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::config::{self, Config};
use crate::control::Question;
use crate::place::{Place, refused};
use crate::service::{Prepared, Service};
use crate::status::Status;
use crate::{Run, control, log, metrics, notify};

/// How often programs are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Brings all programs into the kernel and keeps them there until a signal comes.
pub fn run(args: &Run, place: &Place) -> Result<(), Failure> {
    log::set(args.log);
    let mut config = config::read(&args.config)?;
    machine::suits().map_err(|refusal| refused(refusal, args.verbose))?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])
        .map_err(|e: io::Error| Failure::Missing(format!("cannot wait for signals: {e}")))?;
    let prepared = config.programs.drain(..).map(Prepared::new).collect::<Result<Vec<_>, _>>()?;
    let held = place.hold()?;
    let done = start(prepared, place, args.verbose).and_then(|services| {
        let services = Arc::new(services);
        let done = tell(&services, &config, place).map(|()| signals.forever().next());
        end(&services, place, matches!(done, Ok(Some(SIGUSR1))))?;
        done.map(|_| ())
    });
    held.leave();
    done
}

/// All programs, or none that was not there before.
fn start(prepared: Vec<Prepared>, place: &Place, verbose: bool) -> Result<Vec<Service>, Failure> {
    let mut services: Vec<Service> = Vec::new();
    for prepared in prepared {
        match prepared.start(place, verbose) {
            Ok(service) => services.push(service),
            Err(failure) => {
                for service in services.iter().filter(|service| !service.found()) {
                    service.stop(place)?;
                }
                return Err(failure);
            }
        }
    }
    Ok(services)
}

/// Begins to answer those who ask.
fn tell(services: &Arc<Vec<Service>>, config: &Config, place: &Place) -> Result<(), Failure> {
    let of = services.clone();
    let source = move |connections: bool| {
        let programs = of.iter().map(|service| service.status(connections)).collect::<Result<Vec<_>, _>>()?;
        Ok(Status { version: env!("CARGO_PKG_VERSION").into(), process: std::process::id(), programs })
    };
    let of = source.clone();
    control::listen(
        &place.socket(),
        Arc::new(move |question| {
            let told = of(question == Question::Connections)
                .and_then(|status| serde_json::to_string_pretty(&status).map_err(|e| e.to_string()));
            told.unwrap_or_else(|e| e) + "\n"
        }),
    )?;
    if let Some(port) = config.metrics {
        let port = metrics::listen(port, Arc::new(move || source(false)))?;
        log::info(&format!("metrics are at http://127.0.0.1:{port}/metrics"));
    }
    let known = services.iter().map(Service::name).collect::<Vec<_>>();
    for name in
        pins::list(&place.pins).map_err(Failure::Failed)?.iter().filter(|n| !known.contains(&n.as_str()))
    {
        log::warn(&format!(
            "{name} is pinned and not wanted; stop carrickd and `carrickd clean {name}` takes it away"
        ));
    }
    let watched = services.clone();
    thread::spawn(move || watch(&watched));
    log::info("ready");
    notify::say("READY=1");
    Ok(())
}

/// Says of each program once what a person should hear.
fn watch(services: &[Service]) {
    let mut silent: Vec<&Service> = services.iter().collect();
    while !silent.is_empty() {
        thread::sleep(LOOK);
        silent.retain(|service| match service.advice() {
            Some(advice) => {
                log::warn(&advice);
                false
            }
            None => true,
        });
    }
}

/// Takes all back; or nothing, for the next daemon.
fn end(services: &[Service], place: &Place, keep: bool) -> Result<(), Failure> {
    notify::say("STOPPING=1");
    // If it is gone, it need not be removed.
    let _ = fs::remove_file(place.socket());
    if keep {
        log::info("all stays in the kernel for the next carrickd");
        return Ok(());
    }
    // One that stays is no reason to leave the others.
    let stopped: Vec<_> = services.iter().map(|service| service.stop(place)).collect();
    stopped.into_iter().collect()
}
