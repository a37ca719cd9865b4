// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick verify`

mod text;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carrick_driver::written::unwritten;
use carrick_driver::{Failure, params};
use carrick_ir::Program;
use carrick_verify::{Bounds, Report, Status, Wanted, verify};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::VerifyArgs;
use crate::load::load;
use crate::output::{self, Format};

/// Some check is not proved.
const NOT_DECIDED: u8 = 4;
/// A process that Ctrl-C ends, to a shell.
const INTERRUPTED: i32 = 130;

pub fn run(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let program = load(&args.source)?;
    let bounds = bounds(args, &program)?;
    let wanted =
        Wanted { chains: args.chain.clone(), processors: args.processor.clone(), checks: args.claim.clone() };
    let cancelled = Arc::new(AtomicBool::new(false));
    stop_at_signals(&cancelled)?;
    let bar = output::progress("exploring");
    let done = |unit: &carrick_verify::UnitReport| {
        bar.inc(1);
        bar.set_message(format!("{} units explored, {} last", bar.position(), unit.name));
    };
    let report = verify(&program, &bounds, &wanted, args.jobs.into(), &cancelled, &done);
    bar.finish_and_clear();
    let report = report.map_err(|why| Failure::Usage(format!("{}: {why}", args.source.file.display())))?;
    if let Some(folder) = &args.dump_smt {
        dump(folder, &report)?;
    }
    match args.format {
        Format::Json => output::json(&text::json(&program, &bounds, &report)),
        Format::Pretty if bounds.count => print!("{}", text::paths(&report)),
        Format::Pretty => print!("{}", text::pretty(&program, &bounds, &report)),
    }
    let proved = report.checks.iter().all(|check| check.status == Status::Proved);
    let explored = report.units.iter().all(|unit| unit.incomplete.is_none() && unit.unsupported.is_none());
    Ok(if proved && (explored || !bounds.count) { ExitCode::SUCCESS } else { ExitCode::from(NOT_DECIDED) })
}

fn bounds(args: &VerifyArgs, program: &Program) -> Result<Bounds, Failure> {
    let values = params::values(program, &args.set)?;
    // Paths are counted for one configuration, and proofs are for all of them.
    let is_set = |name: &str| args.paths || args.set.iter().any(|set| set.split('=').next() == Some(name));
    let params = program.params.iter().zip(values);
    Ok(Bounds {
        k: args.k as usize,
        paths: args.budget,
        time: Duration::from_secs(args.seconds),
        params: params.map(|(param, value)| is_set(&param.name).then_some(value)).collect(),
        count: args.paths,
        dump: args.dump_smt.is_some(),
    })
}

/// The first signal ends the exploration, and what was decided is printed. The second ends the process.
fn stop_at_signals(cancelled: &Arc<AtomicBool>) -> Result<(), Failure> {
    let cannot = |e: std::io::Error| Failure::Failed(format!("cannot watch for signals: {e}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(cannot)?;
    let cancelled = cancelled.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if cancelled.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED);
            }
        }
    });
    Ok(())
}

/// A file for each question.
fn dump(folder: &Path, report: &Report) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::Usage(unwritten(folder, &e)))?;
    for unit in &report.units {
        for (number, (site, script)) in unit.smt.iter().enumerate() {
            let (unit, kind, line) = (unit.name.replace(' ', "-"), site.kind.word(), site.loc.line);
            let file = folder.join(format!("{unit}-{kind}-{line}-{number}.smt2"));
            std::fs::write(&file, script).map_err(|e| Failure::Failed(unwritten(&file, &e)))?;
        }
    }
    Ok(())
}
