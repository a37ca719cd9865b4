// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick diff`

use std::iter;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_driver::targets::{Cores, Targets};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::diff::{Pace, Via, diff_cores, diff_replayed, diff_through};
use carrick_sim::interface::Interface;
use serde_json::json;

use super::scenario::Between;
use super::versions;
use crate::args::{DiffArgs, TARGET};
use crate::load::{Builds, load_for};
use crate::output::{self, Format};

/// What was found.
#[derive(Default)]
struct Found {
    /// records that agree
    compared: u64,
    /// what does not, by seed
    wrong: Vec<(u64, String)>,
}

pub fn run(args: &DiffArgs, targets: Targets) -> Result<ExitCode, Failure> {
    if let Some(other) = &args.other {
        return versions::run(args, other);
    }
    let against = targets.named(&args.target)?.cores_alone();
    let program = load_for(&args.source.file, &args.source.features.choice(), Some(&against))?;
    let cores = against.cores(&program, args.verbose)?;
    let between = args.way.between(&program, &Builds::new(Some(Tracing::On)))?;
    let via = between.as_ref().map(Between::via);
    let mut found = Found::default();
    let bar = output::progress_bar(args.seeds, "comparing");
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        compare(args, &program, &*cores, via.as_ref(), seed, &mut found)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    said(args, found.compared, &found.wrong);
    Ok(ExitCode::from(u8::from(!found.wrong.is_empty())))
}

/// One seed: operations in each way that packets can leave, then applications on a network.
fn compare(
    args: &DiffArgs,
    program: &Arc<Program>,
    cores: &dyn Cores,
    via: Option<&Via<'_>>,
    seed: u64,
    found: &mut Found,
) -> Result<(), Failure> {
    let operations = |pace: &Pace| {
        let engine = cores.engine(*pace);
        let mut make = |config: &Config| engine.core(program, config, 0);
        diff_cores(program, &mut make, *pace, seed, args.operations)
    };
    // What no application of the simulator speaks is held by operations alone.
    let spoken = via.is_some() || Interface::of(program).is_ok();
    let scenario = cores.fit(Scenario::random(seed).over(program.net_header.layer));
    let whole = || match cores.network() {
        Some(network) => diff_replayed(program, network, &scenario),
        None => diff_through(program, &cores.engine(Pace::Asked), via, &scenario),
    };
    let each = cores.paces().iter().map(operations);
    for result in each.chain(iter::once_with(whole).take(usize::from(spoken))) {
        if let Some(refusal) = cores.refusal() {
            return Err(refusal);
        }
        let result = result.map_err(Failure::Usage)?;
        found.compared += result.compared;
        found.wrong.extend(result.difference.into_iter().chain(result.failures).map(|what| (seed, what)));
    }
    Ok(())
}

fn said(args: &DiffArgs, compared: u64, wrong: &[(u64, String)]) {
    match args.format {
        Format::Json => output::json(&json!({
            "seeds": args.seeds,
            "compared": compared,
            "wrong": wrong.iter().map(|(seed, what)| json!({"seed": seed, "what": what})).collect::<Vec<_>>(),
        })),
        Format::Pretty => {
            let target = match &*args.target {
                TARGET => String::new(),
                other => format!(" --target {other}"),
            };
            for (seed, what) in wrong {
                println!(
                    "seed {seed}: {what}\n  again: carrick diff {}{}{target} --seed {seed} --seeds 1\n",
                    args.source, args.way
                );
            }
            println!(
                "{} seeds, {compared} records, packets and completions agree; {} differences or failures",
                args.seeds,
                wrong.len()
            );
        }
    }
}
