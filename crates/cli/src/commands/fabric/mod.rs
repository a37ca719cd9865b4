// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick sim --topology`: networks of many hosts.

mod args;
mod at_hosts;
mod by_program;
mod calls;
pub mod cross;
mod file;
mod finished;
mod hosts;
mod link_faults;
mod network;
mod offload;
mod programs;
mod runs;
mod show;

use std::io::Write;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use carrick_driver::Failure;
use carrick_ir::Program;
use serde_json::Value;

pub use args::FabricArgs;
pub use calls::value as argument;
pub use finished::Run;
pub use hosts::cell;
pub use link_faults::all_have_rates;
pub use network::Network;
pub use runs::Shard;
pub use show::{RUN, state_lines};

use super::plot;
use crate::args::SimArgs;
use crate::load::Builds;
use crate::manifest::{Manifest, words};
use crate::output::{self, Format, create};

/// The files of programs that the command line names, beside that of the command.
pub fn files(args: &FabricArgs) -> impl Iterator<Item = PathBuf> {
    programs::files(args).chain(at_hosts::files(args))
}

/// Simulates the topology of this name.
pub fn run(args: &SimArgs, program: &Arc<Program>, name: &str, builds: &Builds) -> Result<ExitCode, Failure> {
    let fabric = &args.fabric;
    let network = Network::of(args, program, name, builds)?;
    let runs = &network.runs;
    if (runs.count() != 1 || fabric.shard.is_some()) && (args.pcap.is_some() || args.trace.is_some()) {
        return Err(Failure::Usage(
            "a trace or a capture is of one run: leave out --seeds, --shard, --or-with and further values of --set"
                .into(),
        ));
    }
    let shard = fabric.shard.map(|shard| format!("{shard} of {}", runs.total));
    let manifest = Manifest { shard, ..Manifest::of(args, &words::said(), program, network.programs())? };
    let mut files = Vec::new();
    for (path, _, table) in tables(fabric) {
        files.extend(create(path.as_deref())?.map(|file| (path, file, table)));
    }
    if let Some(folder) = &fabric.plot {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::Usage(format!("cannot make {}: {e}", folder.display())))?;
    }
    let begin = Instant::now();
    let done = all(args, &network, &manifest)?;
    let took = begin.elapsed();
    let mut kept = Ok(());
    for (path, mut file, table) in files {
        let text = show::csv(&done, runs, &manifest, table);
        let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
        kept = kept.and(output::written(path.as_deref(), written));
    }
    if let Some(folder) = &fabric.plot {
        let drawn = tables(fabric).into_iter().filter(|(_, drawn, _)| *drawn);
        let drawn: Vec<_> = drawn.map(|(_, _, table)| show::csv(&done, runs, &manifest, table)).collect();
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

/// The tables of a run that are wanted or cost nothing, by the names of their options.
pub fn texts(fabric: &FabricArgs, run: &Run) -> Vec<(&'static str, String)> {
    let names = ["csv", "timeline", "rates", "samples"];
    let all = names.into_iter().zip(tables(fabric)).filter(|(_, (_, drawn, _))| *drawn);
    all.map(|(name, (_, _, table))| (name, table(run))).collect()
}

/// Runs for programs.
pub fn json(runs: &[Run], manifest: &Manifest) -> Value {
    show::json(runs, &[], manifest)
}

/// All runs, in their order, however many workers make them.
fn all(args: &SimArgs, network: &Network, manifest: &Manifest) -> Result<Vec<Run>, Failure> {
    let count = network.runs.count();
    let bar =
        if count > 1 { output::progress_bar(count, "simulating") } else { output::progress("simulating") };
    let next = AtomicU64::new(0);
    let mut done: Vec<(u64, Result<Run, Failure>)> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return done;
                }
                done.push((number, network.one(args, Some(manifest), network.runs.get(number))));
                bar.inc(1);
            }
        };
        let jobs = u64::from(args.fabric.jobs).min(count.clamp(1, 1024));
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_else(|e| resume_unwind(e))).collect()
    });
    bar.finish_and_clear();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, run)| run).collect()
}
