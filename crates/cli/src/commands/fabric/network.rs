// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network of many hosts, and one run in it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_ir::Program;
use carrick_sim::fabric::results::Results;
use carrick_sim::fabric::{self, HostPrograms, Placed, ProgramResult, Setup};
use carrick_sim::globals::Globals;
use carrick_sim::metrics::Metrics;
use carrick_sim::observe::{All, Observer};
use carrick_sim::pcapng::Pcapng;
use carrick_sim::samples::Samples;
use carrick_sim::trace::Head;

use super::args::FabricArgs;
use super::calls;
use super::finished::{ByProgram, Run, Sender};
use super::hosts::Hosts;
use super::programs::Programs;
use super::runs::{Asked, Runs};
use crate::args::SimArgs;
use crate::commands::traced::Traced;
use crate::load::Builds;
use crate::manifest::Manifest;
use crate::output::{self, create, create_file};

/// What all runs of a command have in common.
pub struct Network {
    program: Arc<Program>,
    setup: Setup,
    hosts: Hosts,
    programs: Programs,
    pub runs: Runs,
    tracing: Tracing,
}

impl Network {
    /// The topology of this name, with what the command line says of it.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the command line asks for what there is not, [`Failure::Failed`] if a program has errors.
    pub fn of(
        args: &SimArgs,
        program: &Arc<Program>,
        name: &str,
        builds: &Builds,
    ) -> Result<Network, Failure> {
        let fabric = &args.fabric;
        if args.way.via.is_some() {
            return Err(Failure::Usage(
                "a program --via stands between two hosts; in a --topology, place it with --at s0=PROGRAM"
                    .into(),
            ));
        }
        let (mut setup, in_file) = fabric.setup(name, &args.scenario, &args.link_faults)?;
        setup.stop = builds.stop.clone();
        let hosts = Hosts::of(&args.source, fabric, &setup.topology, builds)?;
        let runs = Runs::of(&hosts.variants(), &args.set, (setup.seed, fabric.seeds), fabric.shard)?;
        runs.combinations().try_for_each(|asked| hosts.check(asked))?;
        let programs = Programs::of(program, fabric, &setup.topology, in_file, builds)?;
        Ok(Network { program: program.clone(), setup, hosts, programs, runs, tracing: args.tracing() })
    }

