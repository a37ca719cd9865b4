// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick sweep`: many simulations, and one table of them.

mod args;
pub mod outcome;
mod plan;
mod runs;
mod table;
mod values;
mod workflow;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use carrick_driver::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::signal_name;

use args::{Rows, TableArgs};
pub use args::{SweepArgs, with_commas};
use outcome::{FIRST, Made};
use plan::Plan;
pub use runs::Runs;
use runs::{checked, head, one};
use table::{Known, Table};
pub use values::{Unit, where_one_is_needed};

use crate::load::Builds;
use crate::output;

/// Failed runs of which the first failure is printed.
const SHOWN: usize = 8;

/// What workers share.
struct Work {
    plan: Plan,
    builds: Builds,
    rows: Rows,
    /// by number of a run
    keys: Vec<u64>,
    /// the numbers of the runs to make
    todo: Vec<u64>,
    next: AtomicUsize,
}

/// What the table hears of.
enum Event {
    Made(u64, Made),
    Signal(i32),
}

/// What became of the runs.
#[derive(Default)]
struct Tally {
    ok: u64,
    failed: u64,
    error: u64,
}

impl Tally {
    fn add(&mut self, rows: &str) {
        match rows.split(',').nth(1) {
            Some("ok") => self.ok += 1,
            Some("failed") => self.failed += 1,
            _ => self.error += 1,
        }
    }
}

/// Makes the runs, or writes the files of an engine that makes them.
pub fn run(args: &SweepArgs) -> Result<ExitCode, Failure> {
    // As for one simulation: a compiled core has space for all that there may be, and touches little of it.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let plan = Plan::of(args)?;
    if let Some(folder) = &args.table.write_snakemake {
        return workflow::snakemake(args, folder);
    }
    if let Some(folder) = &args.table.write_slurm {
        return workflow::slurm(args, folder);
    }
    let options = &args.table;
    if options.parts.is_some() {
        return Err(Failure::Usage(
            "--parts says nothing without --write-snakemake or --write-slurm; say --shard for a part of the runs".into(),
        ));
    }
    let head = head(&plan, options.rows);
    let (builds, keys) = checked(&plan, Builds::new)?;
    let number_of: HashMap<u64, u64> = keys.iter().copied().zip(0..).collect();
    let mut known = known(options, &head, &number_of)?;
    let mine = |number: &u64| options.shard.is_none_or(|shard| number % shard.of + 1 == shard.number);
    let (mut todo, mut rows, mut tally) = (Vec::new(), Vec::new(), Tally::default());
    for number in (0..keys.len() as u64).filter(mine) {
        match known.remove(&keys[number as usize]) {
            Some(text) => {
                tally.add(&text);
                rows.push((number, text));
            }
            None => todo.push(number),
        }
    }
    let table = Table::begin(&options.output, &head, rows)?;
    let work = Work { plan, builds, rows: options.rows, keys, todo, next: AtomicUsize::new(0) };
    all(work, table, &head, &number_of, tally, options)
}

/// The rows that tables have already.
fn known(options: &TableArgs, head: &str, number_of: &HashMap<u64, u64>) -> Result<Known, Failure> {
    let output = &options.output;
    if !options.resume && output.symlink_metadata().is_ok_and(|found| found.len() > 0) {
        return Err(Failure::Usage(format!(
            "{} exists: say --resume to make only the runs that it lacks, or choose another file with -o",
            output.display()
        )));
    }
    let mut known = Known::new();
    let own = options.resume.then_some(output);
    for path in options.from.iter().chain(own) {
        if Some(path) != own && !path.exists() {
            return Err(Failure::Usage(format!("--from {}: there is no such file", path.display())));
        }
        let rows = table::read(path, head)?;
        if let Some(strange) = rows.keys().filter(|key| !number_of.contains_key(key)).min() {
            return Err(stranger(path, *strange));
        }
        known.extend(rows);
    }
    Ok(known)
}

