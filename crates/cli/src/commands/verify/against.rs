// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick verify --against`: what a change of a program changes.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use carrick_driver::Failure;
use carrick_ir::Program;
use carrick_verify::{Bounds, Comparison, Declared, Names, PairReport, Verdict, compare};
use serde_json::{Value, json};

use super::setup::{NOT_DECIDED, bounds, stop_at_signals, unusable};
use super::text::{line, said};
use crate::args::VerifyArgs;
use crate::load::{load, load_choice};
use crate::output::{self, Format};

/// Something differs.
const DIFFERS: u8 = 1;

pub fn run(args: &VerifyArgs, file: &Path) -> Result<ExitCode, Failure> {
    let choice = args.source.features.choice();
    let (old, new) = (load_choice(file, &choice).map_err(unusable)?, load(&args.source).map_err(unusable)?);
    let names = Names::of(&args.map).map_err(Failure::Usage)?;
    let bounds = bounds(args, &old)?;
    let cancelled = Arc::new(AtomicBool::new(false));
    stop_at_signals(&cancelled)?;
    let bar = output::progress("comparing");
    let done = |pair: &PairReport| {
        bar.inc(1);
        bar.set_message(format!("{} compared, {} last", bar.position(), pair.name));
    };
    let found = compare(&old, &new, &names, &bounds, args.jobs.into(), &cancelled, &done);
    bar.finish_and_clear();
    let found = found.map_err(|why| Failure::Usage(format!("{}: {why}", args.source.file.display())))?;
    match args.format {
        Format::Json => output::json(&as_json(&old, &new, &bounds, &found)),
        Format::Pretty => {
            let sets: String = args.set.iter().map(|set| format!("; only for {set}")).collect();
            println!("{}{sets}", pretty(&old, &new, &bounds, &found).trim_end());
        }
    }
    Ok(if found.differs() {
        ExitCode::from(DIFFERS)
    } else if found.is_same() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_DECIDED)
    })
}

fn pretty(old: &Program, new: &Program, bounds: &Bounds, found: &Comparison) -> String {
    let mut out = String::new();
    for declared in &found.declared {
        line(&mut out, format_args!("declared otherwise: {}", declared.head));
        for (side, lines) in ["-", "+"].into_iter().zip(declared.lines()) {
            lines.iter().for_each(|text| line(&mut out, format_args!("    {side} {text}")));
        }
        let alike = declared.lines().iter().all(Vec::is_empty);
        if alike && declared.old == declared.new {
            line(&mut out, format_args!("  It names something that is not the same."));
        } else if alike {
            line(&mut out, format_args!("  It is in another order."));
        } else if !declared.outside {
            line(&mut out, format_args!("  Fields that only one version has are not compared."));
        }
    }
    for pair in &found.pairs {
        match &pair.verdict {
            Verdict::Differs(difference) => {
                line(&mut out, format_args!("differs: `{}`{}", pair.name, events(pair)));
                for unlike in &difference.unlike {
                    line(
                        &mut out,
                        format_args!("    {}: {} before, {} now", unlike.what, unlike.old, unlike.new),
                    );
                }
                line(&mut out, format_args!("  with these values:"));
                for (name, value) in &difference.before {
                    line(&mut out, format_args!("    {name} = {value}"));
                }
                line(
                    &mut out,
                    format_args!("  They satisfy all claims. It may be that no run of the program has them."),
                );
            }
            Verdict::Undecided(why) => line(&mut out, format_args!("undecided: `{}`: {why}", pair.name)),
            Verdict::Same | Verdict::SameText => {}
        }
    }
    let count =
        |wanted: &dyn Fn(&Verdict) -> bool| found.pairs.iter().filter(|pair| wanted(&pair.verdict)).count();
    let texts = count(&|verdict| *verdict == Verdict::SameText);
    let proved = count(&|verdict| *verdict == Verdict::Same);
    let paths: u64 = found.pairs.iter().map(|pair| pair.paths).sum();
    if found.is_same() {
        let how = if proved == 0 { "" } else { ", within the bounds" };
        line(&mut out, format_args!("same: {} does what {} does{how}", new.file.raw(), old.file.raw()));
    }
    line(
        &mut out,
        format_args!(
            "\n{} compared: {texts} by their texts, {proved} by proof, {paths} paths; {}",
            found.pairs.len(),
            said(bounds)
        ),
    );
    out
}

fn events(pair: &PairReport) -> String {
    if pair.events.is_empty() { String::new() } else { format!(", on {}", pair.events.join(", ")) }
}

fn as_json(old: &Program, new: &Program, bounds: &Bounds, found: &Comparison) -> Value {
    let declared = |declared: &Declared| json!({ "head": declared.head, "old": declared.old, "new": declared.new, "outside": declared.outside });
    json!({
        "old": old.file.raw(),
        "new": new.file.raw(),
        "same": found.is_same(),
        "differs": found.differs(),
        "bounds": { "k": bounds.k, "paths": bounds.paths, "seconds": bounds.time.as_secs() },
        "declared": found.declared.iter().map(declared).collect::<Vec<_>>(),
        "compared": found.pairs.iter().map(pair_json).collect::<Vec<_>>(),
    })
}

fn pair_json(pair: &PairReport) -> Value {
    let (verdict, why, difference) = match &pair.verdict {
        Verdict::SameText => ("same text", None, None),
        Verdict::Same => ("same", None, None),
        Verdict::Differs(difference) => ("differs", None, Some(difference)),
        Verdict::Undecided(why) => ("undecided", Some(why), None),
    };
    json!({
        "name": pair.name,
        "events": pair.events,
        "verdict": verdict,
        "why": why,
        "paths": pair.paths,
        "seconds": pair.time.as_secs_f64(),
        "unlike": difference.map(|d| d.unlike.iter().map(|u| json!({ "what": u.what, "old": u.old, "new": u.new })).collect::<Vec<_>>()),
        "before": difference.map(|d| d.before.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect::<Vec<_>>()),
    })
}
