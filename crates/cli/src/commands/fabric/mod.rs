// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick sim --topology`: networks of many hosts.

mod args;
mod calls;
mod file;
mod finished;
mod hosts;
mod offload;
mod programs;
mod runs;
mod show;

use std::io::Write;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_ir::Program;
use carrick_sim::fabric::results::Results;
use carrick_sim::fabric::{self, Setup};
use carrick_sim::globals::Globals;
use carrick_sim::metrics::Metrics;
use carrick_sim::observe::{All, Observer};
use carrick_sim::pcapng::Pcapng;
use carrick_sim::samples::Samples;

pub use args::FabricArgs;
use finished::{Run, Sender};
use hosts::{Hosts, Usual};
use programs::Programs;
pub use programs::files;
pub use runs::Shard;
use runs::{Asked, Runs};
pub use show::{RUN, state_lines};

use super::plot;
use super::traced::Traced;
use crate::args::SimArgs;
use crate::manifest::Manifest;
use crate::output::{self, Format, create};

/// Simulates the topology of this name.
pub fn run(args: &SimArgs, program: &Arc<Program>, name: &str) -> Result<ExitCode, Failure> {
    let fabric = &args.fabric;
    let (setup, in_file) = fabric.setup(name, &args.scenario)?;
    let watched = !args.fast || args.trace.is_some() || fabric.sample.is_some();
    let tracing = if watched { Tracing::On } else { Tracing::Off };
    let usual = Usual {
        file: &args.source.file,
        choice: args.source.features.choice(),
        with: &args.source.features.with,
        program,
    };
    let hosts = Hosts::of(&usual, fabric, &setup.topology, args.compiled.then_some(tracing))?;
    let runs = Runs::of(&hosts.variants(), &args.set, (setup.seed, fabric.seeds), fabric.shard)?;
    runs.combinations().try_for_each(|asked| hosts.check(asked))?;
    if (runs.count() != 1 || fabric.shard.is_some()) && (args.pcap.is_some() || args.trace.is_some()) {
        return Err(Failure::Usage(
            "a trace or a capture is of one run: leave out --seeds, --shard, --or-with and further values of --set"
                .into(),
        ));
    }
    if args.way.via.is_some() {
        return Err(Failure::Usage(
            "a program --via stands between two hosts; in a --topology, place it with --at s0=PROGRAM".into(),
        ));
    }
    let programs = Programs::of(program, fabric, &setup.topology, in_file, args.compiled.then_some(tracing))?;
    let shard = fabric.shard.map(|shard| format!("{shard} of {}", runs.total));
    let manifest = Manifest { shard, ..Manifest::of(args, program, programs.iter())? };
    let work = Work {
        args,
        program,
        setup: &setup,
        hosts: &hosts,
        programs: &programs,
        runs: &runs,
        manifest: &manifest,
        tracing,
    };
    let mut files = Vec::new();
    for (path, _, table) in tables(fabric) {
        files.extend(create(path.as_deref())?.map(|file| (path, file, table)));
    }
    if let Some(folder) = &fabric.plot {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::Usage(format!("cannot make {}: {e}", folder.display())))?;
    }
    let begin = Instant::now();
    let done = work.all()?;
    let took = begin.elapsed();
    let mut kept = Ok(());
    for (path, mut file, table) in files {
        let text = show::csv(&done, &runs, &manifest, table);
        let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
        kept = kept.and(output::written(path.as_deref(), written));
    }
    if let Some(folder) = &fabric.plot {
        let drawn = tables(fabric).into_iter().filter(|(_, drawn, _)| *drawn);
        let drawn: Vec<_> = drawn.map(|(_, _, table)| show::csv(&done, &runs, &manifest, table)).collect();
        plot::all(folder, &drawn, &plot::label(Path::new(program.file.raw())))?;
    }
    match args.format {
        Format::Json => output::json(&show::json(&done, &runs.varied, &manifest)),
        Format::Pretty => show::pretty(&done, &runs.varied, took),
    }
    kept?;
    Ok(ExitCode::from(u8::from(done.iter().any(|run| !run.results.failures().is_empty()))))
}

/// A table of a run.
type Table = fn(&Run) -> String;

/// All tables, each with the file that is wanted, and whether `--plot` draws it.
fn tables(fabric: &FabricArgs) -> [(&Option<PathBuf>, bool, Table); 4] {
    [
        (&fabric.csv, true, |run| run.results.csv()),
        (&fabric.timeline, true, |run| run.results.timeline_csv()),
        (&fabric.rates, fabric.rates.is_some(), |run| run.results.rates_csv()),
        (&fabric.samples, fabric.sample.is_some(), |run| run.samples.clone()),
    ]
}

