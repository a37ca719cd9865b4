// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick trace`

mod hosts;
mod load_error;
mod questions;
mod recording;
mod session;
mod spec;

use std::io::{BufWriter, LineWriter};
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::cc::Tracing;
use carrick_driver::probe::Asked;
use carrick_driver::targets::{self, Targets};
use carrick_driver::{Failure, live_change};
use carrick_ir::Program;
use carrick_sim::observe::{Inside, Observer};
use carrick_sim::watch::{Spec, Watch, line};

use super::scenario::{Between, configs};
use crate::args::TraceArgs;
use crate::load::{Build, Builds, choice_between};
use crate::output::Format;
use crate::trace_file::is_trace;
use hosts::{Hosts, VIA};
use questions::{beyond, open, refuse};

pub fn run(args: &TraceArgs, targets: Targets) -> Result<ExitCode, Failure> {
    let format = match args.format {
        Format::Json => line::Format::Json,
        Format::Pretty => line::Format::Pretty,
    };
    if is_trace(&args.file) {
        return recording::run(args, format);
    }
    let asked = open(&args.file, &args.features.choice())?;
    let (changes, settings) = spec::changes_and_settings(&args.set);
    if !args.breaks.is_empty() {
        if let Some(change) = changes.first() {
            let text = format!("`{change}`: where a run stops, `set` changes contexts; leave out --set");
            return Err(Failure::Usage(text));
        }
        return session::run(args, asked, &settings).or_else(refuse);
    }
    let inside = match (args.host.as_deref(), &args.way.via) {
        (Some(VIA), Some(file)) => Some(open(file, &choice_between(&asked.program))?),
        (Some(VIA), None) => {
            return Err(Failure::Usage("--host via: say which program with --via PROGRAM".into()));
        }
        _ => None,
    };
    spec::makes_sense(args, &changes)?;
    let hosts = Hosts::of_run(args)?;
    let spec = match spec::spec(args, inside.as_ref().unwrap_or(&asked), &changes, hosts) {
        Ok(spec) => spec,
        Err(unanswered) => return refuse(unanswered),
    };
    let Asked { program, .. } = &asked;
    if !args.run.is_empty() {
        return on_device(targets, program, args, spec, format);
    }
    let scenario = args.scenario.scenario(program, &args.link_faults, &settings)?;
    let compiled = args.compiled.then_some(Tracing::On);
    let build = Build::of(program.clone(), compiled)?;
    let engine = build.engine()?;
    let between = args.way.between(program, &Builds::new(compiled))?;
    let way = between.as_ref().map(Between::way);
    let out = BufWriter::new(std::io::stdout().lock());
    let configs = configs(program, way.as_ref().filter(|_| inside.is_some()), &scenario);
    let watched = inside.as_ref().map_or(program, |inside| &inside.program);
    let watch = Watch::new(watched, &configs, spec, format, out).map_err(Failure::Usage)?;
    let mut watch = Inside { station: 0, observer: watch };
    let observer: &mut dyn Observer = if inside.is_some() { &mut watch } else { &mut watch.observer };
    let report = carrick_sim::run_through(program, &engine, way.as_ref(), &scenario, observer, true)
        .map_err(Failure::Usage)?;
    let watch = watch.observer;
    let whole = !watch.cut_short();
    watch.finish(report.ended_at).map_err(Failure::Failed)?;
    if whole {
        beyond(args, report.ended_at, "the run")?;
        report.failures.iter().for_each(|failure| eprintln!("the run: {failure}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks at a stack that runs, line by line as there is something to see.
fn on_device(
    targets: Targets,
    program: &Arc<Program>,
    args: &TraceArgs,
    spec: Spec,
    format: line::Format,
) -> Result<ExitCode, Failure> {
    let host = super::run::host(targets, &args.target)?;
    let changes = spec.set.len();
    let program = &changed(program, &spec)?;
    let run = targets::Run { program, words: &args.run, verbose: false, changes: changes > 0 };
    let (mut stack, mut records) = host.run_telling(&run)?;
    if records.configs.is_empty() {
        return Ok(stack.wait());
    }
    let out = LineWriter::new(std::io::stdout().lock());
    let mut watch = Watch::new(program, &records.configs, spec, format, out).map_err(Failure::Usage)?;
    let mut change = |contexts: Vec<(usize, u64)>| {
        let items = contexts.iter().flat_map(|context| (0..changes).map(move |item| (context, item)));
        items.into_iter().try_for_each(|((host, handle), item)| stack.change(*host, *handle, item))?;
        stack.send_changes()
    };
    let ended_at = records.tell_and_change(&mut watch, &mut change).map_err(Failure::Failed)?;
    let whole = !watch.cut_short();
    watch.finish(ended_at).map_err(Failure::Failed)?;
    Ok(if whole { stack.wait() } else { ExitCode::SUCCESS })
}

/// The program as a stack runs it that is to be changed.
fn changed(program: &Arc<Program>, spec: &Spec) -> Result<Arc<Program>, Failure> {
    let Some(context) = spec.context.filter(|_| !spec.set.is_empty()) else { return Ok(program.clone()) };
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::Missing(
            "only root changes contexts of a running stack: become root, or leave out --run to change a simulation"
                .to_owned(),
        ));
    }
    live_change::with_changes(program, context, &spec.set).map(Arc::new).map_err(Failure::Usage)
}
