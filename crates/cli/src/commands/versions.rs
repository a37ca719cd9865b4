// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick diff ONE OTHER`: where two versions of a program first differ.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::diff::{Difference, Versions, diff_versions};
use carrick_sim::interface::Shape;
use serde_json::{Value, json};

use crate::args::DiffArgs;
use crate::load::load_choice;
use crate::output::{self, Format};

/// What was found with a seed, where the versions differ.
type Found = (u64, Difference);

pub fn run(args: &DiffArgs, other: &Path) -> Result<ExitCode, Failure> {
    let choice = args.source.features.choice();
    let programs = [load_choice(&args.source.file, &choice)?, load_choice(other, &choice)?];
    let [one, two] = &programs;
    comparable(one, two)?;
    let bar = output::progress_bar(args.seeds, "comparing");
    let (mut compared, mut found, mut failures) = (0, Vec::new(), Vec::new());
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let scenario = Scenario::random(seed).over(one.net_header.layer);
        let run = diff_versions([one, two], &scenario).map_err(Failure::Usage)?;
        let Versions { compared: agree, difference, failures: wrong } = run;
        compared += agree;
        found.extend(difference.map(|difference| (seed, difference)));
        failures.extend(wrong.into_iter().enumerate().flat_map(|(version, wrong)| {
            let file = programs[version].file.clone();
            wrong.into_iter().map(move |what| (seed, file.clone(), what))
        }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    match args.format {
        Format::Json => output::json(&json!({
            "seeds": args.seeds,
            "compared": compared,
            "differences": found.iter().map(as_json).collect::<Vec<_>>(),
            "failures": failures.iter().map(|(seed, file, what)| json!({"seed": seed, "program": file, "what": what})).collect::<Vec<_>>(),
        })),
        Format::Pretty => {
            found.iter().for_each(|found| pretty(args, [one, two], found));
            failures
                .iter()
                .for_each(|(seed, file, what)| println!("seed {seed}: {} fails: {what}", file.raw()));
            println!(
                "{} seeds, {compared} records, packets and completions agree; the versions differ with {} seeds",
                args.seeds,
                found.len()
            );
        }
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}

/// Whether the same applications on the same network can run both.
fn comparable(one: &Program, other: &Program) -> Result<(), Failure> {
    let shapes = [one, other].map(|program| Shape::of(program).map_err(Failure::Usage));
    let [a, b] = shapes;
    if a? != b? || one.net_header.layer != other.net_header.layer {
        return Err(Failure::Usage(format!(
            "{} and {} have different interfaces or network headers, so no application runs with both",
            one.file.raw(),
            other.file.raw()
        )));
    }
    Ok(())
}

fn as_json((seed, difference): &Found) -> Value {
    let Difference { at_ns, host, event, shown, places } = difference;
    json!({"seed": seed, "at_ns": at_ns, "host": host, "event": event, "shown": shown, "places": places})
}

fn pretty(args: &DiffArgs, programs: [&Arc<Program>; 2], (seed, difference): &Found) {
    /// Letters of a packet or a state.
    const SHOWN: usize = 400;
    let Difference { at_ns, host, event, shown, places } = difference;
    println!("seed {seed}: they first differ at {:.9} s on host {host}", *at_ns as f64 / 1e9);
    if let Some(event) = event {
        println!("  in the event: {}", event.strip_prefix("event ").unwrap_or(event));
    }
    for ((program, shown), place) in programs.into_iter().zip(shown).zip(places) {
        let what: String = shown.as_deref().unwrap_or("nothing more").chars().take(SHOWN).collect();
        let place = place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
        println!("  {}: {what}{place}", program.file.raw());
    }
    let other = args.other.as_deref().map_or_else(String::new, |other| other.display().to_string());
    let features = args.source.to_string();
    let (file, rest) = (args.source.file.display().to_string(), features);
    let rest = rest.strip_prefix(&file).unwrap_or_default();
    println!("  again: carrick diff {file} {other}{rest} --seed {seed} --seeds 1\n");
}