struct Work<'a> {
    args: &'a SimArgs,
    program: &'a Arc<Program>,
    setup: &'a Setup,
    hosts: &'a Hosts,
    programs: &'a Programs,
    runs: &'a Runs,
    manifest: &'a Manifest,
    tracing: Tracing,
}

impl Work<'_> {
    /// Every run, in their order, whoever makes it.
    fn all(&self) -> Result<Vec<Run>, Failure> {
        let count = self.runs.count();
        let bar = if count > 1 {
            output::progress_bar(count, "simulating")
        } else {
            output::progress("simulating")
        };
        let next = AtomicU64::new(0);
        let mut done: Vec<(u64, Result<Run, Failure>)> = std::thread::scope(|scope| {
            let worker = || {
                let mut done = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return done;
                    }
                    done.push((number, self.one(self.runs.get(number))));
                    bar.inc(1);
                }
            };
            let jobs = self.args.fabric.jobs.clamp(1, count.clamp(1, 1024) as usize);
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().flat_map(|w| w.join().unwrap_or_else(|e| resume_unwind(e))).collect()
        });
        bar.finish_and_clear();
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, run)| run).collect()
    }

    fn one(&self, asked: Asked) -> Result<Run, Failure> {
        let (hosts, fabric) = (self.hosts, &self.args.fabric);
        let host_engines = hosts.engines(asked.variant)?;
        let at_hosts = hosts.at(&asked, &host_engines)?;
        let program_of = |host| &**hosts.program(host, asked.variant);
        let calls = calls::all(&fabric.call, fabric.calls.as_deref(), &program_of, &self.setup.topology)?;
        let features = hosts.features(asked.variant);
        let setup = Setup { seed: asked.seed, calls, features, ..self.setup.clone() };
        let manifest = self.manifest.to_string();
        let mut pcap = create(self.args.pcap.as_deref())?.map(|f| Pcapng::new(f, self.program, 0, &manifest));
        let inside =
            self.args.trace_at.as_deref().map(|at| self.programs.find(at, &setup.topology)).transpose()?;
        let mut trace = create(self.args.trace.as_deref())?.map(|file| {
            let traced = inside.map_or(self.program, |(_, program)| program);
            let lines = self.manifest.trace(file, traced, asked.seed, self.args.trace_at.as_deref());
            let lines = if inside.is_none() { lines.of_hosts(hosts.programs(asked.variant)) } else { lines };
            Traced::new(lines, inside.map(|(station, _)| station))
        });
        let mut samples = self.samples(asked.variant)?;
        let mut metrics = Metrics::default();
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(pcap.as_mut().map(|p| p as &mut dyn Observer));
        observers.extend(trace.as_mut().map(Traced::observer));
        observers.extend(samples.as_mut().map(|samples| samples as &mut dyn Observer));
        let mut globals = Globals::new(self.programs.iter());
        let measured = !self.args.fast;
        if measured {
            observers.push(&mut metrics);
            observers.push(&mut globals);
        }
        let mut all = All(observers);
        let watched = self.tracing == Tracing::On || self.args.pcap.is_some();
        let observer = watched.then_some(&mut all as &mut dyn Observer);
        let engines = self.programs.engines()?;
        let placed = self.programs.placed(&engines);
        let results = fabric::run_through(&at_hosts, &setup, &placed, observer).map_err(Failure::Usage)?;
        output::written(self.args.pcap.as_deref(), pcap.map_or(Ok(()), Pcapng::finish))?;
        output::written(self.args.trace.as_deref(), trace.map_or(Ok(()), Traced::finish))?;
        let of = |(station, program)| globals.of(station, program);
        let globals = self.programs.iter().enumerate().map(of).collect();
        let retransmitted = measured.then_some(metrics.retransmitted_packets);
        let samples = samples.map_or(String::new(), |samples| samples.csv(&results.features));
        let senders = senders(hosts, &results);
        Ok(Run { asked, results, retransmitted, globals, samples, senders })
    }

    /// The observer of `--samples`.
    fn samples(&self, variant: usize) -> Result<Option<Samples>, Failure> {
        let fabric = &self.args.fabric;
        let Some(field) = &fabric.sample else { return Ok(None) };
        let programs = self.hosts.programs(variant);
        Samples::new(programs, field, fabric.interval()?).map(Some).map_err(Failure::Usage)
    }
}

/// By `--host-with`, what its hosts sent.
fn senders(hosts: &Hosts, results: &Results) -> Vec<Sender> {
    let of = |(shown, named, features): (&str, &RangeInclusive<u32>, &str)| Sender {
        hosts: shown.to_owned(),
        features: features.to_owned(),
        goodput_bps: results.goodput_of_bps(|host| named.contains(&host)),
    };
    hosts.named().map(of).collect()
}