    /// The programs beside that of the command: in the network, and at hosts.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().chain(self.hosts.other_programs())
    }

    /// Makes a run. Its trace and its capture carry the manifest.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it asks for what there is not, [`Failure::Failed`] if a file cannot be written.
    pub fn one(&self, args: &SimArgs, manifest: Option<&Manifest>, asked: Asked) -> Result<Run, Failure> {
        let (hosts, fabric) = (&self.hosts, &args.fabric);
        let host_engines = hosts.engines(asked.variant)?;
        let at_hosts = hosts.at(&asked, &host_engines)?;
        if args.scenario.message.is_some() && at_hosts.carry_streams() {
            let why = "the programs of all hosts carry streams of bytes; say --sizes";
            return Err(Failure::Usage(format!("--message says nothing: {why}")));
        }
        let program_of = |host| &**hosts.program(host, asked.variant);
        let calls = calls::all(&fabric.call, fabric.calls.as_deref(), &program_of, &self.setup.topology)?;
        let features = hosts.features(asked.variant);
        let setup = Setup { seed: asked.seed, calls, features, ..self.setup.clone() };
        let engines = self.programs.engines()?;
        let placed = self.programs.placed(&engines);
        let mut pcap = create(args.pcap.as_deref())?
            .zip(manifest)
            .map(|(file, manifest)| Pcapng::new(file, program_of(0), 0, &manifest.to_string()));
        let traced = args.trace.as_deref().zip(manifest);
        let begun = |traced| self.trace(args, traced, &asked, &setup, &at_hosts, &placed);
        let mut trace = traced.map(begun).transpose()?;
        let mut samples = self.samples(fabric, asked.variant)?;
        let mut metrics = Metrics::default();
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(pcap.as_mut().map(|p| p as &mut dyn Observer));
        observers.extend(trace.as_mut().map(Traced::observer));
        observers.extend(samples.as_mut().map(|samples| samples as &mut dyn Observer));
        let mut globals = Globals::new(self.programs.iter());
        let measured = !args.fast;
        if measured {
            observers.push(&mut metrics);
            observers.push(&mut globals);
        }
        let mut all = All(observers);
        let watched = self.tracing == Tracing::On || args.pcap.is_some();
        let observer = watched.then_some(&mut all as &mut dyn Observer);
        let results = fabric::run_through(&at_hosts, &setup, &placed, observer).map_err(Failure::Usage)?;
        output::written(args.pcap.as_deref(), pcap.map_or(Ok(()), Pcapng::finish))?;
        output::written(args.trace.as_deref(), trace.map_or(Ok(()), Traced::finish))?;
        let of = |(station, program)| globals.of(station, program);
        let globals = self.programs.iter().enumerate().map(of).collect();
        let (retransmitted, rtt_ns) = (measured.then_some(metrics.retransmitted_packets()), metrics.rtt());
        let sends = results.sends();
        let about = |host: u32, line: &mut String| {
            line.push_str(&format!(",{}", sends[host as usize]));
            results.about_host(host, line);
        };
        let columns = format!(",sends{}", results.host_columns());
        let samples = samples.map_or(String::new(), |samples| samples.csv(&columns, about));
        let senders = senders(hosts, &results);
        let by_host = measured.then_some(metrics.retransmitted_by);
        let programs = by_program(&results, by_host.as_ref());
        Ok(Run { asked, results, retransmitted, rtt_ns, globals, samples, senders, programs })
    }

    /// Begins the trace of a run: of the hosts, or of one program in the network.
    fn trace(
        &self,
        args: &SimArgs,
        (file, manifest): (&Path, &Manifest),
        asked: &Asked,
        setup: &Setup,
        at_hosts: &HostPrograms<'_>,
        placed: &[Placed<'_>],
    ) -> Result<Traced, Failure> {
        let at = args.trace_at.as_deref();
        let inside = at.map(|at| self.programs.find(at, &setup.topology)).transpose()?;
        let (form, seed, file) = (args.trace_format.into(), asked.seed, create_file(file)?);
        if let Some((station, program)) = inside {
            let cores = [fabric::station_config(setup, &placed[station])];
            let head = Head { cores: &cores, at, ..Head::new(program, seed, "") };
            return Ok(Traced::new(manifest.trace(form, file, &head), Some(station)));
        }
        let hosts = self.hosts.programs(asked.variant);
        let nodes = 0..setup.topology.hosts;
        let cores: Vec<_> = nodes.map(|host| fabric::host_config(setup, at_hosts, host)).collect();
        let head = Head { hosts: &hosts, cores: &cores, ..Head::new(&self.program, seed, "") };
        Ok(Traced::new(manifest.trace(form, file, &head), None))
    }

    /// The observer of `--samples`.
    fn samples(&self, fabric: &FabricArgs, variant: usize) -> Result<Option<Samples>, Failure> {
        let Some(field) = &fabric.sample else { return Ok(None) };
        let programs = self.hosts.programs(variant);
        Samples::new(&programs, field, fabric.interval()?).map(Some).map_err(Failure::Usage)
    }
}

/// By program, what came of its flows; `retransmitted` has the packets of each host that were sent again.
fn by_program(results: &Results, retransmitted: Option<&BTreeMap<usize, u64>>) -> Vec<ByProgram> {
    let of = |result: ProgramResult| {
        let own = |all: &BTreeMap<usize, u64>| {
            result.hosts.iter().filter_map(|host| all.get(&(*host as usize))).sum()
        };
        ByProgram { retransmitted: retransmitted.map(own), result }
    };
    results.programs().into_iter().map(of).collect()
}

/// By `--host-with`, what its hosts sent.
fn senders(hosts: &Hosts, results: &Results) -> Vec<Sender> {
    let of = |(shown, named, features): (&str, &RangeInclusive<u32>, String)| Sender {
        hosts: shown.to_owned(),
        features,
        goodput_bps: results.goodput_of_bps(|host| named.contains(&host)),
    };
    hosts.named().map(of).collect()
}
