// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick verify`

mod against;
mod peers;
mod peers_text;
mod setup;
mod text;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use carrick_driver::Failure;
use carrick_driver::written::unwritten;
use carrick_verify::{Report, Status, Wanted, verify};

use self::setup::{NOT_DECIDED, bounds, stop_at_signals};
use crate::args::VerifyArgs;
use crate::load::load;
use crate::output::{self, Format};

pub fn run(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    if let Some(old) = &args.against {
        return against::run(args, old);
    }
    if args.peers.peers {
        return peers::run(args);
    }
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