fn stranger(path: &Path, key: u64) -> Failure {
    Failure::Usage(format!(
        "{} has a run, {key:016x}, that this sweep has not: the program, an option or the version of carrick changed since; \
         choose another file with -o",
        path.display()
    ))
}

/// Makes the runs, and writes their rows as they end.
fn all(
    work: Work,
    mut table: Table,
    head: &str,
    number_of: &HashMap<u64, u64>,
    mut tally: Tally,
    options: &TableArgs,
) -> Result<ExitCode, Failure> {
    let count = work.todo.len();
    let (tell, events) = mpsc::channel();
    watch_signals(tell.clone())?;
    let work = Arc::new(work);
    // They are not waited for: a sweep that is stopped does not wait for the end of its runs.
    for _ in 0..u64::from(options.jobs).min(count.clamp(1, 1024) as u64) {
        let (work, tell) = (work.clone(), tell.clone());
        std::thread::spawn(move || worker(&work, &tell));
    }
    let bar = output::progress_bar(count as u64, "runs");
    bar.enable_steady_tick(Duration::from_millis(200));
    let (begin, mut shown, mut made, mut signal) = (Instant::now(), 0, 0, None);
    while made < count {
        match events.recv() {
            Ok(Event::Made(number, Made { rows, failures })) => {
                table.append(number, &rows)?;
                tally.add(&rows);
                made += 1;
                if let Some(failure) = failures.first().filter(|_| shown < SHOWN) {
                    shown += 1;
                    bar.suspend(|| eprintln!("FAILED: {}: {failure}", named(&work.plan, number)));
                }
                bar.inc(1);
            }
            Ok(Event::Signal(number)) => {
                signal = Some(number);
                break;
            }
            Err(_) => return Err(Failure::Failed("no worker is left".into())),
        }
    }
    bar.finish_and_clear();
    table.finish(head, number_of)?;
    let (took, output) = (begin.elapsed().as_secs_f64(), options.output.display());
    if let Some(number) = signal {
        let name = signal_name(number).unwrap_or("a signal");
        let kept = tally.ok + tally.failed + tally.error;
        eprintln!(
            "carrick: stopped by {name}: {kept} runs are in {output}, {} are not; --resume makes them",
            count - made
        );
        return Ok(ExitCode::from(128 + number as u8));
    }
    let rate = if took > 0.0 { made as f64 / took } else { 0.0 };
    println!("{made} runs in {took:.3} s ({rate:.1} runs/s)");
    println!("{output}: {} ok, {} failed, {} with an error", tally.ok, tally.failed, tally.error);
    let bad = tally.error > 0 || tally.failed > 0 && !options.allow_failures;
    Ok(ExitCode::from(u8::from(bad)))
}

/// A run by what it has of its own.
fn named(plan: &Plan, number: u64) -> String {
    let planned = plan.get(number);
    let columns = plan.columns(&FIRST);
    let cells = columns.iter().zip(&planned.cells).map(|(name, cell)| format!("{name} {cell}, "));
    format!("{}seed {}", cells.collect::<String>(), planned.seed)
}

/// From now on, Ctrl-C and SIGTERM are events.
fn watch_signals(tell: Sender<Event>) -> Result<(), Failure> {
    let cannot = |e: std::io::Error| Failure::Failed(format!("cannot watch for signals: {e}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(cannot)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // Nobody listens when the sweep has ended.
            let _ = tell.send(Event::Signal(signal));
        }
    });
    Ok(())
}

/// Makes runs until there are none left.
fn worker(work: &Work, tell: &Sender<Event>) {
    let mut parser = outcome::parser();
    while let Some(number) = work.todo.get(work.next.fetch_add(1, Ordering::Relaxed)) {
        let made =
            one(&mut parser, &work.plan.get(*number), work.keys[*number as usize], work.rows, &work.builds);
        if tell.send(Event::Made(*number, made)).is_err() {
            return;
        }
    }
}
