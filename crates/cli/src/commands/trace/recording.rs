// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded trace in place of a run: the same is shown of it, as it is read.

use std::io::BufWriter;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::probe::Asked;
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::core::Record;
use carrick_sim::observe::Observer;
use carrick_sim::trace::CoreOf;
use carrick_sim::watch::line::{Format, HOSTS};
use carrick_sim::watch::{Spec, Watch};

use super::hosts::{Hosts, STACKS};
use super::questions::{beyond, open, refuse};
use super::spec;
use crate::args::TraceArgs;
use crate::command_line::{self, Recorder};
use crate::recorded::{self, Recorded};

/// Shows what a trace tells.
///
/// # Errors
/// [`Failure::Usage`] if an option is wrong, or the file is no trace of the program.
pub fn run(args: &TraceArgs, format: Format) -> Result<ExitCode, Failure> {
    spec::makes_sense_of_recording(args)?;
    let no_trace = || Failure::Usage(format!("{}: it is a table, not a trace", args.file.display()));
    let mut recorded = recorded::open(&args.file)?.ok_or_else(no_trace)?;
    let cores = recorded.cores()?;
    let asked = program(args, &recorded)?;
    let own = runs_it(&recorded, &asked.program, cores.len())?;
    let hosts = hosts(args, &recorded, &own)?;
    let configs = configs(&recorded, &asked.program, &cores, &own)?;
    let spec = match spec::spec(args, &asked, &[], hosts) {
        Ok(spec) => spec,
        Err(unanswered) => return refuse(unanswered),
    };
    let ended_at = show(&mut recorded, &asked.program, (&configs, &own), spec, format)?;
    if let Some(ended_at) = ended_at {
        beyond(args, ended_at, &recorded.shown)?;
    }
    recorded.cut().iter().for_each(|cut| eprintln!("carrick: {cut}"));
    Ok(ExitCode::SUCCESS)
}

/// The program of the trace, of which questions are asked.
fn program(args: &TraceArgs, recorded: &Recorded) -> Result<Asked, Failure> {
    let (path, features) = recorded.made_with(args.program.as_deref(), &args.features);
    let asked = open(&path, &features.choice()).map_err(|e| match (&args.program, e) {
        (None, Failure::Usage(why)) => {
            Failure::Usage(format!("{why}; or say with --program where the program of this run is"))
        }
        (_, e) => e,
    })?;
    match recorded.changed(&asked.program, &path) {
        // It can also be that of some hosts.
        Some(changed) if args.program.is_none() || !is_input(recorded, &asked.program) => Err(changed),
        _ => Ok(asked),
    }
}

fn is_input(recorded: &Recorded, program: &Program) -> bool {
    let hash = format!("{:016x}", program.source_hash);
    recorded.header.inputs.iter().any(|input| input.hash == hash)
}

/// By host, whether it runs the program.
fn runs_it(recorded: &Recorded, program: &Program, hosts: usize) -> Result<Vec<bool>, Failure> {
    let shown = &recorded.shown;
    let of = recorded.hosts_of(program, hosts);
    let header = &recorded.header;
    if of.is_none() && header.at.is_none() && command_line::has_different_hosts(&header.run) {
        return Err(Failure::Usage(format!(
            "{shown}: its hosts run different programs or features, and JSON lines do not say which; record it with --trace-format binary"
        )));
    }
    let of = of.unwrap_or_else(|| vec![true; hosts]);
    if of.contains(&true) {
        return Ok(of);
    }
    let file = program.file.raw();
    Err(Failure::Usage(format!(
        "{shown}: no host runs {file} with these features; say which with --program, --with and --without"
    )))
}

/// The hosts as the lines name them; those that run another program are not looked at.
fn hosts(args: &TraceArgs, recorded: &Recorded, own: &[bool]) -> Result<Hosts, Failure> {
    let named = |name: &dyn Fn(usize) -> String| (0..own.len()).map(name).collect::<Vec<_>>();
    let of = |names: [&'static str; 2]| {
        move |host: usize| names.get(host).map_or(format!("host {host}"), |name| (*name).to_owned())
    };
    let names = match (&recorded.header.at, command_line::recorder(&recorded.header.run)) {
        (Some(at), _) => vec![at.clone(); own.len()],
        (None, Recorder::TwoHosts) => named(&of(HOSTS)),
        (None, Recorder::Stack) => named(&of(STACKS)),
        (None, Recorder::Topology) => named(&|host| format!("h{host}")),
    };
    let mut hosts = Hosts::new(names, args.host.as_deref())?;
    if own.contains(&false) {
        if let Some(other) = hosts.only.iter().flatten().find(|host| !own[**host]) {
            return Err(Failure::Usage(format!(
                "--host {}: it runs another program, or other features; say which with --program, --with and --without",
                hosts.names[*other]
            )));
        }
        let all = (0..own.len()).filter(|host| own[*host]).collect();
        hosts.only.get_or_insert(all);
    }
    Ok(hosts)
}

/// How the cores were made.
fn configs(
    recorded: &Recorded,
    program: &Arc<Program>,
    cores: &[CoreOf],
    own: &[bool],
) -> Result<Vec<Config>, Failure> {
    let config = |(core, own): (&CoreOf, &bool)| match own {
        true => core.config(program),
        false => Some(Config::default()),
    };
    cores.iter().zip(own).map(config).collect::<Option<_>>().ok_or_else(|| {
        let (shown, file) = (&recorded.shown, program.file.raw());
        Failure::Usage(format!("{shown}: it sets a parameter that {file} does not have"))
    })
}

/// Shows it, and returns when its last record was; `None` if it was not read to its end.
fn show(
    recorded: &mut Recorded,
    program: &Arc<Program>,
    (configs, own): (&[Config], &[bool]),
    spec: Spec,
    format: Format,
) -> Result<Option<u64>, Failure> {
    let out = BufWriter::new(std::io::stdout().lock());
    let mut watch = Watch::new(program, configs, spec, format, out).map_err(Failure::Usage)?;
    let mut alarms = watch.alarms().into_iter().peekable();
    let mut last = (0, 0);
    let mut tell = |now: u64, host: usize, record: Option<&Record>| {
        if (now, host) != last {
            watch.settled(last.0, last.1);
        }
        while let Some(at) = alarms.next_if(|at| *at <= now) {
            (0..configs.len()).for_each(|host| watch.settled(at, host));
        }
        last = (now, host);
        if let Some(record) = record {
            watch.record(now, host, record);
        }
        !watch.enough()
    };
    let read = recorded.replay(program, own, &mut tell);
    let whole = !watch.enough();
    if read.is_ok() {
        watch.settled(last.0, last.1);
        watch.finish(last.0).map_err(Failure::Failed)?;
    }
    read.map(|()| whole.then_some(last.0))
}
